//! The windows: where each memory is on the bus, and how it may be used.

use super::WindowName;
use crate::contract::{
    config::Config,
    image::{ELEMENT_CLASSES, MASS_CLASSES},
    words::{
        Display, ElementDamper, ElementExtension, ElementRate, External, Field, Force, Item, MassTable,
        Position, Slot, Velocity,
    },
};
use serde::Serialize;

/// When a window may be used, or a register written: `when` in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Availability {
    /// Only while the engine is idle; else an error, which changes nothing but `refused`.
    Idle,
    /// Always.
    Always,
}

/// Which way a window goes: `way` in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// Both ways.
    ReadWrite,
    /// Reads only.
    ReadOnly,
    /// Writes only.
    WriteOnly,
}

/// A memory: items of one or more words. Writing the last word of an item stores the whole item.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Window {
    /// Its name.
    pub name: WindowName,
    /// Address of its first word.
    pub base: u32,
    /// In how many modules it is; module m's is m times [`Map::module_span`](super::Map::module_span) further.
    pub modules: u32,
    /// How many items it has in a module.
    pub items: u32,
    /// Words from one item to the next: a power of two.
    pub stride: u32,
    /// The parts of an item, in the order of the memory's own bits.
    pub fields: Vec<Field>,
    /// Which way it goes.
    #[serde(rename = "way")]
    pub direction: Direction,
    /// When it may be used.
    #[serde(rename = "when")]
    pub availability: Availability,
    /// A sentence about it.
    pub doc: &'static str,
}

impl Availability {
    /// How tables abbreviate it.
    pub(super) fn short(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Always => "always",
        }
    }
}

impl Window {
    /// A window of so many items that goes both ways while the engine is idle.
    fn of<I: Item>(config: &Config, items: u64, stride: u32) -> Self {
        Self {
            name: I::WINDOW,
            base: 0,
            modules: 1,
            items: items as u32,
            stride,
            fields: I::fields(config),
            direction: Direction::ReadWrite,
            availability: Availability::Idle,
            doc: I::DOC,
        }
    }

    fn read_only(self) -> Self {
        Self { direction: Direction::ReadOnly, ..self }
    }

    fn write_only(self) -> Self {
        Self { direction: Direction::WriteOnly, ..self }
    }

    fn always(self) -> Self {
        Self { availability: Availability::Always, ..self }
    }

    /// Bits of an item in memory.
    pub fn bits(&self) -> u32 {
        self.fields.iter().map(|f| f.bits).sum()
    }

    /// Words of an item that carry anything: the last of them stores.
    pub fn words(&self) -> u32 {
        self.fields.iter().map(|f| f.word + 1).max().unwrap_or(0)
    }

    /// Address of a word of an item, in the first module.
    pub fn address(&self, item: u32, word: u32) -> u32 {
        self.base + 4 * (item * self.stride + word)
    }

    /// The lowest bit of a field in the memory's word.
    pub fn memory_low(&self, field: usize) -> u32 {
        self.fields[..field].iter().map(|f| f.bits).sum()
    }
}

/// Where the registers end and the tables begin, and bytes from one table to the next.
const TABLES: u32 = 0x400;
const TABLE_BYTES: u32 = 0x100;

pub(super) fn windows(config: &Config, span: u32) -> Vec<Window> {
    let Config { particles, edges, .. } = *config;
    let tables = [
        Window::of::<ElementExtension>(config, ELEMENT_CLASSES as u64, 1),
        Window::of::<ElementRate>(config, ELEMENT_CLASSES as u64, 1),
        Window::of::<ElementDamper>(config, ELEMENT_CLASSES as u64, 1),
        Window::of::<MassTable>(config, MASS_CLASSES as u64, 1),
    ];
    let memories = [
        Window::of::<Position>(config, particles, 4),
        Window::of::<Velocity>(config, particles, 4),
        Window::of::<External>(config, particles, 2).always(),
        Window::of::<Slot>(config, edges, 2),
        Window::of::<Display>(config, particles, 2).read_only().always(),
        Window::of::<Force>(config, particles, 4).read_only(),
    ];
    let tables = (0..).zip(tables).map(|(k, w)| Window { base: TABLES + TABLE_BYTES * k, ..w.write_only() });
    // One span of addresses each, behind the one of the registers.
    let modules = config.modules as u32;
    let memories = (1..).zip(memories).map(|(k, window)| Window { base: k * span, modules, ..window });
    tables.chain(memories).collect()
}
