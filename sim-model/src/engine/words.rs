//! States of the fixed-point engines, which share them: what the model saved the hardware goes on with.

use super::{Snapshot, SnapshotError};
use crate::{
    contract::{image::Image, numbers::Word, overflow::Overflow},
    twin::words::Words,
};

/// The state of an engine with this image.
pub fn save(words: Words, image: &Image) -> Snapshot {
    Snapshot::new(numbers(image), words.step, words.overflow.bits())
        .with("x", words.x.into_flattened())
        .with("v", words.v.into_flattened())
        .with("u", words.u)
}

/// The words of a state, which fit the image.
pub fn restore(snapshot: &Snapshot, image: &Image) -> Result<Words, SnapshotError> {
    snapshot.check_numbers(&numbers(image))?;
    let (n, particles) = (image.numbers(), image.particles.len());
    Ok(Words {
        step: snapshot.step,
        x: vectors(snapshot, "x", particles, n.x.word())?,
        v: vectors(snapshot, "v", particles, n.v.word())?,
        u: column(snapshot, "u", image.edges.len(), n.u.word())?.to_vec(),
        overflow: Overflow::from_bits(snapshot.overflow),
    })
}

/// A column of so many vectors, their words of this kind.
pub(super) fn vectors(
    snapshot: &Snapshot,
    name: &str,
    count: usize,
    word: Word,
) -> Result<Vec<[i32; 3]>, SnapshotError> {
    Ok(column(snapshot, name, 3 * count, word)?.as_chunks::<3>().0.to_vec())
}

fn column<'a>(
    snapshot: &'a Snapshot,
    name: &str,
    count: usize,
    word: Word,
) -> Result<&'a [i32], SnapshotError> {
    let words = snapshot.column::<i32>(name, count)?;
    match words.iter().all(|&c| word.fits(c.into())) {
        true => Ok(words),
        false => Err(SnapshotError::Shape(format!("a word of column {name} has too many bits"))),
    }
}

/// What a state of an engine with this image is in.
fn numbers(image: &Image) -> String {
    format!("{}, {}", image.profile, image.inverse)
}
