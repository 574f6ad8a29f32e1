//! Vivado in batch mode, from the Verilog to the bitstream.
//!
//! The script, the board top and the constraints are written here; Vivado's part is unverified, for want of
//! Vivado.

use super::{Job, Source, SynthError, SynthReport, keep_bitstream, needs::VIVADO, stages::Stages, write};

pub(super) fn run(
    job: &Job<'_>,
    stages: &mut Stages<'_>,
    report: &mut SynthReport,
    source: &Source,
) -> Result<(), SynthError> {
    write(&stages.file("board.xdc"), job.target.file(&job.target.constraints)?.as_bytes())?;
    write(&stages.file("build.tcl"), source.script(job.target)?.as_bytes())?;
    let folder = stages.folder.display();
    let proceed =
        format!("with Vivado on the PATH, go on with `cd {folder} && vivado -mode batch -source build.tcl`");
    let vivado = VIVADO.vendor(&proceed);
    stages.run("vivado", vivado, ["-mode", "batch", "-source", "build.tcl"])?;
    keep_bitstream(stages, report, "nendo.bit")
}

#[cfg(test)]
mod tests {
    use super::super::source::generate;
    use super::*;
    use nendo_hdl::target::{Flow, Target};
    use nendo_model::contract::{
        config::Config,
        numbers::{Inverse, Profile},
    };
    use std::{io::Write, process::Command};

    /// As far as form goes without Vivado: Tcl that is complete, Verilog that parses.
    #[test]
    fn scripts_and_tops_are_well_formed() {
        let targets: Vec<Target> = Target::all().into_iter().filter(|t| t.flow == Flow::Vivado).collect();
        assert!(targets.len() >= 2);
        for target in &targets {
            let name = &target.name;
            let folder = tempfile::tempdir().unwrap();
            let config = Config::minimal(Profile::Wide, Inverse::Table);
            let job = Job { target, flow: target.flow, config: &config, folder: folder.path(), say: &|_| {} };
            let source = generate(&job).unwrap();
            assert_eq!(source.files, ["nendo_engine.v".to_owned(), format!("{name}.v")]);
            let script = source.script(target).unwrap();
            assert!(!script.contains('@') && script.contains(&format!("-top {} ", source.top)), "{script}");
            assert!(script.contains(&format!("[list nendo_engine.v {name}.v]")), "{script}");
            for text in [script.as_str(), &target.file(&target.constraints).unwrap()] {
                let mut file = tempfile::NamedTempFile::new().unwrap();
                file.write_all(text.as_bytes()).unwrap();
                let check =
                    format!("set f [open {}]; puts [info complete [read $f]]\n", file.path().display());
                let mut script = tempfile::NamedTempFile::new().unwrap();
                script.write_all(check.as_bytes()).unwrap();
                let output = Command::new("tclsh").arg(script.path()).output().expect("tclsh is installed");
                assert_eq!(String::from_utf8_lossy(&output.stdout), "1\n", "{name}");
            }
            let script = format!("read_verilog {name}.v; hierarchy -top {}", source.top);
            let yosys = Command::new("yosys").current_dir(&folder).args(["-q", "-p", &script]).output();
            let output = yosys.expect("yosys is installed");
            assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        }
    }

    /// Both kinds of transceivers in one file: each with its own buffer, and the second clock only where there is one.
    #[test]
    fn one_board_for_both_kinds_of_transceivers() {
        let cells = |defines: &str| {
            let folder = tempfile::tempdir().unwrap();
            let text =
                Target::by_name("vc707").unwrap().file("xdma.v").unwrap().replace("ADDRESS_BITS", "19");
            std::fs::write(folder.path().join("xdma.v"), text).unwrap();
            let script = format!("read_verilog {defines} xdma.v; write_rtlil");
            let yosys = Command::new("yosys").current_dir(&folder).args(["-q", "-p", &script]).output();
            String::from_utf8(yosys.expect("yosys is installed").stdout).unwrap()
        };
        let (two, four) = (cells(""), cells("-DGTE4"));
        assert!(two.contains("IBUFDS_GTE2") && !two.contains("GTE4") && !two.contains("sys_clk_gt"), "{two}");
        assert!(
            four.contains("IBUFDS_GTE4") && !four.contains("GTE2") && four.contains("sys_clk_gt"),
            "{four}"
        );
    }
}
