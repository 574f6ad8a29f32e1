//! Xilinx' older families: Yosys to EDIF, then ISE in batch mode.
//!
//! Everything up to ISE is made and checked here. ISE's own part is written from its manuals and unverified.

use super::{
    Job, Source, SynthError, SynthReport, keep_bitstream, needs::ISE, stages::Stages, tools::Tool, write,
    yosys,
};

pub(super) fn run(
    job: &Job<'_>,
    stages: &mut Stages<'_>,
    report: &mut SynthReport,
    source: &Source,
) -> Result<(), SynthError> {
    yosys::run(job, stages, report, source, "")?;
    write(&stages.file("nendo.ucf"), job.target.file(&job.target.constraints)?.as_bytes())?;
    write(&stages.file("build.sh"), source.script(job.target)?.as_bytes())?;
    let proceed = format!("with ISE on the PATH, go on with `cd {} && sh build.sh`", stages.folder.display());
    let ise = ISE.vendor(&proceed);
    let shell = ise.and_then(|ise| Ok(Tool { version: ise.version, ..Tool::vendor("sh", "a shell", "")? }));
    stages.run("place and route", shell, ["build.sh"])?;
    keep_bitstream(stages, report, "nendo.bit")
}
