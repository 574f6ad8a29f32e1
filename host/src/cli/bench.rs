//! `nendo bench`: how fast every engine is on this machine.

use super::{
    CommandError, Console,
    options::{modules_range, try_outputs},
};
use crate::{
    bench::{self, Effort, Row, meshes},
    output::write_whole,
    plot,
};
use anyhow::Context;
use nendo_model::{engine::cpu, scene::Scene};
use serde_json::{Value, json};
use std::{path::PathBuf, time::Duration};

#[derive(clap::Args, Debug)]
#[command(after_help = "\
Engines take turns; a row is the median of the turns that had a core to themselves. `scatter` is the loop one writes first, for comparison.
Hardware: the cycles of a step times the clock of a routed report with as many modules.
Examples:
  nendo bench --quick
  nendo bench --quick --modules 4
  nendo bench --out docs/bench.json --plot docs/bench.svg
  nendo bench --size 20x20x20 --size 40x40x40")]
pub(super) struct Args {
    /// Small sizes, and few turns: seconds instead of minutes
    #[arg(long)]
    quick: bool,
    /// Boxes to time instead of the standard meshes
    #[arg(long = "size", value_name = "NXxNYxNZ")]
    sizes: Vec<String>,
    /// Write the JSON report to this file, too
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Draw edges per second over the size of the boxes (.svg or .png)
    #[arg(long, value_name = "FILE", value_parser = plot::picture_path)]
    plot: Option<PathBuf>,
    /// Main modules of the hardware, 1 to 128
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = modules_range())]
    modules: u16,
    /// Where the routed reports are: DIR/TARGET/report.json, of several modules report-N.json [default: those built in]
    #[arg(long, value_name = "DIR")]
    bitstreams: Option<PathBuf>,
}

const STANDARD: [&str; 4] = ["9x9x9", "15x15x16", "32x32x32", "64x64x64"];

/// Makes a mesh when its turn comes.
type Make = Box<dyn Fn() -> Result<Scene, CommandError>>;

/// The meshes to time, by name.
fn plan(args: &Args) -> Vec<(String, Make)> {
    let regular = |size: &str| -> (String, Make) {
        let name = size.to_owned();
        (size.to_owned(), Box::new(move || meshes::regular(&name).map_err(CommandError::input)))
    };
    if !args.sizes.is_empty() {
        return args.sizes.iter().map(|s| regular(s)).collect();
    }
    let (boxes, shuffled, tetrahedra) = if args.quick {
        (&STANDARD[..2], "15x15x16", "11x11x11")
    } else {
        (&STANDARD[..], "32x32x32", "24x24x24")
    };
    let mut list: Vec<(String, Make)> = boxes.iter().map(|s| regular(s)).collect();
    list.push((
        format!("{shuffled} shuffled"),
        Box::new(move || meshes::shuffled(shuffled).map_err(CommandError::input)),
    ));
    list.push((
        "tetrahedra".to_owned(),
        Box::new(move || {
            meshes::tetrahedra(tetrahedra).map_err(CommandError::input)?.map_err(CommandError::input)
        }),
    ));
    list
}

pub(super) fn main(args: &Args, console: Console) -> Result<Value, CommandError> {
    let effort = match args.quick {
        true => Effort { turns: 7, turn: Duration::from_millis(8) },
        false => Effort { turns: 60, turn: Duration::from_millis(6) },
    };
    try_outputs(None, args.out.iter().chain(&args.plot))?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    console.answer(format!("{}, {cores} cores, vectors: {}", processor(), cpu::instruction_set()));
    console.answer(HEAD);
    let (mut rows, mut ratios) = (Vec::new(), Vec::new());
    for (name, make) in plan(args) {
        let scene = make()?;
        let found = bench::measure(&name, &scene, effort, (args.modules, args.bitstreams.as_deref()))?;
        found.iter().for_each(|row| console.answer(line(row)));
        let ratio = compare(&name, &found, cores);
        console.answer(ratio_line(&ratio));
        ratios.push(ratio);
        rows.extend(found);
    }
    let report = json!({
        "processor": processor(),
        "cores": cores,
        "instruction_set": cpu::instruction_set(),
        "quick": args.quick,
        "rows": rows,
        "ratios": ratios,
    });
    if let Some(path) = &args.out {
        let text = serde_json::to_string_pretty(&report).map_err(anyhow::Error::from)? + "\n";
        write_whole(path, text.as_bytes()).with_context(|| format!("writing {}", path.display()))?;
        console.say(format!("wrote {}", path.display()));
    }
    if let Some(path) = &args.plot {
        let svg = plot::svg(&chart(&rows, cores))?;
        let bytes =
            if path.extension().is_some_and(|e| e == "png") { plot::png(&svg)? } else { svg.into_bytes() };
        write_whole(path, &bytes).with_context(|| format!("writing {}", path.display()))?;
        console.say(format!("wrote {}", path.display()));
    }
    Ok(report)
}

const HEAD: &str =
    "engine              size               threads  ms per step   (quartiles)         M edges/s";

fn line(row: &Row) -> String {
    let threads = row.threads.map_or("-".to_owned(), |t| t.to_string());
    let mut text = format!("{:<19} {:<18} {threads:>7}", row.engine, row.size);
    if let (Some(ms), Some(rate)) = (row.ms_per_step, row.edges_per_s) {
        let spread =
            row.spread_ms.map_or(String::new(), |[_, low, high, _]| format!("({low:.4} - {high:.4})"));
        text += &format!(" {ms:>12.4}   {spread:<19} {:>9.1}", rate / 1e6);
    }
    if let Some(cycles) = row.cycles_per_step {
        text += &format!("  {cycles} cycles{}", row.not_timed);
    }
    if let Some(note) = &row.note {
        text += &format!("  {note}");
    }
    text
}

/// How the f32 engine compares with the plain loop, and its threads with one.
fn compare(size: &str, rows: &[Row], cores: usize) -> Value {
    let of =
        |engine: &str, threads: usize| rows.iter().find(|r| r.engine == engine && r.threads == Some(threads));
    let ms = |row: Option<&Row>| row.and_then(|r| r.ms_per_step);
    let ratio = |a: Option<f64>, b: Option<f64>| a.zip(b).map(|(a, b)| a / b);
    let one = of("f32", 1);
    let all = of("f32", cores).filter(|_| cores > 1);
    json!({
        "size": size,
        "f32_over_scatter": ratio(ms(of("scatter", 1)), ms(one)),
        "f32_threads_over_one": ratio(ms(one), ms(all)),
        "f32_over_scatter_valid": one.zip(of("scatter", 1)).map(|(a, b)| a.valid && b.valid),
        "threads_valid": one.zip(all).map(|(a, b)| a.valid && b.valid),
    })
}

fn ratio_line(ratio: &Value) -> String {
    let times = |key: &str| ratio[key].as_f64().map_or("-".to_owned(), |r| format!("{r:.2}x"));
    let doubt = |key: &str| if ratio[key] == json!(false) { " (not valid)" } else { "" };
    format!(
        "  f32 over scatter {}{}, all threads over one {}{}",
        times("f32_over_scatter"),
        doubt("f32_over_scatter_valid"),
        times("f32_threads_over_one"),
        doubt("threads_valid")
    )
}

/// Edges per second of the boxes; what is not valid is left out.
fn chart(rows: &[Row], cores: usize) -> plot::Chart {
    let line = |engine: &'static str, threads: usize| {
        let mine = rows.iter().filter(|r| r.engine == engine && r.threads == Some(threads) && r.valid);
        let boxes = mine.filter(|r| r.size.bytes().all(|b| b.is_ascii_digit() || b == b'x'));
        boxes.filter_map(|r| Some(((r.edges as f64).log10(), r.edges_per_s? / 1e6))).collect::<Vec<_>>()
    };
    let mut lines = vec![
        ("scatter", line("scatter", 1)),
        ("f64", line("f64", 1)),
        ("f32, one thread", line("f32", 1)),
        ("model, one thread", line("model", 1)),
    ];
    if cores > 1 {
        lines.push(("f32, all threads", line("f32", cores)));
        lines.push(("model, all threads", line("model", cores)));
    }
    lines.retain(|(_, points)| !points.is_empty());
    plot::Chart {
        title: format!("{}: boxes", processor()),
        x_label: "log10 of the number of edges".to_owned(),
        y_label: "M edges per second".to_owned(),
        lines: lines.into_iter().map(|(name, points)| (name.to_owned(), points)).collect(),
    }
}

/// What the system calls the processor.
fn processor() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = text.lines().find_map(|l| l.strip_prefix("model name")?.split_once(':'));
    name.map_or_else(|| std::env::consts::ARCH.to_owned(), |(_, name)| name.trim().to_owned())
}
