//! What a run says of itself.

use crate::{engine::EngineKind, live::LiveReport};
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
    pub(super) simulated_s: f64,
    pub(super) wall_s: f64,
    pub(super) edges_per_s: f64,
    pub(super) cycles_per_step: Option<u64>,
    pub(super) clocks_per_wall_s: Option<f64>,
    pub(super) state_digest: String,
    pub(super) overflow: bool,
    pub(super) overflow_sources: Vec<Source>,
    pub(super) headroom: Option<Headroom>,
    pub(super) probe: Option<Probe>,
    pub(super) link_retries: Option<u64>,
    pub(super) live: Option<LiveReport>,
    /// Only if a load ended during the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) deformation: Option<Deformation>,
}

impl RunReport {
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
        let speed = self.edges_per_s / 1e6;
        line(format!("{:.3} s simulated in {:.3} s ({speed:.1} M edges/s){clocks}", self.simulated_s, self.wall_s));
        line(format!("state {}", self.state_digest));
        if let Some(Deformation { kind, residual_m, return_m }) = &self.deformation {
            let kind = format!("{kind:?}").to_lowercase();
            line(format!("deformation: {kind}; {residual_m:.3e} m left, {return_m:.3e} m came back"));
        }
        text.trim_end().to_owned()
    }
}
