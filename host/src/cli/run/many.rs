//! Several scenes one after another, and a table of how they went.

use super::{Args, others::Others, run};
use crate::{
    cli::{CommandError, Console},
    export::{measures::aligned, quantity::quantity},
    interrupt,
};
use anyhow::anyhow;
use serde_json::{Value, json};
use std::{
    collections::HashMap,
    path::{Path, PathBuf},
};

/// How a scene went.
struct Row {
    scene: String,
    /// What it says of itself; nothing if it did not begin.
    value: Option<Value>,
    /// What went wrong.
    error: Option<String>,
    /// Whether it is the scene, or what was asked of it, that is wrong.
    is_input: bool,
}

pub(super) fn run_all(args: &Args, others: &mut Others, console: Console) -> Result<Value, CommandError> {
    args.check_one_only()?;
    let folders = folders(args)?;
    let mut rows = Vec::new();
    for (scene, folder) in args.scenes.iter().zip(folders) {
        if interrupt::requested() {
            break;
        }
        let one = Args { out: folder, ..args.clone() };
        let (value, error, is_input) = match run(&one, scene, others, console.for_a_part()) {
            Ok(value) => (Some(value), None, false),
            Err(CommandError::Unmet(text, value)) => (Some(value), Some(text), false),
            Err(CommandError::Run(error, value)) => (value, Some(format!("{error:#}")), false),
            Err(CommandError::Input(error)) => (None, Some(format!("{error:#}")), true),
        };
        if let Some(error) = &error {
            console.say(format!("{scene}: {error}"));
        }
        rows.push(Row { scene: scene.clone(), value, error, is_input });
    }
    conclude(args, &rows, console)
}

/// The answer of all.
fn conclude(args: &Args, rows: &[Row], console: Console) -> Result<Value, CommandError> {
    let head = ["scene", "engine", "simulated", "took", "measures", ""].map(str::to_owned);
    let table: Vec<[String; 6]> = [head].into_iter().chain(rows.iter().map(Row::cells)).collect();
    console.answer(aligned(&table).join("\n"));
    let verdicts: Vec<&Value> =
        rows.iter().filter_map(|row| row.value.as_ref()).map(|value| &value["measures_ok"]).collect();
    let measures_ok = match verdicts.iter().any(|ok| **ok == false) {
        true => Some(false),
        false => verdicts.iter().any(|ok| **ok == true).then_some(true),
    };
    let runs: Vec<Value> = rows.iter().map(Row::json).collect();
    let value = json!({ "runs": runs, "measures_ok": measures_ok });
    let failed: Vec<&Row> = rows.iter().filter(|row| row.error.is_some()).collect();
    let left = args.scenes.len() - rows.len();
    if left > 0 {
        return Err(CommandError::Run(anyhow!("interrupted: {left} of {} scenes did not run", args.scenes.len()), Some(value)));
    }
    if failed.is_empty() {
        return Ok(value);
    }
    let text = format!("{} of {} scenes went wrong", failed.len(), rows.len());
    match failed.iter().all(|row| row.is_input) && failed.len() == rows.len() {
        true => Err(CommandError::input(anyhow!(text))),
        false => Err(CommandError::Unmet(text, value)),
    }
}

impl Row {
    fn cells(&self) -> [String; 6] {
        let value = self.value.as_ref();
        let text = |key: &str| value.and_then(|v| v[key].as_str()).unwrap_or("").to_owned();
        let seconds = |key: &str| value.and_then(|v| v[key].as_f64()).map_or(String::new(), |s| quantity(s, "s"));
        let expected: Vec<&Value> = value
            .and_then(|v| v["measures"].as_array())
            .map_or(Vec::new(), |all| all.iter().filter(|measure| !measure["expected"].is_null()).collect());
        let met = expected.iter().filter(|measure| measure["ok"] == true).count();
        let measures = match expected.len() {
            0 => "none".to_owned(),
            all => format!("{met} of {all} met"),
        };
        let error = self.error.as_deref().map_or(String::new(), |error| {
            let first = error.lines().next().unwrap_or_default();
            let short: String = first.chars().take(100).collect();
            if short.len() < first.len() { format!("{short} ...") } else { short }
        });
        let measures = if value.is_some() { measures } else { String::new() };
        [self.scene.clone(), text("engine"), seconds("simulated_s"), seconds("wall_s"), measures, error]
    }

    fn json(&self) -> Value {
        let mut value = self.value.clone().unwrap_or_else(|| json!({ "scene": self.scene }));
        value["file"] = json!(self.scene);
        if let (Some(error), false) = (&self.error, value["measures_ok"] == false) {
            value["error"] = json!(error);
        }
        value
    }
}

/// A folder for each scene in the one that is asked for, named as its file.
fn folders(args: &Args) -> Result<Vec<Option<PathBuf>>, CommandError> {
    let Some(folder) = &args.out else { return Ok(vec![None; args.scenes.len()]) };
    let mut taken: HashMap<String, &str> = HashMap::new();
    let mut folders = Vec::new();
    for scene in &args.scenes {
        let name = Path::new(scene).file_stem().map_or_else(|| scene.clone(), |stem| stem.to_string_lossy().into_owned());
        let name = name.replace(':', "-");
        if let Some(other) = taken.insert(name.clone(), scene) {
            let text = format!("{other} and {scene} would both be in {}: run them one by one", folder.join(&name).display());
            return Err(CommandError::input(anyhow!(text)));
        }
        folders.push(Some(folder.join(name)));
    }
    Ok(folders)
}

impl Args {
    /// Refuses what is about one scene alone.
    fn check_one_only(&self) -> Result<(), CommandError> {
        let given = [
            ("--shuffle-edges", self.shuffle_edges.is_some()),
            ("--probe-edge", self.probe_edge.is_some()),
            ("--trace", self.trace.is_some()),
            ("--record", self.engine.records()),
            ("--live", self.live),
            ("--watch", !self.watch.is_empty()),
            ("--resume", self.resume.is_some()),
        ];
        match given.iter().find(|(_, given)| *given) {
            Some((option, _)) => {
                Err(CommandError::input(anyhow!("{option} goes with one scene; {} are given", self.scenes.len())))
            }
            None => Ok(()),
        }
    }
}
