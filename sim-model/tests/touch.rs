//! Boundaries that are smaller than the pitch: balls, rods and bars that touch faces and edges between the particles.

use nalgebra::Matrix3;
use nendo_model::{
    engine::{
        self, InProcess, Kind, Options, Snapshot,
        cpu::Cpu,
        reference::{Integrator, Reference},
        stability::Stability,
    },
    force::{
        Object,
        contact::{
            force::{ContactForce, Partner},
            law::Contact,
            shape::Shape,
            wall::{Boundary, Hand, Wall},
        },
        real::{Real, Vector, vector},
    },
    mesh::{Lattice, Mesh, Vec3},
    scene::Scene,
};
use proptest::{
    prelude::*,
    strategy::ValueTree,
    test_runner::{RngSeed, TestRunner},
};
use std::f64::consts::FRAC_PI_2;

const PITCH: f64 = 0.1;
const RADIUS: f64 = PITCH / 3.0;
const LAW: Contact<f64> = Contact {
    stiffness: 1000.0,
    damping: 0.0,
    integral: 0.0,
    region: 0.0,
    friction: 0.0,
    slip: 0.0,
    corner: false,
};

fn block() -> Mesh {
    Lattice { size: [5, 5, 2], pitch: PITCH, center: Vec3::zeros() }.mesh().unwrap()
}

/// Positions of a surface that is not flat any more.
fn shaken(mesh: &Mesh, seed: u64, by: f64) -> Vec<Vec3> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / f64::from(1u32 << 30) - 1.0
    };
    mesh.particles.iter().map(|p| p + by * Vec3::new(next(), next(), next())).collect()
}

/// What a boundary does to a mesh whose particles are at `x` and at rest: all forces, and the contacts.
fn press<T: Real>(
    mesh: &Mesh,
    x: &[Vec3],
    shape: &Shape<f64>,
    law: &Contact<f64>,
) -> (Vec<Vec3>, Vec<ContactForce<f64>>) {
    let mass = vec![0.01; x.len()];
    let object = Object { mesh, mass: &mass, free: vec![true; x.len()], joined: Vec::new() };
    let mut wall = Wall::<T>::new(&Boundary::still(*shape), law, Vec3::zeros(), &object);
    let x: Vec<Vector<T>> = x.iter().map(vector).collect();
    let v = vec![Vector::zeros(); x.len()];
    wall.settle(0.0, T::of(1e-3), &x);
    let mut force = vec![Vector::zeros(); x.len()];
    wall.add(&x, &v, &mut force);
    let mut contacts = Vec::new();
    wall.contacts(Partner::Boundary(0), &x, &v, &mut |contact| contacts.push(contact.wide(Vec3::zeros())));
    (force.iter().map(|f| f.map(Real::wide)).collect(), contacts)
}

fn ball(center: Vec3) -> Shape<f64> {
    Shape::Ball { center, radius: RADIUS }
}

/// A ball `depth` deep in the block's top.
fn above(x: f64, y: f64, depth: f64) -> Shape<f64> {
    ball(Vec3::new(x, y, PITCH / 2.0 + RADIUS - depth))
}

fn sum(force: &[Vec3]) -> Vec3 {
    force.iter().sum()
}

#[test]
fn a_ball_smaller_than_the_pitch_fell_through_the_middle_of_a_face() {
    let mesh = block();
    // A third into a square: the middle of one of its two triangles, or of the other.
    for (x, y) in
        [(1.0, 1.0), (2.0, 2.0), (1.0, 2.0), (2.0, 1.0)].map(|(a, b)| (a * PITCH / 3.0, b * PITCH / 3.0))
    {
        for depth in [1e-6, 1e-3, 5e-3] {
            let (force, contacts) = press::<f64>(&mesh, &mesh.particles, &above(x, y, depth), &LAW);
            let whole = sum(&force);
            assert!(
                (whole + 1000.0 * depth * Vec3::z()).norm() < 1e-9 * depth * 1000.0,
                "{whole:?} at {x} {y}"
            );
            let [contact] = &contacts[..] else { panic!("{contacts:?}") };
            // Single precision: of places of a tenth of a metre, times the stiffness.
            let narrow = sum(&press::<f32>(&mesh, &mesh.particles, &above(x, y, depth), &LAW).0);
            assert!((narrow - whole).norm() < 1e-4, "{narrow:?} {whole:?}");
            assert!((contact.depth - depth).abs() < 1e-12 && (contact.normal + Vec3::z()).norm() < 1e-9);
            assert!((contact.place - Vec3::new(x, y, PITCH / 2.0)).norm() < 1e-12);
        }
    }
}

/// Not only over the middles: the same force wherever the ball is on a flat face, also on an edge and a particle.
#[test]
fn a_ball_bears_alike_on_faces_edges_and_particles() {
    let mesh = block();
    let mut kinds = [0; 3];
    for i in 0..=40 {
        for j in 0..=40 {
            let at = |k: i32| 1.5 * PITCH * (f64::from(k) / 20.0 - 1.0);
            let (force, contacts) = press::<f64>(&mesh, &mesh.particles, &above(at(i), at(j), 2e-3), &LAW);
            let whole = sum(&force);
            assert!((whole + 2.0 * Vec3::z()).norm() < 1e-9, "{whole:?} at {i} {j}");
            assert_eq!(contacts.len(), 1, "{contacts:?}");
            match contacts[0].between[0] {
                Partner::Face(_) => kinds[0] += 1,
                Partner::Edge(_) => kinds[1] += 1,
                Partner::Particle(_) => kinds[2] += 1,
                _ => panic!("{contacts:?}"),
            }
        }
    }
    println!("faces, edges, particles: {kinds:?}");
    assert!(kinds.iter().all(|&count| count > 0), "{kinds:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() })]

    /// The force is the sum of what the contacts report, and acts at their places: nothing of it or its moment is lost.
    /// A ball without friction feels no moment about its middle.
    #[test]
    fn forces_and_moments_are_those_at_the_places_of_contact(seed in any::<u64>(), x in -0.2f64..0.2, y in -0.2f64..0.2, depth in 0.0f64..0.01) {
        let mesh = block();
        let now = shaken(&mesh, seed, 0.015);
        let shape = above(x, y, depth);
        let (force, contacts) = press::<f64>(&mesh, &now, &shape, &LAW);
        let size: f64 = force.iter().map(|f| f.norm()).sum();
        let reported: Vec3 = contacts.iter().map(|c| c.force).sum();
        prop_assert!((sum(&force) - reported).norm() <= 1e-12 * size);
        let Shape::Ball { center, .. } = shape else { unreachable!() };
        let moment: Vec3 = now.iter().zip(&force).map(|(x, f)| (x - center).cross(f)).sum();
        let placed: Vec3 = contacts.iter().map(|c| (c.place - center).cross(&c.force)).sum();
        prop_assert!((moment - placed).norm() <= 1e-12 * size && placed.norm() <= 1e-12 * size, "{moment:?} {placed:?}");
        let (narrow, _) = press::<f32>(&mesh, &now, &above(x, y, depth), &LAW);
        let off = force.iter().zip(&narrow).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
        prop_assert!(off < 1e-3 + 0.02 * size, "f32 off by {off} of {size}");
    }

    /// A ball that slides over a surface of hills and hollows is pushed without jumps: by no more than it moves, and what
    /// solving for shares leaves (1.4 % at most in 1500 slides).
    #[test]
    fn forces_go_on_from_face_to_face(seed in any::<u64>(), from in prop::array::uniform2(-0.15f64..0.15), turn in 0.0f64..6.3) {
        let (mesh, step) = (block(), 1e-5);
        let now = shaken(&mesh, seed, 0.01);
        let (s, c) = turn.sin_cos();
        let at = |k: i32| {
            let way = step * f64::from(k);
            press::<f64>(&mesh, &now, &above(from[0] + way * c, from[1] + way * s, 5e-3), &LAW).0
        };
        let all: Vec<Vec<Vec3>> = (0..500).map(at).collect();
        let apart = |pair: &[Vec<Vec3>]| pair[0].iter().zip(&pair[1]).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
        let jump = all.windows(2).map(apart).fold(0.0, f64::max);
        let largest = all.iter().map(|force| force.iter().map(|f| f.norm()).sum()).fold(0.0, f64::max);
        prop_assert!(jump < 0.03 * largest + 3.0 * 1000.0 * step, "{jump} of {largest}");
    }
}

/// What the stability check takes for granted: particles feel a ball no stiffer than one contact, and a rod no stiffer than
/// three; on the edges of strong dents rods may be stiffer for moments, less than once in two hundred times.
#[test]
fn contacts_are_no_stiffer_than_the_stability_check_says() {
    let mut runner = TestRunner::deterministic();
    let places = (any::<u64>(), -0.15f64..0.15, -0.15f64..0.15, 1e-4f64..0.003);
    let mesh = block();
    let mut stiffer = [0, 0];
    for _ in 0..1000 {
        let (seed, x, y, depth) = places.new_tree(&mut runner).unwrap().current();
        let now = shaken(&mesh, seed, 0.002);
        let center = Vec3::new(x, y, PITCH / 2.0 + RADIUS - depth);
        let axis = Vec3::new(x, y, 0.0).normalize();
        let shapes = [Shape::Ball { center, radius: RADIUS }, Shape::Roller { center, axis, radius: RADIUS }];
        for ((shape, most), stiffer) in shapes.iter().zip([1.1, 3.0]).zip(&mut stiffer) {
            let force = |x: &[Vec3]| press::<f64>(&mesh, x, shape, &LAW).0;
            let still = force(&now);
            // The largest change of force for a small displacement, by power iteration.
            let mut way: Vec<Vec3> = shaken(&mesh, !seed, 1.0);
            let mut stiffness = 0.0;
            for _ in 0..30 {
                let size = way.iter().map(|w| w.norm_squared()).sum::<f64>().sqrt();
                if size == 0.0 {
                    break;
                }
                let moved: Vec<Vec3> = now.iter().zip(&way).map(|(x, w)| x + w * (1e-7 / size)).collect();
                way = force(&moved).iter().zip(&still).map(|(a, b)| (a - b) / 1e-7).collect();
                stiffness = way.iter().map(|w| w.norm_squared()).sum::<f64>().sqrt();
            }
            *stiffer += u32::from(stiffness >= most * 1000.0);
        }
    }
    println!("{stiffer:?}");
    assert!(stiffer[0] == 0 && stiffer[1] < 5, "{stiffer:?}");
}

/// Rods as thin as a third of the pitch, along the particles' rows and across: the deeper, the harder, and about as hard as
/// one contact for each pitch of their length.
#[test]
fn a_thin_rod_fell_through_between_the_rows() {
    let mesh = block();
    for (offset, turn) in [(0.05, 0.0), (0.03, 0.0), (0.02, 0.4), (0.05, FRAC_PI_2)] {
        let (s, c) = f64::sin_cos(turn);
        let center = |depth: f64| Vec3::new(offset, offset, PITCH / 2.0 + RADIUS - depth);
        let along = Vec3::new(s, c, 0.0);
        let roller = |depth| Shape::Roller { center: center(depth), axis: along, radius: RADIUS };
        let lift = |shape: &Shape<f64>| {
            let whole = sum(&press::<f64>(&mesh, &mesh.particles, shape, &LAW).0);
            assert!(whole.xy().norm() < 0.01 * whole.norm(), "{whole:?}");
            -whole.z
        };
        let forces = [1e-3, 2e-3].map(|depth| lift(&roller(depth)));
        assert!(
            (forces[1] / forces[0] - 2.0).abs() < 1e-3 && (2.0..8.0).contains(&forces[0]),
            "{turn}: {forces:?}"
        );
        if turn == 0.0 {
            let half = Vec3::new(RADIUS, f64::INFINITY, RADIUS);
            let bar = lift(&Shape::Bar { center: center(1e-3), half, axes: Matrix3::identity() });
            assert!((2.0..8.0).contains(&bar), "{bar}");
        }
    }
}

/// In a plane the outline's edges: a disc pressed on the middle of one pushes in the plane, to the last bit.
#[test]
fn a_disc_fell_through_the_edge_of_a_sheet() {
    let mesh = Lattice { size: [5, 1, 3], pitch: PITCH, center: Vec3::zeros() }.mesh().unwrap();
    let center = Vec3::new(PITCH / 2.0, 0.0, PITCH + RADIUS - 1e-3);
    for shape in [ball(center), Shape::Roller { center, axis: Vec3::y(), radius: RADIUS }] {
        let (force, contacts) = press::<f64>(&mesh, &mesh.particles, &shape, &LAW);
        assert!((sum(&force) + Vec3::z()).norm() < 1e-9 && force.iter().all(|f| f.y == 0.0), "{force:?}");
        assert!(
            matches!(contacts[..], [ContactForce { between: [Partner::Edge(_), _], .. }]),
            "{contacts:?}"
        );
    }
}

/// What is not smaller than the pitch touches particles, as ever: a large ball, a plate, a floor.
#[test]
fn large_boundaries_touch_particles() {
    let mesh = block();
    let top = PITCH / 2.0;
    let length = |a: u32, b: u32| (mesh.particles[a as usize] - mesh.particles[b as usize]).norm();
    let lengths = mesh.triangles.iter().flat_map(|&[a, b, c]| [length(a, b), length(b, c), length(c, a)]);
    let radius = lengths.fold(0.0, f64::max);
    for shape in [
        Shape::Ball { center: Vec3::new(0.03, 0.02, top + radius - 0.03), radius },
        Shape::Bar {
            center: Vec3::new(0.0, 0.0, top),
            half: Vec3::new(1.0, 1.0, 0.001),
            axes: Matrix3::identity(),
        },
        Shape::Plane { point: Vec3::new(0.0, 0.0, top - 0.001), normal: -Vec3::z() },
    ] {
        let (_, contacts) = press::<f64>(&mesh, &mesh.particles, &shape, &LAW);
        assert!(!contacts.is_empty());
        assert!(contacts.iter().all(|c| matches!(c.between[0], Partner::Particle(_))), "{contacts:?}");
    }
}

/// A roller as large as the pitch touched the corners of a sheet by its triangles' diagonals, which are longer.
#[test]
fn a_roller_as_large_as_the_outlines_edges_touches_particles() {
    let mesh = Lattice { size: [5, 1, 3], pitch: PITCH, center: Vec3::zeros() }.mesh().unwrap();
    for (radius, faces) in [(PITCH, false), (0.9 * PITCH, true)] {
        let center = Vec3::new(0.5 * PITCH, 0.0, PITCH + radius - 0.02);
        let roller = Shape::Roller { center, axis: Vec3::y(), radius };
        let (_, contacts) = press::<f64>(&mesh, &mesh.particles, &roller, &LAW);
        assert!(!contacts.is_empty());
        let on_edges = contacts.iter().any(|c| !matches!(c.between[0], Partner::Particle(_)));
        assert_eq!(on_edges, faces, "{contacts:?}");
    }
}

/// A triangle that lies on a small ball under its middle, with gravity.
fn perched(more: &str) -> Scene {
    let text = format!(
        "step = 1e-4\nmass = 0.1\ngravity = [0, 0, -9.81]\n[mesh]\nparticles = [[0.1, 0, 0], [-0.05, 0.0866025, 0], [-0.05, -0.0866025, 0]]\n\
         edges = [[0, 1], [1, 2], [2, 0]]\ntriangles = [[0, 1, 2]]\n[materials.m]\nk1 = 500\nc1 = 1\nc2 = inf\n{more}\
         [[boundaries]]\nname = \"ball\"\nball = {{ center = [0, 0, -0.02], radius = 0.02 }}\n"
    );
    Scene::parse(&text, "perched.toml").unwrap()
}

/// Closed form: what weighs W rests W/K deep in a ball of stiffness K, with an integral at its surface; and the ball
/// bears W.
#[test]
fn a_weight_rests_on_a_ball_at_the_depth_of_the_closed_form() {
    let weight = 3.0 * 0.1 * 9.81;
    for (law, rest) in [
        ("[contact]\nstiffness = 2000\ndamping = 20\nslip = 1e-3\nfriction = 0.5\n", -weight / 2000.0),
        (
            "[contact]\nstiffness = 2000\ndamping = 20\nslip = 1e-3\nfriction = 0.5\nintegral = 20000\nregion = 0.001\n",
            0.0,
        ),
    ] {
        let scene = perched(law);
        for kind in [Kind::F64, Kind::F32] {
            let mut engine = engine::open(&scene, &Options { kind, ..Options::default() }).unwrap();
            engine.advance(20_000).unwrap();
            for p in engine.positions().unwrap() {
                assert!((p.z - rest).abs() < 2e-6, "{kind:?}: {p:?}, not {rest}");
            }
            let reactions = scene.reactions(&engine.sense().unwrap(), 20_000);
            let ball = reactions.iter().find(|r| r.name == "ball").unwrap();
            assert!((ball.force + weight * Vec3::z()).norm() < 1e-3 * weight, "{kind:?}: {ball:?}");
        }
    }
}

/// A block on the floor, a small ball that is pressed into its top and drawn over it.
fn drawn() -> Scene {
    let text = "step = 2e-4\nmass = 0.01\ngravity = [0, 0, -9.81]\n[mesh.box]\nsize = [5, 5, 3]\npitch = 0.1\ncenter = [0, 0, 0.1]\n\
        [materials.m]\nk1 = 300\nc1 = 0.5\nc2 = 50\n[contact]\nstiffness = 500\ndamping = 1\nintegral = 1000\nregion = 0.002\nfriction = 0.4\nslip = 0.02\n\
        [[boundaries]]\nname = \"floor\"\nplane = { point = [0, 0, 0], normal = [0, 0, 1] }\n\
        [[boundaries]]\nname = \"ball\"\nball = { center = [-0.08, 0.03, 0.24], radius = 0.033 }\n\
        frames = [{ t = 0.1, offset = [0, 0, -0.03] }, { t = 0.5, offset = [0.16, -0.05, -0.03] }]\n";
    Scene::parse(text, "drawn.toml").unwrap()
}

/// Integrals of faces are part of a state; single precision tells the same, whatever the threads; and the sums hold.
#[test]
fn a_ball_drawn_over_faces_is_taken_up_again_and_alike_everywhere() {
    let scene = drawn();
    for kind in [Kind::F64, Kind::F32] {
        let open = || engine::open(&scene, &Options { kind, ..Options::default() }).unwrap();
        let (mut straight, mut resumed) = (open(), open());
        straight.advance(1200).unwrap();
        let state = Snapshot::from_bytes(&straight.save().unwrap().of(&scene).to_bytes()).unwrap();
        straight.advance(600).unwrap();
        resumed.restore(&state).unwrap();
        resumed.advance(600).unwrap();
        assert_eq!(straight.state_digest().unwrap(), resumed.state_digest().unwrap(), "{kind:?}");
    }
    let mut exact = Reference::new(&scene, Integrator::Euler);
    let mut single = [1, 2].map(|threads| Cpu::with_parts(&scene, threads, 4).unwrap());
    exact.advance(1500).unwrap();
    single.iter_mut().for_each(|engine| engine.advance(1500).unwrap());
    assert_eq!(single[0].state_digest(), single[1].state_digest());
    let off =
        exact.positions().iter().zip(single[0].positions()).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
    println!("f32 off by {off} m");
    assert!(off < 1e-4 * scene.mesh.width(), "{off}");
    let sensed = exact.sense();
    let on_faces = sensed.contacts.iter().filter(|c| c.boundary() == Some(1));
    assert!(on_faces.clone().any(|c| !matches!(c.between[0], Partner::Particle(_))));
    let (felt, contacts): (Vec3, Vec3) =
        (sensed.particles.iter().sum(), sensed.contacts.iter().map(|c| c.force).sum());
    assert!(
        (felt - contacts).norm() < 1e-10 * contacts.norm(),
        "elements add nothing: {felt:?} {contacts:?}"
    );
    let reactions = scene.reactions(&sensed, 1500);
    let whole: Vec3 = reactions.iter().map(|r| r.force).sum();
    assert!((whole + contacts).norm() < 1e-12 * contacts.norm());
}

/// A hand smaller than the pitch went through the object.
#[test]
fn a_small_hand_went_through_a_face() {
    let mut scene = drawn();
    scene.forces.contact.as_mut().unwrap().boundaries.truncate(1);
    let hand = |z: f64| Hand { center: Vec3::new(0.033, 0.033, z), radius: 0.02 };
    for kind in [Kind::F64, Kind::F32] {
        let mut engine = engine::open(&scene, &Options { kind, ..Options::default() }).unwrap();
        engine.touch(&scene, Some(&hand(0.23))).unwrap();
        engine.advance(10).unwrap();
        engine.touch(&scene, Some(&hand(0.205))).unwrap();
        engine.advance(500).unwrap();
        let reactions = scene.reactions(&engine.sense().unwrap(), 510);
        let force = reactions
            .iter()
            .find(|r| r.name == "hand")
            .unwrap_or_else(|| panic!("{kind:?}: {reactions:?}"))
            .force;
        assert!(force.z > 0.0 + 0.1, "{kind:?}: {force:?}");
    }
}

/// Closed form: a block on a belt, held back by F < mu N, slips at v = slip F/(mu N), with whatever damping.
#[test]
fn a_block_held_back_on_a_belt_slips_at_the_speed_of_the_closed_form() {
    let scene = |damping: f64, slip: &str| {
        Scene::parse(
            &format!(
                "step = 2e-4\nmass = 0.01\ngravity = [0, 0, -10]\n[mesh.box]\nsize = [3, 3, 2]\npitch = 0.1\ncenter = [0, 0, 0.05]\n\
                 [materials.m]\nk1 = 300\nc1 = 2\nc2 = inf\n[[forces]]\non = \"all\"\nforce = [-0.2, 0, 0]\nshare = \"total\"\n\
                 [contact]\nstiffness = 500\nfriction = 0.3\ndamping = {damping}\n{slip}\
                 [[boundaries]]\nplane = {{ point = [0, 0, 0], normal = [0, 0, 1] }}\nbelt = [0.1, 0, 0]\n"
            ),
            "belt.toml",
        )
    };
    let force = 0.3 * 18.0 * 0.01 * 10.0;
    for (damping, slip) in [(1.0, 0.05), (1.0, 0.02), (3.0, 0.05)] {
        let mut engine =
            Reference::new(&scene(damping, &format!("slip = {slip}\n")).unwrap(), Integrator::Euler);
        engine.advance(50_000).unwrap();
        let expected = 0.1 - slip * 0.2 / force;
        for v in engine.velocities() {
            assert!((v.x - expected).abs() < 1e-6, "{v:?}, not {expected}, with {damping} and {slip}");
        }
    }
    assert!(scene(0.0, "slip = 0.05\n").is_ok(), "needs no damping");
    let error = scene(0.0, "").unwrap_err().to_string();
    assert!(error.contains("`slip`") && error.contains("`damping`"), "{error}");
}

/// What the page on scenes says of friction that the step does not bear: it trembles, by no more than h mu N/m, and ends no
/// run. Steps that the stability check lets pass come to rest.
#[test]
fn friction_beyond_what_the_step_bears_trembles_and_no_more() {
    let scene = |slip: f64| {
        let text = format!(
            "step = 1e-3\nmass = 0.01\ngravity = [0, 0, -10]\n[mesh]\nparticles = [[0, 0, 0], [0.1, 0, 0]]\nedges = [[0, 1]]\n\
             [materials.m]\nk1 = 1\nc1 = 1\nc2 = 1\n[[velocities]]\non = \"all\"\nvelocity = [0.05, 0, 0]\n\
             [contact]\nstiffness = 10\ndamping = 0.5\nfriction = 0.3\nslip = {slip}\n\
             [[boundaries]]\nplane = {{ point = [0, 0, 0.01], normal = [0, 0, 1] }}\n"
        );
        Scene::parse(&text, "slide.toml").unwrap()
    };
    let fastest = |scene: &Scene| {
        let mut engine = Reference::new(scene, Integrator::Euler);
        engine.advance(5000).unwrap();
        engine.velocities().iter().map(|v| v.norm()).fold(0.0, f64::max)
    };
    // mu N h/m = 3 mm/s: a damper of ten times that over the slip speed is more than Euler bears.
    let (calm, rough) = (scene(0.01), scene(0.0003));
    assert!(Stability::of(&calm, Integrator::Euler).is_stable());
    assert!(fastest(&calm) < 1e-6, "{}", fastest(&calm));
    let trembling = fastest(&rough);
    assert!((1e-4..=0.3 * 10.0 * 1e-3).contains(&trembling), "{trembling}");
}

/// The check counts friction in: mu K (shortest edge)/20 over the slip speed, on the lightest particle.
#[test]
fn the_stability_check_counts_friction() {
    let step = |slip: f64| {
        let text = format!(
            "step = 1e-5\nmass = 0.01\n[mesh.box]\nsize = [3, 3, 3]\npitch = 0.1\n[materials.m]\nk1 = 1\nc1 = 1e-3\nc2 = 1\n\
             [contact]\nstiffness = 1000\ndamping = 2\nfriction = 0.3\nslip = {slip}\n\
             [[boundaries]]\nplane = {{ point = [0, 0, -1], normal = [0, 0, 1] }}\n"
        );
        Stability::of(&Scene::parse(&text, "rub.toml").unwrap(), Integrator::Euler).largest_step
    };
    // 2 m/(0.3 x 1000 x 0.005/slip), where the edges' damping is little.
    for slip in [0.01, 0.002] {
        let expected = 2.0 * 0.01 * slip / 1.5;
        assert!((step(slip) / expected - 1.0).abs() < 0.02, "{} {expected}", step(slip));
    }
    // At more speed the contact's spring is what counts: c/k.
    assert_eq!(step(10.0), 2.0 / 1000.0);
}
