//! The words of particles and forces as this machine likes them.

use crate::{contract::numbers::Numbers, twin::tem};

/// Three words and a spare one: a vector register's worth.
pub(super) type Quad = [i32; 4];

/// What an edge reads of a particle: position and velocity operands, four to a cache line.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(16))]
pub(super) struct Ends([i16; 8]);

impl Ends {
    #[inline(always)]
    pub(super) fn of(n: &Numbers, x: &Quad, v: &Quad) -> Self {
        let x = x.map(|c| n.x.operand(c.into()) as i16);
        let v = v.map(|c| n.v.operand(c.into()) as i16);
        Self([x[0], x[1], x[2], v[0], v[1], v[2], 0, 0])
    }

    /// End minus start: x, y, z of position, then of velocity.
    #[inline(always)]
    pub(super) fn difference(start: &Self, end: &Self) -> [i32; 8] {
        std::array::from_fn(|c| i32::from(end.0[c]) - i32::from(start.0[c]))
    }
}

/// TEM's input from the two particles and the extension.
#[inline(always)]
pub(super) fn input(start: &Ends, end: &Ends, u: i32) -> tem::Input {
    let x = |e: &Ends| [e.0[0].into(), e.0[1].into(), e.0[2].into()];
    let v = |e: &Ends| [e.0[3].into(), e.0[4].into(), e.0[5].into()];
    tem::Input { x_start: x(start), v_start: v(start), x_end: x(end), v_end: v(end), u: u.into() }
}

/// Forces of a block of edges on their way to the accumulators, those of edges l and l + 4 side by side.
#[derive(Default)]
pub(super) struct Scatter(pub(super) [[Quad; 2]; 4]);
