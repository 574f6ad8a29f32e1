//! Positions and velocities.
//!
//! ```text
//!  asked number, or a particle in particle mode --> a [ position, velocity ] --> answer to the exchange; MPM
//!  owner, or a particle in element mode ---------> b [                    ] --> the owner's words; MPM
//!  MPM's results, or the bus while idle ---------> b
//! ```
//! Latency: that of the memories. The plan sees to it that no two want port b in a clock; a result would win.

use super::{
    Context,
    moves::Moves,
    owner::Owner,
    ports::{Inputs, MemoryPort},
    words::operands,
};
use crate::circuit::{Build, Net};

/// A particle's words as the memories put them out.
pub(super) struct Stored {
    pub(super) x: Net,
    pub(super) v: Net,
}

/// A particle's new state: declared with the memories, connected where it is computed.
pub(super) struct NewState {
    pub(super) address: Net,
    pub(super) write: Net,
    pub(super) x: Net,
    pub(super) v: Net,
}

/// The memories of particles.
pub(super) struct Particles {
    /// Port a: others' particles, and in particle mode.
    pub(super) a: Stored,
    /// Port b: owners, and in element mode; what the bus reads.
    pub(super) b: Stored,
    pub(super) new: NewState,
    /// What is written to positions, which is shown, too.
    pub(super) position_port: MemoryPort,
}

impl Particles {
    /// The memories, and the answer to what is asked.
    pub(super) fn place(
        b: &mut Build,
        Context { config, stages, .. }: &Context,
        Inputs { control, bus, received, .. }: &Inputs,
        owner: &Owner,
        moves: &mut Moves,
    ) -> Self {
        b.comment("particles: a for others' edges and in particle mode, b for owners, in element mode, for results and the bus");
        let new = NewState {
            address: b.forward("new_address", owner.number.bits()),
            write: b.forward("new_write", 1),
            x: b.forward("new_x", bus.position.d.bits()),
            v: b.forward("new_v", bus.velocity.d.bits()),
        };
        let read_number = b.until(&moves.particle, stages.read).as_static();
        let left_read = moves.left.at(b, stages.read);
        let a_address = b.mux(&left_read, &read_number, &received.asked_number.as_static());
        let slot_read = moves.in_slot.at(b, stages.read);
        let own_address = b.mux(&slot_read, &read_number, &owner.number);
        let own_address = b.mux(&new.write, &new.address, &own_address);
        let mut placed = |name: &str, bus: &MemoryPort, d: &Net| {
            let own = MemoryPort { address: own_address.clone(), write: new.write.clone(), d: d.clone() };
            let port = bus.shared(b, &control.idle, &own);
            let memory = port.memory(b, name, &a_address, config.particles);
            (port, memory)
        };
        let (position_port, position) = placed("position_memory", &bus.position, &new.x);
        let (_, velocity) = placed("velocity_memory", &bus.velocity, &new.v);
        let [a, own] = ["a_q", "b_q"].map(|port| Stored { x: position.get(port), v: velocity.get(port) });
        let answer = operands(b, config, &a);
        b.output("answer", &answer);
        Self { a, b: own, new, position_port }
    }
}
