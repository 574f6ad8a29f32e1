//! A scene on an engine, with what a viewer adds to it: somebody's pull, the reference beside it, colours.

use super::protocol::{Color, Pull};
use crate::{
    around::{self, Solid},
    engine::{self, Engine, EngineKind, EngineOptions, OpenError},
};
use nendo_model::{
    contract::scaling::Expectation,
    engine::reference::{Integrator, PlainElement, Reference},
    force::contact::wall::Hand,
    mesh::Vec3,
    scene::{NamedMaterial, Scene, health::Doctor},
};
use std::{
    cmp::Reverse,
    time::{Duration, Instant},
};

/// How often it is looked whether the state can still be an object; less often where looking takes long.
const LOOK: Duration = Duration::from_millis(500);

/// What is to be seen of a moment.
pub(super) struct View {
    pub(super) positions: Vec<Vec3>,
    /// One number per particle, as [`Color`] says.
    pub(super) colors: Vec<f64>,
    /// Mean distance from the reference, in percent of the object's width.
    pub(super) mean_error: Option<f64>,
    pub(super) pull: Option<Pull>,
    /// Where boundaries are, as [`super::FrameHeader::poses`] says.
    pub(super) poses: Vec<[f64; 7]>,
    /// What the object presses on what with, in newtons.
    pub(super) forces: Vec<(String, [f64; 3])>,
}

impl View {
    /// A scene at the start, without an engine.
    pub(super) fn still(scene: &Scene) -> Self {
        Self {
            positions: scene.mesh.particles.clone(),
            colors: vec![0.0; scene.mesh.particles.len()],
            mean_error: None,
            pull: None,
            poses: poses(&around::boundaries(scene), 0.0),
            forces: Vec::new(),
        }
    }
}

fn poses(solids: &[Solid], time: f64) -> Vec<[f64; 7]> {
    let pose = |solid: &Solid| {
        let pose = solid.pose(time);
        let (turn, shift) = (pose.rotation.coords, pose.translation.vector);
        [turn.x, turn.y, turn.z, turn.w, shift.x, shift.y, shift.z]
    };
    solids.iter().map(pose).collect()
}

/// A scene on an engine.
pub(super) struct Stage {
    scene: Scene,
    elements: Vec<PlainElement>,
    engine: Box<dyn Engine>,
    /// Runs beside the engine and is pulled like it, where errors are to be seen.
    reference: Option<Reference>,
    pull: Option<(u32, Vec3)>,
    hand: Option<Hand>,
    solids: Vec<Solid>,
    /// Whether forces may be asked for with every frame: not where each word of the state goes over a bus.
    senses: bool,
    /// What was felt last, and when to ask again.
    felt: Vec<(String, [f64; 3])>,
    sense: Instant,
    warnings: Vec<String>,
    /// When to look for them again.
    look: Instant,
}

impl Stage {
    pub(super) fn open(
        scene: &Scene,
        options: &EngineOptions,
        with_reference: bool,
    ) -> Result<Self, OpenError> {
        Ok(Self {
            elements: (0..scene.mesh.edges.len()).map(|k| PlainElement::of(scene, k)).collect(),
            engine: engine::open(scene, options)?,
            reference: with_reference.then(|| Reference::new(scene, Integrator::Euler)),
            scene: scene.clone(),
            pull: None,
            hand: None,
            solids: around::boundaries(scene),
            senses: !matches!(options.kind, EngineKind::Rtl | EngineKind::Board),
            felt: Vec::new(),
            sense: Instant::now(),
            warnings: Vec::new(),
            look: Instant::now(),
        })
    }

    pub(super) fn step(&self) -> u64 {
        self.engine.step()
    }

    /// Takes steps; what is wrong afterwards, if anything.
    pub(super) fn advance(&mut self, steps: u64) -> anyhow::Result<Option<String>> {
        let failure = engine::outcome(self.engine.advance(steps))?;
        if let Some(reference) = &mut self.reference {
            // That it comes to nothing is seen in the errors.
            let _ = reference.advance(steps);
        }
        Ok(failure.map(engine::explain))
    }

    /// Pulls one particle, or none.
    pub(super) fn pull(&mut self, pull: Option<(u32, Vec3)>) -> anyhow::Result<()> {
        if let Some((old, _)) = self.pull.take().filter(|(old, _)| pull.is_none_or(|(new, _)| new != *old)) {
            self.pull_all(old, Vec3::zeros())?;
        }
        if let Some((particle, force)) = pull {
            let most = pull_limit(&self.scene);
            let force = force * (most / force.norm().max(most));
            self.pull_all(particle, force)?;
            self.pull = Some((particle, force));
        }
        Ok(())
    }

    /// Touches the object with a ball, or not.
    pub(super) fn touch(&mut self, hand: Option<Hand>) -> anyhow::Result<()> {
        let largest = self.scene.mesh.width();
        let hand = hand.map(|hand| Hand { radius: hand.radius.min(largest), ..hand });
        self.engine.touch(&self.scene, hand.as_ref())?;
        if let Some(reference) = &mut self.reference {
            reference.touch(&self.scene, hand.as_ref())?;
        }
        self.hand = hand;
        self.sense = Instant::now();
        Ok(())
    }

    /// Middle and radius of the ball that touches.
    pub(super) fn hand(&self) -> Option<[f64; 4]> {
        self.hand.map(|hand| [hand.center.x, hand.center.y, hand.center.z, hand.radius])
    }

    fn pull_all(&mut self, particle: u32, force: Vec3) -> anyhow::Result<()> {
        self.engine.pull(particle, force)?;
        if let Some(reference) = &mut self.reference {
            reference.pull(particle, force)?;
        }
        Ok(())
    }

    /// What there is to see. While it goes on, what takes long to find is found less often; if it stands, all is of now.
    pub(super) fn view(&mut self, color: Color, stands: bool) -> anyhow::Result<View> {
        let (x, v) = self.engine.motion()?;
        // Behind a bus extensions are many words: asked for only where they are shown.
        let u = match color == Color::Stress || self.pull.is_some() {
            true => self.engine.extensions()?,
            false => Vec::new(),
        };
        let pull = self.pull.map(|(particle, force)| {
            let mut reaction = Vec3::zeros();
            for (k, &[start, end]) in self.scene.mesh.edges.iter().enumerate() {
                if start == particle || end == particle {
                    let on_end = self.elements[k].compute(&x, &v, u[k]).force;
                    reaction += if end == particle { on_end } else { -on_end };
                }
            }
            Pull { particle, force: force.into(), reaction: reaction.into() }
        });
        let exact = self.reference.as_mut().map(Engine::positions).transpose()?;
        let percent = 100.0 / self.scene.mesh.width();
        let error = |(a, b): (&Vec3, &Vec3)| (a - b).norm() * percent;
        let errors: Option<Vec<f64>> = exact.map(|exact| x.iter().zip(&exact).map(error).collect());
        let mean_error = errors.as_ref().map(|e| e.iter().sum::<f64>() / e.len() as f64);
        let colors = match (color, errors) {
            (Color::Error, Some(errors)) => errors,
            (Color::Stress, _) => self.stress(&x, &v, &u),
            _ => v.iter().map(|v| v.norm()).collect(),
        };
        let time = self.step() as f64 * self.scene.step;
        if stands || Instant::now() >= self.look {
            self.examine(&x, time);
        }
        if stands || Instant::now() >= self.sense {
            self.feel()?;
        }
        Ok(View {
            positions: x,
            colors,
            mean_error,
            pull,
            poses: poses(&self.solids, time),
            forces: self.felt.clone(),
        })
    }

    /// Asks for the forces on what holds the object; large objects take a fifth of the time for it at most.
    fn feel(&mut self) -> anyhow::Result<()> {
        let started = Instant::now();
        self.felt.clear();
        if self.senses && (self.hand.is_some() || !self.scene.holders().is_empty()) {
            let sensed = self.engine.sense()?;
            let reactions = self.scene.reactions(&sensed, self.engine.step());
            self.felt.extend(reactions.into_iter().map(|reaction| (reaction.name, reaction.force.into())));
        }
        self.sense = started + 5 * started.elapsed();
        Ok(())
    }

    fn examine(&mut self, positions: &[Vec3], time: f64) {
        let started = Instant::now();
        let doctor = Doctor::new(&self.scene);
        self.warnings = doctor.look(positions, time).complaints(doctor.deep());
        self.look = started + LOOK.max(20 * started.elapsed());
    }

    /// Why the state may mean nothing.
    pub(super) fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// For each particle, the mean size of its edges' forces.
    fn stress(&self, x: &[Vec3], v: &[Vec3], u: &[f64]) -> Vec<f64> {
        let mut sums = vec![(0.0, 0u32); x.len()];
        for ((element, ends), &u) in self.elements.iter().zip(&self.scene.mesh.edges).zip(u) {
            let force = element.compute(x, v, u).force.norm();
            for &p in ends {
                let (sum, count) = &mut sums[p as usize];
                *sum += force;
                *count += 1;
            }
        }
        sums.into_iter().map(|(sum, count)| sum / f64::from(count.max(1))).collect()
    }

    pub(super) fn close(&mut self) -> anyhow::Result<()> {
        Ok(self.engine.close()?)
    }
}

/// The strongest pull: as strong as the forces the scene itself makes the engine expect, so that numbers fit.
pub(super) fn pull_limit(scene: &Scene) -> f64 {
    let expected = Expectation::of(scene).force;
    if expected > 0.0 {
        return expected;
    }
    // Nothing moves the scene: what stretches an edge by a tenth.
    let tenth = |k: usize| 0.1 * scene.mesh.edge_length(k) * scene.material_of(k).k();
    (0..scene.mesh.edges.len()).map(tenth).fold(f64::MIN_POSITIVE, f64::max)
}

/// Particles that are pinned or moved, with the step up to which they are; those that are held longest first.
pub(super) fn held(scene: &Scene) -> Vec<(u32, Option<u64>)> {
    let all = (0u32..).zip(0..scene.mass.len()).filter(|&(_, p)| !scene.is_free(p));
    let mut held: Vec<_> = all.map(|(number, p)| (number, scene.free_from(p))).collect();
    held.sort_by_key(|&(number, until)| (Reverse(until.unwrap_or(u64::MAX)), number));
    held
}

/// Names of materials where there are several, each with the particle to write it at: the highest, and of
/// those the one in the middle.
pub(super) fn labels<'a>(scene: &'a Scene) -> Vec<(&'a str, u32)> {
    if scene.materials.len() < 2 {
        return Vec::new();
    }
    let highest = |class: usize| {
        let edges = scene.mesh.edges.iter().zip(&scene.edge_material);
        let mine = edges.filter(|(_, m)| usize::from(**m) == class).flat_map(|(ends, _)| *ends);
        let members: Vec<u32> = mine.collect();
        let at = |p: u32| scene.mesh.particles[p as usize];
        let middle = members.iter().map(|&p| at(p)).sum::<Vec3>() / members.len() as f64;
        let aside = |p: u32| (at(p) - middle).xy().norm();
        let order = |&a: &u32, &b: &u32| at(a).z.total_cmp(&at(b).z).then(aside(b).total_cmp(&aside(a)));
        members.into_iter().max_by(order)
    };
    let label = |(class, m): (usize, &'a NamedMaterial)| Some((m.name.as_str(), highest(class)?));
    scene.materials.iter().enumerate().filter_map(label).collect()
}
