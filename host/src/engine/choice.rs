//! Which engine for a scene: the one asked for, or the first that can compute it.

use super::{EngineKind, EngineOptions};
use clap::{ValueEnum, builder::PossibleValue};
use nendo_model::{
    contract::{config::Config, image::Image, numbers::Profile, scaling::Scaling},
    engine::cpu::Cpu,
    plan::loaded::{LoadError, check_modules},
    scene::Scene,
};
use serde::{Deserialize, Serialize};
use std::fmt;

/// An engine as users ask for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum EngineChoice {
    /// The first of [`AUTO`] that can compute the scene.
    #[default]
    Auto,
    /// This one.
    #[serde(untagged)]
    One(EngineKind),
}

/// The engines that are tried, in this order, where none is asked for: the hardware's numbers if they hold the scene.
pub const AUTO: [EngineKind; 3] = [EngineKind::Model, EngineKind::F32, EngineKind::F64];

impl EngineChoice {
    /// As users write it.
    pub const ALL: [Self; 7] = [
        Self::Auto,
        Self::One(EngineKind::F64),
        Self::One(EngineKind::F32),
        Self::One(EngineKind::Hybrid),
        Self::One(EngineKind::Model),
        Self::One(EngineKind::Rtl),
        Self::One(EngineKind::Board),
    ];
}

impl ValueEnum for EngineChoice {
    fn value_variants<'a>() -> &'a [Self] {
        &Self::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        match self {
            Self::Auto => Some(
                PossibleValue::new("auto")
                    .help("The model where it can compute the scene, else f32; it says which, and why"),
            ),
            Self::One(kind) => kind.to_possible_value(),
        }
    }
}

/// The engine taken, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taken {
    /// Which.
    pub kind: EngineKind,
    /// In words.
    pub why: String,
}

/// No engine can compute a scene: each that was tried, and why not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoEngine(pub Vec<(EngineKind, String)>);

impl fmt::Display for NoEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let each: Vec<String> = self.0.iter().map(|(kind, why)| format!("{}: {why}", kind.name())).collect();
        f.write_str(&each.join("\n"))
    }
}

impl std::error::Error for NoEngine {}

/// Engines as a sentence lists them, with `and` or `or` before the last.
pub fn names(engines: &[EngineKind], and: &str) -> String {
    let names: Vec<&str> = engines.iter().map(|kind| kind.name()).collect();
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} {and} {last}", rest.join(", ")),
        _ => names.concat(),
    }
}

/// What keeps an engine from computing a scene, if anything does. How long a step may be is
/// [`Stability`](nendo_model::engine::stability::Stability)'s business.
pub fn hindrance(scene: &Scene, kind: EngineKind, options: &EngineOptions) -> Option<String> {
    match kind {
        EngineKind::F64 => None,
        EngineKind::F32 => Cpu::check(scene).err().map(|e| e.to_string()),
        EngineKind::Hybrid | EngineKind::Model | EngineKind::Rtl | EngineKind::Board => {
            match Image::new(scene, options.profile, options.inverse) {
                Ok(image) => too_little(scene, options.profile)
                    .or_else(|| too_large(&image, kind, options).map(|e| e.to_string())),
                Err(error) => Some(error.to_string()),
            }
        }
    }
}

/// What is wrong with words that hold less than the scene is expected to need.
pub fn too_little(scene: &Scene, profile: Profile) -> Option<String> {
    let room = Scaling::choose(scene, profile).ok()?.headroom(scene, profile.numbers());
    (!room.is_enough()).then(|| {
        format!(
            "profile {profile} holds less than the scene is expected to need: headroom {room}; below 1 it will overflow \
             (leave [scaling] out, or let `nendo scene check --rehearse` suggest one)"
        )
    })
}

/// More than fits hardware of one memory per module; the plan of several says it exactly.
fn too_large(image: &Image, kind: EngineKind, options: &EngineOptions) -> Option<LoadError> {
    if kind == EngineKind::Hybrid {
        return None;
    }
    let modules = options.modules.unwrap_or(1);
    if let (EngineKind::Rtl | EngineKind::Board, Err(none)) = (kind, options.profile.in_hardware()) {
        return Some(none.into());
    }
    if let Err(error) = check_modules(image, modules) {
        return Some(error);
    }
    let share = |n: usize| n.div_ceil(modules) as u64;
    let (particles, edges) = (share(image.particles.len()), share(image.edges.len()));
    let beyond = particles > Config::MAX_PARTICLES || edges > Config::MAX_EDGES;
    (kind != EngineKind::Model && beyond).then_some(LoadError::TooLarge { particles, edges })
}

/// The first of some engines that can compute all of some scenes.
pub fn first_able(
    engines: &[EngineKind],
    scenes: &[&Scene],
    options: &EngineOptions,
) -> Result<Taken, NoEngine> {
    let mut unable = Vec::new();
    for &kind in engines {
        match scenes.iter().find_map(|scene| hindrance(scene, kind, options)) {
            Some(why) => unable.push((kind, why)),
            None => {
                let why = match (unable.is_empty(), engines) {
                    (false, _) => NoEngine(unable).to_string(),
                    (true, [_]) => "the only one that goes with the options given".to_owned(),
                    (true, _) => format!("the first of {} that can compute the scene", names(engines, "and")),
                };
                return Ok(Taken { kind, why });
            }
        }
    }
    Err(NoEngine(unable))
}
