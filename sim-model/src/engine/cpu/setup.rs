//! A scene as the f32 engine keeps it; refuses what f32 cannot hold.

use super::{CpuError, body::Body, edges::Placed, element::Factors, part::Part};
use crate::{
    mesh::Vec3,
    scene::{Drive, Scene, Support, Timeline},
};

/// A coefficient as f32, unless it would become infinite or, not being zero, nothing.
fn coefficient(value: f64, what: impl Fn() -> String) -> Result<f32, CpuError> {
    let narrow = value as f32;
    if narrow.is_normal() || value == 0.0 { Ok(narrow) } else { Err(CpuError::Range { what: what(), value }) }
}

/// A state or load as f32, unless it would become infinite.
fn finite(value: f64, what: impl Fn() -> String) -> Result<f32, CpuError> {
    let narrow = value as f32;
    if narrow.is_finite() { Ok(narrow) } else { Err(CpuError::Range { what: what(), value }) }
}

/// What f32 leaves of a value.
fn remainder(value: f64) -> f32 {
    (value - f64::from(value as f32)) as f32
}

/// Refuses lengths, extensions, loads and motions that f32 cannot hold.
pub(super) fn check(scene: &Scene) -> Result<(), CpuError> {
    for edge in 0..scene.mesh.edges.len() {
        let length = scene.mesh.edge_length(edge);
        if !(1e-18..1e18).contains(&length) {
            return Err(CpuError::Length { edge, length });
        }
        finite(scene.extension[edge], || format!("extension of edge {edge}"))?;
    }
    for change in Timeline::new(scene).changes {
        let (value, what) = match change.drive {
            Drive::Force(force) => (force, "the force on"),
            Drive::Move(segment) => (segment.velocity, "the prescribed velocity of"),
            Drive::Release { mass, .. } => {
                coefficient(scene.step / mass, || format!("step over mass of particle {}", change.particle))?;
                continue;
            }
        };
        finite(value.amax(), || format!("{what} particle {}", change.particle))?;
    }
    Ok(())
}

/// Coefficients of the element classes.
pub(super) fn classes(scene: &Scene) -> Result<Vec<Factors>, CpuError> {
    let factors = |named: &crate::scene::NamedMaterial| {
        let (m, h) = (named.material, scene.step);
        let of = |what: &'static str| move || format!("{what} of material `{}`", named.name);
        Ok(Factors {
            spring: coefficient(-m.k(), of("k"))?,
            damper: coefficient(-m.c(), of("c"))?,
            step: coefficient(h, || "the step".to_owned())?,
            flow: coefficient(h * m.flow(), of("the flow per step"))?,
        })
    };
    scene.materials.iter().map(factors).collect()
}

/// The particles of a list at the start of a scene.
pub(super) fn body(scene: &Scene, origin: Vec3, list: &[u32]) -> Result<Body, CpuError> {
    let mut body = Body::new(list.len());
    for (k, &particle) in list.iter().enumerate() {
        let p = particle as usize;
        let held = scene.support[p] == Support::Pinned;
        let velocity = if held { Vec3::zeros() } else { scene.velocity[p] };
        let place = scene.mesh.particles[p] - origin;
        for (c, &value) in place.iter().chain(velocity.iter()).enumerate() {
            let high = finite(value, || format!("position or velocity of particle {p}"))?;
            body.motion.set(k, c, [high]);
        }
        body.low.set(k, 0, place.iter().map(|&value| remainder(value)));
        if scene.is_free(p) {
            let mobility = scene.step / scene.mass[p];
            body.mobility[k] = coefficient(mobility, || format!("step over mass of particle {p}"))?;
        }
    }
    Ok(body)
}

/// The edges of a checked scene, shared out: each to the part of the end that comes first.
pub(super) fn share_out(scene: &Scene, places: &[(u32, u32)], bodies: &[Body]) -> Vec<Part> {
    let mut lists = vec![(Vec::new(), Vec::new()); bodies.len()];
    for (number, ends) in scene.mesh.edges.iter().enumerate() {
        if scene.law_of(number).is_some() {
            continue; // computed elsewhere
        }
        // An element looks the same from both ends.
        let mut ends = ends.map(|p| places[p as usize]);
        ends.sort_unstable();
        let [(part, start), (other, end)] = ends;
        let u = scene.extension[number] as f32;
        let class = scene.edge_material[number];
        let edge = Placed { ends: [start, end], class, u, number: number as u32 };
        let (inner, outer) = &mut lists[part as usize];
        if part == other {
            inner.push(edge);
        } else {
            outer.push((edge, other));
        }
    }
    let lists = lists.into_iter().zip(bodies);
    lists.map(|((inner, outer), body)| Part::new(body.motion.len(), inner, outer)).collect()
}
