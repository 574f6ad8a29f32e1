//! `nendo completions`: made from the command line's own description.

use super::{CommandError, Console};
use crate::output::write_whole;
use anyhow::Context;
use serde_json::{Value, json};
use std::path::PathBuf;

#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  nendo completions bash > ~/.local/share/bash-completion/completions/nendo
  nendo completions zsh -o ~/.zfunc/_nendo
  nendo completions fish -o ~/.config/fish/completions/nendo.fish")]
pub(super) struct Args {
    /// The shell
    shell: clap_complete::Shell,
    /// Write to this file instead of stdout
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
}

pub(super) fn main(args: &Args, console: Console) -> Result<Value, CommandError> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut super::command(), "nendo", &mut text);
    let file = args.out.as_ref().map(|path| (path.clone(), text.clone()));
    deliver(&text, file.as_slice(), console)
}

/// Into files; or else to stdout, within the object if that must be JSON.
pub(super) fn deliver(text: &[u8], files: &[(PathBuf, Vec<u8>)], console: Console) -> Result<Value, CommandError> {
    for (path, text) in files {
        write_whole(path, text).with_context(|| format!("writing {}", path.display()))?;
        console.say(format!("wrote {}", path.display()));
    }
    let paths: Vec<&PathBuf> = files.iter().map(|(path, _)| path).collect();
    if files.is_empty() {
        console.answer(String::from_utf8_lossy(text).trim_end());
    }
    Ok(json!({ "files": paths, "text": files.is_empty().then(|| String::from_utf8_lossy(text)) }))
}
