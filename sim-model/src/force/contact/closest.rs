//! The point of a triangle that is nearest to another point.

use crate::force::real::{Real, Vector};

/// The shares that a triangle's corners have in its point nearest to `p`: none negative, one in all, and exactly zero
/// where that point is on an edge or a corner. A triangle may have no area.
pub(super) fn closest<T: Real>(p: &Vector<T>, [a, b, c]: [Vector<T>; 3]) -> [T; 3] {
    let (zero, one) = (T::zero(), T::one());
    let (ab, ac, bc) = (b - a, c - a, c - b);
    let (from_a, from_b, from_c) = (p - a, p - b, p - c);
    // How far along the sides the foot is, from each corner.
    let (ab_a, ac_a) = (ab.dot(&from_a), ac.dot(&from_a));
    if ab_a <= zero && ac_a <= zero {
        return [one, zero, zero];
    }
    let (ab_b, bc_b) = (-ab.dot(&from_b), bc.dot(&from_b));
    if ab_b <= zero && bc_b <= zero {
        return [zero, one, zero];
    }
    let (ac_c, bc_c) = (-ac.dot(&from_c), -bc.dot(&from_c));
    if ac_c <= zero && bc_c <= zero {
        return [zero, zero, one];
    }
    // Beyond a side, seen from inside: the areas opposite the corners, in the triangle's own turn.
    let turn = ab.cross(&ac);
    let opposite = |q: &Vector<T>, r: &Vector<T>| q.cross(r).dot(&turn);
    // Of a side without length nothing is nearest that another side does not have, too.
    let over = |to: T, rest: T| to >= zero && rest >= zero && to + rest > zero;
    let along = |to: T, rest: T| to / (to + rest);
    let area_c = opposite(&from_a, &from_b);
    if area_c <= zero && over(ab_a, ab_b) {
        let share = along(ab_a, ab_b);
        return [one - share, share, zero];
    }
    let area_b = opposite(&from_c, &from_a);
    if area_b <= zero && over(ac_a, ac_c) {
        let share = along(ac_a, ac_c);
        return [one - share, zero, share];
    }
    let area_a = opposite(&from_b, &from_c);
    if area_a <= zero && over(bc_b, bc_c) {
        let share = along(bc_b, bc_c);
        return [zero, one - share, share];
    }
    let whole = area_a + area_b + area_c;
    let (to_b, to_c) = (area_b / whole, area_c / whole);
    [(one - to_b - to_c).max(zero), to_b, to_c]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::Vec3;
    use proptest::prelude::*;

    fn place(shares: [f64; 3], corners: [Vec3; 3]) -> Vec3 {
        corners.iter().zip(shares).map(|(corner, share)| corner * share).sum()
    }

    proptest! {
        /// Of no other point of the triangle the distance is less: half-planes seen from the nearest one.
        #[test]
        fn nothing_is_nearer(p in prop::array::uniform3(-2.0f64..2.0), corners in prop::array::uniform3(prop::array::uniform3(-1.0f64..1.0)), side in 0usize..4) {
            let p = Vec3::from(p);
            let mut corners = corners.map(Vec3::from);
            if side < 3 {
                corners[side] = corners[(side + 1) % 3];
            }
            let shares = closest(&p, corners);
            prop_assert!(shares.iter().all(|s| *s >= 0.0));
            prop_assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            let foot = place(shares, corners);
            for corner in corners {
                let further = (p - foot).dot(&(corner - foot));
                prop_assert!(further <= 1e-9, "{} at {:?}", further, shares);
            }
        }
    }
}
