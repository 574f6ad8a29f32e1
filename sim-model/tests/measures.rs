//! Virtual sensors: what they find is what a closed form or plain geometry says.

use nendo_model::{
    engine::{self, Kind, Options},
    scene::{
        Scene,
        deformation::DeformationKind,
        measure::{Measuring, Moment, Outcome, Value},
    },
};

/// Runs a scene to the end of its measures on an engine.
fn run(scene: &Scene, kind: Kind) -> Vec<Outcome> {
    let mut engine = engine::open(scene, &Options { kind, ..Options::default() }).unwrap();
    let (mut measuring, mut from) = (Measuring::new(scene), 0);
    while let Some(step) = measuring.due(from) {
        from = step + 1;
        engine.advance(step - engine.step()).unwrap();
        let (positions, velocities) = engine.motion().unwrap();
        let (sensed, extensions) = (engine.sense().unwrap(), engine.extensions().unwrap());
        measuring.take(&Moment {
            step,
            positions: &positions,
            velocities: &velocities,
            sensed: Some(&sensed),
            extensions: Some(&extensions),
        });
    }
    measuring.outcomes(&mut |_| Err("no other file".to_owned()))
}

fn number(outcomes: &[Outcome], name: &str) -> f64 {
    match outcomes.iter().find(|o| o.name == name).and_then(|o| o.value.as_ref()) {
        Some(Value::Number(n)) => *n,
        other => panic!("{name}: {other:?}"),
    }
}

/// A mass on a Voigt element under its weight, let go at rest: where it hangs, what it pulls with, what it holds.
const HANGING: &str = "step = 0.0005\nduration = 20\nmass = 2\ngravity = [0, 0, -10]\n\
    [mesh]\nparticles = [[0,0,0],[0,0,-1]]\nedges = [[0,1]]\n[materials.m]\nlaw = \"voigt\"\nk1 = 50\nc1 = 10\n\
    [[pins]]\nname = \"hook\"\non = [0]\n";

#[test]
fn a_hanging_weight_is_measured() {
    let measures = "[[measure]]\nname = \"place\"\nof = \"position\"\non = [1]\naxis = \"z\"\n\
        [[measure]]\nname = \"sag\"\nof = \"displacement\"\non = [1]\nexpect = { value = [0, 0, -0.4], within = 1e-3 }\n\
        [[measure]]\nname = \"pull\"\nof = \"force\"\non = { support = \"hook\" }\naxis = [0, 0, -2]\nexpect = { at-most = 41 }\n\
        [[measure]]\nname = \"apart\"\nof = \"distance\"\non = [0]\nto = [1]\n\
        [[measure]]\nname = \"energy\"\nof = \"energy\"\non = [1]\n\
        [[measure]]\nname = \"all\"\nof = \"energy\"\n\
        [[measure]]\nname = \"speed\"\nof = \"velocity\"\non = [1]\n\
        [[measure]]\nname = \"fastest\"\nof = \"velocity\"\non = [1]\naxis = \"z\"\nover = { to = 1, take = \"min\" }\n";
    let scene = Scene::parse(&format!("{HANGING}{measures}"), "hanging.toml").unwrap();
    for kind in [Kind::F64, Kind::F32] {
        let found = run(&scene, kind);
        // At rest the spring holds the weight: 20 N / 50 N/m.
        let near = |name: &str, wanted: f64| {
            let n = number(&found, name);
            // In f32 increments of velocity that are too small are lost.
            let reach = if kind == Kind::F64 { 1e-6 } else { 1e-3 };
            assert!((n - wanted).abs() < reach * (1.0 + wanted.abs()), "{kind:?} {name}: {n}, not {wanted}");
        };
        near("place", -1.4);
        // The pinned particle's own weight is 20 N, too: what hangs on the hook is both.
        near("pull", 40.0);
        near("apart", 1.4);
        // In gravity: 2 kg 10 m/s² 1.4 m below zero; the edge is not among the one particle.
        near("energy", -28.0);
        // With the spring's own: 50 N/m (0.4 m)² / 2 = 4 J.
        near("all", -24.0);
        let outcome = |name: &str| found.iter().find(|o| o.name == name).unwrap();
        assert_eq!(
            (outcome("sag").ok, outcome("pull").ok, outcome("place").ok),
            (Some(true), Some(true), None)
        );
        assert!((outcome("sag").at - 20.0).abs() < 1e-9 && outcome("sag").unit == "m");
        // Free fall would be 10 m/s; overdamped (c² = 100 < 4 k m = 400: underdamped) it is at most g sqrt(m/k).
        let fastest = number(&found, "fastest");
        assert!((-2.0..-0.5).contains(&fastest), "{fastest}");
        match outcome("speed").value {
            Some(Value::Vector(v)) => assert!(v.iter().all(|c| c.abs() < 1e-4), "{v:?}"),
            ref other => panic!("{other:?}"),
        }
    }
}

/// Energy of a damped swing only falls, and what it loses is what the damper takes: rate c v².
#[test]
fn energy_falls_by_what_the_damper_takes() {
    let times: Vec<String> = (0..=40).map(|k| format!("{}", f64::from(k) * 0.05)).collect();
    let text = HANGING.replace("duration = 20", "duration = 2").replace("0.0005", "0.00002");
    let scene = Scene::parse(
        &format!(
            "{text}[[measure]]\nname = \"energy\"\nof = \"energy\"\nat = [{0}]\n\
            [[measure]]\nname = \"speed\"\nof = \"velocity\"\non = [1]\naxis = \"z\"\nat = [{0}]\n",
            times.join(", ")
        ),
        "hanging.toml",
    )
    .unwrap();
    let found = run(&scene, Kind::F64);
    let series = |name: &str| -> Vec<f64> {
        let all = found.iter().filter(|o| o.name == name);
        all.map(|o| if let Some(Value::Number(n)) = o.value { n } else { panic!("{o:?}") }).collect()
    };
    let (energy, speed) = (series("energy"), series("speed"));
    assert_eq!((energy.len(), speed.len()), (41, 41));
    assert!(energy.windows(2).all(|w| w[1] < w[0] + 1e-4), "{energy:?}");
    // Simpson's rule over the 40 intervals.
    let power: Vec<f64> = speed.iter().map(|v| 10.0 * v * v).collect();
    let weight = |k: usize| {
        if k == 0 || k == 40 {
            1.0
        } else if k % 2 == 1 {
            4.0
        } else {
            2.0
        }
    };
    let taken: f64 = power.iter().enumerate().map(|(k, p)| weight(k) * p * 0.05 / 3.0).sum();
    let lost = energy[0] - energy[40];
    assert!((lost - taken).abs() < 0.003 * taken && taken > 3.0, "{lost} {taken}");
}

/// Every law says what its springs hold: pulled slowly, the work of the load is that and what dampers took.
#[test]
fn each_law_knows_what_its_springs_hold() {
    for law in [
        "spring",
        "voigt",
        "maxwell",
        "three-element",
        "clamp",
        "yielding",
        "generalized-voigt",
        "generalized-maxwell",
    ] {
        let mut scene = Scene::open(&format!("chain:{law}")).unwrap();
        scene.duration = 5.0;
        scene.measures = Scene::parse(
            &format!("{HANGING}[[measure]]\nname = \"energy\"\nof = \"energy\"\nover = {{ to = 5, take = \"min\" }}\n"),
            "m.toml",
        )
        .unwrap()
        .measures;
        // The same measure of this scene's own particles.
        if let nendo_model::scene::measure::Quantity::Energy(list) = &mut scene.measures[0].quantity {
            *list = (0..scene.mesh.particles.len() as u32).collect();
        }
        let found = run(&scene, Kind::F64);
        let least = number(&found, "energy");
        assert!((0.0..1.0).contains(&least), "{law}: {least}");
    }
}

/// A box under pressure: extents, volume, area, momentum of a known motion.
#[test]
fn a_moved_box_has_the_extents_it_is_given() {
    let text = "step = 0.01\nduration = 1\nmass = 0.5\n[mesh.box]\nsize = [3, 3, 3]\npitch = 1\n[materials.m]\nk1 = 1\nc1 = 1\nc2 = 1\n\
        [[motions]]\nname = \"lid\"\non = { face = \"z-max\" }\nframes = [{ t = 1, offset = [0, 0, 1] }]\n\
        [[motions]]\non = { face = \"z-min\" }\nframes = [{ t = 1, offset = [0, 0, -1] }]\n\
        [[measure]]\nname = \"height\"\nof = \"extent\"\naxis = \"z\"\nat = [0, 0.5, 1]\n\
        [[measure]]\nname = \"size\"\nof = \"extent\"\non = { face = \"z-max\" }\n\
        [[measure]]\nname = \"mean-height\"\nof = \"extent\"\naxis = \"z\"\nover = { to = 1, take = \"mean\" }\n\
        [[measure]]\nname = \"momentum\"\nof = \"momentum\"\non = { face = \"z-max\" }\nat = 0.5\n\
        [[measure]]\nname = \"spin\"\nof = \"angular-momentum\"\non = { face = \"z-max\" }\naxis = \"x\"\nat = 0.5\n\
        [[measure]]\nname = \"lid\"\nof = \"area\"\non = { face = \"z-max\" }\n\
        [[measure]]\nname = \"volume\"\nof = \"volume\"\nat = 0\n\
        [[measure]]\nname = \"round\"\nof = \"axis-ratio\"\naxis = \"y\"\nat = 0\n\
        [[measure]]\nname = \"gap\"\nof = \"distance\"\non = [0]\nto = { line = [2, 8] }\nat = 0\n\
        [[measure]]\nname = \"thick\"\nof = \"distance\"\non = { face = \"z-min\" }\nto = { face = \"z-max\" }\naxis = \"z\"\n\
        [[measure]]\nname = \"askew\"\nof = \"distance\"\non = { face = \"z-max\" }\nto = [0]\naxis = [0, 0, -2]\n\
        [[measure]]\nname = \"turned\"\nof = \"inverted\"\n";
    let scene = Scene::parse(text, "box.toml").unwrap();
    let found = run(&scene, Kind::F64);
    let heights: Vec<_> = found.iter().filter(|o| o.name == "height").map(|o| o.value.clone()).collect();
    for (found, wanted) in heights.iter().zip([2.0, 3.0, 4.0]) {
        assert!(matches!(found, Some(Value::Number(n)) if (n - wanted).abs() < 1e-9), "{found:?} {wanted}");
    }
    let near = |name: &str, wanted: f64| {
        let n = number(&found, name);
        assert!((n - wanted).abs() < 1e-9, "{name}: {n}, not {wanted}");
    };
    near("mean-height", 3.0);
    near("lid", 4.0);
    near("thick", 4.0);
    near("askew", 4.0);
    near("volume", 8.0);
    near("round", 1.0);
    near("gap", 2.0);
    near("turned", 0.0);
    // Nine particles of 0.5 kg at 1 m/s; about x the places along y cancel.
    near("spin", 0.0);
    let momentum = found.iter().find(|o| o.name == "momentum").unwrap();
    assert!(
        matches!(momentum.value, Some(Value::Vector([0.0, 0.0, z])) if (z - 4.5).abs() < 1e-9),
        "{momentum:?}"
    );
}

/// Two boxes one on the other: what one feels of the other is the opposite, to the last bit; the floor carries both.
#[test]
fn contact_forces_are_opposite_and_carry_the_weight() {
    let text = "step = 0.0005\nduration = 6\nmass = 0.1\ngravity = [0, 0, -10]\n\
        [[mesh.boxes]]\nname = \"low\"\nsize = [4, 4, 2]\npitch = 0.1\ncenter = [0, 0, 0.05]\n\
        [[mesh.boxes]]\nname = \"high\"\nsize = [2, 2, 2]\npitch = 0.1\ncenter = [0.03, 0.02, 0.152]\n\
        [materials.m]\npreset = \"elastic\"\nk1 = 3000\nc1 = 20\n[contact]\nstiffness = 3000\ndamping = 15\nfriction = 0.5\nself = true\n\
        [[boundaries]]\nname = \"floor\"\nplane = { point = [0, 0, 0], normal = [0, 0, 1] }\n\
        [[measure]]\nname = \"up\"\nof = \"contact-force\"\non = { group = \"high\" }\nfrom = { group = \"low\" }\n\
        [[measure]]\nname = \"down\"\nof = \"contact-force\"\non = { group = \"low\" }\nfrom = { group = \"high\" }\n\
        [[measure]]\nname = \"floor\"\nof = \"contact-force\"\non = { boundary = \"floor\" }\naxis = \"z\"\nexpect = { value = -40, within-percent = 1 }\n\
        [[measure]]\nname = \"cell\"\nof = \"force\"\non = { boundary = \"floor\" }\naxis = \"z\"\n\
        [[measure]]\nname = \"under\"\nof = \"contact-point\"\non = { group = \"high\" }\nfrom = { group = \"low\" }\n\
        [[measure]]\nname = \"deep\"\nof = \"contact-depth\"\non = { group = \"high\" }\nexpect = { less-than = \"high\" }\n\
        [[measure]]\nname = \"high\"\nof = \"extent\"\non = { group = \"high\" }\naxis = \"z\"\n";
    let scene = Scene::parse(text, "stack.toml").unwrap();
    for kind in [Kind::F64, Kind::F32] {
        let found = run(&scene, kind);
        let vector = |name: &str| match found.iter().find(|o| o.name == name).unwrap().value {
            Some(Value::Vector(v)) => v,
            ref other => panic!("{name}: {other:?}"),
        };
        assert_eq!(vector("up"), vector("down").map(|c| -c), "{kind:?}");
        // Eight particles of 0.1 kg.
        assert!((vector("up")[2] - 8.0).abs() < 0.1, "{kind:?} {:?}", vector("up"));
        assert_eq!(number(&found, "floor"), number(&found, "cell"));
        assert!((number(&found, "floor") + 40.0).abs() < 0.4, "{}", number(&found, "floor"));
        let under = vector("under");
        assert!((under[0] - 0.03).abs() < 0.01 && (under[1] - 0.02).abs() < 0.01, "{under:?}");
        assert!(found.iter().all(|o| o.ok != Some(false)), "{found:?}");
    }
}

#[test]
fn a_press_is_classified() {
    let text = |material: &str, class: &str| {
        format!(
            "step = 0.001\nduration = 6\nmass = 0.01\n[mesh.box]\nsize = [3, 3, 3]\npitch = 0.1\n[materials.m]\n{material}\n\
            [[pins]]\non = {{ face = \"z-min\" }}\n[[forces]]\non = {{ face = \"z-max\" }}\nforce = [0, 0, -0.1]\nto = 1\n\
            [[measure]]\nname = \"kind\"\nof = \"class\"\nexpect = {{ class = \"{class}\" }}\n"
        )
    };
    for (material, kind) in [
        ("preset = \"elastic\"\nk1 = 20\nc1 = 2", DeformationKind::Elastic),
        ("preset = \"viscoplastic\"\nc1 = 4\nc2 = 4", DeformationKind::Viscoplastic),
        ("k1 = 20\nc1 = 2\nc2 = 20", DeformationKind::Rheological),
    ] {
        for expected in ["elastic", "viscoplastic", "rheological"] {
            let scene = Scene::parse(&text(material, expected), "press.toml").unwrap();
            let found = run(&scene, Kind::F64);
            assert_eq!(found[0].value, Some(Value::Class(kind)), "{material}");
            assert_eq!(found[0].ok, Some(kind.name() == expected), "{material} {expected}");
        }
    }
}

/// What cannot be measured, or would never be judged, is said where it stands.
#[test]
fn senseless_measures_are_refused_with_their_place() {
    for (measure, words) in [
        ("name = \"a\"\nof = \"weight\"", "`weight` cannot be measured; one of position,"),
        ("of = \"position\"", "needs `name`"),
        ("name = \"a:b\"\nof = \"position\"", "has no `:`"),
        ("name = \"a\"\nof = \"position\"\non = [9]", "particle 9 is out of range"),
        ("name = \"a\"\nof = \"force\"\non = [0]", "on = { support = NAME }"),
        (
            "name = \"a\"\nof = \"force\"\non = { support = \"wall\" }",
            "no support `wall`; the scene has hook",
        ),
        (
            "name = \"a\"\nof = \"force\"\non = { boundary = \"hook\" }",
            "no boundary `hook`; the scene has none",
        ),
        ("name = \"a\"\nof = \"volume\"", "only a mesh of tetrahedra"),
        ("name = \"a\"\nof = \"contact-force\"\non = [1]", "no table [contact]"),
        ("name = \"a\"\nof = \"class\"\nloaded = 1\nexpect = { at-most = 3 }", "expect `{ class = "),
        ("name = \"a\"\nof = \"class\"\nexpect = { class = \"elastic\" }", "when was it loaded?"),
        (
            "name = \"a\"\nof = \"class\"\nloaded = 1\nexpect = { class = \"soft\" }",
            "one of undeformed, elastic",
        ),
        ("name = \"a\"\nof = \"energy\"\naxis = \"x\"", "`axis` does not go with energy"),
        ("name = \"a\"\nof = \"position\"\naxis = \"w\"", "unknown axis `w`"),
        ("name = \"a\"\nof = \"position\"\naxis = [0, 0, 0]", "must not be zero"),
        ("name = \"a\"\nof = \"position\"\nat = [-1]", "none below zero"),
        ("name = \"a\"\nof = \"position\"\nat = 1\nover = { to = 2, take = \"max\" }", "not both"),
        (
            "name = \"a\"\nof = \"energy\"\nover = { from = 2, to = 1, take = \"max\" }",
            "a window from 2 s to 1 s",
        ),
        ("name = \"a\"\nof = \"energy\"\nover = { to = 1, take = \"most\" }", "min, max or mean"),
        ("name = \"a\"\nof = \"energy\"\nexpect = { value = 1 }", "how near to `value`?"),
        ("name = \"a\"\nof = \"energy\"\nexpect = { within = 1 }", "within of what?"),
        ("name = \"a\"\nof = \"energy\"\nexpect = {}", "nothing is expected"),
        ("name = \"a\"\nof = \"position\"\nexpect = { value = 1, within = 1 }", "three numbers"),
        (
            "name = \"a\"\nof = \"energy\"\nexpect = { more-than = \"b\" }",
            "no other measure `b` in this file",
        ),
        ("name = \"a\"\nof = \"energy\"\nexpect = { more-than = \"a\" }", "no other measure `a`"),
        ("name = \"a\"\nof = \"energy\"\nfrom = [0]", "`from` does not go with energy"),
        (
            "name = \"a\"\nof = \"energy\"\n[[measure]]\nname = \"a\"\nof = \"energy\"",
            "another measure has this name",
        ),
        ("name = \"a\"\nof = \"distance\"\non = [0]\nto = { line = [0, 0] }", "two particles"),
    ] {
        let text = format!("{HANGING}[[measure]]\n{measure}\n");
        let error = Scene::parse(&text, "bad.toml").expect_err(measure).to_string();
        assert!(error.starts_with("bad.toml:") && error.contains(words), "{measure}: {error}");
    }
}

/// What a run does not come to is not measured, and neither met nor missed.
#[test]
fn a_measure_beyond_the_run_is_left_open() {
    let text = format!(
        "{HANGING}[[measure]]\nname = \"late\"\nof = \"energy\"\nat = [0, 100]\nexpect = {{ at-most = 1e9 }}\n"
    );
    let scene = Scene::parse(&text, "late.toml").unwrap();
    let mut measuring = Measuring::new(&scene);
    assert_eq!((measuring.due(0), measuring.due(1)), (Some(0), Some(200_000)));
    let still = vec![nendo_model::mesh::Vec3::zeros(); 2];
    let at =
        |sensed| Moment { step: 0, positions: &still, velocities: &still, sensed, extensions: Some(&[0.0]) };
    measuring.take(&at(None));
    assert!(
        measuring.outcomes(&mut |_| Err(String::new())).iter().all(|o| o.value.is_none()),
        "forces were not asked for"
    );
    measuring.take(&at(Some(&nendo_model::scene::sense::Sensed::default())));
    let found = measuring.outcomes(&mut |_| Err(String::new()));
    assert_eq!(
        found.iter().map(|o| (o.value.is_some(), o.ok)).collect::<Vec<_>>(),
        [(true, Some(true)), (false, None)]
    );
}
