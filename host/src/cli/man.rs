//! `nendo man`: made from the command line's own description.

use super::{CommandError, Console, completions::deliver};
use anyhow::Context;
use serde_json::Value;
use std::path::PathBuf;

#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  nendo man | man -l -                         read it now
  nendo man -o ~/.local/share/man/man1         one page for each command")]
pub(super) struct Args {
    /// Write a page for every command into this folder, instead of the main page to stdout
    #[arg(long, short, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub(super) fn main(args: &Args, console: Console) -> Result<Value, CommandError> {
    let mut command = super::command();
    command.build();
    let mut pages = Vec::new();
    render(&command, "nendo", &mut pages).context("writing the man page")?;
    let main = pages.first().map(|(_, text)| text.clone()).unwrap_or_default();
    let files: Vec<(PathBuf, Vec<u8>)> = match &args.out {
        Some(folder) => pages.into_iter().map(|(name, text)| (folder.join(name), text)).collect(),
        None => Vec::new(),
    };
    deliver(&main, &files, console)
}

/// The page of a command, then those of its subcommands.
fn render(command: &clap::Command, name: &str, pages: &mut Vec<(String, Vec<u8>)>) -> std::io::Result<()> {
    let mut text = Vec::new();
    clap_mangen::Man::new(command.clone()).title(name.to_uppercase()).render(&mut text)?;
    pages.push((format!("{name}.1"), text));
    for sub in command.get_subcommands().filter(|s| s.get_name() != "help") {
        render(sub, &format!("{name}-{}", sub.get_name()), pages)?;
    }
    Ok(())
}
