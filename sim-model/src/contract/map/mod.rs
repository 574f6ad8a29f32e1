//! The register map, declared once.
//!
//! From this list come the hardware's decoder and memory windows, the host's accessors, and the Markdown,
//! JSON and C header that `nendo gen` writes. Addresses are in bytes, words have 32 bits. A map belongs to a
//! configuration: the sizes of its windows depend on it.

mod names;
mod text;

pub use names::{Reg, WindowName};

use super::{
    config::{Config, address_bits},
    image::{ELEMENT_CLASSES, MASS_CLASSES},
    numbers::{Inverse, Profile, State},
    overflow::Source,
    words::{ENTRY_BITS, MAX_ADVANCE},
};
use serde::Serialize;

/// Version of the map: changes when anything in it changes its place or meaning.
pub const VERSION: u32 = 2;
/// What the first word reads: "nend" as ASCII.
pub const MAGIC: u32 = 0x6e65_6e64;

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
    /// A sentence about it.
    pub doc: &'static str,
}

/// A part of an item in a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// The word of the item it is in.
    pub word: u32,
    /// Its lowest bit in that word.
    pub low: u32,
    /// Its width.
    pub bits: u32,
    /// Whether it is a signed number; it is sign-extended when it is alone in its word.
    pub signed: bool,
}

/// When a window may be used: `when` in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Availability {
    /// Only while the engine is idle; else an error.
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
    /// In how many modules it is; module m's is m times [`Map::module_span`] further.
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

impl Window {
    /// A window that goes both ways while the engine is idle.
    fn new(
        name: WindowName,
        base: u32,
        items: u32,
        stride: u32,
        fields: Vec<Field>,
        doc: &'static str,
    ) -> Self {
        Self {
            name,
            base,
            modules: 1,
            items,
            stride,
            fields,
            direction: Direction::ReadWrite,
            availability: Availability::Idle,
            doc,
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

    /// An item's fields as bus words.
    pub fn pack(&self, values: &[i64]) -> Vec<u32> {
        let mut words = vec![0; self.words() as usize];
        for (field, value) in self.fields.iter().zip(values) {
            let alone = self.fields.iter().filter(|f| f.word == field.word).count() == 1;
            let bits = if alone && field.signed { 32 - field.low } else { field.bits };
            words[field.word as usize] |= (((*value as u64) & ((1 << bits) - 1)) as u32) << field.low;
        }
        words
    }

    /// An item's fields from bus words.
    pub fn unpack(&self, words: &[u32]) -> Vec<i64> {
        let value = |f: &Field| {
            let raw = i64::from(words[f.word as usize] >> f.low) & ((1 << f.bits) - 1);
            if f.signed { (raw << (64 - f.bits)) >> (64 - f.bits) } else { raw }
        };
        self.fields.iter().map(value).collect()
    }
}

/// The map of a configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Map {
    /// The configuration.
    pub config: Config,
    /// Bytes the map takes: a power of two.
    pub size: u32,
    /// Bytes from one module's window of a memory to the next module's.
    pub module_span: u32,
    /// The registers.
    pub registers: Vec<Register>,
    /// The windows.
    pub windows: Vec<Window>,
}

/// The word that gives a command.
pub const fn command_word(bits: u32) -> u32 {
    (!bits << 16) | bits
}

/// Where the registers end and the tables begin.
const TABLES: u32 = 0x400;

impl Map {
    /// The map of a configuration.
    pub fn new(config: &Config) -> Self {
        // All memories have windows of one size, so that a few address bits tell them and their modules apart.
        let largest = (2 * config.edges).max(4 * config.particles).max(1024) as u32;
        let module_span = 4 * largest.next_power_of_two();
        let span = module_span * (config.modules as u32).next_power_of_two();
        let windows = windows(config, span);
        Self { config: *config, size: 8 * span, module_span, registers: registers(config), windows }
    }

    /// Bytes from one kind of memory's windows to the next.
    pub fn span(&self) -> u32 {
        self.size / 8
    }

    /// Bits that tell the modules apart; none if there is one.
    pub fn module_bits(&self) -> u32 {
        (self.config.modules as u32).next_power_of_two().ilog2()
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
}

/// The number by which a profile is known in hardware.
pub fn profile_code(profile: Profile) -> u32 {
    Profile::ALL.iter().position(|p| *p == profile).unwrap_or(0) as u32
}

/// The number by which an inverse form is known in hardware.
pub fn inverse_code(inverse: Inverse) -> u32 {
    Inverse::ALL.iter().position(|i| *i == inverse).unwrap_or(0) as u32
}

/// A state's format in a word: stored bits, residual bits, fraction bits.
fn format_word(state: State) -> u32 {
    state.bits | state.residual << 8 | (state.frac as u32) << 16
}

#[rustfmt::skip] // a table
fn registers(config: &Config) -> Vec<Register> {
    use Access::{Command, Constant, ReadOnly, ReadWrite, WriteOneToClear};
    let n = config.profile.numbers();
    let hash = config.hash();
    let kind = profile_code(config.profile) | inverse_code(config.inverse) << 4 | (config.modules as u32) << 8;
    let (p, e) = (address_bits(config.particles) + 1, address_bits(config.edges) + 1);
    let list = [
        (Reg::Magic, 32, Constant(MAGIC), "Identity: the letters nend."),
        (Reg::MapVersion, 32, Constant(VERSION), "Version of this map."),
        (Reg::HashLow, 32, Constant(hash as u32), "Hash of the configuration, low half."),
        (Reg::HashHigh, 32, Constant((hash >> 32) as u32), "Hash of the configuration, high half."),
        (Reg::Configuration, 32, Constant(kind), "Bits 3..0 profile, 7..4 inverse form, 15..8 modules."),
        (Reg::MaxParticles, 32, Constant(config.particles as u32), "Particles the memories of a module hold."),
        (Reg::MaxEdges, 32, Constant(config.edges as u32), "Slots the memory of a module holds: one edge each."),
        (Reg::FormatX, 32, Constant(format_word(n.x)), "Position: stored bits, residual << 8, fraction << 16."),
        (Reg::FormatV, 32, Constant(format_word(n.v)), "Velocity, likewise."),
        (Reg::FormatU, 32, Constant(format_word(n.u)), "Extension, likewise."),
        (Reg::ClockKhz, 32, Constant(config.clock_khz), "Clock in kHz; 0 if it is not known."),
        (Reg::Scratch, 32, ReadWrite, "Keeps what is written: for testing the link."),
        (Reg::Command, 3, Command, "Bit 0 start, bit 1 stop after this step, bit 2 clear the force memories; upper half: complement of the lower."),
        (Reg::Status, 4, ReadOnly, "Bit 0 busy, bits 3..1 mode: idle, element, drain, particle, settle, finish, clear."),
        (Reg::Steps, 32, ReadWrite, "Steps to run at the next start; 0 runs until stopped."),
        (Reg::StepsDone, 32, ReadOnly, "Steps since the last start."),
        (Reg::CyclesLow, 32, ReadOnly, "Clocks spent in steps since the last start, low half."),
        (Reg::CyclesHigh, 32, ReadOnly, "The same, high half."),
        (Reg::Overflow, Source::ALL.len() as u32, WriteOneToClear, "Sticky overflow flags, one bit per source."),
        (Reg::Particles, p, ReadWrite, "Particles in use: as many in every module."),
        (Reg::Slots, e, ReadWrite, "Slots in use: as many in every module."),
        (Reg::TailClocks, p, ReadWrite, "Clocks after the slots in which particles are moved that were not moved in them."),
        (Reg::PositionShift, 4, ReadWrite, "Velocity to position increment (profile wide)."),
        (Reg::ExtensionShift, 4, ReadWrite, "Length rate to extension increment (profile wide)."),
        (Reg::ForceLimit, n.edge_force.bits, ReadWrite, "Largest force component of an element."),
        (Reg::StepConstant, ENTRY_BITS, ReadWrite, "The time step: mantissa, shift << 16 (paper profiles)."),
        (Reg::Halt, 1, ReadWrite, "Stop each step after its elements; the next start goes on with its particles."),
        (Reg::CommandsSeen, 32, ReadOnly, "Commands taken since power-on: tells a lost or repeated one."),
        (Reg::WriteSumLow, 32, ReadOnly, "Sum of address and data of every word written; these four do not count."),
        (Reg::WriteSumHigh, 32, ReadOnly, "Sum of those sums: tells order, repetition and omission."),
        (Reg::ReadSumLow, 32, ReadOnly, "The same of every word read."),
        (Reg::ReadSumHigh, 32, ReadOnly, "Sum of those sums."),
        (Reg::Interrupt, 1, WriteOneToClear, "The engine has become idle since this was last cleared; a reset clears it."),
        (Reg::InterruptEnable, 1, ReadWrite, "The interrupt line follows `interrupt`; a reset clears it."),
    ];
    list.into_iter()
        .map(|(name, bits, access, doc)| Register { name, address: name.address(), bits, access, doc })
        .collect()
}

/// Three components, a word each.
fn vector(names: [&'static str; 3], bits: u32) -> Vec<Field> {
    let field = |(k, name): (usize, &'static str)| Field { name, word: k as u32, low: 0, bits, signed: true };
    names.into_iter().enumerate().map(field).collect()
}

/// Three components of at most 16 bits, two to a word.
fn packed_vector(names: [&'static str; 3], bits: u32) -> Vec<Field> {
    let place = [(0, 0), (0, 16), (1, 0)];
    let field = |(name, (word, low))| Field { name, word, low, bits, signed: true };
    names.into_iter().zip(place).map(field).collect()
}

fn windows(config: &Config, span: u32) -> Vec<Window> {
    let n = config.profile.numbers();
    let number = address_bits(config.particles);
    let class = |classes: usize| (classes as u32).ilog2();
    let (particles, edges) = (config.particles as u32, config.edges as u32);
    let unsigned = |name, word, low, bits| Field { name, word, low, bits, signed: false };
    let mut external = packed_vector(["fx", "fy", "fz"], n.edge_force.bits);
    external.push(unsigned("mass_class", 1, 16, class(MASS_CLASSES)));
    let modules = config.modules as u32;
    let mut edge = vec![
        Field { name: "u", word: 0, low: 0, bits: n.u.bits, signed: true },
        unsigned("class", 0, 24, class(ELEMENT_CLASSES)),
        unsigned("other", 1, 0, number),
        unsigned("advance", 1, 24, MAX_ADVANCE.ilog2() + 1),
        unsigned("reversed", 1, 27, 1),
        unsigned("last", 1, 28, 1),
        unsigned("present", 1, 29, 1),
        unsigned("moves", 1, 30, 1),
    ];
    if modules > 1 {
        edge.push(unsigned("module", 1, 16, modules.next_power_of_two().ilog2()));
    }
    let shown = packed_vector(["x", "y", "z"], n.x.operand_bits());
    let table = |name, place: u32, field, doc| {
        let entry = Field { name: field, word: 0, low: 0, bits: ENTRY_BITS, signed: false };
        Window::new(name, TABLES + 0x100 * place, ELEMENT_CLASSES as u32, 1, vec![entry], doc).write_only()
    };
    let mut list = vec![
        table(
            WindowName::ElementExtension,
            0,
            "a_or_k",
            "Element class: constant times u (A or K); mantissa, shift << 16.",
        ),
        table(WindowName::ElementRate, 1, "b_or_c", "Element class: constant times l' (B or C)."),
        table(WindowName::ElementDamper, 2, "c2_or_d", "Element class: c2 or D = 1/c2."),
        table(WindowName::MassTable, 3, "inverse_mass", "Mass class: inverse mass; class 0 is held."),
    ];
    let memories = [
        Window::new(
            WindowName::Position,
            0,
            particles,
            4,
            vector(["x", "y", "z"], n.x.bits),
            "Stored positions.",
        ),
        Window::new(
            WindowName::Velocity,
            0,
            particles,
            4,
            vector(["x", "y", "z"], n.v.bits),
            "Stored velocities.",
        ),
        Window::new(WindowName::External, 0, particles, 2, external, "External forces and mass classes.")
            .always(),
        Window::new(
            WindowName::Edge,
            0,
            edges,
            2,
            edge,
            "A slot: the next of an owner's edges, or none. Stored extension, class, the other particle (module and \
             number), how much further the owner is (from -1), whether it is the edge's end, whether this is its last \
             edge, whether there is an edge, and whether the next particle is moved.",
        ),
        Window::new(
            WindowName::Display,
            0,
            particles,
            2,
            shown,
            "Positions as each particle's last move left them; word 0 holds word 1.",
        )
        .read_only()
        .always(),
        Window::new(
            WindowName::Force,
            0,
            particles,
            4,
            vector(["fx", "fy", "fz"], n.force_sum.bits),
            "Sum of the forces of the elements on a particle; zero between steps.",
        )
        .read_only(),
    ];
    // One span of addresses each, behind the one of the registers.
    let placed =
        memories.into_iter().zip(1..).map(|(window, k)| Window { base: k * span, modules, ..window });
    list.extend(placed);
    list
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn maps() -> Vec<Map> {
        let config = |profile, particles, edges| Config {
            particles,
            edges,
            ..Config::minimal(profile, Inverse::Table)
        };
        let mut maps: Vec<Map> = Profile::ALL.iter().map(|&p| Map::new(&config(p, 1024, 5120))).collect();
        maps.push(Map::new(&config(Profile::Wide, 4096, 20480)));
        maps.push(Map::new(&config(Profile::Wide, 65536, 1 << 20)));
        maps.extend(
            [2, 3, 64].map(|modules| Map::new(&Config { modules, ..config(Profile::Wide, 2048, 9216) })),
        );
        maps
    }

    #[test]
    fn nothing_overlaps_and_everything_fits() {
        for map in maps() {
            let mut taken: Vec<(u32, u32, &str)> =
                map.registers.iter().map(|r| (r.address, r.address + 4, r.name.name())).collect();
            for w in &map.windows {
                let start = |m: u32| w.base + m * map.module_span;
                taken.extend(
                    (0..w.modules).map(|m| (start(m), start(m) + 4 * w.items * w.stride, w.name.name())),
                );
            }
            taken.sort_unstable();
            for pair in taken.windows(2) {
                assert!(pair[0].1 <= pair[1].0, "{pair:?}");
            }
            assert!(taken.iter().all(|t| t.1 <= map.size && t.0 % 4 == 0));
            for w in &map.windows {
                assert!(w.stride.is_power_of_two() && w.words() <= w.stride, "{:?}", w.name);
                assert!(w.fields.iter().all(|f| f.low + f.bits <= 32), "{:?}", w.name);
            }
            assert!(map.registers.iter().all(|r| r.bits <= 32));
            assert!(map.registers.iter().map(|r| r.name).eq(Reg::ALL.iter().copied()));
            assert!(map.windows.iter().map(|w| w.name).eq(WindowName::ALL.iter().copied()));
        }
    }

    #[test]
    fn memory_words_are_what_the_blocks_hold() {
        let map = Map::new(&Config {
            particles: 4096,
            edges: 20480,
            ..Config::minimal(Profile::Wide, Inverse::Table)
        });
        let bits = |name| map.window(name).bits();
        assert_eq!(
            [
                WindowName::Position,
                WindowName::Velocity,
                WindowName::External,
                WindowName::Edge,
                WindowName::Display,
                WindowName::Force
            ]
            .map(bits),
            [72, 72, 54, 49, 48, 54]
        );
    }

    proptest! {
        #[test]
        fn items_come_back(values in prop::collection::vec(any::<i64>(), 9)) {
            for map in maps() {
                for w in &map.windows {
                    let fit = |(f, v): (&Field, &i64)| {
                        let shift = 64 - f.bits;
                        if f.signed { (v << shift) >> shift } else { ((*v as u64) << shift >> shift) as i64 }
                    };
                    let values: Vec<i64> = w.fields.iter().zip(&values).map(fit).collect();
                    prop_assert_eq!(w.unpack(&w.pack(&values)), values);
                }
            }
        }
    }
}
