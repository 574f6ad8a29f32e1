//! Coarse-fine joints: what is found is what plain geometry says, and the forces are those of a closed form.

use nendo_model::{
    engine::{
        self, InProcess, Kind, Options,
        reference::{Integrator, Reference},
        stability::Stability,
    },
    force::{
        Acting, Force, Forces, Material,
        joint::{Joints, find::hanging},
        link::{Link, Place},
        real::{Real, Vector, vector},
    },
    mesh::{Lattice, Mesh, Vec3},
    scene::{
        Scene,
        measure::{Measuring, Moment, Value},
    },
};
use proptest::prelude::*;

/// One mesh after the other, two parts.
fn both(one: &Mesh, other: &Mesh) -> Mesh {
    let (mut mesh, first) = (one.clone(), one.particles.len() as u32);
    mesh.particles.extend(&other.particles);
    mesh.edges.extend(other.edges.iter().map(|e| e.map(|p| p + first)));
    mesh.triangles.extend(other.triangles.iter().map(|t| t.map(|p| p + first)));
    mesh.tetrahedra.extend(other.tetrahedra.iter().map(|t| t.map(|p| p + first)));
    mesh
}

/// Two boxes that touch in the plane where the coordinate along `axis` is 0, the second pushed along it by `slide`.
fn touching(axis: usize, sizes: [[u32; 3]; 2], pitch: f64, slide: [f64; 2]) -> Mesh {
    let part = |size: [u32; 3], pitch: f64, sign: f64, slide: [f64; 2]| {
        let mut center = Vec3::zeros();
        center[axis] = sign * f64::from(size[axis] - 1) * pitch / 2.0;
        (center[(axis + 1) % 3], center[(axis + 2) % 3]) = (slide[0], slide[1]);
        Lattice { size, pitch, center }.mesh().unwrap()
    };
    both(&part(sizes[0], 1.0, -1.0, [0.0; 2]), &part(sizes[1], pitch, 1.0, slide))
}

/// Numbers from -1 to 1.
fn noise(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed;
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / f64::from(1u32 << 30) - 1.0
    }
}

fn size() -> impl Strategy<Value = [u32; 3]> {
    prop::array::uniform3(2u32..6)
}

/// The second box's pitch: a part of the first's, or anything; and where it stands.
fn refinement() -> impl Strategy<Value = (f64, [f64; 2])> {
    let nested = (1u32..5).prop_map(|n| 1.0 / f64::from(n));
    let pitch = prop_oneof![nested, 0.3f64..1.5];
    let slide = prop_oneof![Just([0.0; 2]), Just([0.5, 0.0]), prop::array::uniform2(-1.5f64..1.5)];
    (pitch, slide)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// In the plane of two boxes, all particles of the one in the other's rectangle hang on it, and no others: of the two,
    /// the one that has more of them.
    #[test]
    fn hanging_particles_are_those_in_the_others_rectangle(axis in 0usize..3, one in size(), other in size(), (pitch, slide) in refinement()) {
        let mesh = touching(axis, [one, other], pitch, slide);
        let count = one.iter().product::<u32>() as usize;
        let parts = [0..count, count..mesh.particles.len()];
        let inside = |these: &std::ops::Range<usize>, those: &std::ops::Range<usize>| -> Vec<usize> {
            let in_plane = |p: &usize| mesh.particles[*p][axis].abs() < 1e-9;
            let across = [(axis + 1) % 3, (axis + 2) % 3];
            let reach = across.map(|k| {
                let along = || those.clone().filter(in_plane).map(|p| mesh.particles[p][k]);
                (along().fold(f64::INFINITY, f64::min), along().fold(f64::NEG_INFINITY, f64::max))
            });
            let within = |p: &usize| across.iter().zip(reach).all(|(&k, (low, high))| {
                (low - 1e-9..=high + 1e-9).contains(&mesh.particles[*p][k])
            });
            these.clone().filter(in_plane).filter(within).collect()
        };
        let [first, second] = [inside(&parts[0], &parts[1]), inside(&parts[1], &parts[0])];
        // As near as this to a border and outside, it may be taken for on it.
        let far = |list: &[usize], slack: f64| list.iter().all(|&p| {
            (1..3).all(|k| {
                let k = (axis + k) % 3;
                parts.iter().flat_map(Clone::clone).all(|q| {
                    let d = (mesh.particles[p][k] - mesh.particles[q][k]).abs();
                    d < 1e-9 || d > slack
                })
            })
        });
        let all: Vec<usize> = (0..mesh.particles.len()).filter(|&p| mesh.particles[p][axis].abs() < 1e-9).collect();
        prop_assume!(far(&all, 2e-3));
        let (expected, on) = match first.len() > second.len() {
            true => (first, 1),
            false => (second, 0),
        };
        let found = hanging(&mesh, &[], None);
        if expected.is_empty() {
            prop_assert!(found.is_err());
            return Ok(());
        }
        let found = found.unwrap();
        let particles: Vec<usize> = found.iter().map(|place| place.particle).collect();
        prop_assert_eq!(particles, expected);
        for place in &found {
            // As near to an edge as this, or a diagonal, a particle is taken for on it.
            prop_assert!(place.gap(&mesh.particles).norm() < 2e-3, "{:?}", place);
            prop_assert!(place.corners.iter().all(|p| parts[on].contains(p)), "{:?}", place);
            prop_assert!(place.shares.iter().all(|share| *share >= 0.0), "{:?}", place);
            prop_assert!((place.shares.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{:?}", place);
        }
    }

    /// Forces add up to nothing in both kinds of numbers, and so do the moments of the springs.
    #[test]
    fn joints_add_up_to_zero(seed in any::<u64>(), other in size(), (pitch, slide) in refinement()) {
        let mesh = touching(2, [[4, 4, 2], other], pitch, slide);
        let Ok(places) = hanging(&mesh, &[], None) else { return Ok(()) };
        let mut next = noise(seed);
        let mut any = || Vec3::new(next(), next(), next());
        let x: Vec<Vec3> = mesh.particles.iter().map(|p| p + 0.3 * any()).collect();
        let v: Vec<Vec3> = x.iter().map(|_| any()).collect();
        for (damping, of_moments) in [(0.0, 1.0), (3.0, f64::INFINITY)] {
            let joints = joints(&places, 7.0, damping);
            let (sum, moment, size) = sums::<f64>(&joints, &mesh, &x, &v);
            prop_assert!(size > 0.0 && sum <= 1e-12 * size && moment <= 1e-11 * of_moments * size, "{sum} {moment} of {size}");
            let (sum, moment, size) = sums::<f32>(&joints, &mesh, &x, &v);
            prop_assert!(size > 0.0 && sum <= 1e-5 * size && moment <= 1e-4 * of_moments * size, "{sum} {moment} of {size}");
        }
    }

    /// Surfaces that are joined do not push each other apart, however the joint is strained. (All of the finer one's lie on
    /// the other; what hangs over is not joined, and may touch.)
    #[test]
    fn what_is_joined_does_not_touch(seed in any::<u64>(), fine in 2u32..5, slide in prop_oneof![Just([0.0; 2]), prop::array::uniform2(-0.6f64..0.6)]) {
        let pitch = 1.0 / f64::from(fine);
        let mesh = touching(2, [[4, 4, 2], [2 * fine, 2 * fine, 2]], pitch, slide);
        let elastic = Material::elastic(1.0, 1.0).unwrap();
        let mut scene = Scene::uniform("joined", mesh, elastic, 1.0, 1e-3, 1.0);
        let touch = "step = 1\nmass = 1\n[mesh.box]\nsize = [2, 2, 2]\npitch = 1\n[materials.m]\nk1 = 1\nc1 = 1\nc2 = 1\n[contact]\nstiffness = 1\nself = true\n";
        let contact = Scene::parse(touch, "touch").unwrap().forces.contact;
        scene.forces = Forces { contact, ..Forces::default() };
        let places = hanging(&scene.mesh, &[], None).unwrap();
        let mut next = noise(seed);
        for p in &mut scene.mesh.particles {
            *p += 0.1 * pitch * Vec3::new(next(), next(), next());
        }
        let touching = |scene: &Scene| Reference::new(scene, Integrator::Euler).sense().contacts.len();
        let loose = touching(&scene);
        scene.forces.joints = Some(joints(&places, 1.0, 1.0));
        prop_assume!(loose > 0);
        prop_assert_eq!(touching(&scene), 0);
    }
}

fn joints(places: &[Place<f64>], stiffness: f64, damping: f64) -> Joints {
    Joints(places.iter().map(|&place| Link { place, stiffness, damping }).collect())
}

/// Sum and moment of forces, and how large they are.
fn sums<T: Real>(joints: &Joints, mesh: &Mesh, x: &[Vec3], v: &[Vec3]) -> (f64, f64, f64) {
    let narrow = |list: &[Vec3]| -> Vec<Vector<T>> { list.iter().map(vector).collect() };
    let (x, v, mass) = (narrow(x), narrow(v), vec![1.0; x.len()]);
    let object = nendo_model::force::Object { mesh, mass: &mass, free: vec![true; x.len()], joined: vec![] };
    let acting: Box<dyn Acting<T>> = joints.acting(&object, Vec3::zeros());
    let mut force = vec![Vector::zeros(); x.len()];
    acting.add(&x, &v, &mut force);
    let wide = |f: &Vector<T>| Vec3::new(f.x.wide(), f.y.wide(), f.z.wide());
    let sum: Vec3 = force.iter().map(wide).sum();
    let moment: Vec3 = x.iter().zip(&force).map(|(x, f)| wide(x).cross(&wide(f))).sum();
    (sum.norm(), moment.norm(), force.iter().map(|f| wide(f).norm()).sum())
}

/// Two triangles that share a corner, a particle of the small one on an edge of the large one: the report's Fig. 2.23.
#[test]
fn the_reports_example_hangs_where_it_says() {
    let at = |x: f64, z: f64| Vec3::new(x, 0.0, z);
    let mesh = Mesh {
        particles: vec![at(0.0, 0.0), at(2.0, 2.0), at(1.25, 1.25), at(0.0, 2.0), at(2.0, 0.0)],
        edges: vec![[0, 1], [1, 3], [3, 0], [0, 2], [2, 4], [4, 0]],
        triangles: vec![[0, 1, 3], [0, 4, 2]],
        ..Mesh::default()
    };
    let found = hanging(&mesh, &[], None).unwrap();
    assert_eq!(found.len(), 1, "{found:?}");
    let Place { particle, corners, shares } = found[0];
    assert_eq!((particle, corners), (2, [0, 1, 0]));
    assert!((shares[1] - 0.625).abs() < 1e-12 && shares[2] == 0.0, "{shares:?}");
}

/// A string glued to the inside of a face of something that is held, pulled: it gives way by F/K; its corners bear the pull
/// by their shares, and the sum is exact.
#[test]
fn a_joint_gives_way_by_force_over_stiffness() {
    let text = "step = 0.001\nduration = 20\nmass = 1\n\
        [mesh]\nparticles = [[0,0,0],[4,0,0],[0,4,0],[0,0,-4],[1,2,0],[1,2,1]]\n\
        edges = [[0,1],[0,2],[0,3],[1,2],[1,3],[2,3],[4,5]]\ntriangles = [[0,1,2],[0,3,1],[0,2,3],[1,3,2]]\ntetrahedra = [[0,1,2,3]]\n\
        [materials.m]\nlaw = \"voigt\"\nk1 = 50\nc1 = 10\n[[pins]]\nname = \"foot\"\non = [0, 1, 2, 3]\n\
        [[joints]]\nstiffness = 20\ndamping = 8\n[[forces]]\non = [5]\nforce = [0, 0, 3]\n\
        [[measure]]\nname = \"crack\"\nof = \"crack\"\n[[measure]]\nname = \"foot\"\nof = \"force\"\non = { support = \"foot\" }\n";
    let scene = Scene::parse(text, "string.toml").unwrap();
    let found = &scene.forces.joints.as_ref().unwrap().0;
    assert_eq!(found.len(), 1);
    let held: Vec<(usize, f64)> = found[0].place.held_by().collect();
    assert_eq!(found[0].place.particle, 4);
    for (corner, share) in [(0, 0.25), (1, 0.25), (2, 0.5)] {
        assert!(held.iter().any(|(p, s)| *p == corner && (s - share).abs() < 1e-12), "{held:?}");
    }
    for (kind, within) in [(Kind::F64, 1e-9), (Kind::F32, 1e-5)] {
        let mut engine = engine::open(&scene, &Options { kind, ..Options::default() }).unwrap();
        let mut measuring = Measuring::new(&scene);
        engine.advance(20_000).unwrap();
        let (positions, velocities) = engine.motion().unwrap();
        let sensed = engine.sense().unwrap();
        let (step, extensions, sensed) = (20_000, None, Some(&sensed));
        let moment = Moment { step, positions: &positions, velocities: &velocities, sensed, extensions };
        measuring.take(&moment);
        let Some(Value::Number(crack)) = measuring.last("crack") else { panic!("no crack") };
        assert!((crack - 3.0 / 20.0).abs() < within, "{kind:?}: {crack}");
        let Some(Value::Vector(foot)) = measuring.last("foot") else { panic!("no force") };
        assert!((foot[2] - 3.0).abs() < 20.0 * within, "{kind:?}: {foot:?}");
    }
}

/// Many joints on one particle are as hard as all of them together; the stability check looked at one.
#[test]
fn joints_on_one_particle_add_up_in_the_stability_check() {
    // Twenty chains meet in the origin.
    let mesh = |step: f64| {
        let (mut particles, mut edges) = (Vec::new(), Vec::new());
        for k in 0..20 {
            particles.push("[0, 0, 0]".to_owned());
            particles.push(format!("[{}, {}, 1]", k + 1, k % 3));
            edges.push(format!("[{}, {}]", 2 * k, 2 * k + 1));
        }
        format!(
            "step = {step}\nmass = 1\n[mesh]\nparticles = [{}]\nedges = [{}]\n[materials.m]\nlaw = \"voigt\"\nk1 = 0.01\nc1 = 0.01\n\
             [[joints]]\nstiffness = 1\ndamping = 10\n[[forces]]\non = [39]\nforce = [1, 0, 0]\n",
            particles.join(", "),
            edges.join(", ")
        )
    };
    let scene = Scene::parse(&mesh(1.0), "star.toml").unwrap();
    let joints = &scene.forces.joints.as_ref().unwrap().0;
    assert_eq!(joints.len(), 19);
    assert!(joints.iter().all(|joint| joint.place.corners[0] == 0), "all hang on the first");
    let largest = Stability::of(&scene, Integrator::Euler).largest_step;
    let spread = |step: f64| {
        let mut engine = Reference::new(&Scene::parse(&mesh(step), "star.toml").unwrap(), Integrator::Euler);
        engine.advance(3000).map_or(f64::INFINITY, |()| engine.positions()[0].norm())
    };
    // Rates are (n + 1) c/m, and the check says 2 n c/m: nineteen twentieths of twice as much.
    assert!(spread(0.999 * largest) < 100.0);
    let wild = spread(2.0 * largest);
    assert!(wild.is_nan() || wild > 1e6, "{largest}: {wild}");
}

#[test]
fn what_cannot_be_joined_is_said() {
    let boxes = |gap: f64| {
        format!(
            "step = 0.001\nmass = 1\n[[mesh.boxes]]\nname = \"a\"\nsize = [3,3,3]\npitch = 1\n\
             [[mesh.boxes]]\nname = \"b\"\nsize = [3,3,3]\npitch = 0.5\ncenter = [0, 0, {}]\n[materials.m]\nk1 = 1\nc1 = 1\nc2 = 1\n",
            1.5 + gap
        )
    };
    let one = "step = 0.001\nmass = 1\n[mesh.box]\nsize = [3,3,3]\npitch = 1\n[materials.m]\nk1 = 1\nc1 = 1\nc2 = 1\n";
    let joints = "[[joints]]\nstiffness = 1\ndamping = 1\n";
    for (scene, table, complaint) in [
        (boxes(0.25), joints.to_owned(), "is 2.500e-1 m from particle"),
        (boxes(0.25), joints.to_owned(), "give a `tolerance`"),
        (boxes(90.0), joints.to_owned(), "bring the parts together"),
        (one.to_owned(), joints.to_owned(), "the mesh is in one part"),
        (
            one.to_owned(),
            format!("{joints}between = [\"a\", \"b\"]\n"),
            "no group `a`: the mesh has no groups",
        ),
        (boxes(0.0), format!("{joints}between = [\"a\", \"c\"]\n"), "no group `c`; the mesh has a, b"),
        (boxes(0.0), format!("{joints}between = [\"a\"]\n"), "two groups or more"),
        (boxes(0.0), format!("{joints}between = [\"a\", \"a\"]\n"), "no particle lies"),
        (boxes(0.0), format!("{joints}tolerance = -1\n"), "zero or more"),
        (boxes(0.0), format!("{joints}tolerance = 0.25\n"), "half the shortest edge"),
        (boxes(0.0), "[[joints]]\ndamping = 1\n".to_owned(), "needs `stiffness`"),
        (boxes(0.25), "[[measure]]\nname = \"m\"\nof = \"crack\"\n".to_owned(), "the nearest"),
        (
            boxes(0.0),
            "[[measure]]\nname = \"m\"\nof = \"inverted\"\ntolerance = 1\n".to_owned(),
            "`tolerance` does not go with inverted",
        ),
        (
            boxes(0.0),
            "[[measure]]\nname = \"m\"\nof = \"crack\"\non = \"all\"\n".to_owned(),
            "does not go with",
        ),
    ] {
        let error = Scene::parse(&format!("{scene}{table}"), "a.toml").unwrap_err().to_string();
        assert!(error.contains(complaint), "{table}: {error}");
    }
    // Where a tolerance is given, it is enough.
    let near = Scene::parse(&format!("{}{joints}tolerance = 0.2\n", boxes(0.15)), "a.toml").unwrap();
    assert_eq!(near.forces.joints.unwrap().0.len(), 9);
    assert_eq!(Scene::parse(&format!("{}{joints}", boxes(0.0)), "a.toml").unwrap().float_only(), ["joints"]);
}

/// Very many particles in one place were compared each with each.
#[test]
fn a_heap_of_particles_ends_in_an_error() {
    let count = 20_000;
    let mut particles = vec![Vec3::zeros(); count];
    particles.extend(vec![Vec3::x(); count]);
    let edges = (0..count as u32).map(|k| [k, k + count as u32]).collect();
    let mesh = Mesh { particles, edges, ..Mesh::default() };
    let error = hanging(&mesh, &[], None).unwrap_err();
    assert!(error.contains("places for each particle"), "{error}");
}

/// Pieces of a mesh file are parts as boxes are.
#[test]
fn pieces_of_a_mesh_file_are_joined() {
    let mesh = touching(2, [[3, 3, 2], [4, 4, 2]], 1.0 / 3.0, [0.2, 0.2]);
    let points: Vec<String> = mesh.particles.iter().map(|p| format!("{} {} {}", p.x, p.y, p.z)).collect();
    let cells: Vec<String> =
        mesh.tetrahedra.iter().map(|[a, b, c, d]| format!("4 {a} {b} {c} {d}")).collect();
    let count = cells.len();
    let text = format!(
        "# vtk DataFile Version 3.0\ntwo boxes\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS {} double\n{}\nCELLS {count} {}\n{}\nCELL_TYPES {count}\n{}\n",
        points.len(),
        points.join("\n"),
        5 * count,
        cells.join("\n"),
        vec!["10"; count].join("\n")
    );
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("two.vtk"), text).unwrap();
    let scene = "step = 0.001\nmass = 1\n[mesh]\nfile = \"two.vtk\"\n[materials.m]\nk1 = 1\nc1 = 1\nc2 = 1\n[[joints]]\nstiffness = 1\ndamping = 1\n";
    let scene = Scene::parse(scene, &folder.path().join("two.toml").display().to_string()).unwrap();
    assert_eq!(scene.forces.joints.unwrap().0.len(), 16);
}

/// A square of 3 x 3 particles with a diagonal in each of its squares, and one of 7 x 7 on it.
#[test]
fn joints_are_on_particles_edges_and_faces() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../scenes/joints-with.toml");
    let scene = Scene::open(file).unwrap();
    // Two on each of 12 sides and 4 diagonals; the other two of four in each square.
    assert_eq!(scene.forces.joints.unwrap().kinds(), [9, 2 * (12 + 4), 2 * 4]);
}
