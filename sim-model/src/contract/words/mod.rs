//! The words on the bus and in the memories: what is in them is declared here, once.
//!
//! ```text
//!   items! { Slot as SlotParts in Edge { u: i32 = (word, low, bits), ... } }
//!      |
//!      +-- Slot { u, class, ... }       values: the driver's and the register-level model's
//!      +-- SlotParts<Field>             where each part is, in a configuration: the map, its JSON, Markdown and C
//!      +-- SlotParts<Net>               its wires: the hardware's (crate nendo-hdl)
//! ```
//! `items.rs` has what is in the windows, `registers.rs` the registers with several parts. A part is added by a line
//! there; what must know of it does not compile, or shows it by itself.
//!
//! ```
//! use nendo_model::contract::{config::Config, map::Map, numbers::{Inverse, Profile}, words::{Command, Slot}};
//! let map = Map::new(&Config::minimal(Profile::Wide, Inverse::Table));
//! let slot = Slot { u: -5, other: 17, advance: 1, present: true, ..Slot::default() };
//! assert_eq!(map.unpack::<Slot>(&map.pack(&slot)), slot);
//! assert_eq!(Command { stop: true, ..Command::default() }.word(), 0xfffd_0002);
//! ```

#[macro_use]
mod declare;
mod field;
mod items;
mod mode;
pub mod names;
mod part;
mod registers;

pub use field::{Field, pack, unpack};
pub use items::*;
pub use mode::Mode;
pub use part::{Coded, Part};
pub use registers::*;

use super::config::Config;
use names::WindowName;

/// The most ranks an owner may be further than the one before: what a slot's word has room for.
pub const MAX_ADVANCE: u32 = 7;

/// Something with named parts, each of which is a number on the bus.
pub trait Word: Copy {
    /// The parts' numbers, in the order of their declaration.
    fn numbers(self) -> Vec<i64>;

    /// From the parts' numbers; those that are missing are zero.
    fn from_numbers(numbers: impl IntoIterator<Item = i64>) -> Self;
}

/// A word of a register, the same in every configuration.
pub trait RegisterWord: Word {
    /// Its parts.
    const FIELDS: &'static [Field];

    /// Its width.
    const WIDTH: u32 = {
        let last = Self::FIELDS[Self::FIELDS.len() - 1];
        last.low + last.bits
    };

    /// Its bits.
    fn bits(self) -> u32 {
        pack(Self::FIELDS, &self.numbers()).first().copied().unwrap_or(0)
    }

    /// From its bits; what belongs to no part is not looked at.
    fn from_bits(bits: u32) -> Self {
        Self::from_numbers(unpack(Self::FIELDS, &[bits]))
    }
}

/// An item of a window.
pub trait Item: Word {
    /// The window it is in.
    const WINDOW: WindowName;
    /// A sentence about it.
    const DOC: &'static str;

    /// Its parts in a configuration, in the order of the memory's own bits. One that is not there in all
    /// configurations has no width in the others, and is the last.
    fn fields(config: &Config) -> Vec<Field>;
}
