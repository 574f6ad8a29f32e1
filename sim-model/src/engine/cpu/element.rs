//! Eight elements at once, in plain arrays the compiler turns into vectors.
//!
//! No fused multiplication and no approximate root: what is rounded here is rounded alike on every machine.

pub(super) use crate::machine::swap::{BLOCK, Lanes};

/// Coefficients of an element class, with signs and step worked in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Factors {
    /// -K: force per extension.
    pub(super) spring: f32,
    /// -C: force per rate.
    pub(super) damper: f32,
    /// The step h.
    pub(super) step: f32,
    /// h times flow: extension per force.
    pub(super) flow: f32,
}

/// The forces on the ends, and by how much the extensions grow in a step, from the differences of position and
/// velocity. Where `live` has no bit there is no element: zero.
#[inline(always)]
pub(super) fn block(f: &Factors, d: [Lanes; 3], w: [Lanes; 3], live: u8, u: Lanes) -> ([Lanes; 3], Lanes) {
    let (mut forces, mut growth) = ([[0.0; BLOCK]; 3], [0.0; BLOCK]);
    for l in 0..BLOCK {
        let is_live = live & (1 << l) != 0;
        let [x, y, z] = [d[0][l], d[1][l], d[2][l]];
        let inverse = 1.0 / (x * x + y * y + z * z).sqrt();
        let rate = (x * w[0][l] + y * w[1][l] + z * w[2][l]) * inverse;
        let rate = if is_live { rate } else { 0.0 };
        let force = f.spring * u[l] + f.damper * rate;
        growth[l] = f.step * rate + f.flow * force;
        let scale = if is_live { force * inverse } else { 0.0 };
        forces[0][l] = scale * x;
        forces[1][l] = scale * y;
        forces[2][l] = scale * z;
    }
    (forces, growth)
}

/// The same, with the extensions advanced.
#[inline(always)]
pub(super) fn advance(f: &Factors, d: [Lanes; 3], w: [Lanes; 3], live: u8, u: &mut Lanes) -> [Lanes; 3] {
    let (forces, growth) = block(f, d, w, live, *u);
    for l in 0..BLOCK {
        u[l] += growth[l];
    }
    forces
}
