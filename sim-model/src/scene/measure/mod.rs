//! Virtual sensors of a scene: what an experiment measures, when, and what is expected.
//!
//! A measure is declared in a scene file (`[[measure]]`, `read`), taken from moments of a run (`take`), and judged
//! ([`judge`]). Any engine will do: a [`Moment`] is what all of them can be asked for.

pub mod judge;
mod read;
mod shape;
mod subject;
mod take;

pub use judge::{Expectation, Outcome, Verdict};
pub(in crate::scene) use read::measures;
pub use subject::{Subject, Touching};
pub use take::{Measuring, Moment, Needs};

use super::deformation::DeformationKind;
use crate::{force::link::Place, mesh::Vec3};
use serde::Serialize;

/// A virtual sensor.
#[derive(Clone, Debug, PartialEq)]
pub struct Measure {
    /// What reports and other measures call it.
    pub name: String,
    /// What it measures.
    pub quantity: Quantity,
    /// The direction along which a vector is looked at, of length one; none for all of it.
    pub axis: Option<Vec3>,
    /// When.
    pub when: When,
    /// What is expected, if anything is.
    pub expect: Option<Expectation>,
}

/// What is measured; particles by their numbers.
#[derive(Clone, Debug, PartialEq)]
pub enum Quantity {
    /// Where particles are, on average, in metres.
    Position(Vec<u32>),
    /// How far they are from where they began, on average, in metres.
    Displacement(Vec<u32>),
    /// Their velocity, on average, in m/s.
    Velocity(Vec<u32>),
    /// From the middle of some particles to that of others, or to the line through two, in metres; how far along the axis
    /// if there is one.
    Distance {
        /// These.
        from: Vec<u32>,
        /// Those.
        to: Target,
    },
    /// From the first to the last of them along each axis, in metres.
    Extent(Vec<u32>),
    /// How round the outline is, seen along the axis: standard deviation along the shorter over that along the longer of
    /// its principal axes.
    AxisRatio(Vec<u32>),
    /// What is pressed on a support or boundary with, in newtons: its number among [`Scene::holders`](super::Scene::holders).
    Force(usize),
    /// The force of contacts on the first of two that touch, in newtons.
    ContactForce(Touching),
    /// The middle of contacts, each counting by its force, in metres.
    ContactPoint(Touching),
    /// Depth of the deepest contact, in metres.
    ContactDepth(Touching),
    /// Of the tetrahedra between them, in m^3.
    Volume(Vec<u32>),
    /// Of the surface triangles between them, in m^2.
    Area(Vec<u32>),
    /// Sum of masses times velocities, in N s.
    Momentum(Vec<u32>),
    /// The same about the origin, in N m s.
    AngularMomentum(Vec<u32>),
    /// Of motion, in gravity and in the springs of elements, in joules.
    Energy(Vec<u32>),
    /// What kind of deformation it was: from the shape at the start, under load, and at the time of the measure.
    Class {
        /// Of these.
        of: Vec<u32>,
        /// When the load was on, in seconds.
        loaded: f64,
    },
    /// How many tetrahedra or, of flat objects, triangles are inside out.
    Inverted,
    /// The largest distance of particles that hang on another part from their places there, in metres.
    Crack(Vec<Place<f64>>),
}

/// What a distance leads to.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// The middle of these particles.
    Middle(Vec<u32>),
    /// The nearest point of the straight line between two.
    Line([u32; 2]),
}

/// When something is measured.
#[derive(Clone, Debug, PartialEq)]
pub enum When {
    /// At the end of the scene's duration.
    End,
    /// At these times in seconds.
    At(Vec<f64>),
    /// At a hundred moments between two times; what counts is one number of them.
    Over {
        /// First moment, in seconds.
        from: f64,
        /// Last moment.
        to: f64,
        /// Which number.
        take: Extreme,
    },
}

/// Which number of many.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Extreme {
    /// The smallest.
    Min,
    /// The largest.
    Max,
    /// The mean.
    Mean,
}

/// Something measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// A number.
    Number(f64),
    /// Along each axis.
    Vector([f64; 3]),
    /// A kind of deformation.
    Class(DeformationKind),
}

impl Quantity {
    /// Its name in scene files.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Position(_) => "position",
            Self::Displacement(_) => "displacement",
            Self::Velocity(_) => "velocity",
            Self::Distance { .. } => "distance",
            Self::Extent(_) => "extent",
            Self::AxisRatio(_) => "axis-ratio",
            Self::Force(_) => "force",
            Self::ContactForce(_) => "contact-force",
            Self::ContactPoint(_) => "contact-point",
            Self::ContactDepth(_) => "contact-depth",
            Self::Volume(_) => "volume",
            Self::Area(_) => "area",
            Self::Momentum(_) => "momentum",
            Self::AngularMomentum(_) => "angular-momentum",
            Self::Energy(_) => "energy",
            Self::Class { .. } => "class",
            Self::Inverted => "inverted",
            Self::Crack(_) => "crack",
        }
    }

    /// Its unit; empty for a number of things and a kind.
    pub fn unit(&self) -> &'static str {
        match self {
            Self::Position(_)
            | Self::Displacement(_)
            | Self::Distance { .. }
            | Self::Extent(_)
            | Self::ContactPoint(_)
            | Self::ContactDepth(_)
            | Self::Crack(_) => "m",
            Self::Velocity(_) => "m/s",
            Self::Force(_) | Self::ContactForce(_) => "N",
            Self::Volume(_) => "m³",
            Self::Area(_) => "m²",
            Self::Momentum(_) => "N s",
            Self::AngularMomentum(_) => "N m s",
            Self::Energy(_) => "J",
            Self::AxisRatio(_) | Self::Class { .. } | Self::Inverted => "",
        }
    }

    /// Whether it has a direction, so that an axis can be asked for.
    pub fn is_vector(&self) -> bool {
        matches!(
            self,
            Self::Position(_)
                | Self::Displacement(_)
                | Self::Velocity(_)
                | Self::Extent(_)
                | Self::Force(_)
                | Self::ContactForce(_)
                | Self::ContactPoint(_)
                | Self::Momentum(_)
                | Self::AngularMomentum(_)
        )
    }

    /// Whether an engine's forces are needed for it.
    fn needs_forces(&self) -> bool {
        matches!(
            self,
            Self::Force(_)
                | Self::ContactForce(_)
                | Self::ContactPoint(_)
                | Self::ContactDepth(_)
                | Self::Energy(_)
        )
    }

    /// Whether the extensions of elements are.
    fn needs_extensions(&self) -> bool {
        matches!(self, Self::Energy(_))
    }
}
