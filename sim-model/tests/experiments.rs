//! The research's experiments: every scene of `scenes` finds what it expects, and does not once its cause is taken away.

use nendo_model::{
    engine::{self, EngineError, Kind, Options, reference::Integrator, stability::Stability},
    scene::{
        Scene,
        measure::{Measuring, Moment, Outcome, Value, judge::Reference},
    },
};
use std::{collections::HashMap, fs, path::PathBuf, sync::Mutex, thread};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../scenes")
}

fn text(name: &str) -> String {
    fs::read_to_string(folder().join(format!("{name}.toml"))).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// The names of all scene files.
fn names() -> Vec<String> {
    let entries = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let scenes = entries.filter(|path| path.extension().is_some_and(|e| e == "toml"));
    let mut names: Vec<String> =
        scenes.map(|path| path.file_stem().unwrap().to_string_lossy().into_owned()).collect();
    names.sort();
    assert!(names.len() >= 36, "{}", names.len());
    names
}

/// A scene's measures on an engine; `None` if the engine cannot compute it.
fn measured<'a>(scene: &'a Scene, kind: Kind) -> Option<Measuring<'a>> {
    let mut engine = match engine::open(scene, &Options { kind, threads: 1, ..Options::default() }) {
        Ok(engine) => engine,
        Err(_) if kind == Kind::Model => return None,
        Err(error) => panic!("{}: {error}", scene.name),
    };
    let mut measuring = Measuring::new(scene);
    let mut from = 0;
    while let Some(step) = measuring.due(from) {
        from = step + 1;
        match engine.advance(step - engine.step()) {
            // What flies apart finds nothing more.
            Err(EngineError::Failed(_)) => break,
            other => other.unwrap(),
        }
        let needs = measuring.needs(Some(step));
        let (positions, velocities) = engine.motion().unwrap();
        let sensed = needs.forces.then(|| engine.sense().unwrap());
        let extensions = needs.extensions.then(|| engine.extensions().unwrap());
        measuring.take(&Moment {
            step,
            positions: &positions,
            velocities: &velocities,
            sensed: sensed.as_ref(),
            extensions: extensions.as_deref(),
        });
    }
    Some(measuring)
}

/// What measures of other files found.
type Known = Mutex<HashMap<(String, String), Value>>;

fn outcomes(measuring: &Measuring<'_>, kind: Kind, known: &Known) -> Vec<Outcome> {
    measuring.outcomes(&mut |Reference { file, name }| {
        let file = file.as_deref().and_then(|file| file.strip_suffix(".toml")).ok_or("no scene file")?;
        let key = (file.to_owned(), name.clone());
        if let Some(value) = known.lock().unwrap().get(&key) {
            return Ok(value.clone());
        }
        let scene = Scene::parse(&text(file), file).map_err(|e| e.to_string())?;
        let other = measured(&scene, kind).ok_or("this engine cannot compute it")?;
        let value = other.last(name).ok_or("it has no such value")?;
        known.lock().unwrap().insert(key, value.clone());
        Ok(value)
    })
}

/// Does something with every item, on two threads.
fn on_two_threads<T: Send>(items: Vec<T>, work: impl Fn(T) + Sync) {
    let items = Mutex::new(items.into_iter());
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let next = items.lock().unwrap().next();
                    match next {
                        Some(item) => work(item),
                        None => break,
                    }
                }
            });
        }
    });
}

fn all_expectations_are_met(kind: Kind) -> usize {
    let (known, met) = (Known::default(), Mutex::new(0));
    on_two_threads(names(), |name| {
        let scene = Scene::parse(&text(&name), &name).unwrap();
        let stability = Stability::of(&scene, Integrator::Euler);
        assert!(stability.is_stable(), "{name}: {stability:?}");
        let Some(measuring) = measured(&scene, kind) else { return };
        for outcome in outcomes(&measuring, kind, &known) {
            let expected = outcome.expected.is_some();
            assert!(outcome.ok == Some(true) || !expected, "{name} on {kind:?}: {outcome:?}");
            *met.lock().unwrap() += usize::from(expected);
        }
    });
    met.into_inner().unwrap()
}

#[test]
fn experiments_find_what_they_expect_on_f64() {
    let met = all_expectations_are_met(Kind::F64);
    assert!(met >= 90, "{met}");
}

#[test]
fn experiments_find_what_they_expect_on_f32() {
    let met = all_expectations_are_met(Kind::F32);
    assert!(met >= 90, "{met}");
}

/// Those that fit the hardware.
#[test]
fn experiments_find_what_they_expect_on_the_model() {
    let met = all_expectations_are_met(Kind::Model);
    assert!(met >= 24, "{met}");
}

/// Every scene carries a check, and those of the research say whose: key, figure or table, in their first lines.
#[test]
fn every_experiment_expects_something_and_says_whose_it_is() {
    let known = fs::read_to_string(folder().join("../docs/references.md")).unwrap();
    for name in names() {
        let text = text(&name);
        let scene = Scene::parse(&text, &name).unwrap();
        assert!(scene.measures.iter().any(|measure| measure.expect.is_some()), "{name}");
        let head: String = text.lines().take_while(|line| line.starts_with('#')).collect();
        let keys: Vec<&str> =
            head.split('[').skip(1).filter_map(|rest| Some(rest.split_once(']')?.0)).collect();
        assert!(keys.iter().all(|key| known.contains(&format!("| [{key}] |"))), "{name}: {keys:?}");
        let figure = ["Fig", "Table"].iter().any(|what| head.contains(what));
        assert!(!name.starts_with('x') || (!keys.is_empty() && figure), "{name}: {head}");
    }
}

const CLAMPED: &str = "preset = \"elastic\"\nk1 = 60.0\nc1 = 1.0\nlimits = { least = 1.0, most = 1.0 }";
const SHEET: &str = "law = \"voigt\"\nk1 = 1.2\nc1 = 1.5";
const TOPOLOGY: &str = "[topology]\nstiffness = 20.0\ndamping = 1.0\nthreshold = 0.1\n";
const VOLUME: &str = "[volume]\nstiffness = 1.5e9\ndamping = 1.2e6\n";
const JOINTS: &str = "[[joints]]\nstiffness = 100.0\ndamping = 10.0\n";
const JOINTS_IN_SPACE: &str =
    "[[joints]]\nbetween = [\"coarse\", \"fine\"]\nstiffness = 1000.0\ndamping = 0.6\n";
const ROLLER: &str = "center = [0, 0, 0.06439]";

/// Scene, what is replaced in it by what, and the measure that then is not as expected.
const WITHOUT_THE_CAUSE: &[(&str, &str, &str, &str)] = &[
    ("press9", "duration = 3.0", "gravity = [0, 0, -1]\nduration = 3.0", "weight"),
    ("joints-with", JOINTS_IN_SPACE, "", "crack"),
    ("joints-without", "[[pins]]", "[[joints]]\nstiffness = 1000.0\ndamping = 0.6\n[[pins]]", "crack"),
    ("joints-flat-with", JOINTS, "", "crack"),
    ("joints-flat-without", "[[pins]]", "[[joints]]\nstiffness = 100.0\ndamping = 10.0\n[[pins]]", "crack"),
    ("volume-with", VOLUME, "", "volume"),
    ("volume-without", "[[pins]]", "[volume]\nstiffness = 1.5e9\ndamping = 1.2e6\n[[pins]]", "volume"),
    ("x1-three-objects", "material = \"elastic\"\n", "material = \"rheological\"\n", "elastic"),
    ("x1-three-objects", "material = \"viscoplastic\"\n", "material = \"rheological\"\n", "viscoplastic"),
    ("x1-three-objects", "material = \"rheological\"\n", "material = \"elastic\"\n", "rheological"),
    ("x2-roller", ROLLER, "center = [0, 0, 9]", "thickness"),
    ("x2-roller", "friction = 0.5", "friction = 0.0", "outline-4"),
    ("x4-linear-damper", "gravity = [0, 0, -9.8]", "", "height"),
    ("x5-yielding-damper", "c_max = 2e6", "c_max = 30.0", "height"),
    ("x6-with-gravity", "gravity = [0, 0, -2]", "", "left-end"),
    ("x6-with-gravity", "force = [0, 0, -40]", "force = [0, 0, -1]", "rise"),
    ("x6-without-gravity", "mass = 0.05\n", "mass = 0.05\ngravity = [0, 0, -2]\n", "height"),
    ("x7-elastic", CLAMPED, "k1 = 60.0\nc1 = 1.0\nc2 = 2.0", "kind"),
    ("x7-plastic", "preset = \"viscoplastic\"\nc1 = 10.0", "k1 = 1.0\nc1 = 0.5", "kind"),
    ("x8-self-collision", "self = true", "self = false", "left-side"),
    ("x8-self-collision", "self = true", "self = false", "touch"),
    ("x8-self-collision", "force = [0, 0, -50]", "force = [0, 0, -5]", "folded"),
    ("x9-rigid-on-dough", "gravity = [0, 0, -1.0]", "", "dent"),
    ("x10-slippery", "friction = 0.0", "friction = 0.3", "slide"),
    ("x10-rough", "force = [0, 0, -130]", "force = [0, 0, 0]", "right"),
    ("x10-rough", "force = [0, 0, -130]", "force = [0, 0, 0]", "slide"),
    ("x11-six-objects", "gravity = [0, 0, -3.0]", "", "on-the-table"),
    ("x12-integrated", "integral = 2000.0\nregion = 0.002\n", "", "feet"),
    ("x12-penalty", "stiffness = 1000.0", "stiffness = 1000.0\nintegral = 2000.0\nregion = 0.002", "feet"),
    ("x13-integrated", "integral = 2000.0\nregion = 0.002\n", "", "feet"),
    ("x13-penalty", "gravity = [0, 0, -9.8]", "gravity = [0, 0, -4.9]", "weight"),
    ("x13-objects-integrated", "integral = 4000.0\nregion = 0.002\n", "", "depth"),
    ("x13-objects-penalty", "self = true", "self = true\nintegral = 4000.0\nregion = 0.002", "depth"),
    ("x14-elastic", "force = [0, 0, -4.0]", "force = [0, 0, 0]", "bulge"),
    ("x14-plastic", "force = [0, 0, -4.0]", "force = [0, 0, 0]", "bulge"),
    ("x14-rheological", "c2 = ", "c2 = 1e9 #", "kind"),
    ("x15a-voigt", "k1 = 2.0", "k1 = 4.0", "u1"),
    ("x15b-voigt", "to = 20.0", "to = 100.0", "back"),
    ("x16a-maxwell", "c2 = 40.0", "c2 = 80.0", "rate3"),
    ("x16b-maxwell", "to = 20.0", "to = 10.0", "stays"),
    ("x17a-three-element", "c2 = 40.0", "c2 = 80.0", "stays1"),
    ("x17b-three-element", "k1 = 2.0", "k1 = 4.0", "u3"),
    ("x18-generalized-voigt", "{ k = 1.0, c = 100.0 }, ", "", "after-10-s"),
    ("x19-generalized-maxwell", ", { k = 1.0, c = 1000.0 }", "", "after-1000-s"),
    ("x20-elastic-sheet", SHEET, "k1 = 1.2\nc1 = 1.5\nc2 = 15.0", "kept"),
    ("x21-viscoplastic-sheet", "law = \"maxwell\"\nk1 = 1.2\nc2 = 1.5", SHEET, "kept"),
    ("x22-rheological-sheet", "k1 = 1.2\nc1 = 1.5\nc2 = 15.0", SHEET, "kind"),
    ("x23-with", TOPOLOGY, "", "turned-over"),
    (
        "x23-without",
        "[[pins]]",
        "[topology]\nstiffness = 20.0\ndamping = 1.0\nthreshold = 0.1\n[[pins]]",
        "turned-over",
    ),
];

#[test]
fn without_its_cause_no_expectation_is_met() {
    let known = Known::default();
    let (all, mutated, wrong) = (names(), Mutex::new(Vec::new()), Mutex::new(Vec::new()));
    on_two_threads(WITHOUT_THE_CAUSE.to_vec(), |(name, cause, other, measure)| {
        let before = text(name);
        // What comments and measures say stays.
        let (scene, measures) = before.split_at(before.find("\n[[measure]]").unwrap());
        assert!(scene.contains(cause), "{name} has no `{cause}`");
        let after = scene.replace(cause, other) + measures;
        let mut scene = Scene::parse(&after, name).unwrap_or_else(|e| panic!("{name}, {cause}: {e}"));
        // What is measured after it takes time only.
        let place = scene.measures.iter().rposition(|m| m.name == measure);
        scene.measures.truncate(place.unwrap_or_else(|| panic!("{name} has no measure {measure}")) + 1);
        let found = outcomes(&measured(&scene, Kind::F64).unwrap(), Kind::F64, &known);
        let of_it: Vec<&Outcome> = found.iter().filter(|outcome| outcome.name == measure).collect();
        if of_it.iter().all(|outcome| outcome.ok == Some(true)) {
            wrong.lock().unwrap().push(format!("{name} without `{cause}`: {of_it:?}"));
        }
        mutated.lock().unwrap().push(name.to_owned());
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // A scene that nothing is taken from is not tested; x3 is a scene to play with.
    let mutated = mutated.into_inner().unwrap();
    let left: Vec<&String> = all.iter().filter(|name| !mutated.contains(name)).collect();
    assert_eq!(left, ["x3-interactive"]);
}
