//! Sub-circuit 9: the next Voigt extension.
//!
//! ```text
//!  rate first:   u + h lv'                        multiplication by the step (3 clocks), addition
//!  force first:  u + l' (shifted into place) + D f    two additions; the step is the time unit
//! ```

use crate::{
    blocks::{
        arith::{shift_right, wrap},
        class_table::constant_times,
    },
    circuit::{Build, Net},
};
use nendo_model::contract::{
    numbers::{LawForm, Numbers},
    words::TableEntryParts,
};

/// The next extension and whether it fits.
pub(super) struct Next {
    pub(super) value: Net,
    pub(super) fits: Net,
}

pub(super) fn place(
    b: &mut Build,
    n: &Numbers,
    u: &Net,
    rate: &Net,
    second: &Net,
    step: &TableEntryParts<Net>,
    extension_shift: &Net,
) -> Next {
    b.comment("9: next extension");
    let sum = match n.law {
        LawForm::Rate => {
            let increment = constant_times(b, "times_step", step, second, n.rounding);
            let u = b.until(u, increment.stage().unwrap_or(0));
            b.add_signed(&u, &increment)
        }
        LawForm::Force => {
            let wide = b.shift_left(rate, n.max_exponent);
            let stretch = shift_right(b, &wide, extension_shift, n.rounding);
            let u = b.until(u, stretch.stage().unwrap_or(0));
            let stretched = b.add_signed(&u, &stretch);
            let stretched = b.reg(&stretched);
            let [stretched, flow] = b.align([&stretched, second]);
            b.add_signed(&stretched, &flow)
        }
    };
    let sum = b.reg(&sum);
    Next { fits: b.fits(&sum, n.u.bits), value: wrap(b, &sum, n.u.bits) }
}
