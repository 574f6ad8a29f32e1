//! The reference of all keys of scene files (docs/scene-keys.md) is the reader's own list.

use super::Scene;
use crate::reader::seen;
use std::{collections::BTreeSet, fmt::Write, fs, path::Path};

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// A scene for every table there is: those that are shipped, and what they do not use.
fn read_everything() {
    for entry in fs::read_dir(root().join("scenes")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "toml") {
            Scene::parse(&fs::read_to_string(&path).unwrap(), "scene").unwrap();
        }
    }
    let box3 = "step = 0.001\nmass = 0.001\n[mesh.box]\nsize = [3, 3, 3]\npitch = 0.01\n[materials.m]\nk1 = 1\nc1 = 1\nc2 = 1\n";
    for more in [
        "[scaling]\nlength = 1.0\n",
        "[[masses]]\non = [0]\nmass = 1\n[[velocities]]\non = [0]\nvelocity = [0, 0, 1]\n",
        "[[links]]\nparticle = 13\nedge = [0, 1]\nstiffness = 1\n",
        "[contact]\nstiffness = 1\n[[boundaries]]\nball = { center = [0, 0, 1], radius = 0.1 }\n",
        "[[measure]]\nname = \"a\"\nof = \"distance\"\non = [0]\nto = { line = [1, 2] }\n",
    ] {
        Scene::parse(&format!("{box3}{more}"), "more").unwrap_or_else(|e| panic!("{more}: {e}"));
    }
}

fn page() -> String {
    seen::take();
    read_everything();
    let seen = seen::take();
    let keys: BTreeSet<&str> = seen.keys().flat_map(|keys| keys.iter().copied()).collect();
    let mut rows: Vec<(String, String)> = Vec::new();
    for (list, names) in &seen {
        // What is no key is a name that users give, as those of materials.
        let mut known: Vec<&str> =
            names.iter().map(String::as_str).filter(|name| keys.contains(name)).collect();
        if known.len() < names.len() {
            known.push(if names.contains("") { "the file itself" } else { "NAME" });
        }
        let names: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
        let list: Vec<String> = list.iter().map(|key| format!("`{key}`")).collect();
        rows.push((names.join(", ").replace("`the file itself`", "the file itself"), list.join(", ")));
    }
    rows.sort();
    let mut page = "# Keys of scene files\n\nThe reader's own list, table by table; [scenes](scenes.md) says what they mean. `NAME` is a \
        name that the user gives, a\nmaterial's for example. All other keys are errors.\n\n| table | keys |\n|---|---|\n"
        .to_owned();
    for (names, list) in rows {
        let _ = writeln!(page, "| {names} | {list} |");
    }
    page
}

#[test]
fn the_reference_of_keys_is_the_readers_own_list() {
    let (page, kept) = (page(), fs::read_to_string(root().join("docs/scene-keys.md")).unwrap_or_default());
    assert!(page == kept, "docs/scene-keys.md is to be:\n{page}");
}

/// A key that the reader knows and the page on scenes does not is one that nobody finds.
#[test]
fn every_key_is_explained() {
    let explained = fs::read_to_string(root().join("docs/scenes.md")).unwrap();
    let words: BTreeSet<&str> =
        explained.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '_')).collect();
    seen::take();
    read_everything();
    let missing: BTreeSet<&str> = seen::take()
        .keys()
        .flat_map(|keys| keys.iter().copied())
        .filter(|key| !words.contains(key))
        .collect();
    assert!(missing.is_empty(), "docs/scenes.md does not mention {missing:?}");
}
