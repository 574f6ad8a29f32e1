//! `nendo synth`: from a configuration to a bitstream, as far as the tools exist.

use super::{Console, Failure, options::HardwareArgs};
use crate::{
    output::write_whole,
    synth::{self, Job, Report, SynthError},
};
use anyhow::{Context, anyhow};
use nendo_hdl::target::{Flow, Target};
use serde_json::{Value, json};
use std::{fs, path::PathBuf};

#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  nendo synth --target ecp5-85k                   to a bitstream with open tools (scripts/toolchain ecp5)
  nendo synth --target acorn                      the same for Artix-7 (scripts/toolchain xilinx7)
  nendo synth --target xc2v6000                   EDIF, constraints and script for ISE
  nendo synth --target vc707 --flow yosys         only a netlist and what it takes
  nendo synth --target xc2v6000 --flow yosys --check bitstreams/xc2v6000/report.json")]
pub(super) struct Args {
    /// Device: xc2v6000, vc707, vcu118, acorn or ecp5-85k
    #[arg(long, value_name = "T")]
    target: String,
    /// Tools: the target's own, or `yosys` for a netlist alone
    #[arg(long, value_name = "F", value_parser = flow)]
    flow: Option<Flow>,
    #[command(flatten)]
    hardware: HardwareArgs,
    /// The folder to write into [default: out/synth/TARGET]
    #[arg(long, short, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Compare with this report: multipliers and block memories exactly, flip-flops and tables within 5 %
    #[arg(long, value_name = "FILE")]
    check: Option<PathBuf>,
}

fn flow(text: &str) -> Result<Flow, String> {
    let known = "one of yosys, ise, vivado, nextpnr-ecp5, nextpnr-xilinx";
    serde_json::from_value(json!(text)).map_err(|_| known.to_owned())
}

pub(super) fn main(args: &Args, console: Console) -> Result<Value, Failure> {
    let target = Target::by_name(&args.target).map_err(Failure::input)?;
    let config = args.hardware.standard();
    let kept = args.check.as_ref().map(read_report).transpose().map_err(Failure::Input)?;
    let folder = args.out.clone().unwrap_or_else(|| PathBuf::from("out/synth").join(&target.name));
    fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    let say = |line: &str| console.say(line);
    let flow = args.flow.unwrap_or(target.flow);
    let (report, error) =
        synth::run(&Job { target: &target, flow, config: &config, folder: &folder, say: &say });
    if let Some(error @ SynthError::Flow { .. }) = error {
        return Err(Failure::input(error));
    }
    let value = json!(report);
    let text = serde_json::to_string_pretty(&value).context("the report")? + "\n";
    let path = folder.join("report.json");
    write_whole(&path, text.as_bytes()).with_context(|| path.display().to_string())?;
    console.say(report.table());

    let mut wrong: Vec<String> = error.iter().map(ToString::to_string).collect();
    wrong.extend(report.broken(&target, synth::is_standard(&config)));
    wrong.extend(kept.iter().flat_map(|kept| report.differences(kept)));
    if wrong.is_empty() { Ok(value) } else { Err(Failure::Run(anyhow!("{}", wrong.join("; ")), Some(value))) }
}

fn read_report(path: &PathBuf) -> Result<Report, anyhow::Error> {
    let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
    serde_json::from_str(&text).with_context(|| path.display().to_string())
}
