//! A scene made ready for hardware: its words, the plan of its step, and the engine that holds both.

use super::schedule::Schedule;
use crate::contract::{config::Config, image::Image, numbers::NoHardware};
use std::sync::Arc;

/// Why an image cannot be loaded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// Too large for any engine in hardware.
    #[error(
        "the scene needs {particles} particles and {edges} edges in a module; a module has at most {} and {}: use more \
         --modules",
        Config::MAX_PARTICLES,
        Config::MAX_EDGES
    )]
    TooLarge {
        /// Of the largest part.
        particles: u64,
        /// Of the plan.
        edges: u64,
    },
    /// No circuit is made for the profile.
    #[error(transparent)]
    NoHardware(#[from] NoHardware),
    /// More modules than there is work for.
    #[error("{modules} modules for {particles} particles: at most one each")]
    TooManyModules {
        /// How many were asked for.
        modules: usize,
        /// Of the scene.
        particles: usize,
    },
}

/// Refuses more modules than there are particles.
pub fn check_modules(image: &Image, modules: usize) -> Result<(), LoadError> {
    let particles = image.particles.len();
    if modules > particles { Err(LoadError::TooManyModules { modules, particles }) } else { Ok(()) }
}

/// An image, planned once.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The words.
    pub image: Image,
    /// What each module does when.
    pub plan: Arc<Schedule>,
    /// The smallest engine that holds it.
    pub config: Config,
}

impl Loaded {
    /// An image on so many modules.
    pub fn new(image: Image, modules: usize) -> Result<Self, LoadError> {
        image.profile.in_hardware()?;
        check_modules(&image, modules)?;
        let loaded = Self::planned(image, modules);
        let Config { particles, edges, .. } = loaded.config;
        if particles > Config::MAX_PARTICLES || edges > Config::MAX_EDGES {
            return Err(LoadError::TooLarge { particles, edges });
        }
        Ok(loaded)
    }

    /// The same for modules that are there already, however many particles there are for them.
    pub fn planned(image: Image, modules: usize) -> Self {
        let plan = Schedule::of(&image, modules);
        let config = plan.config(image.profile, image.inverse);
        Self { image, plan: Arc::new(plan), config }
    }
}
