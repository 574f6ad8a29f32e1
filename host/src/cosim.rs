//! Lock step: the model and a board side by side, every memory word compared after every half step.

use crate::{
    board::{Board, BoardError},
    device::Device,
    engine::{BoardEngine, Engine},
};
use nendo_hdl::main_module::Stages;
use nendo_model::{
    cycles::Depths,
    engine::Model,
    image::{Image, Particle, Write},
};
use serde::Serialize;

/// The first word that differed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Mismatch {
    /// In which step, from 0.
    pub step: u64,
    /// In which half of it: `element` (TEM and the sums of forces) or `particle` (MPM).
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
    /// The clock of the step at which the item that writes this word enters the pipeline. For a sum of
    /// forces, the last edge that adds to it.
    pub enters_at_clock: u64,
    /// The pipeline stage that writes it: so many clocks later.
    pub stage: u32,
}

/// What a comparison found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Report {
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
    /// Clocks per step, measured; `None` before the first step.
    pub cycles_per_step: Option<u64>,
    /// Clocks per step, predicted.
    pub predicted_cycles_per_step: u64,
}

impl Report {
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
    depths: Depths,
    report: Report,
    before: Image,
}

impl<D: Device> Lockstep<D> {
    /// Both with the same image loaded.
    pub fn new(board: Board<D>, image: Image) -> Result<Self, BoardError> {
        let stages = Stages::of(board.config());
        let depths = Depths::of(image.profile, image.inverse);
        let cycles = depths.cycles_per_step(image.particles.len() as u64, image.edges.len() as u64);
        Ok(Self {
            model: Model::new(image.clone(), 1),
            board: BoardEngine::new(board, image.clone(), None)?,
            stages,
            depths,
            report: Report { overflow_agrees: true, predicted_cycles_per_step: cycles, ..Report::default() },
            before: image,
        })
    }

    /// What was found so far.
    pub fn report(&self) -> &Report {
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

    /// Takes a step on both and compares after its elements and after its particles. Returns whether all is
    /// still the same; if not, the step may be unfinished.
    pub fn step(&mut self) -> Result<bool, BoardError> {
        self.before.particles = self.model.particles();
        for (edge, u) in self.before.edges.iter_mut().zip(self.model.extensions()) {
            edge.u = u;
        }
        let events = self.board.begin_step()?;
        for event in events {
            let particle = &mut self.before.particles[event.particle as usize];
            match event.write {
                Write::Force(force) => particle.force = force,
                Write::Velocity(v) => particle.v = v,
            }
        }
        self.model.advance(1);
        if !self.compare_elements()? {
            return Ok(false);
        }
        let cycles = self.board.finish_step()?;
        self.report.cycles_per_step = Some(cycles);
        self.report.overflow_agrees &= self.board.overflow() == self.model.overflow();
        self.report.steps += 1;
        Ok(self.compare_particles()? && self.report.agrees())
    }

    /// Sums of forces and edges, before the particles are moved.
    fn compare_elements(&mut self) -> Result<bool, BoardError> {
        let (forces, edges) = (self.board.board().forces()?, self.board.edges()?);
        let u = self.model.extensions();
        let image = self.board.image();
        // The last edge that adds to each sum.
        let mut last = vec![[0; 2]; forces.len()];
        for (k, edge) in image.edges.iter().enumerate() {
            last[edge.start as usize][0] = k as u64;
            last[edge.end as usize][1] = k as u64;
        }
        let mut compare = Compare::new(&mut self.report, self.model.step() - 1, "element");
        for (item, (found, expected)) in edges.iter().zip(&image.edges).enumerate() {
            compare.place("edge", item, item as u64, self.stages.extension);
            compare.word("u", found.u.into(), u[item].into());
            compare.word("class", found.class.into(), expected.class.into());
            compare.word("start", found.start.into(), expected.start.into());
            compare.word("end", found.end.into(), expected.end.into());
        }
        for (item, (found, expected)) in forces.iter().zip(self.model.forces()).enumerate() {
            compare.place("force_start", item, last[item][0], self.stages.force);
            compare.vector(["fx", "fy", "fz"], found.start, expected.start);
            compare.place("force_end", item, last[item][1], self.stages.force);
            compare.vector(["fx", "fy", "fz"], found.end, expected.end);
        }
        Ok(self.report.mismatches == 0)
    }

    /// Everything else, after the particles have been moved.
    fn compare_particles(&mut self) -> Result<bool, BoardError> {
        let memories = self.board.memories()?;
        let n = self.board.image().numbers();
        let first = self.before.edges.len() as u64 + u64::from(self.depths.element);
        let mut compare = Compare::new(&mut self.report, self.model.step() - 1, "particle");
        for (item, (found, expected)) in memories.particles.iter().zip(self.model.particles()).enumerate() {
            let Particle { x, v, force, class } = expected;
            compare.place("position", item, first + item as u64, self.stages.particle);
            compare.vector(["x", "y", "z"], found.x, x);
            compare.place("velocity", item, first + item as u64, self.stages.particle);
            compare.vector(["x", "y", "z"], found.v, v);
            compare.place("external", item, first + item as u64, self.stages.particle);
            compare.vector(["fx", "fy", "fz"], found.force, force);
            compare.word("mass_class", found.class.into(), class.into());
            compare.place("display", item, first + item as u64, self.stages.particle);
            let shown = x.map(|c| n.x.operand(c.into()) as i32);
            compare.vector(["x", "y", "z"], memories.display[item], shown);
            compare.place("force_start", item, first + item as u64, self.stages.particle);
            compare.vector(["fx", "fy", "fz"], memories.forces[item].start, [0; 3]);
            compare.place("force_end", item, first + item as u64, self.stages.particle);
            compare.vector(["fx", "fy", "fz"], memories.forces[item].end, [0; 3]);
        }
        Ok(self.report.mismatches == 0)
    }
}

/// Counts words and remembers the first that differs.
struct Compare<'a> {
    report: &'a mut Report,
    step: u64,
    mode: &'static str,
    place: (&'static str, usize, u64, u32),
}

impl<'a> Compare<'a> {
    fn new(report: &'a mut Report, step: u64, mode: &'static str) -> Self {
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
