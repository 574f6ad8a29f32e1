//! Small pieces that front ends are put together from.

use crate::circuit::{Build, Net};

/// The and of several one-bit nets.
pub(super) fn every(b: &mut Build, nets: &[&Net]) -> Net {
    nets[1..].iter().fold(nets[0].clone(), |all, net| b.and(&all, net))
}

/// The or of several one-bit nets.
pub(super) fn either(b: &mut Build, nets: &[&Net]) -> Net {
    nets[1..].iter().fold(nets[0].clone(), |sum, net| b.or(&sum, net))
}

/// `a` and not `c`.
pub(super) fn unless(b: &mut Build, a: &Net, c: &Net) -> Net {
    let not = b.not(c);
    b.and(a, &not)
}

/// A register that takes a value when told to.
pub(super) fn hold(b: &mut Build, name: &str, take: &Net, value: &Net) -> Net {
    let state = b.state(name, value.bits());
    let held = state.value().clone();
    let next = b.mux(take, value, &held);
    b.set(state, &next);
    held
}

/// The exclusive or of all bits.
pub(super) fn parity(b: &mut Build, name: &str, net: &Net) -> Net {
    b.verbatim(&format!("wire {name} = ^{};", net.name()));
    b.declared(name, 1, None)
}

/// Whether a net has this value.
pub(super) fn is(b: &mut Build, net: &Net, value: i64) -> Net {
    let value = b.constant(value, net.bits());
    b.eq(net, &value)
}

/// A one-bit state that is set, and stays until it is cleared.
pub(super) fn flag(b: &mut Build, name: &str, set: &Net, clear: &Net, awake: &Net) -> Net {
    let state = b.state(name, 1);
    let value = state.value().clone();
    let still = unless(b, &value, clear);
    let next = b.or(&still, set);
    let next = b.and(&next, awake);
    b.set(state, &next);
    value
}
