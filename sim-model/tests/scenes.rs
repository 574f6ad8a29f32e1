//! Scene files: what they can say, and how each mistake is reported.

use nendo_model::engine::InProcess;
use nendo_model::{
    engine::reference::{Integrator, Reference},
    force::Material,
    mesh::Vec3,
    scene::SceneError,
    scene::{Scene, Support},
};
use proptest::prelude::*;

/// A scene with laws and forces beyond plain edges.
const BEYOND: &str = r#"step = 0.001
mass = 1
material = "a"
[[mesh.boxes]]
name = "one"
size = [3,3,3]
pitch = 0.1
[[mesh.boxes]]
name = "two"
size = [2,2,2]
pitch = 0.1
center = [0, 0, 0.15]
[materials.a]
k1 = 1
c1 = 1
yielding = { c_max = 9, c_min = 1, f1 = 0.1, f2 = 1 }
limits = { least = 0.1, most = 0.9, start = 0.5, form = "switch" }
[materials.b]
law = "generalized-voigt"
parts = [{ k = 1, c = 2 }, { k = 3, c = 4 }]
[materials.c]
preset = "rigid"
[[edges]]
on = { group = "two" }
material = "b"
[topology]
stiffness = 1
threshold = 0.01
[volume]
stiffness = 1
per = "element"
[[links]]
particle = 1
edge = [0, 2]
stiffness = 1
[[joints]]
between = ["one", "two"]
tolerance = 0.001
stiffness = 1
[contact]
stiffness = 1
damping = 1
integral = 1
region = 0.01
friction = 0.3
self = true
[[boundaries]]
plane = { point = [0,0,0], normal = [0,0,1] }
belt = [1,0,0]
[[boundaries]]
roller = { center = [0,0,1], axis = [0,1,0], radius = 0.1 }
spin = 2
[[boundaries]]
bar = { min = [0,-inf,1], max = [1,inf,2] }
frames = [{ t = 1, offset = [0,0,-1] }]
"#;

/// A scene that uses every key.
const FULL: &str = r#"name = "full"
step = 0.001
duration = 0.5
gravity = [0, 0, -9.81]
mass = 0.001
material = "dough"

[mesh.box]
size = [4, 4, 3]
pitch = 0.01
center = [0.0, 0.0, 0.05]

[materials.dough]
k1 = 20.0
c1 = 0.05
c2 = 1.0

[materials.crust]
preset = "elastic"
k1 = 80
c1 = 0.1

[materials.soft]
k1 = 20.0
c1 = 0.05
c2 = 1.0
plasticity = 1.0

[[masses]]
on = { face = "z-max" }
mass = 0.002

[[velocities]]
on = [0, 1]
velocity = [0.1, 0, 0]

[[edges]]
on = { face = "z-max" }
material = "crust"

[[edges]]
index = [0]
material = "soft"
extension = 0.001

[[pins]]
on = { face = "z-min" }

[[motions]]
on = { min = [-inf, -inf, 0.055], max = [-0.005, inf, inf] }
frames = [{ t = 0.1, offset = [0, 0, -0.002] }, { t = 0.2, offset = [0, 0, 0] }]

[[forces]]
on = [47]
force = [0, 0, -1.5]
share = "total"
from = 0.1
to = 0.2

[[forces]]
on = "all"
force = [0.001, 0, 0]

[scaling]
length = 0.001
mass = 0.001
time = 0.1
velocity_exponent = 4
extension_exponent = 2
"#;

#[test]
fn every_key_is_understood() {
    let scene = Scene::parse(FULL, "full.toml").unwrap();
    assert_eq!((scene.name.as_str(), scene.step, scene.duration), ("full", 0.001, 0.5));
    assert_eq!((scene.mesh.particles.len(), scene.materials.len()), (48, 3));
    let material = |name: &str| scene.materials.iter().find(|m| m.name == name).unwrap().material;
    assert_eq!(material("crust"), Material::elastic(80.0, 0.1).unwrap());
    assert_eq!(material("soft"), Material::viscoplastic(0.05, 1.0).unwrap());
    assert_eq!(scene.material_of(0), material("soft"));
    let count =
        |name| (0..scene.mesh.edges.len()).filter(|&k| scene.material_of(k) == material(name)).count();
    assert_eq!(count("crust"), 33, "the edges of a 4x4 sheet");
    assert_eq!(scene.extension[0], 0.001);
    assert_eq!((scene.mass[0], scene.mass[47]), (0.001, 0.002));
    assert_eq!((scene.velocity[1], scene.velocity[2]), (Vec3::new(0.1, 0.0, 0.0), Vec3::zeros()));
    let pinned = scene.support.iter().filter(|s| **s == Support::Pinned).count();
    let moved = scene.support.iter().filter(|s| **s == Support::Moved(0)).count();
    assert_eq!((pinned, moved), (16, 8));
    assert_eq!(scene.loads[0].force, Vec3::new(0.0, 0.0, -1.5));
    assert_eq!((scene.loads[0].from, scene.loads[1].to), (0.1, f64::INFINITY));
    assert_eq!(scene.scaling.velocity_exponent, Some(4));
}

#[test]
fn meshes_can_be_listed() {
    let text = "step = 0.001\nmass = 1\n[materials.m]\nk1 = 1\nc1 = 1\nc2 = 1\n[mesh]\n\
        particles = [[0,0,0],[1,0,0],[0,1,0],[0,0,1]]\n";
    let with_edges = Scene::parse(&format!("{text}edges = [[0,1],[1,2],[2,3]]\n"), "a.toml").unwrap();
    assert_eq!((with_edges.mesh.edges.len(), with_edges.name.as_str()), (3, "a"));
    let with_tetrahedra = Scene::parse(&format!("{text}tetrahedra = [[0,1,2,3]]\n"), "a.toml").unwrap();
    assert_eq!((with_tetrahedra.mesh.edges.len(), with_tetrahedra.mesh.triangles.len()), (6, 4));
}

/// Each mistake, made by replacing a piece of the full scene: where it is reported and what is said.
#[test]
fn every_mistake_is_reported_at_its_line() {
    let listed = "[mesh]\nparticles = [\n [0,0,0],\n [1,0,0],\n [0,1,0]]\nedges = [\n [0,1],\n [1,2]]\n";
    let with_mesh = |mesh: &str| {
        let start = FULL.find("[mesh.box]").unwrap();
        let materials = &FULL[FULL.find("[materials.dough]").unwrap()..FULL.find("[[masses]]").unwrap()];
        format!("{}{mesh}{materials}", &FULL[..start])
    };
    let full = |from: &str, to: &str| {
        assert!(FULL.contains(from), "{from}");
        FULL.replacen(from, to, 1)
    };
    let list = |from: &str, to: &str| {
        assert!(listed.contains(from), "{from}");
        with_mesh(&listed.replacen(from, to, 1))
    };
    let cases = [
        (full("gravity", "gravty"), 4, "unknown key `gravty`; did you mean `gravity`?"),
        (full("k1 = 20.0", "k1 = 20.0\nhardness = 3"), 15, "unknown key `hardness` in `dough`"),
        (
            full("material = \"dough\"", "material = \"tofu\""),
            6,
            "no material `tofu`; the scene has crust, dough, soft",
        ),
        (full("material = \"dough\"\n", ""), 1, "several materials: say which one edges have"),
        (full("material = \"crust\"", "material = \"none\""), 39, "no material `none`"),
        (
            full("on = [0, 1]", "on = [0, 48]"),
            34,
            "particle 48 is out of range: the mesh has 48 particles (0 to 47)",
        ),
        (full("index = [0]", "index = [9999]"), 42, "edge 9999 is out of range"),
        (full("step = 0.001", "step = nan"), 2, "`step` is not a number (nan)"),
        (full("step = 0.001", "step = inf"), 2, "`step` must be finite, not inf"),
        (full("step = 0.001", "step = -1"), 2, "`step` must be positive, not -1"),
        (full("step = 0.001\n", ""), 1, "the scene needs `step`"),
        (full("gravity = [0, 0, -9.81]", "gravity = [0, nan, 0]"), 4, "`gravity` is not a number (nan)"),
        (
            full("gravity = [0, 0, -9.81]", "gravity = [0, 0]"),
            4,
            "`gravity` must be three numbers, not 2 values",
        ),
        (full("k1 = 20.0", "k1 = -20.0"), 13, "k1 = -20 N/m: it must be zero or a positive number"),
        (full("c2 = 1.0", "c2 = 0"), 13, "c2 = 0 N s/m: it must be positive (inf makes an elastic object)"),
        (full("plasticity = 1.0", "plasticity = 1.5"), 27, "plasticity = 1.5: it must lie between 0"),
        (full("preset = \"elastic\"", "preset = \"stretchy\""), 19, "unknown preset `stretchy`"),
        (
            full("preset = \"elastic\"", "preset = \"elastic\"\nc2 = 3"),
            20,
            "`c2` has no meaning for a preset elastic object",
        ),
        (full("size = [4, 4, 3]", "size = [4000, 4000, 3000]"), 9, "a box of 4000x4000x3000 particles"),
        (full("size = [4, 4, 3]", "size = [4, 4]"), 9, "`size` must be 3 whole numbers"),
        (full("pitch = 0.01", "pitch = 0"), 10, "a pitch of 0 m"),
        (full("face = \"z-max\"", "face = \"top\""), 30, "unknown face `top`; one of x-min"),
        (full("on = \"all\"", "on = \"everything\""), 61, "`on = \"everything\"` is not known"),
        (full("on = [47]", "on = []"), 54, "no particle is chosen by `on`"),
        (full("share = \"total\"", "share = \"half\""), 56, "unknown share `half`"),
        (full("to = 0.2", "to = 0.1"), 53, "a force from 0.1 s to 0.1 s never acts"),
        (full("{ t = 0.2,", "{ t = 0.1,"), 51, "times must rise by a step (0.001 s) at least"),
        (
            full("on = { min = [-inf, -inf, 0.055], max = [-0.005, inf, inf] }", "on = [0]"),
            49,
            "particle 0 is already pinned or moved",
        ),
        (
            full("velocity_exponent = 4", "velocity_exponent = 4.5"),
            68,
            "`velocity_exponent` must be a whole number, zero or more, not the number 4.5",
        ),
        (full("name = \"full\"", "name = 3"), 1, "`name` must be a string, not the integer 3"),
        (full("step = 0.001", "step = "), 2, "expected"),
        (full("[mesh.box]", "[mesh.box]\n[mesh.box]"), 9, "duplicate"),
        (list(" [1,2]]", " [1,2],\n [1,0]]"), 16, "edge 2 (1 to 0) repeats edge 0"),
        (list(" [1,2]]", " [1,3]]"), 15, "edge 1 names particle 3, but the mesh has 3 particles (0 to 2)"),
        (list(" [1,2]]", " [1,2],\n [2,2]]"), 16, "edge 2 (2 to 2) has length zero"),
        (list(" [0,1,0]", " [1,0,0]"), 15, "edge 1 (1 to 2) has length zero"),
        (list(" [0,1,0]", " [0,1,inf]"), 12, "`particles` must be finite, not inf"),
        (list("[\n [0,1],", "["), 10, "particle 0 is isolated: no edge touches it"),
        (list("edges = [\n [0,1],\n [1,2]]", ""), 8, "the mesh has 3 particles and 0 edges"),
        (
            with_mesh("[mesh]\nparticles = [[0,0,0]]\ntetrahedra = [[0,1,2,3]]\n"),
            10,
            "tetrahedron 0 names particle 1",
        ),
        (full("[mesh.box]", "[mesh]\nedges = [[0,1]]\n[mesh.box]"), 9, "either a `box` or a list"),
    ];
    for (text, line, message) in cases {
        match Scene::parse(&text, "bad.toml") {
            Ok(_) => panic!("accepted, instead of: {message}"),
            Err(error) => {
                let said = error.to_string();
                assert!(said.contains(message), "{said}\ninstead of: {message}");
                assert!(said.starts_with(&format!("bad.toml:{line}:")), "{said}\ninstead of line {line}");
            }
        }
    }
}

#[test]
fn files_that_cannot_be_read_say_why() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let said = |name: &str| Scene::open(&path(name)).unwrap_err().to_string();
    assert!(said("absent.toml").contains("no such scene file, and no built-in scene of that name"));
    std::fs::write(path("bytes.toml"), [0x73, 0xff, 0xfe]).unwrap();
    assert!(said("bytes.toml").contains("not UTF-8 text (byte 1)"));
    assert!(
        Scene::open(&folder.path().display().to_string()).unwrap_err().to_string().ends_with("not a file")
    );
}

#[test]
fn builtin_names() {
    for (name, particles, edges) in [
        ("table3", 2, 1),
        ("single", 2, 1),
        ("cube9", 729, 3672),
        ("block16", 3600, 19531),
        ("box:4x4x4", 64, 252),
    ] {
        let scene = Scene::open(name).unwrap();
        assert_eq!((scene.mesh.particles.len(), scene.mesh.edges.len()), (particles, edges));
    }
    for name in [
        "box:",
        "box:3x3",
        "box:3x3x3x3",
        "box:axbxc",
        "box:0x1x1",
        "box:9999x9999x9999",
        "box:-1x2x3",
        "box:3x 3x3",
    ] {
        assert!(matches!(Scene::open(name), Err(SceneError::Builtin { .. })), "{name}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Whatever is done to a scene file: an answer, never a panic.
    #[test]
    fn mangled_scenes_never_panic(
        cuts in prop::collection::vec((0usize..FULL.len(), 0usize..40, "[-\\[\\]{}=\",.a-z0-9\n ]{0,8}"), 1..6)
    ) {
        let mut text = FULL.to_owned();
        for (at, length, insert) in cuts {
            let at = text.floor_char_boundary(at.min(text.len()));
            let end = text.floor_char_boundary((at + length).min(text.len()));
            text.replace_range(at..end, &insert);
        }
        let _ = Scene::parse(&text, "mangled.toml");
    }

    /// The same for every table of laws, forces and boundaries.
    #[test]
    fn mangled_forces_never_panic(
        cuts in prop::collection::vec((0usize..BEYOND.len(), 0usize..12, "[-\\[\\]{}=\",.a-z0-9\n ]{0,4}"), 1..4)
    ) {
        let mut text = BEYOND.to_owned();
        for (at, length, insert) in cuts {
            let (at, end) = (at.min(text.len()), (at + length).min(text.len()));
            text.replace_range(at..end, &insert);
        }
        if let Ok(scene) = Scene::parse(&text, "mangled.toml") {
            let mut engine = Reference::new(&scene, Integrator::Euler);
            let _ = engine.advance(2);
        }
    }

    #[test]
    fn noise_never_panics(text in "\\PC*") {
        let _ = Scene::parse(&text, "noise.toml");
    }
}

/// The tables of forces beyond edges, and what is wrong with bad ones.
#[test]
fn forces_beyond_edges_are_understood() {
    // What is mangled is sound before.
    assert_eq!(Scene::parse(BEYOND, "a.toml").unwrap().forces.joints.unwrap().0.len(), 4);
    let base = "step = 0.001\nmass = 1\n[mesh.box]\nsize = [3,3,3]\npitch = 1\n[materials.m]\nk1 = 1\nc1 = 1\nc2 = 1\n";
    let contact = "[contact]\nstiffness = 1\ndamping = 1\n";
    let scene = Scene::parse(
        &format!(
            "{base}{contact}integral = 1\nregion = 0.1\nself = true\n[topology]\nstiffness = 1\n[volume]\nstiffness = 1\nper = \"element\"\n\
             [[links]]\nparticle = 1\nedge = [0, 2]\nstiffness = 1\n[[boundaries]]\nball = {{ center = [0,0,9], radius = 1 }}\n"
        ),
        "a.toml",
    )
    .unwrap();
    let (links, touching) = (scene.forces.links.as_ref().unwrap(), scene.forces.contact.as_ref().unwrap());
    assert_eq!((links.0.len(), touching.boundaries.len(), touching.surfaces), (1, 1, true));
    assert_eq!(scene.float_only(), ["topology forces", "volume effect", "links", "contact"]);
    for (text, complaint) in [
        ("[topology]\nstiffness = 0\n", "must be positive"),
        ("[topology]\nstiffness = 1\ndamping = -1\n", "zero or more"),
        ("[volume]\nstiffness = 1\nper = \"drop\"\n", "object or element"),
        ("[[links]]\nparticle = 1\nedge = [0, 99]\nstiffness = 1\n", "27 particles"),
        ("[[links]]\nparticle = 26\nedge = [0, 1]\nstiffness = 1\n", "does not lie beside"),
        ("[[boundaries]]\nball = { center = [0,0,9], radius = 1 }\n", "need a table [contact]"),
        ("[contact]\nstiffness = 1\nfriction = 0.3\n", "friction needs a `slip` speed, or `damping`"),
        ("[contact]\nstiffness = 1\nfriction = 0.3\nslip = 0\n", "`slip` must be positive"),
        ("[contact]\nstiffness = 1\nintegral = 1\n", "needs a `region`"),
        ("[contact]\nstiffness = 1\nself = 3\n", "true or false"),
    ] {
        let error = Scene::parse(&format!("{base}{text}"), "a.toml").unwrap_err().to_string();
        assert!(error.contains(complaint), "{text}: {error}");
    }
    for (text, complaint) in [
        ("", "one of plane, roller, bar and ball"),
        ("plane = { point = [0,0,0], normal = [0,0,0] }\n", "must not be zero"),
        ("ball = { center = [0,0,0], radius = 1 }\nspin = 2\n", "goes with a roller"),
        ("bar = { min = [0,0,0], max = [1,1,0] }\n", "min < max"),
        ("ball = { center = [0,0,0], radius = 1 }\nframes = [{ t = 0, offset = [0,0,1] }]\n", "from 0"),
    ] {
        let error = Scene::parse(&format!("{base}{contact}[[boundaries]]\n{text}"), "a.toml")
            .unwrap_err()
            .to_string();
        assert!(error.contains(complaint), "{text}: {error}");
    }
    let chain = base.replace("[3,3,3]", "[3,1,1]");
    let error = Scene::parse(&format!("{chain}[volume]\nstiffness = 1\n"), "a.toml").unwrap_err().to_string();
    assert!(error.contains("tetrahedra"), "{error}");
}
