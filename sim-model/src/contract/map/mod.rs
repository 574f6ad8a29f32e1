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

/// The map of a configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Map {
    /// The configuration.
    pub config: Config,
    /// Bytes the map takes: a power of two.
    pub size: u32,
    /// Bytes from one module's window of a memory to the next module's.
    pub module_span: u32,
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
        Self { config: *config, size: 8 * span, module_span, registers, windows }
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
