//! What adds up: forces to nothing, whatever the words, and momentum to what rounding leaves.

use nendo_model::{
    contract::{
        image::{Image, Particle},
        numbers::{Inverse, Profile, Rounding},
    },
    engine::{self, Kind, Options},
    mesh::Vec3,
    scene::{Scene, Support},
    testing,
    twin::{engine::Model, words::Words},
};
use proptest::prelude::*;

const STEPS: u64 = 10;

fn total(list: &[[i64; 3]]) -> [i64; 3] {
    list.iter().fold([0; 3], |sum, f| [0, 1, 2].map(|c| sum[c] + f[c]))
}

/// The same with the force limit that scenes have: so many forces as meet at a particle fit its memory.
fn with_safe_sums(mut image: Image) -> Image {
    let meet = |p: u32| image.edges.iter().filter(|e| e.start == p || e.end == p).count() as i64;
    let most = (0..image.particles.len() as u32).map(meet).max().unwrap_or(0).max(1);
    let n = image.numbers();
    image.constants.force_limit = (n.force_sum.max() / most).min(n.edge_force.max()) as i32;
    image
}

/// How far the rounding of MPM can move a velocity from `v + F/m`, in units in its last place. The increment is rounded
/// once where the step is the unit of time; else the acceleration is, and what the step makes of it once more.
fn rounding(image: &Image) -> f64 {
    let n = image.numbers();
    let once = match n.rounding {
        Rounding::HalfUp => 0.5,
        Rounding::Truncate => 1.0,
    };
    if n.unit_step { once } else { once + image.constants.step.value().abs() * once }
}

/// Velocity units in a step for each force unit, of every particle.
fn mobility(image: &Image, particle: &Particle) -> f64 {
    let inverse = image.constants.inverse_mass[usize::from(particle.class)].value();
    if image.numbers().unit_step { inverse } else { inverse * image.constants.step.value() }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Any graph, any words, overflowing or not, loaded or held: what elements do to particles adds up to exactly nothing
    /// in every step. The force memories hold it modulo their width.
    #[test]
    fn forces_add_up_to_exactly_nothing(image in testing::images(), safe in any::<bool>()) {
        let word = image.numbers().force_sum;
        let image = if safe { with_safe_sums(image) } else { image };
        let mut model = Model::new(image, 1);
        for step in 0..STEPS {
            let words = Words::of(step, &model.particles(), model.extensions(), model.overflow());
            prop_assert_eq!(total(&words.forces(model.image())), [0; 3]);
            model.advance(1);
            let memories: Vec<[i64; 3]> = model.forces().iter().map(|f| f.map(i64::from)).collect();
            prop_assert_eq!(total(&memories).map(|sum| sum.rem_euclid(1 << word.bits)), [0; 3]);
            if safe && !model.overflow().any() {
                prop_assert_eq!(total(&memories), [0; 3]);
            }
        }
    }

    /// A free object without loads keeps its momentum, but for the rounding of each particle's velocity: with equal masses
    /// half a unit in the last place of v per particle and step.
    #[test]
    fn momentum_holds_within_half_a_unit_per_particle_and_step(
        mut image in prop::sample::select(Profile::ALL.to_vec()).prop_flat_map(|profile| testing::images_of(profile, Inverse::Table, false)),
        inverse in 1i32..0x3fff,
    ) {
        image = with_safe_sums(image);
        image.events.clear();
        // One mass, its inverse positive; nothing is held, nothing is loaded.
        image.constants.inverse_mass.truncate(2);
        image.constants.inverse_mass[1].mantissa = if image.profile == Profile::Wide { inverse } else { inverse >> 4 };
        image.particles.iter_mut().for_each(|p| (p.force, p.class) = ([0; 3], 1));
        let (count, allowed) = (image.particles.len() as f64, rounding(&image));
        let momentum = |model: &Model| total(&model.particles().iter().map(|p| p.v.map(i64::from)).collect::<Vec<_>>());
        let mut model = Model::new(image, 1);
        let before = momentum(&model);
        for step in 1..=STEPS {
            model.advance(1);
            if model.overflow().any() {
                break;
            }
            let now = momentum(&model);
            for c in 0..3 {
                let drift = (now[c] - before[c]).abs() as f64;
                prop_assert!(drift <= allowed * count * step as f64, "{} after {}: {}", model.image().profile, step, drift);
            }
        }
    }

    /// With any masses, held particles and loads: each velocity is within that of `v + (F + F_ext) / m`.
    #[test]
    fn each_velocity_is_rounded_once(image in testing::images()) {
        let allowed = rounding(&image);
        let mut model = Model::new(with_safe_sums(Image { events: Vec::new(), ..image }), 1);
        for step in 0..STEPS {
            let before = model.particles();
            let words = Words::of(step, &before, model.extensions(), model.overflow());
            let forces = words.forces(model.image());
            model.advance(1);
            if model.overflow().any() {
                break;
            }
            for ((a, b), force) in before.iter().zip(model.particles()).zip(forces) {
                for c in 0..3 {
                    let wanted = mobility(model.image(), a) * (force[c] + i64::from(a.force[c])) as f64;
                    prop_assert!((f64::from(b.v[c] - a.v[c]) - wanted).abs() <= allowed, "{a:?} {b:?} {force:?}");
                }
            }
        }
    }
}

/// A box that is thrown and wobbles: for a thousand steps on the model and on the hybrid engine, by the same bound.
#[test]
fn a_free_box_keeps_its_momentum() {
    let mut scene = Scene::open("box:4x4x3").unwrap();
    scene.loads.clear();
    let wobble = |p: usize| Vec3::new((p as f64).sin(), (2.0 * p as f64).cos(), (3.0 * p as f64).sin());
    scene.velocity = (0..scene.mass.len()).map(|p| 3.0 * wobble(p) + Vec3::new(0.2, 0.0, -0.1)).collect();
    assert!(scene.support.iter().all(|support| *support == Support::Free));
    let (count, steps) = (scene.mass.len() as f64, 1000);
    let run = |kind, profile: Profile| {
        let image = Image::new(&scene, profile, Inverse::Table).unwrap();
        let options = Options { kind, profile, ..Options::default() };
        let mut engine = engine::open(&scene, &options).unwrap();
        let sum = |v: Vec<Vec3>| v.iter().fold(Vec3::zeros(), |sum, v| sum + v);
        let before = sum(engine.motion().unwrap().1);
        engine.advance(steps).unwrap();
        let after = sum(engine.motion().unwrap().1);
        let lsb = image.scaling.v_lsb(image.numbers());
        ((after - before).amax() / lsb, rounding(&image) * count * steps as f64)
    };
    for kind in [Kind::Model, Kind::Hybrid] {
        for profile in [Profile::Wide, Profile::Paper2005, Profile::Paper2005Plain] {
            let (drift, allowed) = run(kind, profile);
            assert!(drift <= allowed, "{kind:?} {profile}: {drift} of {allowed}");
        }
    }
}
