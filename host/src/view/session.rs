//! The engine's own thread: it obeys commands, keeps pace, and leaves its latest state to be seen.
//!
//! Nobody who watches can hold it up: frames go into a slot that keeps only the latest, at most 60 a second,
//! and none at all while nobody watches.

use super::{
    protocol::{Color, Command, FrameHeader, Message, SceneHeader, SolidHeader},
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
use nendo_model::{contract::numbers::Profile, force::contact::wall::Hand, mesh::Vec3, scene::Scene};
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
/// An engine computes for so long, in seconds, before it looks at commands again.
const BATCH: f64 = 0.004;
/// Commands that wait to be obeyed.
const QUEUE: usize = 64;
/// How far behind its pace an engine may fall, in seconds, before the rest is forgotten.
const DEBT: f64 = 0.1;

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
    commands: SyncSender<Command>,
    frames: watch::Receiver<Frame>,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Session {
    /// Starts one; returns when its engine is open.
    pub fn start(start: Start) -> Result<Self, OpenError> {
        let (commands, queue) = mpsc::sync_channel(QUEUE);
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
            Ok(Ok(())) => Ok(Self { commands, frames, stop, thread }),
            Ok(Err(error)) => Err(error),
            Err(_) => std::panic::resume_unwind(Box::new("the engine's thread ended")),
        }
    }

    /// Gives a command; false if too many are waiting.
    pub fn command(&self, command: Command) -> bool {
        self.commands.try_send(command).is_ok()
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

/// When steps are due.
struct Pace {
    /// Simulated seconds per second; none for as fast as possible.
    speed: Option<f64>,
    since: Instant,
    /// Steps taken since then.
    done: f64,
    /// Seconds a step takes.
    cost: f64,
}

impl Pace {
    fn restart(&mut self) {
        (self.since, self.done) = (Instant::now(), 0.0);
    }

    /// Steps to take now, of `step` seconds each.
    fn due(&mut self, step: f64) -> u64 {
        let batch = (BATCH / self.cost).clamp(1.0, 1e6);
        let Some(speed) = self.speed else { return batch as u64 };
        let owed = self.since.elapsed().as_secs_f64() * speed / step - self.done;
        if owed > (DEBT * speed / step).max(1.0) {
            self.restart();
            return batch as u64;
        }
        owed.min(batch) as u64
    }

    fn took(&mut self, steps: u64, time: Duration) {
        self.done += steps as f64;
        self.cost = (time.as_secs_f64() / steps as f64).max(1e-9);
    }
}

/// What the thread holds.
struct Player {
    scenes: Vec<String>,
    names: Vec<String>,
    engines: Vec<EngineChoice>,
    queue: Receiver<Command>,
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
    fn new(
        start: Start,
        queue: Receiver<Command>,
        slot: watch::Sender<Frame>,
        stop: Arc<AtomicBool>,
    ) -> Self {
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
            pace: Pace { speed: Some(1.0), since: Instant::now(), done: 0.0, cost: 1e-3 },
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
            let due = if self.running && self.stage.is_some() { self.pace.due(self.scene.step) } else { 0 };
            if due > 0 {
                self.advance(due);
            }
            if self.running && self.slot.receiver_count() > 1 && Instant::now() >= self.next_frame {
                self.publish();
            }
            let wait = match (due > 0, self.running) {
                (true, _) => Duration::ZERO,
                (false, true) => Duration::from_millis(2),
                (false, false) => Duration::from_millis(100),
            };
            let mut next = self.queue.recv_timeout(wait);
            let mut obeyed = false;
            while let Ok(command) = next {
                self.obey(command);
                obeyed = true;
                next = self.queue.try_recv().map_err(|_| RecvTimeoutError::Timeout);
            }
            if obeyed && !self.running {
                self.publish();
            }
        }
        if let Some(stage) = &mut self.stage {
            let _ = stage.close();
        }
    }

    fn obey(&mut self, command: Command) {
        match command {
            Command::Play {} => self.set_running(true),
            Command::Pause {} => self.set_running(false),
            Command::Step { steps } => {
                self.set_running(false);
                self.advance(steps);
            }
            Command::Speed { speed } => {
                self.pace.speed = speed;
                self.pace.restart();
            }
            Command::Reset {} => self.reopen(),
            Command::Open { scene, engine, profile } => self.open(scene, engine, profile),
            Command::Color { by } => {
                let reference = (by == Color::Error) != (self.color == Color::Error);
                self.color = by;
                if reference {
                    // The reference has to see every step: from the start again, with or without it.
                    self.reopen();
                }
            }
            Command::Pull { particle, force } => {
                if (particle as usize) < self.scene.mesh.particles.len() {
                    self.pull(Some((particle, Vec3::from(force))));
                }
            }
            Command::Touch { center, radius } => self.touch(Some(Hand { center: center.into(), radius })),
            Command::Release {} => {
                self.pull(None);
                self.touch(None);
            }
        }
    }

    fn set_running(&mut self, running: bool) {
        self.running = running && self.stage.is_some();
        self.pace.restart();
        self.counted = (Instant::now(), self.step());
        self.rate = 0.0;
    }

    fn step(&self) -> u64 {
        self.stage.as_ref().map_or(0, Stage::step)
    }

    fn pull(&mut self, pull: Option<(u32, Vec3)>) {
        if let Some(stage) = &mut self.stage
            && let Err(error) = stage.pull(pull)
        {
            self.error = Some(format!("{error:#}"));
        }
    }

    fn touch(&mut self, hand: Option<Hand>) {
        if let Some(stage) = &mut self.stage
            && let Err(error) = stage.touch(hand)
        {
            self.error = Some(format!("{error:#}"));
        }
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
        self.running = false;
        self.error = Some(error);
        self.publish();
    }

    fn open(&mut self, scene: usize, engine: EngineChoice, profile: Profile) {
        if scene >= self.scenes.len() || !self.engines.contains(&engine) {
            return;
        }
        match Scene::open(&self.scenes[scene]) {
            Ok(new) => {
                (self.scene, self.chosen) = (new, scene);
                self.choice = engine;
                if profile != self.options.profile {
                    (self.options.profile, self.options.inverse) = (profile, profile.usual_inverse());
                }
                match self.choose() {
                    Ok(()) => self.reopen(),
                    Err(error) => {
                        self.stage = None;
                        self.announce();
                        self.halt(error.to_string());
                    }
                }
            }
            Err(error) => self.error = Some(error.to_string()),
        }
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
