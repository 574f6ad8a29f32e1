//! `nendo picture`: states of a scene side by side, one row for each material.

use super::{
    CommandError, Console,
    engine::{Chosen, EngineArgs},
    look::{LookArgs, Taken, check_memory, size, take},
    options::{SceneArg, scenes_help, try_outputs},
};
use crate::{
    output::write_whole,
    picture::{self, Caption, Panel, Row},
    plot,
};
use anyhow::{Context, anyhow};
use nendo_model::scene::Scene;
use serde_json::{Value, json};
use std::path::PathBuf;

#[derive(clap::Args, Debug)]
#[command(after_help = scenes_help() + "
All states are drawn on one scale. Particles that flew away are left out, and counted below.
Examples:
  nendo picture cube9 --at 0,15,30 -o out/cube.png
  nendo picture cube9 --view side --colour strain --edges --size 900x500 -o out/cube.png
  nendo picture cube9 --colour force --cut y=0 -o out/inside.png
  nendo picture docs/press.toml --each-material --at 0,0.2,0.6 -o out/press.svg")]
pub(super) struct Args {
    #[command(flatten)]
    scene: SceneArg,
    #[command(flatten)]
    engine: EngineArgs,
    #[command(flatten)]
    look: LookArgs,
    /// Pixels of the whole picture [default: 400x300 for each state]
    #[arg(long, value_name = "WxH", value_parser = size)]
    size: Option<(u32, u32)>,
    /// Times in seconds, rising [default: start and end]
    #[arg(long, value_name = "T,T,...", value_delimiter = ',')]
    at: Vec<f64>,
    /// One row for every material of the scene, as if all edges had it
    #[arg(long, conflicts_with = "record")]
    each_material: bool,
    /// Write to this file (.svg or .png)
    #[arg(long, short, value_name = "FILE", value_parser = plot::picture_path)]
    out: PathBuf,
}

/// More would be too small to see.
const MAX_PANELS: usize = 64;

pub(super) fn main(args: &Args, console: Console) -> Result<Value, CommandError> {
    let look = args.look.look()?;
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
    let count = variants.len() * times.len();
    if count > MAX_PANELS {
        return Err(CommandError::input(anyhow!("{count} pictures in one: at most {MAX_PANELS}")));
    }
    check_memory(&scene, count)?;
    try_outputs(None, [&args.out])?;
    let each: Vec<&Scene> = variants.iter().map(|(_, variant)| variant).collect();
    let Chosen { options, why } = args.engine.choose_for(&each, console)?;
    let steps: Vec<u64> = times.iter().map(|&time| scene.steps_for(time)).collect();
    let (mut rows, mut ended) = (Vec::new(), None);
    for (title, variant) in &variants {
        let Taken { states, error } = take(&options, variant, &steps, look.colour)?;
        let titled = |time: f64| format!("{} s", (time * 1e6).round() / 1e6);
        let panels = states.into_iter().map(|state| Panel { title: titled(state.time), state }).collect();
        rows.push(Row { panels, title: title.clone() });
        ended = error;
        if ended.is_some() {
            break;
        }
    }
    // What was computed is drawn, however it ended.
    let svg = picture::sheet(&scene, &look, args.size, &rows, &Caption::default());
    let bytes =
        if args.out.extension().is_some_and(|e| e == "png") { plot::png(&svg)? } else { svg.into_bytes() };
    write_whole(&args.out, &bytes).with_context(|| format!("writing {}", args.out.display()))?;
    console.say(format!("wrote {}", args.out.display()));
    let titles: Vec<&str> = rows.iter().map(|row| row.title.as_str()).collect();
    let drawn: usize = rows.iter().map(|row| row.panels.len()).sum();
    let value = json!({
        "file": args.out, "scene": scene.name, "engine": options.kind, "engine_why": why, "rows": titles,
        "times_s": times, "pictures": drawn, "colour": look.colour,
    });
    match ended {
        None => Ok(value),
        Some(error) => Err(CommandError::Run(error, Some(value))),
    }
}
