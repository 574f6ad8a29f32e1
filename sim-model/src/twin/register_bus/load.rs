//! What a run begins with: the memories as an image.

use super::{RegisterModel, Run};
use crate::{
    contract::{
        config::Config,
        image::{Constants, Edge, Image},
        map::Reg,
        scaling::Scaling,
        words::{RegisterWord, Slot, TableEntry},
    },
    twin::engine::Model,
};

impl RegisterModel {
    /// What the slots in use say, if they name particles in use only, and each module moves all it has: the hardware
    /// would compute with whatever else there is; here there is nothing, and the start is refused.
    pub(super) fn load(&self) -> Option<Run> {
        let Config { modules, particles: depth, edges: slots_depth, .. } = self.map.config;
        let (depth, slots_depth) = (depth as usize, slots_depth as usize);
        let (used, slots_used) = (self.get(Reg::Particles), self.get(Reg::Slots) as usize);
        if used == 0 || slots_used == 0 || used as usize > depth || slots_used > slots_depth {
            return None;
        }
        let (mut ends, mut slots) = (Vec::new(), Vec::new());
        for module in 0..modules as u32 {
            let (mut owner, mut moved) = (-1, self.get(Reg::TailClocks));
            for place in (0..slots_used).map(|k| module as usize * slots_depth + k) {
                let slot = self.slots[place];
                owner += i64::from(slot.advance);
                moved += u32::from(slot.moves);
                if slot.present {
                    let known = owner >= 0 && owner < i64::from(used) && slot.other < used;
                    if !known || u64::from(slot.module) >= modules {
                        return None;
                    }
                    let mut both = [module * used + owner as u32, slot.module * used + slot.other];
                    if slot.reversed {
                        both.reverse();
                    }
                    ends.push(both);
                    slots.push(place);
                }
            }
            if moved < used || self.get(Reg::TailClocks) == 0 {
                return None;
            }
        }
        let particles: Vec<usize> =
            (0..modules as usize).flat_map(|m| (0..used as usize).map(move |k| m * depth + k)).collect();
        let image = self.image_of(&particles, &slots, &ends);
        Some(Run { model: Model::new(image, self.threads), particles, slots })
    }

    /// A run's image as the memories are now.
    pub(super) fn image(&self, run: &Run) -> Image {
        let ends: Vec<[u32; 2]> = run.model.image().edges.iter().map(|e| [e.start, e.end]).collect();
        self.image_of(&run.particles, &run.slots, &ends)
    }

    fn image_of(&self, particles: &[usize], slots: &[usize], ends: &[[u32; 2]]) -> Image {
        let Config { profile, inverse, .. } = self.map.config;
        let constants = Constants {
            elements: self.elements.clone(),
            inverse_mass: self.masses.clone(),
            step: TableEntry::from_bits(self.get(Reg::StepConstant)).into(),
            position_shift: self.get(Reg::PositionShift),
            extension_shift: self.get(Reg::ExtensionShift),
            force_limit: self.get(Reg::ForceLimit) as i32,
        };
        let scaling = Scaling {
            time: 1.0,
            length: 1.0,
            mass: 1.0,
            origin: [0.0; 3],
            velocity_exponent: 0,
            extension_exponent: 0,
            force_limit: constants.force_limit,
        };
        let particles = particles.iter().map(|&place| self.particles[place]).collect();
        let edge = |(&place, &[start, end]): (&usize, &[u32; 2])| {
            let Slot { u, class, .. } = self.slots[place];
            Edge { u, class, start, end }
        };
        let edges = slots.iter().zip(ends).map(edge).collect();
        Image { profile, inverse, scaling, constants, particles, edges, events: Vec::new() }
    }
}
