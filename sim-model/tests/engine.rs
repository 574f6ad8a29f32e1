//! The bit-accurate engine's promises: the same bits for any order, any threads, any instruction set.

use nendo_model::engine::InProcess;
use nendo_model::{
    contract::{
        image::{Edge, Image, Particle},
        numbers::{Inverse, Profile},
        overflow::Overflow,
    },
    engine::reference::{Integrator, Reference},
    force::Material,
    mesh::Vec3,
    scene::{Load, Motion, Scene, Support},
    testing,
    trajectory::Key,
    twin::engine::Model,
};
use proptest::prelude::*;

fn image(name: &str, profile: Profile, inverse: Inverse) -> Image {
    Image::new(&Scene::open(name).unwrap(), profile, inverse).unwrap()
}

fn after(mut engine: Model, steps: u64) -> (String, Overflow) {
    engine.advance(steps);
    (engine.state_digest(), engine.overflow())
}

/// A permutation of 0..n that depends on the seed.
fn permutation(n: usize, seed: u64) -> Vec<u32> {
    let mut keyed: Vec<(u64, u32)> =
        (0..n as u32).map(|k| ((u64::from(k) ^ seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20, k)).collect();
    keyed.sort_unstable();
    keyed.into_iter().map(|(_, k)| k).collect()
}

/// The same image with its particles renumbered: old particle k becomes `place[k]`.
fn renumbered(image: &Image, place: &[u32]) -> Image {
    let mut out = image.clone();
    for (old, &new) in place.iter().enumerate() {
        out.particles[new as usize] = image.particles[old];
    }
    let moved = |p: u32| place[p as usize];
    out.edges = image.edges.iter().map(|e| Edge { start: moved(e.start), end: moved(e.end), ..*e }).collect();
    out.events.iter_mut().for_each(|e| e.particle = moved(e.particle));
    out
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Overflowing or not: state and flags do not depend on threads, edge order or instruction set.
    #[test]
    fn one_result_for_every_way_to_compute_it(image in testing::images(), seed in any::<u64>(), threads in 1usize..4) {
        let expected = after(Model::new(image.clone(), 1).plain(), 10);
        let order = permutation(image.edges.len(), seed);
        prop_assert_eq!(&expected, &after(Model::new(image.clone(), threads), 10));
        prop_assert_eq!(&expected, &after(Model::with_order(image.clone(), 1, order.clone()), 10));
        prop_assert_eq!(&expected, &after(Model::with_order(image, threads, order).plain(), 10));
    }

    /// Nor on how the particles are numbered.
    #[test]
    fn particle_numbers_do_not_matter(image in testing::images(), seed in any::<u64>()) {
        let place = permutation(image.particles.len(), seed);
        let mut one = Model::new(image.clone(), 1);
        let mut other = Model::new(renumbered(&image, &place), 1);
        one.advance(10);
        other.advance(10);
        let mut back = vec![Particle::default(); place.len()];
        let moved = other.particles();
        for (old, &new) in place.iter().enumerate() {
            back[old] = moved[new as usize];
        }
        prop_assert_eq!(one.particles(), back);
        prop_assert_eq!(one.extensions(), other.extensions());
        prop_assert_eq!(one.overflow(), other.overflow());
    }

    /// An edge without length has an exponent of nothing, which debug builds would not subtract from.
    #[test]
    fn ends_at_one_place_stopped_debug_builds(mut image in testing::images()) {
        for k in 0..image.edges.len() {
            let [start, end] = [image.edges[k].start, image.edges[k].end].map(|p| p as usize);
            image.particles[end].x = image.particles[start].x;
        }
        (image.profile, image.inverse) = (Profile::Wide, Inverse::Table);
        prop_assert_eq!(after(Model::new(image.clone(), 1), 1), after(Model::new(image, 2), 1));
    }

    /// Running in pieces is running at once, events included.
    #[test]
    fn pieces_make_the_whole(image in testing::images(), cut in 0u64..10) {
        let mut pieces = Model::new(image.clone(), 1);
        pieces.advance(cut);
        pieces.advance(10 - cut);
        prop_assert_eq!(after(Model::new(image, 1), 10), (pieces.state_digest(), pieces.overflow()));
    }
}

/// The random images do what they are for: some overflow, many do not.
#[test]
fn random_images_cover_both_sides() {
    use proptest::{strategy::ValueTree, test_runner::TestRunner};
    let mut runner = TestRunner::deterministic();
    let mut flags = Overflow::NONE;
    let mut calm = 0;
    for _ in 0..300 {
        let image = testing::images().new_tree(&mut runner).unwrap().current();
        let mut engine = Model::new(image, 1);
        engine.advance(2);
        flags = flags.union(engine.overflow());
        calm += u32::from(!engine.overflow().any());
    }
    assert_eq!(flags.sources().count(), 8, "{flags}");
    assert!((60..240).contains(&calm), "{calm}");
}

/// (steps, digest) per scene and configuration. Changed on purpose: `wide` when the limit of a force became that of all
/// edges of a particle together, which makes sums safe in any parts.
#[test]
fn goldens() {
    let cases = [
        ("cube9", Profile::Wide, Inverse::Table, 200, "4017b8d7614a07b8"),
        ("cube9", Profile::Wide, Inverse::Cordic, 200, "1fc1cd61d1b258b1"),
        ("cube9", Profile::Paper2005, Inverse::Cordic, 200, "9682e05845e9a5af"),
        ("cube9", Profile::Paper2003, Inverse::Cordic, 200, "7974059453109960"),
        ("block16", Profile::Wide, Inverse::Table, 20, "754e29b3adc8ee0a"),
        ("single", Profile::Wide, Inverse::Table, 2000, "d6b44c1ba726cee5"),
    ];
    let found: Vec<String> = cases
        .iter()
        .map(|&(name, profile, inverse, steps, _)| {
            let (digest, overflow) = after(Model::new(image(name, profile, inverse), 1), steps);
            assert!(!overflow.any(), "{name} {profile}: {overflow}");
            digest[..16].to_owned()
        })
        .collect();
    let expected: Vec<&str> = cases.iter().map(|c| c.4).collect();
    assert_eq!(found, expected);
}

/// The printed circuit column again, through the engine.
#[test]
fn table3_through_the_engine() {
    for inverse in Inverse::ALL {
        let engine = Model::new(image("table3", Profile::Paper2003, inverse), 1);
        let out = engine.element(0);
        assert_eq!((out.force, out.voigt_rate), ([-338, -203, -68], -992));
    }
}

/// Truncation drifts the whole object in the negative direction, rounding does not.
#[test]
fn truncating_arithmetic_drifts() {
    let drift = |profile| {
        let mut scene = Scene::open("cube9").unwrap();
        scene.loads.clear();
        let mut engine = Model::new(Image::new(&scene, profile, Inverse::Cordic).unwrap(), 1);
        engine.advance(1000);
        engine.positions().iter().map(|p| p.sum()).sum::<f64>() / 729.0
    };
    assert_eq!(drift(Profile::Paper2005), 0.0);
    assert!(drift(Profile::Wide).abs() < 1e-9);
    // At rest nothing is truncated; a push shows it.
    let mut scene = Scene::open("cube9").unwrap();
    scene.loads.clear();
    scene
        .velocity
        .iter_mut()
        .enumerate()
        .for_each(|(k, v)| *v = Vec3::repeat(if k % 2 == 0 { 1.0 } else { -1.0 }));
    let mut engine = Model::new(Image::new(&scene, Profile::Paper2003, Inverse::Cordic).unwrap(), 1);
    engine.advance(2000);
    let mean = engine.positions().iter().map(|p| p.sum()).sum::<f64>() / 729.0;
    assert!(mean < -0.5, "{mean}");
}

/// Elastic, viscoplastic and rheological objects on the fixed-point engine, by the closed form: a chain
/// pulled for a while and let go.
#[test]
fn three_kinds_of_object_in_fixed_point() {
    let (force, time) = (100.0, 0.2);
    for (kind, m) in [
        ("elastic", Material::elastic(250.0, 20.0).unwrap()),
        ("viscoplastic", Material::viscoplastic(200.0, 100.0).unwrap()),
        ("rheological", Material::new(250.0, 20.0, 100.0).unwrap()),
    ] {
        let mut scene = Scene::open("single").unwrap();
        scene.materials[0].material = m;
        scene.mass[1] = 0.01;
        scene.step = 1e-4;
        scene.duration = 2.0;
        scene.loads =
            vec![Load { particles: vec![1], force: Vec3::new(force, 0.0, 0.0), from: 0.0, to: time }];
        let mut engine = Model::new(Image::new(&scene, Profile::Wide, Inverse::Table).unwrap(), 1);
        let place = |e: &Model| e.positions()[1].x - 10.0;
        engine.advance(scene.steps_for(time));
        let loaded = place(&engine);
        engine.advance(scene.steps_for(2.0));
        let (back, residual) = (loaded - place(&engine), place(&engine));
        assert!(!engine.overflow().any(), "{kind}: {}", engine.overflow());
        let spring = m.k1 > 0.0;
        let voigt = if spring { force / m.k1 * (1.0 - (-m.k1 * time / m.c1).exp()) } else { 0.0 };
        let stays = force * time * m.flow() + if spring { 0.0 } else { force * time / m.c1 };
        assert!((back - voigt).abs() < 0.015 * (voigt + stays), "{kind}: returned {back}, expected {voigt}");
        assert!(
            (residual - stays).abs() < 0.015 * (voigt + stays),
            "{kind}: kept {residual}, expected {stays}"
        );
    }
}

/// A large c2 is where the papers' order of operations fails and the force-first order does not.
#[test]
fn nearly_elastic_objects_stay_accurate() {
    let mut scene = Scene::open("cube9").unwrap();
    scene.materials[0].material = Material::new(250.0, 20.0, 1e7).unwrap();
    let mut engine = Model::new(Image::new(&scene, Profile::Wide, Inverse::Table).unwrap(), 1);
    let mut exact = Reference::new(&scene, Integrator::Euler);
    engine.advance(3000);
    exact.advance(3000).unwrap();
    let distance = |(a, b): (&Vec3, &Vec3)| (a - b).norm();
    let error = engine.positions().iter().zip(&exact.positions()).map(distance).sum::<f64>() / 729.0 / 80.0;
    assert!(error < 1e-4, "{error}");
}

#[test]
fn moved_particles_arrive_and_pinned_ones_stay() {
    for profile in [Profile::Paper2005, Profile::Wide] {
        let mut scene = Scene::open("box:3x3x3").unwrap();
        scene.loads.clear();
        scene.support[0] = Support::Pinned;
        scene.velocity[0] = Vec3::x();
        scene.support[26] = Support::Moved(0);
        let way = Vec3::new(0.3, 0.5, 1.0);
        scene.motions = vec![Motion::along(vec![Key::shift(0.5, way), Key::shift(0.9, Vec3::zeros())])];
        let mut engine = Model::new(Image::new(&scene, profile, Inverse::Table).unwrap(), 1);
        let lsb = engine.image().scaling.x_lsb(profile.numbers());
        let moved = |e: &Model| e.positions()[26] - scene.mesh.particles[26];
        engine.advance(500);
        assert!((moved(&engine) - way).amax() <= lsb, "{profile}: {}", moved(&engine));
        engine.advance(500);
        assert!(moved(&engine).amax() <= lsb);
        assert_eq!(engine.positions()[0], scene.mesh.particles[0]);
        assert!(!engine.overflow().any());
    }
}
