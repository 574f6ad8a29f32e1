//! Forces beyond edges add up to nothing, whatever the shape, in f64 and f32; so do their moments where promised.

use nendo_model::engine::InProcess;
use nendo_model::{
    engine::{
        cpu::Cpu,
        reference::{Integrator, Reference},
    },
    force::{
        Acting,
        contact::{Contacts, law::Contact, pairs::Pairs, shape::Shape, wall::Boundary},
        link::{Link, Links},
        real::{Real, Vector, vector},
        topology::{Preserve, Topology},
        volume::{Pressure, Scope, Volume},
    },
    mesh::{Lattice, Mesh, Vec3},
    scene::{Load, Scene},
};
use proptest::prelude::*;

fn lattice(flat: bool) -> Mesh {
    let size = if flat { [4, 1, 3] } else { [3, 4, 3] };
    Lattice { size, pitch: 1.0, center: Vec3::zeros() }.mesh().unwrap()
}

/// Positions shaken so much that elements turn over, and velocities; a flat mesh stays in its plane.
fn shaken(mesh: &Mesh, flat: bool, seed: u64, by: f64) -> (Vec<Vec3>, Vec<Vec3>) {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / f64::from(1u32 << 30) - 1.0
    };
    let mut vector = || Vec3::new(next(), if flat { 0.0 } else { next() }, next());
    let x: Vec<Vec3> = mesh.particles.iter().map(|p| p + by * vector()).collect();
    let v = x.iter().map(|_| vector()).collect();
    (x, v)
}

type Add<'a, T> = &'a dyn Fn(&[Vector<T>], &[Vector<T>], &mut [Vector<T>]);

/// Sum and moment of forces, and how large they are.
fn sums<T: Real>(x: &[Vec3], v: &[Vec3], add: Add<'_, T>) -> (f64, f64, f64) {
    let narrow = |list: &[Vec3]| -> Vec<Vector<T>> { list.iter().map(vector).collect() };
    let (x, v) = (narrow(x), narrow(v));
    let mut force = vec![Vector::zeros(); x.len()];
    add(&x, &v, &mut force);
    let wide = |f: &Vector<T>| Vec3::new(f.x.wide(), f.y.wide(), f.z.wide());
    let sum: Vec3 = force.iter().map(wide).sum();
    let moment: Vec3 = x.iter().zip(&force).map(|(x, f)| wide(x).cross(&wide(f))).sum();
    let size: f64 = force.iter().map(|f| wide(f).norm()).sum();
    (sum.norm(), moment.norm(), size)
}

const PRESERVE: Preserve<f64> = Preserve { stiffness: 10.0, damping: 1.0, threshold: 0.2 };
const CONTACT: Contact<f64> = Contact {
    stiffness: 100.0,
    damping: 2.0,
    integral: 50.0,
    region: 0.3,
    friction: 0.4,
    slip: 0.0,
    corner: true,
};

proptest! {
    #[test]
    fn topology_forces_add_up_to_zero(seed in any::<u64>(), flat in any::<bool>(), by in 0.1f64..1.5) {
        let mesh = lattice(flat);
        let (x, v) = shaken(&mesh, flat, seed, by);
        let wide = Topology::<f64>::new(&mesh, &PRESERVE);
        let (sum, _, size) = sums::<f64>(&x, &v, &|x, v, f| wide.add(x, v, f));
        prop_assert!(sum <= 1e-12 * size, "{sum} of {size}");
        let narrow = Topology::<f32>::new(&mesh, &PRESERVE);
        let (sum, _, size) = sums::<f32>(&x, &v, &|x, v, f| narrow.add(x, v, f));
        prop_assert!(sum <= 1e-5 * size, "{sum} of {size}");
    }

    /// Where the foot is inside the opposite side, moments add up to zero, too.
    #[test]
    fn topology_moments_vanish_inside(a in 0.2f64..0.8, height in -1.0f64..0.1, turn in 0.0f64..6.0, speed in -1.0f64..1.0) {
        let (s, c) = turn.sin_cos();
        let place = |x: f64, z: f64| Vec3::new(c * x - s * z, 0.0, s * x + c * z);
        let x = [place(0.0, 0.0), place(1.0, 0.0), place(a, height)];
        let v = [place(0.3, -speed), place(-0.2, 0.1), place(0.0, speed)];
        let (sum, moment, size) = sums::<f64>(&x, &v, &|x, v, f| PRESERVE.edge(2, [0, 1], &-Vec3::y(), x, v, f));
        prop_assert!(size > 0.0 && sum <= 1e-12 * size && moment <= 1e-12 * size, "{sum} {moment} of {size}");
        let x = [Vec3::zeros(), Vec3::x(), Vec3::y(), Vec3::new(0.3 * a, 0.3, height)];
        let v = [place(0.3, -speed), Vec3::y(), Vec3::z() * speed, Vec3::zeros()];
        let (sum, moment, size) = sums::<f64>(&x, &v, &|x, v, f| PRESERVE.face(3, [0, 1, 2], x, v, f));
        prop_assert!(size > 0.0 && sum <= 1e-12 * size && moment <= 1e-12 * size, "{sum} {moment} of {size}");
    }

    #[test]
    fn volume_forces_and_moments_add_up_to_zero(seed in any::<u64>(), flat in any::<bool>(), whole in any::<bool>(), by in 0.1f64..1.0) {
        let mesh = lattice(flat);
        let (x, v) = shaken(&mesh, flat, seed, by);
        let per = if whole { Scope::Object } else { Scope::Element };
        let pressure = Pressure { stiffness: 3.0, damping: 0.5, per };
        let wide = Volume::<f64>::new(&mesh, &pressure);
        let (sum, moment, size) = sums::<f64>(&x, &v, &|x, v, f| wide.add(x, v, f));
        prop_assert!(size > 0.0 && sum <= 1e-12 * size && moment <= 1e-11 * size, "{sum} {moment} of {size}");
        let narrow = Volume::<f32>::new(&mesh, &pressure);
        let (sum, _, size) = sums::<f32>(&x, &v, &|x, v, f| narrow.add(x, v, f));
        prop_assert!(sum <= 1e-5 * size, "{sum} of {size}");
    }

    #[test]
    fn links_add_up_to_zero(seed in any::<u64>(), by in 0.1f64..1.0) {
        let mesh = lattice(false);
        let (x, v) = shaken(&mesh, false, seed, by);
        // Particle 1 lies between 0 and 2.
        let link = Link::new(&mesh, 1, [0, 2], 7.0, 0.0).unwrap();
        prop_assert_eq!(link.place.shares[1], 0.5);
        let (sum, moment, size) = sums::<f64>(&x, &v, &|x, v, f| link.add(x, v, f));
        prop_assert!(size > 0.0 && sum <= 1e-12 * size && moment <= 1e-12 * size, "{sum} {moment} of {size}");
        let damped = Link { damping: 2.0, ..link };
        let (sum, ..) = sums::<f64>(&x, &v, &|x, v, f| damped.add(x, v, f));
        prop_assert!(sum <= 1e-12 * size.max(1.0));
    }

    /// Surfaces of two boxes pushed into each other: forces are there and add up to zero, and push the boxes apart.
    #[test]
    fn contacts_add_up_to_zero(seed in any::<u64>(), flat in any::<bool>(), dx in -1.0f64..1.0, gap in -0.3f64..0.2) {
        let one = lattice(flat);
        let top = one.bounds().1.z - one.bounds().0.z;
        let count = one.particles.len();
        let mut mesh = one.clone();
        let up = Vec3::new(0.37 * dx, if flat { 0.0 } else { 0.41 }, top + 0.1);
        mesh.particles.extend(one.particles.iter().map(|p| p + up));
        mesh.edges.extend(one.edges.iter().map(|e| e.map(|p| p + count as u32)));
        mesh.triangles.extend(one.triangles.iter().map(|t| t.map(|p| p + count as u32)));
        mesh.tetrahedra.extend(one.tetrahedra.iter().map(|t| t.map(|p| p + count as u32)));
        let (mut x, v) = shaken(&mesh, flat, seed, 0.05);
        x[count..].iter_mut().for_each(|p| p.z += gap - 0.1);
        let frictionless = Contact { friction: 0.0, damping: 0.0, ..CONTACT };
        let mut wide = Pairs::<f64>::new(&mesh, &CONTACT, &[]);
        wide.settle(0.01, &x);
        let (sum, _, size) = sums::<f64>(&x, &v, &|x, v, f| wide.add(x, v, f));
        prop_assert!(size > 0.0 && sum <= 1e-12 * size, "{sum} of {size}");
        let mut still = Pairs::<f64>::new(&mesh, &frictionless, &[]);
        still.settle(0.01, &x);
        let mut force = vec![Vec3::zeros(); x.len()];
        still.add(&x, &v, &mut force);
        let lift: Vec3 = force[count..].iter().sum();
        prop_assert!(lift.z > 0.0, "{lift:?}");
    }
}

/// A scene with everything: the same bits for any number of threads, and close to f64.
#[test]
fn everything_at_once_is_deterministic() {
    let mut scene = Scene::open("box:5x5x5").unwrap();
    scene.forces.topology = Some(Preserve { stiffness: 200.0, damping: 5.0, threshold: 1.0 });
    scene.forces.volume = Some(Pressure { stiffness: 1e-4, damping: 1e-5, per: Scope::Object });
    let link = Link::new(&scene.mesh, 1, [0, 2], 10.0, 1.0).unwrap();
    scene.forces.links = Some(Links(vec![link]));
    let floor = Shape::Plane { point: Vec3::new(0.0, 0.0, -21.0), normal: Vec3::z() };
    scene.forces.contact = Some(Contacts {
        law: Contact { stiffness: 2000.0, damping: 20.0, region: 0.5, ..CONTACT },
        surfaces: true,
        boundaries: vec![Boundary::still(floor)],
    });
    scene.gravity = -9.8 * Vec3::z();
    scene.loads = vec![Load { particles: vec![124], force: -200.0 * Vec3::z(), from: 0.0, to: 1.0 }];
    let run = |threads| {
        let mut engine = Cpu::with_parts(&scene, threads, 4).unwrap();
        engine.advance(800).unwrap();
        (engine.state_digest(), engine.positions())
    };
    let (one, two) = (run(1), run(2));
    assert_eq!(one.0, two.0);
    use nendo_model::engine::reference::{Integrator, Reference};
    let mut exact = Reference::new(&scene, Integrator::Euler);
    exact.advance(800).unwrap();
    let off = one.1.iter().zip(exact.positions()).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
    println!("f32 off by {off} m of {} m", scene.mesh.width());
    assert!(off < 1e-3 * scene.mesh.width(), "{off}");
    assert!(exact.positions().iter().all(|p| p.z > -21.5), "nothing falls through the floor");
}

/// Twice the size, four times the surface: so many more candidates, not sixteen times as for all pairs.
#[test]
fn candidates_grow_with_the_surface() {
    let count = |n: u32| {
        // Two slabs, one just above the other.
        let slab = |z: f64| Lattice { size: [n, n, 2], pitch: 1.0, center: z * Vec3::z() }.mesh().unwrap();
        let (mut mesh, above) = (slab(0.0), slab(1.05));
        let first = mesh.particles.len() as u32;
        mesh.particles.extend(above.particles);
        mesh.edges.extend(above.edges.iter().map(|e| e.map(|p| p + first)));
        mesh.triangles.extend(above.triangles.iter().map(|t| t.map(|p| p + first)));
        mesh.tetrahedra.extend(above.tetrahedra.iter().map(|t| t.map(|p| p + first)));
        let mut pairs = Pairs::<f32>::new(&mesh, &Contact { region: 0.1, ..CONTACT }, &[]);
        let x: Vec<Vector<f32>> = mesh.particles.iter().map(vector).collect();
        pairs.settle(0.001, &x);
        pairs.candidates() as f64
    };
    let (small, large) = (count(9), count(17));
    println!("{small} candidates, {large} with twice the size");
    assert!(small > 100.0 && large < 4.5 * small, "{small} {large}");
}

/// A box laid on another was pushed aside: every particle of the lower one's top that was a hair inside left by the upper
/// one's sides, too, centimetres away, and nearly parallel edges pushed along themselves.
#[test]
fn what_lies_on_something_is_pushed_up_and_not_aside() {
    let text = "step = 0.0005\nmass = 0.1\n\
        [[mesh.boxes]]\nname = \"low\"\nsize = [4, 4, 2]\npitch = 0.1\ncenter = [0, 0, 0.05]\n\
        [[mesh.boxes]]\nname = \"high\"\nsize = [2, 2, 2]\npitch = 0.1\ncenter = [0, 0, 0]\n\
        [materials.m]\nk1 = 1\nc1 = 1\nc2 = 1\n[contact]\nstiffness = 1000\nself = true\n";
    let scene = Scene::parse(text, "boxes.toml").unwrap();
    let high = scene.mesh.groups["high"].particles.clone();
    for turn in (0..20).map(|k| 0.0005 + 0.002 * f64::from(k)) {
        for tilt in (0..20).map(|k| 0.0007 * f64::from(k) - 0.007) {
            let mut scene = scene.clone();
            for &p in &high {
                let q = scene.mesh.particles[p as usize];
                let turned = Vec3::new(q.x - turn * q.y, q.y + turn * q.x, q.z + tilt * (q.y + 0.3 * q.x));
                scene.mesh.particles[p as usize] = turned + Vec3::new(0.03, 0.02, 0.1495);
            }
            let sensed = Reference::new(&scene, Integrator::Euler).sense();
            assert!(sensed.contacts.len() >= 4, "{turn} {tilt}");
            for contact in &sensed.contacts {
                assert!(contact.normal.z.abs() > 0.99 && contact.depth < 0.002, "{turn} {tilt}: {contact:?}");
            }
        }
    }
}
