//! What the registers read that the engine sets: its state, its counters, and sums of what goes over the bus.
//!
//! ```text
//!  address + data --> [ item ] --> + --> [ low ] --> + --> [ high ]     one addition per clock
//!                                  ^--------|        ^---------|
//! ```

use super::register_bus::BusOutputs;
use crate::{
    blocks::parts::register,
    circuit::{Build, Net, Outputs},
};
use nendo_model::contract::{
    map::Reg,
    words::{Refused, RefusedParts, Status, StatusParts},
};

/// A sum of addresses and words, and the sum of those sums.
struct Sum {
    low: Net,
    high: Net,
}

/// Everything that is read.
pub(super) struct Sources {
    /// The engine is not idle.
    pub(super) busy: Net,
    status: Net,
    refused: Net,
    steps_done: Net,
    cycles: Net,
    commands_seen: Net,
    written: Sum,
    read: Sum,
}

impl Sources {
    /// What follows from the bus, a command (a clock late) and the sequencer.
    pub(super) fn place(b: &mut Build, bus: &BusOutputs, command: &Net, sequence: &Outputs) -> Self {
        b.comment("sums of everything that is stored and fetched: one addition per clock");
        let address = b.zero_extend(&bus.0.get("access_address"), 32);
        let written = sum(b, "write_sum", &bus.0.get("stored"), &bus.0.get("access_d"), &address);
        let read = sum(b, "read_sum", &bus.0.get("fetched"), &bus.0.get("q"), &address);

        b.comment("commands taken");
        let any_command = b.any(command);
        let seen = b.state("commands_seen_1", 32);
        let next_seen = b.increment(seen.value(), &any_command);
        let commands_seen = seen.value().clone();
        b.set(seen, &next_seen);

        let cycles = sequence.get("cycle_count");
        let busy = b.not(&sequence.get("idle"));
        let refused = b.any(&bus.value(Reg::Refused));
        let parts = StatusParts { busy: busy.clone(), mode: sequence.get("mode_now"), refused };
        let status = register(b, Status::LAYOUT.into_array(), &parts.into_array());
        let parts = RefusedParts {
            start: sequence.get("refused_start"),
            command: sequence.get("refused_command"),
            access: bus.0.get("refused_access"),
        };
        let refused = register(b, Refused::LAYOUT.into_array(), &parts.into_array());
        Self {
            busy,
            status,
            refused,
            steps_done: sequence.get("steps_done"),
            cycles,
            commands_seen,
            written,
            read,
        }
    }

    /// What a register reads, or is set by; none if the bus has it all itself. `ended` is when a run has ended,
    /// `overflow` what overflowed.
    pub(super) fn of(&self, b: &mut Build, register: Reg, ended: &Net, overflow: &Net) -> Option<Net> {
        let source = match register {
            Reg::Status => &self.status,
            Reg::StepsDone => &self.steps_done,
            Reg::CyclesLow => &b.slice(&self.cycles, 0, 32),
            Reg::CyclesHigh => &b.slice(&self.cycles, 32, 32),
            Reg::Overflow => overflow,
            Reg::Interrupt => ended,
            Reg::Refused => &self.refused,
            Reg::CommandsSeen => &self.commands_seen,
            Reg::WriteSumLow => &self.written.low,
            Reg::WriteSumHigh => &self.written.high,
            Reg::ReadSumLow => &self.read.low,
            Reg::ReadSumHigh => &self.read.high,
            // Constants.
            Reg::Magic
            | Reg::MapVersion
            | Reg::HashLow
            | Reg::HashHigh
            | Reg::Configuration
            | Reg::MaxParticles
            | Reg::MaxEdges
            | Reg::FormatX
            | Reg::FormatV
            | Reg::FormatU
            | Reg::ClockKhz => return None,
            // Written over the bus.
            Reg::Scratch
            | Reg::Command
            | Reg::Steps
            | Reg::Particles
            | Reg::Slots
            | Reg::TailClocks
            | Reg::PositionShift
            | Reg::ExtensionShift
            | Reg::ForceLimit
            | Reg::StepConstant
            | Reg::Halt
            | Reg::InterruptEnable => return None,
        };
        Some(source.clone())
    }
}

fn sum(b: &mut Build, name: &str, event: &Net, data: &Net, address: &Net) -> Sum {
    let (low, high) = (b.state(&format!("{name}_low"), 32), b.state(&format!("{name}_high"), 32));
    let (low_now, high_now) = (low.value().clone(), high.value().clone());
    let item = b.add(data, address);
    let item = b.state_reg(&format!("{name}_item"), &item);
    let event = b.state_reg(&format!("{name}_item_valid"), event);
    let next = b.add(&low_now, &item);
    let next = b.mux(&event, &next, &low_now);
    b.set(low, &next);
    let event = b.state_reg(&format!("{name}_low_valid"), &event);
    let next = b.add(&high_now, &low_now);
    let next = b.mux(&event, &next, &high_now);
    b.set(high, &next);
    Sum { low: low_now, high: high_now }
}
