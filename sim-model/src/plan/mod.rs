//! What the hardware does in each clock of a step, planned before the run.
//!
//! - [`partition`]: which module has which particles; [`schedule`]: what each does when;
//! - [`loaded`]: a scene's words with their plan, made once;
//! - [`cycles`]: how many clocks that takes; `order`: particles that are near each other side by side.

pub mod cycles;
pub mod loaded;
pub(crate) mod order;
pub mod partition;
pub mod schedule;
