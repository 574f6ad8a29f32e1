//! When things happen in a main module.

use crate::{
    blocks::{accumulator::LOOP, ram::READ_LATENCY},
    engine::{
        exchange::hops,
        mpm::{self, mpm},
        tem::{TemLatency, tem},
    },
};
use nendo_model::{contract::config::Config, plan::cycles::Depths};

/// The stage of a slot's word, and of its request to the exchange.
pub(super) const SLOT: u32 = READ_LATENCY;

/// When things happen to a slot, in clocks after its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stages {
    /// Clocks from a module to another.
    pub(super) hops: u32,
    /// Its particles' numbers are at the memories, and that of the particle that moves at the force memories.
    pub(super) number: u32,
    /// Its edge's operands are at TEM.
    pub(super) element: u32,
    /// Its force leaves TEM.
    pub(super) tem_force: u32,
    /// Its forces are at the force memories' addresses.
    pub(super) add: u32,
    /// Its force is in the sums.
    pub force: u32,
    /// Its new extension is written.
    pub extension: u32,
    /// Its edge's overflow flags are there.
    pub(super) flags: u32,
    /// The forces of the particle that moves with it are at MPM: the odd memory gives its part a clock after the even one.
    pub(super) sums: u32,
    /// That particle is read.
    pub(super) read: u32,
    /// The particle's new position and velocity are written.
    pub particle: u32,
}

impl Stages {
    /// The stages of a configuration.
    pub fn of(config: &Config) -> Self {
        let latency = TemLatency::of(&tem(config.profile, config.inverse));
        let hops = hops(config.modules);
        let number = SLOT + hops;
        let element = number + READ_LATENCY + hops;
        // A value is added as late as the memory has read.
        let tem_force = element + latency.force;
        let add = tem_force + hops - READ_LATENCY;
        let sums = number + 1 + LOOP;
        Self {
            hops,
            number,
            element,
            tem_force,
            add,
            force: add + LOOP,
            extension: element + latency.u_next,
            flags: element + latency.overflow,
            sums,
            read: sums + mpm::state_stage(config.profile) - READ_LATENCY,
            particle: sums + mpm(config.profile).latency("overflow"),
        }
    }

    /// The depths a plan must keep.
    ///
    /// # Panics
    /// If an extension would be read again before it is written.
    pub fn depths(&self) -> Depths {
        let number = self.number;
        let depths =
            Depths { element: self.add - number, particle: self.particle - number, read: self.read - number };
        assert!(
            depths.cycles_per_step(1, 1) > u64::from(self.extension),
            "an extension would be read before it is written"
        );
        depths
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nendo_model::contract::numbers::{Inverse, Profile};

    /// The model predicts the depths of every number of modules, also of more than anybody simulates.
    #[test]
    fn depths_are_those_the_model_predicts() {
        for modules in 1..=Config::MAX_MODULES {
            let config = Config { modules, ..Config::minimal(Profile::Wide, Inverse::Table) };
            let predicted = Depths::of(config.profile, config.inverse, modules);
            assert_eq!(Stages::of(&config).depths(), predicted, "{modules} modules");
        }
    }
}
