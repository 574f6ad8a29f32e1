//! The names of registers and windows: typed, so that a wrong one does not compile.

use serde::{Serialize, Serializer};

macro_rules! names {
    ($(#[$about:meta])* $kind:ident { $($variant:ident = $text:literal,)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $kind {
            $(#[doc = $text] $variant,)*
        }

        impl $kind {
            /// All of them, in the order of the map.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The name in Verilog, JSON, Markdown and C.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)*
                }
            }
        }

        impl Serialize for $kind {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.name())
            }
        }
    };
}

/// Names with an address each.
macro_rules! addressed {
    ($(#[$about:meta])* $kind:ident { $($variant:ident = $text:literal at $address:literal,)* }) => {
        names! { $(#[$about])* $kind { $($variant = $text,)* } }

        impl $kind {
            /// Its address: the same in every map of this version.
            pub const fn address(self) -> u32 {
                match self {
                    $(Self::$variant => $address,)*
                }
            }
        }
    };
}

addressed! {
    /// A register of the map.
    Reg {
        Magic = "magic" at 0x00,
        MapVersion = "map_version" at 0x04,
        HashLow = "hash_low" at 0x08,
        HashHigh = "hash_high" at 0x0c,
        Configuration = "configuration" at 0x10,
        MaxParticles = "max_particles" at 0x14,
        MaxEdges = "max_edges" at 0x18,
        FormatX = "format_x" at 0x1c,
        FormatV = "format_v" at 0x20,
        FormatU = "format_u" at 0x24,
        ClockKhz = "clock_khz" at 0x28,
        Scratch = "scratch" at 0x2c,
        Command = "command" at 0x40,
        Status = "status" at 0x44,
        Steps = "steps" at 0x48,
        StepsDone = "steps_done" at 0x4c,
        CyclesLow = "cycles_low" at 0x50,
        CyclesHigh = "cycles_high" at 0x54,
        Overflow = "overflow" at 0x58,
        Particles = "particles" at 0x5c,
        Slots = "slots" at 0x60,
        TailClocks = "left" at 0x7c,
        PositionShift = "position_shift" at 0x64,
        ExtensionShift = "extension_shift" at 0x68,
        ForceLimit = "force_limit" at 0x6c,
        StepConstant = "step_constant" at 0x70,
        Halt = "halt" at 0x74,
        CommandsSeen = "commands_seen" at 0x78,
        WriteSumLow = "write_sum_low" at 0x80,
        WriteSumHigh = "write_sum_high" at 0x84,
        ReadSumLow = "read_sum_low" at 0x88,
        ReadSumHigh = "read_sum_high" at 0x8c,
        Interrupt = "interrupt" at 0x90,
        InterruptEnable = "interrupt_enable" at 0x94,
        Refused = "refused" at 0x98,
    }
}

names! {
    /// A window of the map.
    WindowName {
        ElementExtension = "element_extension",
        ElementRate = "element_rate",
        ElementDamper = "element_damper",
        MassTable = "mass_table",
        Position = "position",
        Velocity = "velocity",
        External = "external",
        Edge = "edge",
        Display = "display",
        Force = "force",
    }
}

impl Reg {
    /// Whether a reset clears it: after a reset no line of the bus may be held. All others keep their contents.
    pub const fn is_reset(self) -> bool {
        matches!(self, Self::Interrupt | Self::InterruptEnable)
    }

    /// Whether it says what a run does: it can be written only while the engine is idle, so that no run has two of them.
    pub const fn is_of_run(self) -> bool {
        use Reg::{
            ExtensionShift, ForceLimit, Halt, Particles, PositionShift, Slots, StepConstant, Steps,
            TailClocks,
        };
        matches!(
            self,
            Steps
                | Particles
                | Slots
                | TailClocks
                | PositionShift
                | ExtensionShift
                | ForceLimit
                | StepConstant
                | Halt
        )
    }

    /// Whether it is one of the sums of what went over the bus, which do not count themselves.
    pub const fn is_sum(self) -> bool {
        matches!(self, Self::WriteSumLow | Self::WriteSumHigh | Self::ReadSumLow | Self::ReadSumHigh)
    }
}
