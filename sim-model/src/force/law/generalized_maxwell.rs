//! Generalized Maxwell element: n Maxwell parts in parallel, several speeds of relaxation.
//!
//! ```text
//!     +--[k1]--[b1]--+
//!   o-+--    ...   --+-o
//!     +--[kn]--[bn]--+
//! ```

use super::{ElementLaw, Law, Memory, Stretch, spring, three_element::Material};
use crate::force::real::Real;

/// Its parts: pairs of stiffness k and viscosity b.
#[derive(Clone, Debug, PartialEq)]
pub struct GeneralizedMaxwell<T>(pub Vec<[T; 2]>);

impl Law for GeneralizedMaxwell<f64> {
    const NAME: &'static str = "generalized-maxwell";

    fn states(&self) -> usize {
        self.0.len()
    }

    fn acting<T: Real>(&self, _: &Material) -> Box<dyn ElementLaw<T>> {
        Box::new(GeneralizedMaxwell(super::narrow(&self.0)))
    }
}

impl GeneralizedMaxwell<f64> {
    /// The plain element that bounds its stiffness and damping.
    pub fn bound(&self) -> Material {
        let sum = |of: fn(&[f64; 2]) -> f64| self.0.iter().map(of).sum();
        Material { k1: sum(|p| p[0]), c1: 0.0, c2: sum(|p| p[1]) }
    }
}

impl<T: Real> ElementLaw<T> for GeneralizedMaxwell<T> {
    /// States are the extensions of the springs.
    fn tension(&self, stretch: &Stretch<T>, memory: &mut Memory<'_, T>) -> T {
        let mut tension = T::zero();
        for (i, &[k, b]) in self.0.iter().enumerate() {
            let force = k * memory.state(i);
            tension += force;
            memory.set_rate(i, stretch.rate - force / b);
        }
        tension
    }

    fn stored(&self, _: &Stretch<T>, memory: &Memory<'_, T>) -> T {
        let parts = self.0.iter().enumerate();
        parts.map(|(i, &[k, _])| spring(k, memory.state(i))).fold(T::zero(), |sum, part| sum + part)
    }

    fn operations(&self) -> u64 {
        5 * self.0.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Held at extension 1, Maxwell parts relax each at its own speed: f = sum k e^(-k t/b).
    #[test]
    fn held_maxwell_parts_relax() {
        let law = GeneralizedMaxwell(vec![[1.0, 10.0], [1.0, 100.0], [1.0, 1000.0]]);
        let held = Stretch { length: 1.0, rest: 0.0, rate: 0.0 };
        let (mut states, mut rates, h) = (vec![1.0; 3], vec![0.0; 3], 0.01);
        let mut force = 0.0;
        for step in 0..=10_000 {
            force = law.tension(&held, &mut Memory::new(0, 1, &states, &mut rates));
            if step == 1000 {
                assert!((force - 2.26277f64).abs() < 1e-3, "{force}");
            }
            states.iter_mut().zip(&rates).for_each(|(s, r)| *s += h * r);
        }
        assert!((force - 1.27276).abs() < 1e-3, "{force}");
    }
}
