//! Post-synthesis simulation: the netlist that goes to the vendor's tools, not only its source, is right.
//!
//! ```text
//!  board driver --> Verilated RTL         recorded: every write, every word read
//!  EDIF --> edif --> Verilog netlist --> Icarus with cell models, the same traffic: the same words
//! ```

mod edif;
mod models;

use super::{
    Simulated, SynthError, cells,
    cells::Cells,
    needs::{ICARUS, VVP},
    read,
    source::libraries,
    stages::Stages,
    tools::Tool,
    write,
};
use crate::{
    board::Board,
    device::{
        rtl::Rtl,
        traffic::{Operation, TrafficRecorder, hexadecimal},
    },
};
use nendo_hdl::{sim::verilated::SimOptions, target::Simulation};
use nendo_model::{
    contract::{config::Config, image::Image},
    scene::Scene,
};
use std::path::PathBuf;

pub use edif::{EdifError, to_verilog};

const TESTBENCH: &str = include_str!("testbench.v");
/// Steps that are run.
const STEPS: u32 = 3;

/// The scene that is run: with several modules, one with edges between all of them.
fn scene(config: &Config) -> &'static str {
    if config.modules == 1 { "table3" } else { "box:2x2x2" }
}

fn failed(what: &str, reason: impl ToString) -> SynthError {
    SynthError::Output { what: what.to_owned(), reason: reason.to_string() }
}

/// The traffic of a run on the Verilated RTL: upload, steps, every memory word.
fn record(config: &Config) -> Result<Vec<Operation>, SynthError> {
    let what = "recording traffic on the RTL";
    let scene = Scene::open(scene(config)).map_err(|e| failed(what, e))?;
    let image = Image::new(&scene, config.profile, config.inverse).map_err(|e| failed(what, e))?;
    let device = Rtl::new(config, SimOptions::default()).map_err(|e| failed(what, e))?;
    let mut board = Board::open(TrafficRecorder::new(device)).map_err(|e| failed(what, e))?;
    board.load(&image).map_err(|e| failed(what, e))?;
    for _ in 0..STEPS {
        board.run(1).map_err(|e| failed(what, e))?;
        board.overflow().map_err(|e| failed(what, e))?;
        board.memories().map_err(|e| failed(what, e))?;
    }
    Ok(board.into_device().operations())
}

/// Where Yosys keeps a file of its own, such as `+/xilinx/cells_sim.v`.
fn library(yosys: &Tool, file: &str) -> Result<PathBuf, SynthError> {
    let program = yosys.path.canonicalize().unwrap_or_else(|_| yosys.path.clone());
    let inside = file.trim_start_matches("+/");
    let models = program.ancestors().nth(2).map(|root| root.join("share/yosys").join(inside));
    models.filter(|path| path.is_file()).ok_or_else(|| failed("Yosys' cell models", "not beside its program"))
}

/// A netlist that was written.
pub(super) struct Netlist<'a> {
    /// Its file.
    pub file: &'a str,
    /// Its outermost module.
    pub top: &'a str,
    /// Its cells, as synthesis counted them.
    pub cells: &'a Cells,
}

/// Reads the EDIF of a card, has Yosys check it, and simulates it on its PCI bus against recorded traffic.
pub(super) fn simulate(
    stages: &mut Stages<'_>,
    config: &Config,
    yosys: &Tool,
    simulation: &Simulation,
    netlist: &Netlist<'_>,
) -> Result<Simulated, SynthError> {
    let Netlist { file, top, cells: synthesised } = *netlist;
    let source = stages.file(file);
    let folder = stages.folder;
    stages.work("read netlist", || {
        let text = to_verilog(&read(&source)?).map_err(|e| failed(&source.display().to_string(), e))?;
        write(&folder.join("netlist.v"), text.as_bytes())?;
        write(&folder.join("models.v"), models::models().as_bytes())?;
        write(&folder.join("testbench.v"), TESTBENCH.as_bytes())
    })?;
    // Every cell known, every port there, and as many cells as went out.
    let script = format!(
        "{}{}read_verilog netlist.v; hierarchy -check -top {top}; check -assert; tee -q -o netlist.json stat -json",
        libraries(&simulation.models),
        libraries(&simulation.ports),
    );
    stages.run("check netlist", Ok(yosys.clone()), ["-q", "-p", &script])?;
    let mut again = cells::parse(&read(&stages.file("netlist.json"))?)?;
    // EDIF has cells where Yosys has constants.
    again.retain(|cell, _| cell != "VCC" && cell != "GND");
    if again != *synthesised {
        return Err(failed("the netlist read again", format!("{again:?}, not {synthesised:?}")));
    }

    let operations = stages.work("record traffic", || record(config))?;
    write(&stages.file("traffic.hex"), hexadecimal(&operations).as_bytes())?;
    let (count, card) = (format!("-DOPERATIONS={}", operations.len()), format!("-DCARD={top}"));
    let models = simulation.models.iter().map(|file| Ok(library(yosys, file)?.display().to_string()));
    let models = models.collect::<Result<Vec<_>, SynthError>>()?;
    let compile = [
        "-g2012",
        "-Wno-timescale",
        &count,
        &card,
        "-s",
        "testbench",
        "-o",
        "testbench.vvp",
        "testbench.v",
        "netlist.v",
        "models.v",
    ];
    let compile = compile.into_iter().chain(models.iter().map(String::as_str));
    stages.run("compile netlist", ICARUS.open(), compile)?;
    stages.run("simulate netlist", VVP.open(), ["-n", "testbench.vvp"])?;
    let log = read(&stages.file("simulate-netlist.log"))?;
    let words = log.lines().find_map(|line| line.strip_prefix("EQUAL: ")?.split(' ').next()?.parse().ok());
    let said = log.lines().find(|line| line.starts_with("FAILED")).unwrap_or("it did not finish");
    let words = words.ok_or_else(|| failed("simulation of the netlist", said))?;
    Ok(Simulated { scene: scene(config).to_owned(), steps: STEPS, words_compared: words, mismatches: 0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{fs, process::Command};

    /// The models against what was put in, under Icarus: contents, both ports, parity.
    #[test]
    fn models_do_what_the_cells_do() {
        let folder = tempfile::tempdir().unwrap();
        let bench = r#"
module bench;
  reg clock = 0; reg [9:0] a = 0, b = 0; reg [15:0] d = 0; reg [1:0] p = 0; reg we = 0;
  wire [15:0] qa, qb; wire [1:0] pa, pb; wire [31:0] q; wire [3:0] qp;
  RAMB16_S18_S18 #(.INIT_01(256'hbeef0000), .INITP_00(256'h3 << 34)) ram (.DOA(qa), .DOPA(pa), .ADDRA(a), .CLKA(clock), .DIA(16'h0),
    .DIPA(2'h0), .ENA(1'b1), .SSRA(1'b0), .WEA(1'b0), .DOB(qb), .DOPB(pb), .ADDRB(b), .CLKB(clock), .DIB(d), .DIPB(p), .ENB(1'b1), .SSRB(1'b0), .WEB(we));
  RAMB16_S36 #(.INIT_3F(256'hcafe << 224), .INITP_07(256'h9 << 252)) rom (.DO(q), .DOP(qp), .ADDR(9'h1ff), .CLK(clock), .DI(32'h0), .DIP(4'h0),
    .EN(1'b1), .SSR(1'b0), .WE(1'b0));
  task tick; begin #1 clock = 1; #1 clock = 0; end endtask
  initial begin
    a = 17; tick; if (qa !== 16'hbeef || pa !== 2'h3) $display("content %h %h", qa, pa);
    if (q !== 32'hcafe || qp !== 4'h9) $display("rom %h %h", q, qp);
    b = 1023; d = 16'h1234; p = 2; we = 1; tick; if (qb !== 16'h1234) $display("write first %h", qb);
    we = 0; a = 1023; tick; if (qa !== 16'h1234 || pa !== 2) $display("other port %h %h", qa, pa);
    $display("done");
  end
endmodule
"#;
        fs::write(folder.path().join("bench.v"), bench).unwrap();
        fs::write(folder.path().join("models.v"), models::models()).unwrap();
        let run = |program: &str, args: &[&str]| {
            let output = Command::new(program).current_dir(&folder).args(args).output().unwrap();
            String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
        };
        assert_eq!(run("iverilog", &["-g2012", "-o", "bench", "bench.v", "models.v"]), "");
        assert_eq!(run("vvp", &["-n", "bench"]), "done\n");
    }
}
