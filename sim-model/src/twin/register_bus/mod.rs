//! The engine behind its register port: a board in software.
//!
//! Written from the map, not from the hardware: registers, windows, commands and errors as the map describes
//! them, the computation by the bit-accurate engine. Time is counted in clocks: an access takes a few, a step
//! as many as the model predicts, and the engine is busy for as long as that.

mod access;
mod load;

use crate::{
    contract::{
        config::Config,
        image::{ELEMENT_CLASSES, ElementConstants, MASS_CLASSES, Particle},
        map::{Map, Reg},
        numbers::Constant,
        words::{Command, Refused, RegisterWord, Slot},
    },
    plan::cycles::Depths,
    twin::engine::Model,
};
use std::collections::HashMap;

/// Clocks that pass during an access.
const ACCESS_CLOCKS: u64 = 8;
/// Clocks from the end of the last step until the engine is idle.
const FINISH_CLOCKS: u64 = 8;
/// Clocks between two looks at the interrupt line.
const LOOK_CLOCKS: u64 = 64;

/// What the engine is doing.
enum Activity {
    Idle,
    /// Steps: the engine's state so far, when the present one ends, how many are left (0: until stopped).
    Running {
        run: Box<Run>,
        step_ends: u64,
        left: Option<u32>,
    },
    /// Only waiting: until this clock.
    Finishing {
        until: u64,
    },
}

/// The engine, and where its particles and edges are in the memories.
struct Run {
    model: Model,
    particles: Vec<usize>,
    slots: Vec<usize>,
}

/// A board in software.
pub struct RegisterModel {
    map: Map,
    threads: usize,
    clock: u64,
    registers: HashMap<Reg, u32>,
    /// Words of items that wait for their last one.
    stage: [u32; 2],
    elements: Vec<ElementConstants>,
    masses: Vec<Constant>,
    /// Module after module, as all that follow.
    particles: Vec<Particle>,
    slots: Vec<Slot>,
    display: Vec<[i32; 3]>,
    forces: Vec<[i32; 3]>,
    /// The word of the display that was read first holds the others.
    held: Vec<u32>,
    activity: Activity,
    /// A step that stopped after its elements: the particles it will have moved, and where they are.
    halfway: Option<Vec<(usize, Particle)>>,
}

impl RegisterModel {
    /// A board of a configuration, computing on so many threads.
    pub fn new(config: &Config, threads: usize) -> Self {
        let Config { modules, particles, edges, .. } = *config;
        let (particles, slots) = ((modules * particles) as usize, (modules * edges) as usize);
        Self {
            map: Map::new(config),
            threads,
            clock: 0,
            registers: HashMap::new(),
            stage: [0; 2],
            elements: vec![ElementConstants::default(); ELEMENT_CLASSES],
            masses: vec![Constant::default(); MASS_CLASSES],
            particles: vec![Particle::default(); particles],
            slots: vec![Slot::default(); slots],
            display: vec![[0; 3]; particles],
            forces: vec![[0; 3]; particles],
            held: vec![0; 2],
            activity: Activity::Idle,
            halfway: None,
        }
    }

    fn get(&self, register: Reg) -> u32 {
        self.registers.get(&register).copied().unwrap_or(0)
    }

    fn idle(&self) -> bool {
        matches!(self.activity, Activity::Idle)
    }

    /// Clocks of a step. One that was halted has moved none of its particles before.
    fn cycles_per_step(&self, halted: bool) -> u64 {
        let Config { profile, inverse, modules, .. } = self.map.config;
        let left = self.get(if halted { Reg::Particles } else { Reg::TailClocks });
        Depths::of(profile, inverse, modules).cycles_per_step(self.get(Reg::Slots), left)
    }

    /// Lets time pass: steps end, the engine becomes idle.
    pub fn advance(&mut self, clocks: u64) {
        self.clock += clocks;
        loop {
            match std::mem::replace(&mut self.activity, Activity::Idle) {
                Activity::Idle => return,
                Activity::Finishing { until } if self.clock >= until => {
                    self.registers.insert(Reg::Interrupt, 1);
                }
                Activity::Running { run, step_ends, .. }
                    if self.clock >= step_ends && self.get(Reg::Halt) != 0 && self.halfway.is_none() =>
                {
                    self.stop_halfway(*run, step_ends);
                }
                Activity::Running { mut run, step_ends, left } if self.clock >= step_ends => {
                    let (mut steps, mut clocks) = (1, self.cycles_per_step(true));
                    if let Some(moved) = self.halfway.take() {
                        // Only the particles were left to be moved.
                        for (place, particle) in moved {
                            self.particles[place] = particle;
                            self.show(place);
                        }
                        self.forces.fill([0; 3]);
                        run.model = Model::new(self.image(&run), self.threads);
                    } else {
                        // All the steps that have ended by now.
                        let each = self.cycles_per_step(false);
                        let due = 1 + (self.clock - step_ends) / each;
                        let halting = self.get(Reg::Halt) != 0;
                        steps = if halting { 1 } else { due.min(left.map_or(due, u64::from)) };
                        clocks = steps * each;
                        run.model.advance(steps);
                        self.store(&run);
                    }
                    let ended = step_ends + (steps - 1) * self.cycles_per_step(false);
                    self.end_steps(run, ended, left, steps, clocks);
                }
                busy => {
                    self.activity = busy;
                    return;
                }
            }
        }
    }

    fn end_steps(&mut self, run: Box<Run>, ended: u64, left: Option<u32>, steps: u64, clocks: u64) {
        let done = self.get(Reg::StepsDone).wrapping_add(steps as u32);
        self.registers.insert(Reg::StepsDone, done);
        let cycles = u64::from(self.get(Reg::CyclesHigh)) << 32 | u64::from(self.get(Reg::CyclesLow));
        let cycles = cycles + clocks;
        self.registers.insert(Reg::CyclesLow, cycles as u32);
        self.registers.insert(Reg::CyclesHigh, (cycles >> 32) as u32);
        let left = left.map(|n| n.saturating_sub(steps as u32));
        self.activity = if left == Some(0) {
            Activity::Finishing { until: ended + FINISH_CLOCKS }
        } else {
            Activity::Running { run, step_ends: ended + self.cycles_per_step(false), left }
        };
    }

    /// A step's elements are done, its particles not yet moved.
    fn stop_halfway(&mut self, mut run: Run, ended: u64) {
        run.model.advance(1);
        self.store_extensions(&run);
        for (&place, force) in run.particles.iter().zip(run.model.forces()) {
            self.forces[place] = force;
        }
        self.flag(&run.model);
        self.halfway = Some(run.particles.iter().copied().zip(run.model.particles()).collect());
        self.activity = Activity::Finishing { until: ended + FINISH_CLOCKS };
    }

    fn store_extensions(&mut self, run: &Run) {
        for (&place, u) in run.slots.iter().zip(run.model.extensions()) {
            self.slots[place].u = u;
        }
    }

    fn flag(&mut self, model: &Model) {
        let flags = self.get(Reg::Overflow) | u32::from(model.overflow().bits());
        self.registers.insert(Reg::Overflow, flags);
    }

    /// The memories from the engine's state.
    fn store(&mut self, run: &Run) {
        for (&place, particle) in run.particles.iter().zip(run.model.particles()) {
            let Particle { force, class, .. } = self.particles[place];
            self.particles[place] = Particle { force, class, ..particle };
            self.show(place);
        }
        self.store_extensions(run);
        self.flag(&run.model);
    }

    fn show(&mut self, place: usize) {
        let x = self.map.config.profile.numbers().x;
        self.display[place] = self.particles[place].x.map(|c| x.operand(c.into()) as i32);
    }

    fn command(&mut self, command: Command) {
        if command == Command::default() {
            return;
        }
        let seen = self.get(Reg::CommandsSeen).wrapping_add(1);
        self.registers.insert(Reg::CommandsSeen, seen);
        if !self.idle() {
            if command.start || command.clear {
                self.refuse(Refused { command: true, ..Refused::default() });
            }
            if let (true, Activity::Running { left, .. }) = (command.stop, &mut self.activity) {
                *left = Some(1);
            }
        } else if command.start {
            self.start();
        } else if command.clear {
            self.forces.fill([0; 3]);
            self.halfway = None;
            self.activity = Activity::Finishing { until: self.clock + self.map.config.particles };
        }
    }

    fn start(&mut self) {
        if self.halfway.is_none() {
            for register in [Reg::StepsDone, Reg::CyclesLow, Reg::CyclesHigh] {
                self.registers.insert(register, 0);
            }
        }
        if let Some(run) = self.load() {
            let steps = self.get(Reg::Steps);
            let left = (steps > 0).then_some(steps.wrapping_sub(self.get(Reg::StepsDone)));
            // What is left of a halted step is shorter than a whole one; nobody can tell by how much.
            let step_ends = self.clock + self.cycles_per_step(true);
            self.activity = Activity::Running { run: Box::new(run), step_ends, left };
        } else {
            self.refuse(Refused { start: true, ..Refused::default() });
            self.registers.insert(Reg::Interrupt, 1);
        }
    }

    /// Keeps what was refused.
    fn refuse(&mut self, what: Refused) {
        let refused = self.get(Reg::Refused) | what.bits();
        self.registers.insert(Reg::Refused, refused);
    }
}

/// An access the engine answers with an error; it changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefusedAccess;

impl RegisterModel {
    /// Reads the word at a byte address, of which the lowest two bits are not looked at.
    pub fn read(&mut self, address: u32) -> Result<u32, RefusedAccess> {
        self.advance(ACCESS_CLOCKS);
        let address = address & !3;
        let value = self.read_word(address).ok_or(RefusedAccess)?;
        self.sum([Reg::ReadSumLow, Reg::ReadSumHigh], address, value);
        Ok(value)
    }

    /// Writes the word at a byte address.
    pub fn write(&mut self, address: u32, value: u32) -> Result<(), RefusedAccess> {
        self.advance(ACCESS_CLOCKS);
        let address = address & !3;
        self.write_word(address, value).ok_or(RefusedAccess)?;
        self.sum([Reg::WriteSumLow, Reg::WriteSumHigh], address, value);
        Ok(())
    }

    /// Whether the interrupt line is asserted.
    pub fn interrupt(&self) -> bool {
        self.get(Reg::Interrupt) & self.get(Reg::InterruptEnable) == 1
    }

    /// Lets time pass until the interrupt line is asserted, or so many clocks have passed, or nothing will assert it;
    /// whether it is asserted.
    pub fn wait_interrupt(&mut self, clocks: u64) -> bool {
        let end = self.clock.saturating_add(clocks);
        while !self.interrupt() && !self.idle() && self.clock < end {
            self.advance(LOOK_CLOCKS.min(end - self.clock));
        }
        self.interrupt()
    }

    /// As the hardware's reset: what is running stops, memories and most registers keep their contents.
    pub fn reset(&mut self) {
        self.registers.retain(|register, _| !register.is_reset());
        self.activity = Activity::Idle;
        self.halfway = None;
    }
}
