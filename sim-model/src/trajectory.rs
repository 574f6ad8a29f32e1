//! How a rigid thing moves: by key frames, at constant rates, or both.
//!
//! Boundaries and the particles of a `[[motions]]` table move along such paths.

use crate::{
    mesh::Vec3,
    reader::{SceneError, Table, Value},
};
use nalgebra::Rotation3;

/// Where something is told to be at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Key {
    /// In seconds.
    pub time: f64,
    /// Displacement from the first place, in metres.
    pub offset: Vec3,
    /// Rotation vector from the first orientation: axis times angle, in radians.
    pub turn: Vec3,
}

impl Key {
    /// A key frame that does not turn.
    pub fn shift(time: f64, offset: Vec3) -> Self {
        Self { time, offset, turn: Vec3::zeros() }
    }
}

/// A rigid motion over time. Between key frames offset and rotation vector go along straight lines, which about one
/// axis is a turn at a constant rate, of any number of turns; after the last it stands still. Rates are added.
#[derive(Clone, Debug, PartialEq)]
pub struct Trajectory {
    /// Key frames, times rising.
    pub frames: Vec<Key>,
    /// Constant velocity in m/s.
    pub velocity: Vec3,
    /// Constant spin about its own axes, which the key frames turn, in rad/s.
    pub spin: Vec3,
    /// The rates act until then, in seconds.
    pub until: f64,
    /// The point about which it turns, at the start.
    pub pivot: Vec3,
}

impl Default for Trajectory {
    fn default() -> Self {
        let zero = Vec3::zeros();
        Self { frames: Vec::new(), velocity: zero, spin: zero, until: f64::INFINITY, pivot: zero }
    }
}

/// Where a rigid thing is, and how fast.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    first: Vec3,
    /// Displacement of the point about which it turns, in metres.
    pub offset: Vec3,
    /// Its orientation, from that at the start.
    pub rotation: Rotation3<f64>,
    /// Velocity of that point in m/s.
    pub velocity: Vec3,
    /// Angular velocity in rad/s.
    pub turning: Vec3,
}

impl Pose {
    /// The point about which it turns.
    pub fn pivot(&self) -> Vec3 {
        self.first + self.offset
    }

    /// How far a point of it is from where it was at the start.
    pub fn displacement(&self, start: &Vec3) -> Vec3 {
        let arm = start - self.first;
        self.offset + (self.rotation * arm - arm)
    }

    /// Where a point of it is that was at `start` first.
    pub fn place(&self, start: &Vec3) -> Vec3 {
        start + self.displacement(start)
    }

    /// Where a point of it that is at `place` was at the start.
    pub fn start(&self, place: &Vec3) -> Vec3 {
        self.first + self.rotation.inverse() * (place - self.pivot())
    }

    /// The velocity of it at a place.
    pub fn velocity_at(&self, place: &Vec3) -> Vec3 {
        self.velocity + self.turning.cross(&(place - self.pivot()))
    }
}

impl Trajectory {
    /// The path that a table prescribes in `frames`, `velocity`, `spin`, `until` and `about`: about this point unless it names another; `axis` is what a `spin` in one number
    /// is about. Key frames are a step apart at least.
    pub fn read(t: &Table<'_>, pivot: Vec3, axis: Option<Vec3>, step: f64) -> Result<Self, SceneError> {
        let frames = match t.get("frames") {
            Some(list) => read_frames(&list, step)?,
            None => Vec::new(),
        };
        let spin = match (t.get("spin"), axis) {
            (None, _) => Vec3::zeros(),
            (Some(value), _) if value.is_array() => value.vec3()?,
            (Some(value), Some(axis)) => axis * value.number()?,
            (Some(value), None) => {
                return Err(value
                    .error("one number goes with a roller, about its axis; else a vector, e.g. [0, -2, 0]"));
            }
        };
        let velocity = t.optional("velocity", Value::vec3)?.unwrap_or_default();
        let has_rate = velocity != Vec3::zeros() || spin != Vec3::zeros();
        let until = match t.get("until") {
            Some(value) if !has_rate => {
                return Err(value.error("`until` goes with a constant `velocity` or `spin`"));
            }
            Some(value) => value.positive()?,
            None => f64::INFINITY,
        };
        let turns = spin != Vec3::zeros() || frames.iter().any(|key| key.turn != Vec3::zeros());
        let pivot = match t.get("about") {
            Some(value) if !turns => {
                return Err(value.error("`about` goes with `spin`, or `turn` in `frames`"));
            }
            Some(value) => value.vec3()?,
            None => pivot,
        };
        Ok(Self { frames, velocity, spin, until, pivot })
    }

    /// Whether it ever moves or turns.
    pub fn moves(&self) -> bool {
        !self.frames.is_empty() || self.has_rate()
    }

    /// Whether it moves or turns at a constant rate.
    pub fn has_rate(&self) -> bool {
        self.velocity != Vec3::zeros() || self.spin != Vec3::zeros()
    }

    /// Where it is at a time in seconds.
    pub fn at(&self, time: f64) -> Pose {
        let (mut from, mut offset, mut turn) = (0.0, Vec3::zeros(), Vec3::zeros());
        let (mut velocity, mut rate) = (Vec3::zeros(), Vec3::zeros());
        for key in &self.frames {
            if time < key.time {
                let span = key.time - from;
                (velocity, rate) = ((key.offset - offset) / span, (key.turn - turn) / span);
                (offset, turn) = (offset + velocity * (time - from), turn + rate * (time - from));
                break;
            }
            (from, offset, turn) = (key.time, key.offset, key.turn);
        }
        let mut rotation = Rotation3::new(turn);
        let mut turning = turning(&turn, &rate);
        if self.has_rate() {
            let lasts = time.min(self.until);
            offset += self.velocity * lasts;
            if time < self.until {
                velocity += self.velocity;
                turning += rotation * self.spin;
            }
            if self.spin != Vec3::zeros() {
                rotation *= Rotation3::new(self.spin * lasts);
            }
        }
        Pose { first: self.pivot, offset, rotation, velocity, turning }
    }

    /// The same with times that are whole steps.
    pub fn in_steps(&self, step: f64) -> Self {
        let whole = |time: f64| (time / step).round() * step;
        let frames = self.frames.iter().map(|key| Key { time: whole(key.time), ..*key }).collect();
        Self { frames, until: whole(self.until), ..self.clone() }
    }

    /// A bound on the angle that it turns through between two times.
    pub fn angle(&self, from: f64, to: f64) -> f64 {
        let mut angle = self.spin.norm() * (to.min(self.until) - from).max(0.0);
        let (mut start, mut turn) = (0.0, Vec3::zeros());
        for key in &self.frames {
            let share = ((to.min(key.time) - from.max(start)) / (key.time - start)).max(0.0);
            if share > 0.0 {
                angle += share * (key.turn - turn).norm();
            }
            (start, turn) = (key.time, key.turn);
        }
        angle
    }
}

/// The angular velocity of a rotation vector that changes at a rate.
fn turning(turn: &Vec3, rate: &Vec3) -> Vec3 {
    let angle = turn.norm();
    let once = turn.cross(rate);
    // Of small angles the first terms, of which the next would be lost.
    let (a, b) = match angle < 1e-4 {
        true => (0.5 - angle * angle / 24.0, 1.0 / 6.0 - angle * angle / 120.0),
        false => ((1.0 - angle.cos()) / angle.powi(2), (angle - angle.sin()) / angle.powi(3)),
    };
    rate + once * a + turn.cross(&once) * b
}

fn read_frames(list: &Value<'_>, step: f64) -> Result<Vec<Key>, SceneError> {
    let mut frames: Vec<Key> = Vec::new();
    let number = |time: f64| (time / step).round();
    for item in list.array()? {
        let f = item.table(&["t", "offset", "turn"])?;
        let time = f.need("t")?.number()?;
        let vector = |key| f.optional(key, Value::vec3).map(Option::unwrap_or_default);
        let (offset, turn) = (vector("offset")?, vector("turn")?);
        if time == 0.0 && frames.is_empty() && offset == turn && turn == Vec3::zeros() {
            continue; // it is there anyway
        }
        let previous = frames.last().map_or(0.0, |key| key.time);
        if time < 0.0 || number(time) <= number(previous) {
            return Err(item.error(format!(
                "key frame at t = {time} s: times must rise by a step ({step} s) at least, from 0 where everything is in its \
                 first place"
            )));
        }
        if f.get("offset").is_none() && f.get("turn").is_none() {
            return Err(item
                .error("a key frame needs an `offset` in metres, or a `turn`: axis times angle in radians"));
        }
        frames.push(Key { time, offset, turn });
    }
    if frames.is_empty() {
        return Err(list.error("at least one key frame, e.g. { t = 1.0, offset = [0, 0, -0.01] }"));
    }
    Ok(frames)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn vector(size: f64) -> impl Strategy<Value = Vec3> {
        prop::array::uniform3(-size..size).prop_map(Vec3::from)
    }

    proptest! {
        /// Its velocity at a point is that with which the point goes on.
        #[test]
        fn velocities_are_those_of_the_places(
            offsets in prop::array::uniform2(vector(1.0)), turns in prop::array::uniform2(vector(4.0)),
            velocity in vector(1.0), spin in vector(3.0), pivot in vector(1.0), start in vector(1.0), time in 0.01f64..2.9,
        ) {
            let key = |k: usize| Key { time: 1.0 + k as f64, offset: offsets[k], turn: turns[k] };
            let path = Trajectory { frames: vec![key(0), key(1)], velocity, spin, until: 2.5, pivot };
            let near = |t: f64| [1.0, 2.0, 2.5].iter().any(|end| (t - end).abs() < 1e-4);
            prop_assume!(!near(time));
            let pose = path.at(time);
            let place = |t: f64| path.at(t).place(&start);
            let measured = (place(time + 1e-5) - place(time - 1e-5)) / 2e-5;
            prop_assert!((pose.velocity_at(&place(time)) - measured).norm() < 1e-6, "{measured}");
            prop_assert!((pose.start(&place(time)) - start).norm() < 1e-12);
            // It is rigid.
            prop_assert!(((place(time) - pose.pivot()).norm() - (start - pivot).norm()).abs() < 1e-12);
        }
    }

    #[test]
    fn key_frames_are_met_and_turns_can_be_many() {
        let key = Key { time: 2.0, offset: Vec3::x(), turn: Vec3::z() * 20.0 };
        let path = Trajectory { frames: vec![key], ..Trajectory::default() };
        assert!((path.at(1.0).turning - Vec3::z() * 10.0).norm() < 1e-12);
        assert!(
            (path.at(1.0).place(&Vec3::x()) - Vec3::new(0.5 + 10f64.cos(), 10f64.sin(), 0.0)).norm() < 1e-12
        );
        let end = path.at(2.0);
        assert_eq!((end.offset, end.velocity, end.turning), (Vec3::x(), Vec3::zeros(), Vec3::zeros()));
        assert!((path.angle(0.5, 1.5) - 10.0).abs() < 1e-12 && path.angle(2.0, 9.0) == 0.0);
    }
}
