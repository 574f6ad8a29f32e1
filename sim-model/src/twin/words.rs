//! A state in words, whoever computes it, and the forces that follow from it.

use super::{
    blocks::{cordic::Cordic, table::Table},
    tem,
};
use crate::{
    contract::{
        image::{Edge, Event, Image, Particle, Write},
        numbers::{Inverse, State},
        overflow::Overflow,
    },
    mesh::Vec3,
    scene::sense::Sensed,
};

/// The words that change while an engine runs, in the order of the scene.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words {
    /// Steps taken.
    pub step: u64,
    /// Position of each particle.
    pub x: Vec<[i32; 3]>,
    /// Velocity of each particle.
    pub v: Vec<[i32; 3]>,
    /// Voigt extension of each edge.
    pub u: Vec<i32>,
    /// What has overflowed.
    pub overflow: Overflow,
}

impl Words {
    /// Those of some particles and extensions.
    pub fn of(step: u64, particles: &[Particle], u: Vec<i32>, overflow: Overflow) -> Self {
        let (x, v) = particles.iter().map(|p| (p.x, p.v)).unzip();
        Self { step, x, v, u, overflow }
    }

    /// The external force on each particle that the image and its events had written when this step began.
    pub fn external(&self, image: &Image) -> Vec<[i32; 3]> {
        let mut forces: Vec<[i32; 3]> = image.particles.iter().map(|p| p.force).collect();
        for event in image.events.iter().take_while(|e| e.step < self.step) {
            if let Write::Force(force) = event.write {
                forces[event.particle as usize] = force;
            }
        }
        forces
    }

    /// The mass class of each particle, likewise.
    pub fn classes(&self, image: &Image) -> Vec<u8> {
        let mut classes: Vec<u8> = image.particles.iter().map(|p| p.class).collect();
        for event in image.events.iter().take_while(|e| e.step < self.step) {
            if let Write::Release { class, .. } = event.write {
                classes[event.particle as usize] = class;
            }
        }
        classes
    }

    /// What TEM computes of every edge in the next step.
    fn elements<'a>(&self, image: &'a Image) -> impl Iterator<Item = (&'a Edge, tem::Output)> {
        let (n, k) = (image.numbers(), &image.constants);
        let mut v = self.v.clone();
        let due = image.events.iter().skip_while(|e| e.step < self.step).take_while(|e| e.step == self.step);
        for &Event { particle, write, .. } in due {
            if let Some(now) = write.velocity() {
                v[particle as usize] = now;
            }
        }
        let (x, u) = (self.x.clone(), self.u.clone());
        image.edges.iter().zip(u).map(move |(edge, u)| {
            let operand = |state: &State, words: &[[i32; 3]], p: u32| {
                words[p as usize].map(|c| state.operand(c.into()))
            };
            let input = tem::Input {
                x_start: operand(&n.x, &x, edge.start),
                v_start: operand(&n.v, &v, edge.start),
                x_end: operand(&n.x, &x, edge.end),
                v_end: operand(&n.v, &v, edge.end),
                u: u.into(),
            };
            let class = &k.elements[usize::from(edge.class)];
            let out = match image.inverse {
                Inverse::Cordic => tem::tem(n, Cordic, k, class, &input),
                Inverse::Table => tem::tem(n, Table, k, class, &input),
            };
            (edge, out)
        })
    }

    /// The sum of the forces of the next step's elements on each particle, in raw words: over all particles they are
    /// exactly zero.
    pub fn forces(&self, image: &Image) -> Vec<[i64; 3]> {
        let mut sums = vec![[0; 3]; self.x.len()];
        for (edge, out) in self.elements(image) {
            for c in 0..3 {
                sums[edge.end as usize][c] += out.force[c];
                sums[edge.start as usize][c] -= out.force[c];
            }
        }
        sums
    }

    /// What is felt, in newtons: exact sums of the engine's own words.
    pub fn sense(&self, image: &Image) -> Sensed {
        let lsb = image.scaling.force_lsb(image.numbers());
        let newtons = |raw: [i64; 3]| Vec3::from(raw.map(|c| c as f64)) * lsb;
        Sensed {
            elements: self.elements(image).map(|(_, out)| newtons(out.force)).collect(),
            particles: self.forces(image).into_iter().map(newtons).collect(),
            ..Sensed::default()
        }
    }
}
