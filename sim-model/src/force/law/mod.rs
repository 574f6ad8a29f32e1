//! Element laws beside the plain three-element one.
//!
//! A spring, a damper, Voigt's and Maxwell's element need no law of their own: they are limits of the three
//! elements (c2 infinite, k1 zero, c1 zero), see [`crate::force::material::Material`]. What is here is not:
//!
//! | law | states | file |
//! |---|---|---|
//! | slider: the damper is stuck where the Voigt part is too long or too short | 1 | `slider` |
//! | the same by assignment: the Voigt part is put back into its range | 1 | `slider` |
//! | damper that yields: c2 falls with the force | 1 | `yielding` |
//! | generalized Voigt: n Voigt parts in series | n - 1 | `general` |
//! | generalized Maxwell: n Maxwell parts in parallel | n | `general` |
//!
//! Each is a function of numbers: states go in, force and rates come out. The force is a tension: positive
//! in an element that pulls its ends together.

pub mod general;
pub mod slider;
pub mod yielding;

use crate::{
    force::{
        material::Material,
        real::{Real, Vector},
    },
    scene::Scene,
};

/// What an element class does that a plain three-element one does not.
#[derive(Clone, Debug, PartialEq)]
pub struct Law {
    /// How it flows.
    pub flow: Flow,
    /// Within which limits its Voigt part stays, if any.
    pub limits: Option<slider::Limits<f64>>,
}

/// How an element flows.
#[derive(Clone, Debug, PartialEq)]
pub enum Flow {
    /// As the material says: one damper of constant c2.
    Linear,
    /// The damper yields under force.
    Yielding(yielding::Yielding<f64>),
    /// Voigt parts in series: pairs of stiffness and viscosity.
    Voigts(Vec<[f64; 2]>),
    /// Maxwell parts in parallel: pairs of stiffness and viscosity.
    Maxwells(Vec<[f64; 2]>),
}

impl Law {
    /// States of one element.
    pub fn states(&self) -> usize {
        match &self.flow {
            Flow::Linear | Flow::Yielding(_) => 1,
            Flow::Voigts(parts) => parts.len().saturating_sub(1),
            Flow::Maxwells(parts) => parts.len(),
        }
    }

    /// Its name in scene files.
    pub fn name(&self) -> &'static str {
        match (&self.flow, &self.limits) {
            (Flow::Yielding(_), _) => "yielding",
            (Flow::Voigts(_), _) => "generalized-voigt",
            (Flow::Maxwells(_), _) => "generalized-maxwell",
            (Flow::Linear, _) => "slider",
        }
    }
}

/// An element with a law of its own.
#[derive(Clone, Debug)]
pub struct Element<T> {
    /// The edge.
    pub edge: usize,
    start: usize,
    end: usize,
    rest: T,
    three: Three<T>,
    flow: Coefficients<T>,
    limits: Option<slider::Limits<T>>,
    /// Where the states after the first are.
    more: usize,
}

/// The three coefficients, 1/c2 in place of c2.
#[derive(Clone, Copy, Debug)]
struct Three<T> {
    k1: T,
    c1: T,
    flow: T,
}

#[derive(Clone, Debug)]
enum Coefficients<T> {
    Linear,
    Yielding(yielding::Yielding<T>),
    Voigts(Vec<[T; 2]>),
    Maxwells(Vec<[T; 2]>),
}

fn pairs<T: Real>(parts: &[[f64; 2]]) -> Vec<[T; 2]> {
    parts.iter().map(|part| part.map(T::of)).collect()
}

impl<T: Real> Element<T> {
    /// The elements of a scene that have laws of their own; `total` counts states, one per edge of the scene
    /// and then those that elements have besides.
    pub fn of_scene(scene: &Scene, total: &mut usize) -> Vec<Self> {
        let law = |edge: usize| Some((edge, scene.law_of(edge)?));
        let elements = (0..scene.mesh.edges.len()).filter_map(law);
        elements
            .map(|(edge, law)| {
                let more = *total;
                *total += law.states().saturating_sub(1);
                Self::new(scene, edge, law, more)
            })
            .collect()
    }

    fn new(scene: &Scene, edge: usize, law: &Law, more: usize) -> Self {
        let [start, end] = scene.mesh.edges[edge].map(|p| p as usize);
        let Material { k1, c1, .. } = scene.material_of(edge);
        let flow = match &law.flow {
            Flow::Linear => Coefficients::Linear,
            Flow::Yielding(y) => Coefficients::Yielding(y.narrow()),
            Flow::Voigts(parts) => Coefficients::Voigts(pairs(parts)),
            Flow::Maxwells(parts) => Coefficients::Maxwells(pairs(parts)),
        };
        Self {
            edge,
            start,
            end,
            rest: T::of(scene.mesh.edge_length(edge)),
            three: Three { k1: T::of(k1), c1: T::of(c1), flow: T::of(scene.material_of(edge).flow()) },
            flow,
            limits: law.limits.map(|l| l.narrow()),
            more,
        }
    }

    /// Puts the Voigt part back into its range, where the law says so.
    pub fn settle(&self, x: &[Vector<T>], states: &mut [T]) {
        if let Some(limits) = self.limits.filter(|l| l.form == slider::Form::Assign) {
            let length = (x[self.end] - x[self.start]).norm();
            states[self.edge] = limits.clamp(states[self.edge], length, self.rest);
        }
    }

    /// The force on the end particle (the start particle feels its negative), and the rates of its states.
    pub fn compute(&self, x: &[Vector<T>], v: &[Vector<T>], states: &[T], rates: &mut [T]) -> Vector<T> {
        let apart = x[self.end] - x[self.start];
        let length = apart.norm();
        let direction = apart / length;
        let rate = direction.dot(&(v[self.end] - v[self.start]));
        let tension = match &self.flow {
            Coefficients::Linear => self.three(self.three.flow, length, rate, states, rates),
            Coefficients::Yielding(y) => {
                let Three { k1, c1, .. } = self.three;
                let drive = (k1 * states[self.edge] + c1 * rate).abs();
                self.three(T::one() / y.viscosity(c1, drive), length, rate, states, rates)
            }
            Coefficients::Voigts(parts) => {
                let state = |k: usize| self.slot(k);
                general::voigts(parts, length - self.rest, rate, states, rates, state)
            }
            Coefficients::Maxwells(parts) => general::maxwells(parts, rate, states, rates, |k| self.slot(k)),
        };
        direction * -tension
    }

    /// Both ends.
    pub fn ends(&self) -> [usize; 2] {
        [self.start, self.end]
    }

    /// Where its state number `k` is.
    fn slot(&self, k: usize) -> usize {
        if k == 0 { self.edge } else { self.more + k - 1 }
    }

    /// Three elements with a damper of 1/c2 = `flow`: 9 operations, one of them a division. With a stuck slider
    /// the damper has no part.
    fn three(&self, flow: T, length: T, rate: T, states: &[T], rates: &mut [T]) -> T {
        let (u, Three { k1, c1, .. }) = (states[self.edge], self.three);
        let stuck = |l: &slider::Limits<T>| l.form == slider::Form::Switch && !l.slides(u, length, self.rest);
        let flow = if self.limits.as_ref().is_some_and(stuck) { T::zero() } else { flow };
        let tension = (k1 * u + c1 * rate) / (T::one() + c1 * flow);
        rates[self.edge] = rate - flow * tension;
        tension
    }
}
