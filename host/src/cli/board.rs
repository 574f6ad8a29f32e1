//! `nendo board`: boards on the bus.

use super::{CommandError, Console, emulate, options::HardwareArgs, run};
use crate::{
    board::Board,
    device::{
        Device, DeviceSpec, Making,
        backend::Found,
        identify,
        registry::{self, BACKENDS},
    },
    engine::{EngineKind, choice::EngineChoice},
    selftest::selftest,
};
use anyhow::anyhow;
use clap::builder::TypedValueParser;
use nendo_model::contract::map::Map;
use serde_json::{Value, json};

#[derive(clap::Subcommand, Debug)]
pub(super) enum Command {
    /// All boards that might hold an engine, and what keeps them from being used
    List,
    /// What a board says it is
    Info(DeviceArg),
    /// March through a board's memories, then a known answer: under a second of board time
    Selftest(DeviceArg),
    /// Reset a board and stop whatever it was doing
    Reset(DeviceArg),
    /// Show the card to a virtual machine: a vfio-user server with the model or the Verilated hardware behind it
    Emulate(emulate::Args),
    /// Run a scene on a board: `nendo run --engine board`
    #[command(mut_arg("engine", board_alone))]
    Run(Box<run::Args>),
}

/// `--engine` where there is nothing to choose.
fn board_alone(engine: clap::Arg) -> clap::Arg {
    let board = EngineChoice::One(EngineKind::Board);
    let parser = clap::builder::PossibleValuesParser::new(["board"]).map(move |_| board);
    engine.default_value("board").value_parser(parser).hide(true)
}

#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  nendo board selftest --device rtl --modules 4
  nendo board info --device pci:0000:03:00.0")]
pub(super) struct DeviceArg {
    #[arg(long, default_value = "rtl", value_name = "DEVICE", help = registry::help())]
    device: DeviceSpec,
    /// What a rtl, model or pci-sim is made as; a board is what it is
    #[command(flatten)]
    hardware: HardwareArgs,
}

impl DeviceArg {
    fn open(&self) -> Result<Board<Box<dyn Device>>, CommandError> {
        if self.hardware.is_given() && !self.device.is_made_to_measure() {
            let text = "is what it is: leave --profile, --inverse and --modules out";
            return Err(CommandError::input(anyhow!("{} {text}", self.device)));
        }
        // What is made to measure gets the papers' minimal set.
        let config = self.hardware.standard()?;
        let device = self.device.open(&Making { config: &config, threads: 1 }).map_err(anyhow::Error::from)?;
        Ok(Board::open(device).map_err(anyhow::Error::from)?)
    }
}

pub(super) fn main(command: &Command, console: Console) -> Result<Value, CommandError> {
    match command {
        Command::List => list(console),
        Command::Info(device) => info(device, console),
        Command::Selftest(device) => test(device, console),
        Command::Reset(device) => {
            let board = device.open()?.reopen().map_err(anyhow::Error::from)?;
            console.say("reset; the engine is idle");
            Ok(json!({ "device": board.into_device().name(), "reset": true }))
        }
        Command::Emulate(args) => emulate::main(args, console),
        Command::Run(args) => run::main(args, console),
    }
}

fn list(console: Console) -> Result<Value, CommandError> {
    let mut found = Vec::new();
    for backend in BACKENDS {
        found.extend((backend.list)().map_err(anyhow::Error::from)?);
    }
    for Found { name, description, hindrance, .. } in &found {
        let state = hindrance.clone().unwrap_or_else(|| format!("usable: nendo board info --device {name}"));
        console.answer(format!("{name} {description}\n  {state}"));
    }
    if found.is_empty() {
        console.answer("no boards found. Without one, `--device rtl` is the hardware compiled by Verilator.");
    }
    let xdma: Vec<&str> = found.iter().map(|f| f.name.as_str()).filter(|n| n.starts_with("xdma:")).collect();
    let boards: Vec<&Value> = found.iter().filter_map(|f| f.detail.as_ref()).collect();
    Ok(json!({ "boards": boards, "xdma": xdma }))
}

fn info(args: &DeviceArg, console: Console) -> Result<Value, CommandError> {
    let mut board = args.open()?;
    let config = *board.config();
    let device = board.device();
    let name = device.name();
    // Asked again, as any other program would: the answer is what the board says now.
    identify(&mut |register| device.read(register.address()), &name).map_err(anyhow::Error::from)?;
    board.resync().map_err(anyhow::Error::from)?;
    let busy = board.is_busy().map_err(anyhow::Error::from)?;
    let size = Map::new(&config).size;
    let clock =
        if config.clock_khz == 0 { "unknown".to_owned() } else { format!("{} kHz", config.clock_khz) };
    console.answer(format!(
        "{name}: nendo engine, configuration {}\n  profile {}, inverse length by {}\n  {}, clock {clock}, {size} bytes of \
         registers\n  {}",
        config.hash_text(),
        config.profile,
        config.inverse,
        config.modules_text(),
        if busy { "computing" } else { "idle" }
    ));
    Ok(json!({
        "device": name,
        "config_hash": config.hash_text(),
        "map_version": nendo_model::contract::map::VERSION,
        "profile": config.profile,
        "inverse": config.inverse,
        "modules": config.modules,
        "particles": config.particles,
        "edges": config.edges,
        "clock_khz": config.clock_khz,
        "map_bytes": size,
        "busy": busy,
    }))
}

fn test(args: &DeviceArg, console: Console) -> Result<Value, CommandError> {
    let (report, board) = selftest(args.open()?).map_err(anyhow::Error::from)?;
    let mut value = serde_json::to_value(&report).map_err(anyhow::Error::from)?;
    value["passed"] = json!(report.passed());
    value["device"] = json!(board.into_device().name());
    if let Some(wrong) = &report.first_wrong {
        let text = format!(
            "{} of {} words came back wrong; the first: {} {} {}: wrote {:#x}, read {:#x}",
            report.wrong, report.words, wrong.window, wrong.item, wrong.field, wrong.written, wrong.read
        );
        return Err(CommandError::Run(anyhow!(text), Some(value)));
    }
    if !report.passed() {
        let text = "memories are sound, but the known scene gives another state than the model";
        return Err(CommandError::Run(anyhow!(text), Some(value)));
    }
    console.answer(format!(
        "passed: {} words kept, the known scene has the model's state after {} clocks{}",
        report.words,
        report.cycles,
        if report.retries == 0 { String::new() } else { format!("; {} transfers repeated", report.retries) }
    ));
    Ok(value)
}
