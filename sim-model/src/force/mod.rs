//! What acts between particles: the one door through which every force comes.
//!
//! | force | table in scene files | file |
//! |---|---|---|
//! | elements of edges: three elements and the laws beside them | `[materials.NAME]` | [`law`] |
//! | topology: elements do not turn over | `[topology]` | [`topology`] |
//! | volume effect | `[volume]` | [`volume`] |
//! | coarse-fine links | `[[links]]` | [`link`] |
//! | coarse-fine joints, found by the program | `[[joints]]` | [`joint`] |
//! | contact: boundaries, surfaces, friction | `[contact]`, `[[boundaries]]` | [`contact`] |
//!
//! A force is declared in SI units ([`Force`]) and made ready for an engine's numbers ([`Acting`]): one code for f32 and
//! f64. To add one: a file with both, and a line in the list below. Engines ask twice a step: [`ActingForces::settle`]
//! brings what is remembered up to the present state, [`ActingForces::add`] computes forces from it. All sums are in
//! the scene's order and by one thread, so that results do not depend on how an engine shares out the rest.

mod acting;
pub mod contact;
pub mod joint;
pub mod law;
pub mod link;
pub mod real;
pub mod topology;
pub mod volume;

pub use acting::{Acting, ActingForces, Felt};
pub use law::three_element::{Material, MaterialError};

use crate::{
    mesh::{Mesh, Vec3, orientation::plane},
    reader::{SceneError, Table, Value},
};
use real::Real;
use std::fmt::Debug;

/// What forces act on.
#[derive(Clone, Debug)]
pub struct Object<'a> {
    /// Its particles and elements.
    pub mesh: &'a Mesh,
    /// Mass of each particle in kilograms.
    pub mass: &'a [f64],
    /// Whether forces move each particle.
    pub free: Vec<bool>,
    /// Pairs of particles that links and joints hold near each other.
    pub joined: Vec<[usize; 2]>,
}

impl Object<'_> {
    /// The lightest mass that forces move; infinite if there is none.
    pub fn lightest(&self) -> f64 {
        let free = self.mass.iter().zip(&self.free).filter(|(_, free)| **free);
        free.map(|(mass, _)| *mass).fold(f64::INFINITY, f64::min)
    }

    /// 1/m of a particle that forces move, else 0.
    pub fn mobility(&self, particle: usize) -> f64 {
        if self.free[particle] { 1.0 / self.mass[particle] } else { 0.0 }
    }

    /// Particles that boundaries push: the free ones of the surface, or of all of a mesh that has none.
    pub fn touchable(&self) -> Vec<usize> {
        let whole = self.mesh.tetrahedra.is_empty() || self.mesh.triangles.is_empty();
        let mut touchable = vec![whole; self.mesh.particles.len()];
        self.mesh.triangles.iter().flatten().for_each(|&p| touchable[p as usize] = true);
        (0..touchable.len()).filter(|&p| touchable[p] && self.free[p]).collect()
    }
}

/// The Voigt element that a force is like to the stability check: stiffness and damping over mass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    /// k/m in 1/s^2.
    pub stiffness: f64,
    /// c/m in 1/s.
    pub damping: f64,
    /// c/k in s of the part that is damped least.
    pub slowest: f64,
}

/// A force as the stability check sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    /// What messages call it.
    pub name: &'static str,
    /// Its table in scene files.
    pub table: &'static str,
    /// The stiffest it can be to a particle.
    pub rates: Rates,
}

impl Rates {
    /// Of coefficients k and c on the lightest particle; `share` is 1 against something that does not move, and 2
    /// between particles of equal mass.
    pub fn of(k: f64, c: f64, share: f64, object: &Object<'_>) -> Self {
        let lightest = object.lightest();
        let slowest = if k > 0.0 { c / k } else { f64::INFINITY };
        Self { stiffness: share * k / lightest, damping: share * c / lightest, slowest }
    }
}

/// A force of a scene: its coefficients, in SI units.
pub trait Force: Clone + Debug + PartialEq {
    /// What messages call it.
    const NAME: &'static str;
    /// Its keys in scene files, that of its coefficients first.
    const KEYS: &'static [&'static str];
    /// Reads it, if a scene file has it.
    fn read(root: &Table<'_>, object: &Object<'_>) -> Result<Option<Self>, SceneError>;
    /// The stiffest it can be to a particle.
    fn stiffest(&self, object: &Object<'_>) -> Rates;
    /// Ready to be computed; positions are relative to `origin`.
    fn acting<T: Real>(&self, object: &Object<'_>, origin: Vec3) -> Box<dyn Acting<T>>;
}

macro_rules! forces {
    ($($(#[$about:meta])* $field:ident: $force:ty,)*) => {
        /// The forces of a scene beside those of its elements; none in a plain scene, which runs on every engine.
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct Forces {
            $($(#[$about])* pub $field: Option<$force>,)*
        }

        impl Forces {
            /// Their keys in scene files.
            pub const KEYS: &[&[&str]] = &[$(<$force>::KEYS,)*];

            /// Those of a scene file.
            pub fn read(root: &Table<'_>, object: &Object<'_>) -> Result<Self, SceneError> {
                Ok(Self { $($field: <$force>::read(root, object)?,)* })
            }

            /// What messages call those there are.
            pub fn names(&self) -> Vec<&'static str> {
                [$(self.$field.as_ref().map(|_| <$force>::NAME),)*].into_iter().flatten().collect()
            }

            /// Each as the stability check sees it.
            pub fn bounds(&self, object: &Object<'_>) -> Vec<Bound> {
                let all = [$(self.$field.as_ref().map(|f| Bound {
                    name: <$force>::NAME,
                    table: <$force>::KEYS[0],
                    rates: f.stiffest(object),
                }),)*];
                all.into_iter().flatten().collect()
            }

            /// All of them, ready to be computed.
            fn acting<T: Real>(&self, object: &Object<'_>, origin: Vec3) -> Vec<Box<dyn Acting<T>>> {
                let all = [$(self.$field.as_ref().map(|f| f.acting(object, origin)),)*];
                all.into_iter().flatten().collect()
            }
        }
    };
}

forces! {
    /// Keeps elements from turning over.
    topology: topology::Preserve<f64>,
    /// Keeps the volume.
    volume: volume::Pressure,
    /// Particles held at places on edges.
    links: link::Links,
    /// Particles held at places that were found.
    joints: joint::Joints,
    /// Keeps things out of each other.
    contact: contact::Contacts,
}

/// Refuses a key for a mesh that has no elements to speak of.
fn need_elements(value: &Value<'_>, mesh: &Mesh) -> Result<(), SceneError> {
    if mesh.tetrahedra.is_empty() && plane(mesh).is_none() {
        return Err(value.error("this needs a mesh of tetrahedra, or one of triangles that is flat"));
    }
    Ok(())
}
