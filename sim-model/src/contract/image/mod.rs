//! The engine's memory image: a scene in raw words, as it is uploaded, and the events while it runs.
//!
//! Model, Verilated hardware and board all start from the same image and apply the same events, so that
//! nothing but the engine itself can make their states differ.

mod constants;
mod motion;
mod raw;

use crate::{
    contract::{
        numbers::{Constant, Inverse, Numbers, Profile},
        scaling::{Scaling, ScalingError},
    },
    mesh::Vec3,
    scene::{Drive, Scene, Support, Timeline},
};
use constants::{constants, mass_classes};
use raw::Raw;
use serde::Serialize;
use std::array;

/// A particle's words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Particle {
    /// Stored position.
    pub x: [i32; 3],
    /// Stored velocity.
    pub v: [i32; 3],
    /// External force.
    pub force: [i32; 3],
    /// Class of inverse mass; 0 is held.
    pub class: u8,
}

/// An edge's words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Edge {
    /// Start particle.
    pub start: u32,
    /// End particle.
    pub end: u32,
    /// Element class.
    pub class: u8,
    /// Stored Voigt extension.
    pub u: i32,
}

/// The three constants of an element class, in the order of the profile's [`LawForm`](crate::contract::numbers::LawForm):
/// A, B, c2 or K, C, D.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ElementConstants {
    /// Times u: A or K.
    pub extension: Constant,
    /// Times l': B or C.
    pub rate: Constant,
    /// c2 (times l' - lv') or D (times f).
    pub damper: Constant,
}

/// Everything the engine holds in registers and tables.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Constants {
    /// Per element class.
    pub elements: Vec<ElementConstants>,
    /// Per mass class; class 0 is zero: no force moves it.
    pub inverse_mass: Vec<Constant>,
    /// The step, where it is not the time unit.
    pub step: Constant,
    /// Velocity to position increment, where the step is the time unit.
    pub position_shift: u32,
    /// Length rate to extension increment, where the step is the time unit.
    pub extension_shift: u32,
    /// Largest force component of an element.
    pub force_limit: i32,
}

impl Constants {
    /// How far a stored velocity moves a stored position in one step.
    #[inline(always)]
    pub fn position_increment(&self, n: &Numbers, v: i64) -> i64 {
        if n.unit_step { n.rounding.shift(v, self.position_shift) } else { self.step.times(v, n.rounding) }
    }
}

/// What is written while the engine runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Write {
    /// An external force.
    Force([i32; 3]),
    /// The velocity of a held particle.
    Velocity([i32; 3]),
    /// The class of its mass: from now on forces move it.
    Release {
        /// The class.
        class: u8,
        /// Whether its velocity becomes zero.
        at_rest: bool,
    },
}

impl Write {
    /// The velocity that it leaves, if it writes one.
    pub fn velocity(self) -> Option<[i32; 3]> {
        match self {
            Self::Velocity(v) => Some(v),
            Self::Release { at_rest: true, .. } => Some([0; 3]),
            Self::Release { at_rest: false, .. } | Self::Force(_) => None,
        }
    }
}

/// A write before a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Before this step.
    pub step: u64,
    /// To this particle.
    pub particle: u32,
    /// The words to write.
    pub write: Write,
}

/// A scene in raw words.
#[derive(Clone, Debug, PartialEq)]
pub struct Image {
    /// The number contract.
    pub profile: Profile,
    /// The circuit of the inverse length.
    pub inverse: Inverse,
    /// The units.
    pub scaling: Scaling,
    /// Registers and tables.
    pub constants: Constants,
    /// Particle memory.
    pub particles: Vec<Particle>,
    /// Edge memory.
    pub edges: Vec<Edge>,
    /// Writes while it runs, in order.
    pub events: Vec<Event>,
}

/// Why a scene does not fit a profile.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ImageError {
    /// The scene needs laws or forces that no fixed-point engine has.
    #[error(
        "the fixed-point engines (model, hybrid, rtl, board) cannot compute {0}; --engine f64 and f32 can"
    )]
    FloatOnly(String),
    /// A scale the profile cannot have.
    #[error(transparent)]
    Scaling(#[from] ScalingError),
    /// A constant beyond the constant word.
    #[error("{what} = {value} does not fit profile {profile} in these units ({hint})")]
    Constant {
        /// Which one, of which class.
        what: String,
        /// Its value in SI units.
        value: f64,
        /// The profile.
        profile: Profile,
        /// What to try.
        hint: &'static str,
    },
    /// More masses than classes.
    #[error(
        "{found} different masses: the engine tells {max} apart; give particles of similar mass the same mass"
    )]
    Masses {
        /// How many there are.
        found: usize,
        /// How many are possible.
        max: usize,
    },
    /// An edge too short for the unit of length.
    #[error(
        "edge {edge} is {length} m long, but edges must be longer than {shortest} m when positions reach so far out (lower scaling.length, or use a more even mesh)"
    )]
    Short {
        /// The number of the edge in the scene.
        edge: usize,
        /// Its length.
        length: f64,
        /// The shortest that fits.
        shortest: f64,
    },
    /// An initial value or load beyond its word.
    #[error("{what} = {value} is beyond the range of {range} ({hint})")]
    Range {
        /// The quantity, in words.
        what: String,
        /// Its value in SI units.
        value: f64,
        /// What the word holds.
        range: f64,
        /// What to try.
        hint: &'static str,
    },
}

/// Classes of inverse mass, class 0 (held) included.
pub const MASS_CLASSES: usize = 64;
/// Classes of elements.
pub const ELEMENT_CLASSES: usize = 64;

impl Image {
    /// The image of a scene.
    pub fn new(scene: &Scene, profile: Profile, inverse: Inverse) -> Result<Self, ImageError> {
        let float_only = scene.float_only();
        if !float_only.is_empty() {
            return Err(ImageError::FloatOnly(float_only.join(", ")));
        }
        let scaling = Scaling::choose(scene, profile)?;
        let numbers = profile.numbers();
        let (classes, masses) = mass_classes(scene)?;
        let constants = constants(scene, profile, &scaling, &masses)?;
        let raw = Raw { numbers, scaling };
        let mut particles = Vec::with_capacity(scene.mesh.particles.len());
        for (p, position) in scene.mesh.particles.iter().enumerate() {
            let v = if scene.support[p] == Support::Free { scene.velocity[p] } else { Vec3::zeros() };
            particles.push(Particle {
                x: raw.position(p as u32, *position)?,
                v: raw.velocity(p as u32, v)?,
                force: [0; 3],
                class: if scene.is_free(p) { classes[p] } else { 0 },
            });
        }
        let mut edges = Vec::with_capacity(scene.mesh.edges.len());
        for (k, &[start, end]) in scene.mesh.edges.iter().enumerate() {
            let u = raw.extension(k, scene.extension[k])?;
            raw.check_length(k, scene.mesh.edge_length(k))?;
            edges.push(Edge { start, end, class: scene.edge_material[k] as u8, u });
        }
        let events = events(scene, &raw, &constants, &particles, &classes)?;
        Ok(Self { profile, inverse, scaling, constants, particles, edges, events })
    }

    /// The number contract's words.
    pub fn numbers(&self) -> &'static Numbers {
        self.profile.numbers()
    }

    /// A stored position in metres.
    pub fn position(&self, raw: [i32; 3]) -> Vec3 {
        let lsb = self.scaling.x_lsb(self.numbers());
        Vec3::from(raw.map(f64::from)) * lsb + Vec3::from(self.scaling.origin)
    }

    /// A stored velocity in m/s.
    pub fn velocity(&self, raw: [i32; 3]) -> Vec3 {
        Vec3::from(raw.map(f64::from)) * self.scaling.v_lsb(self.numbers())
    }

    /// A stored extension in metres.
    pub fn extension(&self, raw: i32) -> f64 {
        f64::from(raw) * self.scaling.u_lsb(self.numbers())
    }

    /// A force in newtons that is to be added to what the scene itself puts on a particle: its sum with any
    /// of those must fit the word.
    pub fn added_force(&self, particle: u32, force: Vec3) -> Result<[i32; 3], ImageError> {
        let numbers = self.numbers();
        let raw = Raw { numbers, scaling: self.scaling };
        let added = raw.force(particle, force)?;
        let own = self.events.iter().filter(|e| e.particle == particle).filter_map(|e| match e.write {
            Write::Force(own) => Some(own),
            Write::Velocity(_) | Write::Release { .. } => None,
        });
        for own in own.chain([self.particles[particle as usize].force]) {
            let lsb = self.scaling.force_lsb(numbers);
            let sum: [f64; 3] = array::from_fn(|k| f64::from(own[k]) + f64::from(added[k]));
            raw.force(particle, Vec3::from(sum) * lsb)?;
        }
        Ok(added)
    }
}

fn events(
    scene: &Scene,
    raw: &Raw,
    constants: &Constants,
    particles: &[Particle],
    classes: &[u8],
) -> Result<Vec<Event>, ImageError> {
    let mut events = Vec::new();
    let mut places = std::collections::HashMap::new();
    for change in Timeline::new(scene).changes {
        let (step, particle) = (change.step, change.particle);
        match change.drive {
            Drive::Force(force) => {
                events.push(Event { step, particle, write: Write::Force(raw.force(particle, force)?) });
            }
            Drive::Release { at_rest, .. } => {
                let write = Write::Release { class: classes[particle as usize], at_rest };
                events.push(Event { step, particle, write });
            }
            Drive::Move(segment) => {
                let start = scene.mesh.particles[particle as usize];
                let from = places.entry(particle).or_insert(particles[particle as usize].x);
                let to = raw.position(particle, start + segment.target)?;
                let wanted = raw.velocity(particle, segment.velocity)?;
                let pieces = motion::pieces(raw.numbers, constants, *from, to, wanted, segment.steps)
                    .ok_or_else(|| {
                        let fastest = raw.numbers.v.word().max() as f64 * raw.scaling.v_lsb(raw.numbers);
                        ImageError::Range {
                            what: format!("prescribed speed of particle {particle}"),
                            value: segment.velocity.amax(),
                            range: fastest,
                            hint: "raise scaling.velocity_exponent or scaling.length",
                        }
                    })?;
                *from = to;
                events.extend(pieces.into_iter().map(|(after, v)| Event {
                    step: step + after,
                    particle,
                    write: Write::Velocity(v),
                }));
            }
        }
    }
    events.sort_by_key(|e| e.step);
    Ok(events)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::force::Material;

    #[test]
    fn table3_is_the_papers_words() {
        let image = Image::new(&Scene::open("table3").unwrap(), Profile::Paper2003, Inverse::Cordic).unwrap();
        let c = image.constants.elements[0];
        assert_eq!(
            [c.extension, c.rate, c.damper].map(|c| (c.mantissa, c.shift)),
            [(-46, 8), (210, 8), (589, 8)]
        );
        assert_eq!(image.edges[0].u, 1782);
        let [i, j] = [image.particles[0], image.particles[1]];
        assert_eq!([j.x[0] - i.x[0], j.x[1] - i.x[1], j.x[2] - i.x[2]], [1280, 768, 256]);
    }

    #[test]
    fn an_elastic_material_needs_the_force_law() {
        let mut scene = Scene::open("cube9").unwrap();
        scene.materials[0].material = Material::elastic(250.0, 20.0).unwrap();
        let image = Image::new(&scene, Profile::Wide, Inverse::Table).unwrap();
        assert_eq!(image.constants.elements[0].damper.mantissa, 0);
        let error = Image::new(&scene, Profile::Paper2005, Inverse::Table).unwrap_err();
        assert!(error.to_string().contains("use profile wide"), "{error}");
    }

    #[test]
    fn what_does_not_fit_is_refused_with_numbers() {
        let image = |change: fn(&mut Scene)| {
            let mut scene = Scene::open("cube9").unwrap();
            change(&mut scene);
            Image::new(&scene, Profile::Wide, Inverse::Table).map(|_| ()).unwrap_err().to_string()
        };
        let text = image(|s| s.scaling.length = Some(0.1));
        assert!(text.starts_with("position of particle 0 (x) = -40 is beyond the range of 12.79"), "{text}");
        let text = image(|s| s.mass.iter_mut().enumerate().for_each(|(p, m)| *m = 1.0 + (p % 100) as f64));
        assert!(text.starts_with("100 different masses: the engine tells 63 apart"), "{text}");
        let text = image(|s| s.scaling.mass = Some(1e-6));
        assert!(text.contains("material") && text.contains("raise scaling.mass"), "{text}");
    }
}
