//! Lock step: the model and a board side by side, every memory word compared after every step.
//!
//! Every second step is halted after its elements, and the sums of forces are compared as well. The others run as they
//! always do, with particles moving while elements are computed.

use crate::{
    board::{Board, BoardError},
    device::Device,
    engine::{BoardEngine, Engine},
};
use nendo_hdl::engine::main_module::Stages;
use nendo_model::{
    contract::image::{Edge, Image, Particle, Write},
    plan::{loaded::Loaded, schedule::Schedule},
    twin::engine::Model,
};
use serde::Serialize;

/// The first word that differed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Mismatch {
    /// In which step, from 0.
    pub step: u64,
    /// What wrote it: `element` (TEM and the sums of forces) or `particle` (MPM).
    pub mode: &'static str,
    /// In which memory.
    pub memory: &'static str,
    /// Particle or edge.
    pub item: usize,
    /// Which part of the item.
    pub field: &'static str,
    /// What the board holds.
    pub board: i64,
    /// What the model holds.
    pub model: i64,
    /// The clock of the step at which the slot that writes this word enters the pipeline. For a sum of
    /// forces, that of the last edge that adds to it.
    pub enters_at_clock: u64,
    /// The pipeline stage that writes it: so many clocks later.
    pub stage: u32,
}

/// What a comparison found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LockstepReport {
    /// Whole steps compared.
    pub steps: u64,
    /// Words compared.
    pub words_compared: u64,
    /// Words that differed, in the half step of the first one.
    pub mismatches: u64,
    /// The first of them.
    pub first_mismatch: Option<Mismatch>,
    /// Whether the overflow flags were the same after every step.
    pub overflow_agrees: bool,
    /// Clocks per step, measured; `None` before the first step that was not halted.
    pub cycles_per_step: Option<u64>,
    /// Clocks per step, predicted.
    pub predicted_cycles_per_step: u64,
}

impl LockstepReport {
    /// Whether everything was as the model says.
    pub fn agrees(&self) -> bool {
        let cycles_agree = self.cycles_per_step.is_none_or(|c| c == self.predicted_cycles_per_step);
        self.mismatches == 0 && self.overflow_agrees && cycles_agree
    }
}

/// A model and a board with the same image.
pub struct Lockstep<D: Device> {
    model: Model,
    board: BoardEngine<D>,
    stages: Stages,
    clocks: Clocks,
    report: LockstepReport,
    before: Image,
    /// Clocks so far.
    cycles: u64,
}

impl<D: Device> Lockstep<D> {
    /// Both with the same image.
    pub fn new(board: Board<D>, image: Image) -> Result<Self, BoardError> {
        let modules = board.config().modules as usize;
        Self::with(board, Loaded::planned(image, modules))
    }

    /// The same with an image that has been planned.
    pub fn with(board: Board<D>, loaded: Loaded) -> Result<Self, BoardError> {
        let (stages, image) = (Stages::of(board.config()), loaded.image.clone());
        let mut board = BoardEngine::with(board, loaded, None)?;
        let clocks = Clocks::new(&image, board.board().schedule());
        let cycles = board.board().schedule().cycles_per_step();
        Ok(Self {
            model: Model::new(image.clone(), 1),
            board,
            stages,
            clocks,
            report: LockstepReport {
                overflow_agrees: true,
                predicted_cycles_per_step: cycles,
                ..LockstepReport::default()
            },
            before: image,
            cycles: 0,
        })
    }

    /// What was found so far.
    pub fn report(&self) -> &LockstepReport {
        &self.report
    }

    /// The image as it was before the last step, events included: for looking at that step again.
    pub fn before(&self) -> &Image {
        &self.before
    }

    /// The board.
    pub fn board(&mut self) -> &mut BoardEngine<D> {
        &mut self.board
    }

    /// Gives the device back.
    pub fn into_device(self) -> D {
        self.board.into_board().into_device()
    }

    /// Takes a step on both and compares. Returns whether all is still the same; if not, the step may be unfinished.
    pub fn step(&mut self) -> Result<bool, BoardError> {
        let halts = self.model.step().is_multiple_of(2);
        self.before.particles = self.model.particles();
        for (edge, u) in self.before.edges.iter_mut().zip(self.model.extensions()) {
            edge.u = u;
        }
        let events = if halts { self.board.begin_step()? } else { self.board.whole_step()? };
        for event in events {
            let particle = &mut self.before.particles[event.particle as usize];
            match event.write {
                Write::Force(force) => particle.force = force,
                Write::Release { class, .. } => particle.class = class,
                Write::Velocity(_) => {}
            }
            particle.v = event.write.velocity().unwrap_or(particle.v);
        }
        self.model.advance(1);
        if halts {
            if !self.compare_edges()? || !self.compare_forces()? {
                return Ok(false);
            }
            self.board.finish_step()?;
        } else {
            self.report.cycles_per_step = Some(self.board.cycles() - self.cycles);
            if !self.compare_edges()? {
                return Ok(false);
            }
        }
        self.cycles = self.board.cycles();
        self.report.overflow_agrees &= self.board.overflow() == self.model.overflow();
        self.report.steps += 1;
        Ok(self.compare_particles()? && self.report.agrees())
    }

    /// Edges, with their new extensions.
    fn compare_edges(&mut self) -> Result<bool, BoardError> {
        let edges = self.board.edges()?;
        let u = self.model.extensions();
        let image = self.board.image();
        let mut compare = Compare::new(&mut self.report, self.model.step() - 1, "element");
        for (item, (found, expected)) in edges.iter().zip(&image.edges).enumerate() {
            compare.place("edge", item, self.clocks.edges[item], self.stages.extension);
            compare.word("u", found.u.into(), u[item].into());
            compare.word("class", found.class.into(), expected.class.into());
            compare.word("start", found.start.into(), expected.start.into());
            compare.word("end", found.end.into(), expected.end.into());
        }
        Ok(self.report.mismatches == 0)
    }

    /// Sums of forces, before the particles are moved.
    fn compare_forces(&mut self) -> Result<bool, BoardError> {
        let forces = self.board.board().forces()?;
        let mut compare = Compare::new(&mut self.report, self.model.step() - 1, "element");
        for (item, (found, expected)) in forces.into_iter().zip(self.model.forces()).enumerate() {
            compare.place("force", item, self.clocks.forces[item], self.stages.force);
            compare.vector(["fx", "fy", "fz"], found, expected);
        }
        Ok(self.report.mismatches == 0)
    }

    /// Everything else, after the particles have been moved.
    fn compare_particles(&mut self) -> Result<bool, BoardError> {
        let memories = self.board.memories()?;
        let n = self.board.image().numbers();
        let mut compare = Compare::new(&mut self.report, self.model.step() - 1, "particle");
        for (item, (found, expected)) in memories.particles.iter().zip(self.model.particles()).enumerate() {
            let Particle { x, v, force, class } = expected;
            let enters = self.clocks.particles[item];
            compare.place("position", item, enters, self.stages.particle);
            compare.vector(["x", "y", "z"], found.x, x);
            compare.place("velocity", item, enters, self.stages.particle);
            compare.vector(["x", "y", "z"], found.v, v);
            compare.place("external", item, enters, self.stages.particle);
            compare.vector(["fx", "fy", "fz"], found.force, force);
            compare.word("mass_class", found.class.into(), class.into());
            compare.place("display", item, enters, self.stages.particle);
            let shown = x.map(|c| n.x.operand(c.into()) as i32);
            compare.vector(["x", "y", "z"], memories.display[item], shown);
            compare.place("force", item, enters, self.stages.particle);
            compare.vector(["fx", "fy", "fz"], memories.forces[item], [0; 3]);
        }
        Ok(self.report.mismatches == 0)
    }
}

/// The clocks of a step at which things enter the pipelines.
struct Clocks {
    edges: Vec<u64>,
    /// The last edge of each particle.
    forces: Vec<u64>,
    particles: Vec<u64>,
}

impl Clocks {
    fn new(image: &Image, schedule: &Schedule) -> Self {
        let mut edges = vec![0; image.edges.len()];
        let mut forces = vec![0; image.particles.len()];
        let mut particles = forces.clone();
        let drained = u64::from(schedule.slots() + schedule.depths().element);
        for (group, slots) in schedule.partition.groups.iter().zip(&schedule.modules) {
            for (slot, clock) in slots.iter().zip(0..) {
                if let Some(edge) = slot.edge.map(|edge| edge as usize) {
                    edges[edge] = clock;
                    let Edge { start, end, .. } = image.edges[edge];
                    [start, end].into_iter().for_each(|p| forces[p as usize] = clock.max(forces[p as usize]));
                }
            }
            let in_slots = (0..).zip(slots).filter(|(_, slot)| slot.moves).map(|(clock, _)| clock);
            for (&particle, clock) in group.iter().zip(in_slots.chain(drained..)) {
                particles[particle as usize] = clock;
            }
        }
        Self { edges, forces, particles }
    }
}

/// Counts words and remembers the first that differs.
struct Compare<'a> {
    report: &'a mut LockstepReport,
    step: u64,
    mode: &'static str,
    place: (&'static str, usize, u64, u32),
}

impl<'a> Compare<'a> {
    fn new(report: &'a mut LockstepReport, step: u64, mode: &'static str) -> Self {
        Self { report, step, mode, place: ("", 0, 0, 0) }
    }

    fn place(&mut self, memory: &'static str, item: usize, enters_at_clock: u64, stage: u32) {
        self.place = (memory, item, enters_at_clock, stage);
    }

    fn vector(&mut self, fields: [&'static str; 3], board: [i32; 3], model: [i32; 3]) {
        for k in 0..3 {
            self.word(fields[k], board[k].into(), model[k].into());
        }
    }

    fn word(&mut self, field: &'static str, board: i64, model: i64) {
        self.report.words_compared += 1;
        if board == model {
            return;
        }
        self.report.mismatches += 1;
        let (memory, item, enters_at_clock, stage) = self.place;
        let (step, mode) = (self.step, self.mode);
        self.report.first_mismatch.get_or_insert(Mismatch {
            step,
            mode,
            memory,
            item,
            field,
            board,
            model,
            enters_at_clock,
            stage,
        });
    }
}
