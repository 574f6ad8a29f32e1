//! A testbench of an engine for people who have Verilog simulators, and no Rust: `nendo gen --testbench`.
//!
//! ```text
//!  driver --> bit-accurate model behind the register map     recorded: every write, every word read
//!  nendo_vectors.hex --> nendo_testbench.v --> nendo_engine.v under Icarus or Verilator: the same words, or FAIL
//! ```

use crate::{
    board::{Board, BoardError},
    device::{
        model::ModelDevice,
        record::Origin,
        traffic::{Operation, TrafficRecorder, hexadecimal},
    },
    engine::{BoardEngine, Engine, EngineError},
};
use nendo_hdl::{design::TOP, engine::register_bus::bus_address_bits};
use nendo_model::{contract::map::Map, plan::loaded::Loaded, text::count};

/// What simulates the engine, and how: the lines to type in the folder of the files. Verilators that were built without
/// coroutines, as PyPI's is, have to be told that the compiler has them.
pub const COMMANDS: [&str; 2] = [
    "iverilog -g2012 -o nendo.vvp nendo_testbench.v nendo_engine.v && vvp nendo.vvp",
    "verilator --binary --timing -CFLAGS -std=gnu++20 --top-module nendo_testbench nendo_testbench.v nendo_engine.v && obj_dir/Vnendo_testbench",
];

/// MHz of the testbench's clock where none is asked for.
const CLOCK_MHZ: f64 = 100.0;

const TEMPLATE: &str = include_str!("testbench.v");

/// A recorded run.
pub struct Recorded {
    operations: Vec<Operation>,
    /// Words that are read, and compared.
    pub reads: usize,
}

/// Runs a scene on the model as a board, and records what goes over the bus: upload, steps, and at the end every memory
/// word.
pub fn record(loaded: Loaded, steps: u64) -> Result<Recorded, EngineError> {
    let device = TrafficRecorder::new(ModelDevice::new(&loaded.config, 1));
    let mut engine = BoardEngine::with(Board::open(device).map_err(failed)?, loaded, None).map_err(failed)?;
    engine.advance(steps)?;
    let mut board = engine.into_board();
    board.overflow().and_then(|_| board.memories()).map_err(failed)?;
    let operations = board.into_device().operations();
    let reads = operations.iter().filter(|operation| matches!(operation, Operation::Read(..))).count();
    Ok(Recorded { operations, reads })
}

fn failed(error: BoardError) -> EngineError {
    error.into()
}

impl Recorded {
    /// The testbench's files, for an engine of this map: name and content.
    pub fn files(&self, map: &Map, origin: &Origin, steps: u64) -> Vec<(String, String)> {
        let mhz = if map.config.clock_khz == 0 { CLOCK_MHZ } else { f64::from(map.config.clock_khz) / 1e3 };
        let vectors = self.operations.len();
        let filled = [
            // A comment must not end where a name says so.
            ("COMMAND", origin.command.replace(char::is_control, " ")),
            ("SCENE", origin.scene.replace(char::is_control, " ")),
            ("CONFIGURATION", map.config.hash_text()),
            ("STEPS", steps.to_string()),
            ("VECTORS", vectors.to_string()),
            ("READS", self.reads.to_string()),
            ("TOP_BIT", (bus_address_bits(map) - 1).to_string()),
            ("HALF_PERIOD", format!("{:.3}", 500.0 / mhz)),
            ("CLOCK", mhz.to_string()),
        ];
        let fill = |text: String, (name, value): &(&str, String)| text.replace(&format!("@{name}@"), value);
        let readme = format!(
            "# Testbench\n\n{} of scene {} on {TOP}.v, configuration {}: {} over its AXI4-Lite port, of which {} are\n\
             compared. They were recorded on the bit-accurate model by `{}` (nendo {}).\n\nIn this folder, either of\n\n\
             ```\n{}\n```\n\nprints PASS and ends with 0, or FAIL and ends otherwise.\n",
            count(steps, "step"),
            origin.scene,
            map.config.hash_text(),
            count(vectors, "operation"),
            count(self.reads, "word"),
            origin.command,
            origin.nendo,
            COMMANDS.join("\n"),
        );
        let vectors = format!(
            "// kind (00 pause, 01 write, 02 read), 32 bits of address, 32 bits of word or clocks\n{}",
            hexadecimal(&self.operations)
        );
        vec![
            ("nendo_testbench.v".to_owned(), filled.iter().fold(TEMPLATE.to_owned(), fill)),
            ("nendo_vectors.hex".to_owned(), vectors),
            ("README.md".to_owned(), readme),
        ]
    }
}
