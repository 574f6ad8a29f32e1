//! The engine behind its register port: a board in software.
//!
//! Written from the map, not from the hardware: registers, windows, commands and errors as the map describes
//! them, the computation by the bit-accurate engine. Time is counted in clocks: an access takes a few, a step
//! as many as the model predicts, and the engine is busy for as long as that.

mod load;

use crate::{
    contract::{
        config::Config,
        image::Particle,
        map::{Access, Availability, Direction, Map, Reg, Register, Window, WindowName},
        numbers::Constant,
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

const START: u32 = 1;
const STOP: u32 = 2;
const CLEAR: u32 = 4;

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

/// A slot's word: the fields of the map.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    u: i32,
    class: u8,
    other: u32,
    advance: u32,
    reversed: bool,
    last: bool,
    present: bool,
    moves: bool,
    module: u32,
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
    elements: Vec<[Constant; 3]>,
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
            elements: vec![[Constant::default(); 3]; crate::contract::image::ELEMENT_CLASSES],
            masses: vec![Constant::default(); crate::contract::image::MASS_CLASSES],
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

    fn command(&mut self, bits: u32) {
        if bits & 7 == 0 {
            return;
        }
        let seen = self.get(Reg::CommandsSeen).wrapping_add(1);
        self.registers.insert(Reg::CommandsSeen, seen);
        let run = (self.idle() && bits & START != 0).then(|| self.load()).flatten();
        if let Some(run) = run {
            if self.halfway.is_none() {
                for register in [Reg::StepsDone, Reg::CyclesLow, Reg::CyclesHigh] {
                    self.registers.insert(register, 0);
                }
            }
            let steps = self.get(Reg::Steps);
            let left = (steps > 0).then_some(steps.wrapping_sub(self.get(Reg::StepsDone)));
            // What is left of a halted step is shorter than a whole one; nobody can tell by how much.
            let step_ends = self.clock + self.cycles_per_step(true);
            self.activity = Activity::Running { run: Box::new(run), step_ends, left };
        } else if self.idle() && bits & CLEAR != 0 {
            self.forces.fill([0; 3]);
            self.halfway = None;
            self.activity = Activity::Finishing { until: self.clock + self.map.config.particles };
        } else if let (true, Activity::Running { left, .. }) = (bits & STOP != 0, &mut self.activity) {
            *left = Some(1);
        }
    }

    /// The window an address lies in, with item (counted through all modules) and word.
    fn find(&self, address: u32) -> Option<(&Window, usize, u32)> {
        let span = self.map.module_span;
        let within = |w: &Window, module: u32| {
            let word = address.checked_sub(w.base + module * span)? / 4;
            (word < w.items * w.stride).then_some((module * w.items + word / w.stride, word % w.stride))
        };
        let found = self.map.windows.iter().find_map(|w| {
            let module = address.checked_sub(w.base)? / span;
            let (item, word) = within(w, module).filter(|_| module < w.modules)?;
            Some((w, item as usize, word))
        });
        found.filter(|(window, ..)| window.availability == Availability::Always || self.idle())
    }

    fn register_at(&self, address: u32) -> Option<Register> {
        self.map.registers.iter().find(|r| r.address == address).cloned()
    }

    fn item(&self, window: WindowName, item: usize) -> Vec<i64> {
        let three = |v: [i32; 3]| v.map(i64::from).to_vec();
        match window {
            WindowName::Position => three(self.particles[item].x),
            WindowName::Velocity => three(self.particles[item].v),
            WindowName::External => {
                let Particle { force, class, .. } = self.particles[item];
                [three(force), vec![class.into()]].concat()
            }
            WindowName::Edge => {
                let s = self.slots[item];
                let [u, class, other, advance] =
                    [s.u.into(), s.class.into(), s.other.into(), s.advance.into()];
                let [reversed, last, present, moves] =
                    [s.reversed, s.last, s.present, s.moves].map(i64::from);
                vec![u, class, other, advance, reversed, last, present, moves, s.module.into()]
            }
            WindowName::Display => three(self.display[item]),
            WindowName::Force => three(self.forces[item]),
            WindowName::ElementExtension
            | WindowName::ElementRate
            | WindowName::ElementDamper
            | WindowName::MassTable => Vec::new(),
        }
    }

    fn store_item(&mut self, window: WindowName, item: usize, values: &[i64]) {
        let three = || [values[0] as i32, values[1] as i32, values[2] as i32];
        match window {
            WindowName::Position => {
                self.particles[item].x = three();
                self.show(item);
            }
            WindowName::Velocity => self.particles[item].v = three(),
            WindowName::External => {
                (self.particles[item].force, self.particles[item].class) = (three(), values[3] as u8);
                // The engine reads external forces as they are when it needs them.
                if let Activity::Running { run, .. } = &mut self.activity
                    && let Ok(number) = run.particles.binary_search(&item)
                {
                    run.model.set_external(number as u32, three(), values[3] as u8);
                }
            }
            WindowName::Edge => {
                let [reversed, last, present, moves] = [4, 5, 6, 7].map(|k| values[k] == 1);
                self.slots[item] = Slot {
                    u: values[0] as i32,
                    class: values[1] as u8,
                    other: values[2] as u32,
                    advance: values[3] as u32,
                    reversed,
                    last,
                    present,
                    moves,
                    module: values.get(8).map_or(0, |&module| module as u32),
                };
            }
            WindowName::ElementExtension => self.elements[item][0] = constant(values[0] as u32),
            WindowName::ElementRate => self.elements[item][1] = constant(values[0] as u32),
            WindowName::ElementDamper => self.elements[item][2] = constant(values[0] as u32),
            WindowName::MassTable => self.masses[item] = constant(values[0] as u32),
            WindowName::Display | WindowName::Force => {}
        }
    }

    /// Adds an access to the sums, unless it was one of the sums themselves.
    fn sum(&mut self, [low, high]: [Reg; 2], address: u32, value: u32) {
        if self.register_at(address).is_some_and(|r| r.name.is_sum()) {
            return;
        }
        let next = self.get(low).wrapping_add(value).wrapping_add(address);
        let next_high = self.get(high).wrapping_add(next);
        self.registers.insert(low, next);
        self.registers.insert(high, next_high);
    }

    fn read_register(&self, register: &Register) -> u32 {
        match (register.access, register.name) {
            (Access::Constant(value), _) => value,
            (Access::Command, _) => 0,
            (_, Reg::Status) => match self.activity {
                Activity::Idle => 0,
                Activity::Running { .. } => 1 | 1 << 1,
                Activity::Finishing { .. } => 1 | 5 << 1,
            },
            (_, name) => self.get(name),
        }
    }

    fn write_register(&mut self, register: &Register, value: u32) -> bool {
        let Register { name, bits, access, .. } = *register;
        let mask = u32::MAX >> (32 - bits);
        match access {
            Access::Constant(_) | Access::ReadOnly => return false,
            Access::Command if value >> 16 != !value & 0xffff => return false,
            Access::Command => self.command(value & mask),
            Access::WriteOneToClear => drop(self.registers.insert(name, self.get(name) & !value)),
            Access::ReadWrite => drop(self.registers.insert(name, value & mask)),
        }
        true
    }

    fn read_word(&mut self, address: u32) -> Option<u32> {
        if let Some(register) = self.register_at(address) {
            return Some(self.read_register(&register));
        }
        let (window, item, word) =
            self.find(address).filter(|(w, ..)| w.direction != Direction::WriteOnly)?;
        let mut words = window.pack(&self.item(window.name, item));
        if window.name == WindowName::Display {
            if word == 0 {
                self.held.clone_from(&words);
            } else {
                words.clone_from(&self.held);
            }
        }
        Some(words.get(word as usize).copied().unwrap_or(0))
    }

    fn write_word(&mut self, address: u32, value: u32) -> Option<()> {
        if let Some(register) = self.register_at(address) {
            return self.write_register(&register, value).then_some(());
        }
        let (window, item, word) = self.find(address).filter(|(w, ..)| w.direction != Direction::ReadOnly)?;
        let last = window.words() - 1;
        if word == last {
            let words: Vec<u32> = self.stage.iter().take(last as usize).copied().chain([value]).collect();
            let (name, values) = (window.name, window.unpack(&words));
            self.store_item(name, item, &values);
        } else if word < last {
            self.stage[word as usize] = value;
        }
        Some(())
    }
}

/// A constant from a table's word.
fn constant(word: u32) -> Constant {
    Constant { mantissa: i32::from(word as u16 as i16), shift: word >> 16 & 31 }
}

/// An access the engine answers with an error; it changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused;

impl RegisterModel {
    /// Reads the word at a byte address, of which the lowest two bits are not looked at.
    pub fn read(&mut self, address: u32) -> Result<u32, Refused> {
        self.advance(ACCESS_CLOCKS);
        let address = address & !3;
        let value = self.read_word(address).ok_or(Refused)?;
        self.sum([Reg::ReadSumLow, Reg::ReadSumHigh], address, value);
        Ok(value)
    }

    /// Writes the word at a byte address.
    pub fn write(&mut self, address: u32, value: u32) -> Result<(), Refused> {
        self.advance(ACCESS_CLOCKS);
        let address = address & !3;
        self.write_word(address, value).ok_or(Refused)?;
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
