//! The engine behind its register port: the registers, the sequencer and the main modules with their exchange.
//!
//! ```text
//!  request, write, address, d, strobe --> register_bus --> sequencer --> main_module 0, 1, ...
//!  <------------------ done, q, error ---      |                            ^        |
//!                                              +------- windows ------------+        v
//!                                                                           +--- exchange
//! ```
//! What is in front of it is one of [`crate::bus`]: AXI4-Lite, PCI or a serial line.

pub mod exchange;
pub mod main_module;
pub mod mpm;
pub mod register_bus;
pub mod sequencer;
pub mod tem;

use crate::{
    circuit::{Build, Module, Net, Outputs},
    engine::{
        exchange::{exchange, hops},
        main_module::{Stages, main_module, widths},
        register_bus::{ANSWER, REQUEST, bus_address_bits, register_bus},
        sequencer::{Pauses, sequencer},
    },
};
use nendo_model::{
    contract::{
        config::{Config, address_bits},
        map::{Access, Direction, Map, WindowName},
    },
    plan::cycles::Depths,
};
use std::rc::Rc;

/// The engine of a configuration. Its inputs are `reset_n` and a request ([`REQUEST`]), its outputs the request's
/// answer ([`ANSWER`]) and `irq`.
///
/// # Panics
/// If the pipelines' depths are not those the model predicts cycles with: one of the two is wrong.
pub fn engine(config: &Config) -> Module {
    let map = Map::new(config);
    let mut b =
        Build::new("core", format!("nendo deformation engine, configuration {}.", config.hash_text()));
    let reset_n = b.input("reset_n", 1);
    let request = REQUEST.map(|(name, bits)| (name, b.input(name, bits.unwrap_or(bus_address_bits(&map)))));

    b.comment("registers and windows");
    let idle = b.forward("idle_now", 1);
    // A clock late, as it is in the modules: the next access is further than that from a command.
    let idle_late = b.state_reg("idle_late", &idle);
    let mut bus_inputs: Vec<(String, Net)> =
        vec![("idle".into(), idle_late), ("reset_n".into(), reset_n.clone())];
    bus_inputs.extend(request.map(|(name, net)| (name.to_owned(), net)));
    let mut later = Vec::new();
    for register in &map.registers {
        let port = match register.access {
            Access::ReadOnly => register.name.name().to_owned(),
            Access::WriteOneToClear => format!("{}_set", register.name.name()),
            _ => continue,
        };
        let net = b.forward(&format!("{port}_in"), register.bits);
        bus_inputs.push((port.clone(), net.clone()));
        later.push((port, net));
    }
    for window in map.windows.iter().filter(|w| w.direction != Direction::WriteOnly) {
        let port = format!("{}_q", window.name.name());
        let net = b.forward(&format!("{port}_in"), window.bits());
        bus_inputs.push((port.clone(), net.clone()));
        later.push((port, net));
    }
    let inputs: Vec<(&str, &Net)> = bus_inputs.iter().map(|(name, net)| (name.as_str(), net)).collect();
    let bus = b.instance("register_bus", &Rc::new(register_bus(&map)), &inputs);
    for (name, _) in ANSWER {
        b.output(name, &bus.get(name));
    }

    b.comment("sequencer");
    // A clock late, out of the decoder's way.
    let command = b.state_reg("command_late", &bus.get("command_do"));
    let [start, stop, clear] = [0, 1, 2].map(|bit| b.bit(&command, bit));
    let depths = Stages::of(config).depths();
    assert_eq!(
        depths,
        Depths::of(config.profile, config.inverse, config.modules),
        "the model predicts other depths than the pipelines have"
    );
    let pauses = Pauses { drain: depths.element, settle: depths.particle, finish: 7 + hops(config.modules) };
    let (particle_bits, edge_bits) = (address_bits(config.particles), address_bits(config.edges));
    let sequence = b.instance(
        "sequencer",
        &Rc::new(sequencer(particle_bits, edge_bits, config.particles, pauses)),
        &[
            ("reset_n", &reset_n),
            ("start", &start),
            ("stop", &stop),
            ("clear", &clear),
            ("halt", &bus.get("halt")),
            ("steps", &bus.get("steps")),
            ("particles", &bus.get("particles")),
            ("slots", &bus.get("slots")),
            ("left", &bus.get("left")),
        ],
    );
    b.drive(&idle, &sequence.get("idle"));

    b.comment("main modules");
    let modules = Modules::place(&mut b, &map, &bus, &sequence);

    b.comment("sums of everything that is stored and fetched: one addition per clock");
    let address = b.zero_extend(&bus.get("access_address"), 32);
    let mut sums = |event: &str, data: &str, name: &str| {
        let (event, data) = (bus.get(event), bus.get(data));
        let (low, high) = (b.state(&format!("{name}_low"), 32), b.state(&format!("{name}_high"), 32));
        let (low_now, high_now) = (low.value().clone(), high.value().clone());
        let item = b.add(&data, &address);
        let item = b.state_reg(&format!("{name}_item"), &item);
        let event = b.state_reg(&format!("{name}_item_valid"), &event);
        let next = b.add(&low_now, &item);
        let next = b.mux(&event, &next, &low_now);
        b.set(low, &next);
        let event = b.state_reg(&format!("{name}_low_valid"), &event);
        let next = b.add(&high_now, &low_now);
        let next = b.mux(&event, &next, &high_now);
        b.set(high, &next);
        (low_now, high_now)
    };
    let written = sums("stored", "access_d", "write_sum");
    let read = sums("fetched", "q", "read_sum");

    b.comment("commands taken");
    let any_command = b.any(&command);
    let seen = b.state("commands_seen_1", 32);
    let next_seen = b.increment(seen.value(), &any_command);
    let commands_seen = seen.value().clone();
    b.set(seen, &next_seen);

    let cycles = sequence.get("cycle_count");
    let busy = b.not(&sequence.get("idle"));
    let status = b.concat(&[&sequence.get("mode_now"), &busy]);

    b.comment("the interrupt: a level, from when the engine has become idle until it is acknowledged");
    // A reset in the middle of a step is no end of it.
    let busy_awake = b.and(&busy, &reset_n);
    let busy_was = b.state_reg("busy_was", &busy_awake);
    let ended = b.and(&busy_was, &sequence.get("idle"));
    let irq = b.and(&bus.get("interrupt"), &bus.get("interrupt_enable"));
    b.output("irq", &irq);
    for (port, net) in later {
        let source = match port.as_str() {
            "status" => status.clone(),
            "steps_done" => sequence.get("steps_done"),
            "cycles_low" => b.slice(&cycles, 0, 32),
            "cycles_high" => b.slice(&cycles, 32, 32),
            "overflow_set" => modules.overflow.clone(),
            "interrupt_set" => ended.clone(),
            "commands_seen" => commands_seen.clone(),
            "write_sum_low" => written.0.clone(),
            "write_sum_high" => written.1.clone(),
            "read_sum_low" => read.0.clone(),
            "read_sum_high" => read.1.clone(),
            _ => modules.read(&mut b, &map, &bus, &port),
        };
        b.drive(&net, &source);
    }
    b.finish()
}

/// The main modules and what they are connected by.
struct Modules {
    outputs: Vec<Outputs>,
    overflow: Net,
}

impl Modules {
    fn place(b: &mut Build, map: &Map, bus: &Outputs, sequence: &Outputs) -> Self {
        let config = &map.config;
        let widths = widths(config);
        let module = Rc::new(main_module(config));
        let tables = ["element_extension", "element_rate", "element_damper"];
        let writes = tables.map(|name| bus.get(&format!("{name}_write")));
        let table_write = b.concat(&[&writes[2], &writes[1], &writes[0]]);
        let mut common: Vec<(String, Net)> = vec![
            ("element_table_write".into(), table_write),
            // The tables lie side by side: item and data are the same for all.
            ("element_table_class".into(), bus.get("element_extension_item")),
            ("element_table_d".into(), bus.get("element_extension_d")),
            ("mass_table_write".into(), bus.get("mass_table_write")),
            ("mass_table_class".into(), bus.get("mass_table_item")),
            ("mass_table_d".into(), bus.get("mass_table_d")),
        ];
        for name in ["idle", "restart", "element_valid", "element_index", "particle_valid", "clear_valid"] {
            common.push((name.into(), sequence.get(name)));
        }
        for name in ["halt", "particles", "step_constant", "position_shift", "extension_shift", "force_limit"]
        {
            common.push((name.into(), bus.get(name)));
        }
        for window in map.windows.iter().filter(|w| w.base >= map.span()) {
            let name = window.name.name();
            common.push((format!("{name}_item"), bus.get(&format!("{name}_item"))));
            if window.direction != Direction::ReadOnly {
                common.push((format!("{name}_d"), bus.get(&format!("{name}_d"))));
            }
        }
        let exchanged = [
            ("asked", 1),
            ("asked_number", widths.number),
            ("other", widths.words),
            ("added", widths.force),
            ("added_complement", 1),
        ];
        let (mut outputs, mut forward) = (Vec::new(), Vec::new());
        for m in 0..config.modules {
            b.comment(&format!("module {m}"));
            let mut inputs = common.clone();
            for window in
                map.windows.iter().filter(|w| w.base >= map.span() && w.direction != Direction::ReadOnly)
            {
                let port = format!("{}_write", window.name.name());
                let write = match map.module_bits() {
                    0 => bus.get(&port),
                    bits => {
                        let me = b.constant(m as i64, bits);
                        let mine = b.eq(&bus.get("module_number"), &me);
                        b.and(&bus.get(&port), &mine)
                    }
                };
                inputs.push((port, write));
            }
            for (name, bits) in exchanged {
                let net = b.forward(&format!("{name}_{m}"), bits);
                inputs.push((name.into(), net.clone()));
                forward.push((format!("{name}_{m}"), net));
            }
            let inputs: Vec<(&str, &Net)> = inputs.iter().map(|(name, net)| (name.as_str(), net)).collect();
            outputs.push(b.instance(&format!("main_module_{m}"), &module, &inputs));
        }

        b.comment("between them");
        let asks = ["ask_valid", "ask_module", "ask_number", "answer", "given", "given_complement"];
        let several = |name: &&str| config.modules > 1 || *name != "ask_module";
        let inputs: Vec<(String, Net)> = outputs
            .iter()
            .enumerate()
            .flat_map(|(m, from)| {
                asks.iter()
                    .filter(|name| several(name))
                    .map(move |name| (format!("{name}_{m}"), from.get(name)))
            })
            .collect();
        let inputs: Vec<(&str, &Net)> = inputs.iter().map(|(name, net)| (name.as_str(), net)).collect();
        let between = b.instance("exchange", &Rc::new(exchange(&widths)), &inputs);
        for (name, net) in forward {
            b.drive(&net, &between.get(&name));
        }
        let overflow: Vec<Net> = outputs.iter().map(|m| m.get("overflow")).collect();
        let overflow = overflow[1..].iter().fold(overflow[0].clone(), |all, one| b.or(&all, one));
        let overflow = b.state_reg("overflow_found", &overflow);
        Self { outputs, overflow }
    }

    /// What a window reads: a clock late, the word of the module that is asked.
    fn read(&self, b: &mut Build, map: &Map, bus: &Outputs, port: &str) -> Net {
        let module = (map.module_bits() > 0).then(|| bus.get("module_number"));
        let mut of = |port: &str| {
            let words: Vec<Net> = self.outputs.iter().map(|m| m.get(port)).collect();
            b.choose(module.as_ref(), &words)
        };
        if port != format!("{}_q", WindowName::Force.name()) {
            let word = of(port);
            return b.state_reg(&format!("{port}_late"), &word);
        }
        // The two parts of a sum.
        let (even, odd) = (of("force_even_q"), of("force_odd_q"));
        let bits = even.bits() / 3;
        let sums: Vec<Net> = (0..3)
            .map(|k| {
                let [even, odd] = [&even, &odd].map(|word| b.slice(word, k * bits, bits));
                b.add(&even, &odd)
            })
            .collect();
        let word = b.concat(&[&sums[2], &sums[1], &sums[0]]);
        b.state_reg(&format!("{port}_late"), &word)
    }
}
