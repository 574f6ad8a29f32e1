//! An engine by its kind: those of `nendo-model`, the Verilated hardware, and boards.

use super::{BoardEngine, Engine, Failure, board::in_order};
use crate::{
    board::{Board, BoardError, Completion},
    device::{Device, DeviceError, DeviceSpec, Making, record::Recorder, rtl::Rtl},
};
use nendo_hdl::sim::verilated;
use nendo_model::{
    contract::{
        config::Config,
        image::Image,
        numbers::{Inverse, Profile},
    },
    engine::{self, Kind, Options, memory, reference::Integrator},
    plan::loaded::{LoadError, Loaded},
    scene::Scene,
    text::count,
};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Which engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum EngineKind {
    /// f64 reference: the same equations without rounding
    F64,
    /// The fast one: f32 on vectors and threads
    F32,
    /// Elements in f64, particles in the hardware's words: what these alone cost
    Hybrid,
    /// Bit-accurate model of the hardware
    Model,
    /// The hardware itself, compiled by Verilator: short for board with device rtl
    Rtl,
    /// A board: see --device
    Board,
}

impl EngineKind {
    /// The name users type.
    pub fn name(self) -> &'static str {
        match self {
            Self::F64 => "f64",
            Self::F32 => "f32",
            Self::Hybrid => "hybrid",
            Self::Model => "model",
            Self::Rtl => "rtl",
            Self::Board => "board",
        }
    }

    /// Whether a profile applies.
    pub fn is_fixed_point(self) -> bool {
        !matches!(self, Self::F64 | Self::F32)
    }

    /// Whether it computes inverse lengths by one of the circuits.
    pub fn has_circuits(self) -> bool {
        self.is_fixed_point() && self != Self::Hybrid
    }

    /// The engine of `nendo-model` it is, if it is one.
    fn in_process(self) -> Option<Kind> {
        match self {
            Self::F64 => Some(Kind::F64),
            Self::F32 => Some(Kind::F32),
            Self::Hybrid => Some(Kind::Hybrid),
            Self::Model => Some(Kind::Model),
            Self::Rtl | Self::Board => None,
        }
    }
}

/// How an engine is made.
#[derive(Clone, Debug)]
pub struct EngineOptions {
    /// The kind of engine.
    pub kind: EngineKind,
    /// Number contract of the fixed-point engines.
    pub profile: Profile,
    /// Circuit of the inverse length.
    pub inverse: Inverse,
    /// Main modules; where none are asked for, a board has as many as it has, and others one.
    pub modules: Option<usize>,
    /// Threads of the CPU engines.
    pub threads: usize,
    /// Whether fewer of them are used while others use the machine, too.
    pub considerate: bool,
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

impl Default for EngineOptions {
    /// The model of one module of the default profile, on one thread; the Verilated hardware where a board is asked for.
    fn default() -> Self {
        let profile = Profile::default();
        Self {
            kind: EngineKind::Model,
            profile,
            inverse: profile.usual_inverse(),
            modules: None,
            threads: 1,
            considerate: false,
            edge_order: None,
            integrator: Integrator::Euler,
            trace: false,
            device: DeviceSpec::rtl(),
            record: None,
            completion: Completion::Poll,
        }
    }
}

/// Why an engine cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The scene does not fit the engine.
    #[error(transparent)]
    Scene(#[from] engine::OpenError),
    /// The board cannot be used.
    #[error(transparent)]
    Board(#[from] BoardError),
    /// A board that has another number of modules.
    #[error("{device} has {}, not {asked}: leave --modules out, or load the other bitstream", count(*found, "module"))]
    Modules {
        /// The name of the device.
        device: String,
        /// What it has.
        found: u64,
        /// Modules asked for.
        asked: usize,
    },
}

impl From<LoadError> for OpenError {
    fn from(error: LoadError) -> Self {
        Self::Scene(error.into())
    }
}

impl From<DeviceError> for OpenError {
    fn from(error: DeviceError) -> Self {
        Self::Board(error.into())
    }
}

impl EngineOptions {
    /// The words of a scene, its edges in the order asked for.
    fn image(&self, scene: &Scene) -> Result<Image, OpenError> {
        memory::check(scene, Kind::Model).map_err(engine::OpenError::from)?;
        let image = Image::new(scene, self.profile, self.inverse).map_err(engine::OpenError::from)?;
        Ok(match &self.edge_order {
            Some(order) => in_order(&image, order),
            None => image,
        })
    }

    /// A scene on hardware that is made to measure.
    fn load(&self, scene: &Scene) -> Result<Loaded, OpenError> {
        Ok(Loaded::new(self.image(scene)?, self.modules.unwrap_or(1))?)
    }
}

/// An engine at the start of a scene.
pub fn open(scene: &Scene, options: &EngineOptions) -> Result<Box<dyn Engine>, OpenError> {
    let Some(kind) = options.kind.in_process() else {
        return Ok(match options.kind {
            EngineKind::Rtl if options.record.is_none() => Box::new(open_rtl(scene, options)?),
            _ => Box::new(open_board(scene, options)?),
        });
    };
    let &EngineOptions { profile, inverse, threads, considerate, integrator, .. } = options;
    let (modules, edge_order) = (options.modules.unwrap_or(1), options.edge_order.clone());
    let own = Options { kind, profile, inverse, modules, threads, considerate, edge_order, integrator };
    Ok(engine::open(scene, &own)?)
}

/// A board with a scene loaded. What is made to measure is made for the scene's plan; what is there already is planned
/// for.
pub fn open_board(scene: &Scene, options: &EngineOptions) -> Result<BoardEngine<Box<dyn Device>>, OpenError> {
    let rtl = DeviceSpec::rtl();
    let spec = if options.kind == EngineKind::Rtl { &rtl } else { &options.device };
    let profile = options.profile.in_hardware().map_err(LoadError::from)?;
    let made = spec.is_made_to_measure().then(|| options.load(scene)).transpose()?;
    let smallest = Config::minimal(profile, options.inverse);
    let config = made.as_ref().map_or(&smallest, |loaded| &loaded.config);
    let mut device = spec.open(&Making { config, threads: options.threads })?;
    if let Some(file) = &options.record {
        device = Box::new(Recorder::new(device, file, &scene.name)?);
    }
    let mut board = Board::open(device)?.require(profile, options.inverse)?;
    let found = board.config().modules;
    if let Some(asked) = options.modules.filter(|&asked| asked as u64 != found) {
        return Err(OpenError::Modules { device: board.name(), found, asked });
    }
    board.set_completion(options.completion)?;
    let loaded = match made {
        Some(loaded) => loaded,
        None => Loaded::planned(options.image(scene)?, found as usize),
    };
    Ok(BoardEngine::with(board, loaded, options.edge_order.clone())?)
}

/// The Verilated engine with a scene loaded.
pub fn open_rtl(scene: &Scene, options: &EngineOptions) -> Result<BoardEngine<Rtl>, OpenError> {
    let loaded = options.load(scene)?;
    let verilated = verilated::SimOptions { trace: options.trace, ..verilated::SimOptions::default() };
    let device = Rtl::new(&loaded.config, verilated).map_err(DeviceError::from)?;
    let mut board = Board::open(device)?;
    board.set_completion(options.completion)?;
    Ok(BoardEngine::with(board, loaded, options.edge_order.clone())?)
}

/// What a failure means to people, and where to look for the remedy.
pub fn explain(failure: Failure) -> String {
    match failure {
        Failure::Diverged => failure.to_string(),
        Failure::Overflow(_) => {
            format!("{failure}\n(`nendo scene check --rehearse` suggests a [scaling] table)")
        }
    }
}
