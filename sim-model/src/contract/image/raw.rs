//! SI values as raw words.

use super::ImageError;
use crate::{
    contract::{
        numbers::{Numbers, Word},
        scaling::Scaling,
    },
    mesh::Vec3,
};

/// SI values to raw words, refusing what does not fit.
pub(super) struct Raw {
    pub(super) numbers: &'static Numbers,
    pub(super) scaling: Scaling,
}

impl Raw {
    fn word(
        &self,
        what: impl Fn() -> String,
        value: f64,
        lsb: f64,
        word: Word,
        hint: &'static str,
    ) -> Result<i32, ImageError> {
        let raw = (value / lsb).round();
        if raw.abs() <= word.max() as f64 {
            Ok(raw as i32)
        } else {
            Err(ImageError::Range { what: what(), value, range: word.max() as f64 * lsb, hint })
        }
    }

    fn vector(
        &self,
        what: impl Fn() -> String,
        value: Vec3,
        lsb: f64,
        word: Word,
        hint: &'static str,
    ) -> Result<[i32; 3], ImageError> {
        let mut raw = [0; 3];
        for k in 0..3 {
            let part = || format!("{} ({})", what(), ["x", "y", "z"][k]);
            raw[k] = self.word(part, value[k], lsb, word, hint)?;
        }
        Ok(raw)
    }

    pub(super) fn position(&self, p: u32, x: Vec3) -> Result<[i32; 3], ImageError> {
        let from_origin = x - Vec3::from(self.scaling.origin);
        let lsb = self.scaling.x_lsb(self.numbers);
        self.vector(
            || format!("position of particle {p}"),
            from_origin,
            lsb,
            self.numbers.x.word(),
            "raise scaling.length",
        )
    }

    pub(super) fn velocity(&self, p: u32, v: Vec3) -> Result<[i32; 3], ImageError> {
        let lsb = self.scaling.v_lsb(self.numbers);
        let hint = "raise scaling.velocity_exponent or scaling.length, or shorten the step";
        self.vector(|| format!("velocity of particle {p}"), v, lsb, self.numbers.v.word(), hint)
    }

    pub(super) fn force(&self, p: u32, f: Vec3) -> Result<[i32; 3], ImageError> {
        let lsb = self.scaling.force_lsb(self.numbers);
        self.vector(
            || format!("force on particle {p}"),
            f,
            lsb,
            self.numbers.edge_force,
            "raise scaling.mass",
        )
    }

    /// An edge needs an inverse length that fits its word.
    pub(super) fn check_length(&self, edge: usize, length: f64) -> Result<(), ImageError> {
        let units = length / self.scaling.length;
        let shortest = 2f64.powi(self.numbers.inverse.frac + 1 - self.numbers.inverse.bits as i32);
        match units > shortest.max(self.numbers.x.word().lsb()) {
            true => Ok(()),
            false => Err(ImageError::Short { edge, length, shortest: shortest * self.scaling.length }),
        }
    }

    pub(super) fn extension(&self, edge: usize, u: f64) -> Result<i32, ImageError> {
        let lsb = self.scaling.u_lsb(self.numbers);
        let hint = "raise scaling.extension_exponent or scaling.length";
        self.word(|| format!("extension of edge {edge}"), u, lsb, self.numbers.u.word(), hint)
    }
}
