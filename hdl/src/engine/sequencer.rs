//! The sequencer: element mode, particle mode and the pauses between them, step after step, for all modules at once.
//!
//! ```text
//!          start                last slot           drained
//!  idle -----------> element -------------> drain -----------> particle
//!   ^                   ^                                          | no particle left
//!   |                   |            another step                  v
//!   +---- finish <------+------------------------------------- settle
//!                steps done, or stop
//! ```
//! In element mode a slot is issued per clock, without a stall: an edge, and often a particle that has all its
//! forces. What particles are left are moved in particle mode. The pauses are as short as the pipelines allow: see
//! [`Pauses`]. While idle, memories belong to the bus (transfer mode). With `halt`, a step moves no particle and stops
//! after its elements, so that forces can be looked at; the next start goes on with all its particles. `clear` empties
//! the force memories, which a reset in the middle of a step may have left in use.

use crate::circuit::{Build, Module, Net};
use nendo_model::contract::{
    config::address_bits,
    words::{Coded, Mode, Status},
};

/// Clocks between the modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pauses {
    /// From the last slot to the first particle that is left.
    pub drain: u32,
    /// From the last particle to the first edge of the next step.
    pub settle: u32,
    /// From the last step to idle.
    pub finish: u32,
}

/// Bits of a mode, as `status` shows it.
const MODE_BITS: u32 = Status::LAYOUT.mode.bits;

fn code(b: &Build, mode: Mode) -> Net {
    b.constant(mode.code().into(), MODE_BITS)
}

/// The sequencer for modules that hold so many particles and edges.
///
/// `start`, `stop` and `clear` are pulses; `steps` of zero runs until stopped. A start without particles, slots or any
/// left, or with more than there is room for, takes no step: `refused_start`. One that comes while it is busy does
/// nothing, as does a clear: `refused_command`. `restart` says that no step is under way.
pub fn sequencer(most_particles: u64, most_edges: u64, pauses: Pauses) -> Module {
    let (particle_bits, edge_bits) = (address_bits(most_particles), address_bits(most_edges));
    let mut b = Build::new("sequencer", "Issues edges and particles, step after step.");
    let reset_n = b.input("reset_n", 1);
    let (start, stop, clear) = (b.input("start", 1), b.input("stop", 1), b.input("clear", 1));
    let halt = b.input("halt", 1);
    let steps = b.input("steps", 32);
    let particles = b.input("particles", particle_bits + 1);
    let slots = b.input("slots", edge_bits + 1);
    let left = b.input("left", particle_bits + 1);
    let bits = particle_bits.max(edge_bits) + 1;

    let now = b.state("mode", MODE_BITS);
    let count = b.state("count", bits);
    let done = b.state("steps_done_1", 32);
    let stopping = b.state("stopping", 1);
    let halfway = b.state("halfway", 1);
    let cycles = b.state("cycles", 64);
    let is = Mode::ALL.map(|mode| {
        let code = code(&b, mode);
        b.eq(now.value(), &code)
    });
    let at = |mode: Mode| is[mode.code() as usize].clone();

    b.comment("the last item of the mode: told a clock before it comes, so that counting is not in the way");
    let one = b.constant(1, bits);
    let none = b.constant(0, bits);
    // A halted step has all its particles left.
    let left_now = b.mux(halfway.value(), &particles, &left);
    let (left_wide, slots_wide) = (b.zero_extend(&left_now, bits), b.zero_extend(&slots, bits));
    let first = b.state("first", 1);
    let is_last = |b: &mut Build, mode: Mode, before: &Net| {
        let next_is_last = b.eq(count.value(), before);
        b.state_reg(&format!("is_last_{}", mode.name()), &next_is_last)
    };
    let mut ends = Vec::new();
    // These two are steady long before they are needed; the others are constants, longer than one.
    for (mode, length) in [(Mode::Element, slots_wide), (Mode::Particle, left_wide)] {
        let name = mode.name();
        let last = b.sub(&length, &one);
        let last = b.state_reg(&format!("last_{name}"), &last);
        let before = b.sub(&last, &one);
        let before = b.state_reg(&format!("before_last_{name}"), &before);
        let is_last = is_last(&mut b, mode, &before);
        let only_one = b.eq(&last, &none);
        let only_one = b.state_reg(&format!("only_one_{name}"), &only_one);
        let here = b.mux(first.value(), &only_one, &is_last);
        ends.push(b.and(&at(mode), &here));
    }
    let lengths = [
        (Mode::Drain, pauses.drain.into()),
        (Mode::Settle, pauses.settle.into()),
        (Mode::Finish, pauses.finish.into()),
        (Mode::Clear, most_particles),
    ];
    for (mode, length) in lengths {
        assert!(length > 1, "{mode:?} takes {length} clocks");
        let before = b.constant(length as i64 - 2, bits);
        let is_last = is_last(&mut b, mode, &before);
        let later = b.not(first.value());
        let here = b.and(&is_last, &later);
        ends.push(b.and(&at(mode), &here));
    }
    let end = b.or_all(&ends);

    b.comment("what comes next");
    let some_particles = b.any(&particles);
    let some_slots = b.any(&slots);
    let some_left = b.any(&left);
    let mut can_step = [some_slots, some_left].iter().fold(some_particles, |all, net| b.and(&all, net));
    for (count, most) in [(&particles, most_particles), (&slots, most_edges)] {
        let most = b.constant(most as i64, count.bits());
        let beyond = b.less(&most, count);
        let within = b.not(&beyond);
        can_step = b.and(&can_step, &within);
    }
    // These are written long before a start.
    let can_step = b.state_reg("can_step", &can_step);
    let asked = b.and(&start, &at(Mode::Idle));
    let start_now = b.and(&asked, &can_step);
    let cannot = b.not(&can_step);
    let refused_start = b.and(&asked, &cannot);
    let one_step = b.constant(1, 32);
    let next_done = b.add(done.value(), &one_step);
    // Known a clock after a step has been counted, and not needed before the end of the next.
    let reached = b.eq(&next_done, &steps);
    let reached = b.state_reg("reached", &reached);
    let stop_wanted = b.or(stopping.value(), &stop);
    let enough = b.or(&reached, &stop_wanted);
    let (element, finish, idle) = (code(&b, Mode::Element), code(&b, Mode::Finish), code(&b, Mode::Idle));
    let after_settle = b.mux(&enough, &finish, &element);
    let particle = code(&b, Mode::Particle);
    let after_drain = b.mux(&halt, &finish, &particle);
    let after = [
        (Mode::Element, code(&b, Mode::Drain)),
        (Mode::Drain, after_drain),
        (Mode::Particle, code(&b, Mode::Settle)),
        (Mode::Settle, after_settle),
        (Mode::Finish, idle.clone()),
        (Mode::Clear, idle.clone()),
    ];
    let mut following = idle.clone();
    for (mode, target) in after {
        following = b.mux(&at(mode), &target, &following);
    }
    let onwards = b.mux(&end, &following, now.value());
    let clear_mode = code(&b, Mode::Clear);
    let only = b.not(&start);
    let clear_now = b.and(&clear, &only);
    let from_idle = b.mux(&clear_now, &clear_mode, &idle);
    let begin = b.mux(halfway.value(), &particle, &element);
    let from_idle = b.mux(&start_now, &begin, &from_idle);
    let next = b.mux(&at(Mode::Idle), &from_idle, &onwards);
    let next = b.mux(&reset_n, &next, &idle);

    b.comment("counters");
    let advanced = b.add(count.value(), &one);
    let rest = b.or(&end, &at(Mode::Idle));
    let next_count = b.mux(&rest, &none, &advanced);
    let step_end = b.and(&at(Mode::Settle), &end);
    let zero_steps = b.constant(0, 32);
    let counted = b.mux(&step_end, &next_done, done.value());
    let whole = b.not(halfway.value());
    let fresh = b.and(&asked, &whole);
    let next_steps = b.mux(&fresh, &zero_steps, &counted);
    let in_step = [Mode::Element, Mode::Drain, Mode::Particle, Mode::Settle].map(at);
    let in_step = b.or_all(&in_step);
    let more = b.increment(cycles.value(), &in_step);
    let zero_cycles = b.constant(0, 64);
    let next_cycles = b.mux(&fresh, &zero_cycles, &more);
    let drained = b.and(&at(Mode::Drain), &end);
    let halted = b.and(&drained, &halt);
    let moved = b.and(&at(Mode::Particle), &end);
    let over = b.or(&moved, &at(Mode::Clear));
    let still = b.not(&over);
    let still = b.and(&still, &reset_n);
    let half = b.or(halfway.value(), &halted);
    let next_half = b.and(&half, &still);
    let idle_now = at(Mode::Idle);
    let busy = b.not(&idle_now);
    let wanted = b.or(&start, &clear);
    let refused_command = b.and(&wanted, &busy);
    let next_stopping = b.and(&stop_wanted, &busy);
    let next_stopping = b.and(&next_stopping, &reset_n);

    let [element_now, particle_now, clear_now] = [Mode::Element, Mode::Particle, Mode::Clear].map(at);
    let element_index = b.slice(count.value(), 0, edge_bits);
    let restart = b.or(&idle_now, &at(Mode::Settle));
    b.output("idle", &idle_now);
    b.output("refused_start", &refused_start);
    b.output("refused_command", &refused_command);
    b.output("restart", &restart);
    b.output("mode_now", now.value());
    b.output("element_valid", &element_now);
    b.output("element_index", &element_index);
    b.output("particle_valid", &particle_now);
    b.output("clear_valid", &clear_now);
    b.output("steps_done", done.value());
    b.output("cycle_count", cycles.value());
    for (state, next) in [
        (now, &next),
        (count, &next_count),
        (done, &next_steps),
        (stopping, &next_stopping),
        (halfway, &next_half),
        (cycles, &next_cycles),
        (first, &rest),
    ] {
        b.set(state, next);
    }
    b.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        sim::verilated::{Sim, SimOptions},
        testing::synthesise,
    };

    const PAUSES: Pauses = Pauses { drain: 5, settle: 3, finish: 2 };

    fn circuit() -> Module {
        sequencer(16, 32, PAUSES)
    }

    /// A run's modes, each with the clocks it took; items are numbered from zero, one per clock.
    fn run(sim: &mut Sim, steps: u32, slots: u32, left: u32) -> Vec<(Mode, u32)> {
        for (name, value) in [("steps", steps), ("slots", slots), ("left", left), ("particles", 16)] {
            sim.set(name, value.into());
        }
        sim.tick(4);
        sim.set("start", 1);
        sim.tick(1);
        sim.set("start", 0);
        let mut modes: Vec<(Mode, u32)> = Vec::new();
        while sim.get("idle") == 0 {
            let mode = Mode::ALL[sim.get("mode_now") as usize];
            match modes.last_mut() {
                Some((last, clocks)) if *last == mode => *clocks += 1,
                _ => modes.push((mode, 1)),
            }
            let so_far = modes.last().map_or(0, |(_, clocks)| *clocks);
            assert_eq!(sim.get("element_valid") == 1, mode == Mode::Element);
            assert!(mode != Mode::Element || sim.get("element_index") == u128::from(so_far - 1));
            assert!(modes.len() < 100 && so_far < 100, "it does not end");
            sim.tick(1);
        }
        modes
    }

    #[test]
    fn every_mode_takes_the_clocks_it_should() {
        let mut sim = Sim::new(&circuit(), SimOptions::default()).unwrap();
        for name in ["start", "stop", "clear", "halt", "reset_n"] {
            sim.set(name, (name == "reset_n").into());
        }
        for steps in [1, 3] {
            for (slots, left) in (1..=32).flat_map(|slots| (1..=16).map(move |left| (slots, left))) {
                let lengths = [
                    (Mode::Element, slots),
                    (Mode::Drain, PAUSES.drain),
                    (Mode::Particle, left),
                    (Mode::Settle, PAUSES.settle),
                ];
                let mut expected = lengths.repeat(steps as usize);
                expected.push((Mode::Finish, PAUSES.finish));
                assert_eq!(run(&mut sim, steps, slots, left), expected);
                let cycles = steps * (slots + PAUSES.drain + left + PAUSES.settle);
                assert_eq!((sim.get("cycle_count"), sim.get("steps_done")), (cycles.into(), steps.into()));
            }
        }
    }

    /// All counts around zero and around what there is room for.
    #[test]
    fn starts_without_work_or_room_are_refused() {
        let mut sim = Sim::new(&circuit(), SimOptions::default()).unwrap();
        for name in ["start", "stop", "clear", "halt", "reset_n"] {
            sim.set(name, (name == "reset_n").into());
        }
        for particles in [0, 1, 15, 16, 17, 31] {
            for (slots, left) in [0, 1, 31, 32, 33, 63].into_iter().flat_map(|s| [0, 1, 16].map(|l| (s, l))) {
                for (name, value) in
                    [("steps", 1), ("slots", slots), ("left", left), ("particles", particles)]
                {
                    sim.set(name, value);
                }
                sim.tick(4);
                assert_eq!(sim.get("refused_start"), 0);
                sim.set("start", 1);
                sim.settle();
                let sound = (1..=16).contains(&particles) && (1..=32).contains(&slots) && left > 0;
                assert_eq!(sim.get("refused_start") == 0, sound, "{particles} {slots} {left}");
                assert_eq!(sim.get("refused_command"), 0);
                sim.tick(1);
                assert_eq!(sim.get("idle") == 0, sound);
                // Once more: too late, or refused again.
                assert_eq!(
                    [sim.get("refused_command"), sim.get("refused_start")],
                    [sound, !sound].map(u128::from)
                );
                sim.set("start", 0);
                sim.tick(200);
                assert_eq!((sim.get("idle"), sim.get("steps_done")), (1, sound.into()));
            }
        }
    }

    #[test]
    fn it_synthesises() {
        synthesise(&circuit(), "synth_xilinx -family xc2v -flatten -ise");
    }
}
