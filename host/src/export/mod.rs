//! What a run leaves for other programs: a VTU series, tables, a glTF model, a report.

pub mod gltf;
pub mod history;
pub mod measures;
pub mod page;
pub mod quantity;
pub mod series;
pub mod vtu;

pub use crate::picture::escape;

use nendo_model::{mesh::Vec3, scene::Scene};

/// How far each particle is from where it began, in metres.
pub fn displacements(scene: &Scene, positions: &[Vec3]) -> Vec<Vec3> {
    positions.iter().zip(&scene.mesh.particles).map(|(now, start)| now - start).collect()
}

/// Mean relative elongation of the edges at each particle: positive where the object is stretched.
pub fn elongations(scene: &Scene, positions: &[Vec3]) -> Vec<f64> {
    let mut sum = vec![(0.0, 0u32); positions.len()];
    for (k, &[i, j]) in scene.mesh.edges.iter().enumerate() {
        let now = (positions[j as usize] - positions[i as usize]).norm();
        let strain = now / scene.mesh.edge_length(k) - 1.0;
        for p in [i, j] {
            sum[p as usize].0 += strain;
            sum[p as usize].1 += 1;
        }
    }
    sum.into_iter().map(|(total, count)| total / f64::from(count.max(1))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretching_by_a_tenth_is_an_elongation_of_a_tenth() {
        let scene = Scene::open("box:3x3x3").unwrap();
        let stretched: Vec<Vec3> = scene.mesh.particles.iter().map(|p| p * 1.1).collect();
        assert!(elongations(&scene, &stretched).iter().all(|e| (e - 0.1).abs() < 1e-12));
        let moved = displacements(&scene, &stretched);
        assert!(moved.iter().zip(&scene.mesh.particles).all(|(d, p)| (d - p * 0.1).norm() < 1e-12));
    }
}
