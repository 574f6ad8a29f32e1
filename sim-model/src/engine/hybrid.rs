//! Elements in floating point, particles in the hardware's words (H05 2.3.3, Fig. 2.10).
//!
//! The papers measure what MPM's words alone cost by leaving TEM to a PC. So here: positions and velocities are words of a
//! profile and move exactly as [`crate::twin::mpm`] moves them; extensions are f64.
//!
//! ```text
//!  x, v (words) --> f64 --> elements, f64 --> F_k, rounded into the force word --> sums --> MPM (words) --> x, v
//!                            u, f64  --> u + h lv'
//! ```
//! An element hands over what TEM would: the three components of its force, each rounded once as the profile rounds, and
//! within the limit below which no sum overflows. Forces therefore add up to zero here, too.

use super::{
    EngineError, Failure, InProcess, Probe, Snapshot, SnapshotError, no_contact, reference::PlainElement,
    words,
};
use crate::{
    contract::{
        digest::StateHasher,
        image::{Event, Image, Particle, Write},
        overflow::{Overflow, Source},
        scaling::Headroom,
    },
    force::contact::wall::Hand,
    mesh::Vec3,
    scene::{Scene, loads::Loads, sense::Sensed},
    twin::{mpm, words::Words},
};

/// The engine.
pub struct Hybrid {
    image: Image,
    /// The scene's step in seconds.
    h: f64,
    elements: Vec<PlainElement>,
    particles: Vec<Particle>,
    loads: Loads<i32>,
    u: Vec<f64>,
    step: u64,
    next_event: usize,
    overflow: Overflow,
}

/// What the elements compute in one step.
struct Computed {
    /// Raw, as they are handed over.
    forces: Vec<[i64; 3]>,
    /// lv' in m/s.
    rates: Vec<f64>,
    /// Of the forces on each particle.
    sums: Vec<[i64; 3]>,
    overflow: Overflow,
}

impl Hybrid {
    /// The engine at the start of a scene, of which this is the image.
    pub fn new(scene: &Scene, image: Image) -> Self {
        Self {
            h: scene.step,
            elements: (0..scene.mesh.edges.len()).map(|edge| PlainElement::of(scene, edge)).collect(),
            particles: image.particles.clone(),
            loads: Loads::new(image.particles.iter().map(|p| p.force).collect()),
            u: scene.extension.clone(),
            step: 0,
            next_event: 0,
            overflow: Overflow::NONE,
            image,
        }
    }

    /// Position and velocity of each particle as the elements get them, `due` having been written.
    fn ends(&self, due: &[Event]) -> (Vec<Vec3>, Vec<Vec3>) {
        let mut v = InProcess::velocities(self);
        for (event, raw) in due.iter().filter_map(|event| Some((event, event.write.velocity()?))) {
            v[event.particle as usize] = self.image.velocity(raw);
        }
        (InProcess::positions(self), v)
    }

    /// What is written before the next step and has not been yet.
    fn due(&self) -> &[Event] {
        let left = &self.image.events[self.next_event..];
        &left[..left.partition_point(|event| event.step <= self.step)]
    }

    /// What the elements compute in the next step.
    fn compute(&self) -> Computed {
        let (x, v) = self.ends(self.due());
        let (edges, particles) = (self.elements.len(), self.particles.len());
        let mut all = Computed {
            forces: Vec::with_capacity(edges),
            rates: Vec::with_capacity(edges),
            sums: vec![[0; 3]; particles],
            overflow: Overflow::NONE,
        };
        for (element, &u) in self.elements.iter().zip(&self.u) {
            let out = element.compute(&x, &v, u);
            let force = self.handed_over(out.force, &mut all.overflow);
            let [start, end] = element.ends();
            for c in 0..3 {
                all.sums[start][c] -= force[c];
                all.sums[end][c] += force[c];
            }
            all.forces.push(force);
            all.rates.push(out.voigt_rate);
        }
        all
    }

    /// A force in newtons as raw words.
    fn handed_over(&self, force: Vec3, overflow: &mut Overflow) -> [i64; 3] {
        let n = self.image.numbers();
        let (lsb, limit) = (self.image.scaling.force_lsb(n), f64::from(self.image.constants.force_limit));
        <[f64; 3]>::from(force).map(|component| {
            let raw = n.rounding.integer(component / lsb);
            // What is not a number is beyond every limit.
            overflow.check(Source::ForceLimit, raw.abs() <= limit);
            n.edge_force.wrap(raw as i64)
        })
    }

    fn apply_events(&mut self) {
        let due = self.due().to_vec();
        self.next_event += due.len();
        for Event { particle, write, .. } in due {
            let p = &mut self.particles[particle as usize];
            match write {
                Write::Force(raw) => p.force = self.loads.set_own(particle, raw),
                Write::Release { class, .. } => p.class = class,
                Write::Velocity(_) => {}
            }
            p.v = write.velocity().unwrap_or(p.v);
        }
    }

    fn take_step(&mut self) {
        self.apply_events();
        let Computed { rates, sums, mut overflow, .. } = self.compute();
        let (n, k) = (self.image.numbers(), &self.image.constants);
        let (wide, narrow) =
            (|words: [i32; 3]| words.map(i64::from), |words: [i64; 3]| words.map(|c| c as i32));
        for (p, force) in self.particles.iter_mut().zip(sums) {
            let input = mpm::Input { x: wide(p.x), v: wide(p.v), force, external: wide(p.force) };
            let out = mpm::mpm(n, k, k.inverse_mass[usize::from(p.class)], &input);
            (p.x, p.v) = (narrow(out.x), narrow(out.v));
            overflow = overflow.union(out.overflow);
        }
        self.u.iter_mut().zip(rates).for_each(|(u, rate)| *u += self.h * rate);
        self.overflow = self.overflow.union(overflow);
        self.step += 1;
    }

    /// What a state of this engine is in.
    fn numbers(&self) -> String {
        format!("hybrid, {}", self.image.profile)
    }
}

impl InProcess for Hybrid {
    fn advance(&mut self, steps: u64) -> Result<(), Failure> {
        (0..steps).for_each(|_| self.take_step());
        self.failure().map_or(Ok(()), Err)
    }

    fn step(&self) -> u64 {
        self.step
    }

    fn positions(&self) -> Vec<Vec3> {
        self.particles.iter().map(|p| self.image.position(p.x)).collect()
    }

    fn velocities(&self) -> Vec<Vec3> {
        self.particles.iter().map(|p| self.image.velocity(p.v)).collect()
    }

    fn extensions(&self) -> Vec<f64> {
        self.u.clone()
    }

    fn sense(&self) -> Sensed {
        let lsb = self.image.scaling.force_lsb(self.image.numbers());
        let newtons = |raw: [i64; 3]| Vec3::from(raw.map(|c| c as f64)) * lsb;
        let Computed { forces, sums, .. } = self.compute();
        let [elements, particles] = [forces, sums].map(|list| list.into_iter().map(newtons).collect());
        Sensed { elements, particles, ..Sensed::default() }
    }

    fn save(&self) -> Snapshot {
        let (x, v): (Vec<_>, Vec<_>) = self.particles.iter().map(|p| (p.x, p.v)).unzip();
        Snapshot::new(self.numbers(), self.step, self.overflow.bits())
            .with("x", x.into_flattened())
            .with("v", v.into_flattened())
            .with("u", self.u.clone())
    }

    fn restore(&mut self, snapshot: &Snapshot) -> Result<(), SnapshotError> {
        snapshot.check_numbers(&self.numbers())?;
        let (image, count) = (&self.image, self.particles.len());
        let x = words::vectors(snapshot, "x", count, image.numbers().x.word())?;
        let v = words::vectors(snapshot, "v", count, image.numbers().v.word())?;
        self.u = snapshot.column("u", self.u.len())?.to_vec();
        let overflow = Overflow::from_bits(snapshot.overflow);
        let words = Words { step: snapshot.step, x, v, u: Vec::new(), overflow };
        self.loads = Loads::new(words.external(image));
        let ends = words.x.iter().zip(&words.v).zip(words.classes(image));
        self.particles = (0..)
            .zip(ends)
            .map(|(p, ((&x, &v), class))| Particle { x, v, force: self.loads.total(p), class })
            .collect();
        self.next_event = image.events.partition_point(|e| e.step < words.step);
        (self.step, self.overflow) = (words.step, overflow);
        Ok(())
    }

    fn pull(&mut self, particle: u32, force: Vec3) -> Result<(), EngineError> {
        let raw = self.image.added_force(particle, force)?;
        self.particles[particle as usize].force = self.loads.set_added(particle, raw);
        Ok(())
    }

    fn touch(&mut self, _scene: &Scene, hand: Option<&Hand>) -> Result<(), EngineError> {
        no_contact(hand)
    }

    /// x and v (per particle) in the profile's storage widths, then u as little-endian f64.
    fn state_digest(&self) -> String {
        let (n, mut hasher) = (self.image.numbers(), StateHasher::new());
        for p in &self.particles {
            p.x.iter().for_each(|&c| hasher.word(c.into(), n.x.bits));
            p.v.iter().for_each(|&c| hasher.word(c.into(), n.v.bits));
        }
        self.u.iter().for_each(|u| hasher.bytes(&u.to_le_bytes()));
        hasher.hex()
    }

    fn overflow(&self) -> Overflow {
        self.overflow
    }

    fn failure(&self) -> Option<Failure> {
        Failure::of(self.overflow)
    }

    /// Its force unrounded; raw, as it is handed over.
    fn probe(&self, edge: usize) -> Probe {
        let (x, v) = self.ends(&[]);
        let out = self.elements[edge].compute(&x, &v, self.u[edge]);
        let force_raw = Some(self.handed_over(out.force, &mut Overflow::default()));
        Probe { force_raw, ..Probe::unrounded(edge, &out) }
    }

    fn headroom(&self, scene: &Scene) -> Option<Headroom> {
        Some(self.image.scaling.headroom(scene, self.image.numbers()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::numbers::{Inverse, Profile};

    /// What TEM would flag is flagged, and what is no number at all: an element that has collapsed has no direction.
    #[test]
    fn forces_that_cannot_be_handed_over_are_overflows() {
        let scene = Scene::open("single").unwrap();
        for profile in Profile::ALL {
            let engine = Hybrid::new(&scene, Image::new(&scene, profile, Inverse::Table).unwrap());
            let lsb = engine.image.scaling.force_lsb(engine.image.numbers());
            let limit = f64::from(engine.image.constants.force_limit);
            let hand_over = |x: f64| {
                let mut overflow = Overflow::NONE;
                let [raw, ..] = engine.handed_over(Vec3::new(x, 0.0, 0.0), &mut overflow);
                (raw, overflow.to_string())
            };
            assert_eq!(hand_over(-limit * lsb), (-limit as i64, "none".to_owned()), "{profile}");
            for beyond in [(limit + 1.0) * lsb, -1e300, f64::INFINITY, f64::NAN] {
                assert_eq!(hand_over(beyond).1, "force-limit", "{profile} {beyond}");
            }
            let half = if profile == Profile::Paper2003 { 0 } else { 1 };
            assert_eq!((hand_over(0.5 * lsb).0, hand_over(-0.5 * lsb).0), (half, half - 1), "{profile}");
        }
    }
}
