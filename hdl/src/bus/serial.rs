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

use super::{
    logic::{flag, hold},
    with_engine,
};
use crate::{
    circuit::{Build, Module, Net},
    engine::register_bus::bus_address_bits,
};
use nendo_model::contract::{config::Config, map::Map};

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

/// The board top of a configuration.
pub fn serial_board(config: &Config) -> Module {
    let mut b = Build::new("serial_board", "The engine behind four serial wires.");
    with_engine(&mut b, config, "serial", serial(bus_address_bits(&Map::new(config))));
    b.finish()
}

/// The wires' end, for addresses of this width.
pub fn serial(address_bits: u32) -> Module {
    let mut b = Build::new("serial", "Accesses of the register bus from four serial wires.");
    let (done, q, error) = (b.input("done", 1), b.input("q", 32), b.input("error", 1));
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

    b.comment("the access: it stands still while the next frame comes in");
    let request = flag(&mut b, "request_now", &start, &done, &awake);
    b.output("request", &request);
    for (port, low, bits) in [("write", 64, 1), ("address", 32, address_bits), ("d", 0, 32)] {
        let part = b.slice(&value, low, bits);
        let held = hold(&mut b, &format!("request_{port}"), &start, &part);
        b.output(port, &held);
    }
    let all = b.constant(15, 4);
    b.output("strobe", &all);
    b.output("awake", &awake);

    b.comment("out: the answer, from when it is there until the next access");
    let answered = flag(&mut b, "answered", &done, &start, &awake);
    let answer = b.concat(&[&error, &q]);
    let held = b.state("answer", ANSWER_BITS - 1);
    let next = b.mux(&done, &answer, held.value());
    let answer = b.concat(&[&answered, held.value()]);
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
    use crate::sim::verilated::{Sim, SimOptions};
    use nendo_model::contract::{
        map::{MAGIC, Reg},
        numbers::{Inverse, Profile},
    };

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
        let mut sim = Sim::new(&serial_board(&config), SimOptions::default()).unwrap();
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
