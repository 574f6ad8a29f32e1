//! Prescribed motion in raw words.
//!
//! The engine moves a held particle by what its velocity rounds to, so a constant velocity would end beside
//! its target. A segment is therefore split where each coordinate changes between two neighbouring
//! increments, and the particle ends exactly on its target's word, with velocities as near as possible to
//! the true one.

use super::Constants;
use crate::contract::numbers::Numbers;

/// Velocities that lead from one place to another in `steps` steps, each with the step after which it
/// starts. `None` when a velocity does not fit its word.
pub(super) fn pieces(
    numbers: &Numbers,
    constants: &Constants,
    from: [i32; 3],
    to: [i32; 3],
    wanted: [i32; 3],
    steps: u64,
) -> Option<Vec<(u64, [i32; 3])>> {
    if steps == 0 {
        return Some(vec![(0, [0; 3])]);
    }
    let n = i64::try_from(steps).ok()?;
    let way: [i64; 3] = std::array::from_fn(|k| i64::from(to[k]) - i64::from(from[k]));
    // The first `more` steps go one unit farther than the others.
    let less = way.map(|w| w.div_euclid(n));
    let more = way.map(|w| w.rem_euclid(n));
    let mut starts: Vec<i64> = more.into_iter().filter(|&m| m < n).chain([0]).collect();
    starts.sort_unstable();
    starts.dedup();
    let velocity = |start: i64| {
        let mut v = [0; 3];
        for k in 0..3 {
            v[k] = nearest(numbers, constants, less[k] + i64::from(start < more[k]), wanted[k])?;
        }
        Some((start as u64, v))
    };
    starts.into_iter().map(velocity).collect()
}

/// The velocity nearest to `wanted` whose position increment is `increment`.
fn nearest(numbers: &Numbers, constants: &Constants, increment: i64, wanted: i32) -> Option<i32> {
    let word = numbers.v.word();
    let moves = |v: i64| constants.position_increment(numbers, v);
    // Increments rise with the velocity: the first velocity that moves at least so far.
    let first = |at_least: i64| {
        let (mut low, mut high) = (-word.max() - 1, word.max() + 1);
        while low < high {
            let middle = (low + high).div_euclid(2);
            if moves(middle) >= at_least { high = middle } else { low = middle + 1 }
        }
        low
    };
    let (low, high) = (first(increment), first(increment + 1) - 1);
    let found = (low <= high && word.fits(low)).then(|| i64::from(wanted).clamp(low, high))?;
    (word.fits(found) && moves(found) == increment).then_some(found as i32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::numbers::{PAPER_2005, WIDE};
    use proptest::prelude::*;

    proptest! {
        /// Whatever the way and the time, the last step ends on the target.
        #[test]
        fn segments_end_on_their_target(
            from in prop::array::uniform3(-100_000i32..100_000),
            to in prop::array::uniform3(-100_000i32..100_000),
            steps in 400u64..3000,
            exponent in 0u32..=7,
        ) {
            let constants = Constants { position_shift: WIDE.position_shift(exponent), ..Constants::default() };
            let wanted = [0, 1000, -1000];
            let pieces = pieces(&WIDE, &constants, from, to, wanted, steps).unwrap();
            let mut x = from.map(i64::from);
            for (k, (start, v)) in pieces.iter().enumerate() {
                let end = pieces.get(k + 1).map_or(steps, |next| next.0);
                for axis in 0..3 {
                    x[axis] += (end - start) as i64 * constants.position_increment(&WIDE, v[axis].into());
                }
            }
            prop_assert_eq!(x, to.map(i64::from));
            prop_assert!(pieces.len() <= 4);
        }
    }

    #[test]
    fn too_fast_is_refused() {
        let constants = Constants { position_shift: WIDE.position_shift(0), ..Constants::default() };
        assert_eq!(pieces(&WIDE, &constants, [0; 3], [1 << 22, 0, 0], [0; 3], 2), None);
        assert_eq!(pieces(&PAPER_2005, &Constants::default(), [0; 3], [1, 0, 0], [0; 3], 2), None);
    }
}
