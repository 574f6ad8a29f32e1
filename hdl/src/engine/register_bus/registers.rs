//! A register behind the bus: what it keeps, and what it reads.

use super::{Access1, Target};
use crate::circuit::{Build, Net};
use nendo_model::contract::map::{Access, Availability, Register};

pub(super) fn register_target(b: &mut Build, access: &Access1, register: &Register) -> Target {
    let Register { address, bits, .. } = *register;
    let name = register.name.name();
    let hit = access.at(b, address);
    let hit = b.state_reg(&format!("{name}_hit"), &hit);
    let mut chosen = b.and(&hit, &access.act);
    let reading = b.not(&access.write);
    let mut blocked = None;
    let mut allowed = b.constant(1, 1);
    let value = match register.access {
        Access::Constant(value) => {
            allowed = reading;
            Some(b.constant(value.into(), 32))
        }
        Access::ReadOnly => {
            allowed = reading;
            Some(b.input(name, bits))
        }
        Access::ReadWrite => {
            if register.availability == Availability::Idle {
                let running = b.not(&access.idle);
                allowed = b.or(&reading, &access.idle);
                blocked = Some(b.and(&access.write, &running));
                chosen = b.and(&chosen, &access.idle);
            }
            let state = b.state(&format!("{name}_1"), bits);
            let value = state.value().clone();
            let next = written(b, access, &chosen, &value);
            let next = access.unless_reset(b, register, next);
            b.set(state, &next);
            b.output(name, &value);
            Some(value)
        }
        Access::Command => {
            // A command is a whole word whose upper half is the complement of the lower, or nothing.
            let (low, high) = (b.slice(&access.d, 0, 16), b.slice(&access.d, 16, 16));
            let inverted = b.not(&high);
            let sealed = b.eq(&low, &inverted);
            let whole = b.and(&access.full, &sealed);
            allowed = b.or(&reading, &whole);
            let go = b.and(&chosen, &whole);
            let (d, none) = (b.slice(&access.d, 0, bits), b.constant(0, bits));
            let go = b.mux(&go, &d, &none);
            b.output(&format!("{name}_do"), &go);
            None
        }
        Access::WriteOneToClear => {
            let set = b.input(&format!("{name}_set"), bits);
            let state = b.state(&format!("{name}_1"), bits);
            let value = state.value().clone();
            let none = b.constant(0, bits);
            let ones = written(b, access, &chosen, &none);
            let keep = b.not(&ones);
            let kept = b.and(&value, &keep);
            let next = b.or(&kept, &set);
            let next = access.unless_reset(b, register, next);
            b.set(state, &next);
            b.output(name, &value);
            Some(value)
        }
    };
    let q = value.map(|value| b.zero_extend(&value, 32));
    Target { hit, allowed, blocked, q }
}

/// A register's value with the written bytes of `d` in it, if it is `chosen`.
fn written(b: &mut Build, access: &Access1, chosen: &Net, value: &Net) -> Net {
    let bits = value.bits();
    let mut parts: Vec<Net> = Vec::new();
    for byte in 0..bits.div_ceil(8) {
        let width = (bits - 8 * byte).min(8);
        let strobe = b.bit(&access.strobe, byte);
        let on = b.and(chosen, &strobe);
        // A literal has no slices, and the only one here is zero.
        let literal = value.name().contains('\'');
        let old = if literal { b.constant(0, width) } else { b.slice(value, 8 * byte, width) };
        let new = b.slice(&access.d, 8 * byte, width);
        parts.push(b.mux(&on, &new, &old));
    }
    b.concat(&parts.iter().rev().collect::<Vec<_>>())
}
