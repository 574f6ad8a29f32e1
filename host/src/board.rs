//! The driver: a scene's image on a device.

use crate::device::{Device, DeviceError};
use nendo_hdl::{
    config::Config,
    map::{self, Map},
};
use nendo_model::{
    cycles::Depths,
    image::{Edge, ForceSums, Image, Particle, Write},
    numbers::Constant,
    overflow::Overflow,
};

/// Why a device cannot be used as a board.
#[derive(Debug, thiserror::Error)]
pub enum BoardError {
    /// The device itself.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// Something else answers at this address.
    #[error("{device} is no nendo engine: it reads {found:#010x} instead of {expected:#010x}", expected = map::MAGIC)]
    Magic {
        /// Which device.
        device: String,
        /// What it reads.
        found: u32,
    },
    /// Another version of the map.
    #[error(
        "{device} speaks version {found} of the register map, this program version {known}: the {older} is older"
    )]
    Version {
        /// Which device.
        device: String,
        /// Its version.
        found: u32,
        /// Ours.
        known: u32,
        /// Which side to update.
        older: &'static str,
    },
    /// Another configuration.
    #[error(
        "{device} holds configuration {found}, not {expected}: load the bitstream for this profile and size"
    )]
    Configuration {
        /// Which device.
        device: String,
        /// Its hash.
        found: String,
        /// The hash wanted.
        expected: String,
    },
    /// A scene that does not fit.
    #[error(
        "the scene has {particles} particles and {edges} edges; {device} holds {max_particles} and {max_edges}"
    )]
    TooLarge {
        /// Which device.
        device: String,
        /// Of the scene.
        particles: usize,
        /// Of the scene.
        edges: usize,
        /// Of the device.
        max_particles: u64,
        /// Of the device.
        max_edges: u64,
    },
    /// What was stored is not what was sent.
    #[error("the upload to {device} was damaged: checksum {found:#x} instead of {expected:#x}")]
    Checksum {
        /// Which device.
        device: String,
        /// What the engine summed up.
        found: u64,
        /// What was sent.
        expected: u64,
    },
}

/// What a board holds: every memory word that has a meaning between steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memories {
    /// Position, velocity, external force and mass class.
    pub particles: Vec<Particle>,
    /// Extension, class and numbers.
    pub edges: Vec<Edge>,
    /// Sums of forces: zero between steps.
    pub forces: Vec<ForceSums>,
    /// Position operands for display.
    pub display: Vec<[i32; 3]>,
}

/// An engine on a device.
pub struct Board<D: Device> {
    device: D,
    map: Map,
    particles: u32,
    edges: u32,
}

const START: u32 = 1;
const CLEAR: u32 = 4;
const BUSY: u32 = 1;

fn three(values: &[i64]) -> [i32; 3] {
    [values[0] as i32, values[1] as i32, values[2] as i32]
}

fn entry(constant: Constant) -> i64 {
    i64::from(constant.shift) << 16 | i64::from(constant.mantissa as u16)
}

impl<D: Device> Board<D> {
    /// Opens a device that must hold this configuration.
    pub fn open(mut device: D, config: &Config) -> Result<Self, BoardError> {
        let map = Map::new(config);
        let name = device.name();
        let mut read = |register: &str| device.read(map.register(register).address);
        let found = read("magic")?;
        if found != map::MAGIC {
            return Err(BoardError::Magic { device: name, found });
        }
        let found = read("map_version")?;
        if found != map::VERSION {
            let older = if found < map::VERSION { "board" } else { "program" };
            return Err(BoardError::Version { device: name, found, known: map::VERSION, older });
        }
        let found = format!("{:08x}{:08x}", read("hash_high")?, read("hash_low")?);
        if found != config.hash_text() {
            return Err(BoardError::Configuration { device: name, found, expected: config.hash_text() });
        }
        Ok(Self { device, map, particles: 0, edges: 0 })
    }

    /// The device.
    pub fn device(&mut self) -> &mut D {
        &mut self.device
    }

    /// Gives the device back.
    pub fn into_device(self) -> D {
        self.device
    }

    fn read(&mut self, register: &str) -> Result<u32, DeviceError> {
        self.device.read(self.map.register(register).address)
    }

    fn write(&mut self, register: &str, value: u32) -> Result<(), DeviceError> {
        self.device.write(self.map.register(register).address, value)
    }

    /// Writes items of a window; returns what the engine must have summed up.
    fn store(
        &mut self,
        window: &str,
        item: u32,
        values: &[i64],
        sum: &mut Checksum,
    ) -> Result<(), DeviceError> {
        let window = self.map.window(window);
        for (word, value) in window.pack(values).into_iter().enumerate() {
            let address = window.address(item, word as u32);
            sum.add(address, value);
            self.device.write(address, value)?;
        }
        Ok(())
    }

    fn fetch(&mut self, window: &str, item: u32) -> Result<Vec<i64>, DeviceError> {
        let window = self.map.window(window);
        let words: Result<Vec<u32>, _> =
            (0..window.words()).map(|word| self.device.read(window.address(item, word))).collect();
        Ok(window.unpack(&words?))
    }

    /// Loads an image: constants, particles and edges.
    pub fn load(&mut self, image: &Image) -> Result<(), BoardError> {
        let Config { particles: max_particles, edges: max_edges, .. } = self.map.config;
        let (particles, edges) = (image.particles.len(), image.edges.len());
        if particles as u64 > max_particles || edges as u64 > max_edges {
            let device = self.device.name();
            return Err(BoardError::TooLarge { device, particles, edges, max_particles, max_edges });
        }
        self.write("command", CLEAR)?;
        self.wait(max_particles, "clearing the force memories")?;
        self.write("checksum_low", 0)?;
        self.write("checksum_high", 0)?;
        let mut sum = Checksum::default();
        let k = &image.constants;
        for (class, e) in k.elements.iter().enumerate() {
            for (window, constant) in
                [("element_extension", e.extension), ("element_rate", e.rate), ("element_damper", e.damper)]
            {
                self.store(window, class as u32, &[entry(constant)], &mut sum)?;
            }
        }
        for (class, mass) in k.inverse_mass.iter().enumerate() {
            self.store("mass_table", class as u32, &[entry(*mass)], &mut sum)?;
        }
        for (item, p) in image.particles.iter().enumerate() {
            let item = item as u32;
            self.store("position", item, &p.x.map(i64::from), &mut sum)?;
            self.store("velocity", item, &p.v.map(i64::from), &mut sum)?;
            let [x, y, z] = p.force.map(i64::from);
            self.store("external", item, &[x, y, z, p.class.into()], &mut sum)?;
        }
        for (item, e) in image.edges.iter().enumerate() {
            let values = [e.u.into(), e.class.into(), e.start.into(), e.end.into()];
            self.store("edge", item as u32, &values, &mut sum)?;
        }
        let found = Checksum { low: self.read("checksum_low")?, high: self.read("checksum_high")? };
        if found != sum {
            let (found, expected) = (found.value(), sum.value());
            return Err(BoardError::Checksum { device: self.device.name(), found, expected });
        }
        self.write("particles", particles as u32)?;
        self.write("edges", edges as u32)?;
        self.write("position_shift", k.position_shift)?;
        self.write("extension_shift", k.extension_shift)?;
        self.write("force_limit", k.force_limit as u32)?;
        self.write("step_constant", entry(k.step) as u32)?;
        self.write("overflow", u32::MAX >> 24)?;
        (self.particles, self.edges) = (particles as u32, edges as u32);
        Ok(())
    }

    /// Waits until the engine is idle, which should take about so many clocks.
    fn wait(&mut self, clocks: u64, doing: &str) -> Result<(), DeviceError> {
        self.device.pause(clocks);
        for _ in 0..1000 {
            if self.read("status")? & BUSY == 0 {
                return Ok(());
            }
            self.device.pause(clocks / 100 + 16);
        }
        Err(DeviceError::Timeout { device: self.device.name(), doing: doing.to_owned() })
    }

    /// Computes the elements of the next step and stops before its particles are moved.
    pub fn run_elements(&mut self) -> Result<(), DeviceError> {
        self.write("halt", 1)?;
        self.write("steps", 1)?;
        self.write("command", START)?;
        self.wait(self.edges.into(), "computing elements")?;
        self.write("halt", 0)
    }

    /// Takes `steps` steps, or what is left of them; returns the clocks they took.
    pub fn run(&mut self, steps: u32) -> Result<u64, DeviceError> {
        if steps == 0 {
            return Ok(0);
        }
        self.write("steps", steps)?;
        self.write("command", START)?;
        let config = &self.map.config;
        let depths = Depths::of(config.profile, config.inverse);
        let clocks = depths.cycles_per_step(self.particles.into(), self.edges.into()) * u64::from(steps);
        self.wait(clocks, "running")?;
        Ok(u64::from(self.read("cycles_high")?) << 32 | u64::from(self.read("cycles_low")?))
    }

    /// Steps since the last start.
    pub fn steps_done(&mut self) -> Result<u32, DeviceError> {
        self.read("steps_done")
    }

    /// The sticky overflow flags.
    pub fn overflow(&mut self) -> Result<Overflow, DeviceError> {
        Ok(Overflow::from_bits(self.read("overflow")? as u8))
    }

    /// Writes a word as the schedule demands.
    pub fn write_particle(&mut self, particle: u32, class: u8, write: Write) -> Result<(), DeviceError> {
        let mut sum = Checksum::default();
        match write {
            Write::Force(force) => {
                let [x, y, z] = force.map(i64::from);
                self.store("external", particle, &[x, y, z, class.into()], &mut sum)
            }
            Write::Velocity(v) => self.store("velocity", particle, &v.map(i64::from), &mut sum),
        }
    }

    /// Position and velocity of every particle.
    pub fn motion(&mut self) -> Result<Vec<Particle>, DeviceError> {
        (0..self.particles)
            .map(|item| {
                let (x, v) = (self.fetch("position", item)?, self.fetch("velocity", item)?);
                Ok(Particle { x: three(&x), v: three(&v), ..Particle::default() })
            })
            .collect()
    }

    /// The edges.
    pub fn edges(&mut self) -> Result<Vec<Edge>, DeviceError> {
        (0..self.edges)
            .map(|item| {
                let e = self.fetch("edge", item)?;
                Ok(Edge { u: e[0] as i32, class: e[1] as u8, start: e[2] as u32, end: e[3] as u32 })
            })
            .collect()
    }

    /// Sums of forces of the edges that start and that end at each particle.
    pub fn forces(&mut self) -> Result<Vec<ForceSums>, DeviceError> {
        (0..self.particles)
            .map(|item| {
                let (start, end) = (self.fetch("force_start", item)?, self.fetch("force_end", item)?);
                Ok(ForceSums { start: three(&start), end: three(&end) })
            })
            .collect()
    }

    /// Every memory word in use.
    pub fn memories(&mut self) -> Result<Memories, DeviceError> {
        let mut particles = self.motion()?;
        for (item, particle) in particles.iter_mut().enumerate() {
            let external = self.fetch("external", item as u32)?;
            particle.force = three(&external);
            particle.class = external[3] as u8;
        }
        let edges = self.edges()?;
        let forces = self.forces()?;
        let display: Result<Vec<_>, DeviceError> =
            (0..self.particles).map(|item| Ok(three(&self.fetch("display", item)?))).collect();
        Ok(Memories { particles, edges, forces, display: display? })
    }
}

/// The engine's checksum of everything written to windows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Checksum {
    low: u32,
    high: u32,
}

impl Checksum {
    fn add(&mut self, address: u32, value: u32) {
        self.low = self.low.wrapping_add(value).wrapping_add(address);
        self.high = self.high.wrapping_add(self.low);
    }

    fn value(self) -> u64 {
        u64::from(self.high) << 32 | u64::from(self.low)
    }
}
