//! Sub-circuits 6 and 7: force and rate of the Voigt part, in the order of the profile's law.
//!
//! ```text
//!  rate first:   lv' = A u + B l' (4 clocks), f = -c2 (l' - lv') (5 clocks)
//!  force first:  f = -(K u + C l') (4 clocks), D f (3 clocks)
//! ```

use super::constant;
use crate::{
    blocks::{
        arith::wrap,
        class_table::{WritePort, constant_times},
    },
    circuit::{Build, Net},
};
use nendo_model::contract::{
    numbers::{LawForm, Numbers},
    words::TableEntryParts,
};

/// What the law computes.
pub(super) struct LawNets {
    /// The scalar force.
    pub(super) force: Net,
    /// lv' where it is formed, else D f.
    pub(super) second: Net,
    /// Whether all rates fit.
    pub(super) rate_fits: Net,
    /// Whether the force fits.
    pub(super) force_fits: Net,
}

pub(super) fn place(
    b: &mut Build,
    n: &Numbers,
    table: &WritePort,
    class: &Net,
    u: &Net,
    rate: &Net,
) -> LawNets {
    let stage = rate.stage().unwrap_or(0);
    b.comment("6, 7: element law");
    let operand = b.slice(u, n.u.residual, n.u.operand_bits());
    let extension = constant(b, table, class, 0, stage);
    let operand = b.until(&operand, stage);
    let spring = times(b, n, "times_extension", &extension, &operand);
    let with_rate = constant(b, table, class, 1, stage);
    let damping = times(b, n, "times_rate", &with_rate, rate);
    match n.law {
        LawForm::Rate => rate_law(b, n, table, class, rate, &spring, &damping),
        LawForm::Force => force_law(b, n, table, class, &spring, &damping),
    }
}

fn times(b: &mut Build, n: &Numbers, name: &str, constant: &TableEntryParts<Net>, operand: &Net) -> Net {
    constant_times(b, name, constant, operand, n.rounding)
}

/// lv' = A u + B l', f = -c2 (l' - lv').
fn rate_law(
    b: &mut Build,
    n: &Numbers,
    table: &WritePort,
    class: &Net,
    rate: &Net,
    spring: &Net,
    damping: &Net,
) -> LawNets {
    let voigt = b.add_signed(spring, damping);
    let voigt = b.reg(&voigt);
    let voigt_fits = b.fits(&voigt, n.rate.bits);
    let voigt = wrap(b, &voigt, n.rate.bits);
    let rate = b.until(rate, voigt.stage().unwrap_or(0));
    let damper = b.sub_signed(&rate, &voigt);
    let damper = b.reg(&damper);
    let damper_fits = b.fits(&damper, n.rate.bits);
    let damper = wrap(b, &damper, n.rate.bits);
    let c2 = constant(b, table, class, 2, damper.stage().unwrap_or(0));
    let pull = times(b, n, "times_damper", &c2, &damper);
    let force = b.negate(&pull);
    let force = b.reg(&force);
    let force_fits = b.fits(&force, n.force.bits);
    let [voigt_fits, damper_fits] = b.align([&voigt_fits, &damper_fits]);
    LawNets {
        force: wrap(b, &force, n.force.bits),
        second: voigt,
        rate_fits: b.and(&voigt_fits, &damper_fits),
        force_fits,
    }
}

/// f = -(K u + C l'), D f.
fn force_law(
    b: &mut Build,
    n: &Numbers,
    table: &WritePort,
    class: &Net,
    spring: &Net,
    damping: &Net,
) -> LawNets {
    // -(a + b) = -a - b, with -a ready a clock early: u is there long before the rate.
    let negative = b.negate(spring);
    let force = b.sub_signed(&negative, damping);
    let force = b.reg(&force);
    let force_fits = b.fits(&force, n.force.bits);
    let force = wrap(b, &force, n.force.bits);
    let d = constant(b, table, class, 2, force.stage().unwrap_or(0));
    let second = times(b, n, "times_damper", &d, &force);
    LawNets { force, second, rate_fits: b.constant(1, 1), force_fits }
}
