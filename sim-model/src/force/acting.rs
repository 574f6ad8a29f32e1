//! Forces at work, in an engine's numbers.

use super::{
    Forces, Object,
    contact::{
        law::Contact,
        wall::{Hand, Wall},
    },
    law::Elements,
    real::{Real, Vector},
};
use crate::mesh::Vec3;

/// A force at work.
pub trait Acting<T: Real>: Send + Sync {
    /// Before the step of length `h` at `time`: brings what it remembers up to the present positions.
    fn settle(&mut self, _time: f64, _h: T, _x: &[Vector<T>]) {}
    /// Adds its forces.
    fn add(&self, x: &[Vector<T>], v: &[Vector<T>], force: &mut [Vector<T>]);
    /// Additions and multiplications of [`Self::add`], about, where nothing touches and nothing is pushed back.
    fn operations(&self) -> u64;
}

/// All forces of a scene but those of its plain elements.
pub struct ActingForces<T: Real> {
    h: T,
    elements: Elements<T>,
    list: Vec<Box<dyn Acting<T>>>,
    /// The ball in somebody's hand.
    hand: Option<Wall<T>>,
}

impl<T: Real> ActingForces<T> {
    /// Those declared, for steps of so many seconds, and elements with laws of their own; positions are relative to
    /// `origin`.
    pub fn new(forces: &Forces, elements: Elements<T>, object: &Object<'_>, origin: Vec3, step: f64) -> Self {
        Self { h: T::of(step), elements, list: forces.acting(object, origin), hand: None }
    }

    /// From `time` on, a ball in somebody's hand that touches by this law; none takes it away.
    pub fn touch(
        &mut self,
        object: &Object<'_>,
        law: &Contact<f64>,
        origin: Vec3,
        time: f64,
        hand: Option<&Hand>,
    ) {
        match (hand, &mut self.hand) {
            (Some(hand), Some(wall)) => wall.glide(time, hand),
            (hand, wall) => *wall = hand.map(|hand| Wall::held(hand, law, origin, object.touchable())),
        }
    }

    /// Elements that have laws of their own.
    pub fn elements(&self) -> &Elements<T> {
        &self.elements
    }

    /// Additions and multiplications of a step, about, where nothing touches.
    pub fn operations(&self) -> u64 {
        self.elements.operations() + self.list.iter().map(|force| force.operations()).sum::<u64>()
    }

    /// Before the step at `time`: puts states back into their limits, moves boundaries, looks for contacts.
    pub fn settle(&mut self, time: f64, x: &[Vector<T>], states: &mut [T]) {
        self.elements.settle(x, states);
        self.list.iter_mut().for_each(|force| force.settle(time, self.h, x));
        if let Some(hand) = &mut self.hand {
            hand.settle(time, self.h, x);
        }
    }

    /// Adds all forces to `force`, and sets the rates of the states of elements that have laws of their own.
    pub fn add(
        &self,
        x: &[Vector<T>],
        v: &[Vector<T>],
        states: &[T],
        force: &mut [Vector<T>],
        rates: &mut [T],
    ) {
        self.elements.add(x, v, states, force, rates);
        self.list.iter().for_each(|one| one.add(x, v, force));
        if let Some(hand) = &self.hand {
            hand.add(x, v, force);
        }
    }
}
