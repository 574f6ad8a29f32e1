//! What other scenes measure: a measure may be compared with one of another file.

use super::Args;
use crate::{
    cli::{CommandError, Console, open_failure, options::open_scene},
    engine, progress, sample,
};
use anyhow::{Context, anyhow};
use nendo_model::scene::{
    Scene,
    measure::{Measuring, Value, judge::Reference},
};
use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
};

/// The last value of each measure of a scene.
type Found = HashMap<String, Option<Value>>;

/// What measures of other files found; each file runs once.
#[derive(Debug, Default)]
pub(super) struct Others {
    found: HashMap<PathBuf, Result<Found, String>>,
}

/// One name for a file, however it is called.
fn known(file: &Path) -> PathBuf {
    fs::canonicalize(file).unwrap_or_else(|_| file.to_owned())
}

fn all(measuring: &Measuring<'_>) -> Found {
    measuring.scene().measures.iter().map(|measure| (measure.name.clone(), measuring.last(&measure.name))).collect()
}

impl Others {
    pub(super) fn new() -> Self {
        Self::default()
    }

    /// Notes what a run has found.
    pub(super) fn keep(&mut self, name: &str, measuring: &Measuring<'_>) {
        let found = all(measuring);
        // What a run did not come to is another's to find.
        if found.values().all(Option::is_some) {
            self.found.insert(known(Path::new(name)), Ok(found));
        }
    }

    /// What a measure of another file finds, whose name is relative to the file that names it.
    pub(super) fn value(
        &mut self,
        args: &Args,
        from: &str,
        reference: &Reference,
        console: Console,
    ) -> Result<Value, String> {
        let name = reference.file.as_deref().unwrap_or(from);
        let file = known(&Path::new(from).parent().unwrap_or(Path::new("")).join(name));
        let found = self.found.entry(file.clone()).or_insert_with(|| {
            console.say(format!("{from} compares with {name}, which runs for its measures"));
            measured(args, &file, console).map_err(|error| format!("{name}: {error:#}"))
        });
        let found = found.as_ref().map_err(Clone::clone)?;
        match found.get(&reference.name) {
            Some(Some(value)) => Ok(value.clone()),
            Some(None) => Err(format!("{name} has no value of {}", reference.name)),
            None => Err(format!("{name} has no measure {}", reference.name)),
        }
    }
}

/// Runs a scene for its measures alone.
fn measured(args: &Args, file: &Path, console: Console) -> anyhow::Result<Found> {
    let plain = |error: CommandError| match error {
        CommandError::Input(error) | CommandError::Run(error, _) => error,
        CommandError::Unmet(text, _) => anyhow!(text),
    };
    let file = file.to_str().context("its name is no text")?;
    let scene: Scene = open_scene(file).map_err(plain)?;
    let options = args.engine.choose(&scene, console).map_err(plain)?.options;
    let mut engine = engine::open(&scene, &options).map_err(|error| plain(open_failure(error)))?;
    let mut measuring = Measuring::new(&scene);
    let last = std::iter::successors(measuring.due(0), |step| measuring.due(step + 1)).last().unwrap_or(0);
    sample::measure(engine.as_mut(), &mut measuring)?;
    let whole = progress::in_pieces(&scene.name, last, |n| {
        let until = engine.step() + n;
        while engine.step() < until {
            let stop = measuring.due(engine.step() + 1).map_or(until, |due| due.min(until));
            engine.advance(stop - engine.step())?;
            sample::measure(engine.as_mut(), &mut measuring)?;
        }
        anyhow::Ok(true)
    })?;
    let found = all(&measuring);
    engine.close()?;
    if whole == last { Ok(found) } else { Err(anyhow!("interrupted")) }
}
