//! How many modules are the fastest on a target: every number that it has room for.

use super::{CommandError, HardwareArgs, clock, has_room};
use crate::interrupt;
use anyhow::anyhow;
use nendo_hdl::target::Target;
use nendo_model::{
    contract::{config::Config, image::Image},
    plan::{cycles::Depths, loaded::Loaded, schedule::Schedule},
    scene::Scene,
};

/// So many of the best sketches are planned.
const PLANNED: usize = 3;

/// The fastest engine for a scene.
pub(super) struct Fastest {
    /// Its plan.
    pub(super) loaded: Loaded,
    /// The numbers of modules that there is room for, with what the scene needs of memory; of those that are certain to
    /// be slower, by the least that they need.
    pub(super) room_for: Vec<u64>,
}

/// What a scene's engine on a target would take with so many modules, but for its plan.
struct Search<'a> {
    target: &'a Target,
    image: &'a Image,
}

impl Search<'_> {
    fn steps_per_s(&self, modules: u64, cycles: u64) -> f64 {
        clock(self.target, modules).0.mhz * 1e6 / cycles as f64
    }

    fn depths(&self, modules: u64) -> Depths {
        Depths::of(self.image.profile, self.image.inverse, modules)
    }

    /// Whether there is room if the work is shared evenly, which no plan does with less.
    fn may_have_room(&self, modules: u64) -> bool {
        let share = |of: usize| (of as u64).div_ceil(modules);
        let Image { profile, inverse, .. } = *self.image;
        let even = Config { modules, ..Config::minimal(profile, inverse) }
            .holding(share(self.image.particles.len()), share(self.image.edges.len()));
        has_room(self.target, &even)
    }

    /// No engine with so many modules takes more steps.
    fn bound(&self, modules: u64) -> f64 {
        let slots = (self.image.edges.len() as u64).div_ceil(modules) as u32;
        self.steps_per_s(modules, self.depths(modules).cycles_per_step(slots, 0))
    }
}

/// The fastest engine for a scene that a target has room for. Plans of every number of modules are sketched, the most
/// first, but where even a plan without a bubble would be slower than a sketch that there is; the best three are planned.
pub(super) fn fastest(
    target: &Target,
    hardware: &HardwareArgs,
    scene: &Scene,
) -> Result<Option<Fastest>, CommandError> {
    hardware.standard()?;
    let image = Image::new(scene, hardware.profile(), hardware.inverse()).map_err(CommandError::input)?;
    let search = Search { target, image: &image };
    let most = Config::MAX_MODULES.min(image.particles.len() as u64);
    let mut room_for: Vec<u64> = (1..=most).filter(|&modules| search.may_have_room(modules)).collect();
    let mut sketches: Vec<(f64, u64)> = Vec::new();
    for modules in room_for.clone().into_iter().rev() {
        if interrupt::requested() {
            return Err(CommandError::Run(anyhow!("interrupted"), None));
        }
        let third = sketches.get(PLANNED - 1).map_or(0.0, |&(steps_per_s, _)| steps_per_s);
        if search.bound(modules) <= third {
            continue;
        }
        let sketch = Schedule::sketch_of(&image, modules as usize);
        if has_room(target, &sketch.config(image.profile, image.inverse)) {
            sketches.push((search.steps_per_s(modules, sketch.cycles_per_step()), modules));
            sketches.sort_by(|a, b| b.0.total_cmp(&a.0));
        } else {
            room_for.retain(|other| *other != modules);
        }
    }
    let mut best: Option<(f64, Loaded)> = None;
    for &(_, modules) in sketches.iter().take(PLANNED) {
        let loaded = Loaded::new(image.clone(), modules as usize).map_err(CommandError::input)?;
        let steps_per_s = search.steps_per_s(modules, loaded.plan.cycles_per_step());
        if has_room(target, &loaded.config) && best.as_ref().is_none_or(|(other, _)| steps_per_s > *other) {
            best = Some((steps_per_s, loaded));
        }
    }
    Ok(best.map(|(_, loaded)| Fastest { loaded, room_for }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{Args, FromArgMatches};

    /// The most modules were taken: beyond 4, 16 and 64 modules a word takes a clock more each way, and a small scene is
    /// slower on them. Every number is planned here, one by one.
    #[test]
    fn the_fastest_number_of_modules_is_not_the_most() {
        let matches = HardwareArgs::augment_args(clap::Command::new("estimate")).get_matches_from(["estimate"]);
        let hardware = HardwareArgs::from_arg_matches(&matches).unwrap();
        let targets = Target::all();
        let of = |name: &str| targets.iter().find(|target| target.name == name).unwrap();
        let (large, small) = (of("vcu118"), of("xc2v6000"));
        for (target, scene, at_most) in [
            (large, "single", 2),
            (large, "box:5x1x1", 4),
            (large, "box:17x1x1", 16),
            (large, "box:3x3x3", 27),
            (small, "box:4x4x2", 32),
            (small, "cube9", 101),
        ] {
            let scene = Scene::open(scene).unwrap();
            let found = fastest(target, &hardware, &scene).ok().flatten().unwrap();
            let image = &found.loaded.image;
            let rate = |modules: u64, cycles: u64| clock(target, modules).0.mhz * 1e6 / cycles as f64;
            let best = found
                .room_for
                .iter()
                .map(|&modules| Loaded::planned(image.clone(), modules as usize))
                .filter(|loaded| has_room(target, &loaded.config))
                .map(|loaded| rate(loaded.config.modules, loaded.plan.cycles_per_step()))
                .fold(0.0, f64::max);
            let modules = found.loaded.config.modules;
            let taken = rate(modules, found.loaded.plan.cycles_per_step());
            assert_eq!(taken, best, "{} on {}: {modules} modules", scene.name, target.name);
            assert!(found.room_for.contains(&modules));
            assert!(modules <= at_most, "{}: {modules} modules", scene.name);
        }
    }
}
