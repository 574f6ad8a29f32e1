//! A main module: the memories of a part of the object, with TEM and MPM between them.
//!
//! ```text
//!  element mode                                     particle mode
//!  edge number --> edge memory                      particle number --> position, velocity, external force
//!                    | start, end                                        force memories (cleared)
//!                    v                                                     |
//!            position, velocity                                            v
//!                    |                                                    MPM
//!                    v                                                     |
//!                   TEM --> force memories                                 v
//!                    +----> edge memory (new extension)      position, velocity, display copy
//! ```
//! Positions and velocities: port a is read by starts (element mode) and particles, port b by ends, written by
//! MPM, and used by the bus while idle. External forces and the display copy have a port for the bus alone.

use crate::{
    blocks::{
        accumulator::{LOOP, accumulator},
        class_table::{CLASS_BITS, ENTRY_BITS},
        ram::{READ_LATENCY, address_bits, ram},
    },
    config::Config,
    map::{Map, Win},
    mpm::{self, mpm},
    rtl::{Build, Module, Net, Outputs},
    sequencer::Pauses,
    tem::{self, TABLES, TemLatency, tem},
};
use nendo_model::overflow::Source;
use std::rc::Rc;

/// Clocks from an edge's number to its operands at TEM: edge memory, then particle memories.
const ELEMENT_FRONT: u32 = 2 * READ_LATENCY;
/// Clocks from a particle's number to its operands at MPM: the force memories are the slowest.
const PARTICLE_FRONT: u32 = LOOP;

/// The pauses a configuration's pipelines need.
///
/// A particle may be issued as soon as its read of the force memories comes after the last addition's; the
/// accumulator forwards what is still on its way. The next step's first edge may be issued as soon as its read
/// of the positions comes after the last particle's write.
pub fn pauses(config: &Config) -> Pauses {
    let latency = TemLatency::of(&tem(config.profile, config.inverse));
    let particle = mpm(config.profile).latency("overflow");
    let pauses = Pauses {
        drain: ELEMENT_FRONT + latency.force - READ_LATENCY,
        settle: PARTICLE_FRONT + particle - READ_LATENCY,
        finish: 8,
    };
    // Even a single edge and particle: an extension is written before it is read again.
    let shortest = 2 + pauses.drain + pauses.settle;
    assert!(shortest > ELEMENT_FRONT + latency.u_next, "an extension would be read before it is written");
    pauses
}

/// Clocks from an item's number to its words in memory: where to look in a waveform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stages {
    /// From an edge to its force in the sums.
    pub force: u32,
    /// From an edge to its new extension.
    pub extension: u32,
    /// From a particle to its new position and velocity.
    pub particle: u32,
}

impl Stages {
    /// The stages of a configuration.
    pub fn of(config: &Config) -> Self {
        let latency = TemLatency::of(&tem(config.profile, config.inverse));
        Self {
            force: ELEMENT_FRONT + latency.force + LOOP - READ_LATENCY,
            extension: ELEMENT_FRONT + latency.u_next,
            particle: PARTICLE_FRONT + mpm(config.profile).latency("overflow"),
        }
    }
}

/// A one-bit mark that travels with an item, and starts as "no item": one chain, tapped where it is needed.
struct Mark {
    chain: Vec<Net>,
}

impl Mark {
    fn new(valid: &Net) -> Self {
        Self { chain: vec![valid.clone()] }
    }

    fn at(&mut self, b: &mut Build, stage: u32) -> Net {
        while self.chain.len() <= stage as usize {
            let next = b.reg_from_zero(&self.chain[self.chain.len() - 1]);
            self.chain.push(next);
        }
        self.chain[stage as usize].clone()
    }
}

/// The fields of a memory word, in the map's order.
fn fields(b: &mut Build, map: &Map, window: Win, word: &Net) -> Vec<Net> {
    let window = map.window(window);
    (0..window.fields.len()).map(|k| b.slice(word, window.memory_low(k), window.fields[k].bits)).collect()
}

fn three(nets: &[Net]) -> [Net; 3] {
    std::array::from_fn(|k| nets[k].clone())
}

/// The module of a configuration.
pub fn main_module(config: &Config) -> Module {
    let n = config.profile.numbers();
    let map = Map::new(config);
    let (particle_bits, edge_bits) = (address_bits(config.particles), address_bits(config.edges));
    let mut b = Build::new("main_module", "The memories of the object, with TEM and MPM between them.");

    // From the sequencer.
    // A clock late: it steers many wires. Whoever takes a port in the first clock of a mode must not depend on it.
    let idle = b.input("idle", 1);
    let idle = b.state_reg("idle_late", &idle);
    let element_valid = b.input("element_valid", 1);
    let element_index = b.input("element_index", edge_bits);
    let particle_valid = b.input("particle_valid", 1);
    let clear_valid = b.input("clear_valid", 1);
    let particle_index = b.input("particle_index", particle_bits);
    // Constants of a run.
    let step_constant = b.input("step_constant", ENTRY_BITS);
    let position_shift = b.input("position_shift", 4);
    let extension_shift = b.input("extension_shift", 4);
    let force_limit = b.input("force_limit", n.edge_force.bits);
    let (step_mantissa, step_shift) = (b.slice(&step_constant, 0, 16), b.slice(&step_constant, 16, 5));
    // From the bus.
    let table_write = b.input("element_table_write", TABLES.len() as u32);
    let table_class = b.input("element_table_class", CLASS_BITS);
    let table_d = b.input("element_table_d", ENTRY_BITS);
    let mass_write = b.input("mass_table_write", 1);
    let mass_class = b.input("mass_table_class", CLASS_BITS);
    let mass_d = b.input("mass_table_d", ENTRY_BITS);
    let bus = |b: &mut Build, name: Win| {
        let window = map.window(name);
        let name = name.name();
        let item = b.input(&format!("{name}_item"), address_bits(window.items.into()));
        let write = b.input(&format!("{name}_write"), 1);
        let d = b.input(&format!("{name}_d"), window.bits());
        (item, write, d)
    };
    let position_bus = bus(&mut b, Win::Position);
    let velocity_bus = bus(&mut b, Win::Velocity);
    let external_bus = bus(&mut b, Win::External);
    let edge_bus = bus(&mut b, Win::Edge);
    let display_item = b.input("display_item", particle_bits);
    let start_item = b.input("force_start_item", particle_bits);
    let end_item = b.input("force_end_item", particle_bits);

    let tem_module = Rc::new(tem(config.profile, config.inverse));
    let mpm_module = Rc::new(mpm(config.profile));
    let latency = TemLatency::of(&tem_module);
    let particle_depth = PARTICLE_FRONT + mpm_module.latency("overflow");

    b.comment("edges: read by number, written back with the new extension");
    // The word that is written back comes out of TEM far below; declared here, connected there.
    let back = Back::declare(&mut b, edge_bits, map.window(Win::Edge).bits());
    let edge_address = b.mux(&idle, &edge_bus.0, &back.address);
    let edge_write = b.mux(&idle, &edge_bus.1, &back.write);
    let edge_d = b.mux(&idle, &edge_bus.2, &back.d);
    let edge_ram = b.instance(
        "edge_memory",
        &Rc::new(ram(map.window(Win::Edge).bits(), config.edges)),
        &[
            ("a_address", &element_index),
            ("b_address", &edge_address),
            ("b_write", &edge_write),
            ("b_d", &edge_d),
        ],
    );
    let edge_word = edge_ram.get("a_q").at_stage(READ_LATENCY);
    let edge = fields(&mut b, &map, Win::Edge, &edge_word);
    let (u, class, start, end) = (edge[0].clone(), edge[1].clone(), edge[2].clone(), edge[3].clone());

    b.comment("particles: a for starts and particle mode, b for ends, MPM's results and the bus");
    let moved = Moved::declare(
        &mut b,
        particle_bits,
        map.window(Win::Position).bits(),
        map.window(Win::Velocity).bits(),
    );
    // The force memories answer last, so the others are asked later: cheaper than to hold their words.
    let (mut element_mark, mut particle_mark) = (Mark::new(&element_valid), Mark::new(&particle_valid));
    let later = PARTICLE_FRONT - READ_LATENCY;
    let later_index = b.until(&particle_index.at_stage(0), later).as_static();
    let later_valid = particle_mark.at(&mut b, later);
    let a_address = b.mux(&later_valid, &later_index, &start.as_static());
    let port_b = |b: &mut Build, bus: &(Net, Net, Net), d: &Net| {
        let address = b.mux(&moved.write, &moved.address, &end.as_static());
        let address = b.mux(&idle, &bus.0, &address);
        let write = b.mux(&idle, &bus.1, &moved.write);
        let d = b.mux(&idle, &bus.2, d);
        (address, write, d)
    };
    let particle_ram = |b: &mut Build, name: &str, bits: u32, port: &(Net, Net, Net)| -> Outputs {
        let inputs =
            [("a_address", &a_address), ("b_address", &port.0), ("b_write", &port.1), ("b_d", &port.2)];
        b.instance(name, &Rc::new(ram(bits, config.particles)), &inputs)
    };
    let position_port = port_b(&mut b, &position_bus, &moved.x);
    let position_ram = particle_ram(&mut b, "position_memory", moved.x.bits(), &position_port);
    let velocity_port = port_b(&mut b, &velocity_bus, &moved.v);
    let velocity_ram = particle_ram(&mut b, "velocity_memory", moved.v.bits(), &velocity_port);

    b.comment("TEM");
    let operands = |b: &mut Build, word: Net, window: Win, state: nendo_model::numbers::State| {
        let word = word.at_stage(ELEMENT_FRONT);
        let stored = three(&fields(b, &map, window, &word));
        stored.map(|c| b.slice(&c, state.residual, state.operand_bits()))
    };
    let x_start = operands(&mut b, position_ram.get("a_q"), Win::Position, n.x);
    let x_end = operands(&mut b, position_ram.get("b_q"), Win::Position, n.x);
    let v_start = operands(&mut b, velocity_ram.get("a_q"), Win::Velocity, n.v);
    let v_end = operands(&mut b, velocity_ram.get("b_q"), Win::Velocity, n.v);
    let (u_in, class_in) = (b.until(&u, ELEMENT_FRONT), b.until(&class, ELEMENT_FRONT));
    let mut inputs: Vec<(String, Net)> = vec![
        ("table_write".into(), table_write),
        ("table_class".into(), table_class),
        ("table_d".into(), table_d),
        ("step_mantissa".into(), step_mantissa.clone()),
        ("step_shift".into(), step_shift.clone()),
        ("extension_shift".into(), extension_shift),
        ("force_limit".into(), force_limit),
        ("u".into(), u_in),
        ("class_number".into(), class_in),
    ];
    for (name, nets) in [("x_start", x_start), ("v_start", v_start), ("x_end", x_end), ("v_end", v_end)] {
        inputs.extend(nets.into_iter().enumerate().map(|(k, net)| (format!("{name}{k}"), net)));
    }
    let inputs: Vec<(&str, &Net)> = inputs.iter().map(|(name, net)| (name.as_str(), net)).collect();
    let tem_out = b.instance("tem", &tem_module, &inputs);
    let force = tem_out.get3("force");

    b.comment("forces: added at the start and the end of an edge, taken in particle mode");
    let add_stage = ELEMENT_FRONT + latency.force - READ_LATENCY;
    let adding = element_mark.at(&mut b, add_stage);
    let taking = b.or(&particle_valid, &clear_valid);
    let valid = b.or(&adding.as_static(), &taking);
    let force_memory = |b: &mut Build, name: &str, number: &Net, bus_item: &Net| -> Outputs {
        let add = b.until(number, add_stage).as_static();
        let address = b.mux(&idle, bus_item, &add);
        let address = b.mux(&taking, &particle_index, &address);
        let values = force.clone().map(|f| f.as_static());
        let [x, y, z] = &values;
        let inputs = [
            ("valid", &valid),
            ("clear", &taking),
            ("address", &address),
            ("value0", x),
            ("value1", y),
            ("value2", z),
        ];
        let module = Rc::new(accumulator(config.particles, n.edge_force.bits, n.force_sum.bits));
        b.instance(name, &module, &inputs)
    };
    let starting = force_memory(&mut b, "force_start_memory", &start, &start_item).get3("old");
    let ending = force_memory(&mut b, "force_end_memory", &end, &end_item).get3("old");

    b.comment("external forces: a for particle mode, b for the bus, always");
    let (item, write, d) = &external_bus;
    let external_ram = b.instance(
        "external_memory",
        &Rc::new(ram(map.window(Win::External).bits(), config.particles)),
        &[("a_address", &later_index), ("b_address", item), ("b_write", write), ("b_d", d)],
    );

    b.comment("MPM");
    let word = |outputs: &Outputs| outputs.get("a_q").at_stage(PARTICLE_FRONT);
    let [x_word, v_word, external_word] = [&position_ram, &velocity_ram, &external_ram].map(word);
    let x = three(&fields(&mut b, &map, Win::Position, &x_word));
    let v = three(&fields(&mut b, &map, Win::Velocity, &v_word));
    let external = fields(&mut b, &map, Win::External, &external_word);
    let mut inputs: Vec<(String, Net)> = vec![
        ("table_write".into(), mass_write),
        ("table_class".into(), mass_class),
        ("table_d".into(), mass_d),
        ("step_mantissa".into(), step_mantissa),
        ("step_shift".into(), step_shift),
        ("position_shift".into(), position_shift),
        ("class_number".into(), external[3].clone()),
    ];
    let sums = |nets: &[Net; 3]| nets.clone().map(|net| net.at_stage(PARTICLE_FRONT));
    for (name, nets) in [
        ("x", x),
        ("v", v),
        ("starting", sums(&starting)),
        ("ending", sums(&ending)),
        ("external", three(&external)),
    ] {
        inputs.extend(nets.into_iter().enumerate().map(|(k, net)| (format!("{name}{k}"), net)));
    }
    let inputs: Vec<(&str, &Net)> = inputs.iter().map(|(name, net)| (name.as_str(), net)).collect();
    let mpm_out = b.instance("mpm", &mpm_module, &inputs);

    b.comment("results of particle mode");
    let particle_done = particle_mark.at(&mut b, particle_depth);
    let index = particle_index.at_stage(0);
    let index = b.until(&index, particle_depth);
    let [x0, x1, x2] = &mpm_out.get3("x_next");
    let [v0, v1, v2] = &mpm_out.get3("v_next");
    let x_next = b.concat(&[x2, x1, x0]);
    let v_next = b.concat(&[v2, v1, v0]);
    moved.connect(&mut b, &particle_done, &index, &x_next, &v_next);
    let shown = [x0, x1, x2].map(|x| b.slice(x, n.x.residual, n.x.operand_bits()));
    let [s0, s1, s2] = &shown;
    let shown = b.concat(&[s2, s1, s0]);
    // Loading a position shows it, too.
    let load = {
        let stored = three(&fields(&mut b, &map, Win::Position, &position_bus.2));
        let [s0, s1, s2] = &stored.map(|x| b.slice(&x, n.x.residual, n.x.operand_bits()));
        b.concat(&[s2, s1, s0])
    };
    let (show_address, show_write) = (&position_port.0, &position_port.1);
    let show_d = b.mux(&idle, &load, &shown.as_static());
    let display_ram = b.instance(
        "display_memory",
        &Rc::new(ram(map.window(Win::Display).bits(), config.particles)),
        &[
            ("a_address", &display_item),
            ("b_address", show_address),
            ("b_write", show_write),
            ("b_d", &show_d),
        ],
    );

    b.comment("results of element mode");
    let back_stage = ELEMENT_FRONT + latency.u_next;
    let edge_done = element_mark.at(&mut b, back_stage);
    let number = element_index.at_stage(0);
    let number = b.until(&number, back_stage);
    let kept = [&class, &start, &end].map(|net| b.until(net, back_stage));
    let word = b.concat(&[&kept[2], &kept[1], &kept[0], &tem_out.get("u_next")]);
    back.connect(&mut b, &edge_done, &number, &word);

    b.comment("overflow flags of items, one bit per source");
    let element_last = element_mark.at(&mut b, ELEMENT_FRONT + latency.overflow);
    let (element_flags, particle_flags) = (tem_out.get("overflow"), mpm_out.get("overflow"));
    let flags: Vec<Net> = Source::ALL
        .iter()
        .map(|source| {
            let (valid, flags, bit) = match tem::OVERFLOWS.iter().position(|s| s == source) {
                Some(bit) => (&element_last, &element_flags, bit),
                None => {
                    let bit = mpm::OVERFLOWS.iter().position(|s| s == source);
                    (
                        &particle_done,
                        &particle_flags,
                        bit.unwrap_or_else(|| panic!("{source:?} has no circuit")),
                    )
                }
            };
            let flag = b.bit(&flags.as_static(), bit as u32);
            b.and(&valid.as_static(), &flag)
        })
        .collect();
    let overflow = b.concat(&flags.iter().rev().collect::<Vec<_>>());
    let overflow = b.state_reg("overflow_found", &overflow);

    b.output("overflow", &overflow);
    b.output("position_q", &position_ram.get("b_q"));
    b.output("velocity_q", &velocity_ram.get("b_q"));
    b.output("external_q", &external_ram.get("b_q"));
    b.output("edge_q", &edge_ram.get("b_q"));
    b.output("display_q", &display_ram.get("a_q"));
    for (name, [x, y, z]) in [("force_start_q", &starting), ("force_end_q", &ending)] {
        let word = b.concat(&[&z.as_static(), &y.as_static(), &x.as_static()]);
        b.output(name, &word);
    }
    b.finish()
}

/// What is written back to the edge memory.
struct Back {
    address: Net,
    write: Net,
    d: Net,
}

impl Back {
    fn declare(b: &mut Build, address_bits: u32, bits: u32) -> Self {
        Self {
            address: b.forward("back_address", address_bits),
            write: b.forward("back_write", 1),
            d: b.forward("back_d", bits),
        }
    }

    fn connect(&self, b: &mut Build, write: &Net, address: &Net, d: &Net) {
        b.drive(&self.address, address);
        b.drive(&self.write, write);
        b.drive(&self.d, d);
    }
}

/// What MPM writes to the particle memories.
struct Moved {
    address: Net,
    write: Net,
    x: Net,
    v: Net,
}

impl Moved {
    fn declare(b: &mut Build, address_bits: u32, x_bits: u32, v_bits: u32) -> Self {
        Self {
            address: b.forward("moved_address", address_bits),
            write: b.forward("moved_write", 1),
            x: b.forward("moved_x", x_bits),
            v: b.forward("moved_v", v_bits),
        }
    }

    fn connect(&self, b: &mut Build, write: &Net, address: &Net, x: &Net, v: &Net) {
        b.drive(&self.address, address);
        b.drive(&self.write, write);
        b.drive(&self.x, x);
        b.drive(&self.v, v);
    }
}
