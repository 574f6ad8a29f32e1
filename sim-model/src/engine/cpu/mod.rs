//! The f32 engine: the same equations as the reference, as fast as this machine does them.
//!
//! - Particles of any mesh are ordered by place (`order`) and cut into compact parts (`part`).
//! - Elements are computed eight at a time (`element`), where possible between rows of consecutive particles
//!   (`windows`), else one by one (`gathers`). Parts compute their edges without help of others, then move their particles (`body`).
//! - Positions are relative to the middle of the object, and what rounding takes from them is kept and added again.
//!
//! Parts, order of additions and every rounding depend on the scene alone: the same bits for any number of
//! threads and any instruction set.
//!
//! ```
//! use nendo_model::{engine::{InProcess, cpu::Cpu}, scene::Scene};
//! let mut engine = Cpu::new(&Scene::open("box:3x3x3")?, 1)?;
//! engine.advance(100)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod abroad;
mod body;
mod columns;
mod edges;
mod element;
mod gathers;
mod other_forces;
mod part;
mod setup;
mod windows;

use super::{EngineError, Failure, InProcess, Probe, Snapshot, SnapshotError};
use crate::{
    contract::digest::StateHasher,
    engine::reference::ElementForces,
    force::contact::wall::Hand,
    machine::{
        pace::Pace,
        team::Team,
        vectors::{self, Vectors},
    },
    mesh::Vec3,
    plan::order,
    scene::{Change, Drive, Scene, Timeline, loads::Loads, sense::Sensed},
};
use body::Body;
use element::Factors;
use other_forces::OtherForces;
use part::Part;
use std::{
    sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, atomic::AtomicUsize},
    time::Instant,
};

/// Particles of a part, about: with its edges it fits the second cache.
const PART: usize = 4096;

/// Why a scene cannot be computed in f32.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CpuError {
    /// An edge too short or too long for its square to be an ordinary f32.
    #[error("edge {edge} is {length:e} m long: f32 needs between 1e-18 and 1e18 m; use f64")]
    Length {
        /// The number of the edge in the scene.
        edge: usize,
        /// Its length in metres.
        length: f64,
    },
    /// A coefficient, mass, force or velocity that f32 cannot hold.
    #[error("{what} is {value:e}, which f32 cannot hold; use f64")]
    Range {
        /// Which value.
        what: String,
        /// The value.
        value: f64,
    },
    /// The threads cannot be started.
    #[error("cannot start {threads} threads: {reason}")]
    Threads {
        /// Threads that were asked for.
        threads: usize,
        /// What was wrong with it.
        reason: String,
    },
}

/// What positions are relative to.
fn middle(scene: &Scene) -> Vec3 {
    let (low, high) = scene.mesh.bounds();
    (low + high) / 2.0
}

/// The engine.
pub struct Cpu {
    step_size: f32,
    /// The same, as the scene gives it.
    step_exact: f64,
    width: f64,
    origin: Vec3,
    classes: Vec<Factors>,
    edges: Vec<[u32; 2]>,
    edge_class: Vec<u16>,
    /// Part and number there of each particle of the scene.
    places: Vec<(u32, u32)>,
    parts: Vec<Part>,
    bodies: Vec<Body>,
    loads: Loads<f64>,
    /// All forces but those of plain elements.
    others: Option<Box<OtherForces>>,
    team: Option<Team>,
    /// How many of the team are of use, where that is looked for.
    pace: Option<Pace>,
    vectors: Option<Vectors>,
    step: u64,
    changes: Vec<Change>,
    next_change: usize,
}

impl Cpu {
    /// An engine at the start of a scene, on so many threads.
    pub fn new(scene: &Scene, threads: usize) -> Result<Self, CpuError> {
        Self::with_parts(scene, threads, Self::parts_of(scene))
    }

    /// Refuses a scene that f32 cannot hold, without making an engine.
    pub fn check(scene: &Scene) -> Result<(), CpuError> {
        setup::check(scene)?;
        setup::classes(scene)?;
        let all: Vec<u32> = (0..scene.mesh.particles.len() as u32).collect();
        setup::body(scene, middle(scene), &all).map(|_| ())
    }

    /// Into how many parts an object is cut, and thus how many threads can share it.
    pub fn parts_of(scene: &Scene) -> usize {
        let particles = scene.mesh.particles.len();
        // Even, for two threads; a small object is quicker alone.
        if particles < PART / 2 { 1 } else { particles.div_ceil(PART).next_multiple_of(2) }
    }

    /// The same with the object cut into about so many parts, at most one per thread being computed at a time.
    /// Other parts, other order of additions: the bits depend on it.
    pub fn with_parts(scene: &Scene, threads: usize, parts: usize) -> Result<Self, CpuError> {
        setup::check(scene)?;
        let classes = setup::classes(scene)?;
        let origin = middle(scene);
        let count = scene.mesh.particles.len();
        let size = count.div_ceil(parts.clamp(1, count.max(1))).max(1);
        let order = order::particles(&scene.mesh.particles, &scene.mesh.edges, size);
        let mut places = vec![(0, 0); count];
        for (k, &particle) in order.iter().enumerate() {
            places[particle as usize] = ((k / size) as u32, (k % size) as u32);
        }
        let mut bodies: Vec<Body> =
            order.chunks(size).map(|list| setup::body(scene, origin, list)).collect::<Result<_, _>>()?;
        let parts = setup::share_out(scene, &places, &bodies);
        for (number, part) in parts.iter().enumerate() {
            part.abroad.iter().for_each(|&abroad| bodies[abroad.part].joints.push((number, abroad)));
        }
        let threads = threads.clamp(1, parts.len());
        let team = (threads > 1).then(|| Team::new(threads)).transpose();
        let team = team.map_err(|e| CpuError::Threads { threads, reason: e.to_string() })?;
        Ok(Self {
            step_size: scene.step as f32,
            step_exact: scene.step,
            width: scene.mesh.width(),
            origin,
            classes,
            edges: scene.mesh.edges.clone(),
            edge_class: scene.edge_material.clone(),
            places,
            parts,
            bodies,
            loads: Loads::new(vec![[0.0; 3]; count]),
            others: OtherForces::new(scene, origin).map(Box::new),
            team,
            pace: None,
            vectors: vectors::available(),
            step: 0,
            changes: Timeline::new(scene).changes,
            next_change: 0,
        })
    }

    /// The same on fewer threads while others use the machine, too, as many as are of use. The result does not depend on it.
    pub fn considerate(mut self) -> Self {
        self.pace = self.team.as_ref().map(|team| Pace::new(team.len()));
        self
    }

    /// The same without vector instructions: the plain code, which defines the result.
    pub fn plain(mut self) -> Self {
        self.vectors = None;
        self
    }

    /// The share of edges that are computed between runs of consecutive particles, and the share of vector lanes
    /// they fill: one and one for a perfect lattice.
    pub fn regularity(&self) -> (f64, f64) {
        let counts = self.parts.iter().map(Part::in_windows);
        let (edges, lanes) = counts.fold((0, 0), |sum, n| (sum.0 + n.0, sum.1 + n.1));
        (f64::from(edges) / self.edges.len() as f64, f64::from(edges) / lanes.max(1) as f64)
    }

    /// Position and velocity of a particle, and what rounding took from the position.
    fn motion(&self, particle: usize) -> ([f32; 6], [f32; 3]) {
        let (part, k) = self.places[particle];
        let body = &self.bodies[part as usize];
        (body.motion.one(k as usize), body.low.one(k as usize))
    }

    /// Voigt extensions in metres, in scene order.
    fn own_extensions(&self) -> Vec<f32> {
        let mut u = vec![0.0; self.edges.len()];
        for (number, value) in self.parts.iter().flat_map(Part::extensions) {
            u[number as usize] = value;
        }
        if let Some(others) = &self.others {
            others.extensions().for_each(|(edge, value)| u[edge] = value);
        }
        u
    }

    /// What one element computes in the present state.
    pub fn element(&self, edge: usize) -> ElementForces {
        if let Some(forces) = self.others.as_ref().and_then(|o| o.element(edge, |p| self.motion(p).0)) {
            return forces;
        }
        let ends = self.edges[edge].map(|p| self.motion(p as usize).0);
        self.plain_element(edge, ends, self.own_extensions()[edge])
    }

    /// What a plain element computes, from the motion of its ends and its extension.
    fn plain_element(&self, edge: usize, [start, end]: [[f32; 6]; 2], u: f32) -> ElementForces {
        let factors = self.classes[usize::from(self.edge_class[edge])];
        let difference = |c: usize| [end[c] - start[c]; element::BLOCK];
        let (d, w) = (std::array::from_fn(difference), std::array::from_fn(|c| difference(c + 3)));
        let (force, growth) = element::block(&factors, d, w, u8::MAX, [u; element::BLOCK]);
        let force = force.map(|c| f64::from(c[0]));
        let voigt_rate = f64::from(growth[0]) / f64::from(factors.step);
        ElementForces { force: force.into(), voigt_rate }
    }

    /// The motion of all particles as the next step will use it.
    fn driven(&self) -> Vec<[f32; 6]> {
        let mut all: Vec<[f32; 6]> = (0..self.places.len()).map(|p| self.motion(p).0).collect();
        for change in self.changes[self.next_change..].iter().take_while(|c| c.step <= self.step) {
            if let Some(velocity) = change.drive.velocity() {
                let motion = &mut all[change.particle as usize];
                (0..3).for_each(|c| motion[3 + c] = velocity[c] as f32);
            }
        }
        all
    }

    /// Whether the simulation has burst: something is not a number, or crosses the object many times over
    /// within a step.
    fn has_diverged(&self) -> bool {
        let fastest = (100.0 * self.width) as f32 / self.step_size;
        let sane = |body: &Body| {
            (0..6).all(|c| {
                let limit = if c < 3 { f32::INFINITY } else { fastest };
                body.motion.column(c).iter().all(|value| value.abs() < limit)
            })
        };
        !self.bodies.iter().all(sane)
    }

    fn apply(&mut self, change: Change) {
        let (part, k) = self.places[change.particle as usize];
        let (body, k) = (&mut self.bodies[part as usize], k as usize);
        match change.drive {
            Drive::Force(force) => {
                let total = self.loads.set_own(change.particle, force.into());
                body.set_external(k, total.map(|c| c as f32));
            }
            Drive::Release { mass, .. } => body.mobility[k] = (self.step_exact / mass) as f32,
            Drive::Move(_) => {}
        }
        if let Some(velocity) = change.drive.velocity() {
            body.motion.set(k, 3, velocity.iter().map(|&c| c as f32));
        }
    }

    /// Steps without a change in between.
    fn run(&mut self, steps: u64) {
        let Some(mut others) = self.others.take() else { return self.run_plain(steps) };
        for k in 0..steps {
            let time = (self.step + k) as f64 * self.step_exact;
            let force = others.compute(time, self.step_size, self.places.len(), |p| self.motion(p).0);
            for (p, force) in force.iter().enumerate() {
                let (part, k) = self.places[p];
                let own = self.loads.total(p as u32);
                let total = std::array::from_fn(|c| own[c] as f32 + force[c]);
                self.bodies[part as usize].set_external(k as usize, total);
            }
            self.run_plain(1);
        }
        self.others = Some(others);
    }

    /// Steps in which external forces stay as they are.
    fn run_plain(&mut self, steps: u64) {
        let Some(mut pace) = self.pace.take() else {
            return self.run_on(self.team.as_ref().map_or(1, Team::len), steps);
        };
        let mut left = steps;
        while left > 0 {
            let (now, started) = (pace.steps(left), Instant::now());
            self.run_on(pace.threads(), now);
            pace.took(now, started.elapsed());
            left -= now;
        }
        self.pace = Some(pace);
    }

    /// The same on so many threads.
    fn run_on(&mut self, threads: usize, steps: u64) {
        let Self { parts, bodies, team, classes, vectors, step_size, .. } = self;
        let (vectors, h) = (*vectors, *step_size);
        let Some(team) = team.as_ref().filter(|_| threads > 1) else {
            for _ in 0..steps {
                let elements =
                    |(own, part): (usize, &mut Part)| part.compute(vectors, classes, |k| &bodies[k], own);
                parts.iter_mut().enumerate().for_each(elements);
                bodies.iter_mut().enumerate().for_each(|(own, b)| b.advance(vectors, h, |k| &parts[k], own));
            }
            return;
        };
        // While parts are written bodies are read, and then the other way round: nobody ever waits for a lock.
        let parts: Vec<RwLock<&mut Part>> = parts.iter_mut().map(RwLock::new).collect();
        let bodies: Vec<RwLock<&mut Body>> = bodies.iter_mut().map(RwLock::new).collect();
        let begun: Vec<AtomicUsize> = parts.iter().map(|_| AtomicUsize::new(0)).collect();
        team.work(threads, |member| {
            for step in 0..steps as usize {
                member.phase(2 * step, &begun, |own| {
                    write(&parts[own]).compute(vectors, classes, |k| read(&bodies[k]), own);
                });
                member.phase(2 * step + 1, &begun, |own| {
                    write(&bodies[own]).advance(vectors, h, |k| read(&parts[k]), own);
                });
            }
        });
    }
}

impl InProcess for Cpu {
    fn advance(&mut self, steps: u64) -> Result<(), Failure> {
        let end = self.step + steps;
        while self.step < end {
            while let Some(&change) = self.changes.get(self.next_change).filter(|c| c.step <= self.step) {
                self.apply(change);
                self.next_change += 1;
            }
            let next = self.changes.get(self.next_change).map_or(end, |c| c.step.min(end));
            self.run(next - self.step);
            self.step = next;
        }
        self.failure().map_or(Ok(()), Err)
    }

    fn step(&self) -> u64 {
        self.step
    }

    fn positions(&self) -> Vec<Vec3> {
        let position = |(high, low): ([f32; 6], [f32; 3])| {
            self.origin + Vec3::from_fn(|c, _| f64::from(high[c]) + f64::from(low[c]))
        };
        (0..self.places.len()).map(|p| position(self.motion(p))).collect()
    }

    fn velocities(&self) -> Vec<Vec3> {
        (0..self.places.len()).map(|p| Vec3::from_fn(|c, _| self.motion(p).0[3 + c].into())).collect()
    }

    fn extensions(&self) -> Vec<f64> {
        self.own_extensions().into_iter().map(f64::from).collect()
    }

    fn sense(&self) -> Sensed {
        let motion = self.driven();
        let u = self.own_extensions();
        let mut sensed = Sensed { particles: vec![Vec3::zeros(); motion.len()], ..Sensed::default() };
        for (edge, &ends) in self.edges.iter().enumerate() {
            let elsewhere = self.others.as_ref().is_some_and(|others| others.has(edge));
            let force = match elsewhere {
                true => Vec3::zeros(),
                false => self.plain_element(edge, ends.map(|p| motion[p as usize]), u[edge]).force,
            };
            sensed.particles[ends[0] as usize] -= force;
            sensed.particles[ends[1] as usize] += force;
            sensed.elements.push(force);
        }
        if let Some(others) = &self.others {
            sensed.add(&others.sense(self.step as f64 * self.step_exact, &motion), self.origin);
        }
        sensed
    }

    fn save(&self) -> Snapshot {
        let rows = (0..self.places.len()).map(|p| self.motion(p));
        let (motion, low): (Vec<[f32; 6]>, Vec<[f32; 3]>) = rows.unzip();
        let (states, memory) = self.others.as_ref().map(|others| others.save()).unwrap_or_default();
        Snapshot::new("f32".to_owned(), self.step, 0)
            .with("xv", motion.into_flattened())
            .with("low", low.into_flattened())
            .with("u", self.own_extensions())
            .with("states", states)
            .with("memory", memory)
    }

    fn restore(&mut self, snapshot: &Snapshot) -> Result<(), SnapshotError> {
        snapshot.check_numbers("f32")?;
        let n = self.places.len();
        let (motion, _) = snapshot.column::<f32>("xv", 6 * n)?.as_chunks::<6>();
        let (low, _) = snapshot.column::<f32>("low", 3 * n)?.as_chunks::<3>();
        let u: &[f32] = snapshot.column("u", self.edges.len())?;
        let (states, memory) = (snapshot.any_length("states")?, snapshot.any_length("memory")?);
        let fits = match &mut self.others {
            Some(others) => others.restore(states, memory, motion),
            None => states.is_empty() && memory.is_empty(),
        };
        if !fits {
            return Err(SnapshotError::Shape("it remembers other laws or contacts".to_owned()));
        }
        self.loads = Loads::new(vec![[0.0; 3]; n]);
        for p in 0..n {
            let (part, k) = self.places[p];
            self.bodies[part as usize].set_external(k as usize, [0.0; 3]);
        }
        for change in self.changes.iter().filter(|change| matches!(change.drive, Drive::Release { .. })) {
            let (part, k) = self.places[change.particle as usize];
            self.bodies[part as usize].mobility[k as usize] = 0.0;
        }
        self.next_change = 0;
        while let Some(&change) = self.changes.get(self.next_change).filter(|c| c.step < snapshot.step) {
            self.apply(change);
            self.next_change += 1;
        }
        for p in 0..n {
            let (part, k) = self.places[p];
            let body = &mut self.bodies[part as usize];
            body.motion.set(k as usize, 0, motion[p]);
            body.low.set(k as usize, 0, low[p]);
        }
        self.parts.iter_mut().for_each(|part| part.set_extensions(u));
        self.step = snapshot.step;
        Ok(())
    }

    fn pull(&mut self, particle: u32, force: Vec3) -> Result<(), EngineError> {
        let (part, k) = self.places[particle as usize];
        let total = self.loads.set_added(particle, force.into());
        self.bodies[part as usize].set_external(k as usize, total.map(|c| c as f32));
        Ok(())
    }

    fn touch(&mut self, scene: &Scene, hand: Option<&Hand>) -> Result<(), EngineError> {
        let (origin, time) = (self.origin, self.step as f64 * self.step_exact);
        if self.others.is_some() || hand.is_some() {
            let others = self.others.get_or_insert_with(|| Box::new(OtherForces::of(scene, origin)));
            others.acting.touch(&scene.object(), &scene.hand_contact(), origin, time, hand);
        }
        Ok(())
    }

    /// Per particle the f32 words of x and v and what rounding took from x, then per edge u,
    /// little-endian.
    fn state_digest(&self) -> String {
        let mut hasher = StateHasher::new();
        for p in 0..self.places.len() {
            let (high, low) = self.motion(p);
            high.iter().chain(&low).for_each(|word| hasher.bytes(&word.to_le_bytes()));
        }
        let more = self.others.iter().flat_map(|others| others.further_states(self.edges.len()));
        self.own_extensions().iter().chain(more).for_each(|u| hasher.bytes(&u.to_le_bytes()));
        hasher.hex()
    }

    fn failure(&self) -> Option<Failure> {
        self.has_diverged().then_some(Failure::Diverged)
    }

    fn probe(&self, edge: usize) -> Probe {
        Probe::unrounded(edge, &self.element(edge))
    }
}

fn read<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

fn write<T>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}

/// The instruction set the engine uses on this machine.
pub fn instruction_set() -> &'static str {
    if vectors::available().is_some() { "AVX2" } else { "what every machine has" }
}
