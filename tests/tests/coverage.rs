//! How much of the generated engine the co-simulation exercises: every line, and how many bits both ways.

use nendo_hdl::sim::verilated::{Coverage, SimOptions};
use nendo_host::{board::Board, cosim::Lockstep, device::rtl::Rtl};
use nendo_model::{
    contract::{
        config::Config,
        numbers::{Inverse, Profile},
    },
    testing,
};
use std::{collections::BTreeMap, path::Path};

/// Lines that need not be reached, each with its reason. None is needed so far.
const WAIVERS: [(&str, &str); 0] = [];

/// Points of a kind by module: reached and all. And the lines that were not reached.
fn points(file: &Path, kind: &str) -> (BTreeMap<String, (u32, u32)>, Vec<String>) {
    let mut modules: BTreeMap<String, (u32, u32)> = BTreeMap::new();
    let mut missed = Vec::new();
    let text = std::fs::read_to_string(file).unwrap();
    for line in text.lines().filter(|l| l.starts_with("C '")) {
        let Some((point, count)) = line.rsplit_once("' ") else { continue };
        // Fields are separated by \x01, keys from values by \x02.
        let fields: BTreeMap<&str, &str> =
            point[3..].split('\u{1}').filter_map(|f| f.split_once('\u{2}')).collect();
        let Some(module) = fields.get("page").and_then(|p| p.strip_prefix(kind)) else { continue };
        let entry = modules.entry(module.to_owned()).or_default();
        entry.1 += 1;
        if count.trim() != "0" {
            entry.0 += 1;
        } else {
            missed.push(format!("{module} line {}", fields.get("l").unwrap_or(&"?")));
        }
    }
    (modules, missed)
}

fn sum(modules: &BTreeMap<String, (u32, u32)>) -> (u32, u32) {
    modules.values().fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1))
}

/// Lock steps of random images on a circuit with counters; the data file is written to `file`.
fn exercise(coverage: Coverage, file: &Path) {
    let (profile, inverse) = (Profile::Wide, Inverse::Table);
    let config = Config::minimal(profile, inverse);
    let mut runner = testing::runner();
    let mut device = Rtl::new(&config, SimOptions { coverage, ..SimOptions::default() }).unwrap();
    for round in 0..30 {
        let image = testing::sample(testing::images_of(profile, inverse, round % 2 == 0), &mut runner);
        let mut lockstep = Lockstep::new(Board::open(device).unwrap(), image).unwrap();
        for _ in 0..4 {
            assert!(lockstep.step().unwrap(), "{:?}", lockstep.report());
        }
        device = lockstep.into_device();
    }
    device.coverage(file).unwrap();
}

#[test]
fn every_line_is_reached() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("coverage.dat");
    // `scripts/measure-coverage` counts bits, too, which takes minutes to compile.
    let toggles = std::env::var_os("NENDO_TOGGLES").is_some();
    exercise(if toggles { Coverage::LinesAndToggles } else { Coverage::Lines }, &file);

    let (lines, missed) = points(&file, "v_line/");
    let missed: Vec<&String> =
        missed.iter().filter(|m| !WAIVERS.iter().any(|(w, _)| m.starts_with(w))).collect();
    let (reached, all) = sum(&lines);
    println!("line coverage: {reached} of {all}");
    assert!(all > 300 && missed.is_empty(), "{missed:?}");
    if toggles {
        let (toggles, _) = points(&file, "v_toggle/");
        let (reached, all) = sum(&toggles);
        println!(
            "toggle coverage: {reached} of {all} bits ({:.1} %)",
            100.0 * f64::from(reached) / f64::from(all)
        );
        for (module, (reached, all)) in toggles.iter().filter(|(_, (r, a))| r < a) {
            println!("  {module}: {reached} of {all}");
        }
        assert!(f64::from(reached) > 0.9 * f64::from(all), "{reached} of {all}");
    }
}
