//! The registers: what each does, and what is in it.

use super::{Availability, MAGIC, Reg, VERSION};
use crate::contract::{
    config::{Config, address_bits},
    overflow::Source,
    words::{self, Configuration, Field, Format, Refused, RegisterWord, Status, TableEntry},
};
use serde::Serialize;

/// What a register does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind", content = "value")]
pub enum Access {
    /// Always reads this value; writing it is an error.
    Constant(u32),
    /// Read-only; writing it is an error.
    ReadOnly,
    /// Reads what was written; starts at zero.
    ReadWrite,
    /// Each bit written as one acts once; reads as zero. The upper half of the word must be the complement of
    /// the lower, so that no damaged word is taken for a command.
    Command,
    /// Sticky flags: each bit written as one is cleared.
    WriteOneToClear,
}

/// A register.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Register {
    /// Its name.
    pub name: Reg,
    /// Its address.
    pub address: u32,
    /// Its bits, from the lowest; the others read as zero.
    pub bits: u32,
    /// What it does.
    pub access: Access,
    /// When it may be written; it may be read always.
    #[serde(rename = "when")]
    pub availability: Availability,
    /// Its parts, if it has several.
    pub fields: &'static [Field],
    /// A sentence about it.
    pub doc: &'static str,
}

/// The parts of a register that has several.
fn fields(name: Reg) -> &'static [Field] {
    match name {
        Reg::Command => words::Command::FIELDS,
        Reg::Status => Status::FIELDS,
        Reg::Configuration => Configuration::FIELDS,
        Reg::FormatX | Reg::FormatV | Reg::FormatU => Format::FIELDS,
        Reg::StepConstant => TableEntry::FIELDS,
        Reg::Overflow => &words::OVERFLOW_FIELDS,
        Reg::Refused => Refused::FIELDS,
        _ => &[],
    }
}

#[rustfmt::skip] // a table
pub(super) fn registers(config: &Config) -> Vec<Register> {
    use Access::{Command, Constant, ReadOnly, ReadWrite, WriteOneToClear};
    let n = config.profile.numbers();
    let hash = config.hash();
    let kind = Configuration::of(config).bits();
    let [format_x, format_v, format_u] = [n.x, n.v, n.u].map(|state| Format::from(state).bits());
    let (p, e) = (address_bits(config.particles) + 1, address_bits(config.edges) + 1);
    let list = [
        (Reg::Magic, 32, Constant(MAGIC), "Identity: the letters nend."),
        (Reg::MapVersion, 32, Constant(VERSION), "Version of this map."),
        (Reg::HashLow, 32, Constant(hash as u32), "Hash of the configuration, low half."),
        (Reg::HashHigh, 32, Constant((hash >> 32) as u32), "Hash of the configuration, high half."),
        (Reg::Configuration, 32, Constant(kind), "Bits 3..0 profile, 7..4 inverse form, 15..8 modules."),
        (Reg::MaxParticles, 32, Constant(config.particles as u32), "Particles the memories of a module hold."),
        (Reg::MaxEdges, 32, Constant(config.edges as u32), "Slots the memory of a module holds: one edge each."),
        (Reg::FormatX, 32, Constant(format_x), "Position: stored bits, residual << 8, fraction << 16."),
        (Reg::FormatV, 32, Constant(format_v), "Velocity, likewise."),
        (Reg::FormatU, 32, Constant(format_u), "Extension, likewise."),
        (Reg::ClockKhz, 32, Constant(config.clock_khz), "Clock in kHz; 0 if it is not known."),
        (Reg::Scratch, 32, ReadWrite, "Keeps what is written: for testing the link."),
        (Reg::Command, words::Command::WIDTH, Command, "Bit 0 start, bit 1 stop after this step, bit 2 clear the force memories (not with a start); upper half: complement of the lower."),
        (Reg::Status, Status::WIDTH, ReadOnly, "Bit 0 busy, bits 3..1 mode: idle, element, drain, particle, settle, finish, clear; bit 4 something is in `refused`."),
        (Reg::Steps, 32, ReadWrite, "Steps to run at the next start; 0 runs until stopped."),
        (Reg::StepsDone, 32, ReadOnly, "Steps since the last start; a start that goes on with a halted step keeps it, and one that is refused is one, too."),
        (Reg::CyclesLow, 32, ReadOnly, "Clocks spent in steps since the last start, likewise, low half."),
        (Reg::CyclesHigh, 32, ReadOnly, "The same, high half."),
        (Reg::Overflow, Source::ALL.len() as u32, WriteOneToClear, "Sticky overflow flags, one bit per source."),
        (Reg::Particles, p, ReadWrite, "Particles in use: as many in every module."),
        (Reg::Slots, e, ReadWrite, "Slots in use: as many in every module."),
        (Reg::TailClocks, p, ReadWrite, "Clocks after the slots in which particles are moved that were not moved in them."),
        (Reg::PositionShift, 4, ReadWrite, "Velocity to position increment (profile wide)."),
        (Reg::ExtensionShift, 4, ReadWrite, "Length rate to extension increment (profile wide)."),
        (Reg::ForceLimit, n.edge_force.bits, ReadWrite, "Largest force component of an element, unsigned."),
        (Reg::StepConstant, TableEntry::WIDTH, ReadWrite, "The time step: mantissa, shift << 16 (paper profiles)."),
        (Reg::Halt, 1, ReadWrite, "Stop each step after its elements; the next start goes on with its particles."),
        (Reg::CommandsSeen, 32, ReadOnly, "Commands received since power-on, refused ones included: tells a lost or repeated one."),
        (Reg::WriteSumLow, 32, ReadOnly, "Sum of address and data of every word written; these four do not count."),
        (Reg::WriteSumHigh, 32, ReadOnly, "Sum of those sums: tells order, repetition and omission."),
        (Reg::ReadSumLow, 32, ReadOnly, "The same of every word read."),
        (Reg::ReadSumHigh, 32, ReadOnly, "Sum of those sums."),
        (Reg::Interrupt, 1, WriteOneToClear, "The engine has become idle, or has refused a start, since this was last cleared; a reset clears it."),
        (Reg::InterruptEnable, 1, ReadWrite, "The interrupt line follows `interrupt`; a reset clears it."),
        (Reg::Refused, Refused::WIDTH, WriteOneToClear, "Sticky: bit 0 a start that cannot run, bit 1 a start or clear while busy, bit 2 an access while busy to what is for an idle engine."),
    ];
    list.into_iter()
        .map(|(name, bits, access, doc)| {
            let availability = if name.is_of_run() { Availability::Idle } else { Availability::Always };
            Register { name, address: name.address(), bits, access, availability, fields: fields(name), doc }
        })
        .collect()
}
