//! TEM under Verilator against its model twin: every profile, both inverse forms.

use super::*;
use crate::{
    sim::verilated::{PortId, Sim, SimOptions},
    testing::{cells, synthesise},
};
use nendo_model::{
    contract::{
        image::{Constants, Image},
        numbers::{Constant, Numbers},
        words::{RegisterWord, TableEntry},
    },
    testing::{images_of, runner, sample},
    twin::{
        blocks::{cordic::Cordic, table::Table},
        tem as twin,
    },
};

fn entry(c: Constant) -> u128 {
    TableEntry::from(c).bits().into()
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

/// Runs the edges of an image through both; returns how many were compared.
fn compare(sim: &mut Sim, module: &Module, image: &Image) -> usize {
    compare_items(sim, module, image, &items(image))
}

/// Runs items through both; returns how many were compared.
fn compare_items(sim: &mut Sim, module: &Module, image: &Image, items: &[(u8, twin::Input)]) -> usize {
    let (n, k) = (image.numbers(), &image.constants);
    load(sim, k);
    let latency = TemLatency::of(module);
    let vector = |name: &str| -> [PortId; 3] { std::array::from_fn(|c| sim.port(&format!("{name}{c}"))) };
    let inputs = ["x_start", "v_start", "x_end", "v_end"].map(vector);
    let force = vector("force");
    let [u, class, u_next, overflow] = ["u", "class_number", "u_next", "overflow"].map(|name| sim.port(name));
    let expected: Vec<twin::Output> =
        items.iter().map(|(class, input)| model(n, image.inverse, k, *class, input)).collect();
    let signed = |raw: u32, bits: u32| i64::from((raw << (32 - bits)) as i32 >> (32 - bits));
    for clock in 0..items.len() + latency.overflow as usize + 1 {
        if let Some((number, input)) = items.get(clock) {
            let vectors = [input.x_start, input.v_start, input.x_end, input.v_end];
            for (ports, vector) in inputs.iter().zip(vectors) {
                let bits = n.x.operand_bits();
                (0..3).for_each(|c| sim.set_word(ports[c], vector[c] as u32 & ((1 << bits) - 1)));
            }
            sim.set_word(u, input.u as u32 & ((1 << n.u.bits) - 1));
            sim.set_word(class, (*number).into());
        }
        let at = |stage: u32| clock.checked_sub(stage as usize).and_then(|k| Some((k, expected.get(k)?)));
        if let Some((k, out)) = at(latency.force) {
            let found = force.map(|port| signed(sim.get_word(port), n.edge_force.bits));
            assert_eq!(found, out.force, "force of item {k}: {:?}", items[k]);
        }
        if let Some((k, out)) = at(latency.u_next) {
            assert_eq!(
                signed(sim.get_word(u_next), n.u.bits),
                out.u,
                "extension of item {k}: {:?}",
                items[k]
            );
        }
        if let Some((k, out)) = at(latency.overflow) {
            let flags = sim.get_word(overflow);
            let found =
                OVERFLOWS.iter().enumerate().fold(0, |bits, (bit, s)| bits | (flags >> bit & 1) << *s as u32);
            assert_eq!(found, u32::from(out.overflow.bits()), "overflow of item {k}: {:?}", items[k]);
        }
        sim.tick(1);
    }
    items.len()
}

/// Calm and wild images of every configuration; the seed of a failure is printed by the assertion's data.
#[test]
fn it_is_the_models() {
    let mut runner = runner();
    for profile in Profile::HARDWARE {
        for inverse in Inverse::ALL {
            let module = tem(profile, inverse);
            let mut sim = Sim::new(&module, SimOptions::default()).unwrap();
            let mut compared = 0;
            for round in 0..150 {
                let image = sample(images_of(profile, inverse, round % 3 == 0), &mut runner);
                compared += compare(&mut sim, &module, &image);
            }
            assert!(compared > 5000, "{compared}");
        }
    }
}

/// A small generator, so that ten million items do not take longer to invent than to compute.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A word of at most so many bits, of any magnitude.
    fn word(&mut self, bits: u32) -> i64 {
        let magnitude = self.next() % u64::from(bits);
        ((self.next() << (64 - bits)) as i64) >> (64 - bits) >> magnitude.saturating_sub(3)
    }

    fn vector(&mut self, bits: u32) -> [i64; 3] {
        std::array::from_fn(|_| self.word(bits))
    }
}

/// Ten million edges through the hardware, every force, extension and flag compared. The seed is printed, and
/// `NENDO_SEED` replays it.
#[test]
fn ten_million_edges() {
    let mut runner = runner();
    let mut random = Random(sample(1..u64::MAX, &mut runner));
    let mut compared = 0;
    const ROUNDS: usize = 20;
    const ITEMS: usize = 85_000;
    for profile in Profile::HARDWARE {
        for inverse in Inverse::ALL {
            let n = profile.numbers();
            let module = tem(profile, inverse);
            let mut sim = Sim::new(&module, SimOptions::default()).unwrap();
            for round in 0..ROUNDS {
                let image = sample(images_of(profile, inverse, round % 4 == 0), &mut runner);
                let classes = image.constants.elements.len() as u64;
                let items: Vec<(u8, twin::Input)> = (0..ITEMS)
                    .map(|_| {
                        let (x, v, u) = (n.x.operand_bits(), n.v.operand_bits(), n.u.bits);
                        let input = twin::Input {
                            x_start: random.vector(x),
                            v_start: random.vector(v),
                            x_end: random.vector(x),
                            v_end: random.vector(v),
                            u: random.word(u),
                        };
                        ((random.next() % classes) as u8, input)
                    })
                    .collect();
                compared += compare_items(&mut sim, &module, &image, &items);
            }
        }
    }
    println!("{compared} edges compared");
    assert!(compared >= 10_000_000, "{compared}");
}

/// The printed circuit column of T03 Table 3 comes out of the hardware, with either inverse.
#[test]
fn table3() {
    let scene = nendo_model::scene::Scene::open("table3").unwrap();
    for inverse in Inverse::ALL {
        let module = tem(Profile::Paper2003, inverse);
        let image = Image::new(&scene, Profile::Paper2003, inverse).unwrap();
        let mut sim = Sim::new(&module, SimOptions::default()).unwrap();
        compare(&mut sim, &module, &image);
        sim.tick(module.latency("overflow").into());
        let force: [i64; 3] = std::array::from_fn(|c| sim.get_signed(&format!("force{c}")));
        assert_eq!((force, sim.get_signed("voigt_rate")), ([-338, -203, -68], -992));
    }
}

#[test]
fn it_synthesises_with_the_multipliers_the_contract_counts() {
    use crate::resources::Multipliers;
    use nendo_model::contract::config::Config;
    let (profile, inverse) = (Profile::Wide, Inverse::Table);
    let found = synthesise(&tem(profile, inverse), "synth_xilinx -family xc2v -flatten -top block");
    let expected = Multipliers::of(&Config::minimal(profile, inverse)).tem;
    assert_eq!(u64::from(cells(&found, "MULT18X18")), expected, "{found}");
}
