//! `nendo compare`: the error of an engine against the reference over time (H05 Fig. 2.11).

use super::{
    CommandError, Console, open_failure,
    engine::{Chosen, EngineArgs},
    options::{LengthArgs, SceneArg, scenes_help, try_outputs},
};
use crate::{
    engine::{self, EngineKind, EngineOptions},
    export::page::{self, Page},
    output::write_whole,
    plot, progress,
};
use anyhow::Context;
use nendo_model::{
    engine::reference::Integrator,
    mesh::Vec3,
    scene::{ErrorScale, Scene},
};
use serde::Serialize;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

#[derive(clap::Args, Debug)]
#[command(after_help = scenes_help() + "
Examples:
  nendo compare cube9 --seconds 30 --plot out/error.png
  nendo compare single --profile paper-2005
  nendo compare single --engine hybrid --profile paper-2005-plain     MPM alone in fixed point, as in H05 Fig. 2.10
  nendo compare cube9 --engine f32
  nendo compare cube9 --engine f64 --reference rk4     the error of Euler's method itself")]
pub(super) struct Args {
    #[command(flatten)]
    scene: SceneArg,
    #[command(flatten)]
    engine: EngineArgs,
    #[command(flatten)]
    length: LengthArgs,
    /// What it is measured against: f64 (the same method without rounding) or rk4
    #[arg(long, default_value = "f64", value_parser = ["f64", "rk4"])]
    reference: String,
    /// How often the two are compared
    #[arg(long, default_value_t = 60, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    samples: u64,
    /// Draw the error over time (.svg or .png)
    #[arg(long, value_name = "FILE", value_parser = plot::picture_path)]
    plot: Option<PathBuf>,
    /// Write report.html with the plot, report.json and error.csv into this folder
    #[arg(long, short, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// The error at one moment, in percent of the scene's own measure.
#[derive(Clone, Copy, Debug, Serialize)]
struct Sample {
    t: f64,
    mean_percent: f64,
    max_percent: f64,
}

pub(super) fn main(args: &Args, console: Console) -> Result<Value, CommandError> {
    let scene = args.scene.open()?;
    let Chosen { options, why } = args.engine.choose(&scene, console)?;
    try_outputs(&args.out, &args.plot)?;
    let integrator = if args.reference == "rk4" { Integrator::Rk4 } else { Integrator::Euler };
    let exact = EngineOptions { kind: EngineKind::F64, integrator, ..options.clone() };
    let mut engine = engine::open(&scene, &options).map_err(open_failure)?;
    let mut reference = engine::open(&scene, &exact).map_err(open_failure)?;

    let steps = args.length.steps(&scene)?;
    let mut raw: Vec<(f64, f64, f64)> = Vec::new();
    let mut peak = 0f64;
    let bar = progress::bar(&scene.name, steps);
    for sample in 1..=args.samples.min(steps) {
        // Integers, so that the last sample is the last step.
        let until = (u128::from(steps) * u128::from(sample) / u128::from(args.samples.min(steps))) as u64;
        let now = until - engine.step();
        let mut failure = engine::outcome(engine.advance(now))?;
        failure = failure.or(engine::outcome(reference.advance(now))?);
        bar.set_position(until);
        let (got, wanted) = (engine.positions()?, reference.positions()?);
        let (mean, max) = errors(&scene, &got, &wanted);
        peak = peak.max(largest_displacement(&scene, &wanted));
        raw.push((until as f64 * scene.step, mean, max));
        if let Some(failure) = failure {
            let text = engine::explain(failure);
            bar.finish_and_clear();
            return Err(CommandError::Run(anyhow::anyhow!("after {until} of {steps} steps: {text}"), None));
        }
    }
    bar.finish_and_clear();

    let measure = match scene.error_scale {
        ErrorScale::Width => scene.mesh.width(),
        ErrorScale::PeakDisplacement => peak,
    };
    let percent = |value: f64| if measure > 0.0 { 100.0 * value / measure } else { 0.0 };
    let samples: Vec<Sample> = raw
        .into_iter()
        .map(|(t, mean, max)| Sample { t, mean_percent: percent(mean), max_percent: percent(max) })
        .collect();
    let last = samples.last().copied();
    let average = samples.iter().map(|s| s.mean_percent).sum::<f64>() / samples.len().max(1) as f64;
    let label = match options.kind {
        EngineKind::F64 => "f64".to_owned(),
        EngineKind::F32 => "f32".to_owned(),
        EngineKind::Hybrid => format!("{} (particles only)", options.profile),
        EngineKind::Model | EngineKind::Rtl | EngineKind::Board => options.profile.to_string(),
    };
    print_table(&samples, average, &label, &args.reference, console);
    let points = |value: fn(&Sample) -> f64| samples.iter().map(|s| (s.t, value(s))).collect();
    let svg = plot::svg(&plot::Chart {
        title: format!("{}: {label} against {}", scene.name, args.reference),
        x_label: "time [s]".to_owned(),
        y_label: match scene.error_scale {
            ErrorScale::Width => "position error [% of width]".to_owned(),
            ErrorScale::PeakDisplacement => "position error [% of peak extension]".to_owned(),
        },
        lines: vec![("mean".to_owned(), points(|s| s.mean_percent)), ("largest".to_owned(), points(|s| s.max_percent))],
    })?;
    if let Some(path) = &args.plot {
        let bytes = if path.extension().is_some_and(|e| e == "png") {
            plot::png(&svg)?
        } else {
            svg.clone().into_bytes()
        };
        write_whole(path, &bytes).with_context(|| format!("writing {}", path.display()))?;
        console.say(format!("wrote {}", path.display()));
    }
    let report = json!({
        "scene": scene.name,
        "engine": options.kind,
        "engine_why": why,
        "profile": options.kind.is_fixed_point().then_some(options.profile),
        "inverse": options.kind.has_circuits().then_some(options.inverse),
        "reference": args.reference,
        "steps": steps,
        "measure_m": measure,
        "samples": &samples,
        "mean_percent": average,
        "final_mean_percent": last.map(|s| s.mean_percent),
        "final_max_percent": last.map(|s| s.max_percent),
    });
    if let Some(folder) = &args.out {
        write_report(folder, &scene, &samples, &report, &svg)?;
        console.say(format!("wrote into {}: report.html, report.json, error.csv", folder.display()));
    }
    Ok(report)
}

fn write_report(
    folder: &Path,
    scene: &Scene,
    samples: &[Sample],
    report: &Value,
    plot: &str,
) -> anyhow::Result<()> {
    let mut csv = "t_s,mean_percent,max_percent\n".to_owned();
    let mut rows = Vec::new();
    for Sample { t, mean_percent, max_percent } in samples {
        csv += &format!("{t},{mean_percent},{max_percent}\n");
        rows.push(vec![format!("{t:.3}"), format!("{mean_percent:.5}"), format!("{max_percent:.5}")]);
    }
    let mut page =
        Page::new(&format!("nendo: error of {}", scene.name), "Distance from the reference over time");
    page.picture("Error over time", plot)
        .table("Scene", &page::scene_rows(scene))
        .table("Comparison", &page::json_rows(report))
        .numbers("Samples", &["t [s]", "mean [%]", "largest [%]"], &rows);
    let text = serde_json::to_string_pretty(report)? + "\n";
    for (name, content) in [("report.html", page.finish()), ("report.json", text), ("error.csv", csv)] {
        let path = folder.join(name);
        write_whole(&path, content.as_bytes()).with_context(|| format!("writing {}", path.display()))?;
    }
    Ok(())
}

/// Mean and largest distance between two states, over the particles that can move.
fn errors(scene: &Scene, got: &[Vec3], wanted: &[Vec3]) -> (f64, f64) {
    let free: Vec<f64> =
        (0..got.len()).filter(|&p| scene.is_free(p)).map(|p| (got[p] - wanted[p]).norm()).collect();
    let mean = free.iter().sum::<f64>() / free.len().max(1) as f64;
    (mean, free.into_iter().fold(0.0, f64::max))
}

fn largest_displacement(scene: &Scene, positions: &[Vec3]) -> f64 {
    scene.mesh.particles.iter().zip(positions).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max)
}

fn print_table(samples: &[Sample], average: f64, label: &str, reference: &str, console: Console) {
    console.answer(format!("error of {label} against {reference}:\n     t [s]   mean [%]    max [%]"));
    let rows = 10.min(samples.len());
    for row in 1..=rows {
        let s = samples[row * samples.len() / rows - 1];
        console.answer(format!("{:>10.3} {:>10.4} {:>10.4}", s.t, s.mean_percent, s.max_percent));
    }
    console.answer(format!("mean over time: {average:.4} %"));
}
