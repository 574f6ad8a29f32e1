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

#[cfg(test)]
mod tests {
    use super::{
        super::{
            particles::NewState,
            stages::SLOT,
            testing::{context, memory_word, moves_inputs, vector_word},
            words::Stored,
        },
        *,
    };
    use crate::{
        circuit::Module,
        engine::mpm::OVERFLOWS,
        testing::{Timeline, synthesise},
    };
    use nendo_model::{
        contract::{
            config::{Config, address_bits},
            image::Image,
            words::{Display, RegisterWord, TableEntry},
        },
        testing::{images_of, runner, sample},
        twin::mpm as twin,
    };
    use proptest::prelude::*;

    /// The section with what it writes as outputs `done_NAME`, and a port of positions of its own.
    fn circuit(context: &Context) -> Module {
        let mut b = Build::new("movement", "MPM, external forces and display.");
        let inputs = Inputs::place(&mut b, context);
        let mut moves = moves_inputs(&mut b, context);
        let n = context.config.profile.numbers();
        let (number_bits, x_bits, v_bits) =
            (address_bits(context.config.particles), 3 * n.x.bits, 3 * n.v.bits);
        let [a, own] = ["a", "b"].map(|port| Stored {
            x: b.input(&format!("{port}_x"), x_bits),
            v: b.input(&format!("{port}_v"), v_bits),
        });
        let new = NewState {
            address: b.forward("new_address", number_bits),
            write: b.forward("new_write", 1),
            x: b.forward("new_x", x_bits),
            v: b.forward("new_v", v_bits),
        };
        let position_port = MemoryPort {
            address: b.input("shown_address", number_bits),
            write: b.input("shown_write", 1),
            d: b.input("shown_d", x_bits),
        };
        let mut sum = |name: &str| std::array::from_fn(|k| b.input(&format!("{name}{k}"), n.force_sum.bits));
        let forces = Forces { even: sum("even"), odd: sum("odd") };
        let particles = Particles { a, b: own, new, position_port };
        let movement = Movement::place(&mut b, context, &inputs, &particles, &mut moves, &forces);
        let NewState { address, write, x, v } = &particles.new;
        for (name, net) in [("address", address), ("write", write), ("x", x), ("v", v)] {
            b.output(&format!("done_{name}"), net);
        }
        b.output("overflow", &movement.overflow.as_static());
        b.output("external_q", &movement.external_q);
        b.output("display_q", &movement.display_q);
        b.finish()
    }

    /// The constants of an image and its external forces; the clock after they are there.
    fn load(context: &Context, timeline: &mut Timeline, image: &Image) -> u64 {
        let k = &image.constants;
        timeline.hold("step_constant", TableEntry::from(k.step).bits());
        timeline.hold("position_shift", k.position_shift);
        for (class, constant) in (0..).zip(&k.inverse_mass) {
            timeline.set(class, "mass_table_write", 1);
            timeline.set(class, "mass_table_class", class);
            timeline.set(class, "mass_table_d", TableEntry::from(*constant).bits());
        }
        let mut clock = 0;
        for (number, particle) in (0..).zip(&image.particles) {
            let external = memory_word(context, External::new(particle.force, particle.class));
            timeline.set(clock, "external_item", number);
            timeline.set(clock, "external_write", 1);
            timeline.set(clock, "external_d", external);
            // And what was loaded as a position is shown.
            timeline.set(clock, "shown_write", 1);
            timeline.set(clock, "shown_address", number);
            timeline.set(clock, "shown_d", memory_word(context, Position::from(particle.x)));
            clock += 1;
        }
        clock.max(k.inverse_mass.len() as u64)
    }

    /// Against the twin: the particles of an image, some moved in slots and some in particle mode.
    fn check(context: &Context, circuit: &Module, image: &Image, forces: &[([i64; 6], bool)]) {
        let (n, stages, k) = (image.numbers(), &context.stages, &image.constants);
        let mut timeline = Timeline::default();
        let mut clock = load(context, &mut timeline, image);
        let at = |clock: u64, stage: u32| clock + u64::from(stage - SLOT);
        for ((number, particle), (sums, left)) in (0..).zip(&image.particles).zip(forces) {
            timeline.set(clock, "moves_particle", number);
            timeline.set(clock, "moves_moving", 1);
            timeline.set(clock, if *left { "moves_left" } else { "moves_in_slot" }, 1);
            for c in 0..3 {
                timeline.set(at(clock, stages.sums - 1), &format!("even{c}"), sums[c]);
                timeline.set(at(clock, stages.sums), &format!("odd{c}"), sums[c + 3]);
            }
            let (arrived, port) = (at(clock, stages.read + READ_LATENCY), if *left { "a" } else { "b" });
            let (x, v) = (Position::from(particle.x), Velocity::from(particle.v));
            timeline.set(arrived, &format!("{port}_x"), memory_word(context, x));
            timeline.set(arrived, &format!("{port}_v"), memory_word(context, v));
            let three = |c: [i32; 3]| c.map(i64::from);
            let input = twin::Input {
                x: three(particle.x),
                v: three(particle.v),
                force: std::array::from_fn(|c| sums[c] + sums[c + 3]),
                external: three(particle.force),
            };
            let out = twin::mpm(n, k, k.inverse_mass[usize::from(particle.class)], &input);
            let done = at(clock, stages.particle);
            timeline.expect(done, "done_write", 1);
            timeline.expect(done, "done_address", number);
            timeline.expect(done, "done_x", vector_word(out.x, n.x.bits));
            timeline.expect(done, "done_v", vector_word(out.v, n.v.bits));
            let flag = |source: &_| i128::from(out.overflow.sources().any(|s| s == *source));
            let flags = OVERFLOWS.iter().rev().fold(0, |flags, source| flags << 1 | flag(source));
            timeline.expect(done, "overflow", flags);
            // The bus reads the other two memories whenever it likes.
            let read = clock + u64::from(READ_LATENCY);
            timeline.set(clock, "external_item", number);
            timeline.set(clock, "display_item", number);
            let external = External::new(particle.force, particle.class);
            timeline.expect(read, "external_q", memory_word(context, external));
            let shown = Display::from(particle.x.map(|c| n.x.operand(c.into()) as i32));
            timeline.expect(read, "display_q", memory_word(context, shown));
            clock += 1;
        }
        timeline.expect(at(clock, stages.particle), "done_write", 0);
        timeline.play(circuit);
    }

    #[test]
    fn particles_are_the_twins() {
        let (context, mut runner) = (context(1), runner());
        let (circuit, Config { profile, inverse, .. }) = (circuit(&context), context.config);
        for round in 0..40 {
            let image = sample(images_of(profile, inverse, round % 3 == 0), &mut runner);
            let most = if round % 2 == 0 { 131_072i64 } else { 8_000 };
            let force = (prop::array::uniform6(-most..most), any::<bool>());
            let forces = sample(prop::collection::vec(force, image.particles.len()), &mut runner);
            check(&context, &circuit, &image, &forces);
        }
    }

    #[test]
    fn it_synthesises() {
        synthesise(&circuit(&context(1)), "synth_xilinx -family xc2v -flatten -top block");
    }
}
