//! What comes into a main module: from the sequencer, the registers, the bus and the exchange.

use super::{Context, widths};
use crate::{
    blocks::{class_table::CLASS_BITS, parts::in_register, ram::ram},
    circuit::{Build, Net, Outputs},
    engine::tem::TABLES,
};
use nendo_model::contract::{
    config::{Config, address_bits},
    map::{Map, Reg, WindowName},
    words::{RegisterWord, TableEntry, TableEntryParts},
};
use std::rc::Rc;

/// Everything that comes in.
pub(super) struct Inputs {
    pub(super) control: Control,
    pub(super) constants: RunConstants,
    pub(super) bus: Bus,
    pub(super) received: Received,
}

impl Inputs {
    pub(super) fn place(b: &mut Build, context: &Context) -> Self {
        Self {
            control: Control::inputs(b, &context.config),
            constants: RunConstants::inputs(b, &context.map),
            bus: Bus::inputs(b, &context.map),
            received: Received::inputs(b, context),
        }
    }
}

/// From the sequencer, a clock late: it steers many wires in many modules.
pub(super) struct Control {
    pub(super) idle: Net,
    /// No step is under way.
    pub(super) restart: Net,
    pub(super) element_valid: Net,
    pub(super) element_index: Net,
    pub(super) particle_valid: Net,
    pub(super) clear_valid: Net,
}

impl Control {
    fn inputs(b: &mut Build, config: &Config) -> Self {
        let mut late = |name: &str, bits: u32| {
            let now = b.input(name, bits);
            b.state_reg(&format!("{name}_late"), &now)
        };
        Self {
            idle: late("idle", 1),
            restart: late("restart", 1),
            element_valid: late("element_valid", 1),
            element_index: late("element_index", address_bits(config.edges)),
            particle_valid: late("particle_valid", 1),
            clear_valid: late("clear_valid", 1),
        }
    }
}

/// Constants of a run.
pub(super) struct RunConstants {
    pub(super) halt: Net,
    pub(super) particles: Net,
    pub(super) step: TableEntryParts<Net>,
    pub(super) position_shift: Net,
    pub(super) extension_shift: Net,
    pub(super) force_limit: Net,
}

impl RunConstants {
    fn inputs(b: &mut Build, map: &Map) -> Self {
        let mut input = |register: Reg| b.input(register.name(), map.register(register).bits);
        let [halt, particles, step_constant, position_shift, extension_shift, force_limit] = [
            Reg::Halt,
            Reg::Particles,
            Reg::StepConstant,
            Reg::PositionShift,
            Reg::ExtensionShift,
            Reg::ForceLimit,
        ]
        .map(&mut input);
        let step = TableEntry::LAYOUT.map(in_register(b, &step_constant));
        Self { halt, particles, step, position_shift, extension_shift, force_limit }
    }
}

/// The write side of tables of constants.
pub(super) struct TablePort {
    write: Net,
    class: Net,
    d: Net,
}

impl TablePort {
    /// Inputs `NAME_write` with a bit per table, `NAME_class` and `NAME_d`.
    fn inputs(b: &mut Build, name: &str, tables: u32) -> Self {
        Self {
            write: b.input(&format!("{name}_write"), tables),
            class: b.input(&format!("{name}_class"), CLASS_BITS),
            d: b.input(&format!("{name}_d"), TableEntry::WIDTH),
        }
    }

    /// The inputs of the circuit that has the tables in it.
    pub(super) fn connected(&self) -> Vec<(String, Net)> {
        let nets = [("table_write", &self.write), ("table_class", &self.class), ("table_d", &self.d)];
        nets.map(|(name, net)| (name.to_owned(), net.clone())).into()
    }
}

/// A port of a memory that reads or writes.
pub(super) struct MemoryPort {
    pub(super) address: Net,
    pub(super) write: Net,
    pub(super) d: Net,
}

impl MemoryPort {
    /// Inputs `NAME_item`, `NAME_write` and `NAME_d`: a window on the bus.
    fn inputs(b: &mut Build, map: &Map, name: WindowName) -> Self {
        let window = map.window(name);
        let name = name.name();
        Self {
            address: b.input(&format!("{name}_item"), address_bits(window.items.into())),
            write: b.input(&format!("{name}_write"), 1),
            d: b.input(&format!("{name}_d"), window.bits()),
        }
    }

    /// The bus's while idle, else the module's own.
    pub(super) fn shared(&self, b: &mut Build, idle: &Net, own: &Self) -> Self {
        Self {
            address: b.mux(idle, &self.address, &own.address),
            write: b.mux(idle, &self.write, &own.write),
            d: b.mux(idle, &self.d, &own.d),
        }
    }

    /// A memory of which this is port b; port a reads.
    pub(super) fn memory(&self, b: &mut Build, name: &str, a_address: &Net, depth: u64) -> Outputs {
        let inputs = [
            ("a_address", a_address),
            ("b_address", &self.address),
            ("b_write", &self.write),
            ("b_d", &self.d),
        ];
        b.instance(name, &Rc::new(ram(self.d.bits(), depth)), &inputs)
    }
}

/// From the bus.
pub(super) struct Bus {
    pub(super) element_tables: TablePort,
    pub(super) mass_table: TablePort,
    pub(super) position: MemoryPort,
    pub(super) velocity: MemoryPort,
    pub(super) external: MemoryPort,
    pub(super) edge: MemoryPort,
    pub(super) display_item: Net,
    pub(super) force_item: Net,
}

impl Bus {
    fn inputs(b: &mut Build, map: &Map) -> Self {
        let particle_bits = address_bits(map.config.particles);
        Self {
            element_tables: TablePort::inputs(b, "element_table", TABLES.len() as u32),
            mass_table: TablePort::inputs(b, "mass_table", 1),
            position: MemoryPort::inputs(b, map, WindowName::Position),
            velocity: MemoryPort::inputs(b, map, WindowName::Velocity),
            external: MemoryPort::inputs(b, map, WindowName::External),
            edge: MemoryPort::inputs(b, map, WindowName::Edge),
            display_item: b.input("display_item", particle_bits),
            force_item: b.input("force_item", particle_bits),
        }
    }
}

/// From the exchange.
pub(super) struct Received {
    /// A particle of this module is asked for.
    pub(super) asked: Net,
    pub(super) asked_number: Net,
    /// The words of the particle that was asked for.
    pub(super) other: Net,
    /// A force on the particle that was asked for, or its complement.
    pub(super) added: Net,
    pub(super) added_complement: Net,
}

impl Received {
    fn inputs(b: &mut Build, Context { config, stages, .. }: &Context) -> Self {
        let (widths, given) = (widths(config), stages.tem_force + stages.hops);
        Self {
            asked: b.input("asked", 1).at_stage(stages.number),
            asked_number: b.input("asked_number", widths.number).at_stage(stages.number),
            other: b.input("other", widths.words).at_stage(stages.element),
            added: b.input("added", widths.force).at_stage(given),
            added_complement: b.input("added_complement", 1).at_stage(given),
        }
    }
}
