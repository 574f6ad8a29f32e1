//! One set of conditions for H05 Figs 2.11 and 2.12, and what comes of it.

use nendo_model::{
    contract::numbers::Profile,
    engine::{self, Engine, Kind, Options},
    mesh::{Lattice, Vec3},
    scene::{Load, ScalingRequest, Scene, Support},
};

/// Particles along an edge of the papers' box.
const SIDE: u32 = 9;
/// The papers' r: seconds per unit of time.
const R: f64 = 0.1;

/// What is not printed.
#[derive(Clone, Copy)]
pub(crate) struct Conditions {
    /// Metres between particles.
    pub(crate) pitch: f64,
    /// The axis that points up: forces act on two corners of that face.
    pub(crate) up: usize,
    /// Whether the forces squeeze the face, or pull it apart: which of the corners has which.
    pub(crate) squeezed: bool,
    /// Whether the face below is held.
    pub(crate) held: bool,
    /// Whether the printed forces are in the circuit's units (30 = 3000 r^2), or before that.
    pub(crate) scaled: bool,
    /// How long: the printed 30 in seconds, or in the circuit's units.
    pub(crate) seconds: f64,
}

/// The columns of [`Conditions::row`].
pub(crate) const HEAD: &str = "| time | below | forces | up | corners | pitch | f64 moves | paper-2005, half-way | at the end | wide, half-way | at the end |\n\
     |---|---|---|---|---|---|---|---|---|---|---|";

impl Conditions {
    fn scene(self) -> Scene {
        let mut scene = Scene::open("cube9").expect("it is built in");
        let lattice = Lattice { size: [SIDE; 3], pitch: self.pitch, center: Vec3::zeros() };
        scene.mesh = lattice.mesh().expect("a sound lattice");
        let corner = |low: u32| {
            let mut at = [low; 3];
            at[self.up] = SIDE - 1;
            lattice.index(at)
        };
        let unit = if self.scaled { 1.0 / (R * R) } else { 1.0 };
        let load = |particle, [x, y, z]: [f64; 3]| Load {
            particles: vec![particle],
            force: Vec3::new(x, y, z) * unit,
            from: 0.0,
            to: self.seconds,
        };
        let [first, last] = if self.squeezed { [0, SIDE - 1] } else { [SIDE - 1, 0] };
        scene.loads = vec![load(corner(first), [6.0, 30.0, 6.0]), load(corner(last), [-30.0, -15.0, -30.0])];
        let below = scene.mesh.bounds().0[self.up];
        for (support, x) in scene.support.iter_mut().zip(&scene.mesh.particles) {
            if self.held && x[self.up] <= below {
                *support = Support::Pinned;
            }
        }
        scene.duration = self.seconds;
        scene
    }

    /// How far the reference moves, and how far off two profiles are, half-way and at the end: percent of the width.
    pub(crate) fn row(self) -> String {
        let (scene, times) = (self.scene(), [self.seconds / 2.0, self.seconds]);
        let exact = engine::open(&scene, &Options { kind: Kind::F64, ..Options::default() });
        let wanted = positions(exact.expect("f64 computes all").as_mut(), &scene, &times);
        let start = &scene.mesh.particles;
        let moves =
            wanted[1].as_ref().map_or_else(Clone::clone, |x| format!("{:.2}", percent(&scene, x, start)));
        let mut cells = vec![
            format!("{} s", self.seconds),
            if self.held { "held" } else { "free" }.to_owned(),
            if self.scaled { "3000 r^2" } else { "30" }.to_owned(),
            ["x", "y", "z"][self.up].to_owned(),
            if self.squeezed { "together" } else { "apart" }.to_owned(),
            self.pitch.to_string(),
            moves,
        ];
        for profile in [Profile::Paper2005, Profile::Wide] {
            let got = match open(&scene, profile) {
                Ok(mut engine) => positions(engine.as_mut(), &scene, &times),
                Err(_) => times.iter().map(|_| Err("does not fit".to_owned())).collect(),
            };
            for (got, wanted) in got.iter().zip(&wanted) {
                cells.push(match (got, wanted) {
                    (Ok(got), _) if got == start => "does not move".to_owned(),
                    (Ok(got), Ok(wanted)) => format!("{:.3}", percent(&scene, got, wanted)),
                    (Err(why), _) | (_, Err(why)) => why.clone(),
                });
            }
        }
        format!("| {} |", cells.join(" | "))
    }
}

/// An engine of the model; the papers' profiles in their own units, the default in those it chooses.
fn open(scene: &Scene, profile: Profile) -> Result<Box<dyn Engine>, engine::OpenError> {
    let mut scene = scene.clone();
    if profile != Profile::Wide {
        let own = ScalingRequest { length: Some(1.0), mass: Some(1.0), time: Some(R), ..Default::default() };
        scene.scaling = own;
    }
    engine::open(&scene, &Options { profile, inverse: profile.usual_inverse(), ..Options::default() })
}

/// Mean distance over all particles, of the width.
fn percent(scene: &Scene, a: &[Vec3], b: &[Vec3]) -> f64 {
    let sum: f64 = a.iter().zip(b).map(|(a, b)| (a - b).norm()).sum();
    100.0 * sum / a.len() as f64 / scene.mesh.width()
}

/// Positions at some times, or why not.
fn positions(engine: &mut dyn Engine, scene: &Scene, times: &[f64]) -> Vec<Result<Vec<Vec3>, String>> {
    let mut failed = None;
    let at = times.iter().map(|&time| {
        let until = scene.steps_for(time);
        while failed.is_none() && engine.step() < until {
            if engine.advance(100.min(until - engine.step())).is_err() {
                let what = engine.overflow();
                let what = if what.any() { format!("{what} overflows") } else { "flies apart".to_owned() };
                failed = Some(format!("{what} by {:.1} s", engine.step() as f64 * scene.step));
            }
        }
        match &failed {
            Some(why) => Err(why.clone()),
            None => Ok(engine.positions().expect("in this process")),
        }
    });
    at.collect()
}
