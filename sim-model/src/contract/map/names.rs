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

names! {
    /// A register of the map.
    Reg {
        Magic = "magic",
        MapVersion = "map_version",
        HashLow = "hash_low",
        HashHigh = "hash_high",
        Configuration = "configuration",
        MaxParticles = "max_particles",
        MaxEdges = "max_edges",
        FormatX = "format_x",
        FormatV = "format_v",
        FormatU = "format_u",
        ClockKhz = "clock_khz",
        Scratch = "scratch",
        Command = "command",
        Status = "status",
        Steps = "steps",
        StepsDone = "steps_done",
        CyclesLow = "cycles_low",
        CyclesHigh = "cycles_high",
        Overflow = "overflow",
        Particles = "particles",
        Slots = "slots",
        TailClocks = "left",
        PositionShift = "position_shift",
        ExtensionShift = "extension_shift",
        ForceLimit = "force_limit",
        StepConstant = "step_constant",
        Halt = "halt",
        CommandsSeen = "commands_seen",
        WriteSumLow = "write_sum_low",
        WriteSumHigh = "write_sum_high",
        ReadSumLow = "read_sum_low",
        ReadSumHigh = "read_sum_high",
        Interrupt = "interrupt",
        InterruptEnable = "interrupt_enable",
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
    /// Its address: the same in every map of this version.
    pub const fn address(self) -> u32 {
        match self {
            Self::Magic => 0x00,
            Self::MapVersion => 0x04,
            Self::HashLow => 0x08,
            Self::HashHigh => 0x0c,
            Self::Configuration => 0x10,
            Self::MaxParticles => 0x14,
            Self::MaxEdges => 0x18,
            Self::FormatX => 0x1c,
            Self::FormatV => 0x20,
            Self::FormatU => 0x24,
            Self::ClockKhz => 0x28,
            Self::Scratch => 0x2c,
            Self::Command => 0x40,
            Self::Status => 0x44,
            Self::Steps => 0x48,
            Self::StepsDone => 0x4c,
            Self::CyclesLow => 0x50,
            Self::CyclesHigh => 0x54,
            Self::Overflow => 0x58,
            Self::Particles => 0x5c,
            Self::Slots => 0x60,
            Self::TailClocks => 0x7c,
            Self::PositionShift => 0x64,
            Self::ExtensionShift => 0x68,
            Self::ForceLimit => 0x6c,
            Self::StepConstant => 0x70,
            Self::Halt => 0x74,
            Self::CommandsSeen => 0x78,
            Self::WriteSumLow => 0x80,
            Self::WriteSumHigh => 0x84,
            Self::ReadSumLow => 0x88,
            Self::ReadSumHigh => 0x8c,
            Self::Interrupt => 0x90,
            Self::InterruptEnable => 0x94,
        }
    }

    /// Whether a reset clears it: after a reset no line of the bus may be held. All others keep their contents.
    pub const fn is_reset(self) -> bool {
        matches!(self, Self::Interrupt | Self::InterruptEnable)
    }

    /// Whether it is one of the sums of what went over the bus, which do not count themselves.
    pub const fn is_sum(self) -> bool {
        matches!(self, Self::WriteSumLow | Self::WriteSumHigh | Self::ReadSumLow | Self::ReadSumHigh)
    }
}
