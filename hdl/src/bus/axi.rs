//! AXI4-Lite slave, 32 bits: one request at a time to the register bus.
//!
//! ```text
//!  AW, W --> held until both are there --> request --> done --> B
//!  AR -----> held -----------------------> request --> done --> R
//! ```
//! All five channels are independent and may be held up at will: each accepts one beat, keeps it until it
//! has been served, and keeps its answer until it is taken. Reads and writes take turns. An error of the
//! register bus is answered with SLVERR. `reset_n` empties all channels.

use super::with_engine;
use crate::{
    circuit::{Build, Module, Net},
    engine::register_bus::bus_address_bits,
};
use nendo_model::contract::{config::Config, map::Map};

/// SLVERR.
const SLAVE_ERROR: i64 = 0b10;

/// A beat that is held until it has been served.
struct Held {
    full: Net,
    values: Vec<Net>,
}

/// A channel into the slave: ready while empty; emptied by `take`.
fn accept(b: &mut Build, name: &str, reset: &Net, take: &Net, payload: &[(&str, u32)]) -> Held {
    let valid = b.input(&format!("s_axil_{name}valid"), 1);
    let full = b.state(&format!("{name}_full"), 1);
    let value = full.value().clone();
    // Not ready during reset, so that nothing is accepted and lost.
    let free = b.not(&value);
    let awake = b.not(reset);
    let ready = b.and(&free, &awake);
    b.output(&format!("s_axil_{name}ready"), &ready);
    let beat = b.and(&valid, &ready);
    let values = payload
        .iter()
        .map(|(part, bits)| {
            let input = b.input(&format!("s_axil_{name}{part}"), *bits);
            let held = b.state(&format!("{name}_{part}"), *bits);
            let value = held.value().clone();
            let next = b.mux(&beat, &input, &value);
            b.set(held, &next);
            value
        })
        .collect();
    let keep = b.not(take);
    let still = b.and(&value, &keep);
    let next = b.or(&still, &beat);
    let next = b.and(&next, &awake);
    b.set(full, &next);
    Held { full: value, values }
}

/// A channel out of the slave: valid from `give` until it is taken.
fn answer(b: &mut Build, name: &str, reset: &Net, give: &Net, payload: &[(&str, &Net)]) -> Net {
    let ready = b.input(&format!("s_axil_{name}ready"), 1);
    let valid = b.state(&format!("{name}_valid"), 1);
    let value = valid.value().clone();
    b.output(&format!("s_axil_{name}valid"), &value);
    let stay = b.not(&ready);
    let waiting = b.and(&value, &stay);
    let next = b.or(&waiting, give);
    let awake = b.not(reset);
    let next = b.and(&next, &awake);
    b.set(valid, &next);
    for (part, source) in payload {
        let held = b.state(&format!("{name}_{part}_held"), source.bits());
        let out = held.value().clone();
        let next = b.mux(give, source, &out);
        b.set(held, &next);
        b.output(&format!("s_axil_{name}{part}"), &out);
    }
    value
}

/// The engine of a configuration behind AXI4-Lite: the slave's outer ports, `reset_n` and `irq`.
pub fn axi_board(config: &Config) -> Module {
    let mut b = Build::new("axi_board", "The engine behind an AXI4-Lite slave.");
    let irq = with_engine(&mut b, config, "axi", axi(bus_address_bits(&Map::new(config))));
    b.output("irq", &irq);
    b.finish()
}

/// The slave for addresses of this width.
pub fn axi(address_bits: u32) -> Module {
    let mut b = Build::new("axi", "AXI4-Lite slave in front of the register bus.");
    let reset_n = b.input("reset_n", 1);
    let reset = b.not(&reset_n);
    let (done, q, error) = (b.input("done", 1), b.input("q", 32), b.input("error", 1));

    b.comment("who is being served");
    let (reading, writing) = (b.state("reading", 1), b.state("writing", 1));
    let write_done = b.and(writing.value(), &done);
    let read_done = b.and(reading.value(), &done);

    b.comment("channels in");
    let aw = accept(&mut b, "aw", &reset, &write_done, &[("addr", address_bits), ("prot", 3)]);
    let w = accept(&mut b, "w", &reset, &write_done, &[("data", 32), ("strb", 4)]);
    let ar = accept(&mut b, "ar", &reset, &read_done, &[("addr", address_bits), ("prot", 3)]);

    b.comment("channels out");
    let slave_error = b.constant(SLAVE_ERROR, 2);
    let okay = b.constant(0, 2);
    let response = b.mux(&error, &slave_error, &okay);
    let b_valid = answer(&mut b, "b", &reset, &write_done, &[("resp", &response)]);
    let r_valid = answer(&mut b, "r", &reset, &read_done, &[("data", &q), ("resp", &response)]);

    b.comment("reads and writes take turns; none starts before its last answer is gone");
    let busy = b.or(reading.value(), writing.value());
    let rest = b.or(&busy, &done);
    let free = b.not(&rest);
    let both = b.and(&aw.full, &w.full);
    let (no_b, no_r) = (b.not(&b_valid), b.not(&r_valid));
    let can_write = b.and(&both, &no_b);
    let can_read = b.and(&ar.full, &no_r);
    let turn = b.state("write_turn", 1);
    let others = b.not(&can_read);
    let my_turn = b.or(turn.value(), &others);
    let wants = b.and(&can_write, &my_turn);
    let start_write = b.and(&wants, &free);
    let not_write = b.not(&wants);
    let wants = b.and(&can_read, &not_write);
    let start_read = b.and(&wants, &free);
    let after_read = b.or(turn.value(), &start_read);
    let not_started = b.not(&start_write);
    let next = b.and(&after_read, &not_started);
    b.set(turn, &next);

    b.comment("the request");
    let awake = b.not(&reset);
    let open = b.not(&done);
    let mut serve = |state: crate::circuit::State, start: &Net| {
        let value = state.value().clone();
        let still = b.and(&value, &open);
        let next = b.or(&still, start);
        let next = b.and(&next, &awake);
        b.set(state, &next);
        value
    };
    let (writing, reading) = (serve(writing, &start_write), serve(reading, &start_read));
    let request = b.or(&writing, &reading);
    b.output("request", &request);
    b.output("write", &writing);
    let address = b.mux(&writing, &aw.values[0], &ar.values[0]);
    b.output("address", &address);
    b.output("d", &w.values[0]);
    b.output("strobe", &w.values[1]);
    b.output("awake", &reset_n);
    b.finish()
}
