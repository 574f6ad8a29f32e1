//! The main modules side by side, with the exchange between them.
//!
//! ```text
//!  windows, tables, constants of a run --> main_module m --> ask, answer, give --> exchange
//!  sequencer ----------------------------->      ^                                    |
//!                                                +--- asked, other, added ------------+
//! ```
//! What they read over the bus comes a clock late: the word of the module that is asked.

use super::{
    exchange::exchange,
    main_module::{main_module, widths},
    register_bus::{BusOutputs, read_port},
};
use crate::circuit::{Build, Net, Outputs};
use nendo_model::contract::map::{Direction, Map, Reg, WindowName};
use std::rc::Rc;

/// The main modules and what they are connected by.
pub(super) struct Modules {
    outputs: Vec<Outputs>,
    /// What overflowed in any of them, a bit per source.
    pub(super) overflow: Net,
}

impl Modules {
    /// All modules of a configuration.
    pub(super) fn place(b: &mut Build, map: &Map, bus: &BusOutputs, sequence: &Outputs) -> Self {
        let config = &map.config;
        let widths = widths(config);
        let module = Rc::new(main_module(config));
        let common = common_inputs(b, map, bus, sequence);
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
                let write = match config.module_bits() {
                    0 => bus.write(window.name),
                    bits => {
                        let me = b.constant(m as i64, bits);
                        let mine = b.eq(&bus.module_number(), &me);
                        b.and(&bus.write(window.name), &mine)
                    }
                };
                inputs.push((format!("{}_write", window.name.name()), write));
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
    pub(super) fn read(&self, b: &mut Build, map: &Map, bus: &BusOutputs, window: WindowName) -> Net {
        let module = (map.config.module_bits() > 0).then(|| bus.module_number());
        let mut of = |port: &str| {
            let words: Vec<Net> = self.outputs.iter().map(|m| m.get(port)).collect();
            b.choose(module.as_ref(), &words)
        };
        let port = read_port(window);
        let word = if window == WindowName::Force {
            // The two parts of a sum.
            let (even, odd) = (of("force_even_q"), of("force_odd_q"));
            let bits = even.bits() / 3;
            let sums: [Net; 3] = std::array::from_fn(|k| {
                let [even, odd] = [&even, &odd].map(|word| b.slice(word, k as u32 * bits, bits));
                b.add(&even, &odd)
            });
            b.concat(&[&sums[2], &sums[1], &sums[0]])
        } else {
            of(&port)
        };
        b.state_reg(&format!("{port}_late"), &word)
    }
}

/// What all modules get alike: tables, constants of a run, what the sequencer says, and items of windows.
fn common_inputs(b: &mut Build, map: &Map, bus: &BusOutputs, sequence: &Outputs) -> Vec<(String, Net)> {
    let [extension, rate, damper] =
        [WindowName::ElementExtension, WindowName::ElementRate, WindowName::ElementDamper]
            .map(|table| bus.write(table));
    let table_write = b.concat(&[&damper, &rate, &extension]);
    let mut common: Vec<(String, Net)> = vec![
        ("element_table_write".into(), table_write),
        // The tables lie side by side: item and data are the same for all.
        ("element_table_class".into(), bus.item(WindowName::ElementExtension)),
        ("element_table_d".into(), bus.d(WindowName::ElementExtension)),
        ("mass_table_write".into(), bus.write(WindowName::MassTable)),
        ("mass_table_class".into(), bus.item(WindowName::MassTable)),
        ("mass_table_d".into(), bus.d(WindowName::MassTable)),
    ];
    for name in ["idle", "restart", "element_valid", "element_index", "particle_valid", "clear_valid"] {
        common.push((name.into(), sequence.get(name)));
    }
    let constants = [
        Reg::Halt,
        Reg::Particles,
        Reg::StepConstant,
        Reg::PositionShift,
        Reg::ExtensionShift,
        Reg::ForceLimit,
    ];
    common.extend(constants.map(|register| (register.name().into(), bus.value(register))));
    for window in map.windows.iter().filter(|w| w.base >= map.span()) {
        let name = window.name.name();
        common.push((format!("{name}_item"), bus.item(window.name)));
        if window.direction != Direction::ReadOnly {
            common.push((format!("{name}_d"), bus.d(window.name)));
        }
    }
    common
}
