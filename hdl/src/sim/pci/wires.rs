//! The lines of the bus in one clock.

/// Bus commands (PCI 2.2, 3.1.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Command {
    /// Interrupt acknowledge.
    InterruptAcknowledge = 0,
    /// I/O read.
    IoRead = 2,
    /// I/O write.
    IoWrite = 3,
    /// Memory read.
    MemoryRead = 6,
    /// Memory write.
    MemoryWrite = 7,
    /// Configuration read.
    ConfigRead = 10,
    /// Configuration write.
    ConfigWrite = 11,
    /// Memory read multiple.
    MemoryReadMultiple = 12,
    /// Memory read line.
    MemoryReadLine = 14,
    /// Memory write and invalidate.
    MemoryWriteInvalidate = 15,
}

impl Command {
    /// Whether a code on C/BE# is one of memory.
    pub fn is_memory(code: u8) -> bool {
        matches!(code, 6 | 7 | 12 | 14 | 15)
    }

    /// Whether a code on C/BE# is one of configuration.
    pub fn is_config(code: u8) -> bool {
        matches!(code, 10 | 11)
    }

    /// Whether a code on C/BE# reads.
    pub fn is_read(code: u8) -> bool {
        code & 1 == 0
    }
}

/// What the master puts on the bus in a clock. Lines are `true` when asserted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Drive {
    /// FRAME#.
    pub frame: bool,
    /// IRDY#.
    pub irdy: bool,
    /// IDSEL of the target.
    pub idsel: bool,
    /// AD, if it is driven.
    pub ad: Option<u32>,
    /// The levels of C/BE#.
    pub cbe_n: u8,
    /// PAR of this clock's AD, in the next clock, is to be wrong.
    pub wrong_parity: bool,
    /// RST#.
    pub reset: bool,
}

/// Who drives what.
#[derive(Clone, Copy, Debug, Default)]
pub struct Drivers {
    /// The target drives AD.
    pub target_ad: bool,
    /// The target drives PAR.
    pub target_par: bool,
    /// The target drives DEVSEL#, TRDY# and STOP#.
    pub target_control: bool,
    /// The target drives PERR#.
    pub target_perr: bool,
    /// The master drives AD.
    pub master_ad: bool,
    /// The master drives PAR.
    pub master_par: bool,
}

/// The lines as they are sampled at the end of a clock: `true` when asserted, released lines are not.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wires {
    /// FRAME#.
    pub frame: bool,
    /// IRDY#.
    pub irdy: bool,
    /// DEVSEL#.
    pub devsel: bool,
    /// TRDY#.
    pub trdy: bool,
    /// STOP#.
    pub stop: bool,
    /// PERR#.
    pub perr: bool,
    /// SERR#.
    pub serr: bool,
    /// INTA#.
    pub inta: bool,
    /// IDSEL of the target.
    pub idsel: bool,
    /// RST#.
    pub reset: bool,
    /// AD.
    pub ad: u32,
    /// The levels of C/BE#.
    pub cbe_n: u8,
    /// PAR.
    pub par: bool,
    /// Who drives.
    pub by: Drivers,
}

impl Wires {
    /// What PAR must be in the next clock: even over AD and C/BE#.
    pub fn parity(&self) -> bool {
        even_parity(self.ad, self.cbe_n)
    }

    /// A word is transferred in this clock.
    pub fn moves(&self) -> bool {
        self.irdy && self.trdy
    }

    /// A data phase ends in this clock.
    pub fn phase_ends(&self) -> bool {
        self.irdy && (self.trdy || self.stop)
    }
}

/// The bit that makes the number of ones even.
pub(super) fn even_parity(ad: u32, cbe_n: u8) -> bool {
    (ad.count_ones() + (cbe_n & 15).count_ones()) % 2 == 1
}
