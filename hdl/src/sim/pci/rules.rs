//! The rules that the monitor checks, each with its section of the PCI Local Bus Specification, revision 2.2.

use std::fmt;

macro_rules! rules {
    ($($name:ident, $section:literal, $text:literal;)*) => {
        /// A rule of the standard.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Rule {
            $(#[doc = concat!($text, " (", $section, ").")] $name,)*
        }

        impl Rule {
            /// All rules.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// Where it stands.
            pub fn section(self) -> &'static str {
                match self { $(Self::$name => $section,)* }
            }

            /// What it says.
            pub fn text(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }
        }
    };
}

rules! {
    ResetFloats, "2.2.1", "RST# floats all outputs";
    AdContention, "3.2.4", "AD has one driver at a time";
    ParContention, "3.2.4", "PAR has one driver at a time";
    TurnAround, "3.2.4", "in a read, AD is turned around before the target drives it";
    AdWithoutRead, "3.2.4", "a target drives AD only in a read that it has claimed";
    AdNotDriven, "3.3.1", "from DEVSEL# on, the target of a read drives AD until the last data phase ends";
    ParFollowsAd, "3.7.1", "who drives AD drives PAR a clock later";
    ReadParity, "3.7.1", "PAR of a word that is read is even over AD and C/BE#";
    DrivenHigh, "2.1", "a sustained tri-state line is driven high for a clock before it floats";
    ReleasedLate, "2.1", "a sustained tri-state line floats a clock after it was driven high";
    ControlOutside, "3.3.3.2.1", "DEVSEL#, TRDY# and STOP# belong to a transaction";
    ReadyUnselected, "3.6.1", "DEVSEL# comes with or before TRDY# and STOP#";
    SelectTiming, "6.2.3", "DEVSEL# comes when the status register says: medium";
    SelectDropped, "3.6.1", "DEVSEL# stays until the last data phase, but for a target abort";
    AbortForm, "3.3.3.2.1", "a target abort is STOP# without DEVSEL# and TRDY#";
    ForeignClaim, "3.2.2", "a target claims only what its configuration gives it";
    NotClaimed, "3.2.2", "a target claims what its configuration gives it";
    AnswerChanged, "3.3.3.2.1", "TRDY# or STOP#, once asserted, hold all three until the data phase ends";
    StopDropped, "3.3.3.2.1", "STOP# stays until FRAME# has gone";
    ReadyAfterStop, "3.3.3.2.1", "after a disconnect no more data is transferred";
    InitialLatency, "3.5.1.1", "TRDY# or STOP# within 16 clocks of FRAME#";
    SubsequentLatency, "3.5.1.2", "TRDY# or STOP# within 8 clocks of the data phase before";
    MissingPerr, "3.7.4.1", "PERR# two clocks after a word with wrong parity";
    SpuriousPerr, "3.7.4.1", "PERR# only for words with wrong parity, and where it is enabled";
    MissingSerr, "3.7.3", "SERR# after an address with wrong parity, where it is enabled";
    SerrDisabled, "3.7.4.2", "SERR# only where it is enabled";
    InterruptPin, "6.2.4", "INTA# only of a device whose interrupt pin register names it";
    FrameWithoutIrdy, "3.3.3.1", "FRAME# goes only when IRDY# is asserted";
    IrdyDropped, "3.2.1", "IRDY# stays until the data phase ends";
    FrameReturned, "3.2.1", "FRAME# does not return in a transaction";
    MasterIgnoresStop, "3.3.3.2.2", "FRAME# goes after STOP#";
    MasterLatency, "3.5.2", "IRDY# within 8 clocks of a data phase's begin";
}

/// A rule that was broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Violation {
    /// When.
    pub clock: u64,
    /// The rule that was broken.
    pub rule: Rule,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "clock {}: {} ({})", self.clock, self.rule.text(), self.rule.section())
    }
}
