//! The fastest motion a scene's edges can have.

use super::Scene;
use crate::mesh::Vec3;

/// The fastest motion there is.
pub(crate) struct Mode {
    /// Largest eigenvalue of M^-1 sum(w e e^T) over all edges.
    pub(crate) value: f64,
    /// What each edge contributes to it.
    pub(crate) by_edge: Vec<f64>,
}

/// The fastest mode by power iteration; particles that are always held have no part.
pub(crate) fn fastest_mode(scene: &Scene, weight: &[f64]) -> Mode {
    let mesh = &scene.mesh;
    let n = mesh.particles.len();
    let root: Vec<f64> =
        (0..n).map(|p| if scene.becomes_free(p) { 1.0 / scene.mass[p].sqrt() } else { 0.0 }).collect();
    let direction: Vec<Vec3> = mesh
        .edges
        .iter()
        .map(|&[i, j]| (mesh.particles[j as usize] - mesh.particles[i as usize]).normalize())
        .collect();
    // Power iteration creeps up from below; what it may still lack is added as a margin of two percent.
    let rounds = if mesh.edges.len() < 100_000 { 200 } else { 60 };
    let mut vector: Vec<Vec3> = scrambled(n);
    let mut value = 0.0;
    let mut by_edge = vec![0.0; mesh.edges.len()];
    for round in 1..=rounds {
        let norm = vector.iter().map(|v| v.norm_squared()).sum::<f64>().sqrt();
        if norm == 0.0 {
            return Mode { value: 0.0, by_edge };
        }
        vector.iter_mut().for_each(|v| *v /= norm);
        let mut image = vec![Vec3::zeros(); n];
        for (k, ((&[i, j], e), w)) in mesh.edges.iter().zip(&direction).zip(weight).enumerate() {
            let (i, j) = (i as usize, j as usize);
            let rate = e.dot(&(vector[j] * root[j] - vector[i] * root[i]));
            let pull = *w * rate * e;
            if round == rounds {
                by_edge[k] = w * rate * rate;
            }
            image[j] += pull * root[j];
            image[i] -= pull * root[i];
        }
        value = vector.iter().zip(&image).map(|(a, b)| a.dot(b)).sum();
        vector = image;
    }
    Mode { value: 1.02 * value, by_edge }
}

/// Its eigenvalue alone.
pub(crate) fn largest_eigenvalue(scene: &Scene, weight: &[f64]) -> f64 {
    fastest_mode(scene, weight).value
}

/// A start vector with no symmetry, the same every time.
pub(crate) fn scrambled(n: usize) -> Vec<Vec3> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / f64::from(1u32 << 30) - 1.0
    };
    (0..n).map(|_| Vec3::new(next(), next(), next())).collect()
}
