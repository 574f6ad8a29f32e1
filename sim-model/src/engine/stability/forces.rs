//! What forces beside those of elements leave of the step.
//!
//! Each is a Voigt element of stiffness k and damping c on some particles: with the lightest free mass m its decay rate
//! is at most s c/m, s = 1 against a wall and 2 between particles of equal mass. Rates of forces that may act on
//! the same particle are added to that of the edges.

use super::{Kind, Limit, RK4_REAL, Source, Spring};
use crate::{engine::reference::Integrator, force::Bound, scene::Scene};

/// Their decay rates, each with what it comes from, and the steps that their springs bear.
pub(super) fn limits(scene: &Scene, integrator: Integrator) -> (Vec<(f64, Limit)>, Vec<Spring>) {
    let forces = scene.forces.bounds(&scene.object());
    let of = |kind, bound: &Bound| Limit { kind, of: Source::Force(bound.name, bound.table) };
    let damping = forces.iter().map(|b| (b.rates.damping, of(Kind::Damping, b))).collect();
    let moving = forces.iter().filter(|b| b.rates.stiffness > 0.0);
    let spring = moving.map(|b| {
        let step = match integrator {
            Integrator::Euler => b.rates.slowest,
            Integrator::Rk4 => RK4_REAL / b.rates.stiffness.sqrt(),
        };
        (step, of(Kind::Spring, b))
    });
    (damping, spring.collect())
}
