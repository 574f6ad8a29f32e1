//! A main module: the memories of a part of the object, with TEM and MPM between them.
//!
//! ```text
//!  slot number --> edge memory --> other particle ----------> exchange --> its words --+
//!                    |  owner's number                                                 v
//!                    +----> position, velocity --> held for all edges of an owner --> TEM
//!                                                                                      |
//!       force memories, even and odd <--- others' forces <--- exchange <--- force -----+
//!                    |            ^------ an owner's forces, summed in a register -----+
//!                    v                                                                 |
//!    external --->  MPM --> position, velocity, display copy        new extension -----+--> edge memory
//! ```
//! A slot may hold an edge and begin the move of a particle; the plan ([`nendo_model::plan::schedule`]) has seen to it that
//! no two want the same port, and the module follows it blindly.
//! - Positions and velocities: port a is read for others' edges, and by particles in particle mode. Port b is read by
//!   owners and by particles in element mode, written by MPM, and used by the bus while idle.
//! - Forces: in even clocks the even memory takes the force from the exchange and the odd one has time to give a
//!   particle's sum to MPM, or to take an owner's; in odd clocks it is the other way round.
//! - External forces and the display copy have a port for the bus alone.

mod stages;
mod words;

pub use stages::Stages;

use crate::{
    blocks::{
        accumulator::accumulator,
        class_table::CLASS_BITS,
        parts::{in_memory, in_register},
        ram::{READ_LATENCY, ram},
    },
    circuit::{Build, Module, Net, Outputs},
    engine::{
        exchange::Widths,
        mpm::{self, mpm},
        tem::{self, TABLES, TemLatency, tem},
    },
};
use nendo_model::contract::{
    config::{Config, address_bits},
    map::{Map, WindowName},
    overflow::Source,
    words::{External, Position, RegisterWord, Slot, TableEntry, Velocity},
};
use stages::SLOT;
use std::rc::Rc;
use words::{complemented, joined, operands, shown, thirds};

/// What a configuration's modules exchange.
pub fn widths(config: &Config) -> Widths {
    let n = config.profile.numbers();
    Widths {
        modules: config.modules,
        number: address_bits(config.particles),
        words: 3 * (n.x.operand_bits() + n.v.operand_bits()),
        force: 3 * n.edge_force.bits,
        latency: Stages::of(config).tem_force - SLOT,
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

/// The module of a configuration.
pub fn main_module(config: &Config) -> Module {
    let n = config.profile.numbers();
    let map = Map::new(config);
    let stages = Stages::of(config);
    let (particle_bits, edge_bits) = (address_bits(config.particles), address_bits(config.edges));
    let mut b =
        Build::new("main_module", "The memories of a part of the object, with TEM and MPM between them.");

    // From the sequencer, a clock late: it steers many wires in many modules.
    let mut late = |name: &str, bits: u32| {
        let now = b.input(name, bits);
        b.state_reg(&format!("{name}_late"), &now)
    };
    let idle = late("idle", 1);
    let restart = late("restart", 1);
    let element_valid = late("element_valid", 1);
    let element_index = late("element_index", edge_bits);
    let particle_valid = late("particle_valid", 1);
    let clear_valid = late("clear_valid", 1);
    // Constants of a run.
    let halt = b.input("halt", 1);
    let particles = b.input("particles", particle_bits + 1);
    let step_constant = b.input("step_constant", TableEntry::WIDTH);
    let position_shift = b.input("position_shift", 4);
    let extension_shift = b.input("extension_shift", 4);
    let force_limit = b.input("force_limit", n.edge_force.bits);
    let step = TableEntry::LAYOUT.map(in_register(&mut b, &step_constant));
    // From the bus.
    let table_write = b.input("element_table_write", TABLES.len() as u32);
    let table_class = b.input("element_table_class", CLASS_BITS);
    let table_d = b.input("element_table_d", TableEntry::WIDTH);
    let mass_write = b.input("mass_table_write", 1);
    let mass_class = b.input("mass_table_class", CLASS_BITS);
    let mass_d = b.input("mass_table_d", TableEntry::WIDTH);
    let bus = |b: &mut Build, name: WindowName| {
        let window = map.window(name);
        let name = name.name();
        let item = b.input(&format!("{name}_item"), address_bits(window.items.into()));
        let write = b.input(&format!("{name}_write"), 1);
        let d = b.input(&format!("{name}_d"), window.bits());
        (item, write, d)
    };
    let position_bus = bus(&mut b, WindowName::Position);
    let velocity_bus = bus(&mut b, WindowName::Velocity);
    let external_bus = bus(&mut b, WindowName::External);
    let edge_bus = bus(&mut b, WindowName::Edge);
    let display_item = b.input("display_item", particle_bits);
    let force_item = b.input("force_item", particle_bits);
    // From the exchange.
    let exchanged = widths(config);
    let asked = b.input("asked", 1).at_stage(stages.number);
    let asked_number = b.input("asked_number", particle_bits).at_stage(stages.number);
    let other = b.input("other", exchanged.words).at_stage(stages.element);
    let given_at = stages.tem_force + stages.hops;
    let added = b.input("added", exchanged.force).at_stage(given_at);
    let added_complement = b.input("added_complement", 1).at_stage(given_at);

    let tem_module = Rc::new(tem(config.profile, config.inverse));
    let mpm_module = Rc::new(mpm(config.profile));
    let latency = TemLatency::of(&tem_module);

    b.comment("slots: read by number, written back with the new extension");
    // The word that is written back comes out of TEM far below; declared here, connected there.
    let word_bits = map.window(WindowName::Edge).bits();
    let [back_address, back_write, back_d] = [("address", edge_bits), ("write", 1), ("d", word_bits)]
        .map(|(name, bits)| b.forward(&format!("back_{name}"), bits));
    let edge_address = b.mux(&idle, &edge_bus.0, &back_address);
    let edge_write = b.mux(&idle, &edge_bus.1, &back_write);
    let edge_d = b.mux(&idle, &edge_bus.2, &back_d);
    let edge_ram = b.instance(
        "edge_memory",
        &Rc::new(ram(word_bits, config.edges)),
        &[
            ("a_address", &element_index),
            ("b_address", &edge_address),
            ("b_write", &edge_write),
            ("b_d", &edge_d),
        ],
    );
    let slot_word = edge_ram.get("a_q").at_stage(SLOT);
    let slot = Slot::layout(config).map(in_memory(&mut b, &slot_word));
    let (mut element_mark, mut restart_mark) = (Mark::new(&element_valid), Mark::new(&restart));
    let (mut particle_mark, mut clear_mark) = (Mark::new(&particle_valid), Mark::new(&clear_valid));
    let (in_element, resting) = (element_mark.at(&mut b, SLOT), restart_mark.at(&mut b, SLOT));
    let edge_valid = b.and(&in_element, &slot.present.as_static());
    let mut edge_mark = Mark::new(&edge_valid);
    let mut edge_mark_at = |b: &mut Build, stage: u32| edge_mark.at(b, stage - SLOT);
    b.output("ask_valid", &edge_valid);
    b.output("ask_number", &slot.other.as_static());
    if config.modules > 1 {
        b.output("ask_module", &slot.module.as_static());
    }

    b.comment("the owner's number, and whose turn it is: even in the first clock of a step");
    let owner = b.state("owner", particle_bits);
    let further = b.zero_extend(&slot.advance.as_static(), particle_bits);
    let next_owner = b.add(owner.value(), &further);
    let next_owner = b.mux(&in_element, &next_owner, owner.value());
    let before_first = b.constant(-1, particle_bits);
    let next_owner = b.mux(&resting, &before_first, &next_owner);
    let owner_number = b.until(&owner.value().at_stage(SLOT + 1), stages.number).as_static();
    b.set(owner, &next_owner);
    let first = b.any(&slot.advance);
    let turn = b.state("odd_turn", 1);
    let (other_turn, awake) = (b.not(turn.value()), b.not(&resting));
    let next_turn = b.and(&other_turn, &awake);
    // The turn of the slot whose number is at the memories.
    let odd = b.state_reg("odd_now", turn.value());
    let odd = (1..stages.hops).fold(odd, |turn, _| b.reg(&turn));
    b.set(turn, &next_turn);

    b.comment("the next particle to be moved");
    let moved = b.state("moved", particle_bits + 1);
    let all_moved = b.eq(moved.value(), &particles);
    let some_left = b.not(&all_moved);
    let free = b.not(&halt);
    let may = b.and(&free, &some_left);
    let in_slot = [in_element, slot.moves.as_static()].iter().fold(may, |all, net| b.and(&all, net));
    let left = particle_mark.at(&mut b, SLOT);
    let left = b.and(&left, &some_left);
    let clearing = clear_mark.at(&mut b, SLOT);
    let moving = b.or(&in_slot, &left);
    let taking = b.or(&moving, &clearing);
    let next_moved = b.increment(moved.value(), &taking);
    let none_moved = b.constant(0, particle_bits + 1);
    let next_moved = b.mux(&resting, &none_moved, &next_moved);
    let particle = b.slice(moved.value(), 0, particle_bits).at_stage(SLOT);
    b.set(moved, &next_moved);
    let mut moving_mark = Mark::new(&moving);
    let (mut in_slot_mark, mut left_mark) = (Mark::new(&in_slot), Mark::new(&left));
    let mut taking_mark = Mark::new(&taking);

    b.comment("particles: a for others' edges and in particle mode, b for owners, in element mode, for results and the bus");
    let [new_address, new_write, new_x, new_v] = [
        ("address", particle_bits),
        ("write", 1),
        ("x", map.window(WindowName::Position).bits()),
        ("v", map.window(WindowName::Velocity).bits()),
    ]
    .map(|(name, bits)| b.forward(&format!("new_{name}"), bits));
    let read_number = b.until(&particle, stages.read).as_static();
    let left_read = left_mark.at(&mut b, stages.read - SLOT);
    let a_address = b.mux(&left_read, &read_number, &asked_number.as_static());
    let slot_read = in_slot_mark.at(&mut b, stages.read - SLOT);
    let own_address = b.mux(&slot_read, &read_number, &owner_number);
    let own_address = b.mux(&new_write, &new_address, &own_address);
    let port_b = |b: &mut Build, bus: &(Net, Net, Net), d: &Net| {
        let address = b.mux(&idle, &bus.0, &own_address);
        let write = b.mux(&idle, &bus.1, &new_write);
        let d = b.mux(&idle, &bus.2, d);
        (address, write, d)
    };
    let particle_ram = |b: &mut Build, name: &str, bits: u32, port: &(Net, Net, Net)| -> Outputs {
        let inputs =
            [("a_address", &a_address), ("b_address", &port.0), ("b_write", &port.1), ("b_d", &port.2)];
        b.instance(name, &Rc::new(ram(bits, config.particles)), &inputs)
    };
    let position_port = port_b(&mut b, &position_bus, &new_x);
    let position_ram = particle_ram(&mut b, "position_memory", new_x.bits(), &position_port);
    let velocity_port = port_b(&mut b, &velocity_bus, &new_v);
    let velocity_ram = particle_ram(&mut b, "velocity_memory", new_v.bits(), &velocity_port);
    let answer = operands(&mut b, config, &position_ram.get("a_q"), &velocity_ram.get("a_q"));
    b.output("answer", &answer);

    b.comment("TEM: the owner's words, held for all its edges, and the other's, as start and end");
    let own = operands(&mut b, config, &position_ram.get("b_q"), &velocity_ram.get("b_q"));
    let own = b.until(&own.at_stage(stages.number + READ_LATENCY), stages.element - 1).as_static();
    let first_read = b.until(&first, stages.element - 1).as_static();
    let held = b.state("held", exchanged.words);
    let own = b.mux(&first_read, &own, held.value());
    let own_held = held.value().at_stage(stages.element);
    b.set(held, &own);
    let is_reversed = b.until(&slot.reversed, stages.element);
    let start = b.mux(&is_reversed, &other, &own_held);
    let end = b.mux(&is_reversed, &own_held, &other);
    let mut inputs: Vec<(String, Net)> = vec![
        ("table_write".into(), table_write),
        ("table_class".into(), table_class),
        ("table_d".into(), table_d),
        ("step_mantissa".into(), step.mantissa.clone()),
        ("step_shift".into(), step.shift.clone()),
        ("extension_shift".into(), extension_shift),
        ("force_limit".into(), force_limit),
        ("u".into(), b.until(&slot.u, stages.element)),
        ("class_number".into(), b.until(&slot.class, stages.element)),
    ];
    let x_bits = 3 * n.x.operand_bits();
    for (x, v, word) in [("x_start", "v_start", start), ("x_end", "v_end", end)] {
        for (name, low, bits) in [(x, 0, x_bits), (v, x_bits, exchanged.words - x_bits)] {
            let vector = b.slice(&word, low, bits);
            let parts = thirds(&mut b, &vector);
            inputs.extend(parts.into_iter().enumerate().map(|(k, net)| (format!("{name}{k}"), net)));
        }
    }
    let inputs: Vec<(&str, &Net)> = inputs.iter().map(|(name, net)| (name.as_str(), net)).collect();
    let tem_out = b.instance("tem", &tem_module, &inputs);
    let force = tem_out.get3("force");
    let force = joined(&mut b, &force);

    b.comment("a force is the end's, and its opposite the start's");
    let owner_is_end = b.until(&slot.reversed, stages.tem_force);
    let given = complemented(&mut b, &force, &owner_is_end);
    b.output("given", &given.as_static());
    b.output("given_complement", &owner_is_end.as_static());
    let owner_is_start = b.not(&owner_is_end);
    let kept = complemented(&mut b, &force, &owner_is_start).as_static();
    let kept = thirds(&mut b, &kept);
    let first_force = b.until(&first, stages.tem_force).as_static();
    let force_valid = edge_mark_at(&mut b, stages.tem_force);
    let sum_bits = n.force_sum.bits;
    let own_sum: [Net; 3] = std::array::from_fn(|k| {
        let sum = b.state(&format!("own_sum{k}"), sum_bits);
        let none = b.constant(0, sum_bits);
        let before = b.mux(&first_force, &none, sum.value());
        let value = b.sign_extend(&kept[k], sum_bits);
        let next = b.add_carry(&before, &value, &owner_is_start.as_static());
        let next = b.mux(&force_valid, &next, sum.value());
        let now = sum.value().clone();
        b.set(sum, &next);
        // As late as the other's force is at its module.
        (1..stages.hops).fold(now, |sum, _| b.reg(&sum))
    });

    b.comment("forces: the other's in turn, the owner's and a particle's out of turn");
    let adding = {
        let mut mark = Mark::new(&asked);
        mark.at(&mut b, stages.add - stages.number).as_static()
    };
    let added_number = b.until(&asked_number, stages.add).as_static();
    let own_number = b.until(&owner_number.at_stage(stages.number), stages.add).as_static();
    let own_adding = edge_mark_at(&mut b, stages.add);
    let is_last = b.until(&slot.last, stages.add).as_static();
    let own_adding = b.and(&own_adding, &is_last);
    // Values come as late as the memory has read: by then the turn is over.
    let odd_value = (0..READ_LATENCY).fold(odd.clone(), |turn, _| b.reg(&turn));
    let added_parts = {
        let parts = thirds(&mut b, &added.as_static());
        parts.map(|part| b.sign_extend(&part, sum_bits))
    };
    let mut force_memory = |b: &mut Build, name: &str, is_odd: bool| -> [Net; 3] {
        let (my_turn, my_value) =
            if is_odd { (odd.clone(), odd_value.clone()) } else { (b.not(&odd), b.not(&odd_value)) };
        let delay = stages.number + u32::from(is_odd) - SLOT;
        let taking = taking_mark.at(b, delay);
        let taken = b.until(&particle, SLOT + delay).as_static();
        let add = b.mux(&my_turn, &adding, &own_adding);
        let valid = b.or(&taking, &add);
        let address = b.mux(&my_turn, &added_number, &own_number);
        let address = b.mux(&idle, &force_item, &address);
        let address = b.mux(&taking, &taken, &address);
        let values: [Net; 3] = std::array::from_fn(|k| b.mux(&my_value, &added_parts[k], &own_sum[k]));
        let carry = b.and(&my_value, &added_complement.as_static());
        let inputs = [
            ("valid", &valid),
            ("clear", &taking),
            ("address", &address),
            ("value0", &values[0]),
            ("value1", &values[1]),
            ("value2", &values[2]),
            ("carry", &carry),
        ];
        let module = Rc::new(accumulator(config.particles, sum_bits, sum_bits));
        b.instance(name, &module, &inputs).get3("old")
    };
    let even_sum = force_memory(&mut b, "force_even_memory", false);
    let odd_sum = force_memory(&mut b, "force_odd_memory", true);

    b.comment("external forces: a for particles, b for the bus, always");
    let (item, write, d) = &external_bus;
    let external_number = b.until(&particle, stages.sums - READ_LATENCY).as_static();
    let external_ram = b.instance(
        "external_memory",
        &Rc::new(ram(map.window(WindowName::External).bits(), config.particles)),
        &[("a_address", &external_number), ("b_address", item), ("b_write", write), ("b_d", d)],
    );

    b.comment("MPM");
    let arrived = stages.read + READ_LATENCY;
    let from_a = left_mark.at(&mut b, arrived - SLOT);
    let arriving =
        |b: &mut Build, ram: &Outputs| b.mux(&from_a, &ram.get("a_q"), &ram.get("b_q")).at_stage(arrived);
    let x_word = arriving(&mut b, &position_ram);
    let x = Position::layout(config).map(in_memory(&mut b, &x_word)).into_array();
    let v_word = arriving(&mut b, &velocity_ram);
    let v = Velocity::layout(config).map(in_memory(&mut b, &v_word)).into_array();
    let external_word = external_ram.get("a_q").at_stage(stages.sums);
    let external = External::layout(config).map(in_memory(&mut b, &external_word));
    let mut inputs: Vec<(String, Net)> = vec![
        ("table_write".into(), mass_write),
        ("table_class".into(), mass_class),
        ("table_d".into(), mass_d),
        ("step_mantissa".into(), step.mantissa),
        ("step_shift".into(), step.shift),
        ("position_shift".into(), position_shift),
        ("class_number".into(), external.mass_class),
    ];
    let even = even_sum.clone().map(|net| b.until(&net.at_stage(stages.sums - 1), stages.sums));
    let sums = odd_sum.clone().map(|net| net.at_stage(stages.sums));
    for (name, nets) in [
        ("x", x),
        ("v", v),
        ("even", even),
        ("odd", sums),
        ("external", [external.fx, external.fy, external.fz]),
    ] {
        inputs.extend(nets.into_iter().enumerate().map(|(k, net)| (format!("{name}{k}"), net)));
    }
    let inputs: Vec<(&str, &Net)> = inputs.iter().map(|(name, net)| (name.as_str(), net)).collect();
    let mpm_out = b.instance("mpm", &mpm_module, &inputs);

    b.comment("a particle's new state");
    let particle_done = moving_mark.at(&mut b, stages.particle - SLOT);
    let done_number = b.until(&particle, stages.particle);
    let (x_word, v_word) = (joined(&mut b, &mpm_out.get3("x_next")), joined(&mut b, &mpm_out.get3("v_next")));
    b.drive(&new_write, &particle_done);
    b.drive(&new_address, &done_number);
    b.drive(&new_x, &x_word);
    b.drive(&new_v, &v_word);
    // Loading a position shows it, too.
    let (show_address, show_write, position) = &position_port;
    let show_d = shown(&mut b, config, position);
    let display_ram = b.instance(
        "display_memory",
        &Rc::new(ram(map.window(WindowName::Display).bits(), config.particles)),
        &[
            ("a_address", &display_item),
            ("b_address", show_address),
            ("b_write", show_write),
            ("b_d", &show_d),
        ],
    );

    b.comment("an edge's new extension; the rest of its slot's word as it was");
    let edge_done = edge_mark_at(&mut b, stages.extension);
    let index = b.until(&element_index.at_stage(0), stages.extension);
    let rest = b.slice(&slot_word, slot.u.bits(), word_bits - slot.u.bits());
    let rest = b.until(&rest, stages.extension);
    let word = b.concat(&[&rest, &tem_out.get("u_next")]);
    b.drive(&back_write, &edge_done);
    b.drive(&back_address, &index);
    b.drive(&back_d, &word);

    b.comment("overflow flags of items, one bit per source");
    let element_last = edge_mark_at(&mut b, stages.element + latency.overflow);
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
    for (name, sums) in [("force_even_q", &even_sum), ("force_odd_q", &odd_sum)] {
        let word = joined(&mut b, &sums.clone().map(|net| net.as_static()));
        b.output(name, &word);
    }
    b.finish()
}
