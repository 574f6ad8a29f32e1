//! A board top for parts without a bus of their own: the engine behind four serial wires.
//!
//! ```text
//!  cs_n  ''\__________________________________/''''     sck at most a sixth of the clock
//!  sck   ____/'\_/'\_ ...                               mosi and miso are taken at its rising edges
//!  mosi  ---< write, address (32), data (32) >-----     65 bits, most significant first
//!  miso  ---< done, error, data (32), zeros... >---     the answer to the frame before
//! ```
//! When `cs_n` rises after exactly 65 bits, the access is made; a frame of another length makes none, so 34 bits
//! fetch an answer. `done` of zero: the answer is not there yet. A frame of 65 bits sent before the last one was
//! answered is undefined. The wires may come from another clock; each passes two registers.

use crate::{
    config::Config,
    engine::engine,
    rtl::{Build, Module, Net},
};
use std::rc::Rc;

/// Bits of a frame that makes an access.
pub const FRAME_BITS: u32 = 65;
/// Bits of an answer.
pub const ANSWER_BITS: u32 = 34;

/// A wire of another clock: its level, and whether it rises or falls.
struct Wire {
    level: Net,
    rises: Net,
    falls: Net,
}

fn wire(b: &mut Build, name: &str) -> Wire {
    let outside = b.input(name, 1);
    let first = b.state_reg(&format!("{name}_1"), &outside);
    let level = b.state_reg(&format!("{name}_2"), &first);
    let before = b.state_reg(&format!("{name}_3"), &level);
    let (low, was_low) = (b.not(&level), b.not(&before));
    Wire { rises: b.and(&level, &was_low), falls: b.and(&before, &low), level }
}

/// A one-bit state that is set, and stays until it is cleared.
fn flag(b: &mut Build, name: &str, set: &Net, clear: &Net, awake: &Net) -> Net {
    let state = b.state(name, 1);
    let value = state.value().clone();
    let keep = b.not(clear);
    let still = b.and(&value, &keep);
    let next = b.or(&still, set);
    let next = b.and(&next, awake);
    b.set(state, &next);
    value
}

/// The board top of a configuration.
pub fn serial_board(config: &Config) -> Module {
    let mut b = Build::new("serial_board", "The engine behind four serial wires.");
    let awake = wire(&mut b, "reset_n").level;
    let (sck, cs_n, mosi) = (wire(&mut b, "sck"), wire(&mut b, "cs_n"), wire(&mut b, "mosi"));

    b.comment("in: the frame and how long it is");
    let (frame, count) = (b.state("frame", FRAME_BITS), b.state("count", 7));
    let selected = b.not(&cs_n.level);
    let take = b.and(&sck.rises, &selected);
    let low = b.slice(frame.value(), 0, FRAME_BITS - 1);
    let longer = b.concat(&[&low, &mosi.level]);
    let next = b.mux(&take, &longer, frame.value());
    let (value, length) = (frame.value().clone(), count.value().clone());
    b.set(frame, &next);
    let full = b.all(&length);
    let more = b.not(&full);
    let counts = b.and(&take, &more);
    let counted = b.increment(&length, &counts);
    let none = b.constant(0, 7);
    let next = b.mux(&cs_n.falls, &none, &counted);
    b.set(count, &next);
    let whole = b.constant(FRAME_BITS.into(), 7);
    let whole = b.eq(&length, &whole);
    let start = b.and(&cs_n.rises, &whole);

    b.comment("the access");
    let write = b.bit(&value, 64);
    let read = b.not(&write);
    let (start_write, start_read) = (b.and(&start, &write), b.and(&start, &read));
    let [aw_taken, w_taken, ar_taken] =
        ["aw", "w", "ar"].map(|channel| b.forward(&format!("{channel}_taken"), 1));
    let awvalid = flag(&mut b, "awvalid", &start_write, &aw_taken, &awake);
    let wvalid = flag(&mut b, "wvalid", &start_write, &w_taken, &awake);
    let arvalid = flag(&mut b, "arvalid", &start_read, &ar_taken, &awake);

    let engine = Rc::new(engine(config));
    let address = b.slice(&value, 32, engine.port("s_axil_awaddr").bits);
    let data = b.slice(&value, 0, 32);
    let (one, no_protection, all) = (b.constant(1, 1), b.constant(0, 3), b.constant(15, 4));
    let out = b.instance(
        "engine",
        &engine,
        &[
            ("reset_n", &awake),
            ("s_axil_awvalid", &awvalid),
            ("s_axil_awaddr", &address),
            ("s_axil_awprot", &no_protection),
            ("s_axil_wvalid", &wvalid),
            ("s_axil_wdata", &data),
            ("s_axil_wstrb", &all),
            ("s_axil_bready", &one),
            ("s_axil_arvalid", &arvalid),
            ("s_axil_araddr", &address),
            ("s_axil_arprot", &no_protection),
            ("s_axil_rready", &one),
        ],
    );
    for (taken, ready) in [(&aw_taken, "awready"), (&w_taken, "wready"), (&ar_taken, "arready")] {
        b.drive(taken, &out.get(&format!("s_axil_{ready}")));
    }

    b.comment("out: the answer, from when it is there until the next access");
    let (wrote, has_read) = (out.get("s_axil_bvalid"), out.get("s_axil_rvalid"));
    let answered = b.or(&wrote, &has_read);
    let (write_error, read_error) = (b.any(&out.get("s_axil_bresp")), b.any(&out.get("s_axil_rresp")));
    let error = b.mux(&has_read, &read_error, &write_error);
    let done = flag(&mut b, "done", &answered, &start, &awake);
    let answer = b.concat(&[&error, &out.get("s_axil_rdata")]);
    let held = b.state("answer", ANSWER_BITS - 1);
    let next = b.mux(&answered, &answer, held.value());
    let answer = b.concat(&[&done, held.value()]);
    b.set(held, &next);
    let outgoing = b.state("outgoing", ANSWER_BITS);
    let rest = b.slice(outgoing.value(), 0, ANSWER_BITS - 1);
    let rest = b.shift_left(&rest, 1);
    let shifted = b.mux(&sck.falls, &rest, outgoing.value());
    let next = b.mux(&cs_n.falls, &answer, &shifted);
    let miso = b.sign(outgoing.value());
    b.set(outgoing, &next);
    b.output("miso", &miso);
    b.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        map::{MAGIC, Reg},
        verilated::{Options, Sim},
    };
    use nendo_model::{blocks::Inverse, numbers::Profile};

    /// Sends a frame and returns what came back, as a host would.
    fn frame(sim: &mut Sim, bits: u32, content: u128) -> u64 {
        let mut answer = 0;
        sim.set("cs_n", 0);
        sim.tick(6);
        for k in (0..bits).rev() {
            sim.set("mosi", content >> k & 1);
            sim.tick(3);
            sim.set("sck", 1);
            sim.settle();
            answer = answer << 1 | sim.get("miso") as u64;
            sim.tick(3);
            sim.set("sck", 0);
        }
        sim.tick(6);
        sim.set("cs_n", 1);
        sim.tick(40);
        answer
    }

    fn access(sim: &mut Sim, write: bool, address: u32, data: u32) -> u64 {
        frame(sim, FRAME_BITS, u128::from(write) << 64 | u128::from(address) << 32 | u128::from(data));
        frame(sim, ANSWER_BITS, 0)
    }

    #[test]
    fn the_engine_answers_over_the_wires() {
        let config = Config::minimal(Profile::Wide, Inverse::Table);
        let mut sim = Sim::new(&serial_board(&config), Options::default()).unwrap();
        for (name, value) in [("cs_n", 1), ("sck", 0), ("mosi", 0), ("reset_n", 0)] {
            sim.set(name, value);
        }
        sim.tick(10);
        sim.set("reset_n", 1);
        sim.tick(10);
        let done = 1 << 33;
        assert_eq!(frame(&mut sim, ANSWER_BITS, 0) & done, 0, "nothing has been asked");
        assert_eq!(access(&mut sim, false, 0, 0), done | u64::from(MAGIC));
        let steps = Reg::Steps.address();
        assert_eq!(access(&mut sim, true, steps, 0xcafe_f00d) >> 32, 2);
        frame(&mut sim, 30, u128::MAX); // too short to mean anything
        assert_eq!(access(&mut sim, false, steps, 0), done | 0xcafe_f00d);
        let refused = access(&mut sim, true, 0, 1);
        assert_eq!(refused >> 32, 3, "writing the magic number is an error: {refused:#x}");
    }
}
