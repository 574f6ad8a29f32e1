//! What is in front of the engine: AXI4-Lite ([`axi`]), PCI ([`pci`]) or a serial line ([`serial`]).
//!
//! ```text
//!  AXI4-Lite, PCI, serial --> front end --> request, write, address, d, strobe --> engine: register_bus
//!                                       <-- done, q, error, irq -----------------
//! ```
//! The engine's register port takes one request at a time; the [`register_bus`](crate::engine::register_bus) behind it is generated from the map.

pub mod axi;
mod logic;
pub mod pci;
pub mod serial;

use crate::{
    circuit::{Build, Direction, Module, Net},
    engine::{
        engine,
        register_bus::{ANSWER, REQUEST},
    },
};
use nendo_model::contract::config::Config;

use std::rc::Rc;

/// Places a front end and the engine behind it; the front end's other ports become the board's. It says with `awake`
/// whether the engine is out of reset, and may want to know of the interrupt, which is returned.
fn with_engine(b: &mut Build, config: &Config, name: &str, front: Module) -> Net {
    let irq = ("irq", 1);
    let answers = [ANSWER[0], ANSWER[1], ANSWER[2], irq]
        .map(|(port, bits)| (port, b.forward(&format!("answer_{port}"), bits)));
    let mut inputs = Vec::new();
    for port in front.ports().iter().filter(|p| p.direction == Direction::In && p.name != "clock") {
        let answer = answers.iter().find(|(name, _)| *name == port.name);
        let net = answer.map_or_else(|| b.input(&port.name, port.bits), |(_, net)| net.clone());
        inputs.push((port.name.clone(), net));
    }
    let inputs: Vec<(&str, &Net)> = inputs.iter().map(|(name, net)| (name.as_str(), net)).collect();
    let front = Rc::new(front);
    let out = b.instance(name, &front, &inputs);
    let inner = |name: &str| name == "awake" || REQUEST.iter().any(|(port, _)| *port == name);
    for port in front.ports().iter().filter(|p| p.direction == Direction::Out && !inner(&p.name)) {
        b.output(&port.name, &out.get(&port.name));
    }
    let request = REQUEST.map(|(port, _)| (port, out.get(port)));
    let awake = out.get("awake");
    let request: Vec<(&str, &Net)> =
        request.iter().map(|(port, net)| (*port, net)).chain([("reset_n", &awake)]).collect();
    let engine = b.instance("engine", &Rc::new(engine(config)), &request);
    for (port, net) in &answers {
        b.drive(net, &engine.get(port));
    }
    engine.get("irq")
}
