//! ECP5: Yosys, nextpnr-ecp5 and ecppack, from PyPI or elsewhere.

use super::{
    Job, Source, SynthError, SynthReport, keep_bitstream, keep_timing,
    needs::{ECPPACK, NEXTPNR_ECP5},
    stages::Stages,
    write, yosys,
};
use nendo_hdl::target::Target;

/// What nextpnr is called with: the target's arguments and the flow's own.
fn place(target: &Target) -> Vec<String> {
    let clock = target.clock_mhz.to_string();
    let own = [
        "--package",
        &target.package,
        "--json",
        "netlist.json",
        "--lpf",
        "board.lpf",
        "--freq",
        &clock,
        "--seed",
        "1",
        "--report",
        "timing.json",
        "--textcfg",
        "placed.config",
        // A clock that is missed is a broken budget, with a report; not a failed stage.
        "--timing-allow-fail",
    ];
    let arguments = target.place.arguments.iter().map(String::as_str);
    arguments.chain(own).map(str::to_owned).collect()
}

pub(super) fn run(
    job: &Job<'_>,
    stages: &mut Stages<'_>,
    report: &mut SynthReport,
    source: &Source,
) -> Result<(), SynthError> {
    yosys::run(job, stages, report, source, "write_json netlist.json;")?;
    write(&stages.file("board.lpf"), job.target.file(&job.target.constraints)?.as_bytes())?;
    stages.run("place and route", NEXTPNR_ECP5.open(), place(job.target))?;
    keep_timing(stages, report, "timing.json")?;
    let pack = ["--compress", "--input", "placed.config", "--bit", "nendo.bit"];
    stages.run("pack", ECPPACK.open(), pack)?;
    keep_bitstream(stages, report, "nendo.bit")
}
