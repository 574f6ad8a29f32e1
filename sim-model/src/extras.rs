//! What a scene has beside plain three-element edges, ready to be computed: one code for f32 and f64.
//!
//! An engine asks twice a step: [`Extras::settle`] brings what is remembered up to the present state, and
//! [`Extras::add`] computes forces from it. All sums are in the scene's order and by one thread, so that results do
//! not depend on how an engine shares out the rest.

use crate::{
    law,
    mesh::Vec3,
    real::{Real, Vector},
    scene::Scene,
};

/// Laws and forces of a scene beyond plain edges.
#[derive(Clone, Debug)]
pub struct Extras<T> {
    laws: Vec<law::Element<T>>,
    states: usize,
}

impl<T: Real> Extras<T> {
    /// Those of a scene, if it has any; positions are relative to `origin`.
    pub fn new(scene: &Scene, _origin: Vec3) -> Option<Self> {
        if scene.extras().is_empty() {
            return None;
        }
        let mut states = scene.mesh.edges.len();
        let laws = law::Element::of_scene(scene, &mut states);
        Some(Self { laws, states })
    }

    /// How many numbers the states of elements are: one for each edge of the scene, and what some have besides.
    pub fn states(&self) -> usize {
        self.states
    }

    /// Elements that have laws of their own.
    pub fn laws(&self) -> &[law::Element<T>] {
        &self.laws
    }

    /// Before each step: puts states back into their limits.
    pub fn settle(&mut self, x: &[Vector<T>], _v: &[Vector<T>], states: &mut [T]) {
        self.laws.iter().for_each(|law| law.settle(x, states));
    }

    /// Adds all forces to `force`, and sets the rates of the states of elements that have laws of their own.
    pub fn add(
        &self,
        x: &[Vector<T>],
        v: &[Vector<T>],
        states: &[T],
        force: &mut [Vector<T>],
        rates: &mut [T],
    ) {
        for law in &self.laws {
            let on_end = law.compute(x, v, states, rates);
            let [start, end] = law.ends();
            force[start] -= on_end;
            force[end] += on_end;
        }
    }
}
