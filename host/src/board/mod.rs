//! The driver: a scene's image on a device.
//!
//! Everything that goes over the bus is checked by sums the engine keeps ([`CheckedLink`]), every command is counted,
//! every wait is bounded. Either a call does what it says, or it returns an error.

mod completion;
mod error;
mod items;
mod layout;
mod link;

pub use completion::Completion;
pub use error::BoardError;
pub use link::CheckedLink;

use crate::device::{Device, DeviceError, identify};
use layout::Layout;
use nendo_model::{
    contract::{
        config::Config,
        image::{Edge, Image, Particle, Write},
        map::{Map, Reg},
        numbers::{Inverse, Profile},
        overflow::Overflow,
        words::{
            Command, Display, ElementDamper, ElementExtension, ElementRate, External, Force, Item, MassTable,
            Position, Refused, RegisterWord, Status, TableEntry, Velocity,
        },
    },
    plan::{cycles::Depths, loaded::Loaded, schedule::Schedule},
};
use std::{iter::once, sync::Arc};

/// What a board holds: every memory word that has a meaning between steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memories {
    /// Position, velocity, external force and mass class.
    pub particles: Vec<Particle>,
    /// Extension, class and numbers.
    pub edges: Vec<Edge>,
    /// Sums of forces: zero between steps.
    pub forces: Vec<[i32; 3]>,
    /// Position operands for display.
    pub display: Vec<[i32; 3]>,
}

/// An engine on a device.
pub struct Board<D: Device> {
    link: CheckedLink<D>,
    pub(crate) map: Map,
    /// Where the loaded image is.
    layout: Layout,
    /// Commands the engine has taken.
    commands: u32,
    /// Steps it was last told to take.
    asked: u32,
    completion: Completion,
}

/// The configuration of a device, which it must say twice: before the map is known to be ours there are no sums
/// to trust. Also how often it had to be asked again.
fn identity(device: &mut impl Device) -> Result<(Config, u64), DeviceError> {
    let name = device.name();
    let mut look = || identify(&mut |register| device.read(register.address()), &name);
    let mut last = look();
    for retries in 0..link::ATTEMPTS {
        let again = look();
        match (&last, &again) {
            (Ok(one), Ok(other)) if one == other => return Ok((*one, retries.into())),
            (Err(one), Err(other)) if one.to_string() == other.to_string() => break,
            _ => last = again,
        }
    }
    Err(last.err().unwrap_or_else(|| {
        DeviceError::Unusable(format!("{name} says something else each time it is asked what it is"))
    }))
}

impl<D: Device> Board<D> {
    /// Opens a device: it must hold an engine this program knows.
    pub fn open(mut device: D) -> Result<Self, BoardError> {
        let (config, retries) = identity(&mut device)?;
        let mut link = CheckedLink::new(device, retries)?;
        let commands = link.reading("reading registers", |link| link.get(Reg::CommandsSeen))?;
        let (map, completion) = (Map::new(&config), Completion::Poll);
        Ok(Self { link, map, layout: Layout::default(), commands, asked: 0, completion })
    }

    /// Resets the device and opens it again: whatever was on it must be loaded anew.
    pub fn reopen(self) -> Result<Self, BoardError> {
        let completion = self.completion;
        let mut device = self.link.into_device();
        device.reset()?;
        let mut board = Self::open(device)?;
        board.halt_and_clear()?;
        board.set_completion(completion)?;
        Ok(board)
    }

    /// Refuses a device with another number contract.
    pub fn require(self, profile: Profile, inverse: Inverse) -> Result<Self, BoardError> {
        let found = self.map.config;
        if (found.profile, found.inverse) == (profile, inverse) {
            return Ok(self);
        }
        Err(BoardError::Profile {
            device: self.name(),
            found: found.profile,
            found_inverse: found.inverse,
            expected: profile,
            expected_inverse: inverse,
        })
    }

    /// The device, past the link's sums; [`Self::resync`] afterwards.
    pub fn device(&mut self) -> &mut D {
        self.link.device()
    }

    /// Goes on after the device was used directly.
    pub fn resync(&mut self) -> Result<(), BoardError> {
        self.link.resync()
    }

    /// Gives the device back.
    pub fn into_device(self) -> D {
        self.link.into_device()
    }

    /// What the board holds.
    pub fn config(&self) -> &Config {
        &self.map.config
    }

    /// Transfers that had to be repeated.
    pub fn retries(&self) -> u64 {
        self.link.retries()
    }

    /// What to call its device.
    pub fn name(&self) -> String {
        self.link.name()
    }

    pub(crate) fn register(&mut self, register: Reg) -> Result<u32, BoardError> {
        self.link.reading("reading registers", |link| link.get(register))
    }

    pub(crate) fn set_registers(&mut self, values: &[(Reg, u32)]) -> Result<(), BoardError> {
        self.link.writing("writing registers", |link| {
            values.iter().try_for_each(|&(register, value)| link.set(register, value))
        })
    }

    /// Gives a command, and makes sure that it was taken once.
    fn command(&mut self, command: Command) -> Result<(), BoardError> {
        for _ in 0..link::ATTEMPTS {
            let sent = self.link.writing("giving a command", |link| link.set(Reg::Command, command.word()));
            // Unless all is well, the count of commands tells what happened.
            match &sent {
                Ok(()) | Err(BoardError::Damaged { .. }) => {}
                Err(BoardError::Device(error)) if error.is_transient() => {}
                Err(_) => return sent,
            }
            let seen = self.register(Reg::CommandsSeen)?;
            match seen.wrapping_sub(self.commands) {
                0 => {}
                1 => {
                    self.commands = seen;
                    return sent;
                }
                times => {
                    self.commands = seen;
                    return Err(BoardError::Repeated { device: self.name(), times });
                }
            }
        }
        Err(BoardError::Damaged { device: self.name(), doing: "giving a command".to_owned() })
    }

    /// Stops what may be running and empties the force memories.
    pub(crate) fn halt_and_clear(&mut self) -> Result<(), BoardError> {
        if self.is_busy()? {
            self.halt()?;
        }
        self.set_registers(&[(Reg::Halt, 0), (Reg::Refused, u32::MAX)])?;
        self.command(Command { clear: true, ..Command::default() })?;
        self.poll(self.map.config.particles, "clearing the force memories")
    }

    /// Loads an image: constants, particles and edges. Whatever was running is stopped.
    pub fn load(&mut self, image: &Image) -> Result<(), BoardError> {
        self.load_planned(&Loaded::planned(image.clone(), self.map.config.modules as usize))
    }

    /// Loads what has been planned for an engine of as many modules.
    pub fn load_planned(&mut self, loaded: &Loaded) -> Result<(), BoardError> {
        let config = self.map.config;
        let Loaded { image, plan, .. } = loaded;
        let (particles, slots) = (plan.particles, plan.slots());
        if plan.depths() != Depths::of(config.profile, config.inverse, config.modules) {
            return Err(BoardError::OtherPlan { device: self.name(), config });
        }
        if u64::from(particles) > config.particles || u64::from(slots) > config.edges {
            return Err(BoardError::TooLarge { device: self.name(), config, particles, slots });
        }
        let layout = Layout::new(Arc::clone(plan), image.edges.len());
        let mut attempt = 1;
        // Loading again repairs whatever a damaged transfer may have written elsewhere.
        while let Err(error) = self.load_once(image, &layout) {
            let hopeless = !matches!(error, BoardError::Damaged { .. } | BoardError::Repeated { .. });
            if hopeless || attempt == link::ATTEMPTS {
                return Err(error);
            }
            attempt += 1;
        }
        self.layout = layout;
        Ok(())
    }

    fn load_once(&mut self, image: &Image, layout: &Layout) -> Result<(), BoardError> {
        self.halt_and_clear()?;
        let k = &image.constants;
        self.store((0, 0), k.elements.iter().map(|e| ElementExtension { a_or_k: e.extension.into() }))?;
        self.store((0, 0), k.elements.iter().map(|e| ElementRate { b_or_c: e.rate.into() }))?;
        self.store((0, 0), k.elements.iter().map(|e| ElementDamper { c2_or_d: e.damper.into() }))?;
        self.store((0, 0), k.inverse_mass.iter().map(|&m| MassTable { inverse_mass: m.into() }))?;
        for module in 0..self.map.config.modules as u32 {
            let particles = layout.particles_of(image, module);
            self.store((module, 0), particles.iter().map(|p| Position::from(p.x)))?;
            self.store((module, 0), particles.iter().map(|p| Velocity::from(p.v)))?;
            self.store((module, 0), particles.iter().map(|p| External::new(p.force, p.class)))?;
            self.store((module, 0), layout.slots_of(image, module))?;
        }
        self.set_registers(&[
            (Reg::Particles, layout.schedule().particles),
            (Reg::Slots, layout.schedule().slots()),
            (Reg::TailClocks, layout.schedule().left),
            (Reg::PositionShift, k.position_shift),
            (Reg::ExtensionShift, k.extension_shift),
            (Reg::ForceLimit, k.force_limit as u32),
            (Reg::StepConstant, TableEntry::from(k.step).bits()),
            (Reg::Overflow, u32::MAX),
        ])
    }

    /// Whether the engine is computing.
    pub fn is_busy(&mut self) -> Result<bool, BoardError> {
        Ok(Status::from_bits(self.register(Reg::Status)?).busy)
    }

    fn clocks(&self, steps: u32) -> u64 {
        self.layout.schedule().cycles_per_step() * u64::from(steps)
    }

    /// The plan of the loaded image.
    pub fn schedule(&self) -> &Schedule {
        self.layout.schedule()
    }

    /// Computes the elements of the next step and stops before its particles are moved.
    pub fn run_elements(&mut self) -> Result<(), BoardError> {
        self.set_registers(&[(Reg::Halt, 1), (Reg::Steps, 1)])?;
        self.command(Command { start: true, ..Command::default() })?;
        self.wait(self.layout.schedule().slots().into(), "computing elements")?;
        self.started(0)?;
        self.set_registers(&[(Reg::Halt, 0)])
    }

    /// Takes `steps` steps, or what is left of them; returns the clocks they took.
    pub fn run(&mut self, steps: u32) -> Result<u64, BoardError> {
        if steps == 0 {
            return Ok(0);
        }
        self.start(steps)?;
        self.finish()
    }

    /// Starts `steps` steps, or steps without end if it is 0, and returns at once.
    pub fn start(&mut self, steps: u32) -> Result<(), BoardError> {
        self.set_registers(&[(Reg::Steps, steps)])?;
        self.asked = steps;
        self.command(Command { start: true, ..Command::default() })
    }

    /// Waits for the steps that were started; returns the clocks they took.
    pub fn finish(&mut self) -> Result<u64, BoardError> {
        self.wait(self.clocks(self.asked), "computing")?;
        let (done, cycles) = self.counters()?;
        self.started(done)?;
        if self.asked != 0 && done != self.asked {
            return Err(BoardError::Steps { device: self.name(), done, asked: self.asked });
        }
        Ok(cycles)
    }

    /// Ends a run after the step it is in; returns the steps it took.
    pub fn stop(&mut self) -> Result<u32, BoardError> {
        self.halt()?;
        let done = self.counters()?.0;
        self.started(done)?;
        Ok(done)
    }

    /// An error if the start was refused of a run that took so many steps.
    fn started(&mut self, done: u32) -> Result<(), BoardError> {
        if done > 0 || !Refused::from_bits(self.register(Reg::Refused)?).start {
            return Ok(());
        }
        self.set_registers(&[(Reg::Refused, Refused { start: true, ..Refused::default() }.bits())])?;
        Err(BoardError::NothingLoaded { device: self.name() })
    }

    /// Ends whatever is running after the step it is in.
    fn halt(&mut self) -> Result<(), BoardError> {
        self.command(Command { stop: true, ..Command::default() })?;
        // Polled: it may have ended before. What is running may have been loaded by somebody else.
        let Config { particles, edges, .. } = self.map.config;
        self.poll(self.clocks(1).max(particles + edges), "stopping")
    }

    /// Steps and clocks since the last start.
    fn counters(&mut self) -> Result<(u32, u64), BoardError> {
        self.link.reading("reading counters", |link| {
            let done = link.get(Reg::StepsDone)?;
            let (low, high) = (link.get(Reg::CyclesLow)?, link.get(Reg::CyclesHigh)?);
            Ok((done, u64::from(high) << 32 | u64::from(low)))
        })
    }

    /// The sticky overflow flags.
    pub fn overflow(&mut self) -> Result<Overflow, BoardError> {
        Ok(Overflow::from_bits(self.register(Reg::Overflow)? as u8))
    }

    /// Writes a word as the schedule demands.
    ///
    /// Force and class share a word: the present ones of the particle are written with what changes.
    pub fn write_particle(
        &mut self,
        particle: u32,
        (force, class): ([i32; 3], u8),
        write: Write,
    ) -> Result<(), BoardError> {
        if let Some(v) = write.velocity() {
            self.store(self.layout.place(particle), once(Velocity::from(v)))?;
        }
        match write {
            Write::Force(force) => self.set_force(particle, force, class),
            Write::Release { class, .. } => self.set_force(particle, force, class),
            Write::Velocity(_) => Ok(()),
        }
    }

    /// Sets the external force on a particle of a mass class; also while the engine is running.
    pub fn set_force(&mut self, particle: u32, force: [i32; 3], class: u8) -> Result<(), BoardError> {
        self.store(self.layout.place(particle), once(External::new(force, class)))
    }

    /// Position operands of a few particles, each of one step; also while the engine is running.
    pub fn points(&mut self, particles: &[u32]) -> Result<Vec<[i32; 3]>, BoardError> {
        let window = self.map.window(Display::WINDOW);
        self.link.reading("reading points", |link| {
            let point = |&particle: &u32| {
                let mut words = [0; 2];
                let (module, item) = self.layout.place(particle);
                link.read_block(self.map.address(window, module, item, 0), &mut words)?;
                Ok(self.map.unpack::<Display>(&words).into())
            };
            particles.iter().map(point).collect()
        })
    }

    /// Position operands of all particles for display; also while the engine is running.
    pub fn display(&mut self) -> Result<Vec<[i32; 3]>, BoardError> {
        Ok(self.all::<Display>()?.into_iter().map(Into::into).collect())
    }

    /// Position and velocity of every particle.
    pub fn motion(&mut self) -> Result<Vec<Particle>, BoardError> {
        let (x, v) = (self.all::<Position>()?, self.all::<Velocity>()?);
        let particle =
            |(x, v): (Position, Velocity)| Particle { x: x.into(), v: v.into(), ..Particle::default() };
        Ok(x.into_iter().zip(v).map(particle).collect())
    }

    /// The edges.
    pub fn edges(&mut self) -> Result<Vec<Edge>, BoardError> {
        let (modules, slots) = (self.layout.schedule().modules.len() as u32, self.layout.schedule().slots());
        let mut found = Vec::new();
        for module in 0..modules {
            found.push(self.fetch(module, slots)?);
        }
        Ok(self.layout.edges(&found))
    }

    /// Sum of the forces of the elements on each particle.
    pub fn forces(&mut self) -> Result<Vec<[i32; 3]>, BoardError> {
        Ok(self.all::<Force>()?.into_iter().map(Into::into).collect())
    }

    /// Every memory word in use.
    pub fn memories(&mut self) -> Result<Memories, BoardError> {
        let mut particles = self.motion()?;
        for (particle, external) in particles.iter_mut().zip(self.all::<External>()?) {
            (particle.force, particle.class) = (external.force(), external.mass_class);
        }
        Ok(Memories { particles, edges: self.edges()?, forces: self.forces()?, display: self.display()? })
    }
}
