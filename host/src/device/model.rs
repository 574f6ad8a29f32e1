//! The model behind the register map: a board in software.
//!
//! Written from the map, not from the hardware: registers, windows, commands and errors as the map describes
//! them, the computation by the bit-accurate engine. Time is counted in clocks: an access takes a few, a step
//! as many as the model predicts, and the engine is busy for as long as that.

use super::{Device, DeviceError, Waited};
use nendo_hdl::{
    config::Config,
    map::{Access, Map, Reg, Register, Way, When, Win, Window},
};
use nendo_model::{
    cycles::Depths,
    engine::Model,
    image::{Constants, Edge, ElementConstants, ForceSums, Image, Particle},
    numbers::Constant,
    scaling::Scaling,
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
        model: Box<Model>,
        step_ends: u64,
        left: Option<u32>,
    },
    /// Only waiting: until this clock.
    Finishing {
        until: u64,
    },
}

/// A board in software.
pub struct ModelDevice {
    map: Map,
    threads: usize,
    clock: u64,
    registers: HashMap<Reg, u32>,
    /// Words of items that wait for their last one.
    stage: [u32; 2],
    elements: Vec<[Constant; 3]>,
    masses: Vec<Constant>,
    particles: Vec<Particle>,
    edges: Vec<Edge>,
    display: Vec<[i32; 3]>,
    forces: Vec<ForceSums>,
    /// The word of the display that was read first holds the others.
    held: Vec<u32>,
    activity: Activity,
    /// A step that stopped after its elements: the particles it will have moved.
    halfway: Option<Vec<Particle>>,
}

impl ModelDevice {
    /// A board of a configuration, computing on so many threads.
    pub fn new(config: &Config, threads: usize) -> Self {
        let (particles, edges) = (config.particles as usize, config.edges as usize);
        Self {
            map: Map::new(config),
            threads,
            clock: 0,
            registers: HashMap::new(),
            stage: [0; 2],
            elements: vec![[Constant::default(); 3]; nendo_model::image::ELEMENT_CLASSES],
            masses: vec![Constant::default(); nendo_model::image::MASS_CLASSES],
            particles: vec![Particle::default(); particles],
            edges: vec![Edge::default(); edges],
            display: vec![[0; 3]; particles],
            forces: vec![ForceSums::default(); particles],
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

    fn cycles_per_step(&self) -> u64 {
        let Config { profile, inverse, .. } = self.map.config;
        Depths::of(profile, inverse)
            .cycles_per_step(self.get(Reg::Particles).into(), self.get(Reg::Edges).into())
    }

    /// Lets time pass: steps end, the engine becomes idle.
    fn advance(&mut self, clocks: u64) {
        self.clock += clocks;
        loop {
            match std::mem::replace(&mut self.activity, Activity::Idle) {
                Activity::Idle => return,
                Activity::Finishing { until } if self.clock >= until => {
                    self.registers.insert(Reg::Interrupt, 1);
                }
                Activity::Running { model, step_ends, .. }
                    if self.clock >= step_ends && self.get(Reg::Halt) != 0 && self.halfway.is_none() =>
                {
                    self.stop_halfway(*model, step_ends);
                }
                Activity::Running { mut model, step_ends, left } if self.clock >= step_ends => {
                    let mut steps = 1;
                    if let Some(moved) = self.halfway.take() {
                        // Only the particles were left to be moved.
                        self.particles[..moved.len()].copy_from_slice(&moved);
                        self.forces.fill(ForceSums::default());
                        self.show();
                        model = Box::new(self.load());
                    } else {
                        // All the steps that have ended by now.
                        let due = 1 + (self.clock - step_ends) / self.cycles_per_step();
                        let halting = self.get(Reg::Halt) != 0;
                        steps = if halting { 1 } else { due.min(left.map_or(due, u64::from)) };
                        model.advance(steps);
                        self.store(&model);
                    }
                    let ended = step_ends + (steps - 1) * self.cycles_per_step();
                    self.end_steps(model, ended, left, steps);
                }
                busy => {
                    self.activity = busy;
                    return;
                }
            }
        }
    }

    fn end_steps(&mut self, model: Box<Model>, ended: u64, left: Option<u32>, steps: u64) {
        let done = self.get(Reg::StepsDone).wrapping_add(steps as u32);
        self.registers.insert(Reg::StepsDone, done);
        let cycles = u64::from(self.get(Reg::CyclesHigh)) << 32 | u64::from(self.get(Reg::CyclesLow));
        let cycles = cycles + steps * self.cycles_per_step();
        self.registers.insert(Reg::CyclesLow, cycles as u32);
        self.registers.insert(Reg::CyclesHigh, (cycles >> 32) as u32);
        let left = left.map(|n| n.saturating_sub(steps as u32));
        self.activity = if left == Some(0) {
            Activity::Finishing { until: ended + FINISH_CLOCKS }
        } else {
            Activity::Running { model, step_ends: ended + self.cycles_per_step(), left }
        };
    }

    /// A step's elements are done, its particles not yet moved.
    fn stop_halfway(&mut self, mut model: Model, ended: u64) {
        model.advance(1);
        for (edge, u) in self.edges.iter_mut().zip(model.extensions()) {
            edge.u = u;
        }
        for (memory, forces) in self.forces.iter_mut().zip(model.forces()) {
            *memory = forces;
        }
        self.flag(&model);
        self.halfway = Some(model.particles());
        self.activity = Activity::Finishing { until: ended + FINISH_CLOCKS };
    }

    fn flag(&mut self, model: &Model) {
        let flags = self.get(Reg::Overflow) | u32::from(model.overflow().bits());
        self.registers.insert(Reg::Overflow, flags);
    }

    /// The engine's image from the memories in use.
    fn load(&self) -> Model {
        let Config { profile, inverse, .. } = self.map.config;
        let word = self.get(Reg::StepConstant);
        let elements = self.elements.iter();
        let constants = Constants {
            elements: elements
                .map(|&[extension, rate, damper]| ElementConstants { extension, rate, damper })
                .collect(),
            inverse_mass: self.masses.clone(),
            step: constant(word),
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
        let particles = self.particles.iter().take(self.get(Reg::Particles) as usize).copied().collect();
        let edges = self.edges.iter().take(self.get(Reg::Edges) as usize).copied().collect();
        let image = Image { profile, inverse, scaling, constants, particles, edges, events: Vec::new() };
        Model::new(image, self.threads)
    }

    /// The memories from the engine's state.
    fn store(&mut self, model: &Model) {
        for (memory, particle) in self.particles.iter_mut().zip(model.particles()) {
            *memory = Particle { force: memory.force, class: memory.class, ..particle };
        }
        for (edge, u) in self.edges.iter_mut().zip(model.extensions()) {
            edge.u = u;
        }
        self.flag(model);
        self.show();
    }

    fn show(&mut self) {
        let x = self.map.config.profile.numbers().x;
        let used = self.get(Reg::Particles) as usize;
        for (shown, particle) in self.display.iter_mut().zip(&self.particles).take(used) {
            *shown = particle.x.map(|c| x.operand(c.into()) as i32);
        }
    }

    fn command(&mut self, bits: u32) {
        if bits & 7 == 0 {
            return;
        }
        let seen = self.get(Reg::CommandsSeen).wrapping_add(1);
        self.registers.insert(Reg::CommandsSeen, seen);
        let (particles, edges) = (self.get(Reg::Particles), self.get(Reg::Edges) as usize);
        // The hardware would compute with whatever lies beyond; there is nothing here.
        let known = |e: &Edge| e.start < particles && e.end < particles;
        let some = particles > 0 && edges > 0 && self.edges.iter().take(edges).all(known);
        if self.idle() && bits & START != 0 && some {
            if self.halfway.is_none() {
                for register in [Reg::StepsDone, Reg::CyclesLow, Reg::CyclesHigh] {
                    self.registers.insert(register, 0);
                }
            }
            let steps = self.get(Reg::Steps);
            let left = (steps > 0).then_some(steps.wrapping_sub(self.get(Reg::StepsDone)));
            // What is left of a halted step is shorter than a whole one; nobody can tell by how much.
            let step_ends = self.clock + self.cycles_per_step();
            self.activity = Activity::Running { model: Box::new(self.load()), step_ends, left };
        } else if self.idle() && bits & CLEAR != 0 {
            self.forces.fill(ForceSums::default());
            self.halfway = None;
            self.activity = Activity::Finishing { until: self.clock + self.map.config.particles };
        } else if let (true, Activity::Running { left, .. }) = (bits & STOP != 0, &mut self.activity) {
            *left = Some(1);
        }
    }

    /// The window an address lies in, with item and word.
    fn find(&self, address: u32) -> Option<(&Window, usize, u32)> {
        let inside = |w: &&Window| (w.base..w.base + 4 * w.items * w.stride).contains(&address);
        let window = self.map.windows.iter().find(inside)?;
        let word = (address - window.base) / 4;
        let usable = window.when == When::Always || self.idle();
        usable.then_some((window, (word / window.stride) as usize, word % window.stride))
    }

    fn register_at(&self, address: u32) -> Option<Register> {
        self.map.registers.iter().find(|r| r.address == address).cloned()
    }

    fn item(&self, window: Win, item: usize) -> Vec<i64> {
        let three = |v: [i32; 3]| v.map(i64::from).to_vec();
        match window {
            Win::Position => three(self.particles[item].x),
            Win::Velocity => three(self.particles[item].v),
            Win::External => {
                let Particle { force, class, .. } = self.particles[item];
                [three(force), vec![class.into()]].concat()
            }
            Win::Edge => {
                let Edge { u, class, start, end } = self.edges[item];
                vec![u.into(), class.into(), start.into(), end.into()]
            }
            Win::Display => three(self.display[item]),
            Win::ForceStart => three(self.forces[item].start),
            Win::ForceEnd => three(self.forces[item].end),
            Win::ElementExtension | Win::ElementRate | Win::ElementDamper | Win::MassTable => Vec::new(),
        }
    }

    fn store_item(&mut self, window: Win, item: usize, values: &[i64]) {
        let three = || [values[0] as i32, values[1] as i32, values[2] as i32];
        match window {
            Win::Position => {
                let x = self.map.config.profile.numbers().x;
                self.particles[item].x = three();
                self.display[item] = three().map(|c| x.operand(c.into()) as i32);
            }
            Win::Velocity => self.particles[item].v = three(),
            Win::External => {
                (self.particles[item].force, self.particles[item].class) = (three(), values[3] as u8);
                // The engine reads external forces as they are when it needs them.
                if let Activity::Running { model, .. } = &mut self.activity
                    && item < model.image().particles.len()
                {
                    model.set_external(item as u32, three(), values[3] as u8);
                }
            }
            Win::Edge => {
                let (start, end) = (values[2] as u32, values[3] as u32);
                self.edges[item] = Edge { u: values[0] as i32, class: values[1] as u8, start, end };
            }
            Win::ElementExtension => self.elements[item][0] = constant(values[0] as u32),
            Win::ElementRate => self.elements[item][1] = constant(values[0] as u32),
            Win::ElementDamper => self.elements[item][2] = constant(values[0] as u32),
            Win::MassTable => self.masses[item] = constant(values[0] as u32),
            Win::Display | Win::ForceStart | Win::ForceEnd => {}
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
        let (window, item, word) = self.find(address).filter(|(w, ..)| w.way != Way::WriteOnly)?;
        let mut words = window.pack(&self.item(window.name, item));
        if window.name == Win::Display {
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
        let (window, item, word) = self.find(address).filter(|(w, ..)| w.way != Way::ReadOnly)?;
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

impl Device for ModelDevice {
    fn read(&mut self, address: u32) -> Result<u32, DeviceError> {
        self.advance(ACCESS_CLOCKS);
        let (asked, address) = (address, address & !3);
        let value = self.read_word(address).ok_or(DeviceError::Refused { address: asked, write: false })?;
        self.sum([Reg::ReadSumLow, Reg::ReadSumHigh], address, value);
        Ok(value)
    }

    fn write(&mut self, address: u32, value: u32) -> Result<(), DeviceError> {
        self.advance(ACCESS_CLOCKS);
        let (asked, address) = (address, address & !3);
        self.write_word(address, value).ok_or(DeviceError::Refused { address: asked, write: true })?;
        self.sum([Reg::WriteSumLow, Reg::WriteSumHigh], address, value);
        Ok(())
    }

    fn pause(&mut self, clocks: u64) {
        self.advance(clocks);
    }

    fn wait_interrupt(&mut self, clocks: u64) -> Result<Waited, DeviceError> {
        let end = self.clock.saturating_add(clocks);
        let asserted = |model: &Self| model.get(Reg::Interrupt) & model.get(Reg::InterruptEnable) == 1;
        // While it is idle, nothing will assert it.
        while !asserted(self) && !self.idle() && self.clock < end {
            self.advance(LOOK_CLOCKS.min(end - self.clock));
        }
        Ok(if asserted(self) { Waited::Came } else { Waited::TimedOut })
    }

    fn reset(&mut self) -> Result<(), DeviceError> {
        // As the hardware's reset: what is running stops, memories and most registers keep their contents.
        self.registers.retain(|register, _| !register.is_reset());
        self.activity = Activity::Idle;
        self.halfway = None;
        Ok(())
    }

    fn name(&self) -> String {
        "model".to_owned()
    }
}
