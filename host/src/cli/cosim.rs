//! `nendo cosim`: model and Verilated engine in lock step.

use super::{
    CommandError, Console,
    options::{HardwareArgs, SceneArg, scenes_help, try_outputs},
};
use crate::{
    board::Board,
    cosim::{Lockstep, LockstepReport},
    device::rtl::Rtl,
    progress,
};
use anyhow::{Context, anyhow};
use nendo_hdl::sim::verilated::{Coverage, SimOptions};
use nendo_model::{
    contract::{config::Config, image::Image},
    plan::loaded::Loaded,
    text::count,
};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

#[derive(clap::Args, Debug)]
#[command(after_help = scenes_help() + "
Examples:
  nendo cosim cube9 --steps 50
  nendo cosim block16 --modules 4 --steps 4
  nendo cosim single --profile paper-2005 --inverse cordic --steps 2000")]
pub(super) struct Args {
    #[command(flatten)]
    scene: SceneArg,
    #[command(flatten)]
    hardware: HardwareArgs,
    /// Compare so many steps
    #[arg(long, default_value_t = 20, value_name = "N")]
    steps: u64,
    /// On a mismatch, write waveforms around it to this file
    #[arg(long, value_name = "FILE.fst", default_value = "nendo-mismatch.fst")]
    trace: PathBuf,
    /// Write Verilator's coverage data to this file
    #[arg(long, value_name = "FILE")]
    coverage: Option<PathBuf>,
}

pub(super) fn main(args: &Args, console: Console) -> Result<Value, CommandError> {
    let scene = args.scene.open()?;
    let (profile, inverse) = (args.hardware.profile(), args.hardware.inverse());
    try_outputs(None, &args.coverage)?;
    let image = Image::new(&scene, profile, inverse).map_err(CommandError::input)?;
    let modules = args.hardware.modules();
    let loaded = Loaded::new(image, modules).map_err(CommandError::input)?;
    let (image, config) = (&loaded.image, loaded.config);
    console.say(format!(
        "{}: {}, {}; model and Verilated engine ({profile}, {inverse}, {}) in lock step",
        scene.name,
        count(image.particles.len(), "particle"),
        count(image.edges.len(), "edge"),
        count(modules, "module")
    ));
    let coverage = if args.coverage.is_some() { Coverage::LinesAndToggles } else { Coverage::None };
    let options = SimOptions { coverage, ..SimOptions::default() };
    let device = Rtl::new(&config, options).map_err(anyhow::Error::from)?;
    let board = Board::open(device).map_err(anyhow::Error::from)?;
    let mut lockstep = Lockstep::with(board, loaded).map_err(anyhow::Error::from)?;
    progress::in_pieces(&scene.name, args.steps, |steps| {
        for _ in 0..steps {
            if !lockstep.step()? {
                return Ok(false);
            }
        }
        anyhow::Ok(true)
    })?;
    if let Some(file) = &args.coverage {
        lockstep.board().board().device().coverage(file).map_err(anyhow::Error::from)?;
    }
    let report = lockstep.report().clone();
    let mut value = serde_json::to_value(&report).map_err(anyhow::Error::from)?;
    value["scene"] = json!(scene.name);
    value["profile"] = json!(profile);
    value["inverse"] = json!(inverse);
    value["modules"] = json!(modules);
    value["edges_compared"] = json!(report.steps * lockstep.before().edges.len() as u64);
    if !report.agrees() {
        value["trace"] = json!(args.trace);
        let text = explain(&report);
        let traced = trace(&config, lockstep.before(), &report, &args.trace);
        let text = match traced {
            Ok(()) => format!("{text}\nwaveforms around it: {}", args.trace.display()),
            Err(error) => format!("{text}\nno waveforms: {error:#}"),
        };
        return Err(CommandError::Run(anyhow!(text), Some(value)));
    }
    console.answer(format!(
        "{}, {} compared, no mismatch; {} per step, as predicted",
        count(report.steps, "step"),
        count(report.words_compared, "word"),
        count(report.cycles_per_step.unwrap_or(report.predicted_cycles_per_step), "clock cycle")
    ));
    Ok(value)
}

/// What differs, for people.
fn explain(report: &LockstepReport) -> String {
    match &report.first_mismatch {
        Some(m) => format!(
            "model and hardware differ: step {}, {} mode, {} {} of {}: hardware {}, model {} ({} words differ)\n\
             its item enters the pipeline at clock {} of the step and writes it at stage {}",
            m.step,
            m.mode,
            m.memory,
            m.item,
            m.field,
            m.board,
            m.model,
            report.mismatches,
            m.enters_at_clock,
            m.stage
        ),
        None if !report.overflow_agrees => format!("overflow flags differ after step {}", report.steps),
        None => format!(
            "a step takes {} clocks instead of {}",
            report.cycles_per_step.unwrap_or_default(),
            report.predicted_cycles_per_step
        ),
    }
}

/// Runs the step that differed again, with waveforms around the clocks in question.
fn trace(config: &Config, before: &Image, report: &LockstepReport, file: &Path) -> anyhow::Result<()> {
    const MARGIN: u64 = 100;
    let device = Rtl::new(config, SimOptions { trace: true, ..SimOptions::default() })?;
    let mut board = Board::open(device)?;
    board.load(before)?;
    let (from, length) = report.first_mismatch.as_ref().map_or((0, report.predicted_cycles_per_step), |m| {
        (m.enters_at_clock.saturating_sub(MARGIN), u64::from(m.stage) + 2 * MARGIN)
    });
    board.device().trace(file, from, length).with_context(|| file.display().to_string())?;
    board.run(1)?;
    Ok(board.device().finish_trace()?)
}
