//! `nendo picture`: states of a scene side by side, one row for each material.

use super::{
    CommandError, Console, open_failure,
    engine::{Chosen, EngineArgs},
    options::{SceneArg, scenes_help},
};
use crate::{
    engine::{self, EngineOptions},
    interrupt,
    output::write_whole,
    picture::{self, Panel, Row},
    plot,
};
use anyhow::{Context, anyhow};
use nendo_model::scene::Scene;
use serde_json::{Value, json};
use std::path::PathBuf;

#[derive(clap::Args, Debug)]
#[command(after_help = scenes_help() + "
Examples:
  nendo picture cube9 --at 0,15,30 -o out/cube.png
  nendo picture docs/press.toml --each-material --at 0,0.2,0.6 -o out/press.svg")]
pub(super) struct Args {
    #[command(flatten)]
    scene: SceneArg,
    #[command(flatten)]
    engine: EngineArgs,
    /// Times in seconds, rising [default: start and end]
    #[arg(long, value_name = "T,T,...", value_delimiter = ',')]
    at: Vec<f64>,
    /// One row for every material of the scene, as if all edges had it
    #[arg(long)]
    each_material: bool,
    /// The picture (.svg or .png)
    #[arg(long, short, value_name = "FILE", value_parser = plot::picture_path)]
    out: PathBuf,
}

/// More would be too small to see.
const MAX_PANELS: usize = 64;

pub(super) fn main(args: &Args, console: Console) -> Result<Value, CommandError> {
    let scene = args.scene.open()?;
    let times = if args.at.is_empty() { vec![0.0, scene.duration] } else { args.at.clone() };
    let rising = times.windows(2).all(|w| w[0] < w[1]);
    if !rising || times.iter().any(|t| !(t.is_finite() && *t >= 0.0)) {
        return Err(CommandError::input(anyhow!("--at takes times from 0 on that rise, e.g. 0,0.5,1")));
    }
    let variants: Vec<(String, Scene)> = if args.each_material {
        (0..scene.materials.len())
            .map(|k| {
                let mut one = scene.clone();
                one.edge_material.fill(k as u16);
                (scene.materials[k].name.clone(), one)
            })
            .collect()
    } else {
        vec![(String::new(), scene.clone())]
    };
    if variants.len() * times.len() > MAX_PANELS {
        return Err(CommandError::input(anyhow!(
            "{} pictures in one: at most {MAX_PANELS}",
            variants.len() * times.len()
        )));
    }
    let each: Vec<&Scene> = variants.iter().map(|(_, variant)| variant).collect();
    let Chosen { options, why } = args.engine.choose_for(&each, console)?;
    let mut rows = Vec::new();
    for (title, variant) in &variants {
        rows.push(Row { panels: run(&options, variant, &times)?, title: title.clone() });
    }
    let svg = picture::gallery(&scene, &rows);
    let bytes =
        if args.out.extension().is_some_and(|e| e == "png") { plot::png(&svg)? } else { svg.into_bytes() };
    write_whole(&args.out, &bytes).with_context(|| format!("writing {}", args.out.display()))?;
    console.say(format!("wrote {}", args.out.display()));
    let titles: Vec<&str> = rows.iter().map(|row| row.title.as_str()).collect();
    Ok(
        json!({ "file": args.out, "scene": scene.name, "engine": options.kind, "engine_why": why, "rows": titles, "times_s": times }),
    )
}

/// The states at the given times.
fn run(options: &EngineOptions, scene: &Scene, times: &[f64]) -> Result<Vec<Panel>, CommandError> {
    let mut engine = engine::open(scene, options).map_err(open_failure)?;
    let mut panels = Vec::new();
    for &time in times {
        let until = scene.steps_for(time);
        while engine.step() < until {
            let now = (until - engine.step()).min(100);
            if let Some(failure) = engine::outcome(engine.advance(now))? {
                let text = engine::explain(failure);
                return Err(CommandError::Run(anyhow!("after {} steps: {text}", engine.step()), None));
            }
            if interrupt::requested() {
                return Err(CommandError::Run(anyhow!("interrupted after {} steps", engine.step()), None));
            }
        }
        let title = format!("{} s", (until as f64 * scene.step * 1e6).round() / 1e6);
        panels.push(Panel { positions: engine.positions()?, title });
    }
    engine.close()?;
    Ok(panels)
}
