//! What a scene has beside plain three-element edges, ready to be computed: one code for f32 and f64.
//!
//! An engine asks twice a step: [`Extras::settle`] brings what is remembered up to the present state, and
//! [`Extras::add`] computes forces from it. All sums are in the scene's order and by one thread, so that results do
//! not depend on how an engine shares out the rest.

pub mod contact;
pub mod law;
pub mod link;
pub mod material;
pub mod real;
pub mod topology;
pub mod volume;

use crate::{mesh::Vec3, scene::Scene};
use contact::{
    pairs::Pairs,
    wall::{Hand, Wall},
};
use link::Link;
use real::{Real, Vector};
use topology::Topology;
use volume::Volume;

/// Laws and forces of a scene beyond plain edges.
#[derive(Clone, Debug)]
pub struct Extras<T: Real> {
    h: T,
    laws: Vec<law::Element<T>>,
    states: usize,
    topology: Option<Topology<T>>,
    volume: Option<Volume<T>>,
    links: Vec<Link<T>>,
    walls: Vec<Wall<T>>,
    /// The ball in somebody's hand.
    hand: Option<Wall<T>>,
    pairs: Option<Pairs<T>>,
}

impl<T: Real> Extras<T> {
    /// Those of a scene, if it has any; positions are relative to `origin`.
    pub fn new(scene: &Scene, origin: Vec3) -> Option<Self> {
        (!scene.extras().is_empty()).then(|| Self::of(scene, origin))
    }

    /// Those of a scene, even if it has none.
    pub fn of(scene: &Scene, origin: Vec3) -> Self {
        let (mesh, added) = (&scene.mesh, &scene.added);
        let mut states = mesh.edges.len();
        let laws = law::Element::of_scene(scene, &mut states);
        let free = free(scene);
        let walls = added.contact.iter().flat_map(|law| {
            added.boundaries.iter().map(|b| Wall::new(b, law, origin, free.clone())).collect::<Vec<_>>()
        });
        Self {
            h: T::of(scene.step),
            laws,
            states,
            topology: added.topology.map(|law| Topology::new(mesh, &law)),
            volume: added.volume.map(|pressure| Volume::new(mesh, &pressure)),
            links: added.links.iter().map(Link::narrow).collect(),
            walls: walls.collect(),
            hand: None,
            pairs: added.contact.filter(|_| added.surfaces).map(|law| Pairs::new(mesh, &law)),
        }
    }

    /// From `time` on, a ball in somebody's hand; none takes it away.
    pub fn touch(&mut self, scene: &Scene, origin: Vec3, time: f64, hand: Option<&Hand>) {
        match (hand, &mut self.hand) {
            (Some(hand), Some(wall)) => wall.glide(time, hand),
            (hand, wall) => {
                *wall = hand.map(|hand| Wall::held(hand, &scene.hand_contact(), origin, free(scene)));
            }
        }
    }

    /// How many numbers the states of elements are: one for each edge of the scene, and what some have besides.
    pub fn states(&self) -> usize {
        self.states
    }

    /// Elements that have laws of their own.
    pub fn laws(&self) -> &[law::Element<T>] {
        &self.laws
    }

    /// Before the step at `time`: puts states back into their limits, moves boundaries, looks for contacts.
    pub fn settle(&mut self, time: f64, x: &[Vector<T>], states: &mut [T]) {
        self.laws.iter().for_each(|law| law.settle(x, states));
        self.walls.iter_mut().chain(&mut self.hand).for_each(|wall| wall.settle(time, self.h, x));
        if let Some(pairs) = &mut self.pairs {
            pairs.settle(self.h, x);
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
        for law in &self.laws {
            let on_end = law.compute(x, v, states, rates);
            let [start, end] = law.ends();
            force[start] -= on_end;
            force[end] += on_end;
        }
        if let Some(topology) = &self.topology {
            topology.add(x, v, force);
        }
        if let Some(volume) = &self.volume {
            volume.add(x, v, force);
        }
        self.links.iter().for_each(|link| link.add(x, v, force));
        self.walls.iter().chain(&self.hand).for_each(|wall| wall.add(x, v, force));
        if let Some(pairs) = &self.pairs {
            pairs.add(x, v, force);
        }
    }
}

/// Particles that boundaries push.
fn free(scene: &Scene) -> Vec<usize> {
    scene.touchable().into_iter().filter(|&p| scene.is_free(p)).collect()
}
