//! Options that several commands share.

use super::{CommandError, Console};
use crate::{
    board::Completion,
    device::{DeviceSpec, registry},
    engine::{EngineKind, EngineOptions},
};
use nendo_model::{
    contract::{
        config::Config,
        numbers::{Inverse, Profile},
    },
    engine::{reference::Integrator, stability::Stability},
    scene::{BUILTIN_HELP, Scene},
};
use std::path::PathBuf;

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
    /// Number contract: paper-2003, paper-2005 or wide
    #[arg(long, default_value_t, value_name = "P")]
    pub(super) profile: Profile,
    /// Circuit of the inverse length: cordic or table [default: cordic for the paper profiles, else table]
    #[arg(long, value_name = "FORM")]
    inverse: Option<Inverse>,
    /// Main modules that share the work, 1 to 128; results do not depend on it [default: 1, or what a board has]
    #[arg(long, value_name = "N", value_parser = modules_range())]
    modules: Option<u16>,
}

impl HardwareArgs {
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
        Config { modules: self.modules() as u64, ..Config::minimal(self.profile, self.inverse()) }
    }

    pub(super) fn inverse(&self) -> Inverse {
        self.inverse.unwrap_or_else(|| self.profile.usual_inverse())
    }
}

/// The engine to run on.
#[derive(clap::Args, Debug)]
pub(super) struct EngineArgs {
    /// What computes the scene
    #[arg(long, value_enum, default_value_t = EngineKind::Model, value_name = "E")]
    pub(super) engine: EngineKind,
    #[command(flatten)]
    pub(super) hardware: HardwareArgs,
    /// Threads of the CPU engines; results do not depend on it [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    #[arg(long, default_value = "rtl", value_name = "DEVICE", help = format!("The board: {}", registry::help()))]
    pub(super) device: DeviceSpec,
    /// Record all traffic with the board to this file, for --device replay:FILE
    #[arg(long, value_name = "FILE.jsonl")]
    pub(super) record: Option<PathBuf>,
    /// How to wait for the board
    #[arg(long, value_enum, default_value_t, value_name = "HOW")]
    completion: Completion,
    /// How the f64 engine takes a step: euler (as the hardware does) or rk4
    #[arg(long, default_value = "euler", value_name = "METHOD", value_parser = integrator)]
    pub(super) integrator: Integrator,
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

impl EngineArgs {
    pub(super) fn options(&self) -> EngineOptions {
        let all = || std::thread::available_parallelism().map_or(1, usize::from);
        EngineOptions {
            kind: self.engine,
            profile: self.hardware.profile,
            inverse: self.hardware.inverse(),
            modules: self.hardware.asked_modules(),
            threads: self.threads.map_or_else(all, usize::from),
            edge_order: None,
            integrator: self.integrator,
            trace: false,
            device: self.device.clone(),
            record: self.record.clone(),
            completion: self.completion,
        }
    }

    /// Refuses a scene whose step is too long, unless forced.
    pub(super) fn check_stability(&self, scene: &Scene, console: Console) -> Result<(), CommandError> {
        let integrator = if self.engine == EngineKind::F64 { self.integrator } else { Integrator::Euler };
        let stability = Stability::of(scene, integrator);
        if stability.is_stable() {
            return Ok(());
        }
        let text = unstable(&stability);
        if self.force {
            console.say(format!("warning: {text}; running all the same"));
            return Ok(());
        }
        Err(CommandError::input(anyhow::anyhow!("{text}; shorten `step`, or use --force")))
    }
}

/// What is wrong with a step that is too long.
pub(super) fn unstable(stability: &Stability) -> String {
    let Stability { step, largest_step, limited_by, .. } = stability;
    if *largest_step == 0.0 {
        return "no step is stable: an undamped spring (c1 = 0, c2 = inf) grows under explicit Euler; give it some c1".to_owned();
    }
    format!(
        "a step of {step} s is unstable here: the largest stable step is {largest_step:.3e} s, set by {limited_by}"
    )
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
