//! The floor plan: no room of a crate uses one that uses it, and every path that the front door names is there.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// All files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found.sort();
    found
}

/// The module a file is, from the crate's root; none for tests.
fn module(source: &Path, file: &Path) -> Option<Vec<String>> {
    let inner = file.strip_prefix(source).unwrap().with_extension("");
    let mut path: Vec<String> = inner.iter().map(|part| part.to_str().unwrap().to_owned()).collect();
    if matches!(path.last().map(String::as_str), Some("mod" | "lib" | "main")) {
        path.pop();
    }
    let tests = ["tests", "testing", "fuzz"];
    (!path.iter().any(|part| tests.contains(&part.as_str()))).then_some(path)
}

/// The paths of a `use` tree, each without its last name's alias.
fn leaves(tree: &str, prefix: &str, found: &mut Vec<String>) {
    let tree = tree.trim();
    let Some((head, rest)) = tree.split_once('{') else {
        found.push(format!("{prefix}{}", tree.split(" as ").next().unwrap_or_default().trim()));
        return;
    };
    let inner = rest.rsplit_once('}').map_or(rest, |(inner, _)| inner);
    let (mut depth, mut start) = (0, 0);
    for (at, c) in inner.char_indices().chain([(inner.len(), ',')]) {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                let part = &inner[start..at];
                if !part.trim().is_empty() {
                    leaves(part, &format!("{prefix}{}", head.trim()), found);
                }
                start = at + 1;
            }
            _ => {}
        }
    }
}

/// What code outside tests refers to in its own crate, as paths from the crate's root.
fn references(text: &str, me: &[String]) -> Vec<Vec<String>> {
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let code: String =
        code.lines().filter(|l| !l.trim_start().starts_with("//")).map(|l| format!("{l}\n")).collect();
    let mut found = Vec::new();
    for (at, _) in code.match_indices("use ") {
        let tree = code[at + 4..].split(';').next().unwrap_or_default();
        if tree.starts_with("crate") || tree.starts_with("super") || tree.starts_with("self") {
            leaves(tree, "", &mut found);
        }
    }
    for (at, _) in code.match_indices("crate::") {
        let path = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':';
        found.push(code[at..].chars().take_while(|c| path(*c)).collect());
    }
    let absolute = |path: String| {
        let mut base = me.to_vec();
        let mut parts = path.split("::").peekable();
        match parts.peek().copied() {
            Some("crate") => base.clear(),
            Some("self") => {}
            _ => {
                while parts.peek() == Some(&"super") {
                    parts.next();
                    base.pop();
                }
                return base.into_iter().chain(parts.map(str::to_owned)).collect();
            }
        }
        parts.next();
        base.into_iter().chain(parts.map(str::to_owned)).collect::<Vec<_>>()
    };
    found.into_iter().map(absolute).collect()
}

/// Edges between modules that have the same parent.
type Edges = BTreeMap<Vec<String>, BTreeMap<String, BTreeSet<String>>>;

fn edges(source: &Path) -> Edges {
    let mut edges = Edges::new();
    let modules: Vec<(PathBuf, Vec<String>)> = files(source)
        .into_iter()
        .filter(|f| f.extension().is_some_and(|e| e == "rs"))
        .filter_map(|f| Some((f.clone(), module(source, &f)?)))
        .collect();
    let known: BTreeSet<&[String]> =
        modules.iter().flat_map(|(_, m)| (1..=m.len()).map(|n| &m[..n])).collect();
    for (file, me) in &modules {
        let text = fs::read_to_string(file).unwrap();
        for path in references(&text, me) {
            let same = me.iter().zip(&path).take_while(|(a, b)| a == b).count();
            // A module below its own parent, or the other way round, is no edge between siblings.
            let (Some(from), Some(to)) = (me.get(same), path.get(same)) else { continue };
            if known.contains(&path[..=same]) {
                let siblings = edges.entry(me[..same].to_vec()).or_default();
                siblings.entry(from.clone()).or_default().insert(to.clone());
            }
        }
    }
    edges
}

/// A round trip, if there is one.
fn cycle(graph: &BTreeMap<String, BTreeSet<String>>) -> Option<Vec<String>> {
    fn visit<'a>(
        at: &'a str,
        graph: &'a BTreeMap<String, BTreeSet<String>>,
        way: &mut Vec<&'a str>,
        done: &mut BTreeSet<&'a str>,
    ) -> Option<Vec<String>> {
        if let Some(start) = way.iter().position(|m| *m == at) {
            return Some(way[start..].iter().chain([&at]).map(|m| (*m).to_owned()).collect());
        }
        if !done.insert(at) {
            return None;
        }
        way.push(at);
        let found = graph.get(at).into_iter().flatten().find_map(|next| visit(next, graph, way, done));
        way.pop();
        found
    }
    let mut done = BTreeSet::new();
    graph.keys().find_map(|start| visit(start, graph, &mut Vec::new(), &mut done))
}

#[test]
fn modules_do_not_use_each_other_in_a_circle() {
    let mut circles = Vec::new();
    for krate in ["sim-model", "hdl", "host"] {
        let edges = edges(&root().join(krate).join("src"));
        assert!(edges[&Vec::new()].len() > 3, "{krate}: the rooms are looked at");
        for (parent, graph) in &edges {
            let place = [&[krate.to_owned()], &parent[..]].concat().join("::");
            circles.extend(cycle(graph).map(|circle| format!("{place}: {}", circle.join(" -> "))));
        }
    }
    assert!(circles.is_empty(), "\n{}", circles.join("\n"));
}

#[test]
fn a_circle_would_be_found() {
    let text =
        "use crate::{a::{x, y}, b::z as w};\nuse super::c;\nfn f() { crate::d::e() }\n// crate::no::no\n";
    let found = references(text, &["here".to_owned(), "there".to_owned()]);
    let found: Vec<String> = found.iter().map(|path| path.join("::")).collect();
    for path in ["a::x", "a::y", "b::z", "here::c", "d::e"] {
        assert!(found.contains(&path.to_owned()), "{path} in {found:?}");
    }
    assert!(!found.iter().any(|path| path.contains("no")));
    let graph = |pairs: &[(&str, &str)]| {
        let mut graph: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (from, to) in pairs {
            graph.entry((*from).to_owned()).or_default().insert((*to).to_owned());
        }
        graph
    };
    assert_eq!(cycle(&graph(&[("a", "b"), ("b", "c"), ("a", "c")])), None);
    assert_eq!(cycle(&graph(&[("a", "b"), ("b", "c"), ("c", "b")])).unwrap(), ["b", "c", "b"]);
}

/// A crate's Rust sources outside tests: name from the repository's root, and code without comments and unit tests.
fn sources(krate: &str) -> Vec<(String, String)> {
    let source = root().join(krate).join("src");
    let rust = files(&source).into_iter().filter(|f| f.extension().is_some_and(|e| e == "rs"));
    rust.filter(|file| module(&source, file).is_some())
        .map(|file| {
            let text = fs::read_to_string(&file).unwrap();
            let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
            let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
            let name = file.strip_prefix(root()).unwrap().display().to_string();
            (name, lines.map(|line| format!("{line}\n")).collect())
        })
        .collect()
}

/// What makes, replaces or removes a file.
const FILE_MAKERS: [&str; 10] = [
    "fs::write(",
    "File::create",
    "fs::rename(",
    "fs::copy(",
    "remove_file(",
    "remove_dir",
    ".create(true)",
    ".create_new(",
    "create_dir",
    ".truncate(true)",
];

/// Every writer had a way of its own: some deleted what was there, some replaced devices, some said nothing of a full disk.
#[test]
fn files_are_written_in_one_way() {
    // The one way; and the store of compiled circuits, in a folder of its own where nobody else's files are, and each whole
    // before it has its name.
    let ways = |file: &str| file.starts_with("host/src/output") || file.starts_with("hdl/src/sim/verilated/");
    let mut makers = BTreeMap::new();
    for krate in ["sim-model", "hdl", "host"] {
        for (file, code) in sources(krate) {
            let found: Vec<&str> = FILE_MAKERS.into_iter().filter(|maker| code.contains(maker)).collect();
            if !found.is_empty() {
                makers.insert(file, found);
            }
        }
    }
    assert!(makers.contains_key("host/src/output.rs"), "the search finds the one way itself");
    let others: Vec<_> = makers.iter().filter(|(file, _)| !ways(file)).collect();
    assert!(others.is_empty(), "these write on their own, not through host/src/output.rs: {others:#?}");
}

/// Paths in a page's code spans that must be there: those that begin with a folder or file of the repository.
fn paths(page: &str) -> Vec<&str> {
    let spans = page.split('`').skip(1).step_by(2).flat_map(str::split_whitespace);
    let links = page.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next());
    let tops = ["sim-model/", "hdl/", "host/", "tests/", "bitstreams/", "scripts/", "scenes/", "docs/"];
    let known = |word: &&str| tops.iter().any(|top| word.starts_with(top));
    let plain = |word: &&str| !word.contains(['*', '<', '{', '$', '[', '|']);
    spans
        .chain(links)
        .map(|word| word.trim_end_matches([',', '.', ':', ';', ')']))
        .filter(known)
        .filter(plain)
        .collect()
}

/// ARCHITECTURE.md and all other pages name files that are there.
#[test]
fn every_path_that_a_page_names_exists() {
    let root = root();
    let pages = ["ARCHITECTURE.md", "CONTRIBUTING.md", "README.md"].map(|page| root.join(page));
    let pages = pages
        .into_iter()
        .chain(files(&root.join("docs")).into_iter().filter(|f| f.extension().is_some_and(|e| e == "md")));
    let (mut looked_at, mut missing) = (0, Vec::new());
    for page in pages {
        let text = fs::read_to_string(&page).unwrap();
        for path in paths(&text) {
            looked_at += 1;
            if !root.join(path).exists() {
                missing.push(format!("{}: {path}", page.strip_prefix(&root).unwrap().display()));
            }
        }
    }
    assert!(looked_at > 60, "{looked_at} paths found");
    assert!(missing.is_empty(), "\n{}", missing.join("\n"));
}
