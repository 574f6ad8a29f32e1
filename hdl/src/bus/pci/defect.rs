//! Deliberate mistakes in the target, for the tests of those who watch it.
//!
//! A target built for the bench has an input `defect` that selects one of them; a target built for a board has
//! neither the input nor anything of the mistakes.

use crate::circuit::{Build, Net};

/// A mistake a PCI target can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Defect {
    /// PAR is odd.
    OddParity,
    /// PAR leaves the byte enables out.
    ParityWithoutByteEnables,
    /// PERR# never comes.
    NoDataParityError,
    /// PERR# comes a clock late.
    LateDataParityError,
    /// Data with wrong parity is written.
    DamagedDataKept,
    /// SERR# never comes.
    NoSystemError,
    /// AD is driven in the turn-around cycle.
    NoTurnAround,
    /// AD is driven for a clock too long.
    LateRelease,
    /// DEVSEL#, TRDY# and STOP# float before they were driven high.
    NoDriveHigh,
    /// DEVSEL#, TRDY# and STOP# are driven for a clock too long.
    ControlHeld,
    /// STOP# goes while FRAME# is still there.
    StopWithdrawn,
    /// TRDY# goes before the master was ready.
    ReadyWithdrawn,
    /// A target abort keeps DEVSEL#.
    AbortKeepsSelect,
    /// Memory is answered although the command register forbids it.
    IgnoresEnable,
    /// All commands of memory but the plain ones are left unanswered.
    PlainCommandsOnly,
    /// The address stays in a burst.
    AddressStands,
    /// All bytes are written.
    IgnoresByteEnables,
    /// Words are taken that there is no room for.
    BufferOverrun,
    /// A read overtakes posted writes.
    ReadOvertakes,
    /// A burst goes on beyond the end of the BAR.
    PastTheEnd,
    /// A burst of another order than linear goes on.
    WrapsLinearly,
    /// A read that must wait is held instead of told to come back.
    HoldsInsteadOfRetry,
    /// RST# does not float the outputs.
    DrivesInReset,
    /// DEVSEL# a clock later than the status register says.
    SlowSelect,
    /// INTA# comes for one clock only.
    InterruptPulse,
    /// INTA# is driven in RST#.
    InterruptInReset,
    /// Configuration space says that there is no interrupt pin.
    NoInterruptPin,
}

impl Defect {
    /// All of them.
    pub const ALL: [Self; 27] = [
        Self::OddParity,
        Self::ParityWithoutByteEnables,
        Self::NoDataParityError,
        Self::LateDataParityError,
        Self::DamagedDataKept,
        Self::NoSystemError,
        Self::NoTurnAround,
        Self::LateRelease,
        Self::NoDriveHigh,
        Self::ControlHeld,
        Self::StopWithdrawn,
        Self::ReadyWithdrawn,
        Self::AbortKeepsSelect,
        Self::IgnoresEnable,
        Self::PlainCommandsOnly,
        Self::AddressStands,
        Self::IgnoresByteEnables,
        Self::BufferOverrun,
        Self::ReadOvertakes,
        Self::PastTheEnd,
        Self::WrapsLinearly,
        Self::HoldsInsteadOfRetry,
        Self::DrivesInReset,
        Self::SlowSelect,
        Self::InterruptPulse,
        Self::InterruptInReset,
        Self::NoInterruptPin,
    ];

    /// The number that selects it; 0 selects none.
    pub fn code(self) -> u32 {
        self as u32 + 1
    }
}

/// The bench's choice of a mistake, where there is one.
pub(super) struct Bench {
    select: Option<Net>,
}

impl Bench {
    /// With an input `defect`, or without.
    pub(super) fn new(b: &mut Build, on: bool) -> Self {
        Self { select: on.then(|| b.input("defect", 5)) }
    }

    /// What is right, unless this mistake is selected.
    pub(super) fn pick(
        &self,
        b: &mut Build,
        defect: Defect,
        right: &Net,
        wrong: impl FnOnce(&mut Build) -> Net,
    ) -> Net {
        let Some(select) = &self.select else { return right.clone() };
        let code = b.constant(defect.code().into(), 5);
        let on = b.eq(select, &code);
        let wrong = wrong(b);
        b.mux(&on, &wrong, right)
    }
}
