//! Options that several commands share.

use super::CommandError;
use nendo_model::{
    contract::{
        config::Config,
        numbers::{Inverse, Profile},
    },
    scene::{BUILTIN_HELP, Scene},
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
        Scene::open(&self.scene).map_err(CommandError::input)
    }
}

/// How many main modules there can be.
pub(super) fn modules_range() -> clap::builder::RangedI64ValueParser<u16> {
    clap::value_parser!(u16).range(1..=Config::MAX_MODULES as i64)
}

/// Number contract and circuits.
#[derive(clap::Args, Debug)]
pub(super) struct HardwareArgs {
    /// Number contract: paper-2003, paper-2005 or wide [default: wide]
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

    /// The standard memories, in as many modules as are asked for.
    pub(super) fn standard(&self) -> Config {
        Config { modules: self.modules() as u64, ..Config::minimal(self.profile(), self.inverse()) }
    }

    pub(super) fn inverse(&self) -> Inverse {
        self.inverse.unwrap_or_else(|| self.profile().usual_inverse())
    }
}

/// How long to run.
#[derive(clap::Args, Debug)]
pub(super) struct LengthArgs {
    /// Run so many steps
    #[arg(long, value_name = "N", conflicts_with = "seconds")]
    steps: Option<u64>,
    /// Run so many simulated seconds [default: the scene's duration]
    #[arg(long, value_name = "T", value_parser = seconds)]
    seconds: Option<f64>,
}

fn seconds(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|t: &f64| t.is_finite() && *t >= 0.0)
        .ok_or_else(|| "a number of seconds, zero or more".to_owned())
}

impl LengthArgs {
    pub(super) fn steps(&self, scene: &Scene) -> u64 {
        self.steps.unwrap_or_else(|| scene.steps_for(self.seconds.unwrap_or(scene.duration)))
    }
}

/// The built-in scenes, for help texts.
pub(super) fn scenes_help() -> String {
    format!("Built-in scenes: {BUILTIN_HELP}")
}
