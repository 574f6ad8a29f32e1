//! What is taken of a run at a step: where everything is, what it presses on, and whether it is still an object.

use nendo_model::{
    engine::{Engine, EngineError},
    mesh::Vec3,
    scene::{
        Scene,
        health::{Doctor, Health},
        measure::{Measuring, Moment},
        sense::{Reaction, Sensed},
    },
};

/// A state of a run.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Steps taken.
    pub step: u64,
    /// Simulated seconds.
    pub time: f64,
    /// Where the particles are, in metres.
    pub positions: Vec<Vec3>,
    /// Their velocities in m/s.
    pub velocities: Vec<Vec3>,
    /// All forces, where they were asked for.
    pub sensed: Option<Sensed>,
    /// The force on everything that holds or bounds the object.
    pub reactions: Vec<Reaction>,
    /// Whether it is still an object.
    pub health: Health,
}

/// Takes the measures that are due at the present state.
pub fn measure(engine: &mut dyn Engine, measuring: &mut Measuring<'_>) -> Result<(), EngineError> {
    let step = engine.step();
    if measuring.due(step) != Some(step) {
        return Ok(());
    }
    let needs = measuring.needs(Some(step));
    let (positions, velocities) = engine.motion()?;
    let sensed = needs.forces.then(|| engine.sense()).transpose()?;
    let extensions = needs.extensions.then(|| engine.extensions()).transpose()?;
    let (sensed, extensions) = (sensed.as_ref(), extensions.as_deref());
    measuring.take(&Moment { step, positions: &positions, velocities: &velocities, sensed, extensions });
    Ok(())
}

/// Takes samples of runs of a scene.
#[derive(Debug)]
pub struct Sampler<'a> {
    scene: &'a Scene,
    doctor: Doctor<'a>,
    /// Whether anything holds or bounds the object.
    held: bool,
}

impl<'a> Sampler<'a> {
    /// For runs of this scene.
    pub fn new(scene: &'a Scene) -> Self {
        Self { scene, doctor: Doctor::new(scene), held: !scene.holders().is_empty() }
    }

    /// The scene.
    pub fn scene(&self) -> &'a Scene {
        self.scene
    }

    /// The present state; `all` forces if they are wanted, otherwise those that hold the object.
    pub fn take(&self, engine: &mut dyn Engine, all: bool) -> Result<Sample, EngineError> {
        let (step, time) = (engine.step(), engine.step() as f64 * self.scene.step);
        let (positions, velocities) = engine.motion()?;
        let sensed = (all || self.held).then(|| engine.sense()).transpose()?;
        let reactions = sensed.as_ref().map_or(Vec::new(), |sensed| self.scene.reactions(sensed, step));
        let health = self.doctor.look(&positions, time);
        Ok(Sample { step, time, positions, velocities, sensed: sensed.filter(|_| all), reactions, health })
    }

    /// What is wrong with a state, with the remedies.
    pub fn complaints(&self, health: &Health) -> Vec<String> {
        health.complaints(self.doctor.deep())
    }
}
