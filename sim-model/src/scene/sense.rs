//! What can be felt of a state: forces of elements, on particles, where things touch, and on what holds the object.
//!
//! Forces are those that the next step will compute. What a load cell under a support reads is [`Scene::reactions`].

use super::{Holding, Scene};
use crate::{
    force::{
        Felt,
        contact::force::ContactForce,
        real::{Real, Vector},
    },
    mesh::Vec3,
};
use std::collections::HashMap;

/// What is felt in a state, in newtons and metres.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sensed {
    /// Of the element of each edge, on its end; its start feels the opposite.
    pub elements: Vec<Vec3>,
    /// What the springs of elements with a law of their own hold, in joules, by edge.
    pub stored: Vec<(usize, f64)>,
    /// The sum of all forces on each particle but loads and gravity.
    pub particles: Vec<Vec3>,
    /// Where things touch.
    pub contacts: Vec<ContactForce<f64>>,
}

impl Sensed {
    /// Adds what is felt of forces beside those of plain elements; its places are relative to `origin`.
    pub(crate) fn add<T: Real>(&mut self, felt: &Felt<T>, origin: Vec3) {
        let wide = |v: &Vector<T>| v.map(Real::wide);
        felt.elements.iter().for_each(|(edge, force)| self.elements[*edge] = wide(force));
        self.stored.extend(felt.stored.iter().map(|(edge, joules)| (*edge, joules.wide())));
        self.particles.iter_mut().zip(&felt.particles).for_each(|(sum, force)| *sum += wide(force));
        self.contacts.extend(felt.contacts.iter().map(|contact| contact.wide(origin)));
    }
}

/// The force on something that holds or bounds, or on a hand.
#[derive(Clone, Debug, PartialEq)]
pub struct Reaction {
    /// Its name, [`HAND`] for a hand.
    pub name: String,
    /// What the object and its loads press on it with, in newtons.
    pub force: Vec3,
}

/// What reports call a hand.
pub const HAND: &str = "hand";

impl Scene {
    /// The sum of the loads that act on each particle before a step; none on those without.
    fn loads_at(&self, step: u64) -> HashMap<u32, Vec3> {
        let mut sums = HashMap::new();
        let at = |time: f64| if time.is_finite() { self.steps_for(time) } else { u64::MAX };
        for load in self.loads.iter().filter(|load| (at(load.from.max(0.0))..at(load.to)).contains(&step)) {
            for &particle in &load.particles {
                *sums.entry(particle).or_insert_with(Vec3::zeros) += load.force;
            }
        }
        sums
    }

    /// The force on each of [`Self::holders`], in that order, and on a hand if one touches.
    pub fn reactions(&self, sensed: &Sensed, step: u64) -> Vec<Reaction> {
        let loads = self.loads_at(step);
        // What has been let go is held no longer.
        let is_free = |p: u32| self.free_from(p as usize).is_some_and(|first| step >= first);
        let on_boundary = |number: usize| -> Vec3 {
            sensed.contacts.iter().filter(|c| c.boundary() == Some(number)).map(|c| -c.force).sum()
        };
        let mut reactions: Vec<Reaction> = self
            .holders()
            .into_iter()
            .map(|holder| {
                let force = match &holder.holding {
                    Holding::Boundary(number) => on_boundary(*number),
                    Holding::Particles(list) => {
                        let load = |p: u32| loads.get(&p).copied().unwrap_or_default();
                        let weight = |p: u32| self.gravity * self.mass[p as usize];
                        let held = list.iter().filter(|&&p| !is_free(p));
                        held.map(|&p| sensed.particles[p as usize] + load(p) + weight(p)).sum()
                    }
                };
                Reaction { name: holder.name, force }
            })
            .collect();
        let mut of_hand = sensed.contacts.iter().filter(|c| c.is_of_hand()).peekable();
        if of_hand.peek().is_some() {
            reactions.push(Reaction { name: HAND.to_owned(), force: of_hand.map(|c| -c.force).sum() });
        }
        reactions
    }
}
