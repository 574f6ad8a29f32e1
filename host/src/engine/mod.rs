//! The engines of `nendo-model`, and the hardware beside them.

mod board;
#[cfg(feature = "cli")]
pub mod choice;
#[cfg(feature = "rtl")]
mod open;

pub use board::BoardEngine;
pub use nendo_model::engine::{Engine, EngineError, Failure, outcome};
#[cfg(feature = "rtl")]
pub use open::{EngineKind, EngineOptions, OpenError, explain, open, open_board, open_rtl};
