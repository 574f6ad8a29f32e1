//! The f64 reference: the same equations in the same order, without rounding to speak of.
//!
//! [`Integrator::Euler`] is the exact-arithmetic twin of the hardware: explicit Euler in which the new
//! position uses the old velocity. [`Integrator::Rk4`] is there to tell the error of the method from the
//! error of the arithmetic.

use super::{EngineError, Failure, InProcess, Probe, Snapshot, SnapshotError};
use crate::{
    contract::digest::StateHasher,
    force::{ActingForces, contact::wall::Hand},
    mesh::Vec3,
    scene::{Change, Drive, Scene, Support, Timeline, loads::Loads, sense::Sensed},
};

/// How a step is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Integrator {
    /// Explicit Euler, as in hardware.
    #[default]
    Euler,
    /// Classical Runge-Kutta of fourth order.
    Rk4,
}

/// An element in the force form.
#[derive(Clone, Copy, Debug)]
pub struct PlainElement {
    start: u32,
    end: u32,
    k: f64,
    c: f64,
    flow: f64,
}

/// What the element computes, for a look inside.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ElementForces {
    /// F_k = f e: on the end particle; its negative acts on the start particle.
    pub force: Vec3,
    /// Rate of the Voigt part, lv'.
    pub voigt_rate: f64,
}

impl PlainElement {
    /// The element of an edge; one that has a law of its own has no force here.
    pub fn of(scene: &Scene, edge: usize) -> Self {
        let ([start, end], m) = (scene.mesh.edges[edge], scene.material_of(edge));
        if scene.law_of(edge).is_some() {
            return Self { start, end, k: 0.0, c: 0.0, flow: 0.0 }; // computed elsewhere
        }
        Self { start, end, k: m.k(), c: m.c(), flow: m.flow() }
    }

    /// The particles it starts and ends at.
    pub fn ends(&self) -> [usize; 2] {
        [self.start as usize, self.end as usize]
    }

    /// What it computes, from positions and velocities of all particles and its own extension.
    #[inline(always)]
    pub fn compute(&self, x: &[Vec3], v: &[Vec3], u: f64) -> ElementForces {
        let [i, j] = self.ends();
        let relative = x[j] - x[i];
        let direction = relative / relative.norm();
        let rate = direction.dot(&(v[j] - v[i]));
        let force = -(self.k * u + self.c * rate);
        ElementForces { force: force * direction, voigt_rate: rate + self.flow * force }
    }
}

#[derive(Clone, Debug, Default)]
struct Rates {
    a: Vec<Vec3>,
    u: Vec<f64>,
}

/// The engine.
pub struct Reference {
    integrator: Integrator,
    h: f64,
    width: f64,
    elements: Vec<PlainElement>,
    acting: Option<ActingForces<f64>>,
    mass_inverse: Vec<f64>,
    external: Vec<Vec3>,
    loads: Loads<f64>,
    x: Vec<Vec3>,
    v: Vec<Vec3>,
    u: Vec<f64>,
    rates: [Rates; 4],
    step: u64,
    changes: Vec<Change>,
    next_change: usize,
}

impl Reference {
    /// An engine at the start of a scene.
    pub fn new(scene: &Scene, integrator: Integrator) -> Self {
        let n = scene.mesh.particles.len();
        let inverse = |p: usize| if scene.is_free(p) { 1.0 / scene.mass[p] } else { 0.0 };
        let held = |p: usize| scene.support[p] == Support::Pinned;
        let acting = (!scene.float_only().is_empty()).then(|| scene.acting(Vec3::zeros()));
        let mut u = scene.extension.clone();
        u.resize(
            acting.as_ref().map_or(u.len(), |forces: &ActingForces<f64>| forces.elements().states()),
            0.0,
        );
        Self {
            integrator,
            h: scene.step,
            width: scene.mesh.width(),
            elements: (0..scene.mesh.edges.len()).map(|edge| PlainElement::of(scene, edge)).collect(),
            mass_inverse: (0..n).map(inverse).collect(),
            external: vec![Vec3::zeros(); n],
            loads: Loads::new(vec![[0.0; 3]; n]),
            x: scene.mesh.particles.clone(),
            v: (0..n).map(|p| if held(p) { Vec3::zeros() } else { scene.velocity[p] }).collect(),
            rates: std::array::from_fn(|_| Rates { a: vec![Vec3::zeros(); n], u: vec![0.0; u.len()] }),
            u,
            acting,
            step: 0,
            changes: Timeline::new(scene).changes,
            next_change: 0,
        }
    }

    /// What one element computes in the present state.
    pub fn element(&self, edge: usize) -> ElementForces {
        let laws = self.acting.as_ref().map(ActingForces::elements);
        let Some((laws, own)) = laws.and_then(|laws| Some((laws, laws.find(edge)?))) else {
            return self.elements[edge].compute(&self.x, &self.v, self.u[edge]);
        };
        let mut rates = vec![0.0; self.u.len()];
        let force = laws.compute(own, &self.x, &self.v, &self.u, &mut rates);
        ElementForces { force, voigt_rate: rates[edge] }
    }

    /// Extension and force of every element in the present state.
    pub fn elements(&self) -> impl Iterator<Item = (f64, Vec3)> {
        self.u[..self.elements.len()].iter().enumerate().map(|(edge, &u)| (u, self.element(edge).force))
    }

    /// Whether the simulation has burst: something is not a number, or crosses the object many times over
    /// within a step.
    fn has_diverged(&self) -> bool {
        let sane =
            |x: &Vec3, v: &Vec3| x.iter().all(|c| c.is_finite()) && v.amax() * self.h < 100.0 * self.width;
        !self.x.iter().zip(&self.v).all(|(x, v)| sane(x, v))
    }

    /// Velocities as the next step will use them.
    fn driven(&self) -> Vec<Vec3> {
        let mut v = self.v.clone();
        for change in self.changes[self.next_change..].iter().take_while(|c| c.step <= self.step) {
            if let Some(velocity) = change.drive.velocity() {
                v[change.particle as usize] = velocity;
            }
        }
        v
    }

    /// What a state of this engine is in.
    fn numbers(&self) -> &'static str {
        match self.integrator {
            Integrator::Euler => "f64",
            Integrator::Rk4 => "f64 rk4",
        }
    }

    fn apply_changes(&mut self) {
        while let Some(change) = self.changes.get(self.next_change).filter(|c| c.step <= self.step) {
            let p = change.particle as usize;
            match change.drive {
                Drive::Force(force) => {
                    self.external[p] = self.loads.set_own(change.particle, force.into()).into();
                }
                Drive::Release { mass, .. } => self.mass_inverse[p] = 1.0 / mass,
                Drive::Move(_) => {}
            }
            self.v[p] = change.drive.velocity().unwrap_or(self.v[p]);
            self.next_change += 1;
        }
    }

    fn euler(&mut self) {
        let h = self.h;
        let [rates, ..] = &mut self.rates;
        evaluate(
            &self.elements,
            self.acting.as_ref(),
            &self.mass_inverse,
            &self.external,
            (&self.x, &self.v, &self.u),
            rates,
        );
        for (u, rate) in self.u.iter_mut().zip(&rates.u) {
            *u += h * rate;
        }
        for ((x, v), a) in self.x.iter_mut().zip(&mut self.v).zip(&rates.a) {
            *x += h * *v;
            *v += h * a;
        }
    }

    fn rk4(&mut self) {
        let h = self.h;
        let (mut x, mut v, mut u) = (self.x.clone(), self.v.clone(), self.u.clone());
        let mut sum_x = vec![Vec3::zeros(); x.len()];
        for (stage, (reach, weight)) in
            [(0.5, 1.0), (0.5, 2.0), (1.0, 2.0), (0.0, 1.0)].into_iter().enumerate()
        {
            let rates = &mut self.rates[stage];
            evaluate(
                &self.elements,
                self.acting.as_ref(),
                &self.mass_inverse,
                &self.external,
                (&x, &v, &u),
                rates,
            );
            for p in 0..x.len() {
                sum_x[p] += weight * v[p];
                x[p] = self.x[p] + reach * h * v[p];
                v[p] = self.v[p] + reach * h * rates.a[p];
            }
            for k in 0..u.len() {
                u[k] = self.u[k] + reach * h * rates.u[k];
            }
        }
        let [r0, r1, r2, r3] = &self.rates;
        for p in 0..self.x.len() {
            self.x[p] += h / 6.0 * sum_x[p];
            self.v[p] += h / 6.0 * (r0.a[p] + 2.0 * (r1.a[p] + r2.a[p]) + r3.a[p]);
        }
        for k in 0..self.u.len() {
            self.u[k] += h / 6.0 * (r0.u[k] + 2.0 * (r1.u[k] + r2.u[k]) + r3.u[k]);
        }
    }
}

impl InProcess for Reference {
    fn advance(&mut self, steps: u64) -> Result<(), Failure> {
        for _ in 0..steps {
            self.apply_changes();
            if let Some(acting) = &mut self.acting {
                acting.settle(self.step as f64 * self.h, &self.x, &mut self.u);
            }
            match self.integrator {
                Integrator::Euler => self.euler(),
                Integrator::Rk4 => self.rk4(),
            }
            self.step += 1;
        }
        self.failure().map_or(Ok(()), Err)
    }

    fn step(&self) -> u64 {
        self.step
    }

    fn positions(&self) -> Vec<Vec3> {
        self.x.clone()
    }

    fn velocities(&self) -> Vec<Vec3> {
        self.v.clone()
    }

    fn extensions(&self) -> Vec<f64> {
        self.u[..self.elements.len()].to_vec()
    }

    fn sense(&self) -> Sensed {
        let v = self.driven();
        let mut sensed = Sensed { particles: vec![Vec3::zeros(); v.len()], ..Sensed::default() };
        for (element, &u) in self.elements.iter().zip(&self.u) {
            let force = element.compute(&self.x, &v, u).force;
            sensed.particles[element.start as usize] -= force;
            sensed.particles[element.end as usize] += force;
            sensed.elements.push(force);
        }
        if let Some(acting) = &self.acting {
            sensed.add(&acting.sense(self.step as f64 * self.h, &self.x, &v, &self.u), Vec3::zeros());
        }
        sensed
    }

    fn save(&self) -> Snapshot {
        let flat = |list: &[Vec3]| list.iter().flat_map(|v| [v.x, v.y, v.z]).collect::<Vec<f64>>();
        let memory = self.acting.as_ref().map(ActingForces::save).unwrap_or_default();
        Snapshot::new(self.numbers().to_owned(), self.step, 0)
            .with("x", flat(&self.x))
            .with("v", flat(&self.v))
            .with("u", self.u.clone())
            .with("memory", memory)
    }

    fn restore(&mut self, snapshot: &Snapshot) -> Result<(), SnapshotError> {
        snapshot.check_numbers(self.numbers())?;
        let n = self.x.len();
        let three = |name| -> Result<Vec<Vec3>, SnapshotError> {
            let (rows, _) = snapshot.column::<f64>(name, 3 * n)?.as_chunks::<3>();
            Ok(rows.iter().map(|row| Vec3::from(*row)).collect())
        };
        let (x, v, u) = (three("x")?, three("v")?, snapshot.column("u", self.u.len())?.to_vec());
        let memory = snapshot.any_length::<f64>("memory")?;
        let fits = self.acting.as_mut().map_or(memory.is_empty(), |acting| acting.restore(memory, &x));
        if !fits {
            return Err(SnapshotError::Shape("it remembers other contacts".to_owned()));
        }
        self.loads = Loads::new(vec![[0.0; 3]; n]);
        self.external.fill(Vec3::zeros());
        for change in self.changes.iter().filter(|change| matches!(change.drive, Drive::Release { .. })) {
            self.mass_inverse[change.particle as usize] = 0.0;
        }
        (self.step, self.next_change) = (snapshot.step.saturating_sub(1), 0);
        if snapshot.step > 0 {
            self.apply_changes();
        }
        (self.x, self.v, self.u, self.step) = (x, v, u, snapshot.step);
        Ok(())
    }

    fn pull(&mut self, particle: u32, force: Vec3) -> Result<(), EngineError> {
        self.external[particle as usize] = self.loads.set_added(particle, force.into()).into();
        Ok(())
    }

    fn touch(&mut self, scene: &Scene, hand: Option<&Hand>) -> Result<(), EngineError> {
        let time = self.step as f64 * self.h;
        if self.acting.is_some() || hand.is_some() {
            let acting = self.acting.get_or_insert_with(|| scene.acting(Vec3::zeros()));
            acting.touch(&scene.object(), &scene.hand_contact(), Vec3::zeros(), time, hand);
        }
        Ok(())
    }

    /// x, v (per particle) and u as little-endian f64.
    fn state_digest(&self) -> String {
        let mut hasher = StateHasher::new();
        for (x, v) in self.x.iter().zip(&self.v) {
            x.iter().chain(v.iter()).for_each(|c| hasher.bytes(&c.to_le_bytes()));
        }
        self.u.iter().for_each(|u| hasher.bytes(&u.to_le_bytes()));
        hasher.hex()
    }

    fn failure(&self) -> Option<Failure> {
        self.has_diverged().then_some(Failure::Diverged)
    }

    fn probe(&self, edge: usize) -> Probe {
        Probe::unrounded(edge, &self.element(edge))
    }
}

fn evaluate(
    elements: &[PlainElement],
    acting: Option<&ActingForces<f64>>,
    mass_inverse: &[f64],
    external: &[Vec3],
    (x, v, u): (&[Vec3], &[Vec3], &[f64]),
    rates: &mut Rates,
) {
    rates.a.copy_from_slice(external);
    for ((element, &u), rate) in elements.iter().zip(u).zip(&mut rates.u) {
        let out = element.compute(x, v, u);
        rates.a[element.start as usize] -= out.force;
        rates.a[element.end as usize] += out.force;
        *rate = out.voigt_rate;
    }
    if let Some(acting) = acting {
        acting.add(x, v, u, &mut rates.a, &mut rates.u);
    }
    for (a, inverse) in rates.a.iter_mut().zip(mass_inverse) {
        *a *= *inverse;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        force::Material,
        scene::{Load, Motion},
        trajectory::Key,
    };

    /// The theory column of T03 Table 3, to the printed digits.
    #[test]
    fn table3_theory() {
        let engine = Reference::new(&Scene::open("table3").unwrap(), Integrator::Euler);
        let out = engine.element(0);
        let printed = |value: f64| format!("{value:.4}");
        assert_eq!(
            [out.force.x, out.force.y, out.force.z, out.voigt_rate].map(printed),
            ["-1.3015", "-0.7809", "-0.2603", "-3.8811"]
        );
    }

    /// One element, one end fixed, pulled by F for a time and then let go for long.
    fn pull_and_release(material: Material, force: f64, time: f64) -> (f64, f64) {
        let mut scene = Scene::open("single").unwrap();
        scene.materials[0].material = material;
        // A light mass, so that only the element's own time constants are left.
        scene.mass[1] = 0.01;
        scene.step = 1e-4;
        scene.loads =
            vec![Load { particles: vec![1], force: Vec3::new(force, 0.0, 0.0), from: 0.0, to: time }];
        let mut engine = Reference::new(&scene, Integrator::Euler);
        let place = |e: &Reference| e.positions()[1].x - 10.0;
        engine.advance(scene.steps_for(time)).unwrap();
        let loaded = place(&engine);
        engine.advance(scene.steps_for(5.0)).unwrap();
        (loaded - place(&engine), place(&engine)) // return, residual
    }

    /// Elastic returns, viscoplastic stays, rheological does both, by the closed form for one element.
    #[test]
    fn three_kinds_of_object() {
        let (force, time) = (100.0, 0.2);
        let cases = [
            ("elastic", Material::elastic(250.0, 20.0).unwrap()),
            ("viscoplastic", Material::viscoplastic(200.0, 100.0).unwrap()),
            ("rheological", Material::new(250.0, 20.0, 100.0).unwrap()),
        ];
        for (kind, m) in cases {
            let (back, residual) = pull_and_release(m, force, time);
            // k1 -> 0: the Voigt part is a damper, too, and adds to what stays.
            let voigt = if m.k1 > 0.0 { force / m.k1 * (1.0 - (-m.k1 * time / m.c1).exp()) } else { 0.0 };
            let stays = force * time * m.flow() + if m.k1 > 0.0 { 0.0 } else { force * time / m.c1 };
            assert!(
                (back - voigt).abs() < 0.01 * (voigt + stays),
                "{kind}: returned {back}, expected {voigt}"
            );
            assert!(
                (residual - stays).abs() < 0.01 * (voigt + stays),
                "{kind}: kept {residual}, expected {stays}"
            );
        }
    }

    #[test]
    fn rk4_and_euler_converge_to_each_other() {
        let run = |h: f64, integrator| {
            let mut scene = Scene::open("box:3x3x3").unwrap();
            scene.step = h;
            let mut engine = Reference::new(&scene, integrator);
            engine.advance(scene.steps_for(0.5)).unwrap();
            engine.positions().to_vec()
        };
        let exact = run(1e-4, Integrator::Rk4);
        let error = |x: Vec<Vec3>| x.iter().zip(&exact).map(|(a, b)| (a - b).norm()).sum::<f64>();
        let (coarse, fine) = (error(run(4e-3, Integrator::Euler)), error(run(2e-3, Integrator::Euler)));
        assert!((1.9..2.1).contains(&(coarse / fine)), "Euler is of first order: {coarse} {fine}");
        let (coarse, fine) = (error(run(2e-2, Integrator::Rk4)), error(run(1e-2, Integrator::Rk4)));
        assert!((12.0..25.0).contains(&(coarse / fine)), "RK4 is of fourth order: {coarse} {fine}");
    }

    #[test]
    fn pinned_particles_stay_and_moved_ones_follow_their_key_frames() {
        let mut scene = Scene::open("box:3x3x3").unwrap();
        scene.velocity[0] = Vec3::x();
        scene.support[0] = Support::Pinned;
        scene.support[26] = Support::Moved(0);
        scene.motions = vec![Motion::along(vec![Key::shift(0.1, Vec3::z()), Key::shift(0.2, Vec3::zeros())])];
        let mut engine = Reference::new(&scene, Integrator::Euler);
        let start = scene.mesh.particles[26];
        engine.advance(50).unwrap();
        assert!((engine.positions()[26] - start - 0.5 * Vec3::z()).norm() < 1e-9);
        engine.advance(50).unwrap();
        assert!((engine.positions()[26] - start - Vec3::z()).norm() < 1e-9);
        engine.advance(300).unwrap();
        assert!((engine.positions()[26] - start).norm() < 1e-9);
        assert_eq!(engine.positions()[0], scene.mesh.particles[0]);
    }
}
