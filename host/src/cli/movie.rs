//! `nendo movie`: one run, one scale, a moving picture.

use super::{
    CommandError, Console,
    engine::{Chosen, EngineArgs},
    look::{LookArgs, Taken, check_memory, size, take},
    options::{LengthArgs, SceneArg, scenes_help},
};
use crate::{
    quantity::quantity,
    film::{Film, Kind},
    interrupt,
    picture::{Look, Reel, State},
    progress,
};
use anyhow::anyhow;
use nendo_model::scene::Scene;
use serde_json::{Value, json};
use std::path::PathBuf;

#[derive(clap::Args, Debug)]
#[command(after_help = scenes_help() + "
A run that ends before its time leaves the frames it came to, and exit code 1.
Examples:
  nendo movie cube9 --seconds 5 -o out/cube.gif
  nendo movie scenes/x2-roller.toml --view front --colour strain -o out/roller.gif
  nendo movie cube9 --seconds 5 --frames 50 --size 640x480 -o out/cube.mp4     where ffmpeg is
  nendo movie cube9 --seconds 5 -o out/cube/                                  a folder of PNG files")]
pub(super) struct Args {
    #[command(flatten)]
    scene: SceneArg,
    #[command(flatten)]
    engine: EngineArgs,
    #[command(flatten)]
    length: LengthArgs,
    #[command(flatten)]
    look: LookArgs,
    /// Pixels of a frame
    #[arg(long, value_name = "WxH", default_value = "640x440", value_parser = size)]
    size: (u32, u32),
    /// Frames shown in a second
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=50))]
    fps: u16,
    /// How many frames, evenly over the run [default: those of real time, but from 40 to 200]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    frames: Option<u32>,
    /// Write a folder of PNG files, whatever its name
    #[arg(long)]
    png: bool,
    /// Write the movie to this file: .gif, with ffmpeg .mp4 or .webm; a name with / at its end is a folder for PNG files
    #[arg(long, short, value_name = "FILE")]
    out: PathBuf,
}

/// The steps after which there is a frame: evenly, the first and the last step among them.
fn marks(steps: u64, frames: u32) -> Vec<u64> {
    let frames = u64::from(frames).min(steps.saturating_add(1));
    let at = |k: u64| (u128::from(steps) * u128::from(k) / u128::from((frames - 1).max(1))) as u64;
    // A single frame is the last one.
    if frames == 1 { vec![steps] } else { (0..frames).map(at).collect() }
}

/// As many frames as real time needs, if these can be looked at.
fn usual_frames(seconds: f64, fps: u16) -> u32 {
    (seconds * f64::from(fps)).round().clamp(40.0, 200.0) as u32
}

pub(super) fn main(args: &Args, console: Console) -> Result<Value, CommandError> {
    let look = args.look.look()?;
    let kind = Kind::of(&args.out, args.png).map_err(CommandError::Input)?;
    let scene = args.scene.open()?;
    let steps = args.length.steps(&scene)?;
    let frames = args.frames.unwrap_or_else(|| usual_frames(steps as f64 * scene.step, args.fps));
    let marks = marks(steps, frames);
    check_memory(&scene, marks.len())?;
    let film = Film { kind, file: args.out.clone(), fps: args.fps, size: args.size };
    film.check().map_err(|error| CommandError::Run(error, None))?;
    let Chosen { options, why } = args.engine.choose(&scene, console)?;
    let Taken { mut states, error } = take(&options, &scene, &marks, look.colour)?;
    let Drawn { frames: shown, lost, error: stopped } = draw(&film, &scene, &look, &states)?;
    states.truncate(shown);
    let last = states.last().map_or(0.0, |state| state.time);
    console.say(format!("wrote {}: {shown} frames, {}", args.out.display(), quantity(last, "s")));
    let value = json!({
        "frames": shown, "seconds": last, "file": args.out, "shown_s": shown as f64 / f64::from(args.fps),
        "scene": scene.name, "engine": options.kind, "engine_why": why, "colour": look.colour,
        "out_of_picture": lost,
    });
    match error.or(stopped) {
        None => Ok(value),
        Some(error) => Err(CommandError::Run(anyhow!("{error:#}\n(the movie has the {shown} frames before that)"), Some(value))),
    }
}

/// A movie that was written.
struct Drawn {
    frames: usize,
    /// The most particles that are out of a frame.
    lost: usize,
    /// Why it is shorter than it should be, if it is.
    error: Option<anyhow::Error>,
}

/// Writes a movie of states. Ctrl-C ends it after a frame; once that has ended the run, what there is of it is drawn.
fn draw(film: &Film, scene: &Scene, look: &Look, states: &[State]) -> anyhow::Result<Drawn> {
    let reel = Reel::new(scene, look, film.size, states);
    let bar = progress::bar_of("drawing", states.len() as u64, "frames");
    let before = interrupt::requested();
    let mut draw = |k: usize| {
        bar.set_position(k as u64);
        if interrupt::requested() && !before { Ok(None) } else { reel.frame(k).map(Some) }
    };
    let frames = film.write(states.len(), &mut draw)?;
    bar.finish_and_clear();
    let error = (frames < states.len()).then(|| anyhow!("interrupted after drawing {frames} of {} frames", states.len()));
    Ok(Drawn { frames, lost: reel.out_of_picture(), error })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_even_with_the_first_and_the_last() {
        assert_eq!(marks(10, 3), [0, 5, 10]);
        assert_eq!(marks(2, 5), [0, 1, 2]);
        assert_eq!((marks(7, 1), marks(0, 40)), (vec![7], vec![0]));
        assert_eq!((usual_frames(3.6, 20), usual_frames(0.1, 20), usual_frames(60.0, 20)), (72, 40, 200));
    }
}
