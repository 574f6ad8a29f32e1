//! What a `target.toml` may say beyond its form. Words of it end up in scripts of tools: those that are put into a
//! script must be plain, so that they mean what they say.

use super::{Board, Flow, KEYS, Target, TargetError, Top};

/// Files in the output folder that a board's file must not overwrite, besides the generator's own `nendo_*`.
const TAKEN: [&str; 3] = ["netlist", "models", "testbench"];

/// Letters, digits and a few marks that no tool takes for its own.
fn is_word(text: &str) -> bool {
    let first = text.chars().next().is_some_and(|c| c.is_ascii_alphanumeric());
    first && text.chars().all(|c| c.is_ascii_alphanumeric() || "._+-".contains(c))
}

/// A name in Verilog.
fn is_identifier(text: &str) -> bool {
    let first = text.chars().next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    first && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// One of Yosys' synthesis commands with its options: one command, no second one behind it.
fn is_synthesis(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-.,=: ".contains(c);
    text.starts_with("synth_") && text.chars().all(plain)
}

/// A file that Yosys brings along.
fn is_of_yosys(text: &str) -> bool {
    let inside = text.strip_prefix("+/").unwrap_or_default();
    !inside.is_empty() && inside.split('/').all(is_word)
}

/// What goes into a line of Verilog, and stays there.
fn is_macro_text(text: &str) -> bool {
    text.chars().all(|c| (c.is_ascii_graphic() || c == ' ') && !"\\`".contains(c)) && !text.contains("/*")
}

impl Target {
    fn key(&self, key: &str, reason: impl Into<String>) -> TargetError {
        TargetError::Key { file: self.files.place(KEYS), key: key.to_owned(), reason: reason.into() }
    }

    fn require(&self, holds: bool, key: &str, reason: &str) -> Result<(), TargetError> {
        if holds { Ok(()) } else { Err(self.key(key, reason)) }
    }

    /// A file that a key names must be there.
    fn require_file(&self, key: &str, name: &str) -> Result<(), TargetError> {
        let reason = |e| format!("{e}; name a file in the target's folder");
        self.file(name).map(|_| ()).map_err(|e| self.key(key, reason(e)))
    }

    /// Whether all that it says can be meant.
    pub(super) fn check(&self) -> Result<(), TargetError> {
        let name = &self.name;
        let free = is_word(name) && !name.starts_with("nendo_") && !TAKEN.contains(&name.as_str());
        if !free {
            let reason = format!(
                "a target is named as its folder, and `{name}` cannot be used: letters, digits, `.`, `_` and `-`, \
                 not beginning with `nendo_`, and not {}",
                TAKEN.join(", ")
            );
            return Err(TargetError::Toml { file: self.files.place(KEYS), reason });
        }
        for (key, text) in [("part", &self.part), ("package", &self.package)] {
            self.require(is_word(text), key, "letters, digits, `.`, `_`, `+` and `-`")?;
        }
        let clock = self.clock_mhz.is_finite() && self.clock_mhz > 0.0;
        self.require(clock, "clock_mhz", "a number of MHz above zero")?;
        for device in &self.slower {
            if Self::names().all(|name| name != device) {
                let known = Self::names().collect::<Vec<_>>().join(", ");
                return Err(
                    self.key("slower", format!("no target is `{device}`; those built in are {known}"))
                );
            }
        }
        self.require_file("constraints", &self.constraints)?;
        self.board.as_ref().map_or(Ok(()), |board| self.check_board(board))?;
        self.check_synthesis()?;
        self.check_place()?;
        self.check_estimate()
    }

    fn check_board(&self, board: &Board) -> Result<(), TargetError> {
        self.require(is_identifier(&board.top), "board.top", "the name of a Verilog module")?;
        self.require(!board.sources.is_empty(), "board.sources", "name at least one Verilog file")?;
        for source in &board.sources {
            self.require_file("board.sources", source)?;
        }
        for (name, value) in &board.defines {
            let plain = is_identifier(name) && is_macro_text(value);
            self.require(
                plain,
                &format!("board.defines.{name}"),
                "a macro's name and one line of plain text",
            )?;
        }
        let left_out = board.vendor && self.flow != Flow::Vivado && self.flow != Flow::Yosys;
        self.require(!left_out, "board.vendor", "only Vivado has its own cores; leave this out")
    }

    fn check_synthesis(&self) -> Result<(), TargetError> {
        let synthesis = &self.synthesis;
        let command = "one of Yosys' synthesis commands with its options, such as `synth_ecp5 -abc9`";
        self.require(is_synthesis(&synthesis.command), "synthesis.command", command)?;
        let mut files: Vec<_> = synthesis.library.iter().map(|file| ("synthesis.library", file)).collect();
        if let Some(simulation) = &self.simulation {
            files.extend(simulation.models.iter().map(|file| ("simulation.models", file)));
            files.extend(simulation.ports.iter().map(|file| ("simulation.ports", file)));
            let pads = synthesis.edif && self.top == Top::Pci && self.board.is_some();
            let reason =
                "it runs EDIF on a PCI bus: `top = \"pci\"`, a `[board]` with its pads, and `edif = true`";
            self.require(pads, "simulation", reason)?;
        }
        for (key, file) in files {
            self.require(is_of_yosys(file), key, "files of Yosys' own, such as `+/xilinx/cells_sim.v`")?;
        }
        Ok(())
    }

    fn check_place(&self) -> Result<(), TargetError> {
        let place = &self.place;
        let nextpnr = matches!(self.flow, Flow::NextpnrEcp5 | Flow::NextpnrXilinx);
        let vendor = matches!(self.flow, Flow::Ise | Flow::Vivado);
        let of_flow = |holds: bool, key: &str, reason: &str| {
            self.require(holds, key, &format!("flow `{}` {reason}", self.flow))
        };
        of_flow(nextpnr || place.arguments.is_empty(), "place.arguments", "runs no nextpnr; leave this out")?;
        of_flow(vendor || place.script.is_none(), "place.script", "runs no script; leave this out")?;
        of_flow(!vendor || place.script.is_some(), "place.script", "needs a script for its tool")?;
        let frames = self.flow == Flow::NextpnrXilinx;
        of_flow(frames || place.database.is_none(), "place.database", "reads no database; leave this out")?;
        of_flow(!frames || place.database.is_some(), "place.database", "needs one, such as `artix7`")?;
        of_flow(
            self.flow != Flow::Ise || self.synthesis.edif,
            "synthesis.edif",
            "reads EDIF: set this to true",
        )?;
        let database = place.database.as_deref().is_none_or(is_word);
        self.require(database, "place.database", "the name of a folder of Project X-Ray's database")?;
        place.script.as_ref().map_or(Ok(()), |script| self.require_file("place.script", script))
    }

    fn check_estimate(&self) -> Result<(), TargetError> {
        let luts = &self.estimate.luts;
        for (key, number) in [
            ("estimate.flip_flops", self.estimate.flip_flops),
            ("estimate.luts.fixed", luts.fixed),
            ("estimate.luts.module", luts.module),
            ("estimate.luts.pair", luts.pair),
        ] {
            self.require(number.is_finite() && number >= 0.0, key, "a finite number, zero or more")?;
        }
        Ok(())
    }
}
