//! The particle side: a particle's words, its two sums and its external force at MPM, and its new state.
//!
//! ```text
//!  position, velocity: port a in particle mode, else b --+
//!  force memories: even, a clock late; odd --------------+--> MPM --> position, velocity
//!  external memory <--> bus, always ---------------------+        |
//!                         what is written to positions, or loaded +--> display memory --> bus, always
//! ```
//! Latency: that of MPM, from the stage `sums` on; the external memory is read in time for it.

use super::{
    Context,
    forces::Forces,
    moves::Moves,
    particles::Particles,
    ports::{Inputs, MemoryPort},
    words::{joined, shown},
};
use crate::{
    blocks::{parts::in_memory, ram::READ_LATENCY},
    circuit::{Build, Net, Outputs},
    engine::mpm::mpm,
};
use nendo_model::contract::words::{External, ExternalParts, Position, Velocity};
use std::rc::Rc;

/// What becomes of the particles.
pub(super) struct Movement {
    /// A particle is done.
    pub(super) done: Net,
    /// What overflowed.
    pub(super) overflow: Net,
    /// What the bus reads of external forces, and of what is displayed.
    pub(super) external_q: Net,
    pub(super) display_q: Net,
}

impl Movement {
    /// External forces, MPM and the display.
    pub(super) fn place(
        b: &mut Build,
        context: &Context,
        inputs: &Inputs,
        particles: &Particles,
        moves: &mut Moves,
        forces: &Forces,
    ) -> Self {
        let (Context { config, stages, .. }, bus) = (context, &inputs.bus);
        b.comment("external forces: a for particles, b for the bus, always");
        let number = b.until(&moves.particle, stages.sums - READ_LATENCY).as_static();
        let external = bus.external.memory(b, "external_memory", &number, config.particles);
        let out = place_mpm(b, context, inputs, particles, moves, forces, &external.get("a_q"));

        b.comment("a particle's new state");
        let done = moves.moving.at(b, stages.particle);
        let number = b.until(&moves.particle, stages.particle);
        let (x, v) = (joined(b, &out.get3("x_next")), joined(b, &out.get3("v_next")));
        b.drive(&particles.new.write, &done);
        b.drive(&particles.new.address, &number);
        b.drive(&particles.new.x, &x);
        b.drive(&particles.new.v, &v);
        // Loading a position shows it, too.
        let MemoryPort { address, write, d } = &particles.position_port;
        let d = shown(b, config, d);
        let port = MemoryPort { address: address.clone(), write: write.clone(), d };
        let display = port.memory(b, "display_memory", &bus.display_item, config.particles);
        let overflow = out.get("overflow");
        Self { done, overflow, external_q: external.get("b_q"), display_q: display.get("a_q") }
    }
}

fn place_mpm(
    b: &mut Build,
    Context { config, stages, .. }: &Context,
    Inputs { bus, constants, .. }: &Inputs,
    particles: &Particles,
    moves: &mut Moves,
    forces: &Forces,
    external: &Net,
) -> Outputs {
    b.comment("MPM");
    let arrived = stages.read + READ_LATENCY;
    let from_a = moves.left.at(b, arrived);
    let x = b.mux(&from_a, &particles.a.x, &particles.b.x).at_stage(arrived);
    let x = Position::layout(config).map(in_memory(b, &x)).into_array();
    let v = b.mux(&from_a, &particles.a.v, &particles.b.v).at_stage(arrived);
    let v = Velocity::layout(config).map(in_memory(b, &v)).into_array();
    let external = external.at_stage(stages.sums);
    let ExternalParts { fx, fy, fz, mass_class } = External::layout(config).map(in_memory(b, &external));
    let mut inputs = bus.mass_table.connected();
    inputs.extend([
        ("step_mantissa".into(), constants.step.mantissa.clone()),
        ("step_shift".into(), constants.step.shift.clone()),
        ("position_shift".into(), constants.position_shift.clone()),
        ("class_number".into(), mass_class),
    ]);
    let even = forces.even.clone().map(|net| b.until(&net.at_stage(stages.sums - 1), stages.sums));
    let odd = forces.odd.clone().map(|net| net.at_stage(stages.sums));
    for (name, nets) in [("x", x), ("v", v), ("even", even), ("odd", odd), ("external", [fx, fy, fz])] {
        inputs.extend(nets.into_iter().enumerate().map(|(k, net)| (format!("{name}{k}"), net)));
    }
    let inputs: Vec<(&str, &Net)> = inputs.iter().map(|(name, net)| (name.as_str(), net)).collect();
    b.instance("mpm", &Rc::new(mpm(config.profile)), &inputs)
}
