//! The bit-accurate engine: TEM over all edges, then MPM over all particles, word for word as in hardware.
//!
//! Forces are summed as two's complement words wide enough for any sum of permitted forces, so results do
//! not depend on the order of edges or particles, nor on the number of threads.

mod lane;
mod vector;
mod words;

use crate::{
    contract::{
        digest::StateHasher,
        image::{Constants, Edge, Event, Image, ImageError, Particle, Write},
        numbers::{Inverse, Numbers, PAPER_2003, PAPER_2005, PAPER_2005_PLAIN, Profile, WIDE},
        overflow::Overflow,
    },
    machine::vectors::{self, Vectors, vectorize},
    mesh::Vec3,
    plan::order,
    scene::loads::Loads,
    twin::{
        blocks::{InverseForm, cordic::Cordic, table::Table},
        mpm, tem,
        words::Words as State,
    },
};
use lane::Lane;
use rayon::{ThreadPool, ThreadPoolBuilder, prelude::*};
use vector::Factors;
use words::{Ends, Quad};

/// A number contract known at compile time, so that every shift in the loops is a constant.
trait Contract: Copy + Send + Sync {
    const N: Numbers;
}

macro_rules! contract {
    ($name:ident, $numbers:ident) => {
        #[derive(Clone, Copy)]
        struct $name;
        impl Contract for $name {
            const N: Numbers = $numbers;
        }
    };
}
contract!(Paper2003, PAPER_2003);
contract!(Paper2005, PAPER_2005);
contract!(Paper2005Plain, PAPER_2005_PLAIN);
contract!(Wide, WIDE);

/// The particles' words, component-wise, in an order of their own.
#[derive(Clone, Debug)]
struct Particles {
    x: Vec<Quad>,
    v: Vec<Quad>,
    force: Vec<Quad>,
    class: Vec<u8>,
    /// Operands, as the element loop reads them.
    ends: Vec<Ends>,
}

/// The engine.
pub struct Model {
    image: Image,
    particles: Particles,
    /// Where each particle of the scene is.
    place: Vec<u32>,
    loads: Loads<i32>,
    lanes: Vec<Lane>,
    /// Scene number of each edge, in the order the lanes hold them.
    order: Vec<u32>,
    pool: Option<ThreadPool>,
    vectors: Option<Vectors>,
    step: u64,
    next_event: usize,
    overflow: Overflow,
}

impl Model {
    /// An engine with the image loaded, on so many threads.
    pub fn new(image: Image, threads: usize) -> Self {
        let place = places(&image);
        let ends: Vec<[u32; 2]> =
            image.edges.iter().map(|e| [e.start, e.end].map(|p| place[p as usize])).collect();
        Self::placed(image, threads, order::edges(&ends), place)
    }

    /// The same with the edges in another order: edge `order[k]` of the image is computed k-th.
    ///
    /// # Panics
    /// If `order` is not a permutation of the edge numbers.
    pub fn with_order(image: Image, threads: usize, order: Vec<u32>) -> Self {
        let mut seen = vec![false; image.edges.len()];
        order.iter().for_each(|&k| seen[k as usize] = true);
        assert!(order.len() == seen.len() && seen.iter().all(|s| *s), "not a permutation of the edges");
        let place = places(&image);
        Self::placed(image, threads, order, place)
    }

    fn placed(image: Image, threads: usize, order: Vec<u32>, place: Vec<u32>) -> Self {
        let threads = threads.max(1);
        let per_lane = image.edges.len().div_ceil(threads).max(1);
        let lanes = order
            .chunks(per_lane)
            .map(|chunk| {
                let placed = |&k: &u32| {
                    let edge = image.edges[k as usize];
                    let [start, end] = [edge.start, edge.end].map(|p| place[p as usize]);
                    Edge { start, end, ..edge }
                };
                Lane::new(chunk.iter().map(placed), image.particles.len())
            })
            .collect();
        let mut particles = image.particles.clone();
        image.particles.iter().zip(&place).for_each(|(p, &to)| particles[to as usize] = *p);
        let quads = |word: fn(&Particle) -> [i32; 3]| -> Vec<Quad> {
            particles.iter().map(word).map(|[x, y, z]| [x, y, z, 0]).collect()
        };
        let (x, v, force) = (quads(|p| p.x), quads(|p| p.v), quads(|p| p.force));
        let ends = x.iter().zip(&v).map(|(x, v)| Ends::of(image.numbers(), x, v)).collect();
        let class = particles.iter().map(|p| p.class).collect();
        let loads = Loads::new(image.particles.iter().map(|p| p.force).collect());
        // A pool of its own, so that `threads` means what it says.
        let pool =
            (threads > 1).then(|| ThreadPoolBuilder::new().num_threads(threads).build().ok()).flatten();
        Self {
            image,
            particles: Particles { x, v, force, class, ends },
            place,
            loads,
            lanes,
            order,
            pool,
            vectors: vectors::available(),
            step: 0,
            next_event: 0,
            overflow: Overflow::NONE,
        }
    }

    /// The same without vector instructions: the plain integer code, which defines the result.
    pub fn plain(mut self) -> Self {
        self.vectors = None;
        self
    }

    /// The image it started from.
    pub fn image(&self) -> &Image {
        &self.image
    }

    /// Steps taken so far.
    pub fn step(&self) -> u64 {
        self.step
    }

    /// What has overflowed since the start.
    pub fn overflow(&self) -> Overflow {
        self.overflow
    }

    fn places(&self) -> impl Iterator<Item = usize> {
        self.place.iter().map(|&p| p as usize)
    }

    /// The particles' words.
    pub fn particles(&self) -> Vec<Particle> {
        let Particles { x, v, force, class, .. } = &self.particles;
        let three = |q: &Quad| [q[0], q[1], q[2]];
        self.places()
            .map(|p| Particle { x: three(&x[p]), v: three(&v[p]), force: three(&force[p]), class: class[p] })
            .collect()
    }

    /// Stored Voigt extensions in scene order.
    pub fn extensions(&self) -> Vec<i32> {
        let mut u = vec![0; self.order.len()];
        let in_lanes = self.lanes.iter().flat_map(|lane| &lane.u);
        for (&edge, &value) in self.order.iter().zip(in_lanes) {
            u[edge as usize] = value;
        }
        u
    }

    /// Sum of the forces of the last step's elements on each particle, as the force memories held it before its
    /// particles were moved.
    pub fn forces(&self) -> Vec<[i32; 3]> {
        let word = self.image.numbers().force_sum;
        let cut = |q: Quad| [q[0], q[1], q[2]].map(|c| word.wrap(c.into()) as i32);
        self.places().map(|p| cut(lane::forces(&self.lanes, p))).collect()
    }

    /// Particle velocities in m/s.
    pub fn velocities(&self) -> Vec<Vec3> {
        let at = |p: usize| self.particles.v[p];
        self.places().map(at).map(|[x, y, z, _]| self.image.velocity([x, y, z])).collect()
    }

    /// Particle positions in metres.
    pub fn positions(&self) -> Vec<Vec3> {
        let at = |p: usize| self.particles.x[p];
        self.places().map(at).map(|[x, y, z, _]| self.image.position([x, y, z])).collect()
    }

    /// SHA-256 of x, v (per particle) and u in the profile's storage widths.
    pub fn state_digest(&self) -> String {
        state_digest(self.image.numbers(), &self.particles(), &self.extensions())
    }

    /// What TEM computes for one edge of the scene in the present state.
    pub fn element(&self, edge: usize) -> tem::Output {
        let Edge { start, end, class, .. } = self.image.edges[edge];
        let ends = &self.particles.ends;
        let [start, end] = [start, end].map(|p| &ends[self.place[p as usize] as usize]);
        let input = words::input(start, end, self.extensions()[edge]);
        let (n, k) = (self.image.numbers(), &self.image.constants);
        let class = &k.elements[usize::from(class)];
        match self.image.inverse {
            Inverse::Cordic => tem::tem(n, Cordic, k, class, &input),
            Inverse::Table => tem::tem(n, Table, k, class, &input),
        }
    }

    /// Writes a word as the host does between steps.
    pub fn write(&mut self, particle: u32, write: Write) {
        let (n, p) = (self.image.numbers(), self.place[particle as usize] as usize);
        let Particles { x, v, force, ends, class } = &mut self.particles;
        let quad = |[x, y, z]: [i32; 3]| [x, y, z, 0];
        match write {
            Write::Force(raw) => force[p] = quad(self.loads.set_own(particle, raw)),
            Write::Release { class: now, .. } => class[p] = now,
            Write::Velocity(_) => {}
        }
        v[p] = write.velocity().map_or(v[p], quad);
        ends[p] = Ends::of(n, &x[p], &v[p]);
    }

    /// Writes a particle's external force and mass class.
    pub fn set_external(&mut self, particle: u32, force: [i32; 3], class: u8) {
        self.particles.class[self.place[particle as usize] as usize] = class;
        self.write(particle, Write::Force(force));
    }

    /// From the next step on, a force in newtons on a particle, besides the scene's own; zero ends it.
    pub fn pull(&mut self, particle: u32, force: Vec3) -> Result<(), ImageError> {
        let raw = self.image.added_force(particle, force)?;
        let [x, y, z] = self.loads.set_added(particle, raw);
        self.particles.force[self.place[particle as usize] as usize] = [x, y, z, 0];
        Ok(())
    }

    /// Goes on from these words.
    pub fn set(&mut self, words: &State) {
        self.loads = Loads::new(words.external(&self.image));
        let classes = words.classes(&self.image);
        for (p, &place) in self.place.iter().enumerate() {
            let quad = |[x, y, z]: [i32; 3]| [x, y, z, 0];
            let (place, particles) = (place as usize, &mut self.particles);
            particles.x[place] = quad(words.x[p]);
            particles.v[place] = quad(words.v[p]);
            particles.class[place] = classes[p];
            particles.force[place] = quad(self.loads.total(p as u32));
            particles.ends[place] = Ends::of(self.image.numbers(), &particles.x[place], &particles.v[place]);
        }
        let in_lanes = self.lanes.iter_mut().flat_map(|lane| &mut lane.u);
        self.order.iter().zip(in_lanes).for_each(|(&edge, u)| *u = words.u[edge as usize]);
        self.lanes.iter_mut().for_each(|lane| lane.overflow = Overflow::NONE);
        self.overflow = words.overflow;
        self.next_event = self.image.events.partition_point(|e| e.step < words.step);
        self.step = words.step;
    }

    /// Takes `steps` steps.
    pub fn advance(&mut self, steps: u64) {
        let end = self.step + steps;
        while self.step < end {
            while let Some(&Event { particle, write, .. }) =
                self.image.events.get(self.next_event).filter(|e| e.step <= self.step)
            {
                self.write(particle, write);
                self.next_event += 1;
            }
            let next = self.image.events.get(self.next_event).map_or(end, |e| e.step.min(end));
            self.run(next - self.step);
            self.step = next;
        }
    }

    /// Steps without an event in between: picks the loop compiled for profile and inverse.
    fn run(&mut self, steps: u64) {
        match (self.image.profile, self.image.inverse) {
            (Profile::Paper2003, Inverse::Cordic) => self.run_as::<Paper2003>(Cordic, None, steps),
            (Profile::Paper2003, Inverse::Table) => self.run_as::<Paper2003>(Table, None, steps),
            (Profile::Paper2005, Inverse::Cordic) => self.run_as::<Paper2005>(Cordic, None, steps),
            (Profile::Paper2005, Inverse::Table) => self.run_as::<Paper2005>(Table, None, steps),
            (Profile::Paper2005Plain, Inverse::Cordic) => self.run_as::<Paper2005Plain>(Cordic, None, steps),
            (Profile::Paper2005Plain, Inverse::Table) => self.run_as::<Paper2005Plain>(Table, None, steps),
            (Profile::Wide, Inverse::Cordic) => self.run_as::<Wide>(Cordic, None, steps),
            (Profile::Wide, Inverse::Table) => self.run_as::<Wide>(Table, self.vectors, steps),
        }
    }

    fn run_as<C: Contract>(&mut self, form: impl InverseForm, vectors: Option<Vectors>, steps: u64) {
        let Self { image, particles, lanes, pool, overflow, .. } = self;
        let k = &image.constants;
        let factors = Factors::new(k);
        let factors = vectors.map(|v| (v, &factors));
        let elements = |lane: &mut Lane, ends: &[Ends]| match factors {
            Some((vectors, factors)) => lane.compute_vectors::<C>(vectors, factors, form, k, ends),
            None => lane.compute::<C>(form, k, ends),
        };
        let Particles { x, v, force, class, ends } = particles;
        match pool {
            None => {
                for _ in 0..steps {
                    lanes.iter_mut().for_each(|lane| elements(lane, ends));
                    let share = Share { first: 0, x, v, force, class, ends };
                    *overflow = overflow.union(share.advance::<C>(k, factors, lanes));
                }
            }
            Some(pool) => pool.install(|| {
                let size = x.len().div_ceil(lanes.len());
                for _ in 0..steps {
                    lanes.par_iter_mut().for_each(|lane| elements(lane, ends));
                    let found = x
                        .par_chunks_mut(size)
                        .zip(v.par_chunks_mut(size))
                        .zip(ends.par_chunks_mut(size))
                        .enumerate()
                        .map(|(index, ((x, v), ends))| {
                            let first = index * size;
                            Share { first, x, v, force, class, ends }.advance::<C>(k, factors, lanes)
                        })
                        .reduce(|| Overflow::NONE, Overflow::union);
                    *overflow = overflow.union(found);
                }
            }),
        }
        *overflow = lanes.iter().fold(*overflow, |o, lane| o.union(lane.overflow));
    }
}

/// Where particles are kept: near each other if they are so in the scene. Their numbers do not show in any result.
fn places(image: &Image) -> Vec<u32> {
    let points: Vec<Vec3> = image.particles.iter().map(|p| Vec3::from(p.x.map(f64::from))).collect();
    let edges: Vec<[u32; 2]> = image.edges.iter().map(|e| [e.start, e.end]).collect();
    let mut place = vec![0; points.len()];
    let order = order::particles(&points, &edges, usize::MAX);
    order.iter().zip(0..).for_each(|(&particle, to)| place[particle as usize] = to);
    place
}

/// Some particles, from number `first` on, to be moved by one thread.
struct Share<'a> {
    first: usize,
    x: &'a mut [Quad],
    v: &'a mut [Quad],
    ends: &'a mut [Ends],
    /// Of all particles.
    force: &'a [Quad],
    class: &'a [u8],
}

impl Share<'_> {
    /// MPM over these particles.
    fn advance<C: Contract>(
        mut self,
        k: &Constants,
        factors: Option<(Vectors, &Factors)>,
        lanes: &[Lane],
    ) -> Overflow {
        let Some((vectors, factors)) = factors else {
            return (0..self.x.len()).fold(Overflow::NONE, |o, p| o.union(self.integers::<C>(k, lanes, p)));
        };
        let (mut overflow, mut next) = (Overflow::NONE, 0);
        while next < self.x.len() {
            // As far as vectors go; then the particle that needs the integer code.
            next = vectorize(
                vectors,
                #[inline(always)]
                || self.vectors(factors, lanes, next),
            );
            if next < self.x.len() {
                overflow = overflow.union(self.integers::<C>(k, lanes, next));
                next += 1;
            }
        }
        overflow
    }

    fn integers<C: Contract>(&mut self, k: &Constants, lanes: &[Lane], p: usize) -> Overflow {
        let wide = |q: &Quad| [q[0].into(), q[1].into(), q[2].into()];
        let input = mpm::Input {
            x: wide(&self.x[p]),
            v: wide(&self.v[p]),
            force: wide(&lane::forces(lanes, self.first + p)),
            external: wide(&self.force[self.first + p]),
        };
        let mass = k.inverse_mass[usize::from(self.class[self.first + p])];
        let out = mpm::mpm(&C::N, k, mass, &input);
        let quad = |[x, y, z]: [i64; 3]| [x as i32, y as i32, z as i32, 0];
        (self.x[p], self.v[p]) = (quad(out.x), quad(out.v));
        self.ends[p] = Ends::of(&C::N, &self.x[p], &self.v[p]);
        out.overflow
    }

    /// Particles from `next` on, up to one that vectors cannot do: its number here, or the end.
    #[inline(always)]
    fn vectors(&mut self, factors: &Factors, lanes: &[Lane], next: usize) -> usize {
        for p in next..self.x.len() {
            let sum = lane::forces(lanes, self.first + p);
            let mass = factors.inverse_mass[usize::from(self.class[self.first + p])];
            let force = &self.force[self.first + p];
            let moved = vector::particle(factors, mass, &self.x[p], &self.v[p], force, &sum);
            let Some((x, v)) = moved else {
                return p;
            };
            (self.x[p], self.v[p], self.ends[p]) = (x, v, Ends::of(&WIDE, &x, &v));
        }
        self.x.len()
    }
}

/// SHA-256 over state words: per particle x and v, then per edge u, little-endian in storage width.
pub fn state_digest(n: &Numbers, particles: &[Particle], extensions: &[i32]) -> String {
    let mut hasher = StateHasher::new();
    for p in particles {
        p.x.iter().for_each(|&c| hasher.word(c.into(), n.x.bits));
        p.v.iter().for_each(|&c| hasher.word(c.into(), n.v.bits));
    }
    extensions.iter().for_each(|&u| hasher.word(u.into(), n.u.bits));
    hasher.hex()
}
