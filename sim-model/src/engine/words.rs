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
    let column = |name, count, word: Word| {
        let words = snapshot.column::<i32>(name, count)?;
        match words.iter().all(|&c| word.fits(c.into())) {
            true => Ok(words),
            false => Err(SnapshotError::Shape(format!("a word of column {name} has too many bits"))),
        }
    };
    let (n, particles) = (image.numbers(), 3 * image.particles.len());
    let three =
        |name, word| Ok::<_, SnapshotError>(column(name, particles, word)?.as_chunks::<3>().0.to_vec());
    Ok(Words {
        step: snapshot.step,
        x: three("x", n.x.word())?,
        v: three("v", n.v.word())?,
        u: column("u", image.edges.len(), n.u.word())?.to_vec(),
        overflow: Overflow::from_bits(snapshot.overflow),
    })
}

/// What a state of an engine with this image is in.
fn numbers(image: &Image) -> String {
    format!("{}, {}", image.profile, image.inverse)
}
