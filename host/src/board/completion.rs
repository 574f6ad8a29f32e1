//! Waiting for the engine: by asking it again and again, or for its interrupt.

use super::{Board, BoardError};
use crate::device::{Device, Waited};
use nendo_model::contract::map::Reg;

/// A wait ends when it has taken so many times what it should have.
const PATIENCE: u64 = 10;
/// Clocks added to every wait, for what surrounds the work itself.
const MARGIN: u64 = 1000;
/// Interrupts in a row without any progress of the engine that are borne.
const SPURIOUS: u32 = 100;

/// How the driver learns that the engine is done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Completion {
    /// Ask the status register until it says so
    #[default]
    Poll,
    /// Wait for the interrupt: the processor is free meanwhile
    Interrupt,
}

/// The longest wait for what should take so many clocks.
fn limit(expected: u64) -> u64 {
    PATIENCE * (expected + MARGIN)
}

impl<D: Device> Board<D> {
    /// Chooses how runs are waited for. An error if the device has no interrupt that could be.
    pub fn set_completion(&mut self, completion: Completion) -> Result<(), BoardError> {
        let on = completion == Completion::Interrupt;
        if on && self.link.device().wait_interrupt(0)? == Waited::Unsupported {
            return Err(BoardError::NoInterrupt { device: self.name() });
        }
        if on || self.completion == Completion::Interrupt {
            self.set_registers(&[(Reg::Interrupt, 1), (Reg::InterruptEnable, on.into())])?;
        }
        self.completion = completion;
        Ok(())
    }

    /// How runs are waited for.
    pub fn completion(&self) -> Completion {
        self.completion
    }

    /// Waits until the engine is idle, which should take so many clocks.
    pub(super) fn wait(&mut self, expected: u64, doing: &'static str) -> Result<(), BoardError> {
        match self.completion {
            Completion::Poll => self.poll(expected, doing),
            Completion::Interrupt => self.sleep(expected, doing),
        }
    }

    /// Waits by asking.
    pub(super) fn poll(&mut self, expected: u64, doing: &'static str) -> Result<(), BoardError> {
        let mut waited = expected;
        self.link.device().pause(expected);
        while self.is_busy()? {
            if waited >= limit(expected) {
                return Err(BoardError::Busy { device: self.name(), doing, waited, expected });
            }
            let more = expected / 50 + 16;
            self.link.device().pause(more);
            waited += more;
        }
        Ok(())
    }

    /// Waits for the interrupt. One may be left from before, and a simulated engine is slower than its clock says:
    /// as long as the engine makes progress it is waited for, up to the limit in its own clocks.
    fn sleep(&mut self, expected: u64, doing: &'static str) -> Result<(), BoardError> {
        let limit = limit(expected);
        let (mut first, mut last, mut still, mut done) = (None, None, 0, false);
        loop {
            let came = self.link.device().wait_interrupt(limit)? == Waited::Came;
            if came {
                // Before the status is looked at: what ends between the two is seen there, or interrupts again.
                self.set_registers(&[(Reg::Interrupt, 1)])?;
            }
            if !self.is_busy()? {
                if came {
                    return Ok(());
                }
                // It may have ended since, and its interrupt be on its way: once.
                if std::mem::replace(&mut done, true) {
                    return Err(BoardError::LostInterrupt { device: self.name(), doing });
                }
                continue;
            }
            let cycles = self.counters()?.1;
            let waited = cycles.saturating_sub(*first.get_or_insert(cycles));
            still = if last.replace(cycles) == Some(cycles) { still + 1 } else { 0 };
            if still > if came { SPURIOUS } else { 0 } || waited > limit {
                return Err(BoardError::Busy { device: self.name(), doing, waited, expected });
            }
        }
    }
}
