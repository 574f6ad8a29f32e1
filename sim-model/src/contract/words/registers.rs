//! The words of registers with several parts.

use super::{
    super::{
        config::Config,
        numbers::{Constant, Inverse, Profile, State},
        overflow::Source,
    },
    Field, Mode, RegisterWord,
};

register_words! {
    /// What the engine is to do, once.
    Command as CommandParts {
        /// Take steps, or go on with one that was halted.
        start: bool = (0, 1),
        /// Stop after this step.
        stop: bool = (1, 1),
        /// Clear the force memories.
        clear: bool = (2, 1),
    }

    /// What the engine is doing.
    Status as StatusParts {
        /// It is not idle.
        busy: bool = (0, 1),
        /// Mode of the sequencer.
        mode: Option<Mode> = (1, 3),
        /// Something is in the register `refused`.
        refused: bool = (4, 1),
    }

    /// What was refused since it was last cleared.
    Refused as RefusedParts {
        /// A start that could not take a step: particles, slots or left were zero, or more than the memories hold.
        start: bool = (0, 1),
        /// A start or a clear while the engine was busy.
        command: bool = (1, 1),
        /// An access while the engine was busy to what is for an idle one.
        access: bool = (2, 1),
    }

    /// What an engine was built with.
    Configuration as ConfigurationParts {
        /// Number contract.
        profile: Option<Profile> = (0, 4),
        /// Circuit of the inverse length.
        inverse: Option<Inverse> = (4, 4),
        /// Main modules.
        modules: u8 = (8, 8),
    }

    /// The format of a variable that lives in memory.
    Format as FormatParts {
        /// Stored bits, residual included.
        stored: u8 = (0, 8),
        /// Stored bits below the operand.
        residual: u8 = (8, 8),
        /// Bits of the operand below the binary point.
        fraction: i32 = (16, 16),
    }

    /// A constant that is multiplied with, as registers and tables hold it.
    TableEntry as TableEntryParts {
        /// Mantissa.
        mantissa: i32 = (0, Constant::MANTISSA_BITS),
        /// How far the product is shifted right.
        shift: u32 = (Constant::MANTISSA_BITS, Constant::MAX_SHIFT.ilog2() + 1),
    }
}

impl Command {
    /// The word that gives it: the upper half is the complement of the lower, so that no damaged word is taken for one.
    pub fn word(self) -> u32 {
        !self.bits() << 16 | self.bits()
    }

    /// The command a word gives; none if it is damaged.
    pub fn from_word(word: u32) -> Option<Self> {
        (word >> 16 == !word & 0xffff).then(|| Self::from_bits(word))
    }
}

impl Configuration {
    /// That of a configuration.
    pub fn of(config: &Config) -> Self {
        let Config { profile, inverse, modules, .. } = *config;
        Self { profile: Some(profile), inverse: Some(inverse), modules: modules as u8 }
    }
}

impl From<State> for Format {
    fn from(state: State) -> Self {
        Self { stored: state.bits as u8, residual: state.residual as u8, fraction: state.frac }
    }
}

impl From<Constant> for TableEntry {
    fn from(Constant { mantissa, shift }: Constant) -> Self {
        Self { mantissa, shift }
    }
}

impl From<TableEntry> for Constant {
    fn from(TableEntry { mantissa, shift }: TableEntry) -> Self {
        Self { mantissa, shift }
    }
}

/// The fields of the overflow register: a flag per source.
pub const OVERFLOW_FIELDS: [Field; Source::ALL.len()] = {
    let flag = Field { name: "", word: 0, low: 0, bits: 1, signed: false, doc: "", values: &[], parts: &[] };
    let mut fields = [flag; Source::ALL.len()];
    let mut bit = 0;
    while bit < fields.len() {
        let (name, doc) = Source::ALL[bit].advice();
        fields[bit] = Field { name, low: Source::ALL[bit] as u32, doc, ..flag };
        bit += 1;
    }
    fields
};
