//! The command line: one file per verb.
//!
//! Every command prints its answer on stdout (with `--json` exactly one JSON object), and what happens meanwhile on stderr.
//! Exit code 0 is success, 2 wrong usage or bad input, 1 a failed run.

mod applies;
mod check;
mod console;
mod emulate;
mod engine;
mod import;
mod look;
mod options;
mod target;

use crate::{
    engine::{EngineError, OpenError},
    interrupt, progress,
};
use anyhow::anyhow;
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};
use console::Console;
use nendo_hdl::sim::verilated;
use serde_json::{Value, json};
use std::{env, process::ExitCode};

/// Soft objects in hardware: simulate dough, food and tissue on an FPGA engine or its bit-accurate model.
#[derive(Parser, Debug)]
#[command(name = "nendo", version, propagate_version = true, after_help = EXAMPLES)]
struct Cli {
    /// Print exactly one JSON object on stdout
    #[arg(long, global = true)]
    json: bool,
    /// Only errors on stderr; the answer on stdout stays
    #[arg(long, short, global = true)]
    quiet: bool,
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "Examples:
  nendo run cube9 --seconds 1             run the papers' 9x9x9 box
  nendo compare cube9 --plot error.svg    its error against the f64 reference over 30 s
  nendo cosim cube9 --steps 20            hardware and model, word for word
  nendo board selftest --device rtl       is this board sound?
  nendo view cube9                        see it in the browser, and pull at it
  nendo movie scenes/x2-roller.toml -o roller.gif    a moving picture of a run
  nendo scene import part.msh -o my.toml  bring your own mesh
  nendo scene check my.toml               is this scene file sound, stable, and within range?
  nendo estimate block16                  memory, multipliers and rate on an FPGA
  nendo bench --quick                     how fast every engine is on this machine";

/// One line for each command: a file of this folder, which has its options and `main`.
macro_rules! commands {
    ($($(#[$about:meta])* $name:ident: $module:ident::$options:ident,)*) => {
        $(mod $module;)*

        #[derive(Subcommand, Debug)]
        enum Command {
            $($(#[$about])* $name($module::$options),)*
        }

        impl Command {
            fn run(&self, console: Console) -> Result<Value, CommandError> {
                match self {
                    $(Self::$name(options) => $module::main(options, console),)*
                }
            }
        }
    };
}

commands! {
    /// Run a scene on an engine
    Run: run::Args,
    /// Measure an engine's error against the reference over time
    Compare: compare::Args,
    /// Run model and Verilated engine in lock step and compare every memory word
    Cosim: cosim::Args,
    /// Write the engine's Verilog, manifest and register map
    Gen: generate::Args,
    /// Find, describe, test and drive boards
    #[command(subcommand)]
    Board: board::Command,
    /// Make, describe and check scenes
    #[command(subcommand)]
    Scene: scene::Command,
    /// See a scene in the browser, and pull at it
    View: view::Args,
    /// What hardware a configuration takes and how fast it is, without running a tool
    Estimate: estimate::Args,
    /// Run a target's tool flow, as far as its tools exist, and report resources and clock
    Synth: synth::Args,
    /// Time every engine on the standard sizes, in one run
    Bench: bench::Args,
    /// Draw states of a scene side by side, a row for each material
    Picture: picture::Args,
    /// Make a moving picture of a run
    Movie: movie::Args,
    /// Which other programs are here, and what the absent ones would enable
    Doctor: doctor::Args,
    /// Write completions for a shell
    Completions: completions::Args,
    /// Write the man page
    Man: man::Args,
}

/// Why a command ends badly.
#[derive(Debug)]
enum CommandError {
    /// Wrong usage or bad input: exit code 2.
    Input(anyhow::Error),
    /// The run failed: exit code 1. What it found so far, if anything, for `--json`.
    Run(anyhow::Error, Option<Value>),
    /// A run that went well, but did not find what was expected: exit code 1. What was missed, and the answer.
    Unmet(String, Value),
}

impl CommandError {
    fn input(error: impl Into<anyhow::Error>) -> Self {
        Self::Input(error.into())
    }
}

impl From<anyhow::Error> for CommandError {
    fn from(error: anyhow::Error) -> Self {
        Self::Run(error, None)
    }
}

impl From<EngineError> for CommandError {
    fn from(error: EngineError) -> Self {
        Self::Run(error.into(), None)
    }
}

/// A scene that does not fit is bad input; a tool or device that does not work is a failed run.
fn open_failure(error: OpenError) -> CommandError {
    match error {
        OpenError::Scene(_) | OpenError::Modules { .. } => CommandError::input(error),
        OpenError::Board(_) => CommandError::Run(error.into(), None),
    }
}

/// The command line as it is described to users.
fn command() -> clap::Command {
    applies::annotate(with_negative_numbers(Cli::command()))
}

/// The same, taking numbers below zero for values, not for options: what they are given to says what is wrong with them.
fn with_negative_numbers(command: clap::Command) -> clap::Command {
    let names: Vec<String> = command.get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
    let command = command.mut_args(|arg| match arg.get_action().takes_values() {
        true => arg.allow_negative_numbers(true),
        false => arg,
    });
    names.into_iter().fold(command, |command, name| command.mut_subcommand(name, with_negative_numbers))
}

/// What is wrong with a command line, if anything is: for documents that print some.
pub fn check(words: &[&str]) -> Result<(), String> {
    let read = |matches: ArgMatches| Cli::from_arg_matches(&matches).map(|_| applies::refusal(&matches));
    match command().try_get_matches_from(words).and_then(read) {
        Ok(None) => Ok(()),
        Ok(Some(refusal)) => Err(refusal),
        Err(error) if error.kind() == clap::error::ErrorKind::DisplayHelp => Ok(()),
        Err(error) => Err(error.to_string()),
    }
}

/// The examples that help texts print: every command's, as they stand there.
pub fn examples() -> Vec<String> {
    fn of(command: &clap::Command, found: &mut Vec<String>) {
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        let lines = help.lines().map(str::trim).filter(|line| line.starts_with("nendo "));
        found.extend(lines.map(str::to_owned));
        command.get_subcommands().for_each(|sub| of(sub, found));
    }
    let mut found = Vec::new();
    of(&command(), &mut found);
    found
}

/// Ends with what is wrong with the command line, or with the help that was asked for; `--json` has its object even then.
fn misused(error: &clap::Error) -> ! {
    if error.use_stderr() && env::args().any(|word| word == "--json") {
        let text = error.to_string();
        let text = text.trim_start_matches("error: ").lines().next().unwrap_or_default();
        Console::new(false, true).object(&json!({ "error": text }));
    }
    error.exit()
}

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    let matches = command().try_get_matches().unwrap_or_else(|error| misused(&error));
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| misused(&error));
    interrupt::listen();
    let console = Console::new(cli.quiet, cli.json);
    if cli.quiet {
        progress::hide();
    }
    verilated::announce(move |text| console.say(text));
    let result = match (applies::refusal(&matches), nendo_hdl::tools::check()) {
        (Some(text), _) => Err(CommandError::Input(anyhow!(text))),
        (None, Err(error)) => Err(CommandError::input(error)),
        (None, Ok(())) => cli.command.run(console),
    };
    let (code, error, value) = match result {
        Ok(value) => (0, None, Some(value)),
        Err(CommandError::Unmet(text, value)) => {
            console::complain(&text);
            (1, None, Some(value))
        }
        Err(CommandError::Input(error)) => (2, Some(error), None),
        Err(CommandError::Run(error, value)) => (1, Some(error), value),
    };
    if let Some(error) = &error {
        console::complain(&format!("{error:#}"));
    }
    let mut value = value.unwrap_or_else(|| json!({}));
    // Null: the command has printed its object itself, before its end.
    if cli.json && !value.is_null() {
        if let Some(error) = error {
            value["error"] = json!(format!("{error:#}"));
        }
        console.object(&value);
    }
    ExitCode::from(if console::answered() { code } else { code.max(1) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visit<'a>(command: &'a clap::Command, found: &mut Vec<(&'a str, &'a clap::Arg)>) {
        let out = command.get_arguments().find(|arg| arg.get_id() == "out");
        found.extend(out.map(|arg| (command.get_name(), arg)));
        command.get_subcommands().for_each(|sub| visit(sub, found));
    }

    /// Some commands had `--out` without `-o`, and each said it in its own words.
    #[test]
    fn what_is_written_where_was_said_differently_by_every_command() {
        let all = command();
        let mut found = Vec::new();
        visit(&all, &mut found);
        assert!(found.len() >= 10, "{found:?}");
        for (name, arg) in found {
            let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
            let value = arg.get_value_names().and_then(<[_]>::first).map_or("", |value| value.as_str());
            assert_eq!((arg.get_long(), arg.get_short()), (Some("out"), Some('o')), "{name}");
            let (said, place) =
                if value == "DIR" { ("into this folder", "DIR") } else { ("to this file", "FILE") };
            assert!(help.starts_with("Write ") && help.contains(said), "{name}: {help}");
            assert!(value.starts_with(place), "{name}: {value}");
        }
    }
}
