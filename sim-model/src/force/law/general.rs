//! Generalized elements: several time constants in one element.
//!
//! ```text
//!   Voigt:  o--[k1|b1]--[k2|b2]-- ... --[kn|bn]--o      several speeds of creep
//!   Maxwell: n times (k_i in series with b_i) side by side   several speeds of relaxation
//! ```

use crate::force::real::Real;

/// Voigt parts [k, b] in series. States are the extensions of all but the last part, which has what is left
/// of the element's `extension`. 5 n + 2 operations, n + 1 divisions among them, with 1/b_i counted as one.
///
/// `slot` says where a state is.
pub fn voigts<T: Real>(
    parts: &[[T; 2]],
    extension: T,
    rate: T,
    states: &[T],
    rates: &mut [T],
    slot: impl Fn(usize) -> usize,
) -> T {
    let Some((&[k, b], first)) = parts.split_last() else { return T::zero() };
    let (mut left, mut pull, mut ease) = (extension, rate, T::one() / b);
    for (i, &[k, b]) in first.iter().enumerate() {
        let d = states[slot(i)];
        left -= d;
        pull += k / b * d;
        ease += T::one() / b;
    }
    let tension = (pull + k / b * left) / ease;
    for (i, &[k, b]) in first.iter().enumerate() {
        rates[slot(i)] = (tension - k * states[slot(i)]) / b;
    }
    tension
}

/// Maxwell parts [k, b] in parallel. States are the extensions of the springs. 5 n operations.
///
/// `slot` says where a state is.
pub fn maxwells<T: Real>(
    parts: &[[T; 2]],
    rate: T,
    states: &[T],
    rates: &mut [T],
    slot: impl Fn(usize) -> usize,
) -> T {
    let mut tension = T::zero();
    for (i, &[k, b]) in parts.iter().enumerate() {
        let force = k * states[slot(i)];
        tension += force;
        rates[slot(i)] = rate - force / b;
    }
    tension
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
            let force = voigts(&parts, d, rate, &states, &mut rates, |k| k);
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

    /// Held at extension 1, Maxwell parts relax each at its own speed: f = sum k e^(-k t/b).
    #[test]
    fn held_maxwell_parts_relax() {
        let parts = [[1.0, 10.0], [1.0, 100.0], [1.0, 1000.0]];
        let (mut states, mut rates, h) = (vec![1.0; 3], vec![0.0; 3], 0.01);
        let mut force = 0.0;
        for step in 0..=10_000 {
            force = maxwells(&parts, 0.0, &states, &mut rates, |k| k);
            if step == 1000 {
                assert!((force - 2.26277f64).abs() < 1e-3, "{force}");
            }
            states.iter_mut().zip(&rates).for_each(|(s, r)| *s += h * r);
        }
        assert!((force - 1.27276).abs() < 1e-3, "{force}");
    }
}
