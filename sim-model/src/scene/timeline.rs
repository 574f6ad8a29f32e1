//! When what changes: forces and prescribed velocities as a list of events at whole steps.
//!
//! Engines never ask "which force acts now"; they run to the next event, apply it and go on. A board is
//! driven the same way, so every engine sees the same values from the same step on.

use super::{Motion, Scene, Support};
use crate::{mesh::Vec3, trajectory::Trajectory};

/// A straight piece of a prescribed motion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Segment {
    /// Displacement from the initial position at its end, in metres.
    pub target: Vec3,
    /// Its velocity in m/s.
    pub velocity: Vec3,
    /// How many steps it takes; zero for standing still from here on.
    pub steps: u64,
}

/// What happens to a particle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Drive {
    /// The external force on it (gravity included) is now this, in newtons.
    Force(Vec3),
    /// It now moves along this segment.
    Move(Segment),
    /// From now on forces move it.
    Release {
        /// Its mass in kilograms.
        mass: f64,
        /// Whether it starts at rest, not with the velocity it has.
        at_rest: bool,
    },
}

impl Drive {
    /// The velocity that it gives, if it gives one.
    pub fn velocity(self) -> Option<Vec3> {
        match self {
            Self::Move(segment) => Some(segment.velocity),
            Self::Release { at_rest: true, .. } => Some(Vec3::zeros()),
            Self::Release { at_rest: false, .. } | Self::Force(_) => None,
        }
    }
}

/// One change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// Before this step is computed.
    pub step: u64,
    /// The particle.
    pub particle: u32,
    /// What happens.
    pub drive: Drive,
}

/// All changes of a scene, in order of steps.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timeline {
    /// The changes, sorted by step and particle.
    pub changes: Vec<Change>,
}

impl Timeline {
    /// The changes a scene prescribes.
    pub fn new(scene: &Scene) -> Self {
        let mut changes = motion_changes(scene);
        changes.extend(force_changes(scene));
        changes.sort_by_key(|c| (c.step, c.particle));
        Self { changes }
    }
}

fn force_changes(scene: &Scene) -> Vec<Change> {
    let step_of = |t: f64| if t.is_finite() { scene.steps_for(t) } else { u64::MAX };
    // Start and end of every window, per particle.
    let mut windows: Vec<(u32, u64, u64, Vec3)> = Vec::new();
    for force in &scene.loads {
        let (from, to) = (step_of(force.from.max(0.0)), step_of(force.to));
        windows.extend(force.particles.iter().filter(|_| from < to).map(|&p| (p, from, to, force.force)));
    }
    windows.sort_by_key(|w| w.0);
    let mut changes = Vec::new();
    let mut rest = windows.as_slice();
    for particle in 0..scene.mesh.particles.len() as u32 {
        let mine = rest.iter().take_while(|w| w.0 == particle).count();
        let (mine, others) = rest.split_at(mine);
        rest = others;
        // A force on a held particle moves nothing.
        let Some(first) = free_from(scene, particle as usize) else { continue };
        let weight = scene.gravity * scene.mass[particle as usize];
        let mut moments: Vec<u64> = mine.iter().flat_map(|w| [w.1, w.2]).filter(|&s| s != u64::MAX).collect();
        moments.push(0);
        moments.iter_mut().for_each(|moment| *moment = (*moment).max(first));
        moments.sort_unstable();
        moments.dedup();
        let mut last = Vec3::zeros();
        for step in moments {
            let active = mine.iter().filter(|w| (w.1..w.2).contains(&step)).map(|w| w.3);
            let total = active.fold(weight, |sum, f| sum + f);
            if total != last {
                changes.push(Change { step, particle, drive: Drive::Force(total) });
                last = total;
            }
        }
    }
    changes
}

/// The step from which on forces move a particle, if they ever do.
fn free_from(scene: &Scene, particle: usize) -> Option<u64> {
    match scene.is_free(particle) {
        true => Some(0),
        false => scene.release_of(particle).map(|release| scene.steps_for(release.time)),
    }
}

/// A thing that turns moves its particles along arcs. Pieces that turn through this angle, in radians, at most are
/// straight: of a radius of 10 cm they leave it by less than a micrometre.
const STRAIGHT: f64 = 1.0 / 128.0;

/// The places in time between which the particles of a path in whole steps go straight.
fn corners(scene: &Scene, path: &Trajectory) -> Vec<u64> {
    let ends = path.frames.iter().map(|key| key.time).chain(path.has_rate().then_some(path.until));
    let mut ends: Vec<u64> = ends.map(|time| scene.steps_for(time)).collect();
    ends.sort_unstable();
    let (mut corners, mut at) = (Vec::new(), 0);
    for end in ends {
        let angle = path.angle(at as f64 * scene.step, end as f64 * scene.step);
        let pieces = ((angle / STRAIGHT).ceil() as u64).max(1);
        corners.extend(
            (1..=pieces).map(|k| at + (u128::from(end - at) * u128::from(k) / u128::from(pieces)) as u64),
        );
        at = end;
    }
    corners.dedup();
    corners.retain(|&corner| corner > 0);
    corners
}

/// The straight pieces of a motion, each from a step on; of a particle that starts here.
fn segments(
    scene: &Scene,
    motion: &Motion,
    path: &Trajectory,
    corners: &[u64],
    start: &Vec3,
) -> Vec<(u64, Segment)> {
    let end = motion.release.map_or(u64::MAX, |release| scene.steps_for(release.time));
    let (mut at, mut place) = (0, Vec3::zeros());
    let mut list = Vec::new();
    for &corner in corners {
        let steps = corner - at;
        let target = path.at(corner as f64 * scene.step).displacement(start);
        let velocity = (target - place) / (steps as f64 * scene.step);
        list.push((at, Segment { target, velocity, steps }));
        (at, place) = (corner, target);
    }
    // At its end it stands still, unless it is let go at that very moment.
    if at < end {
        list.push((at, Segment { target: place, velocity: Vec3::zeros(), steps: 0 }));
    }
    list
}

fn motion_changes(scene: &Scene) -> Vec<Change> {
    let prepared = |motion: &Motion| {
        let mut path = motion.path.in_steps(scene.step);
        // Rates without an end last as long as the scene, or until what they move is let go.
        let end = motion.release.map_or(scene.duration, |release| release.time);
        path.until = if path.until.is_finite() { path.until } else { end };
        let corners = corners(scene, &path);
        (path, corners)
    };
    let all: Vec<_> = scene.motions.iter().map(prepared).collect();
    let mut changes = Vec::new();
    for (particle, support) in scene.support.iter().enumerate() {
        let Support::Moved(motion) = *support else { continue };
        let change = |step, drive| Change { step, particle: particle as u32, drive };
        let (path, corners) = &all[motion as usize];
        let motion = &scene.motions[motion as usize];
        let segments = segments(scene, motion, path, corners, &scene.mesh.particles[particle]);
        changes.extend(segments.into_iter().map(|(step, segment)| change(step, Drive::Move(segment))));
        if let Some(release) = scene.release_of(particle) {
            let drive = Drive::Release { mass: scene.mass[particle], at_rest: release.at_rest };
            changes.push(change(scene.steps_for(release.time), drive));
        }
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        force::Material,
        mesh::Lattice,
        scene::{Load, Motion},
        trajectory::Key,
    };

    fn pair() -> Scene {
        let mesh = Lattice { size: [2, 1, 1], pitch: 1.0, center: Vec3::zeros() }.mesh().unwrap();
        Scene::uniform("pair", mesh, Material::new(1.0, 1.0, 1.0).unwrap(), 2.0, 0.01, 1.0)
    }

    #[test]
    fn overlapping_forces_add_and_end() {
        let mut scene = pair();
        scene.gravity = Vec3::new(0.0, 0.0, -10.0);
        scene.loads = vec![
            Load { particles: vec![1], force: Vec3::x(), from: 0.0, to: 0.5 },
            Load { particles: vec![1], force: Vec3::y(), from: 0.25, to: f64::INFINITY },
        ];
        let timeline = Timeline::new(&scene);
        let weight = Vec3::new(0.0, 0.0, -20.0);
        let force = |step, particle, f| Change { step, particle, drive: Drive::Force(f) };
        assert_eq!(
            timeline.changes,
            vec![
                force(0, 0, weight),
                force(0, 1, weight + Vec3::x()),
                force(25, 1, weight + Vec3::x() + Vec3::y()),
                force(50, 1, weight + Vec3::y()),
            ]
        );
    }

    #[test]
    fn motions_become_segments_and_held_particles_feel_no_force() {
        let mut scene = pair();
        scene.motions = vec![Motion::along(vec![Key::shift(0.1, Vec3::zeros()), Key::shift(0.3, Vec3::z())])];
        scene.support[0] = Support::Moved(0);
        scene.support[1] = Support::Pinned;
        scene.gravity = Vec3::z();
        let timeline = Timeline::new(&scene);
        let steps: Vec<u64> = timeline.changes.iter().map(|c| c.step).collect();
        assert_eq!(steps, [0, 10, 30]);
        let Drive::Move(segment) = timeline.changes[1].drive else { panic!("a move") };
        assert_eq!((segment.target, segment.steps), (Vec3::z(), 20));
        assert!((segment.velocity.z - 5.0).abs() < 1e-12);
    }
}
