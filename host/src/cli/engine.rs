//! `--engine` and its options, and the engine that is taken for a scene.

use super::{CommandError, Console, applies, options::HardwareArgs};
use crate::{
    board::Completion,
    device::{DeviceSpec, registry},
    engine::{
        EngineKind, EngineOptions,
        choice::{EngineChoice, NoEngine, Taken, first_able, too_little},
    },
    progress,
};
use anyhow::anyhow;
use clap::{ArgMatches, Args, Command, FromArgMatches};
use nendo_model::{
    engine::{reference::Integrator, stability::Stability},
    scene::Scene,
};
use std::path::PathBuf;

/// The engine to run on. Which options go with which engine, [`applies`] says.
#[derive(Clone, Debug)]
pub(super) struct EngineArgs {
    words: Words,
    /// Those to choose from, where none is asked for.
    candidates: Vec<EngineKind>,
}

#[derive(clap::Args, Clone, Debug)]
struct Words {
    /// What computes the scene
    #[arg(long, value_enum, default_value_t, value_name = "E")]
    engine: EngineChoice,
    #[command(flatten)]
    hardware: HardwareArgs,
    /// Threads to compute on; results do not depend on it [default: as many as there are cores, f32 fewer while others use
    /// them, too]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    #[arg(long, value_name = "DEVICE", help = format!("The board: {} [default: rtl]", registry::help()))]
    device: Option<DeviceSpec>,
    /// Record all traffic with the board to this file, for --device replay:FILE
    #[arg(long, value_name = "FILE.jsonl")]
    record: Option<PathBuf>,
    /// How to wait for the board
    #[arg(long, value_enum, default_value_t, value_name = "HOW")]
    completion: Completion,
    /// How a step is taken: euler (as the hardware does) or rk4
    #[arg(long, default_value = "euler", value_name = "METHOD", value_parser = integrator)]
    integrator: Integrator,
    /// Run even if the step is too long for the scene to be stable
    #[arg(long)]
    force: bool,
}

fn integrator(text: &str) -> Result<Integrator, String> {
    match text {
        "euler" => Ok(Integrator::Euler),
        "rk4" => Ok(Integrator::Rk4),
        _ => Err("euler or rk4".to_owned()),
    }
}

impl Args for EngineArgs {
    fn augment_args(command: Command) -> Command {
        Words::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Words::augment_args_for_update(command)
    }
}

impl FromArgMatches for EngineArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self { words: Words::from_arg_matches(matches)?, candidates: applies::candidates(matches) })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// An engine for a scene, and why this one.
#[derive(Debug)]
pub(super) struct Chosen {
    pub(super) options: EngineOptions,
    pub(super) why: String,
}

impl EngineArgs {
    /// Whether traffic is to be recorded.
    pub(super) fn records(&self) -> bool {
        self.words.record.is_some()
    }

    /// The engine for a scene: the one asked for, or the first that can compute it. Refuses a step that is too long for
    /// it, unless forced.
    pub(super) fn choose(&self, scene: &Scene, console: Console) -> Result<Chosen, CommandError> {
        self.choose_for(&[scene], console)
    }

    /// One engine for several scenes.
    pub(super) fn choose_for(&self, scenes: &[&Scene], console: Console) -> Result<Chosen, CommandError> {
        progress::during("looking which engine can compute it, and how long a step may be", || {
            self.look_for(scenes, console)
        })
    }

    fn look_for(&self, scenes: &[&Scene], console: Console) -> Result<Chosen, CommandError> {
        let mut options = self.options()?;
        let why = match self.words.engine {
            EngineChoice::One(kind) => {
                options.kind = kind;
                "asked for".to_owned()
            }
            EngineChoice::Auto => {
                let Taken { kind, why } = self.first_able(scenes, &options)?;
                options.kind = kind;
                console.say(format!("engine {}: {why}", kind.name()));
                why
            }
        };
        for scene in scenes {
            warn_of_overflow(scene, &options, console);
            self.check_stability(scene, &options, console)?;
        }
        Ok(Chosen { options, why })
    }

    /// Which engine was asked for, and which there are to choose from.
    pub(super) fn asked(&self) -> (EngineChoice, &[EngineKind]) {
        (self.words.engine, &self.candidates)
    }

    pub(super) fn modules(&self) -> usize {
        self.words.hardware.modules()
    }

    fn first_able(&self, scenes: &[&Scene], options: &EngineOptions) -> Result<Taken, CommandError> {
        if let [EngineKind::Board] = self.candidates[..] {
            return Ok(Taken { kind: EngineKind::Board, why: "a device is named".to_owned() });
        }
        first_able(&self.candidates, scenes, options).map_err(|none: NoEngine| {
            let hint = match self.candidates[..] {
                [one] => format!(
                    "the options given need --engine {0}, which cannot compute this scene; leave them out, or \
                     --engine {0} tries it all the same",
                    one.name()
                ),
                _ => "no engine can compute this scene".to_owned(),
            };
            CommandError::input(anyhow!("{none}\n{hint}"))
        })
    }

    /// How the engine is made, whichever it will be.
    fn options(&self) -> Result<EngineOptions, CommandError> {
        let words = &self.words;
        let device = words.device.clone().unwrap_or_else(DeviceSpec::rtl);
        let board = matches!(words.engine, EngineChoice::One(EngineKind::Board)) || words.device.is_some();
        if words.threads.is_some() && board && !device.has_threads() {
            let text = "--threads goes with --device model; any other computes by itself: leave it out";
            return Err(CommandError::input(anyhow!("{text}")));
        }
        let all = || std::thread::available_parallelism().map_or(1, usize::from);
        Ok(EngineOptions {
            profile: words.hardware.profile(),
            inverse: words.hardware.inverse(),
            modules: words.hardware.asked_modules(),
            threads: words.threads.map_or_else(all, usize::from),
            considerate: words.threads.is_none(),
            integrator: words.integrator,
            device,
            record: words.record.clone(),
            completion: words.completion,
            ..EngineOptions::default()
        })
    }

    fn check_stability(
        &self,
        scene: &Scene,
        options: &EngineOptions,
        console: Console,
    ) -> Result<(), CommandError> {
        let integrator = if options.kind == EngineKind::F64 { options.integrator } else { Integrator::Euler };
        let stability = Stability::of(scene, integrator);
        let Some(text) = stability.complaint() else { return Ok(()) };
        if self.words.force {
            console.say(format!("warning: {text}; running all the same"));
            return Ok(());
        }
        Err(CommandError::input(anyhow!("{text}; {}or use --force", remedies(scene, &stability))))
    }
}

/// An engine that was asked for runs; but nobody should be surprised.
fn warn_of_overflow(scene: &Scene, options: &EngineOptions, console: Console) {
    if let Some(text) = too_little(scene, options.profile).filter(|_| options.kind.is_fixed_point()) {
        console.say(format!("warning: {text}"));
    }
}

/// What helps where a step is too long, each with a comma behind it.
pub(super) fn remedies(scene: &Scene, stability: &Stability) -> String {
    let shorter = if stability.largest_step > 0.0 { "shorten `step`, " } else { "" };
    let rk4 = Stability::of(scene, Integrator::Rk4).is_stable();
    format!("{shorter}{}", if rk4 { "take --engine f64 --integrator rk4, " } else { "" })
}
