//! A board as an engine: a scene's image on a device, its events written between steps.

use crate::{
    board::{Board, BoardError, Memories},
    device::Device,
};
use nendo_model::{
    contract::{
        image::{Edge, Event, Image, Particle, Write},
        numbers::Constant,
        overflow::Overflow,
        scaling::Headroom,
    },
    engine::{Engine, EngineError, Failure, Probe, Snapshot, words},
    mesh::Vec3,
    plan::{loaded::Loaded, schedule::Schedule},
    scene::{Scene, loads::Loads, sense::Sensed},
    twin::{engine::state_digest, tem, words::Words},
};

/// A scene on a board.
pub struct BoardEngine<D: Device> {
    board: Board<D>,
    image: Image,
    /// Mass class of each particle as it is now.
    classes: Vec<u8>,
    /// Scene number of each edge, in the order the board holds them.
    order: Vec<u32>,
    step: u64,
    next_event: usize,
    overflow: Overflow,
    cycles: u64,
    /// External forces as they are now.
    loads: Loads<i32>,
}

/// An image with edge `order[k]` in place k.
pub(super) fn in_order(image: &Image, order: &[u32]) -> Image {
    let edges = order.iter().map(|&k| image.edges[k as usize]).collect();
    Image { edges, ..image.clone() }
}

/// Edges in the scene's order: the k-th of those held is edge `order[k]`.
fn in_scene_order(held: Vec<Edge>, order: &[u32]) -> Vec<Edge> {
    let mut edges = vec![Edge::default(); held.len()];
    for (edge, &k) in held.into_iter().zip(order) {
        edges[k as usize] = edge;
    }
    edges
}

impl<D: Device> BoardEngine<D> {
    /// Loads an image. With an order, edge `order[k]` of the image is the board's k-th.
    pub fn new(board: Board<D>, image: Image, order: Option<Vec<u32>>) -> Result<Self, BoardError> {
        let held = match &order {
            Some(order) => in_order(&image, order),
            None => image,
        };
        let modules = board.config().modules as usize;
        Self::with(board, Loaded::planned(held, modules), order)
    }

    /// Loads what has been planned. With an order, its k-th edge is the scene's edge `order[k]`.
    pub fn with(mut board: Board<D>, loaded: Loaded, order: Option<Vec<u32>>) -> Result<Self, BoardError> {
        board.load_planned(&loaded)?;
        let order = order.unwrap_or_else(|| (0..loaded.image.edges.len() as u32).collect());
        let image = Image { edges: in_scene_order(loaded.image.edges, &order), ..loaded.image };
        let loads = Loads::new(image.particles.iter().map(|p| p.force).collect());
        let classes = image.particles.iter().map(|p| p.class).collect();
        Ok(Self {
            board,
            image,
            classes,
            order,
            step: 0,
            next_event: 0,
            overflow: Overflow::NONE,
            cycles: 0,
            loads,
        })
    }

    /// The board.
    pub fn board(&mut self) -> &mut Board<D> {
        &mut self.board
    }

    /// Gives the board back.
    pub fn into_board(self) -> Board<D> {
        self.board
    }

    /// The image it started from.
    pub fn image(&self) -> &Image {
        &self.image
    }

    /// Clocks spent in steps so far.
    pub fn cycles(&self) -> u64 {
        self.cycles
    }

    /// Takes steps, writing each event before its step.
    pub fn run(&mut self, steps: u64) -> Result<(), BoardError> {
        self.run_while(steps, |_| Ok(()))
    }

    /// Takes steps, and does something with the board each time it has been started.
    pub fn run_while(
        &mut self,
        steps: u64,
        mut running: impl FnMut(&mut Board<D>) -> Result<(), BoardError>,
    ) -> Result<(), BoardError> {
        let end = self.step + steps;
        while self.step < end {
            self.write_events()?;
            let next = self.image.events.get(self.next_event).map_or(end, |e| e.step.min(end));
            let now = (next - self.step).min(u32::MAX.into());
            self.board.start(now as u32)?;
            running(&mut self.board)?;
            self.cycles += self.board.finish()?;
            self.step += now;
        }
        self.overflow = self.overflow.union(self.board.overflow()?);
        Ok(())
    }

    /// Writes the present external forces of particles once more.
    pub fn refresh_forces(&mut self, particles: &[u32]) -> Result<(), BoardError> {
        for &particle in particles {
            let class = self.classes[particle as usize];
            self.board.set_force(particle, self.loads.total(particle), class)?;
        }
        Ok(())
    }

    /// Writes the events that are due before the next step; returns them.
    fn write_events(&mut self) -> Result<Vec<Event>, BoardError> {
        let due = self.image.events[self.next_event..].iter().take_while(|e| e.step <= self.step);
        let mut due: Vec<Event> = due.copied().collect();
        for Event { particle, write, .. } in &mut due {
            let present = (self.loads.total(*particle), self.classes[*particle as usize]);
            match write {
                Write::Force(force) => *force = self.loads.set_own(*particle, *force),
                Write::Release { class, .. } => self.classes[*particle as usize] = *class,
                Write::Velocity(_) => {}
            }
            self.board.write_particle(*particle, present, *write)?;
        }
        self.next_event += due.len();
        Ok(due)
    }

    /// Takes a step; returns the events written before.
    pub fn whole_step(&mut self) -> Result<Vec<Event>, BoardError> {
        let events = self.write_events()?;
        self.run(1)?;
        Ok(events)
    }

    /// Computes the elements of the next step; returns the events written before.
    pub fn begin_step(&mut self) -> Result<Vec<Event>, BoardError> {
        let events = self.write_events()?;
        self.board.run_elements()?;
        Ok(events)
    }

    /// Moves the particles of a step that has begun; returns the clocks of the whole step.
    pub fn finish_step(&mut self) -> Result<u64, BoardError> {
        let cycles = self.board.run(1)?;
        self.cycles += cycles;
        self.step += 1;
        self.overflow = self.overflow.union(self.board.overflow()?);
        Ok(cycles)
    }

    /// The edges in the scene's order.
    pub fn edges(&mut self) -> Result<Vec<Edge>, BoardError> {
        let held = self.board.edges()?;
        Ok(in_scene_order(held, &self.order))
    }

    /// Every memory word in use, edges in the scene's order.
    pub fn memories(&mut self) -> Result<Memories, BoardError> {
        let mut memories = self.board.memories()?;
        memories.edges = in_scene_order(memories.edges, &self.order);
        Ok(memories)
    }

    fn words(&mut self) -> Result<Words, BoardError> {
        let u = self.edges()?.iter().map(|e| e.u).collect();
        Ok(Words::of(self.step, &self.board.motion()?, u, self.overflow))
    }

    /// Goes on from other words: the image with them is loaded.
    fn set(&mut self, words: &Words) -> Result<(), BoardError> {
        let mut image = self.image.clone();
        let forces = words.external(&image);
        self.classes = words.classes(&image);
        for (p, particle) in image.particles.iter_mut().enumerate() {
            *particle = Particle { x: words.x[p], v: words.v[p], force: forces[p], class: self.classes[p] };
        }
        for (edge, &u) in image.edges.iter_mut().zip(&words.u) {
            edge.u = u;
        }
        self.board.load(&in_order(&image, &self.order))?;
        self.loads = Loads::new(forces);
        self.next_event = image.events.partition_point(|e| e.step < words.step);
        (self.step, self.overflow) = (words.step, words.overflow);
        Ok(())
    }
}

impl<D: Device> Engine for BoardEngine<D> {
    fn link_retries(&self) -> Option<u64> {
        Some(self.board.retries())
    }

    fn close(&mut self) -> Result<(), EngineError> {
        Ok(self.board.device().close().map_err(BoardError::from)?)
    }

    fn advance(&mut self, steps: u64) -> Result<(), EngineError> {
        self.run(steps)?;
        self.failure().map_or(Ok(()), |failure| Err(failure.into()))
    }

    fn step(&self) -> u64 {
        self.step
    }

    fn positions(&mut self) -> Result<Vec<Vec3>, EngineError> {
        let particles = self.board.motion()?;
        Ok(particles.iter().map(|p| self.image.position(p.x)).collect())
    }

    fn motion(&mut self) -> Result<(Vec<Vec3>, Vec<Vec3>), EngineError> {
        let particles = self.board.motion()?;
        Ok(particles.iter().map(|p| (self.image.position(p.x), self.image.velocity(p.v))).unzip())
    }

    fn extensions(&mut self) -> Result<Vec<f64>, EngineError> {
        Ok(self.edges()?.iter().map(|e| self.image.extension(e.u)).collect())
    }

    fn pull(&mut self, particle: u32, force: Vec3) -> Result<(), EngineError> {
        self.loads.set_added(particle, self.image.added_force(particle, force)?);
        Ok(self.refresh_forces(&[particle])?)
    }

    fn sense(&mut self) -> Result<Sensed, EngineError> {
        Ok(self.words()?.sense(&self.image))
    }

    fn save(&mut self) -> Result<Snapshot, EngineError> {
        Ok(words::save(self.words()?, &self.image))
    }

    fn restore(&mut self, snapshot: &Snapshot) -> Result<(), EngineError> {
        let words = words::restore(snapshot, &self.image)?;
        Ok(self.set(&words)?)
    }

    fn state_digest(&mut self) -> Result<String, EngineError> {
        let u: Vec<i32> = self.edges()?.iter().map(|e| e.u).collect();
        Ok(state_digest(self.image.numbers(), &self.board.motion()?, &u))
    }

    fn overflow(&self) -> Overflow {
        self.overflow
    }

    fn failure(&self) -> Option<Failure> {
        Failure::of(self.overflow)
    }

    fn modules(&self) -> Option<u64> {
        Some(self.board.config().modules)
    }

    fn plan(&self) -> Option<&Schedule> {
        Some(self.board.schedule())
    }

    /// Measured, not predicted.
    fn cycles_per_step(&self) -> Option<u64> {
        self.cycles.checked_div(self.step)
    }

    fn headroom(&self, scene: &Scene) -> Option<Headroom> {
        Some(self.image.scaling.headroom(scene, self.image.numbers()))
    }

    /// The hardware's own result: the edge alone on the board, its elements computed, then all put back.
    fn probe(&mut self, edge: usize) -> Result<Probe, EngineError> {
        let Memories { particles, edges, .. } = self.board.memories()?;
        let whole = Image { particles, edges: in_scene_order(edges, &self.order), ..self.image.clone() };
        let Edge { start, end, .. } = whole.edges[edge];
        let mut alone = Image { events: Vec::new(), ..whole.clone() };
        alone.particles = vec![whole.particles[start as usize], whole.particles[end as usize]];
        alone.edges = vec![Edge { start: 0, end: 1, ..whole.edges[edge] }];
        // A step of one shows the rate as the increment; where the step is the unit it is one anyway.
        alone.constants.step = Constant { mantissa: 1 << 8, shift: 8 };
        self.board.load(&alone)?;
        self.board.run_elements()?;
        let (force, u) = (self.board.forces()?[1], self.board.edges()?[0].u);
        let voigt_rate = i64::from(u) - i64::from(whole.edges[edge].u);
        self.board.load(&in_order(&whole, &self.order))?;
        let out = tem::Output { force: force.map(i64::from), voigt_rate, ..tem::Output::default() };
        Ok(Probe::of_words(&self.image, edge, &out))
    }
}
