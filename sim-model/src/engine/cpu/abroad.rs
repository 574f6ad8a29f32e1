//! What parts and their particles know of each other.

use super::columns::Columns;

/// Consecutive particles of another part that edges lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Abroad {
    /// The other part.
    pub(super) part: usize,
    /// The first of them there.
    pub(super) particle: usize,
    /// The first of them among all particles abroad.
    pub(super) slot: usize,
    /// Edges in it.
    pub(super) count: usize,
}

/// Forces of a part's edges.
pub(super) trait Pushes {
    /// On the part's own particles.
    fn on_own(&self) -> &Columns<3>;
    /// On the particles abroad.
    fn on_others(&self) -> &Columns<3>;
}

impl<P: Pushes + ?Sized> Pushes for &mut P {
    fn on_own(&self) -> &Columns<3> {
        (**self).on_own()
    }

    fn on_others(&self) -> &Columns<3> {
        (**self).on_others()
    }
}
