//! All forces but those of plain elements, beside the fast path: computed by one thread, added as external forces.

use crate::{
    engine::reference::ElementForces,
    force::{ActingForces, Felt, real::Vector},
    mesh::Vec3,
    scene::Scene,
};

/// What they need and what they make.
pub(super) struct OtherForces {
    pub(super) acting: ActingForces<f32>,
    x: Vec<Vector<f32>>,
    v: Vec<Vector<f32>>,
    force: Vec<Vector<f32>>,
    states: Vec<f32>,
    rates: Vec<f32>,
}

impl OtherForces {
    /// Those of a scene, if it has any.
    pub(super) fn new(scene: &Scene, origin: Vec3) -> Option<Self> {
        (!scene.float_only().is_empty()).then(|| Self::of(scene, origin))
    }

    /// Those of a scene, even if it has none.
    pub(super) fn of(scene: &Scene, origin: Vec3) -> Self {
        let acting = scene.acting(origin);
        let mut states: Vec<f32> = scene.extension.iter().map(|&u| u as f32).collect();
        states.resize(acting.elements().states(), 0.0);
        let none = vec![Vector::zeros(); scene.mesh.particles.len()];
        let rates = vec![0.0; states.len()];
        Self { acting, x: none.clone(), v: none.clone(), force: none, states, rates }
    }

    fn gather(&mut self, particles: usize, motion: impl Fn(usize) -> [f32; 6]) {
        for p in 0..particles {
            let [x, y, z, vx, vy, vz] = motion(p);
            (self.x[p], self.v[p]) = (Vector::new(x, y, z), Vector::new(vx, vy, vz));
        }
    }

    /// The forces of this step; states are those after it.
    pub(super) fn compute(
        &mut self,
        time: f64,
        step: f32,
        particles: usize,
        motion: impl Fn(usize) -> [f32; 6],
    ) -> &[Vector<f32>] {
        self.gather(particles, motion);
        let Self { acting, x, v, force, states, rates } = self;
        acting.settle(time, x, states);
        force.fill(Vector::zeros());
        acting.add(x, v, states, force, rates);
        states.iter_mut().zip(rates).for_each(|(state, rate)| *state += step * *rate);
        force
    }

    /// Whether an edge has a law of its own.
    pub(super) fn has(&self, edge: usize) -> bool {
        self.acting.elements().find(edge).is_some()
    }

    /// What is felt of them where particles move so.
    pub(super) fn sense(&self, time: f64, motion: &[[f32; 6]]) -> Felt<f32> {
        let (x, v) = parted(motion);
        self.acting.sense(time, &x, &v, &self.states)
    }

    /// States, and what is remembered besides.
    pub(super) fn save(&self) -> (Vec<f32>, Vec<f32>) {
        (self.states.clone(), self.acting.save())
    }

    /// Takes both up; false if they are of others.
    pub(super) fn restore(&mut self, states: &[f32], memory: &[f32], motion: &[[f32; 6]]) -> bool {
        let fits = states.len() == self.states.len() && self.acting.restore(memory, &parted(motion).0);
        if fits {
            self.states.copy_from_slice(states);
        }
        fits
    }

    /// Edges with laws of their own, and their first states.
    pub(super) fn extensions(&self) -> impl Iterator<Item = (usize, f32)> {
        self.acting.elements().iter().map(|element| (element.edge, self.states[element.edge]))
    }

    /// States besides one for each edge.
    pub(super) fn further_states(&self, edges: usize) -> &[f32] {
        &self.states[edges..]
    }

    /// What an element with a law of its own computes.
    pub(super) fn element(&self, edge: usize, motion: impl Fn(usize) -> [f32; 6]) -> Option<ElementForces> {
        let laws = self.acting.elements();
        let own = laws.find(edge)?;
        let (mut x, mut v, mut rates) = (self.x.clone(), self.v.clone(), self.rates.clone());
        for p in own.ends {
            let [a, b, c, d, e, f] = motion(p);
            (x[p], v[p]) = (Vector::new(a, b, c), Vector::new(d, e, f));
        }
        let force = laws.compute(own, &x, &v, &self.states, &mut rates);
        Some(ElementForces { force: force.map(f64::from), voigt_rate: rates[edge].into() })
    }
}

/// Positions and velocities.
fn parted(motion: &[[f32; 6]]) -> (Vec<Vector<f32>>, Vec<Vector<f32>>) {
    motion.iter().map(|&[x, y, z, p, q, r]| (Vector::new(x, y, z), Vector::new(p, q, r))).unzip()
}
