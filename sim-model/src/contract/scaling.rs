//! Units: which real length, mass and time one raw unit of the engine stands for.
//!
//! Chosen from the scene alone, never from a run, so that the same scene always has the same bits. The
//! estimates are meant to be generous; what they leave is reported as headroom, and a scene that knows
//! better says so in its `[scaling]` table.

use crate::{
    contract::numbers::{Numbers, Profile, State},
    mesh::Vec3,
    scene::{Drive, ScalingRequest, Scene, Timeline},
};
use serde::Serialize;
use std::fmt;

/// The units of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Scaling {
    /// Seconds per time unit.
    pub time: f64,
    /// Metres per length unit.
    pub length: f64,
    /// Kilograms per mass unit.
    pub mass: f64,
    /// The point that becomes zero, in metres.
    pub origin: [f64; 3],
    /// By how many bits the range of velocities is widened.
    pub velocity_exponent: u32,
    /// By how many bits the range of Voigt extensions is widened.
    pub extension_exponent: u32,
    /// The largest force component an element may produce, raw: no sum of such forces overflows.
    pub force_limit: i32,
}

/// How large the scene's quantities are expected to become, in SI units.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Expectation {
    /// Distance from the origin along an axis.
    pub position: f64,
    /// Speed along an axis.
    pub velocity: f64,
    /// Voigt extension.
    pub extension: f64,
    /// Force of an element.
    pub force: f64,
}

/// Ratio of what a word can hold to what the scene is expected to need.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Headroom {
    /// Of positions.
    pub position: f64,
    /// Of velocities.
    pub velocity: f64,
    /// Of Voigt extensions.
    pub extension: f64,
    /// Of element forces.
    pub force: f64,
}

impl Headroom {
    /// Each with its name.
    pub fn each(&self) -> [(&'static str, f64); 4] {
        let Self { position, velocity, extension, force } = *self;
        [("position", position), ("velocity", velocity), ("extension", extension), ("force", force)]
    }

    /// Whether words hold all that is expected.
    pub fn is_enough(&self) -> bool {
        self.each().iter().all(|(_, ratio)| *ratio >= 1.0)
    }
}

impl fmt::Display for Headroom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Rounded down, so that what is too little does not look like enough.
        let each = self.each().map(|(name, ratio)| format!("{name} {:.1}x", (ratio * 10.0).floor() / 10.0));
        f.write_str(&each.join(", "))
    }
}

/// A scale that the profile cannot have.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ScalingError {
    /// An exponent beyond the shifters.
    #[error("scaling.{key} = {value}: profile {profile} allows 0 to {max}")]
    Exponent {
        /// The key in `[scaling]`.
        key: &'static str,
        /// What the scene asks for.
        value: u32,
        /// The profile.
        profile: Profile,
        /// The most it allows.
        max: u32,
    },
}

impl Scaling {
    /// The scaling of a scene under a profile: what it asks for, the rest by estimate.
    pub fn choose(scene: &Scene, profile: Profile) -> Result<Self, ScalingError> {
        Self::fit(scene, profile, &Expectation::of(scene), &scene.scaling)
    }

    /// The scaling that holds what is expected, with some room, where `request` leaves the choice.
    pub fn fit(
        scene: &Scene,
        profile: Profile,
        expected: &Expectation,
        request: &ScalingRequest,
    ) -> Result<Self, ScalingError> {
        let numbers = profile.numbers();
        let (low, high) = scene.mesh.bounds();
        // Where the step is not the unit itself: the papers' ratio, h = 0.01.
        let time = if numbers.unit_step { scene.step } else { request.time.unwrap_or(100.0 * scene.step) };

        // Positions need a unit so large, and so do velocities and extensions even at their widest.
        let widest = 2f64.powi(numbers.max_exponent as i32);
        let position = 1.5 * expected.position / full_scale(numbers.x);
        let velocity = 2.0 * expected.velocity * time / full_scale(numbers.v);
        let extension = 2.0 * expected.extension / full_scale(numbers.u);
        let length = request
            .length
            .unwrap_or_else(|| power_of_two_above(position.max(velocity / widest).max(extension / widest)));
        let exponent = |key, asked: Option<u32>, needed: f64| {
            let max = numbers.max_exponent;
            match asked {
                Some(value) if value > max => Err(ScalingError::Exponent { key, value, profile, max }),
                Some(value) => Ok(value),
                None => Ok((needed.log2().ceil().max(0.0) as u32).min(max)),
            }
        };
        let force_limit = force_limit(numbers, scene);
        let mass = request.mass.unwrap_or_else(|| {
            let unit = length / (time * time);
            let needed = 2.0 * expected.force / unit / (f64::from(force_limit) * numbers.edge_force.lsb());
            match (numbers.unit_step, needed > 0.0) {
                (true, true) => power_of_two_above(needed),
                // Without any load every unit holds the forces: the masses decide.
                (true, false) => smallest_mass(scene),
                (false, _) => power_of_two_above(needed).max(smallest_mass(scene)),
            }
        });
        Ok(Self {
            time,
            length,
            mass,
            origin: ((low + high) / 2.0).into(),
            velocity_exponent: exponent("velocity_exponent", request.velocity_exponent, velocity / length)?,
            extension_exponent: exponent(
                "extension_exponent",
                request.extension_exponent,
                extension / length,
            )?,
            force_limit,
        })
    }

    /// Newtons per force unit.
    pub fn force(&self) -> f64 {
        self.mass * self.length / (self.time * self.time)
    }

    /// Metres per unit in the last place of a stored position.
    pub fn x_lsb(&self, numbers: &Numbers) -> f64 {
        self.length * numbers.x.word().lsb()
    }

    /// Metres per second per unit in the last place of a stored velocity.
    pub fn v_lsb(&self, numbers: &Numbers) -> f64 {
        self.length / self.time * numbers.v.word().lsb() * 2f64.powi(self.velocity_exponent as i32)
    }

    /// Metres per unit in the last place of a stored extension.
    pub fn u_lsb(&self, numbers: &Numbers) -> f64 {
        self.length * numbers.u.word().lsb() * 2f64.powi(self.extension_exponent as i32)
    }

    /// Newtons per unit in the last place of a force.
    pub fn force_lsb(&self, numbers: &Numbers) -> f64 {
        self.force() * numbers.edge_force.lsb()
    }

    /// What the words hold, against what the scene is expected to need.
    pub fn headroom(&self, scene: &Scene, numbers: &Numbers) -> Headroom {
        let e = Expectation::of(scene);
        let ratio = |holds: f64, needs: f64| if needs > 0.0 { holds / needs } else { f64::INFINITY };
        Headroom {
            position: ratio(self.x_lsb(numbers) * numbers.x.word().max() as f64, e.position),
            velocity: ratio(self.v_lsb(numbers) * numbers.v.word().max() as f64, e.velocity),
            extension: ratio(self.u_lsb(numbers) * numbers.u.word().max() as f64, e.extension),
            force: ratio(self.force_lsb(numbers) * f64::from(self.force_limit), e.force),
        }
    }
}

/// The largest value of a state's operand, in units.
fn full_scale(state: State) -> f64 {
    2f64.powi(state.operand_bits() as i32 - 1 - state.frac)
}

fn power_of_two_above(value: f64) -> f64 {
    if value > 0.0 && value.is_finite() { 2f64.powi(value.log2().ceil() as i32) } else { 1.0 }
}

fn smallest_mass(scene: &Scene) -> f64 {
    let free = (0..scene.mass.len()).filter(|&p| scene.becomes_free(p)).map(|p| scene.mass[p]);
    let least = free.fold(f64::INFINITY, f64::min);
    if least.is_finite() { power_of_two_above(least) } else { 1.0 }
}

/// So many forces of this size fit an accumulator as a particle has edges.
/// An element force beyond it is an overflow; below it no order of summation, and no part of a sum, can overflow.
fn force_limit(numbers: &Numbers, scene: &Scene) -> i32 {
    let most = scene.mesh.valences().into_iter().max().unwrap_or(1).max(1);
    (numbers.force_sum.max() / i64::from(most)).min(numbers.edge_force.max()) as i32
}

impl Expectation {
    /// Estimates from the scene's loads: static deflection and creep, terminal and oscillation speed, rigid
    /// drift where nothing holds the object.
    pub fn of(scene: &Scene) -> Self {
        let loads = Loads::of(scene);
        let material = |f: fn(crate::force::Material) -> f64, best: fn(f64, f64) -> f64| {
            scene.materials.iter().map(|m| f(m.material)).reduce(best).unwrap_or(0.0)
        };
        let (k1, k, c) =
            (material(|m| m.k1, f64::min), material(|m| m.k(), f64::min), material(|m| m.c(), f64::min));
        let (k_max, c_max, flow) =
            (material(|m| m.k(), f64::max), material(|m| m.c(), f64::max), material(|m| m.flow(), f64::max));
        let longest = (0..scene.mesh.edges.len()).map(|e| scene.mesh.edge_length(e)).fold(0.0, f64::max);

        // A dragged particle stretches its edges by half its way, at most by their own length.
        let drag = k_max * (loads.way / 2.0).min(longest) + c_max * loads.drag_speed;
        let started = scene.extension.iter().fold(0.0, |a: f64, u| a.max(u.abs()));
        let speed0 = scene.velocity.iter().fold(0.0, |a: f64, v| a.max(v.amax()));
        let force = loads.force.max(drag).max(k_max * started + 2.0 * c_max * speed0);

        let local = |p: f64, m: f64| {
            let terminal = if c > 0.0 { p / c } else { f64::INFINITY };
            let swing = if k > 0.0 { p / (k * m).sqrt() } else { f64::INFINITY };
            terminal.min(swing).min(p / m * scene.duration)
        };
        let lightest = (0..scene.mass.len())
            .filter(|&p| scene.becomes_free(p))
            .map(|p| scene.mass[p])
            .fold(f64::INFINITY, f64::min);
        let local_speed = if lightest.is_finite() { local(force, lightest) } else { 0.0 };
        let drift_speed = if loads.held { 0.0 } else { loads.all / loads.mass * scene.duration };
        let velocity = local_speed.max(drift_speed).max(loads.drag_speed).max(2.0 * speed0);

        let yielding = if k1 > 0.0 { force / k1 } else { longest };
        let extension = yielding.min(longest).max(started);

        let (low, high) = scene.mesh.bounds();
        let creep = force * loads.longest_window * flow;
        let drift =
            if loads.held { 0.0 } else { 0.5 * loads.net / loads.mass * scene.duration * scene.duration };
        let stretch = (extension + creep).min(2.0 * (high - low).max());
        let flight = speed0.max(loads.throw) * scene.duration;
        let position = (high - low).max() / 2.0 + stretch.max(loads.way) + drift + flight;
        Self { position, velocity, extension, force }
    }

    /// Nothing seen yet.
    pub const ZERO: Self = Self { position: 0.0, velocity: 0.0, extension: 0.0, force: 0.0 };

    /// Takes the present state of a rehearsal into account: positions and velocities, extensions and forces of elements.
    pub fn observe(
        &mut self,
        scene: &Scene,
        (x, v): (&[Vec3], &[Vec3]),
        elements: impl Iterator<Item = (f64, Vec3)>,
    ) {
        let (low, high) = scene.mesh.bounds();
        let origin = (low + high) / 2.0;
        for (x, v) in x.iter().zip(v) {
            self.position = self.position.max((x - origin).amax());
            self.velocity = self.velocity.max(v.amax());
        }
        for (extension, force) in elements {
            self.extension = self.extension.max(extension.abs());
            self.force = self.force.max(force.amax());
        }
    }
}

/// What acts on a scene.
struct Loads {
    /// Largest force on one particle, or on one edge at the support that carries it all.
    force: f64,
    /// Sum of the sizes of all forces, and size of their sum, each at its largest.
    all: f64,
    net: f64,
    /// Mass of all free particles.
    mass: f64,
    /// Longest time a force acts.
    longest_window: f64,
    /// Largest displacement and speed that is prescribed.
    way: f64,
    drag_speed: f64,
    /// Largest component of a velocity with which a moved particle is let go.
    throw: f64,
    /// Whether anything is always pinned or moved.
    held: bool,
}

impl Loads {
    fn of(scene: &Scene) -> Self {
        let timeline = Timeline::new(scene);
        let mut now = vec![Vec3::zeros(); scene.mass.len()];
        let (mut force, mut way, mut drag_speed) = (0f64, 0f64, 0f64);
        let (mut all, mut net) = (0f64, 0f64);
        let (mut thrown, mut throw) = (vec![0.0; scene.mass.len()], 0f64);
        let (mut sum, mut sizes) = (Vec3::zeros(), 0.0);
        for change in &timeline.changes {
            match change.drive {
                Drive::Force(f) => {
                    let p = change.particle as usize;
                    sum += f - now[p];
                    sizes += f.norm() - now[p].norm();
                    now[p] = f;
                    force = force.max(f.norm());
                    (all, net) = (all.max(sizes), net.max(sum.norm()));
                }
                Drive::Move(segment) => {
                    way = way.max(segment.target.norm());
                    drag_speed = drag_speed.max(segment.velocity.amax());
                    thrown[change.particle as usize] = segment.velocity.amax();
                }
                Drive::Release { at_rest: false, .. } => {
                    throw = throw.max(thrown[change.particle as usize]);
                }
                Drive::Release { at_rest: true, .. } => {}
            }
        }
        let carries = |e: &&[u32; 2]| scene.is_free(e[0] as usize) != scene.is_free(e[1] as usize);
        let held_edges = scene.mesh.edges.iter().filter(carries).count();
        let held = (0..scene.mass.len()).any(|p| !scene.becomes_free(p));
        if held_edges > 0 {
            // More for a load that comes suddenly, and for edges that carry more than their share.
            let uneven = (held_edges as f64).min(3.0);
            force = force.max(1.5 * uneven * all / held_edges as f64);
        }
        let window = |f: &crate::scene::Load| f.to.min(scene.duration) - f.from;
        let pulled = scene.loads.iter().map(window).fold(0.0, f64::max);
        // Somebody's pull, which may come at any time and last.
        let hand = scene.scaling.force.unwrap_or(0.0);
        (force, all, net) = (force.max(hand), all + hand, net + hand);
        let lasts = scene.gravity != Vec3::zeros() || hand > 0.0;
        let longest_window = if lasts { scene.duration } else { pulled };
        let mass = (0..scene.mass.len()).filter(|&p| scene.becomes_free(p)).map(|p| scene.mass[p]).sum();
        Self { force, all, net, mass, longest_window, way, drag_speed, throw, held }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_scenes_get_the_papers_units() {
        let cube = Scene::open("cube9").unwrap();
        let wide = Scaling::choose(&cube, Profile::Wide).unwrap();
        assert_eq!(
            (wide.time, wide.length, wide.velocity_exponent, wide.extension_exponent),
            (0.001, 1.0, 0, 0)
        );
        let paper = Scaling::choose(&cube, Profile::Paper2005).unwrap();
        assert_eq!((paper.time, paper.length, paper.mass), (0.1, 1.0, 1.0));
    }

    #[test]
    fn requests_win_or_are_refused() {
        let mut scene = Scene::open("cube9").unwrap();
        scene.scaling.velocity_exponent = Some(3);
        scene.scaling.length = Some(2.0);
        let s = Scaling::choose(&scene, Profile::Wide).unwrap();
        assert_eq!((s.velocity_exponent, s.length), (3, 2.0));
        assert!(matches!(Scaling::choose(&scene, Profile::Paper2003), Err(ScalingError::Exponent { .. })));
        scene.scaling.velocity_exponent = None;
        scene.scaling.time = Some(0.5);
        assert_eq!(Scaling::choose(&scene, Profile::Paper2003).unwrap().time, 0.5);
    }

    #[test]
    fn the_force_limit_leaves_room_for_every_sum() {
        let cube = Scene::open("cube9").unwrap();
        for profile in Profile::ALL {
            let numbers = profile.numbers();
            let limit = i64::from(Scaling::choose(&cube, profile).unwrap().force_limit);
            let most = i64::from(cube.mesh.valences().into_iter().max().unwrap());
            assert!(limit * most <= numbers.force_sum.max());
        }
    }
}
