//! TEM under Verilator against its model twin: every profile, both inverse forms.

use super::*;
use crate::{
    testing::{cells, synthesise},
    verilated::{Options, Sim},
};
use nendo_model::{
    blocks::{cordic::Cordic, table::Table},
    image::{Constants, Image},
    numbers::{Constant, Numbers},
    tem as twin,
    testing::images_of,
};
use proptest::{prelude::*, strategy::ValueTree, test_runner::TestRunner};

fn entry(c: Constant) -> u128 {
    u128::from(c.shift) << 16 | u128::from(c.mantissa as u16)
}

/// A module with the constants of a run loaded.
fn load(sim: &mut Sim, k: &Constants) {
    for (class, e) in k.elements.iter().enumerate() {
        for (which, constant) in [e.extension, e.rate, e.damper].into_iter().enumerate() {
            sim.set("table_write", 1 << which);
            sim.set("table_class", class as u128);
            sim.set("table_d", entry(constant));
            sim.tick(1);
        }
    }
    sim.set("table_write", 0);
    sim.set_signed("step_mantissa", k.step.mantissa.into());
    sim.set("step_shift", k.step.shift.into());
    sim.set("extension_shift", k.extension_shift.into());
    sim.set("force_limit", k.force_limit as u128);
}

fn model(n: &Numbers, inverse: Inverse, k: &Constants, class: u8, input: &twin::Input) -> twin::Output {
    let class = &k.elements[usize::from(class)];
    match inverse {
        Inverse::Cordic => twin::tem(n, Cordic, k, class, input),
        Inverse::Table => twin::tem(n, Table, k, class, input),
    }
}

/// The edges of a random image as items.
fn items(image: &Image) -> Vec<(u8, twin::Input)> {
    let n = image.numbers();
    let operands = |p: u32| {
        let p = &image.particles[p as usize];
        (p.x.map(|c| n.x.operand(c.into())), p.v.map(|c| n.v.operand(c.into())))
    };
    image
        .edges
        .iter()
        .map(|e| {
            let ((x_start, v_start), (x_end, v_end)) = (operands(e.start), operands(e.end));
            (e.class, twin::Input { x_start, v_start, x_end, v_end, u: e.u.into() })
        })
        .collect()
}

/// Runs items through both; returns how many were compared.
fn compare(sim: &mut Sim, module: &Module, image: &Image) -> usize {
    let (n, k) = (image.numbers(), &image.constants);
    load(sim, k);
    let latency = TemLatency::of(module);
    let items = items(image);
    let expected: Vec<twin::Output> =
        items.iter().map(|(class, input)| model(n, image.inverse, k, *class, input)).collect();
    for clock in 0..items.len() + latency.overflow as usize + 1 {
        if let Some((class, input)) = items.get(clock) {
            for (name, vector) in [
                ("x_start", input.x_start),
                ("v_start", input.v_start),
                ("x_end", input.x_end),
                ("v_end", input.v_end),
            ] {
                (0..3).for_each(|c| sim.set_signed(&format!("{name}{c}"), vector[c]));
            }
            sim.set_signed("u", input.u);
            sim.set("class_number", (*class).into());
        }
        let at = |stage: u32| clock.checked_sub(stage as usize).and_then(|k| Some((k, expected.get(k)?)));
        if let Some((k, out)) = at(latency.force) {
            let found = std::array::from_fn(|c| sim.get_signed(&format!("force{c}")));
            assert_eq!(found, out.force, "force of item {k}: {:?}", items[k]);
        }
        if let Some((k, out)) = at(latency.u_next) {
            assert_eq!(sim.get_signed("u_next"), out.u, "extension of item {k}: {:?}", items[k]);
        }
        if let Some((k, out)) = at(latency.overflow) {
            let found = OVERFLOWS
                .iter()
                .enumerate()
                .fold(0, |bits, (bit, source)| bits | (sim.get("overflow") >> bit & 1) << *source as u32);
            assert_eq!(found, u128::from(out.overflow.bits()), "overflow of item {k}: {:?}", items[k]);
        }
        sim.tick(1);
    }
    items.len()
}

/// Calm and wild images of every configuration; the seed of a failure is printed by the assertion's data.
#[test]
fn it_is_the_models() {
    let mut runner = TestRunner::deterministic();
    for profile in Profile::ALL {
        for inverse in Inverse::ALL {
            let module = tem(profile, inverse);
            let mut sim = Sim::new(&module, Options::default()).unwrap();
            let mut compared = 0;
            for round in 0..150 {
                let image =
                    images_of(profile, inverse, round % 3 == 0).new_tree(&mut runner).unwrap().current();
                compared += compare(&mut sim, &module, &image);
            }
            assert!(compared > 5000, "{compared}");
        }
    }
}

/// The printed circuit column of 2003 comes out of the hardware, with either inverse.
#[test]
fn table3() {
    let scene = nendo_model::scene::Scene::open("table3").unwrap();
    for inverse in Inverse::ALL {
        let module = tem(Profile::Paper2003, inverse);
        let image = Image::new(&scene, Profile::Paper2003, inverse).unwrap();
        let mut sim = Sim::new(&module, Options::default()).unwrap();
        compare(&mut sim, &module, &image);
        sim.tick(module.latency("overflow").into());
        let force: [i64; 3] = std::array::from_fn(|c| sim.get_signed(&format!("force{c}")));
        assert_eq!((force, sim.get_signed("voigt_rate")), ([-338, -203, -68], -992));
    }
}

#[test]
fn it_synthesises_with_the_multipliers_the_contract_counts() {
    use crate::{config::Config, resources::Multipliers};
    for (profile, inverse) in [(Profile::Wide, Inverse::Table), (Profile::Paper2005, Inverse::Cordic)] {
        let found = synthesise(&tem(profile, inverse), "synth_xilinx -family xc2v -flatten -top block");
        let expected = Multipliers::of(&Config::minimal(profile, inverse)).tem;
        assert_eq!(u64::from(cells(&found, "MULT18X18")), expected, "{found}");
    }
}
