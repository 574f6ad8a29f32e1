//! From a configuration to a bitstream: `nendo synth`.
//!
//! ```text
//!  target.toml --> Verilog --> Yosys --> nextpnr-ecp5 --> ecppack ------------------> .bit   nextpnr-ecp5
//!                              Yosys --> nextpnr-himbaechel-xilinx --> fasm --> ... -> .bit   nextpnr-xilinx
//!                              Yosys --> EDIF, UCF, ISE script --> (ISE) ------------> .bit   ise
//!                              (Vivado), Tcl and constraints ------------------------> .bit   vivado
//! ```
//! Stage after stage, as far as the tools exist. Numbers in the report are the tools' own. A flow knows its tools; what
//! is particular to a target, it reads from the target's folder.

pub mod cells;
mod ecp5;
pub mod fasm;
mod ise;
pub mod needs;
pub mod netlist;
mod report;
mod source;
mod stages;
mod timing;
pub mod tools;
mod vivado;
mod xilinx7;
mod yosys;

use crate::output::write_whole;
use nendo_hdl::target::{Flow, Target, TargetError};
use nendo_model::contract::{
    config::Config,
    numbers::{Inverse, Profile},
};
use stages::Stages;
use std::path::{Path, PathBuf};

pub use report::{Share, Simulated, SynthReport};
pub use source::{Source, texts};
pub use stages::Stage;
pub use timing::{Routed, Step};

/// Why a run ended early.
#[derive(Debug, thiserror::Error)]
pub enum SynthError {
    /// A tool is not here.
    #[error(transparent)]
    Missing(#[from] tools::Missing),
    /// A file of the target's.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// A tool failed.
    #[error("{stage} failed: {reason} (all it said is in {})", log.display())]
    Stage {
        /// Which stage.
        stage: String,
        /// Its log file.
        log: PathBuf,
        /// What it said last.
        reason: String,
    },
    /// A tool wrote something unexpected.
    #[error("{what}: {reason}")]
    Output {
        /// What cannot be read.
        what: String,
        /// What was wrong with it.
        reason: String,
    },
    /// A file.
    #[error("{}: {source}", path.display())]
    File {
        /// The path of the file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// This flow does not make this target.
    #[error("flow `{flow}` does not build {target}; leave --flow out, or use --flow yosys")]
    Flow {
        /// The flow.
        flow: Flow,
        /// The target.
        target: String,
    },
}

/// What is to be built.
pub struct Job<'a> {
    /// For which device.
    pub target: &'a Target,
    /// By which tools.
    pub flow: Flow,
    /// The configuration of the engine.
    pub config: &'a Config,
    /// Where files go.
    pub folder: &'a Path,
    /// Where progress is told.
    pub say: &'a dyn Fn(&str),
}

/// Whether a configuration is the one budgets are for.
pub fn is_standard(config: &Config) -> bool {
    *config == Config::minimal(Profile::Wide, Inverse::Table)
}

fn write(path: &Path, content: &[u8]) -> Result<(), SynthError> {
    write_whole(path, content).map_err(|source| SynthError::File { path: path.to_owned(), source })
}

fn read(path: &Path) -> Result<String, SynthError> {
    std::fs::read_to_string(path).map_err(|source| SynthError::File { path: path.to_owned(), source })
}

/// Runs a flow, as far as it goes; the report says how far that was.
pub fn run(job: &Job<'_>) -> (SynthReport, Option<SynthError>) {
    let mut report = SynthReport::new(job.target, job.flow, job.config);
    let mut stages = Stages::new(job.folder, job.say);
    let result = run_stages(job, &mut stages, &mut report);
    report.tools = stages.tools.iter().cloned().collect();
    report.stages = stages.list;
    (report, result.err())
}

fn run_stages(job: &Job<'_>, stages: &mut Stages<'_>, report: &mut SynthReport) -> Result<(), SynthError> {
    if job.flow != Flow::Yosys && job.flow != job.target.flow {
        return Err(SynthError::Flow { flow: job.flow, target: job.target.name.clone() });
    }
    let source = stages.work("generate", || source::generate(job))?;
    match job.flow {
        Flow::Yosys => yosys::run(job, stages, report, &source, ""),
        Flow::Ise => ise::run(job, stages, report, &source),
        Flow::Vivado => vivado::run(job, stages, report, &source),
        Flow::NextpnrEcp5 => ecp5::run(job, stages, report, &source),
        Flow::NextpnrXilinx => xilinx7::run(job, stages, report, &source),
    }
}

/// Takes a bitstream into the report.
fn keep_bitstream(stages: &Stages<'_>, report: &mut SynthReport, name: &str) -> Result<(), SynthError> {
    let path = stages.file(name);
    let data = std::fs::metadata(&path).map_err(|source| SynthError::File { path, source })?;
    (report.bitstream, report.bitstream_bytes) = (Some(name.to_owned()), Some(data.len()));
    Ok(())
}

/// Takes nextpnr's report into ours.
fn keep_timing(stages: &Stages<'_>, report: &mut SynthReport, name: &str) -> Result<(), SynthError> {
    let routed = timing::parse(&read(&stages.file(name))?)?;
    report.fmax_mhz = Some((routed.fmax_mhz * 100.0).round() / 100.0);
    (report.worst_path, report.placed, report.routed) = (routed.worst_path, routed.placed, true);
    report.not_timed = report.flow.not_timed();
    Ok(())
}
