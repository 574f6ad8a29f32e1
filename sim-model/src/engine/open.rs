//! An engine by its kind.

use super::{
    Engine, InProcess,
    cpu::{Cpu, CpuError},
    hybrid::Hybrid,
    model::ModelEngine,
    reference::{Integrator, Reference},
};
use crate::{
    contract::{
        image::{Image, ImageError},
        numbers::{Inverse, Profile},
    },
    machine::memory::MemoryError,
    plan::loaded::{LoadError, check_modules},
    scene::Scene,
    twin::engine::Model,
};

/// Which engine of this crate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// The f64 reference.
    F64,
    /// The fast one.
    F32,
    /// Elements in f64, particles in the hardware's words.
    Hybrid,
    /// The bit-accurate model of the hardware.
    #[default]
    Model,
}

/// How an engine is made.
#[derive(Clone, Debug)]
pub struct Options {
    /// The kind of engine.
    pub kind: Kind,
    /// Number contract of the model and of the hybrid engine's particles.
    pub profile: Profile,
    /// Circuit of the inverse length of the model.
    pub inverse: Inverse,
    /// Main modules of the hardware that is modelled.
    pub modules: usize,
    /// Threads.
    pub threads: usize,
    /// Whether fewer of them are used while others use the machine, too; results do not depend on it.
    pub considerate: bool,
    /// Order of edges of the model, where it is not the scene's.
    pub edge_order: Option<Vec<u32>>,
    /// How the reference takes a step.
    pub integrator: Integrator,
}

impl Default for Options {
    /// The model of one module of the default profile, on one thread.
    fn default() -> Self {
        let profile = Profile::default();
        Self {
            kind: Kind::default(),
            profile,
            inverse: profile.usual_inverse(),
            modules: 1,
            threads: 1,
            considerate: false,
            edge_order: None,
            integrator: Integrator::default(),
        }
    }
}

/// Why an engine cannot be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum OpenError {
    /// The scene does not fit the profile.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// The scene is too large for this machine.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The scene is beyond f32.
    #[error(transparent)]
    Cpu(#[from] CpuError),
    /// The scene does not fit hardware.
    #[error(transparent)]
    Load(#[from] LoadError),
}

/// An engine at the start of a scene.
pub fn open(scene: &Scene, options: &Options) -> Result<Box<dyn Engine>, OpenError> {
    fn boxed(engine: impl InProcess + 'static) -> Box<dyn Engine> {
        Box::new(engine)
    }
    super::memory::check(scene, options.kind)?;
    Ok(match options.kind {
        Kind::F64 => boxed(Reference::new(scene, options.integrator)),
        Kind::F32 => {
            let engine = Cpu::new(scene, options.threads)?;
            boxed(if options.considerate { engine.considerate() } else { engine })
        }
        Kind::Hybrid => {
            // No inverse length is computed in words; an image has some circuit for it all the same.
            boxed(Hybrid::new(scene, Image::new(scene, options.profile, options.inverse)?))
        }
        Kind::Model => {
            let image = Image::new(scene, options.profile, options.inverse)?;
            check_modules(&image, options.modules)?;
            let model = match options.edge_order.clone() {
                Some(order) => Model::with_order(image, options.threads, order),
                None => Model::new(image, options.threads),
            };
            boxed(ModelEngine::new(model, options.modules))
        }
    })
}
