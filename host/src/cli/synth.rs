//! `nendo synth`: from a configuration to a bitstream, as far as the tools exist.

use super::{CommandError, Console, options::HardwareArgs, target};
use crate::{
    output::{try_folder, write_whole},
    synth::{self, Job, SynthError, SynthReport},
};
use anyhow::{Context, anyhow};
use nendo_hdl::target::{Flow, Target};
use serde_json::{Value, json};
use std::{fs, path::PathBuf};

/// Examples with the name of a target that there is.
fn examples() -> String {
    let name = Target::names().next().unwrap_or_default();
    let lines = [
        ("--list".to_owned(), "the targets that are built in"),
        (format!("--target {name}"), "as far as its tools are here"),
        (format!("--target {name} --flow yosys"), "only a netlist and what it takes"),
        ("--target path/to/folder".to_owned(), "your own board (docs/synthesis.md)"),
    ];
    let lines = lines.map(|(options, what)| format!("  nendo synth {options:<35} {what}\n"));
    let check = format!("  nendo synth --target {name} --flow yosys --check bitstreams/{name}/report.json");
    format!("Examples:\n{}{check}", lines.concat())
}

#[derive(clap::Args, Debug)]
#[command(after_help = examples())]
pub(super) struct Args {
    #[arg(long, value_name = "T", help = target::help(), required_unless_present = "list")]
    target: Option<String>,
    /// List the targets that are built in, their parts and flows
    #[arg(long, conflicts_with_all = ["target", "flow", "out", "check"])]
    list: bool,
    /// Tools: the target's own, or `yosys` for a netlist alone
    #[arg(long, value_name = "F", value_parser = flow)]
    flow: Option<Flow>,
    #[command(flatten)]
    hardware: HardwareArgs,
    /// Write into this folder [default: out/synth/TARGET]
    #[arg(long, short, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Compare with this report: multipliers and block memories exactly, flip-flops and tables within 5 %
    #[arg(long, value_name = "FILE")]
    check: Option<PathBuf>,
}

fn flow(text: &str) -> Result<Flow, String> {
    let known = || format!("one of {}", Flow::ALL.map(Flow::name).join(", "));
    Flow::ALL.into_iter().find(|flow| flow.name() == text).ok_or_else(known)
}

pub(super) fn main(args: &Args, console: Console) -> Result<Value, CommandError> {
    let Some(name) = &args.target else { return Ok(list(console)) };
    let target = target::open(name)?;
    let config = args.hardware.standard()?;
    let kept = args.check.as_ref().map(read_report).transpose().map_err(CommandError::Input)?;
    let folder = args.out.clone().unwrap_or_else(|| PathBuf::from("out/synth").join(&target.name));
    try_folder(&folder).with_context(|| folder.display().to_string())?;
    let say = |line: &str| console.say(line);
    let flow = args.flow.unwrap_or(target.flow);
    let (report, error) =
        synth::run(&Job { target: &target, flow, config: &config, folder: &folder, say: &say });
    if let Some(error @ SynthError::Flow { .. }) = error {
        return Err(CommandError::input(error));
    }
    let value = json!(report);
    let text = serde_json::to_string_pretty(&value).context("the report")? + "\n";
    let path = folder.join("report.json");
    write_whole(&path, text.as_bytes()).with_context(|| path.display().to_string())?;
    console.answer(report.table());

    let mut wrong: Vec<String> = error.iter().map(ToString::to_string).collect();
    wrong.extend(report.broken(&target, synth::is_standard(&config)));
    wrong.extend(kept.iter().flat_map(|kept| report.differences(kept)));
    if wrong.is_empty() {
        Ok(value)
    } else {
        Err(CommandError::Run(anyhow!("{}", wrong.join("; ")), Some(value)))
    }
}

fn list(console: Console) -> Value {
    console.answer(target::list());
    let entry = |Target { name, part, flow, .. }: Target| json!({ "name": name, "part": part, "flow": flow });
    json!({ "targets": Target::all().into_iter().map(entry).collect::<Vec<_>>() })
}

fn read_report(path: &PathBuf) -> Result<SynthReport, anyhow::Error> {
    let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
    serde_json::from_str(&text).with_context(|| path.display().to_string())
}
