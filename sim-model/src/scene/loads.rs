//! External forces on particles: the scene's own, and what somebody adds while an engine runs.

use std::{array, ops::Add};

/// Forces in an engine's own numbers, kept apart so that what was added can be taken away again exactly.
#[derive(Clone, Debug)]
pub struct Loads<T> {
    own: Vec<[T; 3]>,
    added: Vec<[T; 3]>,
}

impl<T: Copy + Default + Add<Output = T>> Loads<T> {
    /// The scene's own forces, nothing added.
    pub fn new(own: Vec<[T; 3]>) -> Self {
        let added = vec![[T::default(); 3]; own.len()];
        Self { own, added }
    }

    /// The force on a particle.
    pub fn total(&self, particle: u32) -> [T; 3] {
        let p = particle as usize;
        array::from_fn(|k| self.own[p][k] + self.added[p][k])
    }

    /// Changes the scene's own force; returns the total.
    pub fn set_own(&mut self, particle: u32, force: [T; 3]) -> [T; 3] {
        self.own[particle as usize] = force;
        self.total(particle)
    }

    /// Changes what is added; returns the total.
    pub fn set_added(&mut self, particle: u32, force: [T; 3]) -> [T; 3] {
        self.added[particle as usize] = force;
        self.total(particle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Whatever was added and taken away again leaves the scene's own force, in floating point too.
        #[test]
        fn nothing_of_what_was_added_stays(own in prop::array::uniform3(-1e3f64..1e3), added in prop::array::uniform3(-1e9f64..1e9)) {
            let mut loads = Loads::new(vec![[0.0; 3]; 2]);
            loads.set_added(1, added);
            prop_assert_eq!(loads.set_own(1, own), [0, 1, 2].map(|k| own[k] + added[k]));
            prop_assert_eq!(loads.total(0), [0.0; 3]);
            prop_assert_eq!(loads.set_added(1, [0.0; 3]), own);
        }
    }
}
