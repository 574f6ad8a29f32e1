//! What pages tell a session, and what comes of it.

use super::{
    super::protocol::{Color, Command},
    Player, Session,
};
use crate::engine::choice::EngineChoice;
use nendo_model::{contract::numbers::Profile, force::contact::wall::Hand, mesh::Vec3, scene::Scene};
use std::sync::mpsc::TrySendError;

/// Why something cannot be said to a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// Too much is waiting.
    Full,
    /// It has ended.
    Ended,
}

/// What a session hears, and of which page.
pub(super) enum Event {
    Command(u64, Command),
    Left(u64),
}

impl Session {
    /// Gives a page's command.
    pub fn command(&self, page: u64, command: Command) -> Result<(), Refused> {
        self.say(Event::Command(page, command))
    }

    /// Lets go of what a page holds.
    pub fn left(&self, page: u64) -> Result<(), Refused> {
        self.say(Event::Left(page))
    }

    fn say(&self, event: Event) -> Result<(), Refused> {
        self.events.try_send(event).map_err(|error| match error {
            TrySendError::Full(_) => Refused::Full,
            TrySendError::Disconnected(_) => Refused::Ended,
        })
    }
}

impl Player {
    /// Hears a page.
    pub(super) fn hear(&mut self, event: Event) {
        match event {
            Event::Command(page, command) => self.obey(page, command),
            Event::Left(page) => self.let_go(page),
        }
    }

    fn obey(&mut self, page: u64, command: Command) {
        let free = |holder: Option<u64>| holder.is_none_or(|holder| holder == page);
        match command {
            Command::Play {} => self.set_running(true),
            Command::Pause {} => self.set_running(false),
            Command::Step { steps } => {
                // Those not yet taken remain to be taken.
                let left = self.left.saturating_add(steps);
                self.set_running(false);
                self.left = left;
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
                if (particle as usize) < self.scene.mesh.particles.len() && free(self.puller) {
                    self.puller = Some(page);
                    self.pull(Some((particle, Vec3::from(force))));
                }
            }
            Command::Touch { center, radius } => {
                if free(self.toucher) {
                    self.toucher = Some(page);
                    self.touch(Some(Hand { center: center.into(), radius }));
                }
            }
            Command::Release {} => self.let_go(page),
        }
    }

    /// Lets go of what a page holds, and of nothing else.
    fn let_go(&mut self, page: u64) {
        if self.puller.take_if(|puller| *puller == page).is_some() {
            self.pull(None);
        }
        if self.toucher.take_if(|toucher| *toucher == page).is_some() {
            self.touch(None);
        }
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
}
