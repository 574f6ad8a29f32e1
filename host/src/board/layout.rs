//! Where an image is on a board: which module has which particle, and which slot has which edge.

use nendo_model::{
    contract::image::{Edge, Image, Particle},
    plan::schedule::{Schedule, Slot},
};
use std::sync::Arc;

/// The plan of an image, and what follows from it for the memories.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    schedule: Arc<Schedule>,
    edges: usize,
}

impl Default for Layout {
    /// Of nothing.
    fn default() -> Self {
        let depths = nendo_model::plan::cycles::Depths { element: 0, particle: 0, read: 0 };
        Self::new(Arc::new(Schedule::new(&[], &[], 1, depths)), 0)
    }
}

impl Layout {
    pub(super) fn new(schedule: Arc<Schedule>, edges: usize) -> Self {
        Self { schedule, edges }
    }

    pub(super) fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    /// Module and number of a particle.
    pub(super) fn place(&self, particle: u32) -> (u32, u32) {
        self.schedule.partition.place[particle as usize]
    }

    /// Modules, and how many particles of the image each has.
    pub(super) fn particles_in_modules(&self) -> Vec<(u32, u32)> {
        (0..).zip(self.schedule.partition.groups.iter().map(|g| g.len() as u32)).collect()
    }

    /// Items of all modules' particles in the order of the image.
    pub(super) fn in_order<T: Clone + Default>(&self, found: Vec<Vec<T>>) -> Vec<T> {
        let groups = &self.schedule.partition.groups;
        let mut items = vec![T::default(); groups.iter().map(Vec::len).sum()];
        for (particle, item) in groups.iter().zip(found).flat_map(|(group, found)| group.iter().zip(found)) {
            items[*particle as usize] = item;
        }
        items
    }

    /// The particles of a module: those of the image, then held ones.
    pub(super) fn particles_of(&self, image: &Image, module: u32) -> Vec<Particle> {
        let group = self.schedule.partition.groups.get(module as usize);
        let own = group.into_iter().flatten().map(|&p| image.particles[p as usize]);
        own.chain(std::iter::repeat(Particle::default())).take(self.schedule.particles as usize).collect()
    }

    /// The slots of a module as the map's fields; a module without a group has empty ones.
    pub(super) fn slots_of(&self, image: &Image, module: u32) -> Vec<Vec<i64>> {
        let bubbles = vec![Slot::default(); self.schedule.slots() as usize];
        let slots = self.schedule.modules.get(module as usize).unwrap_or(&bubbles);
        let word = |slot: &Slot| {
            let edge = slot.edge.map(|k| image.edges[k as usize]);
            let owned = slot.edge.zip(edge).map(|(k, e)| self.schedule.partition.owned(k, [e.start, e.end]));
            let (module, other) = owned.map_or((0, 0), |o| o.other);
            let Edge { u, class, .. } = edge.unwrap_or_default();
            vec![
                u.into(),
                class.into(),
                other.into(),
                slot.advance.into(),
                owned.is_some_and(|o| o.reversed).into(),
                slot.last.into(),
                owned.is_some().into(),
                slot.moves.into(),
                module.into(),
            ]
        };
        slots.iter().map(word).collect()
    }

    /// The image's edges from the slots of all modules. A number that no particle has comes out as one.
    pub(super) fn edges(&self, found: &[Vec<Vec<i64>>]) -> Vec<Edge> {
        let groups = &self.schedule.partition.groups;
        let particle = |module: i64, rank: i64| {
            let group = groups.get(module as usize);
            group.and_then(|g| g.get(rank as usize)).copied().unwrap_or(u32::MAX)
        };
        let mut edges = vec![Edge::default(); self.edges];
        for (module, (slots, words)) in (0..).zip(self.schedule.modules.iter().zip(found)) {
            let mut rank = -1;
            for (slot, word) in slots.iter().zip(words) {
                // As in `slots_of`; with one module there is no number of it.
                let [u, class, other, advance, reversed, _last, present, _moves, of @ ..] = word.as_slice()
                else {
                    continue;
                };
                rank += advance;
                let Some(edge) = slot.edge.filter(|_| *present == 1) else { continue };
                let mut ends = [particle(module, rank), particle(of.first().copied().unwrap_or(0), *other)];
                if *reversed == 1 {
                    ends.reverse();
                }
                let [start, end] = ends;
                edges[edge as usize] = Edge { u: *u as i32, class: *class as u8, start, end };
            }
        }
        edges
    }
}
