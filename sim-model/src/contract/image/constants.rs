//! A scene's materials, masses and step as constants of the engine.

use super::{Constants, ElementConstants, ImageError, MASS_CLASSES};
use crate::{
    contract::{
        numbers::{Constant, ConstantRule, LawForm, Numbers, Profile},
        scaling::Scaling,
    },
    scene::Scene,
};

/// Class of each particle once it is free, and the masses of the classes from 1 on.
pub(super) fn mass_classes(scene: &Scene) -> Result<(Vec<u8>, Vec<f64>), ImageError> {
    let mut masses: Vec<f64> =
        (0..scene.mass.len()).filter(|&p| scene.becomes_free(p)).map(|p| scene.mass[p]).collect();
    masses.sort_by(f64::total_cmp);
    masses.dedup();
    if masses.len() >= MASS_CLASSES {
        return Err(ImageError::Masses { found: masses.len(), max: MASS_CLASSES - 1 });
    }
    let class = |p: usize| match scene.becomes_free(p) {
        true => 1 + masses.partition_point(|&m| m < scene.mass[p]) as u8,
        false => 0,
    };
    Ok(((0..scene.mass.len()).map(class).collect(), masses))
}

/// What elements and particles are multiplied by, in the engine's units.
pub(super) fn constants(
    scene: &Scene,
    profile: Profile,
    s: &Scaling,
    masses: &[f64],
) -> Result<Constants, ImageError> {
    let n = profile.numbers();
    let make = |what: &dyn Fn() -> String, value: f64, ratio: f64, hint| {
        Constant::new(ratio, n.constants).ok_or_else(|| ImageError::Constant {
            what: what(),
            value,
            profile,
            hint,
        })
    };
    let u_operand = s.u_lsb(n) * 2f64.powi(n.u.residual as i32);
    let v_operand = s.v_lsb(n) * 2f64.powi(n.v.residual as i32);
    let rate = v_operand * 2f64.powi(n.v.frac - n.rate.frac);
    let force = s.force_lsb(n);
    let stiff = "raise scaling.mass, or shorten the step";
    let mut elements = Vec::new();
    for class in &scene.materials {
        let m = class.material;
        let name = |symbol: &'static str| move || format!("{symbol} of material `{}`", class.name);
        elements.push(match n.law {
            LawForm::Rate => ElementConstants {
                extension: make(&name("k1/(c1+c2)"), m.a(), m.a() * u_operand / rate, stiff)?,
                rate: make(&name("c2/(c1+c2)"), m.b(), m.b(), stiff)?,
                damper: make(
                    &name("c2"),
                    m.c2,
                    m.c2 * rate / force,
                    "raise scaling.mass, or use profile wide",
                )?,
            },
            LawForm::Force => ElementConstants {
                extension: make(&name("stiffness k1 c2/(c1+c2)"), m.k(), m.k() * u_operand / force, stiff)?,
                rate: make(&name("damping c1 c2/(c1+c2)"), m.c(), m.c() * rate / force, stiff)?,
                damper: make(
                    &name("flow 1/c2"),
                    m.flow(),
                    m.flow() * force * s.time / s.u_lsb(n),
                    "raise scaling.extension_exponent, or shorten the step",
                )?,
            },
        });
    }
    let mut inverse_mass = vec![Constant { mantissa: 0, shift: idle_shift(n) }];
    for &mass in masses {
        // One step's velocity increment where the step is the unit, else the acceleration.
        let ratio = if n.unit_step { force * s.time / s.v_lsb(n) } else { s.mass };
        let hint = "lower scaling.mass or raise scaling.velocity_exponent";
        inverse_mass.push(make(&|| format!("inverse of mass {mass} kg"), 1.0 / mass, ratio / mass, hint)?);
    }
    let step = match n.unit_step {
        true => Constant::default(),
        false => make(&|| "step".to_owned(), scene.step, scene.step / s.time, "raise scaling.time")?,
    };
    Ok(Constants {
        elements,
        inverse_mass,
        step,
        position_shift: if n.unit_step { n.position_shift(s.velocity_exponent) } else { 0 },
        extension_shift: if n.unit_step {
            n.extension_shift(s.velocity_exponent, s.extension_exponent)
        } else {
            0
        },
        force_limit: s.force_limit,
    })
}

/// The shift of a constant that is zero: any would do, and a fixed rule leaves no choice.
fn idle_shift(numbers: &Numbers) -> u32 {
    match numbers.constants {
        ConstantRule::Fixed(shift) | ConstantRule::Cut(shift) => shift,
        ConstantRule::Optimal(_) => 0,
    }
}
