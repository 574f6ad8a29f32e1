//! Scenes: a mesh, its materials and masses, what holds it and what moves it. All in SI units.

mod acting;
mod builtin;
mod chains;
pub mod deformation;
mod file;
pub mod health;
#[cfg(test)]
mod keys;
pub mod loads;
pub mod measure;
mod rigid;
mod select;
pub mod sense;
pub(crate) mod spectrum;
mod supports;
mod timeline;

pub use crate::reader::SceneError;
pub use builtin::BUILTIN_HELP;
pub use supports::{Holder, Holding};
pub use timeline::{Change, Drive, Segment, Timeline};

use crate::{
    force::{Forces, Material, law::AnyLaw},
    mesh::{Mesh, Vec3},
    trajectory::{Key, Trajectory},
};
use std::path::Path;

/// A named element class.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedMaterial {
    /// The name in the scene file.
    pub name: String,
    /// Its coefficients; where it has a law of its own, those that bound its stiffness and damping.
    pub material: Material,
    /// Its law, where that is not the plain three-element one.
    pub law: Option<AnyLaw>,
    /// Whether it is as hard as mesh, masses and step allow: see [`Scene::resolve_rigid`].
    pub rigid: bool,
}

impl NamedMaterial {
    /// A plain three-element material.
    pub fn plain(name: &str, material: Material) -> Self {
        Self { name: name.to_owned(), material, law: None, rigid: false }
    }
}

/// What determines a particle's motion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Support {
    /// The forces on it.
    #[default]
    Free,
    /// Nothing: it stays where it is.
    Pinned,
    /// The motion with this number.
    Moved(u32),
}

/// Particles that are held where they are.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pins {
    /// What reports call them, if they have a name.
    pub name: Option<String>,
    /// Which.
    pub particles: Vec<u32>,
}

/// A prescribed motion of some particles as one rigid thing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Motion {
    /// What reports call it, if it has a name.
    pub name: Option<String>,
    /// How they move and turn.
    pub path: Trajectory,
    /// When its particles are free again, if ever.
    pub release: Option<Release>,
}

impl Motion {
    /// A nameless one along these key frames.
    pub fn along(frames: Vec<Key>) -> Self {
        Self { path: Trajectory { frames, ..Trajectory::default() }, ..Self::default() }
    }
}

/// The end of a prescribed motion: from then on forces move its particles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Release {
    /// In seconds.
    pub time: f64,
    /// Whether they start at rest, not with the velocity they have.
    pub at_rest: bool,
}

/// An external force on some particles during a window of time.
#[derive(Clone, Debug, PartialEq)]
pub struct Load {
    /// The particles it acts on.
    pub particles: Vec<u32>,
    /// On each of them, in newtons.
    pub force: Vec3,
    /// From this time on, in seconds.
    pub from: f64,
    /// Up to, but not including, this time; may be infinite.
    pub to: f64,
}

/// What position errors are measured against.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ErrorScale {
    /// The initial width of the object.
    #[default]
    Width,
    /// The largest displacement of any particle in the reference run.
    PeakDisplacement,
}

/// Units the scene asks for; what it leaves open is chosen from the scene's own sizes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ScalingRequest {
    /// Metres per length unit.
    pub length: Option<f64>,
    /// Kilograms per mass unit.
    pub mass: Option<f64>,
    /// The largest force in newtons that is expected on a particle besides the scene's own loads: somebody's pull.
    pub force: Option<f64>,
    /// Seconds per time unit, for the profiles whose time unit is not the step.
    pub time: Option<f64>,
    /// By how many bits the range of velocities is widened.
    pub velocity_exponent: Option<u32>,
    /// By how many bits the range of Voigt extensions is widened.
    pub extension_exponent: Option<u32>,
}

/// Everything an engine needs to know.
#[derive(Clone, Debug, PartialEq)]
pub struct Scene {
    /// Short name for reports.
    pub name: String,
    /// What it shows, in a sentence or two; may be empty.
    pub about: String,
    /// Time step in seconds.
    pub step: f64,
    /// How long a run lasts unless told otherwise, in seconds.
    pub duration: f64,
    /// Particles and edges.
    pub mesh: Mesh,
    /// Element classes.
    pub materials: Vec<NamedMaterial>,
    /// Class of each edge.
    pub edge_material: Vec<u16>,
    /// Voigt extension of each edge at the start, in metres.
    pub extension: Vec<f64>,
    /// Mass of each particle in kilograms.
    pub mass: Vec<f64>,
    /// Velocity of each particle at the start, in m/s.
    pub velocity: Vec<Vec3>,
    /// What determines each particle's motion.
    pub support: Vec<Support>,
    /// Pinned particles, table by table; others that are pinned are a table of their own.
    pub pins: Vec<Pins>,
    /// Prescribed motions.
    pub motions: Vec<Motion>,
    /// External forces.
    pub loads: Vec<Load>,
    /// Acceleration of gravity in m/s^2.
    pub gravity: Vec3,
    /// Units the scene asks for.
    pub scaling: ScalingRequest,
    /// What position errors are measured against.
    pub error_scale: ErrorScale,
    /// Forces beside those of elements.
    pub forces: Forces,
    /// Virtual sensors.
    pub measures: Vec<measure::Measure>,
}

impl Scene {
    /// A free mesh of one material and equal masses, no forces yet.
    pub fn uniform(name: &str, mesh: Mesh, material: Material, mass: f64, step: f64, duration: f64) -> Self {
        let (particles, edges) = (mesh.particles.len(), mesh.edges.len());
        Self {
            name: name.to_owned(),
            about: String::new(),
            step,
            duration,
            mesh,
            materials: vec![NamedMaterial::plain("material", material)],
            edge_material: vec![0; edges],
            extension: vec![0.0; edges],
            mass: vec![mass; particles],
            velocity: vec![Vec3::zeros(); particles],
            support: vec![Support::Free; particles],
            pins: Vec::new(),
            motions: Vec::new(),
            loads: Vec::new(),
            gravity: Vec3::zeros(),
            scaling: ScalingRequest::default(),
            error_scale: ErrorScale::Width,
            forces: Forces::default(),
            measures: Vec::new(),
        }
    }

    /// A built-in scene by name, or a scene file by path.
    pub fn open(name_or_path: &str) -> Result<Self, SceneError> {
        if let Some(scene) = builtin::by_name(name_or_path)? {
            return Ok(scene);
        }
        file::load(Path::new(name_or_path))
    }

    /// Parses the text of a scene file; `origin` names it in messages.
    pub fn parse(text: &str, origin: &str) -> Result<Self, SceneError> {
        file::parse(text, origin)
    }

    /// Whether forces move the particle from the start.
    pub fn is_free(&self, particle: usize) -> bool {
        self.support[particle] == Support::Free
    }

    /// The end of a particle's prescribed motion, if it has one.
    pub fn release_of(&self, particle: usize) -> Option<Release> {
        match self.support[particle] {
            Support::Moved(motion) => self.motions[motion as usize].release,
            Support::Free | Support::Pinned => None,
        }
    }

    /// The first step that forces move a particle in; none for one that is held for ever.
    pub fn free_from(&self, particle: usize) -> Option<u64> {
        match self.is_free(particle) {
            true => Some(0),
            false => self.release_of(particle).map(|release| self.steps_for(release.time)),
        }
    }

    /// Whether forces move the particle at some time.
    pub fn becomes_free(&self, particle: usize) -> bool {
        self.is_free(particle) || self.release_of(particle).is_some()
    }

    /// When the last load ends, if all do: forces, and boundaries and particles that are moved back.
    pub fn release(&self) -> Option<f64> {
        let gone = |path: &Trajectory| {
            // Displaced at the end, it still presses; else it lets go when it begins to return for the last time.
            let (last, before) = (path.frames.last()?, path.frames.len().checked_sub(2));
            let is_back = last.offset == Vec3::zeros() && last.turn == Vec3::zeros() && !path.has_rate();
            is_back.then(|| before.map_or(0.0, |k| path.frames[k].time))
        };
        let loads = self.loads.iter().map(|f| f.to.is_finite().then_some(f.to));
        let motions = self.motions.iter().filter(|m| m.path.moves());
        let motions = motions.map(|m| m.release.map_or_else(|| gone(&m.path), |release| Some(release.time)));
        // A roller that turns where it stands is no load.
        let walls = self.forces.contact.iter().flat_map(|c| &c.boundaries).map(|b| &b.path);
        let walls = walls.filter(|path| !path.frames.is_empty() || path.velocity != Vec3::zeros()).map(gone);
        let ends: Option<Vec<f64>> = loads.chain(motions).chain(walls).collect();
        ends?.into_iter().reduce(f64::max)
    }

    /// The number of steps that cover `seconds`.
    pub fn steps_for(&self, seconds: f64) -> u64 {
        (seconds / self.step).round() as u64
    }
}
