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
    words::{Stored, operands},
};
use crate::circuit::{Build, Net};

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

#[cfg(test)]
mod tests {
    use super::{
        super::{
            stages::SLOT,
            testing::{LATE, context, memory_word, moves_inputs, owner_inputs, vector_word},
        },
        *,
    };
    use crate::{
        blocks::ram::READ_LATENCY,
        circuit::Module,
        testing::{Timeline, synthesise},
    };
    use nendo_model::{
        contract::{
            config::address_bits,
            words::{Position, Velocity},
        },
        testing::{runner, sample},
    };
    use proptest::prelude::*;

    fn circuit(context: &Context) -> Module {
        let mut b = Build::new("particles", "Positions and velocities.");
        let inputs = Inputs::place(&mut b, context);
        let owner = owner_inputs(&mut b, context);
        let mut moves = moves_inputs(&mut b, context);
        let particles = Particles::place(&mut b, context, &inputs, &owner, &mut moves);
        let NewState { address, write, x, v } = &particles.new;
        let number_bits = address_bits(context.config.particles);
        for (name, net, bits) in
            [("address", address, number_bits), ("write", write, 1), ("x", x, x.bits()), ("v", v, v.bits())]
        {
            let input = b.input(&format!("result_{name}"), bits);
            b.drive(net, &input);
        }
        b.output("own_x", &particles.b.x);
        b.output("own_v", &particles.b.v);
        b.finish()
    }

    /// What port b does in a clock.
    #[derive(Clone, Copy, Debug)]
    enum PortB {
        Owner(usize),
        Moved(usize),
        Result(usize, [[i32; 3]; 2]),
    }

    /// Particles in a plain list: stored positions and velocities.
    struct List<'a>(&'a Context, Vec<[[i32; 3]; 2]>);

    impl List<'_> {
        /// What the memories hold of a particle.
        fn words(&self, particle: usize) -> [i128; 2] {
            let [x, v] = self.1[particle];
            [memory_word(self.0, Position::from(x)), memory_word(self.0, Velocity::from(v))]
        }

        /// What an edge reads of it.
        fn operands(&self, particle: usize) -> i128 {
            let n = self.0.config.profile.numbers();
            let [x, v] = self.1[particle];
            let x = vector_word(x.map(|c| n.x.operand(c.into())), n.x.operand_bits());
            let v = vector_word(v.map(|c| n.v.operand(c.into())), n.v.operand_bits());
            v << (3 * n.x.operand_bits()) | x
        }
    }

    /// Against a list: loaded by the bus, then every clock a read on both ports, or a result on one.
    #[test]
    fn both_ports_read_what_was_stored() {
        let (context, mut runner) = (context(1), runner());
        let state = || prop::array::uniform2(prop::array::uniform3(-(1 << 23)..1 << 23));
        let list = sample(prop::collection::vec(state(), 64), &mut runner);
        let (mut timeline, mut clock) = (Timeline::default(), LATE);
        (0..64 + LATE).for_each(|at| timeline.set(at, "idle", 1));
        let mut list = List(&context, list);
        for particle in 0..64 {
            for (name, word) in ["position", "velocity"].into_iter().zip(list.words(particle)) {
                timeline.set(clock, &format!("{name}_item"), particle as i128);
                timeline.set(clock, &format!("{name}_write"), 1);
                timeline.set(clock, &format!("{name}_d"), word);
            }
            clock += 1;
        }
        let port_b = prop_oneof![
            (0usize..64).prop_map(PortB::Owner),
            (0usize..64).prop_map(PortB::Moved),
            (0usize..64, state()).prop_map(|(particle, state)| PortB::Result(particle, state)),
        ];
        // A number begins at the slot; by then it is at the memory.
        let begins = u64::from(context.stages.read - SLOT);
        clock += begins;
        for (asked, port) in sample(prop::collection::vec((0usize..64, port_b), 1500), &mut runner) {
            let read = clock + u64::from(READ_LATENCY);
            let mut moved = None;
            match port {
                PortB::Owner(_) => {}
                PortB::Moved(particle) => {
                    timeline.set(clock - begins, "moves_in_slot", 1);
                    moved = Some(particle);
                }
                PortB::Result(particle, [x, v]) => {
                    timeline.set(clock, "result_write", 1);
                    timeline.set(clock, "result_address", particle as i128);
                    timeline.set(clock, "result_x", memory_word(&context, Position::from(x)));
                    timeline.set(clock, "result_v", memory_word(&context, Velocity::from(v)));
                }
            }
            // In particle mode the other port reads the particle that is moved.
            if matches!(port, PortB::Owner(_)) && asked % 4 == 0 {
                timeline.set(clock - begins, "moves_left", 1);
                moved = Some(asked);
            } else {
                timeline.set(clock, "asked_number", asked as i128);
            }
            if let Some(particle) = moved {
                timeline.set(clock - begins, "moves_particle", particle as i128);
            }
            match port {
                PortB::Owner(particle) | PortB::Moved(particle) => {
                    if matches!(port, PortB::Owner(_)) {
                        timeline.set(clock, "owner_number", particle as i128);
                    }
                    let [x, v] = list.words(particle);
                    timeline.expect(read, "own_x", x);
                    timeline.expect(read, "own_v", v);
                    timeline.expect(read, "answer", list.operands(asked));
                }
                PortB::Result(particle, state) => {
                    // What is read while it is written is undefined.
                    if asked != particle {
                        timeline.expect(read, "answer", list.operands(asked));
                    }
                    list.1[particle] = state;
                }
            }
            clock += 1;
        }
        timeline.play(&circuit(&context));
    }

    #[test]
    fn it_synthesises() {
        synthesise(&circuit(&context(1)), "synth_xilinx -family xc2v -flatten -top block");
    }
}
