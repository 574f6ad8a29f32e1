//! Element laws beside the plain three-element one.
//!
//! A spring, a damper, Voigt's and Maxwell's element need no law of their own: they are limits of the three
//! elements (c2 infinite, k1 zero, c1 zero), see [`three_element`]. What is here is not:
//!
//! | law | states | file |
//! |---|---|---|
//! | slider: the damper is stuck where the Voigt part is too long or too short | 1 | [`slider`] |
//! | the same by assignment: the Voigt part is put back into its range | 1 | [`slider`] |
//! | damper that yields: c2 falls with the force | 1 | [`yielding`] |
//! | generalized Voigt: n Voigt parts in series | n - 1 | [`generalized_voigt`] |
//! | generalized Maxwell: n Maxwell parts in parallel | n | [`generalized_maxwell`] |
//!
//! Why these: [`network`] says which networks of springs and dampers return, keep, or do both.
//!
//! A law is declared in SI units ([`Law`]) and made ready for an engine's numbers ([`ElementLaw`]): states go in,
//! tension and rates come out. A tension is positive in an element that pulls its ends together. To add one: a file with
//! both, a line in the list below, and a line in the list of `read.rs` that says how a scene file names it.

mod elements;
pub mod generalized_maxwell;
pub mod generalized_voigt;
pub mod network;
pub(crate) mod read;
pub mod slider;
pub mod three_element;
pub mod yielding;

pub use elements::{Element, Elements};

use super::real::Real;
use std::fmt::Debug;
use three_element::Material;

/// An element law: its coefficients, in SI units.
pub trait Law: Clone + Debug + PartialEq {
    /// Its name in scene files.
    const NAME: &'static str;
    /// States of one element.
    fn states(&self) -> usize;
    /// Ready to be computed. The material has the coefficients k1, c1, c2 where the law has such.
    fn acting<T: Real>(&self, material: &Material) -> Box<dyn ElementLaw<T>>;
}

/// What happens to an element: length, natural length and rate of the length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stretch<T> {
    /// Length in metres.
    pub length: T,
    /// Natural length in metres.
    pub rest: T,
    /// Rate of the length in m/s.
    pub rate: T,
}

/// The states of one element and their rates, among those of all: the first is in the place of its edge, the others
/// lie behind those of all edges.
pub struct Memory<'a, T> {
    first: usize,
    more: usize,
    states: &'a [T],
    rates: &'a mut [T],
}

impl<'a, T: Copy> Memory<'a, T> {
    /// The state at `first` and those from `more` on.
    pub fn new(first: usize, more: usize, states: &'a [T], rates: &'a mut [T]) -> Self {
        Self { first, more, states, rates }
    }

    /// State number `k`.
    pub fn state(&self, k: usize) -> T {
        self.states[self.place(k)]
    }

    /// Sets the rate of state number `k`.
    pub fn set_rate(&mut self, k: usize, rate: T) {
        self.rates[self.place(k)] = rate;
    }

    fn place(&self, k: usize) -> usize {
        if k == 0 { self.first } else { self.more + k - 1 }
    }
}

/// An element law at work, in an engine's numbers.
pub trait ElementLaw<T: Real>: Debug + Send + Sync {
    /// Before a step: the first state of an element, put back into its range.
    fn settle(&self, _length: T, _rest: T, first: T) -> T {
        first
    }
    /// The tension of an element; sets the rates of its states.
    fn tension(&self, stretch: &Stretch<T>, memory: &mut Memory<'_, T>) -> T;
    /// What its springs hold, in joules.
    fn stored(&self, stretch: &Stretch<T>, memory: &Memory<'_, T>) -> T;
    /// Additions, multiplications and divisions of [`Self::tension`], about.
    fn operations(&self) -> u64;
}

macro_rules! laws {
    ($($(#[$about:meta])* $variant:ident($law:ty),)*) => {
        /// What an element class does that a plain three-element one does not.
        #[derive(Clone, Debug, PartialEq)]
        pub enum AnyLaw {
            $($(#[$about])* $variant($law),)*
        }

        impl AnyLaw {
            /// Its name in scene files.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => <$law>::NAME,)*
                }
            }

            /// States of one element.
            pub fn states(&self) -> usize {
                match self {
                    $(Self::$variant(law) => law.states(),)*
                }
            }

            /// Ready to be computed.
            pub fn acting<T: Real>(&self, material: &Material) -> Box<dyn ElementLaw<T>> {
                match self {
                    $(Self::$variant(law) => law.acting(material),)*
                }
            }
        }
    };
}

laws! {
    /// The damper is stuck, or the Voigt part put back, at limits.
    Slider(slider::Limits<f64>),
    /// The damper yields under force.
    Yielding(yielding::YieldingElement),
    /// Voigt parts in series.
    GeneralizedVoigt(generalized_voigt::GeneralizedVoigt<f64>),
    /// Maxwell parts in parallel.
    GeneralizedMaxwell(generalized_maxwell::GeneralizedMaxwell<f64>),
}

/// What a spring of stiffness k holds at extension d.
fn spring<T: Real>(k: T, d: T) -> T {
    T::of(0.5) * k * d * d
}

fn narrow<T: Real>(parts: &[[f64; 2]]) -> Vec<[T; 2]> {
    parts.iter().map(|part| part.map(T::of)).collect()
}
