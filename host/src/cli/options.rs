//! Options that several commands share.

use super::CommandError;
use crate::{
    output::{try_file, try_folder},
    progress,
};
use anyhow::{Context, anyhow};
use nendo_model::{
    contract::{
        config::Config,
        numbers::{Inverse, Profile},
    },
    scene::{BUILTIN_HELP, Scene},
};
use std::{
    io,
    path::{Path, PathBuf},
};

/// The scene to work on.
#[derive(clap::Args, Debug)]
pub(super) struct SceneArg {
    /// A scene file (TOML), or one of the built-in scenes: table3, single, cube9, block16, materials, box:NXxNYxNZ, chain:LAW
    #[arg(value_name = "SCENE")]
    pub(super) scene: String,
}

impl SceneArg {
    pub(super) fn open(&self) -> Result<Scene, CommandError> {
        open_scene(&self.scene)
    }
}

/// A scene by its file or name.
pub(super) fn open_scene(name: &str) -> Result<Scene, CommandError> {
    progress::during(&format!("reading {name}"), || Scene::open(name)).map_err(CommandError::input)
}

/// How many main modules there can be.
pub(super) fn modules_range() -> clap::builder::RangedI64ValueParser<u16> {
    clap::value_parser!(u16).range(1..=Config::MAX_MODULES as i64)
}

/// Number contract and circuits.
#[derive(clap::Args, Clone, Debug)]
pub(super) struct HardwareArgs {
    /// Number contract: paper-2003, paper-2005 or wide; paper-2005-plain without hardware [default: wide]
    #[arg(long, value_name = "P")]
    profile: Option<Profile>,
    /// Circuit of the inverse length: cordic or table [default: cordic for the paper profiles, else table]
    #[arg(long, value_name = "FORM")]
    inverse: Option<Inverse>,
    /// Main modules that share the work, 1 to 128; results do not depend on it [default: 1, or what a board has]
    #[arg(long, value_name = "N", value_parser = modules_range())]
    modules: Option<u16>,
}

impl HardwareArgs {
    pub(super) fn profile(&self) -> Profile {
        self.profile.unwrap_or_default()
    }

    /// Whether anything is asked for.
    pub(super) fn is_given(&self) -> bool {
        self.profile.is_some() || self.inverse.is_some() || self.modules.is_some()
    }

    /// How many modules are asked for.
    pub(super) fn asked_modules(&self) -> Option<usize> {
        self.modules.map(usize::from)
    }

    /// How many modules are to be built.
    pub(super) fn modules(&self) -> usize {
        self.asked_modules().unwrap_or(1)
    }

    /// The standard memories, in as many modules as are asked for, if there is hardware in the profile.
    pub(super) fn standard(&self) -> Result<Config, CommandError> {
        let profile = self.profile().in_hardware().map_err(CommandError::input)?;
        Ok(Config { modules: self.modules() as u64, ..Config::minimal(profile, self.inverse()) })
    }

    pub(super) fn inverse(&self) -> Inverse {
        self.inverse.unwrap_or_else(|| self.profile().usual_inverse())
    }
}

/// Looks before long work whether its files can be written.
pub(super) fn try_outputs<'a>(
    folders: impl IntoIterator<Item = &'a PathBuf>,
    files: impl IntoIterator<Item = &'a PathBuf>,
) -> Result<(), CommandError> {
    let tried = |path: &Path, result: io::Result<()>| {
        let said = result.with_context(|| format!("{} cannot be written", path.display()));
        said.map_err(|error| CommandError::Run(error, None))
    };
    folders.into_iter().try_for_each(|folder| tried(folder, try_folder(folder)))?;
    files.into_iter().try_for_each(|file| tried(file, try_file(file)))
}

/// A quantity: infinite where that has a meaning, but a number.
pub(super) fn quantity(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|n: &f64| !n.is_nan()).ok_or_else(|| "a number".to_owned())
}

/// How long to run.
#[derive(clap::Args, Clone, Debug)]
pub(super) struct LengthArgs {
    /// Run so many steps
    #[arg(long, value_name = "N", conflicts_with = "seconds", value_parser = steps)]
    steps: Option<u64>,
    /// Run so many simulated seconds [default: the scene's duration]
    #[arg(long, value_name = "T", value_parser = seconds)]
    seconds: Option<f64>,
}

/// More cannot be told apart as times.
const MOST_STEPS: u64 = 1 << 53;

fn steps(text: &str) -> Result<u64, String> {
    let number = text.parse().ok().filter(|n| *n <= MOST_STEPS);
    number.ok_or_else(|| format!("a whole number of steps, 0 to {MOST_STEPS}"))
}

fn seconds(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|t: &f64| t.is_finite() && *t >= 0.0)
        .ok_or_else(|| "a number of seconds, zero or more".to_owned())
}

impl LengthArgs {
    pub(super) fn steps(&self, scene: &Scene) -> Result<u64, CommandError> {
        let seconds = self.seconds.unwrap_or(scene.duration);
        let steps = self.steps.unwrap_or_else(|| scene.steps_for(seconds));
        match steps <= MOST_STEPS {
            true => Ok(steps),
            false => Err(CommandError::input(anyhow!(
                "{seconds} s are {:.0e} steps of {} s; a run has at most {MOST_STEPS}: give fewer --seconds",
                seconds / scene.step,
                scene.step
            ))),
        }
    }
}

/// The built-in scenes, for help texts.
pub(super) fn scenes_help() -> String {
    format!("Built-in scenes: {BUILTIN_HELP}")
}
