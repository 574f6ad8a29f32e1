//! Edges in blocks of eight.

use super::element::{BLOCK, Lanes};

/// An edge on its way into a part: ends there, class, extension, scene number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed {
    pub(super) ends: [u32; 2],
    pub(super) class: u16,
    pub(super) u: f32,
    pub(super) number: u32,
}

/// Eight of something, or fewer.
pub(super) type Lanes8<T> = [Option<T>; BLOCK];

/// Eight edges or fewer of one class: where, which class, and a bit per edge.
#[derive(Clone, Debug)]
pub(super) struct Block<E> {
    pub(super) ends: E,
    pub(super) class: u16,
    pub(super) live: u8,
}

/// No edge in this lane.
const NONE: u32 = u32::MAX;

/// What blocks of edges keep from step to step.
#[derive(Clone, Debug, Default)]
pub(super) struct Stored {
    /// Extensions.
    pub(super) u: Vec<Lanes>,
    /// Scene numbers.
    numbers: Vec<[u32; BLOCK]>,
}

impl Stored {
    /// One more block; returns which lanes have an edge.
    pub(super) fn push(&mut self, lanes: &Lanes8<Placed>) -> u8 {
        self.u.push(lanes.map(|e| e.map_or(0.0, |e| e.u)));
        self.numbers.push(lanes.map(|e| e.map_or(NONE, |e| e.number)));
        (0..BLOCK).filter(|&l| lanes[l].is_some()).fold(0, |bits, l| bits | 1 << l)
    }

    /// Scene numbers and extensions.
    pub(super) fn extensions(&self) -> impl Iterator<Item = (u32, f32)> {
        let lanes = self.numbers.iter().flatten().copied().zip(self.u.iter().flatten().copied());
        lanes.filter(|(number, _)| *number != NONE)
    }

    /// Sets the extensions, by scene number.
    pub(super) fn set_extensions(&mut self, all: &[f32]) {
        for (number, u) in self.numbers.iter().flatten().zip(self.u.iter_mut().flatten()) {
            if *number != NONE {
                *u = all[*number as usize];
            }
        }
    }
}
