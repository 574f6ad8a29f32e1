//! What page and host say to each other.
//!
//! From the page: small JSON texts ([`Command`]). To the page: binary messages, each a JSON header and then
//! arrays of 32-bit words, all little-endian:
//!
//! ```text
//! | length of header (u32) | header, filled up with spaces to a multiple of 4 | words ... |
//! ```
//!
//! A `scene` comes first and whenever another engine was opened: positions at rest (3 f32 each), edges (2 u32
//! each), triangles (3 u32 each), and for each boundary its corners (3 f32 each), triangles (3 u32 each) and lines
//! (2 u32 each). Then `frame`s: positions (3 f32 each), a number to colour by (f32 each).

use crate::{
    around::Solid,
    engine::{EngineKind, choice::EngineChoice},
};
use axum::body::Bytes;
use nendo_model::{contract::numbers::Profile, mesh::Vec3};
use serde::{Deserialize, Serialize};

/// No message from a page is longer.
pub const MAX_MESSAGE: usize = 1024;
/// Nor does it ask for more steps at once.
const MAX_STEPS: u64 = 100_000;

/// What the colours show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Color {
    /// Speed of particles, m/s.
    #[default]
    Speed,
    /// Mean size of the forces of a particle's edges, N.
    Stress,
    /// Distance from the f64 reference, in percent of the object's width.
    Error,
}

/// What a page asks for.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "do", rename_all = "lowercase", deny_unknown_fields)]
pub enum Command {
    /// Go on.
    Play {},
    /// Stop.
    Pause {},
    /// Stop, and take some steps.
    Step {
        /// Steps to take.
        steps: u64,
    },
    /// How fast to go.
    Speed {
        /// Simulated seconds per second; none for as fast as the engine can.
        speed: Option<f64>,
    },
    /// Back to the start.
    Reset {},
    /// Another scene or engine.
    Open {
        /// Number in the list of scenes.
        scene: usize,
        /// Which engine.
        engine: EngineChoice,
        /// Its numbers.
        profile: Profile,
    },
    /// What to colour by.
    Color {
        /// What particles are coloured by.
        by: Color,
    },
    /// Pull a particle, and no other.
    Pull {
        /// The number of the particle.
        particle: u32,
        /// In newtons.
        force: [f64; 3],
    },
    /// Touch the object with a ball.
    Touch {
        /// Its middle, in metres.
        center: [f64; 3],
        /// In metres.
        radius: f64,
    },
    /// Let go.
    Release {},
}

impl Command {
    /// Parses a message, and refuses values that mean nothing.
    pub fn parse(text: &str) -> Result<Self, String> {
        let command = serde_json::from_str(text).map_err(|e| e.to_string())?;
        match &command {
            Self::Step { steps } if !(1..=MAX_STEPS).contains(steps) => {
                Err(format!("{steps} steps: 1 to {MAX_STEPS}"))
            }
            Self::Speed { speed: Some(speed) } if !(*speed > 0.0 && *speed <= 1e6) => {
                Err(format!("speed {speed}: above 0, at most a million"))
            }
            Self::Touch { radius, .. } if !(*radius > 0.0 && radius.is_finite()) => {
                Err(format!("radius {radius}: above 0"))
            }
            _ => Ok(command),
        }
    }
}

/// Header of a scene.
#[derive(Clone, Debug, Serialize)]
pub struct SceneHeader<'a> {
    /// "scene".
    pub kind: &'static str,
    /// Its name.
    pub name: &'a str,
    /// Names of all scenes there are to choose.
    pub scenes: &'a [String],
    /// Which of them this is.
    pub scene: usize,
    /// The engine.
    pub engine: EngineKind,
    /// Which was asked for.
    pub choice: EngineChoice,
    /// Why it is this one.
    pub engine_why: &'a str,
    /// Engines there are to choose.
    pub engines: &'a [EngineChoice],
    /// Whether a number contract applies.
    pub fixed_point: bool,
    /// The number contract.
    pub profile: Profile,
    /// Those there are to choose.
    pub profiles: [Profile; 4],
    /// Sizes of the arrays that follow.
    pub particles: usize,
    /// Sizes of the arrays that follow.
    pub edges: usize,
    /// Sizes of the arrays that follow.
    pub triangles: usize,
    /// Length of a step in seconds.
    pub step: f64,
    /// The strongest pull in newtons.
    pub pull_limit: f64,
    /// Particles that are pinned or moved, those longest that come first.
    pub held: Vec<u32>,
    /// Up to which step each of them is; none for ever.
    pub held_until: Vec<Option<u64>>,
    /// Names of materials where there are several, each with a particle to write it at.
    pub labels: Vec<(&'a str, u32)>,
    /// Boundaries, whose arrays follow, too.
    pub solids: Vec<SolidHeader<'a>>,
}

/// A boundary to draw: its surface relative to a place that frames tell.
#[derive(Clone, Debug, Serialize)]
pub struct SolidHeader<'a> {
    /// Its name.
    pub name: &'a str,
    /// Whether it is seen from one side only.
    pub plane: bool,
    /// Sizes of its arrays.
    pub corners: usize,
    /// Sizes of its arrays.
    pub triangles: usize,
    /// Sizes of its arrays.
    pub lines: usize,
}

impl<'a> SolidHeader<'a> {
    /// Of this boundary.
    pub fn of(solid: &'a Solid) -> Self {
        Self {
            name: &solid.name,
            plane: solid.is_plane,
            corners: solid.corners.len(),
            triangles: solid.triangles.len(),
            lines: solid.lines.len(),
        }
    }
}

/// A pull as it is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Pull {
    /// The particle.
    pub particle: u32,
    /// In newtons.
    pub force: [f64; 3],
    /// What its edges answer, in newtons.
    pub reaction: [f64; 3],
}

/// Header of a frame.
#[derive(Clone, Debug, Serialize)]
pub struct FrameHeader<'a> {
    /// "frame".
    pub kind: &'static str,
    /// Steps taken.
    pub step: u64,
    /// Simulated seconds.
    pub time: f64,
    /// Steps per second of late.
    pub rate: f64,
    /// Whether it is going on.
    pub running: bool,
    /// How fast it is told to go.
    pub speed: Option<f64>,
    /// What the colours show.
    pub color: Color,
    /// The mean error in percent, if it is measured.
    pub mean_error: Option<f64>,
    /// Middle and radius of the ball that touches, in metres.
    pub touch: Option<[f64; 4]>,
    /// Who is pulled.
    pub pull: Option<Pull>,
    /// Where boundaries are: from corners to places, a turn (quaternion x, y, z, w) and a shift in metres.
    pub poses: Vec<[f64; 7]>,
    /// What the object presses on everything with that holds or bounds it, and on a hand that touches: names and newtons.
    /// Empty on engines behind a bus, where asking takes longer than a frame.
    pub forces: Vec<(String, [f64; 3])>,
    /// Why the state may mean nothing: elements inside out, lost volume, particles behind boundaries.
    pub warnings: &'a [String],
    /// What is being waited for.
    pub busy: Option<&'a str>,
    /// What went wrong.
    #[serde(rename = "trouble")]
    pub error: Option<&'a str>,
}

/// A binary message being made.
pub struct Message(Vec<u8>);

impl Message {
    /// One with a header.
    pub fn new(header: &impl Serialize, words: usize) -> Result<Self, serde_json::Error> {
        let mut text = serde_json::to_vec(header)?;
        text.resize(text.len().next_multiple_of(4), b' ');
        let mut bytes = Vec::with_capacity(4 + text.len() + 4 * words);
        bytes.extend((text.len() as u32).to_le_bytes());
        bytes.extend(text);
        Ok(Self(bytes))
    }

    /// Adds points.
    pub fn points(mut self, points: &[Vec3]) -> Self {
        self.0.extend(points.iter().flat_map(|p| p.iter()).flat_map(|&c| (c as f32).to_le_bytes()));
        self
    }

    /// Adds numbers.
    pub fn numbers(mut self, numbers: &[f64]) -> Self {
        self.0.extend(numbers.iter().flat_map(|&c| (c as f32).to_le_bytes()));
        self
    }

    /// Adds indices.
    pub fn indices<const N: usize>(mut self, items: &[[u32; N]]) -> Self {
        self.0.extend(items.as_flattened().iter().flat_map(|i| i.to_le_bytes()));
        self
    }

    /// Adds surfaces of boundaries.
    pub fn solids(self, solids: &[Solid]) -> Self {
        let add = |m: Self, s: &Solid| m.points(&s.corners).indices(&s.triangles).indices(&s.lines);
        solids.iter().fold(self, add)
    }

    /// The message.
    pub fn bytes(self) -> Bytes {
        self.0.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn commands_are_read_or_refused() {
        let read = |text: &str| Command::parse(text);
        assert_eq!(read(r#"{"do":"play"}"#), Ok(Command::Play {}));
        assert_eq!(read(r#"{"do":"speed","speed":null}"#), Ok(Command::Speed { speed: None }));
        assert_eq!(
            read(r#"{"do":"pull","particle":3,"force":[1,-2.5,0]}"#),
            Ok(Command::Pull { particle: 3, force: [1.0, -2.5, 0.0] })
        );
        assert_eq!(
            read(r#"{"do":"open","scene":1,"engine":"rtl","profile":"paper-2005"}"#),
            Ok(Command::Open {
                scene: 1,
                engine: EngineChoice::One(EngineKind::Rtl),
                profile: Profile::Paper2005
            })
        );
        assert_eq!(
            read(r#"{"do":"open","scene":1,"engine":"auto","profile":"wide"}"#),
            Ok(Command::Open { scene: 1, engine: EngineChoice::Auto, profile: Profile::Wide })
        );
        for wrong in [
            "",
            "play",
            "{}",
            r#"{"do":"explode"}"#,
            r#"{"do":"play","now":1}"#,
            r#"{"do":"step"}"#,
            r#"{"do":"step","steps":0}"#,
            r#"{"do":"step","steps":1e3}"#,
            r#"{"do":"speed","speed":0}"#,
            r#"{"do":"speed","speed":1e999}"#,
            r#"{"do":"pull","particle":-1,"force":[0,0,0]}"#,
            r#"{"do":"pull","particle":1,"force":[0,0]}"#,
            r#"{"do":"open","scene":0,"engine":"abacus","profile":"wide"}"#,
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn nothing_a_page_sends_makes_it_panic(text in "[ -~]{0,80}|\\{\"do\":\"[a-z]{3,7}\"[ -~]{0,40}\\}") {
            let _ = Command::parse(&text);
        }

        #[test]
        fn words_follow_the_header_aligned(name in "[a-z]{0,9}", words in prop::collection::vec(any::<[u32; 2]>(), 0..9)) {
            let bytes = Message::new(&name, 0).unwrap().indices(&words).bytes();
            let length = u32::from_le_bytes(bytes[..4].try_into().unwrap()) as usize;
            prop_assert_eq!(length % 4, 0);
            prop_assert_eq!(serde_json::from_slice::<String>(&bytes[4..4 + length]).unwrap(), name);
            let read: Vec<u32> = bytes[4 + length..].chunks(4).map(|c| u32::from_le_bytes(c.try_into().unwrap())).collect();
            prop_assert_eq!(read, words.as_flattened());
        }
    }
}
