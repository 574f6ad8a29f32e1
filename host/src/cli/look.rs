//! How pictures and movies look, and the states they show.

use super::{CommandError, open_failure};
use crate::{
    engine::{self, EngineOptions},
    picture::{Colour, Cut, Direction, Look, State},
    progress,
};
use anyhow::anyhow;
use nendo_model::scene::Scene;

/// How things are looked at.
#[derive(clap::Args, Debug)]
pub(super) struct LookArgs {
    /// From where: iso, front, back, side, left, top, bottom, or azimuth,elevation in degrees
    #[arg(long, value_name = "VIEW", default_value = "iso", allow_hyphen_values = true)]
    view: Direction,
    /// What colours tell
    #[arg(long, value_enum, default_value_t, value_name = "WHAT")]
    pub(super) colour: Colour,
    /// What the last colour stands for, in m, N or as a share (strain 0.2): the same in several pictures [default: the most there is]
    #[arg(long, value_name = "VALUE", value_parser = above_zero)]
    scale: Option<f64>,
    /// Hide what is before this plane, and show the inside: x=0.04, in metres
    #[arg(long, value_name = "AXIS=PLACE")]
    cut: Option<Cut>,
    /// Show the lattice on the surface
    #[arg(long)]
    edges: bool,
}

fn above_zero(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|v: &f64| v.is_finite() && *v > 0.0).ok_or_else(|| "a number above 0".to_owned())
}

/// The sides of a picture in pixels.
pub(super) fn size(text: &str) -> Result<(u32, u32), String> {
    let sides =
        text.split_once(['x', 'X']).and_then(|(w, h)| Some((w.trim().parse().ok()?, h.trim().parse().ok()?)));
    let fits = |side: &u32| (160..=8000).contains(side);
    sides
        .filter(|(w, h)| fits(w) && fits(h))
        .ok_or_else(|| "width x height in pixels, 160 to 8000 each: 800x600".to_owned())
}

impl LookArgs {
    pub(super) fn look(&self) -> Result<Look, CommandError> {
        if self.scale.is_some() && self.colour == Colour::Material {
            return Err(CommandError::input(anyhow!(
                "--scale: materials have names, no scale; leave it out"
            )));
        }
        let &Self { view, colour, scale, cut, edges } = self;
        Ok(Look { view, colour, scale, cut, edges })
    }
}

/// States of a run, and why it ended before its time, if it did.
pub(super) struct Taken {
    pub(super) states: Vec<State>,
    pub(super) error: Option<anyhow::Error>,
}

/// What the states of a series may take together.
const MOST_MEMORY: u64 = 1 << 30;

/// Refuses a series that would not fit into memory.
pub(super) fn check_memory(scene: &Scene, states: usize) -> Result<(), CommandError> {
    let one = scene.mesh.particles.len() as u64 * 32;
    let needed = one.saturating_mul(states as u64);
    if needed > MOST_MEMORY {
        return Err(CommandError::input(anyhow!(
            "{states} states of {} particles take {:.1} GB of memory: at most {} of them",
            scene.mesh.particles.len(),
            needed as f64 / 1e9,
            MOST_MEMORY / one
        )));
    }
    Ok(())
}

/// Runs a scene; its states after these numbers of steps, which do not fall.
pub(super) fn take(
    options: &EngineOptions,
    scene: &Scene,
    steps: &[u64],
    colour: Colour,
) -> Result<Taken, CommandError> {
    let mut engine =
        progress::during("preparing the engine", || engine::open(scene, options)).map_err(open_failure)?;
    let mut states = Vec::with_capacity(steps.len());
    let last = steps.last().copied().unwrap_or(0);
    // As far as it is sound.
    let mut shoot = |engine: &mut dyn engine::Engine| -> anyhow::Result<()> {
        while steps.get(states.len()).is_some_and(|&due| due <= engine.step()) {
            let positions = engine.positions()?;
            let values = colour.values(scene, &positions, engine)?;
            states.push(State { time: engine.step() as f64 * scene.step, positions, values });
        }
        Ok(())
    };
    let mut run = || -> anyhow::Result<()> {
        shoot(engine.as_mut())?;
        let mut due = steps.iter().copied().filter(|&step| step > 0).peekable();
        let done = progress::in_pieces(&scene.name, last, |n| -> anyhow::Result<bool> {
            let until = engine.step() + n;
            while engine.step() < until {
                while due.next_if(|&step| step <= engine.step()).is_some() {}
                let stop = due.peek().copied().unwrap_or(until).min(until);
                if let Some(failure) = engine::outcome(engine.advance(stop - engine.step()))? {
                    return Err(anyhow!(
                        "after {} of {last} steps: {}",
                        engine.step(),
                        engine::explain(failure)
                    ));
                }
                shoot(engine.as_mut())?;
            }
            Ok(true)
        })?;
        if done < last {
            return Err(anyhow!("interrupted after {done} of {last} steps"));
        }
        engine.close()?;
        Ok(())
    };
    let error = run().err();
    Ok(Taken { states, error })
}
