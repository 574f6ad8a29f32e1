//! Xilinx' 7 series: Yosys, nextpnr-himbaechel-xilinx, our own FASM to frames, xc7frames2bit.

use super::{
    Job, Source, SynthError, SynthReport, fasm, keep_bitstream, keep_timing,
    needs::{BITREAD, FRAMES2BIT, NEXTPNR_XILINX},
    read,
    stages::Stages,
    tools::{Missing, private_folder},
    write, yosys,
};
use std::path::{Path, PathBuf};

/// The script's name for these tools.
const TOOLCHAIN: &str = "xilinx7";

/// A folder of Project X-Ray's database.
fn database(name: &str) -> Result<PathBuf, Missing> {
    let installed = Path::new("usr/share/prjxray/database").join(name);
    let places = private_folder().map(|tools| tools.join("sid").join(&installed));
    places.into_iter().chain([Path::new("/").join(&installed)]).find(|p| p.is_dir()).ok_or_else(|| Missing {
        product: "prjxray-database".to_owned(),
        fix: format!("run `scripts/install-toolchain {TOOLCHAIN}`"),
    })
}

pub(super) fn run(
    job: &Job<'_>,
    stages: &mut Stages<'_>,
    report: &mut SynthReport,
    source: &Source,
) -> Result<(), SynthError> {
    yosys::run(job, stages, report, source, "write_json netlist.json;")?;
    write(&stages.file("board.xdc"), job.target.file(&job.target.constraints)?.as_bytes())?;
    let (clock, part) = (job.target.clock_mhz.to_string(), job.target.part.as_str());
    let own = [
        "--device",
        part,
        "--json",
        "netlist.json",
        "-o",
        "xdc=board.xdc",
        "-o",
        "fasm=placed.fasm",
        "--freq",
        &clock,
        "--seed",
        "1",
        "--report",
        "timing.json",
        "--timing-allow-fail",
    ];
    let place = job.target.place.arguments.iter().map(String::as_str).chain(own);
    stages.run("place and route", NEXTPNR_XILINX.open(), place)?;
    keep_timing(stages, report, "timing.json")?;

    let features = stages.file("placed.fasm");
    let (database, frames) = stages.work("frames", || {
        let database = database(job.target.place.database.as_deref().unwrap_or_default())?;
        let bad = |reason: String| SynthError::Output { what: features.display().to_string(), reason };
        let frames = fasm::frames(&database, part, &read(&features)?).map_err(|e| bad(e.to_string()))?;
        write(&job.folder.join("nendo.frames"), frames.text().as_bytes())?;
        Ok((database, frames))
    })?;
    let part_file = database.join(part).join("part.yaml").display().to_string();
    let pack = [
        "--part_file",
        &part_file,
        "--part_name",
        part,
        "--frm_file",
        "nendo.frames",
        "--output_file",
        "nendo.bit",
    ];
    stages.run("pack", FRAMES2BIT.open(), pack)?;

    // Another program reads the bitstream again: it must be the same bits.
    let list = ["-part_file", &part_file, "-o", "nendo.bits", "-z", "-y", "nendo.bit"];
    stages.run("read back", BITREAD.open(), list)?;
    let bits = stages.file("nendo.bits");
    stages.work("compare", || {
        let bad = |reason: String| SynthError::Output { what: bits.display().to_string(), reason };
        let found = fasm::Frames::from_bits(&read(&bits)?).map_err(|e| bad(e.to_string()))?;
        if found == frames {
            return Ok(());
        }
        Err(bad(format!(
            "{} bits in the bitstream, {} were meant, and they differ",
            found.ones(),
            frames.ones()
        )))
    })?;
    keep_bitstream(stages, report, "nendo.bit")
}
