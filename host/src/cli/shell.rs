//! `nendo completions` and `nendo man`: made from the command line's own description.

use super::{Cli, CommandError, Console};
use crate::output::write_whole;
use anyhow::Context;
use clap::CommandFactory;
use serde_json::{Value, json};
use std::{io::Write, path::PathBuf};

#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  nendo completions bash > ~/.local/share/bash-completion/completions/nendo
  nendo completions zsh -o ~/.zfunc/_nendo
  nendo completions fish -o ~/.config/fish/completions/nendo.fish")]
pub(super) struct CompletionsArgs {
    /// The shell
    shell: clap_complete::Shell,
    /// Write to this file instead of stdout
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
}

pub(super) fn completions(
    args: &CompletionsArgs,
    json: bool,
    console: Console,
) -> Result<Value, CommandError> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "nendo", &mut text);
    let file = args.out.as_ref().map(|path| (path.clone(), text.clone()));
    deliver(&text, file.as_slice(), json, console)
}

#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  nendo man | man -l -                         read it now
  nendo man -o ~/.local/share/man/man1         one page for each command")]
pub(super) struct ManArgs {
    /// Write a page for every command into this folder, instead of the main page to stdout
    #[arg(long, short, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub(super) fn man(args: &ManArgs, json: bool, console: Console) -> Result<Value, CommandError> {
    let mut command = Cli::command();
    command.build();
    let mut pages = Vec::new();
    render(&command, "nendo", &mut pages).context("writing the man page")?;
    let main = pages.first().map(|(_, text)| text.clone()).unwrap_or_default();
    let files: Vec<(PathBuf, Vec<u8>)> = match &args.out {
        Some(folder) => pages.into_iter().map(|(name, text)| (folder.join(name), text)).collect(),
        None => Vec::new(),
    };
    deliver(&main, &files, json, console)
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

/// Into files; or else to stdout, within the object if that must be JSON.
fn deliver(
    text: &[u8],
    files: &[(PathBuf, Vec<u8>)],
    json: bool,
    console: Console,
) -> Result<Value, CommandError> {
    for (path, text) in files {
        write_whole(path, text).with_context(|| format!("writing {}", path.display()))?;
        console.say(format!("wrote {}", path.display()));
    }
    let paths: Vec<&PathBuf> = files.iter().map(|(path, _)| path).collect();
    if files.is_empty() && !json {
        let mut stdout = std::io::stdout().lock();
        // A reader that has seen enough is no failure.
        match stdout.write_all(text).and_then(|()| stdout.flush()) {
            Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => return Err(anyhow::Error::from(e).into()),
            _ => {}
        }
    }
    Ok(json!({ "files": paths, "text": files.is_empty().then(|| String::from_utf8_lossy(text)) }))
}
