//! Generalized Voigt element: n Voigt parts in series, several speeds of creep.
//!
//! ```text
//!   o--[k1|b1]--[k2|b2]-- ... --[kn|bn]--o
//! ```

use super::{ElementLaw, Law, Memory, Stretch, spring, three_element::Material};
use crate::force::real::Real;

/// Its parts: pairs of stiffness k and viscosity b.
#[derive(Clone, Debug, PartialEq)]
pub struct GeneralizedVoigt<T>(pub Vec<[T; 2]>);

impl Law for GeneralizedVoigt<f64> {
    const NAME: &'static str = "generalized-voigt";

    fn states(&self) -> usize {
        self.0.len().saturating_sub(1)
    }

    fn acting<T: Real>(&self, _: &Material) -> Box<dyn ElementLaw<T>> {
        Box::new(GeneralizedVoigt(super::narrow(&self.0)))
    }
}

impl GeneralizedVoigt<f64> {
    /// The plain element that bounds its stiffness and damping.
    pub fn bound(&self) -> Material {
        let fastest = self.0.iter().map(|[k, b]| k / b).fold(0.0, f64::max);
        let c1 = 1.0 / self.0.iter().map(|[_, b]| 1.0 / b).sum::<f64>();
        Material { k1: c1 * fastest, c1, c2: f64::INFINITY }
    }
}

impl<T: Real> ElementLaw<T> for GeneralizedVoigt<T> {
    /// States are the extensions of all but the last part, which has what is left of the element's.
    fn tension(&self, stretch: &Stretch<T>, memory: &mut Memory<'_, T>) -> T {
        let Some((&[k, b], first)) = self.0.split_last() else { return T::zero() };
        let (mut left, mut pull, mut ease) = (stretch.length - stretch.rest, stretch.rate, T::one() / b);
        for (i, &[k, b]) in first.iter().enumerate() {
            let d = memory.state(i);
            left -= d;
            pull += k / b * d;
            ease += T::one() / b;
        }
        let tension = (pull + k / b * left) / ease;
        for (i, &[k, b]) in first.iter().enumerate() {
            memory.set_rate(i, (tension - k * memory.state(i)) / b);
        }
        tension
    }

    /// n + 1 divisions among them, with 1/b_i counted as one.
    fn stored(&self, stretch: &Stretch<T>, memory: &Memory<'_, T>) -> T {
        let Some((&[k, _], first)) = self.0.split_last() else { return T::zero() };
        let (mut left, mut sum) = (stretch.length - stretch.rest, T::zero());
        for (i, &[k, _]) in first.iter().enumerate() {
            left -= memory.state(i);
            sum += spring(k, memory.state(i));
        }
        sum + spring(k, left)
    }

    fn operations(&self) -> u64 {
        5 * self.0.len() as u64 + 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Parts in series carry one force, and their rates add up to the element's.
        #[test]
        fn parts_in_series_carry_one_force(parts in prop::collection::vec([0.1f64..9.0, 0.1f64..9.0], 1..5), d in -1.0f64..1.0, rate in -1.0f64..1.0) {
            let n = parts.len();
            let states: Vec<f64> = (0..n).map(|k| 0.1 * k as f64 - 0.2).collect();
            let mut rates = vec![0.0; n];
            let law = GeneralizedVoigt(parts.clone());
            let force = law.tension(&Stretch { length: d, rest: 0.0, rate }, &mut Memory::new(0, 1, &states, &mut rates));
            let last = rate - rates[..n - 1].iter().sum::<f64>();
            let left = d - states[..n - 1].iter().sum::<f64>();
            let [k, b] = parts[n - 1];
            prop_assert!((k * left + b * last - force).abs() < 1e-9 * (1.0 + force.abs()));
            for i in 0..n - 1 {
                let [k, b] = parts[i];
                prop_assert!((k * states[i] + b * rates[i] - force).abs() < 1e-9 * (1.0 + force.abs()));
            }
        }
    }
}
