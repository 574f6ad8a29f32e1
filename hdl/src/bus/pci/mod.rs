//! A PCI 2.2 target, 32 bits at 33 MHz, and the board top with the engine behind it.
//!
//! ```text
//!  PCI --> target: address phase, configuration space, parity --> posted writes --> request --> engine
//!      <-- DEVSEL#, TRDY#, STOP#, AD, PAR, PERR#, SERR# <------------------------ done, q, error
//!      <-- INTA# <--------------------------------------------------------------- irq
//! ```
//! Memory writes are posted, 16 words deep, in bursts without wait states. Memory reads give one word and then
//! disconnect, because every read counts in the engine's sums: nothing is fetched that nobody asked for. Timing
//! diagrams are in `docs/pci.md`.

pub mod config_space;
mod defect;
mod logic;
mod posted;
mod target;

pub use defect::Defect;
pub use posted::POSTED_WORDS;
pub use target::pci_target;

use crate::{
    bus::register_bus::READ_CLOCKS,
    config::Config,
    engine::engine,
    map::Map,
    rtl::{Build, Direction, Module, Net},
};
use std::rc::Rc;

/// Clocks from FRAME# to the first data that the standard allows (PCI 2.2, 3.5.1.1).
pub const INITIAL_LATENCY: u32 = 16;
/// Clocks of a read besides those of the register bus: decoding, the AXI4-Lite port's two channels, TRDY#.
const AROUND_READ: u32 = 7;

/// A one-bit state that is set, and stays until it is cleared.
fn flag(b: &mut Build, name: &str, set: &Net, clear: &Net, awake: &Net) -> Net {
    let state = b.state(name, 1);
    let value = state.value().clone();
    let still = logic::unless(b, &value, clear);
    let next = b.or(&still, set);
    let next = b.and(&next, awake);
    b.set(state, &next);
    value
}

/// The board top of a configuration: target and engine. Lines of the bus that go both ways are three ports each
/// (in, out, enable); the target's own file joins them at the pads.
/// A configuration whose reads could take longer than the standard allows does not compile.
pub fn pci_board(config: &Config) -> Module {
    const { assert!(READ_CLOCKS + AROUND_READ < INITIAL_LATENCY, "reads take too long for the PCI bus") };
    let map = Map::new(config);
    let mut b = Build::new("pci_board", "The engine behind a PCI 2.2 target.");
    let target = Rc::new(pci_target(map.size, false));
    let mut inputs: Vec<(String, Net)> = Vec::new();
    let answers = ["done", "q", "error", "irq"];
    for port in target.ports().iter().filter(|p| p.direction == Direction::In && p.name != "clock") {
        let net = if answers.contains(&port.name.as_str()) {
            b.forward(&format!("engine_{}", port.name), port.bits)
        } else {
            b.input(&port.name, port.bits)
        };
        inputs.push((port.name.clone(), net));
    }
    let given: Vec<(&str, &Net)> = inputs.iter().map(|(name, net)| (name.as_str(), net)).collect();
    let bus = b.instance("target", &target, &given);
    let requests = ["request", "write", "address", "d", "strobe"];
    for port in target.ports().iter().filter(|p| p.direction == Direction::Out) {
        if !requests.contains(&port.name.as_str()) {
            b.output(&port.name, &bus.get(&port.name));
        }
    }
    let input = |name: &str| inputs.iter().find(|(n, _)| n == name).map(|(_, net)| net.clone());
    let reset_n = input("rst_n").unwrap_or_else(|| b.constant(1, 1));
    let awake = b.state_reg("awake", &reset_n);

    b.comment("a request becomes an access of the engine's AXI4-Lite port");
    let (request, write) = (bus.get("request"), bus.get("write"));
    let was = b.state_reg("request_was", &request);
    let start = logic::unless(&mut b, &request, &was);
    let start_write = b.and(&start, &write);
    let start_read = logic::unless(&mut b, &start, &write);
    let [aw_taken, w_taken, ar_taken] =
        ["aw", "w", "ar"].map(|channel| b.forward(&format!("{channel}_taken"), 1));
    let awvalid = flag(&mut b, "awvalid", &start_write, &aw_taken, &awake);
    let wvalid = flag(&mut b, "wvalid", &start_write, &w_taken, &awake);
    let arvalid = flag(&mut b, "arvalid", &start_read, &ar_taken, &awake);
    let (one, no_protection) = (b.constant(1, 1), b.constant(0, 3));
    let out = b.instance(
        "engine",
        &Rc::new(engine(config)),
        &[
            ("reset_n", &awake),
            ("s_axil_awvalid", &awvalid),
            ("s_axil_awaddr", &bus.get("address")),
            ("s_axil_awprot", &no_protection),
            ("s_axil_wvalid", &wvalid),
            ("s_axil_wdata", &bus.get("d")),
            ("s_axil_wstrb", &bus.get("strobe")),
            ("s_axil_bready", &one),
            ("s_axil_arvalid", &arvalid),
            ("s_axil_araddr", &bus.get("address")),
            ("s_axil_arprot", &no_protection),
            ("s_axil_rready", &one),
        ],
    );
    for (taken, ready) in [(&aw_taken, "awready"), (&w_taken, "wready"), (&ar_taken, "arready")] {
        b.drive(taken, &out.get(&format!("s_axil_{ready}")));
    }
    let (wrote, has_read) = (out.get("s_axil_bvalid"), out.get("s_axil_rvalid"));
    let done = b.or(&wrote, &has_read);
    let (write_error, read_error) = (b.any(&out.get("s_axil_bresp")), b.any(&out.get("s_axil_rresp")));
    let error = b.mux(&has_read, &read_error, &write_error);
    for (name, source) in answers.iter().zip([done, out.get("s_axil_rdata"), error, out.get("irq")]) {
        if let Some(net) = input(name) {
            b.drive(&net, &source);
        }
    }
    b.finish()
}
