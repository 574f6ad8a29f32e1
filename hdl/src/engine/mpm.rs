//! MPM, the mass particle module: one particle per clock. Twin: [`nendo_model::twin::mpm`].
//!
//! ```text
//!  sums + F_ext --> x 1/m --> [x h] --> + --> v'          motion, first Euler module
//!                                            ^
//!  v ----------------------------------------+
//!  v (the OLD one) --> shift, or x h --> + --> x'         second Euler module
//!                                        ^
//!  x ------------------------------------+
//! ```
//! Three multipliers where the step is the time unit, nine else. Initiation interval 1; latency: that of
//! `overflow`, the last result. Values that leave their word wrap and set a bit of `overflow`.

use crate::{
    blocks::{
        arith::{shift_right, wrap},
        class_table::{self, CLASS_BITS, WritePort, constant_times},
    },
    circuit::{Build, Module, Net},
};
use nendo_model::contract::{
    numbers::{Numbers, Profile},
    overflow::Source,
};

/// The overflow sources of MPM, in the order of the bits of `overflow`.
pub const OVERFLOWS: [Source; 3] = [Source::ForceSum, Source::Velocity, Source::Position];

/// The stage at which a particle's own words are wanted: later than its forces, which have further to go.
pub const fn state_stage(profile: Profile) -> u32 {
    match profile {
        Profile::Wide => 3,
        Profile::Paper2003 | Profile::Paper2005 | Profile::Paper2005Plain => 2,
    }
}

/// The sum of the three forces of one component, at the second stage, and whether it fits its word.
fn force_sum(b: &mut Build, n: &Numbers, sums: [&Net; 2], external: &Net) -> (Net, Net) {
    let edges = b.add(sums[0], sums[1]);
    let edges = b.reg(&edges);
    let external = b.delay(external, 1);
    let sum = b.add_signed(&edges, &external);
    let sum = b.reg(&sum);
    (wrap(b, &sum, n.force_sum.bits), b.fits(&sum, n.force_sum.bits))
}

/// A word plus an increment, whichever comes later; the word it is to be and whether it fits.
fn accumulate(b: &mut Build, word: &Net, increment: &Net) -> (Net, Net) {
    let [old, increment] = b.align([word, increment]);
    let sum = b.add_signed(&old, &increment);
    let sum = b.reg(&sum);
    (wrap(b, &sum, word.bits()), b.fits(&sum, word.bits()))
}

/// The module for a profile.
///
/// Ports, besides the mass table's write port and the constants of a run: `x`, `v` (stored, at [`state_stage`]), `even`
/// and `odd` (the two sums of forces), `external`, `class_number`; `x_next`, `v_next`, `overflow`.
pub fn mpm(profile: Profile) -> Module {
    let n = profile.numbers();
    let mut b = Build::new("mpm", format!("Mass particle: one particle per clock ({profile})."));
    let table = WritePort::inputs(&mut b, 1);
    let step = class_table::step_inputs(&mut b);
    let position_shift = b.input("position_shift", 4);
    let late = state_stage(profile);
    let x: [Net; 3] = std::array::from_fn(|k| b.input_at(&format!("x{k}"), n.x.bits, late));
    let v: [Net; 3] = std::array::from_fn(|k| b.input_at(&format!("v{k}"), n.v.bits, late));
    let even = b.pipe_inputs("even", n.force_sum.bits);
    let odd = b.pipe_inputs("odd", n.force_sum.bits);
    let external = b.pipe_inputs("external", n.edge_force.bits);
    let class = b.pipe_input("class_number", CLASS_BITS);

    b.comment("1/m");
    let class = b.delay(&class, 1);
    let inverse_mass = table.look_up(&mut b, "mass_constant", 0, &class);

    let (mut sum_fits, mut v_fits, mut x_fits) = (Vec::new(), Vec::new(), Vec::new());
    let mut next_v = Vec::new();
    let mut next_x = Vec::new();
    for k in 0..3 {
        b.comment(&format!("component {k}"));
        let (sum, fits) = force_sum(&mut b, n, [&even[k], &odd[k]], &external[k]);
        sum_fits.push(fits);
        let mut motion = constant_times(&mut b, &format!("motion{k}"), &inverse_mass, &sum, n.rounding);
        if !n.unit_step {
            v_fits.push(b.fits(&motion, n.v.bits));
            let acceleration = wrap(&mut b, &motion, n.v.bits);
            let name = format!("velocity_step{k}");
            motion = constant_times(&mut b, &name, &step, &acceleration, n.rounding);
        }
        let (v_next, fits) = accumulate(&mut b, &v[k], &motion);
        v_fits.push(fits);
        next_v.push(v_next);
        let way = if n.unit_step {
            shift_right(&mut b, &v[k], &position_shift, n.rounding)
        } else {
            constant_times(&mut b, &format!("position_step{k}"), &step, &v[k], n.rounding)
        };
        let (x_next, fits) = accumulate(&mut b, &x[k], &way);
        x_fits.push(fits);
        next_x.push(x_next);
    }

    b.comment("all results at the last stage");
    let last = next_v[0].stage().unwrap_or(0);
    let next_x: [Net; 3] = std::array::from_fn(|k| b.until(&next_x[k], last));
    let next_v: [Net; 3] = std::array::from_fn(|k| next_v[k].clone());
    let bits: Vec<Net> = [sum_fits, v_fits, x_fits]
        .iter()
        .map(|list| {
            let late: Vec<Net> = list.iter().map(|net| b.until(net, last)).collect();
            let fits = late[1..].iter().fold(late[0].clone(), |all, net| b.and(&all, net));
            b.not(&fits)
        })
        .collect();
    let overflow = b.concat(&bits.iter().rev().collect::<Vec<_>>());
    b.output3("x_next", &next_x);
    b.output3("v_next", &next_v);
    b.output("overflow", &overflow);
    b.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        sim::verilated::{Sim, SimOptions},
        testing::{cells, run_pipeline_with, synthesise},
    };
    use nendo_model::{
        contract::{
            image::Image,
            numbers::Inverse,
            words::{RegisterWord, TableEntry},
        },
        testing::{images_of, runner, sample},
        twin::mpm as twin,
    };
    use proptest::prelude::*;

    /// Particles of random images, with random accumulated forces.
    fn compare(sim: &mut Sim, module: &Module, image: &Image, forces: &[[i64; 6]]) {
        let (n, k) = (image.numbers(), &image.constants);
        for (class, constant) in k.inverse_mass.iter().enumerate() {
            sim.set("table_write", 1);
            sim.set("table_class", class as u128);
            sim.set("table_d", TableEntry::from(*constant).bits().into());
            sim.tick(1);
        }
        sim.set("table_write", 0);
        sim.set_signed("step_mantissa", k.step.mantissa.into());
        sim.set("step_shift", k.step.shift.into());
        sim.set("position_shift", k.position_shift.into());
        let inputs: Vec<(u8, twin::Input)> = image
            .particles
            .iter()
            .zip(forces)
            .map(|(p, f)| {
                let three = |c: [i32; 3]| c.map(i64::from);
                let force = std::array::from_fn(|k| f[k] + f[k + 3]);
                (p.class, twin::Input { x: three(p.x), v: three(p.v), force, external: three(p.force) })
            })
            .collect();
        let items: Vec<Vec<i64>> = inputs
            .iter()
            .zip(forces)
            .map(|((class, i), f)| {
                let words = [&i.x[..], &i.v, f, &i.external].concat();
                words.into_iter().chain([i64::from(*class)]).collect()
            })
            .collect();
        for ((class, input), found) in inputs.iter().zip(run_pipeline_with(sim, module, &items)) {
            let out = twin::mpm(n, k, k.inverse_mass[usize::from(*class)], input);
            assert_eq!(found[..6], [out.x, out.v].concat(), "{input:?}");
            let flags = OVERFLOWS
                .iter()
                .enumerate()
                .fold(0, |bits, (bit, s)| bits | (found[6] >> bit & 1) << *s as u32);
            assert_eq!(flags as u8, out.overflow.bits(), "{input:?}");
        }
    }

    #[test]
    fn it_is_the_models() {
        let mut runner = runner();
        for profile in Profile::HARDWARE {
            let module = mpm(profile);
            let mut sim = Sim::new(&module, SimOptions::default()).unwrap();
            for round in 0..200 {
                let image = sample(images_of(profile, Inverse::Table, round % 3 == 0), &mut runner);
                let most = if round % 2 == 0 { 131_072i64 } else { 8_000 };
                let forces = prop::collection::vec(prop::array::uniform6(-most..most), image.particles.len());
                let forces = sample(forces, &mut runner);
                compare(&mut sim, &module, &image, &forces);
            }
        }
    }

    #[test]
    fn it_synthesises_with_the_multipliers_the_contract_counts() {
        use crate::resources::Multipliers;
        use nendo_model::contract::config::Config;
        for profile in [Profile::Wide, Profile::Paper2005] {
            let found = synthesise(&mpm(profile), "synth_xilinx -family xc2v -flatten -top block");
            let expected = Multipliers::of(&Config::minimal(profile, Inverse::Table)).mpm;
            assert_eq!(u64::from(cells(&found, "MULT18X18")), expected, "{found}");
        }
    }
}
