//! The figures of H05 chapter 2 beside ours: the tables of docs/numbers.md, computed again.

#[path = "../examples/unprinted/conditions.rs"]
mod conditions;

use conditions::{Conditions, HEAD};
use nendo_model::{
    contract::{image::Image, numbers::Profile},
    engine::{self, Engine, Kind, Options},
    mesh::Vec3,
    scene::{ScalingRequest, Scene},
};

const PAGE: &str = include_str!("../../docs/numbers.md");

fn open(scene: &Scene, kind: Kind, profile: Profile) -> Box<dyn Engine> {
    engine::open(scene, &Options { kind, profile, inverse: profile.usual_inverse(), ..Options::default() })
        .unwrap()
}

/// What `nendo compare single --engine hybrid` prints: the mean of 60 distances, of the largest extension seen.
fn error_of_the_hybrid(profile: Profile, seconds: f64) -> f64 {
    let scene = Scene::open("single").unwrap();
    let mut engines = [open(&scene, Kind::F64, profile), open(&scene, Kind::Hybrid, profile)];
    let (steps, samples) = (scene.steps_for(seconds), 60);
    let (mut sum, mut peak) = (0.0, 0f64);
    for sample in 1..=samples {
        let until = steps * sample / samples;
        let [exact, found] = engines.each_mut().map(|engine| {
            engine.advance(until - engine.step()).unwrap();
            engine.positions().unwrap()[1].x
        });
        sum += (exact - found).abs();
        peak = peak.max((exact - scene.mesh.particles[1].x).abs());
    }
    100.0 * sum / samples as f64 / peak
}

/// H05 Fig. 2.10 prints 12.6 % with the point fixed at 8 bits and 0.407 % with optimised constants.
#[test]
fn figure_2_10_has_the_papers_order_of_errors() {
    for (profile, range, printed) in [
        (Profile::Paper2005Plain, 10.0..16.0, "12.6 %"),
        (Profile::Paper2005, 0.1..1.0, "0.407 %"),
        (Profile::Wide, 0.0..0.05, ""),
    ] {
        let errors = [1.0, 1.5, 2.0].map(|seconds| error_of_the_hybrid(profile, seconds));
        assert!(errors.iter().all(|error| range.contains(error)), "{profile}: {errors:?}");
        let row = format!("| {profile} | {} | {printed} |", errors.map(|e| format!("{e:.3} %")).join(" | "));
        assert!(PAGE.contains(&row), "docs/numbers.md has not the row\n{row}");
    }
}

/// The hybrid run again, by a program of its own: Q8.8 as H05 2.3.3 describes it, one element along x.
#[test]
fn the_hybrid_engine_is_the_papers_description() {
    let mut scene = Scene::open("single").unwrap();
    scene.scaling =
        ScalingRequest { length: Some(1.0), mass: Some(1.0), time: Some(0.1), ..ScalingRequest::default() };
    let round = |value: f64| (value + 0.5).floor();
    for (profile, step) in [(Profile::Paper2005Plain, 0.0078125), (Profile::Paper2005, 655.0 / 65536.0)] {
        let mut engine = open(&scene, Kind::Hybrid, profile);
        let origin = Image::new(&scene, profile, profile.usual_inverse()).unwrap().scaling.origin[0];
        // Words in 1/256 of metres and of metres in a tenth of a second; 3000 N are 30 units.
        let (k1, c1, c2) = (250.0, 20.0, 100.0);
        let (mut x, mut v, mut u) = ((10.0 - origin) * 256.0, 0.0, 0.0);
        for k in 0..2000 {
            let speed = v / 256.0 / 0.1;
            let voigt = (c2 * speed - k1 * u) / (c1 + c2);
            let force =
                round(-c2 * (speed - voigt) * 0.01 * 256.0) + if k < 1000 { 30.0 * 256.0 } else { 0.0 };
            (x, v, u) = (x + round(step * v), v + round(step * force), u + 0.001 * voigt);
            engine.advance(1).unwrap();
            let (found_x, found_v) = engine.motion().unwrap();
            let words = [(found_x[1].x - origin) * 256.0, found_v[1].x * 0.1 * 256.0];
            assert!(
                (words[0] - x).abs() < 1e-6 && (words[1] - v).abs() < 1e-6,
                "{profile} {k}: {words:?} {x} {v}"
            );
        }
        assert!(engine.positions().unwrap()[0] == Vec3::zeros() && x > 20.0 * 256.0, "{x}");
    }
}

/// The rows of three seconds of the table of H05 Figs 2.11 and 2.12.
#[test]
fn figure_2_11_under_conditions_that_are_not_printed() {
    assert!(PAGE.contains(HEAD), "docs/numbers.md has not the head\n{HEAD}");
    let best = Conditions { pitch: 27.5, up: 2, squeezed: true, held: true, scaled: true, seconds: 3.0 };
    for conditions in
        [best, Conditions { pitch: 16.0, ..best }, Conditions { pitch: 10.0, scaled: false, ..best }]
    {
        let row = conditions.row();
        assert!(PAGE.contains(&row), "docs/numbers.md has not the row\n{row}");
    }
}
