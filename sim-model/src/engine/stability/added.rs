//! What forces beyond edges leave of the step.
//!
//! Each is a Voigt element of stiffness k and damping c on some particles: with the lightest free mass m its decay rate
//! is at most s c/m, s = 1 against a wall and 2 between particles of equal mass. Rates of forces that may act on
//! the same particle are added to that of the edges.

use super::RK4_REAL;
use crate::{
    engine::reference::Integrator,
    force::volume::{Per, Volume},
    scene::Scene,
};

/// The limits by damping and by springs, given those of the edges.
pub(super) fn limits(scene: &Scene, integrator: Integrator, (damping, spring): (f64, f64)) -> (f64, f64) {
    let voigts = voigts(scene);
    let limit = if integrator == Integrator::Euler { 2.0 } else { RK4_REAL };
    if voigts.is_empty() {
        return (damping, spring);
    }
    let rate = limit / damping + voigts.iter().map(|(_, c)| c).sum::<f64>();
    let stiffest = |&(k, c): &(f64, f64)| match integrator {
        Integrator::Euler => c / k,
        Integrator::Rk4 => RK4_REAL / k.sqrt(),
    };
    (limit / rate, voigts.iter().map(stiffest).fold(spring, f64::min))
}

/// Stiffness and damping of each force, over mass.
fn voigts(scene: &Scene) -> Vec<(f64, f64)> {
    let free = (0..scene.mass.len()).filter(|&p| scene.is_free(p));
    let lightest = free.map(|p| scene.mass[p]).fold(f64::INFINITY, f64::min);
    let added = &scene.added;
    let over = |k: f64, c: f64, share: f64| (share * k / lightest, share * c / lightest);
    let mut list = Vec::new();
    list.extend(added.topology.map(|t| over(t.stiffness, t.damping, 2.0)));
    list.extend(added.contact.map(|c| over(c.stiffness, c.damping, if added.surfaces { 2.0 } else { 1.0 })));
    let firmest = added.links.iter().map(|l| over(l.stiffness, l.damping, 2.0));
    list.extend(firmest.reduce(|a, b| (a.0.max(b.0), a.1.max(b.1))));
    list.extend(added.volume.map(|pressure| {
        let cells = Volume::<f64>::new(&scene.mesh, &pressure);
        let square = cells
            .steepest(&scene.mesh.particles, |p| if scene.is_free(p) { 1.0 / scene.mass[p] } else { 0.0 });
        let shared = if pressure.per == Per::Element { most_shared(scene) } else { 1.0 };
        (pressure.stiffness * square * shared, pressure.damping * square * shared)
    }));
    list
}

/// How many elements share a particle, at most.
fn most_shared(scene: &Scene) -> f64 {
    let mut count = vec![0.0; scene.mesh.particles.len()];
    let (triangles, tetrahedra) = (&scene.mesh.triangles, &scene.mesh.tetrahedra);
    let corners: Vec<u32> = match tetrahedra.is_empty() {
        true => triangles.iter().flatten().copied().collect(),
        false => tetrahedra.iter().flatten().copied().collect(),
    };
    corners.into_iter().for_each(|p| count[p as usize] += 1.0);
    count.into_iter().fold(1.0, f64::max)
}
