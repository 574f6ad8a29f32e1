//! What is timed: the standard boxes, a box in disorder, and a mesh without any lattice.

use nendo_model::{
    mesh::{Mesh, MeshError, Vec3},
    scene::Scene,
    scene::SceneError,
};

/// Random numbers that are the same in every run (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn vector(&mut self, size: f64) -> Vec3 {
        Vec3::from_fn(|_, _| (2.0 * self.unit() - 1.0) * size)
    }

    fn permutation(&mut self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        for k in (1..n).rev() {
            order.swap(k, (self.next() % (k as u64 + 1)) as usize);
        }
        order
    }
}

/// Every particle in motion: at rest an engine would compute with zeros, or with numbers too small to be normal.
fn stir(mut scene: Scene) -> Scene {
    let mut random = Random(1);
    scene.velocity.iter_mut().for_each(|v| *v = random.vector(0.05));
    scene
}

/// A box by its size, e.g. 32x32x32.
pub fn regular(size: &str) -> Result<Scene, SceneError> {
    Scene::open(&format!("box:{size}")).map(stir)
}

/// A scene without loads whose particles and edges are numbered at random.
fn disorder(scene: &Scene) -> Scene {
    let mut random = Random(2);
    let (particles, edges) = (scene.mesh.particles.len(), scene.mesh.edges.len());
    let (place, edge_place) = (random.permutation(particles), random.permutation(edges));
    let mut mesh =
        Mesh { particles: vec![Vec3::zeros(); particles], edges: vec![[0; 2]; edges], ..Mesh::default() };
    for (old, &new) in place.iter().enumerate() {
        mesh.particles[new] = scene.mesh.particles[old];
    }
    for (old, &new) in edge_place.iter().enumerate() {
        mesh.edges[new] = scene.mesh.edges[old].map(|p| place[p as usize] as u32);
    }
    let material = scene.materials[0].material;
    stir(Scene::uniform(&scene.name, mesh, material, scene.mass[0], scene.step, scene.duration))
}

/// A box whose particles and edges are numbered at random.
pub fn shuffled(size: &str) -> Result<Scene, SceneError> {
    Ok(disorder(&regular(size)?))
}

/// Tetrahedra of a box whose particles are displaced at random and of which every third is divided in four at
/// a random inner point; numbered at random.
pub fn tetrahedra(size: &str) -> Result<Result<Scene, MeshError>, SceneError> {
    let mut random = Random(3);
    let whole = regular(size)?;
    let mut particles: Vec<Vec3> = whole.mesh.particles.iter().map(|p| p + random.vector(1.0)).collect();
    let mut list = Vec::new();
    for corners in &whole.mesh.tetrahedra {
        if !random.next().is_multiple_of(3) {
            list.push(*corners);
            continue;
        }
        let weights = [0; 4].map(|_| 0.8 + random.unit());
        let sum: f64 = weights.iter().sum();
        let inner = corners.iter().zip(weights).map(|(&c, w)| particles[c as usize] * (w / sum)).sum();
        for k in 0..4 {
            let mut part = *corners;
            part[k] = particles.len() as u32;
            list.push(part);
        }
        particles.push(inner);
    }
    let material = whole.materials[0].material;
    Ok(Mesh::from_tetrahedra(particles, list)
        .map(|mesh| disorder(&Scene::uniform("tetrahedra", mesh, material, 1.0, whole.step, whole.duration))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use nendo_model::engine::cpu::Cpu;

    #[test]
    fn meshes_are_sound_and_as_regular_as_they_say() {
        let regularity = |scene: &Scene| Cpu::new(scene, 1).unwrap().regularity().0;
        let (plain, mixed) = (regular("9x8x7").unwrap(), shuffled("9x8x7").unwrap());
        assert_ne!(plain.mesh.edges, mixed.mesh.edges);
        assert_eq!(plain.mesh.edges.len(), mixed.mesh.edges.len());
        assert_eq!(mixed.mesh.check(), Ok(()));
        assert!((regularity(&plain) - regularity(&mixed)).abs() < 0.05);
        let random = tetrahedra("9x8x7").unwrap().unwrap();
        assert_eq!(random.mesh.check(), Ok(()));
        assert!(random.mesh.particles.len() > plain.mesh.particles.len());
        assert!(regularity(&random) < 0.5 * regularity(&plain), "{}", regularity(&random));
    }
}
