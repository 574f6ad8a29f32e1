//! `nendo gen`: Verilog, manifest and register map of a configuration, and a testbench of it.

use super::{
    CommandError, Console,
    options::{HardwareArgs, SceneArg, try_outputs},
    target,
};
use crate::{device::record::Origin, output::write_whole, synth::{self, Source}, testbench};
use anyhow::Context;
use nendo_hdl::{
    circuit::delay::ShiftRegisters,
    design::{Design, TOP},
    target::Target,
};
use nendo_model::{contract::image::Image, plan::loaded::Loaded, scene::Scene, text::count};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  nendo gen -o out/engine                                 one set of 1024 particles and 5120 edges
  nendo gen --modules 4 -o out/four                       four such modules
  nendo gen --profile paper-2005 --for block16 -o out/block16
  nendo gen --for single --testbench -o out/bench         with a testbench for Icarus and Verilator
  nendo gen --target ecp5-85k -o out/board                 with the board around the engine (serial line, PCI), and its pins
  nendo gen --clock-mhz 125 -o out/fast                   the register clock_khz tells it, nendo_engine.sdc asks for it")]
pub(super) struct Args {
    #[command(flatten)]
    hardware: HardwareArgs,
    /// Particles the memories of a module hold (rounded up to 1024)
    #[arg(long, default_value_t = 1024, value_name = "N", value_parser = clap::value_parser!(u64).range(2..=65536))]
    particles: u64,
    /// Edges the memory of a module holds (rounded up to 1024)
    #[arg(long, default_value_t = 5120, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1048576))]
    edges: u64,
    /// Memories just large enough for this scene
    #[arg(long = "for", value_name = "SCENE", conflicts_with_all = ["particles", "edges"])]
    scene: Option<String>,
    /// Also write what stands around the engine on this target (`nendo synth --list`, or a folder of your own): its top, the
    /// bus (serial line or PCI) and the constraints, as `nendo synth` gives them to the tools
    #[arg(long, value_name = "T")]
    target: Option<String>,
    /// The clock the engine will have, 0.001 to 1000 MHz: read in its register clock_khz, asked for in nendo_engine.sdc, and
    /// the testbench's [default: not known; the testbench's is 100]
    #[arg(long, value_name = "MHZ", value_parser = clock_khz)]
    clock_mhz: Option<u32>,
    /// Also write a testbench that replays a run of the scene, recorded on the bit-accurate model, and checks every word
    #[arg(long, requires = "scene")]
    testbench: bool,
    /// Steps of that run
    #[arg(long, value_name = "N", default_value_t = 10, requires = "testbench", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    steps: u64,
    /// Write into this folder
    #[arg(long, short, value_name = "DIR")]
    out: PathBuf,
}

/// A clock as the register tells it: a whole number of kHz.
fn clock_khz(text: &str) -> Result<u32, String> {
    let khz = text.parse::<f64>().map_or(f64::NAN, |mhz| mhz * 1e3);
    let whole = (khz - khz.round()).abs() <= 1e-6 * khz;
    match (1.0..=1e6).contains(&khz) && whole {
        true => Ok(khz.round() as u32),
        false => Err("a clock of 0.001 to 1000 MHz, in whole kHz".to_owned()),
    }
}

pub(super) fn main(args: &Args, console: Console) -> Result<Value, CommandError> {
    let (profile, inverse) = (args.hardware.profile(), args.hardware.inverse());
    let mut run = args.scene.as_ref().map(|name| args.load(name)).transpose()?;
    let mut config = match &run {
        Some((_, loaded)) => loaded.config,
        None => args.hardware.standard()?.holding(args.particles, args.edges),
    };
    config.clock_khz = args.clock_mhz.unwrap_or(0);
    try_outputs(Some(&args.out), None)?;
    let board = args.target.as_deref().map(target::open).transpose()?;
    let style = board.as_ref().map_or(ShiftRegisters::Inferred, Target::shift_registers);
    let design = Design::with(&config, style);
    let (mut files, source) = match &board {
        Some(target) => {
            let (mut files, source) =
                synth::texts(target, target.flow, &config, &design).map_err(CommandError::input)?;
            let constraints = target.file(&target.constraints).map_err(CommandError::input)?;
            let name = Path::new(&target.constraints).file_name().unwrap_or_default();
            files.push((name.to_string_lossy().into_owned(), constraints.into_owned()));
            (files, source)
        }
        None => (design.files(), Source { files: vec![format!("{TOP}.v")], top: TOP.to_owned() }),
    };
    if let Some(khz) = args.clock_mhz {
        files.push((format!("{TOP}.sdc"), constraint(khz)));
    }
    let mut text = format!("configuration {}: {profile}, {inverse}, {}", config.hash_text(), config.modules_text());
    if let Some(target) = &board {
        text += &format!("\nfor {}: top {} of {}", target.name, source.top, source.files.join(", "));
    }
    let mut bench = Value::Null;
    if let Some((scene, mut loaded)) = run.take().filter(|_| args.testbench) {
        loaded.config = config;
        let recorded = testbench::record(loaded, args.steps).context("recording the run on the model")?;
        files.extend(recorded.files(&design.map, &Origin::here(&scene.name), args.steps));
        let what = format!("{} of {}, {} compared", count(args.steps, "step"), scene.name, count(recorded.reads, "word"));
        text += &format!("\ntestbench: {what}; in {}, either of", args.out.display());
        testbench::COMMANDS.iter().for_each(|command| text += &format!("\n  {command}"));
        bench = json!({ "scene": scene.name, "steps": args.steps, "words_compared": recorded.reads, "commands": testbench::COMMANDS });
    }
    let mut names = Vec::new();
    for (name, content) in files {
        let path = args.out.join(&name);
        write_whole(&path, content.as_bytes()).with_context(|| format!("writing {}", path.display()))?;
        names.push(name);
    }
    console.say(format!("wrote {} into {}", names.join(", "), args.out.display()));
    console.answer(text);
    Ok(json!({
        "files": names,
        "folder": args.out,
        "config_hash": config.hash_text(),
        "clock_khz": args.clock_mhz,
        "target": board.map(|target| target.name),
        "top": source.top,
        "verilog": source.files,
        "testbench": bench,
        "manifest": design.manifest(),
    }))
}

/// What synthesis tools take for a clock, SDC and XDC alike.
fn constraint(khz: u32) -> String {
    format!("create_clock -name clock -period {:.6} [get_ports clock]\n", 1e6 / f64::from(khz))
}

impl Args {
    /// A scene, planned for an engine just large enough for it.
    fn load(&self, name: &str) -> Result<(Scene, Loaded), CommandError> {
        let scene = SceneArg { scene: name.to_owned() }.open()?;
        let image =
            Image::new(&scene, self.hardware.profile(), self.hardware.inverse()).map_err(CommandError::input)?;
        let loaded = Loaded::new(image, self.hardware.modules()).map_err(CommandError::input)?;
        Ok((scene, loaded))
    }
}
