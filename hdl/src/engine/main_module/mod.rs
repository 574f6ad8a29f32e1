//! A main module: the memories of a part of the object, with TEM and MPM between them.
//!
//! ```text
//!  slot number --> edge memory --> other particle ----------> exchange --> its words --+
//!                    |  owner's number                                                 v
//!                    +----> position, velocity --> held for all edges of an owner --> TEM
//!                                                                                      |
//!       force memories, even and odd <--- others' forces <--- exchange <--- force -----+
//!                    |            ^------ an owner's forces, summed in a register -----+
//!                    v                                                                 |
//!    external --->  MPM --> position, velocity, display copy        new extension -----+--> edge memory
//! ```
//! A slot may hold an edge and begin the move of a particle; the plan ([`nendo_model::plan::schedule`]) has seen to it that
//! no two want the same port, and the module follows it blindly.
//! - Positions and velocities: port a is read for others' edges, and by particles in particle mode. Port b is read by
//!   owners and by particles in element mode, written by MPM, and used by the bus while idle.
//! - Forces: in even clocks the even memory takes the force from the exchange and the odd one has time to give a
//!   particle's sum to MPM, or to take an owner's; in odd clocks it is the other way round.
//! - External forces and the display copy have a port for the bus alone.
//!
//! A file per section, in the order of the diagram: `slots`, `owner`, `moves`, `particles`, `element`, `own_force`,
//! `forces`, `movement`, `flags`. Each takes nets in small structs and gives one; `ports` has what comes from outside,
//! [`Stages`] when it all happens.

mod element;
mod flags;
mod forces;
mod mark;
mod movement;
mod moves;
mod own_force;
mod owner;
mod particles;
mod ports;
mod slots;
mod stages;
#[cfg(test)]
mod testing;
mod words;

pub use stages::Stages;

use crate::{
    circuit::{Build, Module},
    engine::exchange::Widths,
};
use element::Element;
use flags::{ItemFlags, flags};
use forces::Forces;
use movement::Movement;
use moves::Moves;
use nendo_model::contract::{
    config::{Config, address_bits},
    map::Map,
};
use own_force::own_force;
use owner::Owner;
use particles::Particles;
use ports::Inputs;
use slots::Slots;
use stages::SLOT;
use words::joined;

/// What a configuration's modules exchange.
pub fn widths(config: &Config) -> Widths {
    let n = config.profile.numbers();
    Widths {
        modules: config.modules,
        number: address_bits(config.particles),
        words: 3 * (n.x.operand_bits() + n.v.operand_bits()),
        force: 3 * n.edge_force.bits,
        latency: Stages::of(config).tem_force - SLOT,
    }
}

/// What all sections go by.
struct Context {
    config: Config,
    map: Map,
    stages: Stages,
}

impl Context {
    fn new(config: &Config) -> Self {
        Self { config: *config, map: Map::new(config), stages: Stages::of(config) }
    }
}

/// The module of a configuration.
pub fn main_module(config: &Config) -> Module {
    let context = &Context::new(config);
    let mut b =
        Build::new("main_module", "The memories of a part of the object, with TEM and MPM between them.");
    let inputs = Inputs::place(&mut b, context);
    let mut slots = Slots::place(&mut b, context, &inputs);
    let slot = &mut slots.slot;
    let owner = Owner::place(&mut b, context, slot);
    let mut moves = Moves::place(&mut b, &inputs, slot);
    let particles = Particles::place(&mut b, context, &inputs, &owner, &mut moves);
    let element = Element::place(&mut b, context, &inputs, slot, &owner, &particles.b);
    let own_sum = own_force(&mut b, context, slot, &owner, &element.force);
    let forces = Forces::place(&mut b, context, &inputs, slot, &owner, &mut moves, own_sum);
    let movement = Movement::place(&mut b, context, &inputs, &particles, &mut moves, &forces);
    slots.write_back(&mut b, context, &inputs, &element.u_next);
    let particle = ItemFlags { valid: &movement.done, flags: &movement.overflow };
    let overflow = flags(&mut b, context, &mut slots.slot.edges, &element.overflow, &particle);

    b.output("overflow", &overflow);
    b.output("position_q", &particles.b.x);
    b.output("velocity_q", &particles.b.v);
    b.output("external_q", &movement.external_q);
    b.output("edge_q", &slots.q);
    b.output("display_q", &movement.display_q);
    for (name, sums) in [("force_even_q", &forces.even), ("force_odd_q", &forces.odd)] {
        let word = joined(&mut b, &sums.clone().map(|net| net.as_static()));
        b.output(name, &word);
    }
    b.finish()
}
