//! What forces beside those of elements leave of the step.
//!
//! Each is a Voigt element of stiffness k and damping c on some particles: with the lightest free mass m its decay rate
//! is at most s c/m, s = 1 against a wall and 2 between particles of equal mass. Rates of forces that may act on
//! the same particle are added to that of the edges.

use super::RK4_REAL;
use crate::{engine::reference::Integrator, force::Rates, scene::Scene};

/// The limits by damping and by springs, given those of the edges.
pub(super) fn limits(scene: &Scene, integrator: Integrator, (damping, spring): (f64, f64)) -> (f64, f64) {
    let forces = scene.forces.stiffest(&scene.object());
    let limit = if integrator == Integrator::Euler { 2.0 } else { RK4_REAL };
    if forces.is_empty() {
        return (damping, spring);
    }
    let rate = limit / damping + forces.iter().map(|(_, rates)| rates.damping).sum::<f64>();
    let stiffest = |(_, Rates { stiffness, damping }): &(&str, Rates)| match integrator {
        Integrator::Euler => damping / stiffness,
        Integrator::Rk4 => RK4_REAL / stiffness.sqrt(),
    };
    (limit / rate, forces.iter().map(stiffest).fold(spring, f64::min))
}
