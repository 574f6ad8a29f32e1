//! Virtex-7 and UltraScale+: Vivado in batch mode, with the vendor's XDMA core for PCIe.
//!
//! The script, the board top and the constraints are written here; Vivado's part is unverified, for want of
//! Vivado.

use super::{Job, Report, SynthError, keep_bitstream, stages::Stages, tools::Tool, write};
use nendo_hdl::engine::register_bus::bus_address_bits;
use nendo_model::contract::map::Map;

/// The script, for any board.
const SCRIPT: &str = include_str!("../../../bitstreams/vivado.tcl");

/// What differs between the boards.
struct Board {
    constraints: &'static str,
    top: &'static str,
}

fn board(name: &str) -> Option<Board> {
    match name {
        "vc707" => Some(Board {
            constraints: include_str!("../../../bitstreams/vc707/vc707.xdc"),
            top: include_str!("../../../bitstreams/vc707/vc707.v"),
        }),
        "vcu118" => Some(Board {
            constraints: include_str!("../../../bitstreams/vcu118/vcu118.xdc"),
            top: include_str!("../../../bitstreams/vcu118/vcu118.v"),
        }),
        _ => None,
    }
}

/// The script of a board.
fn script(name: &str, part: &str) -> String {
    SCRIPT.replace("@TARGET@", name).replace("@PART@", part)
}

pub(super) fn run(job: &Job<'_>, stages: &mut Stages<'_>, report: &mut Report) -> Result<(), SynthError> {
    let name = &job.target.name;
    let board = board(name).ok_or_else(|| SynthError::Output {
        what: "target.toml".to_owned(),
        reason: format!("no Vivado script is known for {name}"),
    })?;
    // An engine's address is as wide as its map.
    let bits = bus_address_bits(&Map::new(job.config));
    let text = board.top.replace("ADDRESS_BITS", &bits.to_string());
    write(&stages.file(&format!("{name}.v")), text.as_bytes())?;
    write(&stages.file(&format!("{name}.xdc")), board.constraints.as_bytes())?;
    write(&stages.file("build.tcl"), script(name, &job.target.part).as_bytes())?;
    let folder = stages.folder.display();
    let proceed =
        format!("with Vivado on the PATH, go on with `cd {folder} && vivado -mode batch -source build.tcl`");
    let vivado = Tool::vendor("vivado", "Vivado 2023.2", &proceed);
    stages.run("vivado", vivado, ["-mode", "batch", "-source", "build.tcl"])?;
    keep_bitstream(stages, report, "nendo.bit")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{io::Write, process::Command};

    /// As far as form goes without Vivado: Tcl that is complete, Verilog that parses.
    #[test]
    fn scripts_and_tops_are_well_formed() {
        for name in ["vc707", "vcu118"] {
            let board = board(name).unwrap();
            let script = script(name, "a part");
            assert!(!script.contains('@') && script.contains(&format!("-top {name}")), "{script}");
            for text in [script.as_str(), board.constraints] {
                let mut file = tempfile::NamedTempFile::new().unwrap();
                file.write_all(text.as_bytes()).unwrap();
                let check =
                    format!("set f [open {}]; puts [info complete [read $f]]\n", file.path().display());
                let mut script = tempfile::NamedTempFile::new().unwrap();
                script.write_all(check.as_bytes()).unwrap();
                let output = Command::new("tclsh").arg(script.path()).output().expect("tclsh is installed");
                assert_eq!(String::from_utf8_lossy(&output.stdout), "1\n", "{name}");
            }
            let mut file = tempfile::Builder::new().suffix(".v").tempfile().unwrap();
            file.write_all(board.top.replace("ADDRESS_BITS", "19").as_bytes()).unwrap();
            let script = format!("read_verilog {}; hierarchy -top {name}", file.path().display());
            let output =
                Command::new("yosys").args(["-q", "-p", &script]).output().expect("yosys is installed");
            assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        }
        assert!(board("acorn").is_none());
    }
}
