//! The option `--target` of several commands: a built-in target, or a folder of the user's.

use super::CommandError;
use anyhow::anyhow;
use nendo_hdl::target::{Target, TargetError};
use std::fmt::Write;

/// Opens what `--target` names.
pub(super) fn open(target: &str) -> Result<Target, CommandError> {
    Target::open(target).map_err(|error| match error {
        TargetError::Unknown { .. } => CommandError::input(error),
        _ => CommandError::Input(anyhow!("{error} (docs/synthesis.md, \"Your own board\", has every key)")),
    })
}

/// The option's help: every built-in target's name.
pub(super) fn help() -> String {
    format!("Device: {}; or the folder of your own, with its target.toml", names())
}

fn names() -> String {
    Target::names().collect::<Vec<_>>().join(", ")
}

/// The most spacious of the built-in targets, for examples.
pub(super) fn largest() -> String {
    Target::all().into_iter().max_by_key(|target| target.luts).map_or_else(String::new, |target| target.name)
}

/// A line for each built-in target: its name, its part and its flow.
pub(super) fn list() -> String {
    let mut text = String::new();
    for Target { name, part, flow, .. } in Target::all() {
        let _ = writeln!(text, "{name:<12} {part:<22} {flow}");
    }
    text.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_is_no_target_says_where_keys_are_explained() {
        let folder = tempfile::tempdir().unwrap();
        let Err(CommandError::Input(error)) = open(folder.path().to_str().unwrap()) else {
            panic!("no target")
        };
        let text = error.to_string();
        assert!(text.contains("target.toml") && text.contains("docs/synthesis.md"), "{text}");
    }

    #[test]
    fn every_target_is_in_the_help() {
        for name in Target::names() {
            assert!(help().contains(name) && list().contains(name), "{name}");
        }
    }
}
