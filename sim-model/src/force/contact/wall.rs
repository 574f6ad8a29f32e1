//! Rigid boundaries: things that objects touch and that no object moves.

use super::{
    force::{ContactForce, Partner},
    law::Contact,
    shape::Shape,
    surface::Surface,
};
use crate::{
    force::{
        Object,
        real::{Real, Vector, vector},
    },
    mesh::Vec3,
    trajectory::{Key, Trajectory},
};
use std::slice::Iter;

/// A ball in somebody's hand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hand {
    /// Its middle.
    pub center: Vec3,
    /// Radius in metres.
    pub radius: f64,
}

/// A hand takes this long, in seconds, to where it is told to be: it has a velocity, not jumps.
const GLIDE: f64 = 0.03;

/// A boundary and how it moves.
#[derive(Clone, Debug, PartialEq)]
pub struct Boundary {
    /// What reports call it, where that is not its shape.
    pub name: Option<String>,
    /// Its form at the start.
    pub shape: Shape<f64>,
    /// Velocity of its surface where it stands still itself: a conveyor's belt, which turns with it.
    pub belt: Vec3,
    /// How it moves and turns.
    pub path: Trajectory,
    /// Friction, where it is not the contact's own.
    pub friction: Option<f64>,
    /// Slip speed of friction, where it is not the contact's own.
    pub slip: Option<f64>,
}

impl Boundary {
    /// A boundary at rest.
    pub fn still(shape: Shape<f64>) -> Self {
        let path = Trajectory { pivot: shape.pivot(), ..Trajectory::default() };
        Self { name: None, shape, belt: Vec3::zeros(), path, friction: None, slip: None }
    }

    /// The law by which it touches.
    pub fn law(&self, law: &Contact<f64>) -> Contact<f64> {
        let friction = self.friction.unwrap_or(law.friction);
        Contact { friction, slip: self.slip.unwrap_or(law.slip), ..*law }
    }

    /// Its form at a time.
    pub fn shape_at(&self, time: f64) -> Shape<f64> {
        self.shape.posed(&self.path.at(time), &Vec3::zeros())
    }
}

/// A boundary at one time, in an engine's numbers, with the contacts of all particles that can touch it.
#[derive(Clone, Debug)]
pub struct Wall<T: Real> {
    boundary: Boundary,
    origin: Vec3,
    law: Contact<T>,
    shape: Shape<T>,
    /// Velocity of the surface at the pivot.
    velocity: Vector<T>,
    /// Angular velocity, if it has any.
    turning: Option<Vector<T>>,
    pivot: Vector<T>,
    particles: Vec<usize>,
    integrals: Vec<T>,
    /// The faces that it touches if it is smaller than the pitch, and whether it is.
    surface: Option<Surface<T>>,
    small: bool,
}

impl<T: Real> Wall<T> {
    /// A boundary for an object; positions are relative to `origin`.
    pub fn new(boundary: &Boundary, law: &Contact<f64>, origin: Vec3, object: &Object<'_>) -> Self {
        let particles = object.touchable();
        let mut wall = Self {
            law: boundary.law(law).narrow(),
            origin,
            shape: boundary.shape.posed(&boundary.path.at(0.0), &origin),
            velocity: Vector::zeros(),
            turning: None,
            pivot: Vector::zeros(),
            integrals: vec![T::zero(); particles.len()],
            particles,
            surface: Surface::new(object).filter(|surface| surface.is_coarse_for(&boundary.shape)),
            small: false,
            boundary: boundary.clone(),
        };
        wall.settle_size();
        wall.settle_place(0.0);
        wall
    }

    /// The ball of a hand, already where it is told to be.
    pub fn held(hand: &Hand, law: &Contact<f64>, origin: Vec3, object: &Object<'_>) -> Self {
        let ball = Shape::Ball { center: hand.center, radius: hand.radius };
        let mut wall = Self::new(&Boundary::still(ball), law, origin, object);
        // A hand may change its size.
        wall.surface = Surface::new(object);
        wall
    }

    /// From this time on, a ball goes to another place.
    pub fn glide(&mut self, time: f64, hand: &Hand) {
        let offset = self.boundary.path.at(time).offset;
        if let Shape::Ball { center, radius } = &mut self.boundary.shape {
            *radius = hand.radius;
            let there = Key::shift(time + GLIDE, hand.center - *center);
            self.boundary.path.frames = vec![Key::shift(time, offset), there];
        }
        self.settle_size();
    }

    fn settle_size(&mut self) {
        let shape = &self.boundary.shape;
        self.small = self.surface.as_ref().is_some_and(|surface| surface.is_coarse_for(shape));
    }

    /// The faces, if it touches them.
    fn faces(&self) -> Option<&Surface<T>> {
        self.surface.as_ref().filter(|_| self.small)
    }

    /// Velocity of its surface at a point.
    fn moves(&self, at: &Vector<T>) -> Vector<T> {
        match &self.turning {
            Some(turning) => self.velocity + turning.cross(&(at - self.pivot)),
            None => self.velocity,
        }
    }

    fn settle_place(&mut self, time: f64) {
        let pose = self.boundary.path.at(time);
        self.shape = self.boundary.shape.posed(&pose, &self.origin);
        self.velocity = vector(&(pose.velocity + pose.rotation * self.boundary.belt));
        self.turning = (pose.turning != Vec3::zeros()).then(|| vector(&pose.turning));
        self.pivot = vector(&(pose.pivot() - self.origin));
    }

    /// Before a step of length h: the boundary moves, integrals go on or end.
    pub fn settle(&mut self, time: f64, h: T, x: &[Vector<T>]) {
        if self.boundary.path.moves() {
            self.settle_place(time);
        }
        if self.law.integral > T::zero() {
            for (&p, integral) in self.particles.iter().zip(&mut self.integrals) {
                *integral = self.law.integrate(*integral, self.shape.distance(&x[p]).0, h);
            }
        }
        if let Some(surface) = self.surface.as_mut().filter(|_| self.small) {
            surface.settle(&self.shape, &self.law, h, x);
        }
    }

    /// Operations of a step in which nothing touches: a distance for each particle.
    pub(super) fn operations(&self) -> u64 {
        let distance = match self.shape {
            Shape::Plane { .. } => 6,
            Shape::Ball { .. } => 10,
            Shape::Roller { .. } => 20,
            Shape::Bar { .. } => 50,
        };
        distance * self.particles.len() as u64
            + self.faces().map_or(0, |surface| surface.operations(distance))
    }

    /// Each touching particle: its number, its distance, the direction out, and the force on it.
    #[inline(always)]
    fn each(&self, x: &[Vector<T>], v: &[Vector<T>], mut found: impl FnMut(usize, T, &Vector<T>, Vector<T>)) {
        let faces = self.faces();
        for (&p, &integral) in self.particles.iter().zip(&self.integrals) {
            if faces.is_some_and(|faces| faces.covers(p)) {
                continue;
            }
            let (distance, normal) = self.shape.distance(&x[p]);
            if distance < self.law.region {
                let velocity = v[p] - self.moves(&x[p]);
                found(p, distance, &normal, self.law.force(distance, &normal, &velocity, integral));
            }
        }
    }

    /// Adds its forces: for each particle a distance (6 to 50 operations), for each touching one 40 more.
    pub fn add(&self, x: &[Vector<T>], v: &[Vector<T>], force: &mut [Vector<T>]) {
        self.each(x, v, |p, _, _, push| force[p] += push);
        if let Some(faces) = self.faces() {
            let moves = |at: &Vector<T>| self.moves(at);
            faces.each(&self.shape, &self.law, moves, x, v, |touch, push| touch.give(push, force));
        }
    }

    /// The same forces, one by one, of a boundary that is called so.
    pub fn contacts(
        &self,
        own: Partner,
        x: &[Vector<T>],
        v: &[Vector<T>],
        found: &mut dyn FnMut(ContactForce<T>),
    ) {
        self.each(x, v, |p, distance, &normal, force| {
            if force != Vector::zeros() {
                let between = [Partner::Particle(p), own];
                found(ContactForce { between, place: x[p], normal, depth: -distance, force });
            }
        });
        if let Some(faces) = self.faces() {
            let moves = |at: &Vector<T>| self.moves(at);
            faces.each(&self.shape, &self.law, moves, x, v, |touch, push| found(touch.report(own, push)));
        }
    }

    /// What it remembers: the integrals.
    pub(super) fn save(&self, memory: &mut Vec<T>) {
        memory.extend(&self.integrals);
        if let Some(faces) = self.faces() {
            faces.save(memory);
        }
    }

    pub(super) fn restore(&mut self, memory: &mut Iter<'_, T>) -> bool {
        self.integrals.iter_mut().all(|integral| memory.next().map(|value| *integral = *value).is_some())
            && self.surface.as_mut().filter(|_| self.small).is_none_or(|faces| faces.restore(memory))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::Matrix3;

    #[test]
    fn a_square_prism_that_turns_reaches_down_to_its_corner() {
        let bar = Shape::Bar {
            center: Vec3::z(),
            half: Vec3::new(0.1, f64::INFINITY, 0.1),
            axes: Matrix3::identity(),
        };
        let mut prism = Boundary::still(bar);
        prism.path.spin = Vec3::y() * 2.0;
        for time in [0.0, 0.1, std::f64::consts::FRAC_PI_8, 0.6] {
            let angle: f64 = 2.0 * time;
            let lowest = 1.0 - 0.1 * (angle.sin().abs() + angle.cos().abs());
            let highest_below = |z: f64| {
                (-200..=200)
                    .map(|k| prism.shape_at(time).distance(&Vec3::new(f64::from(k) * 1e-3, 5.0, z)).0)
                    .fold(f64::INFINITY, f64::min)
            };
            assert!(highest_below(lowest - 0.01) > 0.01 - 1e-9, "{time}");
            assert!(highest_below(lowest + 0.002) < 0.0, "{time}");
        }
    }
}
