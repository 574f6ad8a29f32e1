//! The register map, declared once.
//!
//! From this list come the hardware's decoder and memory windows, the host's accessors, and the Markdown,
//! JSON and C header that `nendo gen` writes. Addresses are in bytes, words have 32 bits. A map belongs to a
//! configuration: the sizes of its windows depend on it.

mod c_header;
mod markdown;
mod registers;
#[cfg(test)]
mod tests;
mod windows;

pub use super::config::MAP_VERSION as VERSION;
pub use super::words::names::{Reg, WindowName};
pub use registers::{Access, Register};
pub use windows::{Availability, Direction, Window};

use super::{
    config::Config,
    words::{Item, pack, unpack},
};
use serde::{Serialize, Serializer};

/// What the first word reads: "nend" as ASCII.
pub const MAGIC: u32 = 0x6e65_6e64;

/// What holds for every access and every run: said by all three texts.
pub const RULES: [&str; 6] = [
    "Addresses are in bytes; their lowest two bits are not looked at. An access to anything but what is listed, a \
     write to what cannot be written, and a write of less than a word to a window or a command are answered with an \
     error and change nothing.",
    "What is for an idle engine (when: idle; a register can be read always) is answered with an error while it is \
     busy, changes nothing, and sets refused.access. So nothing a run depends on changes in it but external forces.",
    "A start that cannot take a step (particles or slots zero or more than the memories hold, or left zero) sets \
     refused.start, leaves memories and a halted step as they are, and ends at once as every run does: idle, steps_done \
     and cycles as at the beginning of a run, interrupt. The slots themselves are not looked at.",
    "A start or a clear while the engine is busy sets refused.command and does nothing else. A stop while it is idle \
     does nothing. With a start, clear is not looked at; nor is stop, unless the engine is busy.",
    "Bits that no field or register has are not looked at when written, above signed fields, too; they read as zero, \
     but for a signed field alone in its word of a window: it is read with its sign extended to bit 31.",
    "A flag in a write-one-to-clear register that is set in the clock in which it is cleared stays set.",
];

/// The map of a configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Map {
    /// The configuration.
    pub config: Config,
    /// Bytes the map takes: a power of two.
    pub size: u32,
    /// Bytes from one module's window of a memory to the next module's.
    pub module_span: u32,
    /// [`RULES`], for whoever has the JSON only.
    pub rules: [&'static str; RULES.len()],
    /// The registers, in the order the circuit is made in.
    #[serde(serialize_with = "sorted")]
    pub registers: Vec<Register>,
    /// The windows.
    pub windows: Vec<Window>,
}

fn by_address(registers: &[Register]) -> Vec<&Register> {
    let mut sorted: Vec<&Register> = registers.iter().collect();
    sorted.sort_by_key(|register| register.address);
    sorted
}

fn sorted<S: Serializer>(registers: &[Register], serializer: S) -> Result<S::Ok, S::Error> {
    by_address(registers).serialize(serializer)
}

impl Map {
    /// The map of a configuration.
    pub fn new(config: &Config) -> Self {
        // All memories have windows of one size, so that a few address bits tell them and their modules apart.
        let largest = (2 * config.edges).max(4 * config.particles).max(1024) as u32;
        let module_span = 4 * largest.next_power_of_two();
        let span = module_span * (config.modules as u32).next_power_of_two();
        let (registers, windows) = (registers::registers(config), windows::windows(config, span));
        Self { config: *config, size: 8 * span, module_span, rules: RULES, registers, windows }
    }

    /// The registers as people look for them.
    pub fn registers_by_address(&self) -> Vec<&Register> {
        by_address(&self.registers)
    }

    /// Bytes from one kind of memory's windows to the next.
    pub fn span(&self) -> u32 {
        self.size / 8
    }

    /// Address of a word of an item of a window in a module.
    pub fn address(&self, window: &Window, module: u32, item: u32, word: u32) -> u32 {
        module * self.module_span + window.address(item, word)
    }

    /// A register by name.
    ///
    /// # Panics
    /// Never: the map has all of them, which its tests check.
    pub fn register(&self, name: Reg) -> &Register {
        self.registers.iter().find(|r| r.name == name).unwrap_or_else(|| panic!("no register {name:?}"))
    }

    /// A window by name.
    ///
    /// # Panics
    /// Never: the map has all of them, which its tests check.
    pub fn window(&self, name: WindowName) -> &Window {
        self.windows.iter().find(|w| w.name == name).unwrap_or_else(|| panic!("no window {name:?}"))
    }

    /// An item as bus words.
    pub fn pack<I: Item>(&self, item: &I) -> Vec<u32> {
        pack(&self.window(I::WINDOW).fields, &item.numbers())
    }

    /// An item from bus words.
    pub fn unpack<I: Item>(&self, words: &[u32]) -> I {
        I::from_numbers(unpack(&self.window(I::WINDOW).fields, words))
    }
}
