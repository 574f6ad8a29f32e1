//! Forces at work, in an engine's numbers.

use super::{
    Forces, Object,
    contact::{
        force::{ContactForce, Partner},
        law::Contact,
        wall::{Hand, Wall},
    },
    law::Elements,
    real::{Real, Vector},
};
use crate::mesh::Vec3;
use std::slice::Iter;

/// A force at work.
pub trait Acting<T: Real>: Send + Sync {
    /// Before the step of length `h` at `time`: brings what it remembers up to the present positions.
    fn settle(&mut self, _time: f64, _h: T, _x: &[Vector<T>]) {}
    /// Adds its forces.
    fn add(&self, x: &[Vector<T>], v: &[Vector<T>], force: &mut [Vector<T>]);
    /// Where something touches, and the force of it: those that [`Self::add`] adds.
    fn contacts(&self, _x: &[Vector<T>], _v: &[Vector<T>], _found: &mut dyn FnMut(ContactForce<T>)) {}
    /// What it remembers from step to step, as numbers.
    fn save(&self, _memory: &mut Vec<T>) {}
    /// Takes up what was saved at these positions; false if that is not its memory.
    fn restore(&mut self, _memory: &mut Iter<'_, T>, _x: &[Vector<T>]) -> bool {
        true
    }
    /// Another one in the same state.
    fn copy(&self) -> Box<dyn Acting<T>>;
    /// Additions and multiplications of [`Self::add`], about, where nothing touches and nothing is pushed back.
    fn operations(&self) -> u64;
}

/// What is felt in a state.
pub struct Felt<T: Real> {
    /// Edges with laws of their own, and the force on their end; their start feels the opposite.
    pub elements: Vec<(usize, Vector<T>)>,
    /// The same edges, and what their springs hold, in joules.
    pub stored: Vec<(usize, T)>,
    /// The sum of all forces on each particle.
    pub particles: Vec<Vector<T>>,
    /// Where things touch.
    pub contacts: Vec<ContactForce<T>>,
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
            (hand, wall) => *wall = hand.map(|hand| Wall::held(hand, law, origin, object)),
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

    /// What is felt in a state, as the step at `time` would compute it; nothing that is remembered changes.
    pub fn sense(&self, time: f64, x: &[Vector<T>], v: &[Vector<T>], states: &[T]) -> Felt<T> {
        let mut felt = Felt {
            elements: Vec::new(),
            stored: Vec::new(),
            particles: vec![Vector::zeros(); x.len()],
            contacts: Vec::new(),
        };
        let (mut states, mut rates) = (states.to_vec(), vec![T::zero(); states.len()]);
        self.elements.settle(x, &mut states);
        for element in self.elements.iter() {
            let on_end = self.elements.compute(element, x, v, &states, &mut rates);
            let [start, end] = element.ends;
            felt.particles[start] -= on_end;
            felt.particles[end] += on_end;
            felt.elements.push((element.edge, on_end));
            felt.stored.push((element.edge, self.elements.stored(element, x, &states)));
        }
        for force in &self.list {
            let mut now = force.copy();
            now.settle(time, self.h, x);
            now.add(x, v, &mut felt.particles);
            now.contacts(x, v, &mut |contact| felt.contacts.push(contact));
        }
        if let Some(hand) = &self.hand {
            let mut now = hand.clone();
            now.settle(time, self.h, x);
            now.add(x, v, &mut felt.particles);
            now.contacts(Partner::Hand, x, v, &mut |contact| felt.contacts.push(contact));
        }
        felt
    }

    /// What is remembered from step to step besides states, as numbers. A hand is not.
    pub fn save(&self) -> Vec<T> {
        let mut memory = Vec::new();
        self.list.iter().for_each(|force| force.save(&mut memory));
        memory
    }

    /// Takes up what was saved at these positions; false if it is of other forces.
    pub fn restore(&mut self, memory: &[T], x: &[Vector<T>]) -> bool {
        let mut memory = memory.iter();
        self.list.iter_mut().all(|force| force.restore(&mut memory, x)) && memory.next().is_none()
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
