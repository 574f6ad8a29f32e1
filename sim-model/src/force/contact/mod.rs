//! Contact: forces that keep things out of each other, and friction.
//!
//! - [`force`]: the force of one contact, as it is reported;
//! - [`law`]: the penalty and the time-integrated penalty, and kinetic friction, as functions of numbers;
//! - [`shape`]: the form of a boundary, distance and direction out;
//! - [`wall`]: rigid boundaries: floors, conveyors, rollers, bars, balls, also moving;
//! - `surface`: faces and edges under boundaries that are smaller than the pitch;
//! - [`pairs`]: surfaces with each other, corner and face, edge and edge, in the plane corner and edge;
//! - [`grid`]: finds what is near without asking every pair.

mod closest;
pub mod force;
pub mod grid;
pub mod law;
pub mod pairs;
mod read;
pub mod shape;
mod surface;
pub mod wall;

use super::{
    Acting, Force, Object, Rates,
    real::{Real, Vector},
};
use crate::{
    mesh::Vec3,
    reader::{SceneError, Table},
};
use force::{ContactForce, Partner};
use law::Contact;
use pairs::Pairs;
use std::slice::Iter;
use wall::{Boundary, Wall};

/// What touches, and by which law.
#[derive(Clone, Debug, PartialEq)]
pub struct Contacts {
    /// How things touch.
    pub law: Contact<f64>,
    /// Whether surfaces touch each other.
    pub surfaces: bool,
    /// Rigid boundaries.
    pub boundaries: Vec<Boundary>,
}

/// How deep contacts are taken to be where the stability check counts friction with a slip speed, of the shortest edge.
const REST: f64 = 0.05;

impl Force for Contacts {
    const NAME: &'static str = "contact";
    const KEYS: &'static [&'static str] = &["contact", "boundaries"];

    fn read(root: &Table<'_>, object: &Object<'_>) -> Result<Option<Self>, SceneError> {
        read::contacts(root, object)
    }

    fn stiffest(&self, object: &Object<'_>) -> Rates {
        let surfaces = if self.surfaces { 2.0 } else { 1.0 };
        let rods = self.boundaries.iter().map(|b| surface::stiffening(&b.shape, object));
        let share = rods.fold(surfaces, f64::max);
        let plain = Rates::of(self.law.stiffness, self.law.damping, share, object);
        let lengths = (0..object.mesh.edges.len()).map(|edge| object.mesh.edge_length(edge));
        let depth = REST * lengths.min_by(f64::total_cmp).unwrap_or(0.0);
        let laws = self.boundaries.iter().map(|b| b.law(&self.law)).chain([self.law]);
        let rubbing = laws.map(|law| law.rubbing(depth)).fold(0.0, f64::max);
        let friction = Rates::of(0.0, rubbing, share, object);
        // Friction acts across the direction in which the contact's own damping does.
        Rates { damping: plain.damping.max(friction.damping), ..plain }
    }

    fn acting<T: Real>(&self, object: &Object<'_>, origin: Vec3) -> Box<dyn Acting<T>> {
        let wall = |b: &Boundary| Wall::new(b, &self.law, origin, object);
        let pairs = self.surfaces.then(|| Pairs::new(object.mesh, &self.law, &object.joined));
        Box::new(Touching { walls: self.boundaries.iter().map(wall).collect(), pairs })
    }
}

#[derive(Clone)]
struct Touching<T: Real> {
    walls: Vec<Wall<T>>,
    pairs: Option<Pairs<T>>,
}

impl<T: Real> Acting<T> for Touching<T> {
    fn settle(&mut self, time: f64, h: T, x: &[Vector<T>]) {
        self.walls.iter_mut().for_each(|wall| wall.settle(time, h, x));
        if let Some(pairs) = &mut self.pairs {
            pairs.settle(h, x);
        }
    }

    fn add(&self, x: &[Vector<T>], v: &[Vector<T>], force: &mut [Vector<T>]) {
        self.walls.iter().for_each(|wall| wall.add(x, v, force));
        if let Some(pairs) = &self.pairs {
            pairs.add(x, v, force);
        }
    }

    fn contacts(&self, x: &[Vector<T>], v: &[Vector<T>], found: &mut dyn FnMut(ContactForce<T>)) {
        for (number, wall) in self.walls.iter().enumerate() {
            wall.contacts(Partner::Boundary(number), x, v, found);
        }
        if let Some(pairs) = &self.pairs {
            pairs.contacts(x, v, found);
        }
    }

    fn save(&self, memory: &mut Vec<T>) {
        self.walls.iter().for_each(|wall| wall.save(memory));
        if let Some(pairs) = &self.pairs {
            pairs.save(memory);
        }
    }

    fn restore(&mut self, memory: &mut Iter<'_, T>, x: &[Vector<T>]) -> bool {
        self.walls.iter_mut().all(|wall| wall.restore(memory))
            && self.pairs.as_mut().is_none_or(|pairs| pairs.restore(memory, x))
    }

    fn copy(&self) -> Box<dyn Acting<T>> {
        Box::new(self.clone())
    }

    fn operations(&self) -> u64 {
        self.walls.iter().map(Wall::operations).sum::<u64>()
            + self.pairs.as_ref().map_or(0, Pairs::operations)
    }
}
