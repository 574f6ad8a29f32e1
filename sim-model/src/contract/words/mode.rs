//! What the engine is doing.

/// A mode of the sequencer, as the status shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Nothing: the memories belong to the bus.
    Idle,
    /// A slot per clock.
    Element,
    /// Waiting until the last forces are in the sums.
    Drain,
    /// The particles that no slot has moved.
    Particle,
    /// Waiting until the last of them is written.
    Settle,
    /// Waiting until everything is written, after the last step.
    Finish,
    /// Emptying the force memories.
    Clear,
}

impl Mode {
    /// All modes in the order of their numbers.
    pub const ALL: [Self; 7] =
        [Self::Idle, Self::Element, Self::Drain, Self::Particle, Self::Settle, Self::Finish, Self::Clear];

    /// Its name in Verilog, JSON, Markdown and C.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Element => "element",
            Self::Drain => "drain",
            Self::Particle => "particle",
            Self::Settle => "settle",
            Self::Finish => "finish",
            Self::Clear => "clear",
        }
    }
}
