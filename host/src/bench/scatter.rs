//! What the f32 engine is measured against: the loop one writes first. One pass over the edges in the order they
//! come, forces added where they belong, then one pass over the particles.

use nendo_model::scene::{Drive, Scene, Timeline};

type Vector = [f32; 3];

/// The plain engine: one material, forces as they are at the start.
#[derive(Clone, Debug)]
pub struct Scatter {
    step: f32,
    k: f32,
    c: f32,
    flow: f32,
    edges: Vec<[u32; 2]>,
    u: Vec<f32>,
    x: Vec<Vector>,
    v: Vec<Vector>,
    force: Vec<Vector>,
    external: Vec<Vector>,
    mass_inverse: Vec<f32>,
}

impl Scatter {
    /// An engine at the start of a scene.
    pub fn new(scene: &Scene) -> Self {
        let narrow = |v: &nendo_model::mesh::Vec3| [v.x as f32, v.y as f32, v.z as f32];
        let n = scene.mesh.particles.len();
        let mut external = vec![[0.0; 3]; n];
        for change in Timeline::new(scene).changes.iter().filter(|c| c.step == 0) {
            if let Drive::Force(force) = &change.drive {
                external[change.particle as usize] = narrow(force);
            }
        }
        let material = scene.materials[0].material;
        Self {
            step: scene.step as f32,
            k: material.k() as f32,
            c: material.c() as f32,
            flow: material.flow() as f32,
            edges: scene.mesh.edges.clone(),
            u: scene.extension.iter().map(|&u| u as f32).collect(),
            x: scene.mesh.particles.iter().map(narrow).collect(),
            v: scene.velocity.iter().map(narrow).collect(),
            force: vec![[0.0; 3]; n],
            external,
            mass_inverse: scene.mass.iter().map(|&m| (1.0 / m) as f32).collect(),
        }
    }

    /// Takes `steps` steps.
    pub fn advance(&mut self, steps: u64) {
        for _ in 0..steps {
            self.one_step();
        }
    }

    fn one_step(&mut self) {
        let h = self.step;
        self.force.copy_from_slice(&self.external);
        for (&[i, j], u) in self.edges.iter().zip(&mut self.u) {
            let (i, j) = (i as usize, j as usize);
            let (a, b, p, q) = (self.x[i], self.x[j], self.v[i], self.v[j]);
            let d = [b[0] - a[0], b[1] - a[1], b[2] - a[2]];
            let inverse = 1.0 / (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]).sqrt();
            let e = [d[0] * inverse, d[1] * inverse, d[2] * inverse];
            let rate = e[0] * (q[0] - p[0]) + e[1] * (q[1] - p[1]) + e[2] * (q[2] - p[2]);
            let f = -(self.k * *u + self.c * rate);
            *u += h * (rate + self.flow * f);
            for c in 0..3 {
                self.force[i][c] -= f * e[c];
                self.force[j][c] += f * e[c];
            }
        }
        for p in 0..self.x.len() {
            let scale = h * self.mass_inverse[p];
            for c in 0..3 {
                self.x[p][c] += h * self.v[p][c];
                self.v[p][c] += scale * self.force[p][c];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nendo_model::engine::InProcess;
    use nendo_model::engine::reference::{Integrator, Reference};

    /// It computes what the others compute.
    #[test]
    fn follows_f64() {
        let scene = Scene::open("box:5x4x3").unwrap();
        let (mut plain, mut exact) = (Scatter::new(&scene), Reference::new(&scene, Integrator::Euler));
        plain.advance(300);
        exact.advance(300).unwrap();
        let mut moved = 0f64;
        for ((a, b), start) in plain.x.iter().zip(exact.positions()).zip(&scene.mesh.particles) {
            moved = moved.max((b - start).norm());
            assert!((0..3).all(|c| (f64::from(a[c]) - b[c]).abs() < 1e-3), "{a:?} {b}");
        }
        assert!(moved > 0.1);
    }
}
