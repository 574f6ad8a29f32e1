//! Random engine images for property tests, here and in the crates above.

use crate::contract::{
    image::{Constants, Edge, ElementConstants, Event, Image, Particle, Write},
    numbers::{Constant, ConstantRule, Inverse, Numbers, Profile, Word},
    scaling::Scaling,
};
use proptest::{
    prelude::*,
    strategy::ValueTree,
    test_runner::{RngAlgorithm, TestRng, TestRunner},
};

/// A source of random values. Its seed is printed; `NENDO_SEED` replays it.
pub fn runner() -> TestRunner {
    let fresh = || std::time::UNIX_EPOCH.elapsed().map_or(0, |t| t.as_nanos() as u64);
    let seed = std::env::var("NENDO_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or_else(fresh);
    println!("NENDO_SEED={seed}");
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    TestRunner::new_with_rng(ProptestConfig::default(), rng)
}

/// A value of a strategy.
pub fn sample<S: Strategy>(strategy: S, runner: &mut TestRunner) -> S::Value {
    match strategy.new_tree(runner) {
        Ok(tree) => tree.current(),
        Err(reason) => panic!("{reason}"),
    }
}

/// A raw word: of ordinary size in a calm image, sometimes anything that fits in a wild one.
fn word(bits: u32, wild: bool) -> BoxedStrategy<i32> {
    let max = Word { bits, frac: 0 }.max() as i32;
    let ordinary = -(max >> 4)..=(max >> 4);
    if !wild {
        return ordinary.boxed();
    }
    let extreme = prop::sample::select(vec![0, 1, -1, max, -max - 1]);
    prop_oneof![6 => ordinary, 2 => -max - 1..=max, 1 => -400..=400, 1 => extreme].boxed()
}

fn vector(bits: u32, wild: bool) -> impl Strategy<Value = [i32; 3]> {
    prop::array::uniform3(word(bits, wild))
}

fn constant(n: &'static Numbers, wild: bool) -> impl Strategy<Value = Constant> {
    let shift = match n.constants {
        ConstantRule::Fixed(shift) | ConstantRule::Cut(shift) => shift..=shift,
        ConstantRule::Optimal(most) => 0..=most,
    };
    // A fixed shift leaves no way to make a constant small but a small mantissa.
    let mantissa = word(Constant::MANTISSA_BITS, wild);
    let mantissa = match n.constants {
        ConstantRule::Fixed(_) | ConstantRule::Cut(_) if !wild => mantissa.prop_map(|m| m >> 5).boxed(),
        _ => mantissa,
    };
    // Large shifts keep values within their words; small ones are there to overflow.
    let small = prop::sample::select(if wild { vec![14, 14, 14, 0] } else { vec![14] });
    let shift = (shift, small).prop_map(|(shift, small)| shift.max(small));
    let shift = shift.prop_map(move |s| match n.constants {
        ConstantRule::Fixed(fixed) | ConstantRule::Cut(fixed) => fixed,
        ConstantRule::Optimal(most) => s.min(most),
    });
    (mantissa, shift).prop_map(|(mantissa, shift)| Constant { mantissa, shift })
}

fn constants(n: &'static Numbers, wild: bool) -> impl Strategy<Value = Constants> {
    let element = (constant(n, wild), constant(n, wild), constant(n, wild))
        .prop_map(|(extension, rate, damper)| ElementConstants { extension, rate, damper });
    let exponents = (0..=n.max_exponent, 0..=n.max_exponent);
    let limit = if wild { 1..=32_767 } else { 14_563..=14_563 };
    (
        prop::collection::vec(element, 1..5),
        prop::collection::vec(constant(n, wild), 1..4),
        constant(n, wild),
        exponents,
        limit,
    )
        .prop_map(|(elements, masses, step, (velocity, extension), force_limit)| {
            let zero = Constant { mantissa: 0, shift: masses[0].shift };
            let (position_shift, extension_shift) = match n.unit_step {
                true => (n.position_shift(velocity), n.extension_shift(velocity, extension)),
                false => (0, 0),
            };
            let inverse_mass = std::iter::once(zero).chain(masses).collect();
            Constants { elements, inverse_mass, step, position_shift, extension_shift, force_limit }
        })
}

/// Images with random words: any graph, any constants, held particles, values that overflow.
pub fn images() -> impl Strategy<Value = Image> {
    let profiles = prop::sample::select(Profile::ALL.to_vec());
    let inverses = prop::sample::select(Inverse::ALL.to_vec());
    (profiles, inverses, any::<bool>())
        .prop_flat_map(|(profile, inverse, wild)| images_of(profile, inverse, wild))
}

/// Images for one profile and inverse: calm ones hardly overflow, wild ones nearly always do.
pub fn images_of(profile: Profile, inverse: Inverse, wild: bool) -> impl Strategy<Value = Image> {
    let n = profile.numbers();
    let particles = move |constants: &Constants| {
        let classes = constants.inverse_mass.len() as u8;
        let particle =
            (vector(n.x.bits, wild), vector(n.v.bits, wild), vector(n.edge_force.bits, wild), 0..classes);
        let particle = particle.prop_map(|(x, v, force, class)| Particle { x, v, force, class });
        prop::collection::vec(particle, 2..40)
    };
    let edges = move |constants: &Constants, particles: u32| {
        let classes = constants.elements.len() as u8;
        let edge = (0..particles, 1..particles, 0..classes, word(n.u.bits, wild)).prop_map(
            move |(start, offset, class, u)| Edge { start, end: (start + offset) % particles, class, u },
        );
        prop::collection::vec(edge, 1..120)
    };
    let events = move |particles: u32, classes: u8| {
        let write = prop_oneof![
            vector(n.edge_force.bits, wild).prop_map(Write::Force),
            vector(n.v.bits, wild).prop_map(Write::Velocity),
            (0..classes, any::<bool>()).prop_map(|(class, at_rest)| Write::Release { class, at_rest }),
        ];
        let event = (0u64..8, 0..particles, write).prop_map(|(step, particle, write)| Event {
            step,
            particle,
            write,
        });
        prop::collection::vec(event, 0..4).prop_map(|mut list| {
            list.sort_by_key(|e| e.step);
            list
        })
    };
    constants(n, wild)
        .prop_flat_map(move |c| {
            let p = particles(&c);
            (Just(c), p)
        })
        .prop_flat_map(move |(c, p)| {
            let count = p.len() as u32;
            let classes = c.inverse_mass.len() as u8;
            (edges(&c, count), events(count, classes), Just(c), Just(p))
        })
        .prop_map(move |(edges, events, constants, particles)| Image {
            profile,
            inverse,
            scaling: Scaling {
                time: 1.0,
                length: 1.0,
                mass: 1.0,
                origin: [0.0; 3],
                velocity_exponent: 0,
                extension_exponent: 0,
                force_limit: constants.force_limit,
            },
            constants,
            particles,
            edges,
            events,
        })
}
