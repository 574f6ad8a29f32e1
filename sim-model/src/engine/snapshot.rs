//! What an engine needs to go on from where it was: one form for every engine and every use.
//!
//! ```text
//! nendo state 1              columns of little-endian numbers follow the blank line, in this order
//! scene 5f0c...              what the scene's particles, edges, forces and supports are, hashed
//! numbers wide, table        f64, f64 rk4, f32, or the number contract of the hardware
//! step 1500
//! overflow 0
//! column x i32 2187
//! column v i32 2187
//! column u i32 3672
//! digest 9a3b...             SHA-256 of the lines above and the columns
//!
//! ```
//! Fixed-point engines share theirs: what the model saved the hardware goes on with. Pulls and hands are not in it.

use crate::{contract::digest::StateHasher, scene::Scene};
use std::fmt::{self, Write};

/// A column of numbers.
#[derive(Clone, Debug, PartialEq)]
pub enum Numbers {
    /// Words of the fixed-point engines.
    I32(Vec<i32>),
    /// Of the f32 engine.
    F32(Vec<f32>),
    /// Of the f64 engine.
    F64(Vec<f64>),
}

/// The state of an engine.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    /// [`scene_hash`] of its scene; nothing where the state never leaves the program.
    pub scene: String,
    /// What it computes in.
    pub numbers: String,
    /// Steps taken.
    pub step: u64,
    /// What had overflowed, as the hardware's flags.
    pub overflow: u8,
    columns: Vec<(String, Numbers)>,
}

/// Why a state cannot be taken up.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SnapshotError {
    /// The bytes are no state.
    #[error("this is no state of nendo: {0}")]
    Format(String),
    /// The bytes are not those that were written.
    #[error("the state is damaged: its digest is another one")]
    Damaged,
    /// Of another scene.
    #[error(
        "the state is of another scene, or of this one before it was changed; mesh, materials, step, supports and forces must \
         be the same"
    )]
    Scene,
    /// In other numbers.
    #[error("the state is of an engine with other numbers: {found}, not {wanted}")]
    Numbers {
        /// Those of the state.
        found: String,
        /// Those of the engine.
        wanted: String,
    },
    /// Columns that do not fit.
    #[error("the state does not fit: {0}")]
    Shape(String),
}

/// No state is larger: a file that says so is refused before memory is taken.
const MAX_NUMBERS: u64 = 1 << 32;

const FIRST: &str = "nendo state 1";

impl Snapshot {
    /// A state without columns yet.
    pub fn new(numbers: String, step: u64, overflow: u8) -> Self {
        Self { scene: String::new(), numbers, step, overflow, columns: Vec::new() }
    }

    /// With one more column.
    pub fn with(mut self, name: &str, numbers: impl Into<Numbers>) -> Self {
        self.columns.push((name.to_owned(), numbers.into()));
        self
    }

    /// Saying which scene it is of.
    pub fn of(mut self, scene: &Scene) -> Self {
        self.scene = scene_hash(scene);
        self
    }

    /// Refuses the state of another scene.
    pub fn check_scene(&self, scene: &Scene) -> Result<(), SnapshotError> {
        if self.scene == scene_hash(scene) { Ok(()) } else { Err(SnapshotError::Scene) }
    }

    /// Refuses a state in other numbers.
    pub fn check_numbers(&self, numbers: &str) -> Result<(), SnapshotError> {
        if self.numbers == numbers {
            return Ok(());
        }
        Err(SnapshotError::Numbers { found: self.numbers.clone(), wanted: numbers.to_owned() })
    }

    /// A column of so many numbers.
    pub fn column<T: Number>(&self, name: &str, count: usize) -> Result<&[T], SnapshotError> {
        let column = self.any_length(name)?;
        if column.len() != count {
            let text = format!("{} numbers in column {name}, not {count}", column.len());
            return Err(SnapshotError::Shape(text));
        }
        Ok(column)
    }

    /// A column of any length.
    pub fn any_length<T: Number>(&self, name: &str) -> Result<&[T], SnapshotError> {
        let found = self.columns.iter().find(|(own, _)| own == name).and_then(|(_, numbers)| T::of(numbers));
        found.ok_or_else(|| SnapshotError::Shape(format!("it has no column {name} of such numbers")))
    }

    /// The lines before the columns, but for the digest.
    fn head(&self) -> String {
        let Self { scene, numbers, step, overflow, columns } = self;
        let mut head =
            format!("{FIRST}\nscene {scene}\nnumbers {numbers}\nstep {step}\noverflow {overflow}\n");
        for (name, numbers) in columns {
            let _ = writeln!(head, "column {name} {} {}", numbers.kind(), numbers.len());
        }
        head
    }

    /// As a file has it.
    pub fn to_bytes(&self) -> Vec<u8> {
        let head = self.head();
        let mut data = Vec::new();
        self.columns.iter().for_each(|(_, numbers)| numbers.write(&mut data));
        let digest = digest(head.as_bytes(), &data);
        [head.as_bytes(), b"digest ", digest.as_bytes(), b"\n\n", &data].concat()
    }

    /// From a file's bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, SnapshotError> {
        let format = |why: &str| SnapshotError::Format(why.to_owned());
        let end = bytes.windows(2).position(|two| two == b"\n\n").ok_or_else(|| format("it has no head"))?;
        let head = std::str::from_utf8(&bytes[..end]).map_err(|_| format("its head is no text"))?;
        let (data, mut lines) = (&bytes[end + 2..], head.lines());
        if lines.next() != Some(FIRST) {
            return Err(format(&format!("it does not begin with `{FIRST}`")));
        }
        let mut value = |key: &str| {
            let line = lines.next().and_then(|line| line.strip_prefix(key)?.strip_prefix(' '));
            line.ok_or_else(|| format(&format!("its head has no `{key}` where one belongs")))
        };
        let scene = value("scene")?.to_owned();
        let mut state = Self { scene, ..Self::new(value("numbers")?.to_owned(), 0, 0) };
        let number = |text: &str| text.parse().map_err(|_| format(&format!("`{text}` is no number")));
        state.step = number(value("step")?)?;
        state.overflow = number(value("overflow")?)?.try_into().map_err(|_| format("unknown flags"))?;
        let (mut rest, mut digest_line) = (data, None);
        for line in lines {
            if let Some(digest) = line.strip_prefix("digest ") {
                digest_line = Some(digest);
                break;
            }
            let words: Vec<&str> = line.split(' ').collect();
            let ["column", name, kind, count] = words[..] else { return Err(format("a line is no column")) };
            let count = Some(number(count)?).filter(|&count| count <= MAX_NUMBERS);
            let count = count.and_then(|count| usize::try_from(count).ok());
            let count = count.ok_or_else(|| format("a column is too long"))?;
            let numbers;
            (numbers, rest) = Numbers::read(kind, count, rest)
                .ok_or_else(|| format(&format!("column {name} is not all there")))?;
            state.columns.push((name.to_owned(), numbers));
        }
        if !rest.is_empty() {
            return Err(format("more follows than it says"));
        }
        if digest_line != Some(&digest(state.head().as_bytes(), data)) {
            return Err(SnapshotError::Damaged);
        }
        Ok(state)
    }
}

fn digest(head: &[u8], data: &[u8]) -> String {
    let mut hasher = StateHasher::new();
    hasher.bytes(head);
    hasher.bytes(data);
    hasher.hex()
}

/// What can be in a column.
pub trait Number: Sized {
    /// The numbers of a column of this kind.
    fn of(numbers: &Numbers) -> Option<&[Self]>;
}

macro_rules! numbers {
    ($($variant:ident, $number:ty, $name:literal;)*) => {
        $(
            impl Number for $number {
                fn of(numbers: &Numbers) -> Option<&[Self]> {
                    match numbers {
                        Numbers::$variant(list) => Some(list),
                        _ => None,
                    }
                }
            }

            impl From<Vec<$number>> for Numbers {
                fn from(list: Vec<$number>) -> Self {
                    Self::$variant(list)
                }
            }
        )*

        impl Numbers {
            fn kind(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => $name,)*
                }
            }

            fn len(&self) -> usize {
                match self {
                    $(Self::$variant(list) => list.len(),)*
                }
            }

            fn write(&self, bytes: &mut Vec<u8>) {
                match self {
                    $(Self::$variant(list) => list.iter().for_each(|n| bytes.extend(n.to_le_bytes())),)*
                }
            }

            /// Numbers from the front of some bytes, and the bytes behind them.
            fn read<'a>(kind: &str, count: usize, bytes: &'a [u8]) -> Option<(Self, &'a [u8])> {
                match kind {
                    $($name => {
                        let (own, rest) = bytes.split_at_checked(count.checked_mul(size_of::<$number>())?)?;
                        let (words, _) = own.as_chunks();
                        Some((Self::$variant(words.iter().map(|w| <$number>::from_le_bytes(*w)).collect()), rest))
                    })*
                    _ => None,
                }
            }
        }
    };
}

numbers! {
    I32, i32, "i32";
    F32, f32, "f32";
    F64, f64, "f64";
}

/// A hash of what a scene's steps depend on: not of its name, its duration, or what is measured of it.
pub fn scene_hash(scene: &Scene) -> String {
    /// Hashes what is written.
    struct Sink(StateHasher);
    impl fmt::Write for Sink {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            self.0.bytes(text.as_bytes());
            Ok(())
        }
    }
    let Scene { name: _, about: _, duration: _, error_scale: _, .. } = scene;
    let Scene { step, mesh, materials, edge_material, extension, mass, velocity, .. } = scene;
    let Scene { support, pins: _, motions, loads, gravity, scaling, forces, .. } = scene;
    let paths: Vec<_> = motions.iter().map(|motion| (&motion.path, &motion.release)).collect();
    let mut sink = Sink(StateHasher::new());
    // Numbers are written so that none is lost.
    let _ = write!(
        sink,
        "{step:?}{:?}{:?}{materials:?}{edge_material:?}{extension:?}{mass:?}{velocity:?}{support:?}{paths:?}{loads:?}\
         {gravity:?}{scaling:?}{forces:?}",
        mesh.particles, mesh.edges
    );
    sink.0.hex()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn example() -> Snapshot {
        Snapshot::new("wide, table".to_owned(), 7, 2)
            .with("x", vec![1i32, -2, 3])
            .with("low", vec![0.5f32])
            .with("v", vec![f64::MIN_POSITIVE, -0.0])
    }

    #[test]
    fn what_is_read_is_what_was_written() {
        let state = example();
        let back = Snapshot::from_bytes(&state.to_bytes()).unwrap();
        assert_eq!(back, state);
        assert_eq!(back.column::<i32>("x", 3).unwrap(), [1, -2, 3]);
        assert!(back.column::<i32>("x", 4).is_err() && back.column::<f64>("x", 3).is_err());
        assert!(back.check_numbers("wide, table").is_ok());
        assert!(matches!(back.check_numbers("f64"), Err(SnapshotError::Numbers { .. })));
        let scene = Scene::open("box:3x3x3").unwrap();
        let own = Snapshot::from_bytes(&state.of(&scene).to_bytes()).unwrap();
        assert_eq!(own.check_scene(&scene), Ok(()));
        assert_eq!(own.check_scene(&Scene::open("box:3x3x2").unwrap()), Err(SnapshotError::Scene));
    }

    proptest! {
        /// Whatever becomes of a file: an error, never another state and never a panic.
        #[test]
        fn damaged_states_are_refused(at in any::<prop::sample::Index>(), bit in 0u8..8, cut in any::<prop::sample::Index>()) {
            let bytes = example().to_bytes();
            let mut changed = bytes.clone();
            changed[at.index(bytes.len())] ^= 1 << bit;
            prop_assert!(Snapshot::from_bytes(&changed).is_err());
            prop_assert!(Snapshot::from_bytes(&bytes[..cut.index(bytes.len())]).is_err());
        }

        #[test]
        fn random_bytes_are_no_state(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            prop_assert!(Snapshot::from_bytes(&bytes).is_err());
            prop_assert!(Snapshot::from_bytes(&[FIRST.as_bytes(), b"\n", &bytes].concat()).is_err());
        }
    }

    #[test]
    fn scenes_that_move_otherwise_have_another_hash() {
        let scene = Scene::open("box:3x3x3").unwrap();
        let hash = scene_hash(&scene);
        let longer = Scene { name: "x".to_owned(), duration: 9.0, ..scene.clone() };
        assert_eq!(scene_hash(&longer), hash);
        let mut heavier = scene.clone();
        heavier.mass[3] += 1e-12;
        assert_ne!(scene_hash(&heavier), hash);
        let slower = Scene { step: scene.step / 2.0, ..scene };
        assert_ne!(scene_hash(&slower), hash);
    }
}
