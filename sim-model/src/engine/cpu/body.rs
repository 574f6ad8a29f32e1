//! The particles of a part and how they move.

use super::{
    abroad::{Abroad, Pushes},
    columns::Columns,
};
use crate::machine::vectors::{Vectors, vectorize};
use std::ops::Deref;

/// Particles of one part.
#[derive(Clone, Debug)]
pub(super) struct Body {
    /// Positions, then velocities.
    pub(super) motion: Columns<6>,
    /// What rounding has taken from the positions so far: added again with the next increment, so that increments
    /// smaller than the last place of a coordinate are not lost.
    pub(super) low: Columns<3>,
    external: Columns<3>,
    /// Step over mass; zero if forces do not move the particle.
    pub(super) mobility: Vec<f32>,
    /// Which parts' edges lead here, and where; in order of parts, so that forces are added in an order that
    /// depends on the mesh alone.
    pub(super) joints: Vec<(usize, Abroad)>,
    /// External forces, and where edges of other parts lead to, those of this step.
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

    /// Sets the external force on a particle.
    pub(super) fn set_external(&mut self, particle: usize, force: [f32; 3]) {
        self.external.set(particle, 0, force);
        self.force.set(particle, 0, force);
    }

    /// Moves all particles by a step.
    pub(super) fn advance<P: Deref<Target: Pushes>>(
        &mut self,
        vectors: Option<Vectors>,
        step: f32,
        part: impl Fn(usize) -> P,
        own: usize,
    ) {
        let own = part(own);
        let forces = own.on_own();
        match vectors {
            Some(simd) => vectorize(
                simd,
                #[inline(always)]
                || self.particles(step, forces, part),
            ),
            None => self.particles(step, forces, part),
        }
    }

    #[inline(always)]
    fn particles<P: Deref<Target: Pushes>>(
        &mut self,
        step: f32,
        own: &Columns<3>,
        part: impl Fn(usize) -> P,
    ) {
        let Self { motion, low, external, mobility, joints, force } = self;
        for &(_, Abroad { particle, count, .. }) in joints.iter() {
            force.copy(particle, external, particle, count);
        }
        for joints in joints.chunk_by(|a, b| a.0 == b.0) {
            let other = part(joints[0].0);
            for (c, force) in force.columns_mut().into_iter().enumerate() {
                for &(_, Abroad { particle, slot, count, .. }) in joints {
                    let from = &other.on_others().column(c)[slot..slot + count];
                    force[particle..particle + count].iter_mut().zip(from).for_each(|(f, more)| *f += more);
                }
            }
        }
        let [x, y, z, p, q, r] = motion.columns_mut();
        let (places, velocities) = ([x, y, z], [p, q, r]);
        for (c, ((place, velocity), low)) in
            places.into_iter().zip(velocities).zip(low.columns_mut()).enumerate()
        {
            integrate(place, low, velocity.iter().map(|velocity| step * velocity));
            let forces = own.column(c).iter().zip(force.column(c)).map(|(own, others)| own + others);
            for ((velocity, force), m) in velocity.iter_mut().zip(forces).zip(&*mobility) {
                *velocity += m * force;
            }
        }
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
