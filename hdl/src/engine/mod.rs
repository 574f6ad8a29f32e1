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
mod modules;
pub mod mpm;
pub mod register_bus;
pub mod sequencer;
mod sources;
pub mod tem;

use crate::{
    blocks::parts::in_register,
    circuit::{Build, Module, Net, Outputs},
    engine::{
        exchange::hops,
        main_module::Stages,
        modules::Modules,
        register_bus::{
            ANSWER, BusOutputs, REQUEST, bus_address_bits, register_bus, register_input, window_input,
        },
        sequencer::{Pauses, sequencer},
        sources::Sources,
    },
};
use nendo_model::{
    contract::{
        config::Config,
        map::{Map, Reg, WindowName},
        words::{Command, CommandParts},
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
    let (bus, readable) = place_bus(&mut b, &map, &request, &idle, &reset_n);
    for (name, _) in ANSWER {
        b.output(name, &bus.0.get(name));
    }

    b.comment("sequencer");
    // A clock late, out of the decoder's way.
    let command = b.state_reg("command_late", &bus.command());
    let sequence = place_sequencer(&mut b, config, &bus, &command, &reset_n);
    b.drive(&idle, &sequence.get("idle"));

    b.comment("main modules");
    let modules = Modules::place(&mut b, &map, &bus, &sequence);
    let sources = Sources::place(&mut b, &bus, &command, &sequence);

    b.comment("the interrupt: a level, from when the engine has become idle, or refused a start, until it is acknowledged");
    // A reset in the middle of a step is no end of it.
    let busy_awake = b.and(&sources.busy, &reset_n);
    let busy_was = b.state_reg("busy_was", &busy_awake);
    let ended = b.and(&busy_was, &sequence.get("idle"));
    let ended = b.or(&ended, &sequence.get("refused_start"));
    let irq = b.and(&bus.value(Reg::Interrupt), &bus.value(Reg::InterruptEnable));
    b.output("irq", &irq);
    for (register, net) in readable.registers {
        let source = sources.of(&mut b, register, &ended, &modules.overflow);
        b.drive(&net, &source.unwrap_or_else(|| panic!("nothing sets {register:?}")));
    }
    for (window, net) in readable.windows {
        let source = modules.read(&mut b, &map, &bus, window);
        b.drive(&net, &source);
    }
    b.finish()
}

/// What is read over the bus: wires that are driven when what drives them is there.
#[derive(Default)]
struct Readable {
    registers: Vec<(Reg, Net)>,
    windows: Vec<(WindowName, Net)>,
}

fn place_bus(
    b: &mut Build,
    map: &Map,
    request: &[(&str, Net)],
    idle: &Net,
    reset_n: &Net,
) -> (BusOutputs, Readable) {
    // A clock late, as it is in the modules: the next access is further than that from a command.
    let idle_late = b.state_reg("idle_late", idle);
    let mut inputs: Vec<(String, Net)> =
        vec![("idle".into(), idle_late), ("reset_n".into(), reset_n.clone())];
    inputs.extend(request.iter().map(|(name, net)| ((*name).to_owned(), net.clone())));
    let mut readable = Readable::default();
    for register in &map.registers {
        let Some(port) = register_input(register) else { continue };
        let net = b.forward(&format!("{port}_in"), register.bits);
        inputs.push((port, net.clone()));
        readable.registers.push((register.name, net));
    }
    for window in &map.windows {
        let Some(port) = window_input(window) else { continue };
        let net = b.forward(&format!("{port}_in"), window.bits());
        inputs.push((port, net.clone()));
        readable.windows.push((window.name, net));
    }
    let inputs: Vec<(&str, &Net)> = inputs.iter().map(|(name, net)| (name.as_str(), net)).collect();
    (BusOutputs(b.instance("register_bus", &Rc::new(register_bus(map)), &inputs)), readable)
}

fn place_sequencer(
    b: &mut Build,
    config: &Config,
    bus: &BusOutputs,
    command: &Net,
    reset_n: &Net,
) -> Outputs {
    let CommandParts { start, stop, clear } = Command::LAYOUT.map(in_register(b, command));
    let depths = Stages::of(config).depths();
    assert_eq!(
        depths,
        Depths::of(config.profile, config.inverse, config.modules),
        "the model predicts other depths than the pipelines have"
    );
    let pauses = Pauses { drain: depths.element, settle: depths.particle, finish: 7 + hops(config.modules) };
    b.instance(
        "sequencer",
        &Rc::new(sequencer(config.particles, config.edges, pauses)),
        &[
            ("reset_n", reset_n),
            ("start", &start),
            ("stop", &stop),
            ("clear", &clear),
            ("halt", &bus.value(Reg::Halt)),
            ("steps", &bus.value(Reg::Steps)),
            ("particles", &bus.value(Reg::Particles)),
            ("slots", &bus.value(Reg::Slots)),
            ("left", &bus.value(Reg::TailClocks)),
        ],
    )
}
