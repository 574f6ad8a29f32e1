//! Engines behind one trait: what a command needs to know of whatever computes a scene.

mod board;
mod cpu;
mod model;
mod reference;

pub use board::BoardEngine;
pub use model::ModelEngine;

use crate::{
    board::{Board, BoardError, Completion},
    device::{
        Device, DeviceError, DeviceSpec,
        model::ModelDevice,
        pci::{Pci, sysfs::Sysfs},
        pci_sim::PciSim,
        record::{Recorder, Replay},
        rtl::Rtl,
    },
};
use nendo_hdl::sim::verilated::Options;
use nendo_model::{
    contract::{
        config::Config,
        image::{Image, ImageError},
        numbers::{Inverse, Profile, text},
        overflow::Overflow,
        scaling::Headroom,
    },
    engine::{
        cpu::{Cpu, CpuError},
        reference::{ElementForces, Integrator, Reference},
    },
    force::contact::wall::Hand,
    mesh::Vec3,
    plan::schedule::Schedule,
    scene::Scene,
    twin::engine::Model,
};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Which engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum EngineKind {
    /// f64 reference: the same equations without rounding
    F64,
    /// The fast one: f32 on vectors and threads
    F32,
    /// Bit-accurate model of the hardware
    Model,
    /// The hardware itself, compiled by Verilator: short for board with device rtl
    Rtl,
    /// A board: see --device
    Board,
}

impl EngineKind {
    /// Whether a profile applies.
    pub fn is_fixed_point(self) -> bool {
        !matches!(self, Self::F64 | Self::F32)
    }
}

/// How an engine is made.
#[derive(Clone, Debug)]
pub struct EngineOptions {
    /// Which engine.
    pub kind: EngineKind,
    /// Number contract of the fixed-point engines.
    pub profile: Profile,
    /// Circuit of the inverse length.
    pub inverse: Inverse,
    /// Main modules; where none are asked for, a board has as many as it has, and others one.
    pub modules: Option<usize>,
    /// Threads of the CPU engines.
    pub threads: usize,
    /// Order of edges, where it is not the scene's.
    pub edge_order: Option<Vec<u32>>,
    /// How the f64 engine takes a step.
    pub integrator: Integrator,
    /// Whether the Verilated engine is built for waveforms.
    pub trace: bool,
    /// The device of a board.
    pub device: DeviceSpec,
    /// Where to record all traffic with the board.
    pub record: Option<PathBuf>,
    /// How the board is waited for.
    pub completion: Completion,
}

/// What one element computes, for a look inside.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Probe {
    /// The edge.
    pub edge: usize,
    /// F_k in newtons.
    pub force: [f64; 3],
    /// Voigt rate in m/s.
    pub voigt_rate: f64,
    /// F_k as raw words, where the engine has such.
    pub force_raw: Option<[i64; 3]>,
    /// Voigt rate as a raw word, where the engine forms it.
    pub voigt_rate_raw: Option<i64>,
}

/// Something that computes a scene.
pub trait Engine {
    /// Takes `steps` steps.
    fn advance(&mut self, steps: u64) -> anyhow::Result<()>;
    /// Steps taken so far.
    fn step(&self) -> u64;
    /// Particle positions in metres.
    fn positions(&mut self) -> anyhow::Result<Vec<Vec3>>;
    /// Particle positions in metres and velocities in m/s.
    fn motion(&mut self) -> anyhow::Result<(Vec<Vec3>, Vec<Vec3>)>;
    /// Voigt extensions of the edges in metres.
    fn extensions(&mut self) -> anyhow::Result<Vec<f64>>;
    /// From the next step on, a force in newtons on a particle, besides the scene's own; zero ends it.
    fn pull(&mut self, particle: u32, force: Vec3) -> anyhow::Result<()>;
    /// From the next step on, a ball in somebody's hand that the object touches; none takes it away.
    fn touch(&mut self, _scene: &Scene, hand: Option<&Hand>) -> anyhow::Result<()> {
        anyhow::ensure!(hand.is_none(), "this engine has no contact: choose f32 or f64 to touch the object");
        Ok(())
    }
    /// SHA-256 of the state words.
    fn state_digest(&mut self) -> anyhow::Result<String>;
    /// What has overflowed.
    fn overflow(&self) -> Overflow {
        Overflow::NONE
    }
    /// Why the state is useless, if it is: diverged or overflowed.
    fn trouble(&self) -> Option<String>;
    /// Main modules, for engines that are or model hardware.
    fn modules(&self) -> Option<u64> {
        None
    }
    /// Clock cycles per step, for engines that are or model hardware.
    fn cycles_per_step(&self) -> Option<u64> {
        None
    }
    /// Ratio of what words hold to what the scene is expected to need.
    fn headroom(&self, _scene: &Scene) -> Option<Headroom> {
        None
    }
    /// What one element computes in the present state.
    fn probe(&mut self, edge: usize) -> anyhow::Result<Probe>;
    /// Transfers that had to be repeated, for engines behind a bus.
    fn link_retries(&self) -> Option<u64> {
        None
    }
    /// Ends the use of it.
    fn close(&mut self) -> anyhow::Result<()> {
        Ok(())
    }
}

/// Why an engine cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The scene does not fit the profile.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// The scene is beyond f32.
    #[error(transparent)]
    Cpu(#[from] CpuError),
    /// The board cannot be used.
    #[error(transparent)]
    Board(#[from] BoardError),
    /// The scene is too large for any engine in hardware.
    #[error(
        "the scene needs {particles} particles and {edges} edges in a module; a module has at most {} and {}: use more \
         --modules",
        Config::MAX_PARTICLES,
        Config::MAX_EDGES
    )]
    TooLarge {
        /// Of the largest part.
        particles: u64,
        /// Of the plan.
        edges: u64,
    },
    /// More modules than there is work for.
    #[error("{modules} modules for {particles} particles: at most one each")]
    TooManyModules {
        /// How many were asked for.
        modules: usize,
        /// Of the scene.
        particles: usize,
    },
    /// A board that has another number of modules.
    #[error("{device} has {found} modules, not {asked}: leave --modules out, or load the other bitstream")]
    Modules {
        /// Which device.
        device: String,
        /// What it has.
        found: u64,
        /// What was asked for.
        asked: usize,
    },
}

impl EngineOptions {
    /// How many modules an image is shared by.
    fn modules(&self, image: &Image) -> Result<usize, OpenError> {
        let (modules, particles) = (self.modules.unwrap_or(1), image.particles.len());
        if modules > particles { Err(OpenError::TooManyModules { modules, particles }) } else { Ok(modules) }
    }

    /// The image of a scene, its edges in the order asked for, and hardware that holds it.
    fn hardware(&self, scene: &Scene) -> Result<(Image, Config), OpenError> {
        let image = Image::new(scene, self.profile, self.inverse)?;
        let modules = self.modules(&image)?;
        let config = match &self.edge_order {
            Some(order) => config_for(&board::in_order(&image, order), modules)?,
            None => config_for(&image, modules)?,
        };
        Ok((image, config))
    }
}

/// An engine at the start of a scene.
pub fn open(scene: &Scene, options: &EngineOptions) -> Result<Box<dyn Engine>, OpenError> {
    Ok(match options.kind {
        EngineKind::F64 => Box::new(Reference::new(scene, options.integrator)),
        EngineKind::F32 => Box::new(Cpu::new(scene, options.threads)?),
        EngineKind::Model => {
            let image = Image::new(scene, options.profile, options.inverse)?;
            let modules = options.modules(&image)?;
            let model = match options.edge_order.clone() {
                Some(order) => Model::with_order(image, options.threads, order),
                None => Model::new(image, options.threads),
            };
            Box::new(ModelEngine::new(model, modules))
        }
        EngineKind::Rtl if options.record.is_none() => Box::new(open_rtl(scene, options)?),
        EngineKind::Rtl | EngineKind::Board => Box::new(open_board(scene, options)?),
    })
}

/// A device as it is named. The model and the Verilated hardware are made to measure for a scene; what is
/// there already is taken as it is.
pub fn open_device(
    spec: &DeviceSpec,
    config: &Config,
    threads: usize,
) -> Result<Box<dyn Device>, DeviceError> {
    Ok(match spec {
        DeviceSpec::Model => Box::new(ModelDevice::new(config, threads)),
        DeviceSpec::Rtl => Box::new(Rtl::new(config, Options::default())?),
        DeviceSpec::PciSim => Box::new(PciSim::new(config, Options::default())?),
        DeviceSpec::Pci(address) => Box::new(Pci::sysfs(&Sysfs::default(), *address, 0)?),
        DeviceSpec::Xdma(number) => Box::new(Pci::xdma(Path::new("/dev"), *number)?),
        DeviceSpec::Vfio(address) => Box::new(Pci::vfio(&Sysfs::default(), *address)?),
        DeviceSpec::Replay(file) => Box::new(Replay::new(file)?),
    })
}

/// A board with a scene loaded.
pub fn open_board(scene: &Scene, options: &EngineOptions) -> Result<BoardEngine<Box<dyn Device>>, OpenError> {
    let (image, config) = options.hardware(scene)?;
    let spec = if options.kind == EngineKind::Rtl { &DeviceSpec::Rtl } else { &options.device };
    let mut device = open_device(spec, &config, options.threads).map_err(BoardError::from)?;
    if let Some(file) = &options.record {
        device = Box::new(Recorder::new(device, file).map_err(BoardError::from)?);
    }
    let mut board = Board::open(device)?.require(options.profile, options.inverse)?;
    let found = board.config().modules;
    if let Some(asked) = options.modules.filter(|&asked| asked as u64 != found) {
        return Err(OpenError::Modules { device: board.name(), found, asked });
    }
    board.set_completion(options.completion)?;
    Ok(BoardEngine::new(board, image, options.edge_order.clone())?)
}

/// The Verilated engine with a scene loaded.
pub fn open_rtl(scene: &Scene, options: &EngineOptions) -> Result<BoardEngine<Rtl>, OpenError> {
    let (image, config) = options.hardware(scene)?;
    let verilated = Options { trace: options.trace, ..Options::default() };
    let device = Rtl::new(&config, verilated).map_err(DeviceError::from).map_err(BoardError::from)?;
    let order = options.edge_order.clone();
    let mut board = Board::open(device)?;
    board.set_completion(options.completion)?;
    Ok(BoardEngine::new(board, image, order)?)
}

/// A probe from TEM's raw results.
fn probe_of(image: &Image, edge: usize, out: &nendo_model::twin::tem::Output) -> Probe {
    let (n, scaling) = (image.numbers(), &image.scaling);
    let force_lsb = scaling.force_lsb(n);
    let rate_lsb = if n.unit_step {
        scaling.u_lsb(n) / scaling.time
    } else {
        scaling.length / scaling.time * n.rate.lsb()
    };
    Probe {
        edge,
        force: out.force.map(|c| c as f64 * force_lsb),
        voigt_rate: out.voigt_rate as f64 * rate_lsb,
        force_raw: Some(out.force),
        voigt_rate_raw: Some(out.voigt_rate),
    }
}

/// What an overflow means to people: every source with its remedy.
pub fn overflow_trouble(overflow: Overflow) -> Option<String> {
    overflow.any().then(|| {
        let advice: Vec<String> = overflow
            .sources()
            .map(|source| {
                let (name, remedy) = source.advice();
                format!("overflow in {name}: {remedy}")
            })
            .collect();
        format!("{}\n(`nendo scene check --rehearse` suggests a [scaling] table)", advice.join("\n"))
    })
}

/// What it means to people when particles fly apart.
const DIVERGED: &str = "the simulation diverged: particles fly apart; shorten `step`";

impl Probe {
    /// From an engine that has no raw words.
    fn unrounded(edge: usize, out: &ElementForces) -> Self {
        let ElementForces { force, voigt_rate } = *out;
        Self { edge, force: force.into(), voigt_rate, force_raw: None, voigt_rate_raw: None }
    }

    /// One line for people.
    pub fn line(&self, profile: Option<Profile>) -> String {
        let Self { edge, force: [x, y, z], voigt_rate, .. } = self;
        let mut line = format!("edge {edge}: F = ({x:.4}, {y:.4}, {z:.4}) N, lv' = {voigt_rate:.4} m/s");
        if let (Some(profile), Some(force), Some(rate)) = (profile, self.force_raw, self.voigt_rate_raw) {
            let n = profile.numbers();
            let words = force.map(|c| text(c, n.edge_force.frac)).join(", ");
            line += &format!("; raw {force:?} = ({words}), lv' raw {rate}");
        }
        line
    }
}

/// The circuit of the inverse length where none is asked for: the papers' own for their profiles.
pub fn usual_inverse(profile: Profile) -> Inverse {
    if profile == Profile::Wide { Inverse::Table } else { Inverse::Cordic }
}

/// The smallest hardware of so many modules that holds an image.
pub fn config_for(image: &Image, modules: usize) -> Result<Config, OpenError> {
    let config = Schedule::of(image, modules).config(image.profile, image.inverse);
    let Config { particles, edges, .. } = config;
    if particles > Config::MAX_PARTICLES || edges > Config::MAX_EDGES {
        return Err(OpenError::TooLarge { particles, edges });
    }
    Ok(config)
}
