//! The engine's own thread: it obeys commands, keeps pace, and leaves its latest state to be seen.
//!
//! Nobody who watches can hold it up: frames go into a slot that keeps only the latest, at most 60 a second,
//! and none at all while nobody watches. Nor can who commands: many steps are taken a few at a time, and between them
//! others are heard. There is one hand to pull with and one ball to touch with; each is the page's that took it first,
//! until it lets go or leaves.

mod commands;
mod pace;

use super::{
    protocol::{Color, FrameHeader, Message, SceneHeader, SolidHeader},
    stage::{self, Stage, View},
};
use crate::{
    around,
    engine::{
        EngineKind, EngineOptions, OpenError,
        choice::{EngineChoice, NoEngine, Taken, first_able},
    },
};
use anyhow::Context;
use axum::body::Bytes;
use commands::Event;
pub use commands::Refused;
use nendo_model::{contract::numbers::Profile, scene::Scene};
use pace::Pace;
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{self, Receiver, RecvTimeoutError, SyncSender},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};
use tokio::sync::watch;

/// Time between two frames: at most 60 a second.
const FRAME: Duration = Duration::from_micros(16_667);
/// Commands that wait to be obeyed.
const QUEUE: usize = 64;
/// What there is to see, as messages.
#[derive(Clone, Default)]
pub struct Frame {
    /// Changes with every scene or engine.
    pub opened: u64,
    /// The scene.
    pub scene: Bytes,
    /// Its state.
    pub state: Bytes,
}

/// What a session starts with.
pub struct Start {
    /// Scenes there are to choose: built-in names or files.
    pub scenes: Vec<String>,
    /// The first of them to show.
    pub scene: Scene,
    /// Its engine.
    pub options: EngineOptions,
    /// Which engine was asked for.
    pub choice: EngineChoice,
    /// Those to choose from, for every scene anew, where none is.
    pub candidates: Vec<EngineKind>,
    /// Why it is the one it is.
    pub why: String,
}

/// A running session.
pub struct Session {
    events: SyncSender<Event>,
    frames: watch::Receiver<Frame>,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Session {
    /// Starts one; returns when its engine is open.
    pub fn start(start: Start) -> Result<Self, OpenError> {
        let (events, queue) = mpsc::sync_channel(QUEUE);
        let (slot, frames) = watch::channel(Frame::default());
        let stop = Arc::new(AtomicBool::new(false));
        let (ready, opened) = mpsc::channel();
        let flag = stop.clone();
        let thread = std::thread::spawn(move || {
            let mut player = Player::new(start, queue, slot, flag);
            player.announce();
            let first = player.open_stage();
            player.publish();
            let fine = first.is_ok();
            let _ = ready.send(first);
            if fine {
                player.play();
            }
        });
        match opened.recv() {
            Ok(Ok(())) => Ok(Self { events, frames, stop, thread }),
            Ok(Err(error)) => Err(error),
            Err(_) => std::panic::resume_unwind(Box::new("the engine's thread ended")),
        }
    }

    /// The slot of the latest frame.
    pub fn frames(&self) -> watch::Receiver<Frame> {
        self.frames.clone()
    }

    /// Ends the session. An engine still being opened is left to itself.
    pub fn end(&self) {
        self.stop.store(true, Ordering::Relaxed);
        let patience = Instant::now();
        while !self.thread.is_finished() && patience.elapsed() < Duration::from_secs(2) {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// What the thread holds.
struct Player {
    scenes: Vec<String>,
    names: Vec<String>,
    engines: Vec<EngineChoice>,
    queue: Receiver<Event>,
    slot: watch::Sender<Frame>,
    stop: Arc<AtomicBool>,
    options: EngineOptions,
    choice: EngineChoice,
    candidates: Vec<EngineKind>,
    why: String,
    chosen: usize,
    scene: Scene,
    stage: Option<Stage>,
    color: Color,
    running: bool,
    /// Steps still to be taken while it does not run by itself.
    left: u64,
    /// The pages that pull and touch.
    puller: Option<u64>,
    toucher: Option<u64>,
    pace: Pace,
    next_frame: Instant,
    /// Steps per second, and since when and what step they are counted.
    rate: f64,
    counted: (Instant, u64),
    busy: Option<String>,
    error: Option<String>,
    latest: Frame,
}

impl Player {
    fn new(start: Start, queue: Receiver<Event>, slot: watch::Sender<Frame>, stop: Arc<AtomicBool>) -> Self {
        let Start { scenes, scene, options, choice, candidates, why } = start;
        // A board only if it was given: a page cannot name one.
        let board = EngineChoice::One(EngineKind::Board);
        let offered = |engine: &EngineChoice| match engine {
            EngineChoice::Auto => !candidates.is_empty(),
            EngineChoice::One(_) => *engine != board || options.kind == EngineKind::Board,
        };
        let engines = EngineChoice::ALL.into_iter().filter(offered).collect();
        let file_name = |s: &String| s.rsplit('/').next().unwrap_or(s).to_owned();
        Self {
            names: scenes.iter().map(file_name).collect(),
            scenes,
            engines,
            queue,
            slot,
            stop,
            options,
            choice,
            candidates,
            why,
            chosen: 0,
            scene,
            stage: None,
            color: Color::default(),
            running: true,
            left: 0,
            puller: None,
            toucher: None,
            pace: Pace::new(),
            next_frame: Instant::now(),
            rate: 0.0,
            counted: (Instant::now(), 0),
            busy: None,
            error: None,
            latest: Frame::default(),
        }
    }

    /// Until told to stop.
    fn play(mut self) {
        // The show begins when somebody watches.
        while self.slot.receiver_count() < 2 && !self.stop.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(10));
        }
        self.set_running(true);
        while !self.stop.load(Ordering::Relaxed) {
            let due = self.due();
            if due > 0 {
                self.advance(due);
            }
            if (self.running || due > 0)
                && self.slot.receiver_count() > 1
                && Instant::now() >= self.next_frame
            {
                self.publish();
            }
            let wait = match (due > 0, self.running) {
                (true, _) => Duration::ZERO,
                (false, true) => Duration::from_millis(2),
                (false, false) => Duration::from_millis(100),
            };
            let mut next = self.queue.recv_timeout(wait);
            let mut obeyed = false;
            while let Ok(event) = next {
                self.hear(event);
                obeyed = true;
                next = self.queue.try_recv().map_err(|_| RecvTimeoutError::Timeout);
            }
            // What was told and the last of several steps are seen at once.
            if !self.running && self.left == 0 && (obeyed || due > 0) {
                self.publish();
            }
        }
        if let Some(stage) = &mut self.stage {
            let _ = stage.close();
        }
    }

    /// Steps to take before commands are looked at again.
    fn due(&mut self) -> u64 {
        if self.stage.is_none() {
            return 0;
        }
        if self.running {
            return self.pace.due(self.scene.step);
        }
        let due = self.left.min(self.pace.batch() as u64);
        self.left -= due;
        due
    }

    fn set_running(&mut self, running: bool) {
        self.left = 0;
        self.running = running && self.stage.is_some();
        self.pace.restart();
        self.counted = (Instant::now(), self.step());
        self.rate = 0.0;
    }

    fn step(&self) -> u64 {
        self.stage.as_ref().map_or(0, Stage::step)
    }

    fn advance(&mut self, steps: u64) {
        let Some(stage) = &mut self.stage else { return };
        let started = Instant::now();
        match stage.advance(steps) {
            Ok(None) => self.pace.took(steps, started.elapsed()),
            Ok(Some(error)) => self.halt(error),
            Err(error) => {
                self.halt(format!("{error:#}"));
                self.stage = None;
            }
        }
        let (since, step) = self.counted;
        let time = since.elapsed().as_secs_f64();
        if time >= 0.25 {
            self.rate = (self.step() - step) as f64 / time;
            self.counted = (Instant::now(), self.step());
        }
    }

    fn halt(&mut self, error: String) {
        (self.running, self.left) = (false, 0);
        self.error = Some(error);
        self.publish();
    }

    /// The engine for the present scene.
    fn choose(&mut self) -> Result<(), NoEngine> {
        let taken = match self.choice {
            EngineChoice::One(kind) => Taken { kind, why: "asked for".to_owned() },
            EngineChoice::Auto => first_able(&self.candidates, &[&self.scene], &self.options)?,
        };
        (self.options.kind, self.why) = (taken.kind, taken.why);
        Ok(())
    }

    /// From the start, on an engine of its own.
    fn reopen(&mut self) {
        // A new engine is pulled and touched by nobody.
        (self.puller, self.toucher) = (None, None);
        if let Some(mut old) = self.stage.take() {
            let _ = old.close();
        }
        self.busy = Some(match self.options.kind {
            EngineKind::Rtl => "opening the Verilated engine; its first build takes a minute".to_owned(),
            _ => "opening".to_owned(),
        });
        self.announce();
        self.publish();
        self.busy = None;
        if let Err(error) = self.open_stage() {
            self.error = Some(format!("{error:#}"));
        }
        self.set_running(self.running);
        self.publish();
    }

    fn open_stage(&mut self) -> Result<(), OpenError> {
        self.stage = Some(Stage::open(&self.scene, &self.options, self.color == Color::Error)?);
        Ok(())
    }

    /// Another scene or engine, as pages have to know it.
    fn announce(&mut self) {
        self.error = None;
        let scene = &self.scene;
        let (solids, held) = (around::boundaries(scene), stage::held(scene));
        let message = Message::new(
            &SceneHeader {
                kind: "scene",
                name: &scene.name,
                scenes: &self.names,
                scene: self.chosen,
                engine: self.options.kind,
                choice: self.choice,
                engine_why: &self.why,
                engines: &self.engines,
                fixed_point: self.options.kind.is_fixed_point(),
                profile: self.options.profile,
                profiles: Profile::ALL,
                particles: scene.mesh.particles.len(),
                edges: scene.mesh.edges.len(),
                triangles: scene.mesh.triangles.len(),
                step: scene.step,
                pull_limit: stage::pull_limit(scene),
                held: held.iter().map(|(particle, _)| *particle).collect(),
                held_until: held.iter().map(|(_, until)| *until).collect(),
                labels: stage::labels(scene),
                solids: solids.iter().map(SolidHeader::of).collect(),
            },
            0,
        );
        match message {
            Ok(message) => {
                let mesh = &scene.mesh;
                let message = message.points(&mesh.particles).indices(&mesh.edges).indices(&mesh.triangles);
                self.latest.scene = message.solids(&solids).bytes();
                self.latest.opened += 1;
            }
            Err(error) => self.error = Some(error.to_string()),
        }
    }

    /// Leaves the present state in the slot. The next time waits long enough that looking takes at most a
    /// fifth of the engine's time.
    fn publish(&mut self) {
        let started = Instant::now();
        match self.frame() {
            Ok(state) => {
                self.latest.state = state;
                self.slot.send_replace(self.latest.clone());
            }
            // An engine that cannot be looked at is of no more use.
            Err(error) if self.stage.take().is_some() => self.halt(format!("{error:#}")),
            Err(_) => {}
        }
        self.next_frame = started + FRAME.max(5 * started.elapsed());
    }

    fn frame(&mut self) -> anyhow::Result<Bytes> {
        let view = match &mut self.stage {
            Some(stage) => stage.view(self.color, !self.running)?,
            None => View::still(&self.scene),
        };
        let header = FrameHeader {
            kind: "frame",
            step: self.step(),
            time: self.step() as f64 * self.scene.step,
            rate: self.rate,
            running: self.running,
            speed: self.pace.speed,
            color: self.color,
            mean_error: view.mean_error,
            touch: self.stage.as_ref().and_then(Stage::hand),
            pull: view.pull,
            poses: view.poses,
            forces: view.forces,
            warnings: self.stage.as_ref().map_or(&[], Stage::warnings),
            busy: self.busy.as_deref(),
            error: self.error.as_deref(),
        };
        let message = Message::new(&header, 4 * view.positions.len()).context("making a frame")?;
        Ok(message.points(&view.positions).numbers(&view.colors).bytes())
    }
}
