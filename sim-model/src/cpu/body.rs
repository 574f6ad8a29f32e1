//! The particles of a part and how they move.

use super::{
    columns::Columns,
    part::{Abroad, Part},
};
use crate::vectors::{Vectors, vectorize};

/// Particles of one part.
#[derive(Clone, Debug)]
pub(super) struct Body {
    /// Positions, then velocities.
    pub(super) motion: Columns<6>,
    /// What rounding has taken from `motion` so far: added again with the next increment, so that increments
    /// smaller than the last place of a coordinate are not lost.
    pub(super) low: Columns<6>,
    pub(super) external: Columns<3>,
    /// Step over mass; zero if forces do not move the particle.
    pub(super) mobility: Vec<f32>,
    /// Which parts' edges lead here, and where; in order of parts, so that forces are added in an order that
    /// depends on the mesh alone.
    pub(super) joints: Vec<(usize, Abroad)>,
    /// Sums of forces.
    force: Columns<3>,
}

impl Body {
    /// So many particles at rest, not moved by forces.
    pub(super) fn new(particles: usize) -> Self {
        Self {
            motion: Columns::new(particles),
            low: Columns::new(particles),
            external: Columns::new(particles),
            mobility: vec![0.0; particles],
            joints: Vec::new(),
            force: Columns::new(particles),
        }
    }

    /// Moves all particles by a step.
    pub(super) fn advance(&mut self, vectors: Option<Vectors>, step: f32, parts: &[Part], own: usize) {
        match vectors {
            Some(simd) => vectorize(
                simd,
                #[inline(always)]
                || self.particles(step, parts, own),
            ),
            None => self.particles(step, parts, own),
        }
    }

    #[inline(always)]
    fn particles(&mut self, step: f32, parts: &[Part], own: usize) {
        let Self { motion, low, external, mobility, joints, force } = self;
        let (positions_velocities, lows, forces) =
            (motion.columns_mut(), low.columns_mut(), force.columns_mut());
        let [x, y, z, p, q, r] = positions_velocities;
        let [x_low, y_low, z_low, p_low, q_low, r_low] = lows;
        for (c, force) in forces.into_iter().enumerate() {
            sum(force, parts[own].forces.column(c), external.column(c));
            for &(part, Abroad { particle, slot, count, .. }) in joints.iter() {
                let from = &parts[part].across.column(c)[slot..slot + count];
                force[particle..particle + count].iter_mut().zip(from).for_each(|(f, more)| *f += more);
            }
            let (place, velocity, place_low, velocity_low) = match c {
                0 => (&mut *x, &mut *p, &mut *x_low, &mut *p_low),
                1 => (&mut *y, &mut *q, &mut *y_low, &mut *q_low),
                _ => (&mut *z, &mut *r, &mut *z_low, &mut *r_low),
            };
            integrate(place, place_low, velocity.iter().map(|velocity| step * velocity));
            integrate(velocity, velocity_low, force.iter().zip(&*mobility).map(|(force, m)| m * force));
        }
    }
}

#[inline(always)]
fn sum(to: &mut [f32], a: &[f32], b: &[f32]) {
    for (to, (a, b)) in to.iter_mut().zip(a.iter().zip(b)) {
        *to = a + b;
    }
}

/// Adds an increment to each value: what the value cannot hold goes to `low`.
#[inline(always)]
fn integrate(value: &mut [f32], low: &mut [f32], increments: impl Iterator<Item = f32>) {
    for ((value, low), increment) in value.iter_mut().zip(low).zip(increments) {
        let increment = increment + *low;
        let sum = *value + increment;
        *low = increment - (sum - *value);
        *value = sum;
    }
}
