//! What a run says of itself.

use crate::{engine::EngineKind, export::measures, live::LiveReport, quantity::quantity};
use nendo_model::{
    contract::{
        numbers::{Inverse, Profile},
        overflow::Source,
        scaling::Headroom,
    },
    engine::Probe,
    scene::{deformation::Deformation, measure::Outcome},
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
    /// What the scene's sensors found, and whether that was expected.
    pub(super) measures: Vec<Outcome>,
    /// Whether all expectations are met; none without any, or if one could not be judged.
    pub(super) measures_ok: Option<bool>,
}

impl RunReport {
    /// Adds what the scene's sensors found.
    pub(super) fn measured(&mut self, outcomes: Vec<Outcome>) {
        self.measures_ok = measures::all_met(&outcomes);
        let open: Vec<&str> = outcomes.iter().filter(|o| o.value.is_none()).map(|o| o.name.as_str()).collect();
        if !open.is_empty() {
            self.warnings.push(format!("not measured, for this run did not come to it: {}", open.join(", ")));
        }
        self.measures = outcomes;
    }

    /// Which expectations are not met.
    pub(super) fn unmet(&self) -> String {
        let missed = self.measures.iter().filter(|outcome| outcome.ok == Some(false));
        let names: Vec<String> = missed
            .map(|o| format!("{} at {}: {}", o.name, quantity(o.at, "s"), o.why.as_deref().unwrap_or_default()))
            .collect();
        format!("not as the scene expects: {}", names.join("; "))
    }

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
        for row in measures::aligned(&measures::rows(&self.measures)) {
            line(row);
        }
        if let Some(digest) = &self.state_digest {
            line(format!("state {digest}"));
        }
        text.trim_end().to_owned()
    }
}
