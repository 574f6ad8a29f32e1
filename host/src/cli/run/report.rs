//! What a run says of itself.

use crate::{engine::EngineKind, export::quantity::quantity, live::LiveReport};
use nendo_model::{
    contract::{
        numbers::{Inverse, Profile},
        overflow::Source,
        scaling::Headroom,
    },
    engine::Probe,
    scene::deformation::Deformation,
};
use serde::Serialize;
use serde_json::{Map, Value};

/// What a run says of itself.
#[derive(Debug, Serialize)]
pub(super) struct RunReport {
    pub(super) scene: String,
    pub(super) engine: EngineKind,
    pub(super) engine_why: String,
    pub(super) profile: Option<Profile>,
    pub(super) inverse: Option<Inverse>,
    pub(super) modules: u64,
    pub(super) particles: usize,
    pub(super) edges: usize,
    pub(super) steps: u64,
    /// Steps that an earlier run had taken, if this one went on from there.
    pub(super) resumed_from: Option<u64>,
    pub(super) simulated_s: f64,
    pub(super) wall_s: f64,
    /// None without a step.
    pub(super) edges_per_s: Option<f64>,
    pub(super) cycles_per_step: Option<u64>,
    pub(super) clocks_per_wall_s: Option<f64>,
    /// None if the engine no longer answers.
    pub(super) state_digest: Option<String>,
    pub(super) overflow: bool,
    pub(super) overflow_sources: Vec<Source>,
    pub(super) headroom: Option<Headroom>,
    /// Tetrahedra inside out in the last sound state.
    pub(super) inverted: Option<usize>,
    /// The most of them in any state that was looked at.
    pub(super) most_inverted: Option<usize>,
    pub(super) volume_ratio: Option<f64>,
    /// Particles behind each boundary that should not be passed.
    pub(super) beyond: Map<String, Value>,
    /// What the object presses on everything that holds or bounds it with, in newtons.
    pub(super) forces: Map<String, Value>,
    /// What is wrong with the object, with the remedies.
    pub(super) warnings: Vec<String>,
    /// What became of the object, for people.
    #[serde(skip)]
    pub(super) summary: Vec<(String, String)>,
    pub(super) probe: Option<Probe>,
    pub(super) link_retries: Option<u64>,
    pub(super) live: Option<LiveReport>,
    /// Only if a load ended during the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) deformation: Option<Deformation>,
}

impl RunReport {
    /// What became of the object, for people.
    pub(super) fn physical(&self) -> Vec<(String, String)> {
        let deformation = self.deformation.as_ref().map(|Deformation { kind, residual_m, return_m }| {
            let (kind, left, back) = (kind.name(), quantity(*residual_m, "m"), quantity(*return_m, "m"));
            ("deformation".to_owned(), format!("{kind}; {left} left, {back} came back"))
        });
        self.summary.iter().cloned().chain(deformation).collect()
    }

    /// The outcome in words.
    pub(super) fn lines(&self) -> String {
        let mut text = String::new();
        let mut line = |words: String| text += &(words + "\n");
        if let Some(live) = &self.live {
            line(live.lines());
        }
        if let Some(retries) = self.link_retries.filter(|&n| n > 0) {
            line(format!("{retries} transfers over the bus were damaged and repeated"));
        }
        if let Some(probe) = &self.probe {
            line(probe.line(self.profile));
        }
        let clocks =
            self.cycles_per_step.map_or(String::new(), |c| format!(", {c} clock cycles per step"));
        let speed = self.edges_per_s.map_or(String::new(), |s| format!(" ({:.1} M edges/s)", s / 1e6));
        line(format!("{:.3} s simulated in {:.3} s{speed}{clocks}", self.simulated_s, self.wall_s));
        for (name, text) in self.physical().iter().filter(|(name, _)| name != "simulated") {
            line(format!("{name}: {text}"));
        }
        if let Some(digest) = &self.state_digest {
            line(format!("state {digest}"));
        }
        text.trim_end().to_owned()
    }
}
