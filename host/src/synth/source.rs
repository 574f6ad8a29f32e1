//! What tools are given: the design's Verilog, the board around it, and the script of a vendor's tool.

use super::{Job, SynthError, write};
use nendo_hdl::{
    design::{self, Design},
    engine::register_bus::bus_address_bits,
    target::{Board, Flow, Target, TargetError},
};
use nendo_model::contract::{config::Config, map::Map};

/// What tools are to read.
pub struct Source {
    /// Verilog files, in order.
    pub files: Vec<String>,
    /// The outermost module.
    pub top: String,
}

/// Writes the design's files.
pub(super) fn generate(job: &Job<'_>) -> Result<Source, SynthError> {
    let Job { target, config, folder, .. } = job;
    let (texts, source) = texts(target, job.flow, config, &Design::with(config, target.shift_registers()))?;
    for (name, content) in texts {
        write(&folder.join(name), content.as_bytes())?;
    }
    Ok(source)
}

/// All texts of a design on a target, by file name, and what a flow's tools are to read of them.
pub fn texts(
    target: &Target,
    flow: Flow,
    config: &Config,
    design: &Design,
) -> Result<(Vec<(String, String)>, Source), TargetError> {
    let mut texts = design.files();
    let mut top = design::TOP.to_owned();
    let mut files = vec![format!("{top}.v")];
    if let Some((generated, text)) = design::board(target, config) {
        files = vec![format!("{generated}.v")];
        generated.clone_into(&mut top);
        texts.push((format!("{generated}.v"), text));
    }
    // Only the vendor's tool has the vendor's cores.
    let known = |board: &&Board| !board.vendor || flow == Flow::Vivado;
    if let Some(board) = target.board.as_ref().filter(known) {
        let file = format!("{}.v", target.name);
        texts.push((file.clone(), surroundings(target, board, config)?));
        files.push(file);
        top.clone_from(&board.top);
    }
    Ok((texts, Source { files, top }))
}

/// The board's Verilog in one file, which every tool reads without further options: macros in front, then the sources.
fn surroundings(target: &Target, board: &Board, config: &Config) -> Result<String, TargetError> {
    let mut text = String::new();
    for (name, value) in &board.defines {
        text += format!("`define {name} {value}").trim_end();
        text.push('\n');
    }
    // An engine's address is as wide as its map.
    let bits = bus_address_bits(&Map::new(config)).to_string();
    for source in &board.sources {
        text += &target.file(source)?.replace("ADDRESS_BITS", &bits);
        text.push_str(if text.ends_with('\n') { "" } else { "\n" });
    }
    Ok(text)
}

impl Source {
    /// The target's script for a vendor's tool, filled in.
    pub(super) fn script(&self, target: &Target) -> Result<String, TargetError> {
        let text = target.file(target.place.script.as_deref().unwrap_or_default())?;
        let filled = text.replace("@PART@", &target.part).replace("@TOP@", &self.top);
        Ok(filled.replace("@SOURCES@", &self.files.join(" ")))
    }
}

/// Commands that make cells of Yosys' own files known, by their ports.
pub(super) fn libraries(files: &[String]) -> String {
    files.iter().map(|file| format!("read_verilog -lib {file}; ")).collect()
}
