//! A look inside one element.

use super::reference::ElementForces;
use crate::{
    contract::{
        image::Image,
        numbers::{Profile, text},
    },
    twin::tem,
};
use serde::Serialize;

/// What one element computes.
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

impl Probe {
    /// From an engine that has no raw words.
    pub(super) fn unrounded(edge: usize, out: &ElementForces) -> Self {
        let ElementForces { force, voigt_rate } = *out;
        Self { edge, force: force.into(), voigt_rate, force_raw: None, voigt_rate_raw: None }
    }

    /// From TEM's raw results.
    pub fn of_words(image: &Image, edge: usize, out: &tem::Output) -> Self {
        let (n, scaling) = (image.numbers(), &image.scaling);
        let force_lsb = scaling.force_lsb(n);
        let rate_lsb = if n.unit_step {
            scaling.u_lsb(n) / scaling.time
        } else {
            scaling.length / scaling.time * n.rate.lsb()
        };
        Self {
            edge,
            force: out.force.map(|c| c as f64 * force_lsb),
            voigt_rate: out.voigt_rate as f64 * rate_lsb,
            force_raw: Some(out.force),
            voigt_rate_raw: Some(out.voigt_rate),
        }
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
