//! TEM, the three-element model module: one edge per clock. Twin: [`nendo_model::twin::tem`].
//!
//! ```text
//!  x_j - x_i (1) --+--> inverse length (3) --> unit vector (4) --+-----------------+
//!                  |                              ^              |                 |
//!                  +------------------------------+              v                 v
//!  v_j - v_i (2) --------------------------------> length rate (5) --> law (6, 7) --> f e (8)
//!  u ------------------------------------------------------------------^  |
//!  u + increment (9) <----------------------------------------------------+
//! ```
//! Nine sub-circuits, one file each (6 and 7 share one), generated for every profile and both inverse forms
//! from this source. Initiation interval 1, no stall. Latency: see [`TemLatency`]. Values that leave their
//! word wrap and set a bit of `overflow`.

mod difference;
mod direction;
mod extension;
mod force_vector;
mod inverse_length;
mod law;
mod length_rate;
mod square;

use crate::{
    blocks::class_table::{self, CLASS_BITS},
    circuit::{Build, Module, Net},
};
use nendo_model::contract::{
    numbers::{Inverse, LawForm, Profile},
    words::TableEntryParts,
};

/// The three tables of element constants, by their place in the law.
pub const TABLES: [&str; 3] = ["extension", "rate", "damper"];

/// The overflow sources of TEM, in the order of the bits of `overflow`.
pub const OVERFLOWS: [nendo_model::contract::overflow::Source; 5] = {
    use nendo_model::contract::overflow::Source::{Extension, Force, ForceLimit, Inverse, Rate};
    [Inverse, Rate, Force, ForceLimit, Extension]
};

/// The module for a profile and inverse form.
///
/// Ports, besides the table's write port and the constants of a run: `x_start`, `v_start`, `x_end`, `v_end`
/// (operands), `u` (stored), `class_number`; `force` (three words), `u_next`, `overflow`.
pub fn tem(profile: Profile, inverse: Inverse) -> Module {
    let n = profile.numbers();
    let mut b = Build::new("tem", format!("Three-element model: one edge per clock ({profile}, {inverse})."));
    let table = class_table::WritePort::inputs(&mut b, TABLES.len() as u32);
    let step = class_table::step_inputs(&mut b);
    let extension_shift = b.input("extension_shift", 4);
    let force_limit = b.input("force_limit", n.edge_force.bits);
    let x_start = b.pipe_inputs("x_start", n.x.operand_bits());
    let v_start = b.pipe_inputs("v_start", n.v.operand_bits());
    let x_end = b.pipe_inputs("x_end", n.x.operand_bits());
    let v_end = b.pipe_inputs("v_end", n.v.operand_bits());
    let u = b.pipe_input("u", n.u.bits);
    let class = b.pipe_input("class_number", CLASS_BITS);

    let d = difference::place(&mut b, "relative_position", &x_start, &x_end); // 1
    let w = difference::place(&mut b, "relative_velocity", &v_start, &v_end); // 2
    let square = square::place(&mut b, n, &d);
    let (inverse_length, valid) = inverse_length::place(&mut b, n, inverse, &square); // 3
    let e = direction::place(&mut b, n, &inverse_length, &d); // 4
    let (rate, rate_fits) = length_rate::place(&mut b, n, &e, &w); // 5
    let law = law::place(&mut b, n, &table, &class, &u, &rate); // 6, 7
    let (force, within) = force_vector::place(&mut b, n, &law.force, &e, &force_limit); // 8
    let second = &law.second;
    let next = extension::place(&mut b, n, &u, &rate, second, &step, &extension_shift); // 9

    b.comment("what did not fit, all at the last stage");
    let flags =
        [vec![valid], vec![rate_fits, law.rate_fits], vec![law.force_fits], vec![within], vec![next.fits]];
    let nets = flags.iter().flatten().chain(&force).chain([&next.value]);
    let last = nets.filter_map(Net::stage).max().unwrap_or(0);
    let bits: Vec<Net> = flags
        .iter()
        .map(|list| {
            let late: Vec<Net> = list.iter().map(|net| b.until(net, last)).collect();
            let fits = late[1..].iter().fold(late[0].clone(), |all, net| b.and(&all, net));
            b.not(&fits)
        })
        .collect();
    let overflow = b.concat(&bits.iter().rev().collect::<Vec<_>>());
    // The rate law's Voigt rate is what the papers print; the force law has none of its own.
    if n.law == LawForm::Rate {
        b.output("voigt_rate", second);
    }
    b.output3("force", &force);
    b.output("u_next", &next.value);
    b.output("overflow", &overflow);
    b.finish()
}

/// Clocks from an edge's operands to its results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TemLatency {
    /// To its force vector.
    pub force: u32,
    /// To its next extension.
    pub u_next: u32,
    /// To its overflow flags: the last result.
    pub overflow: u32,
}

impl TemLatency {
    /// The latencies of a module.
    pub fn of(module: &Module) -> Self {
        let [force, u_next, overflow] = ["force0", "u_next", "overflow"].map(|port| module.latency(port));
        Self { force, u_next, overflow }
    }
}

/// Looks a class up in one of the tables; `stage` is when the constant is there.
pub(crate) fn constant(
    b: &mut Build,
    table: &class_table::WritePort,
    class: &Net,
    which: usize,
    stage: u32,
) -> TableEntryParts<Net> {
    let class = b.until(class, stage - class_table::LATENCY);
    table.look_up(b, &format!("{}_constant", TABLES[which]), which as u32, &class)
}

#[cfg(test)]
mod tests;
