//! `nendo estimate --rate`: the largest object that each engine holds at a rate. CPU engines are run here, hardware is planned.

use super::{Clock, Estimate, clock, has_room};
use crate::{
    bench::Stretch,
    cli::{CommandError, Console, open_failure, options::HardwareArgs},
    engine::{self, EngineKind, EngineOptions},
    export::measures::aligned,
    interrupt, progress,
};
use anyhow::anyhow;
use nendo_hdl::target::{NotTimed, Target};
use nendo_model::{
    contract::{config::Config, image::Image},
    plan::loaded::Loaded,
    scene::Scene,
};
use serde::Serialize;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// What an engine holds.
#[derive(Debug, Serialize)]
struct Row {
    /// f32, model, or hardware.
    engine: &'static str,
    /// What it computes: plain elements, those of another law, or forces beside them.
    forces: &'static str,
    /// For hardware.
    target: Option<String>,
    modules: Option<u64>,
    /// The largest box; none if not even the smallest is fast enough.
    size: Option<String>,
    particles: usize,
    edges: usize,
    steps_per_s: f64,
    /// Of the steps' times, for what has been run; but for the steps that others have disturbed.
    p99_9_us: Option<f64>,
    /// Their share.
    disturbed: Option<f64>,
    /// The same of an object of one and a half times the particles, which is too large.
    beyond_p99_9_us: Option<f64>,
    /// For hardware: whether speed or memory is what ends it.
    limit: &'static str,
    clock_mhz: Option<f64>,
    not_timed: NotTimed,
}

/// What a CPU engine computes: elements of some law, and forces beside them.
#[derive(Clone, Copy, Debug)]
struct Work {
    kind: EngineKind,
    /// What the table calls it.
    forces: &'static str,
    law: &'static str,
    tables: &'static str,
}

const PLAIN: &str = "k1 = 100\nc1 = 0.2\nc2 = 1000\n";
const TOPOLOGY: &str = "[topology]\nstiffness = 40\ndamping = 0.15\nthreshold = 0.001\n";
const VOLUME: &str = "[volume]\nstiffness = 1000\ndamping = 2\n";
const TOPOLOGY_AND_VOLUME: &str = "[topology]\nstiffness = 40\ndamping = 0.15\nthreshold = 0.001\n[volume]\nstiffness = 1000\ndamping = 2\n";

/// The rows of CPU engines: laws, topology and volume on and off ([H05] Table 1.1).
const WORKS: &[Work] = &[
    Work { kind: EngineKind::F32, forces: "elements", law: PLAIN, tables: "" },
    Work {
        kind: EngineKind::F32,
        forces: "yielding elements",
        law: "k1 = 100\nc1 = 0.2\nyielding = { c_max = 4000, c_min = 40, f1 = 0.5, f2 = 0.9 }\n",
        tables: "",
    },
    Work {
        kind: EngineKind::F32,
        forces: "generalized Voigt elements",
        law: "law = \"generalized-voigt\"\nparts = [{ k = 200, c = 0.4 }, { k = 200, c = 4.0 }]\n",
        tables: "",
    },
    Work { kind: EngineKind::F32, forces: "topology", law: PLAIN, tables: TOPOLOGY },
    Work { kind: EngineKind::F32, forces: "volume", law: PLAIN, tables: VOLUME },
    Work { kind: EngineKind::F32, forces: "topology, volume", law: PLAIN, tables: TOPOLOGY_AND_VOLUME },
    Work { kind: EngineKind::Model, forces: "elements", law: PLAIN, tables: "" },
];

/// The proportions of a box, and how large it is.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Shape([f64; 3]);

impl Shape {
    /// A cube, or the shape of a scene `box:NXxNYxNZ`.
    fn of(scene: Option<&str>) -> Result<Self, CommandError> {
        let Some(name) = scene else { return Ok(Self([1.0; 3])) };
        let sides: Option<Vec<f64>> = name
            .strip_prefix("box:")
            .and_then(|sides| sides.split('x').map(|side| side.parse::<u32>().ok().map(f64::from)).collect());
        match sides.as_deref() {
            Some(&[x, y, z]) if x >= 1.0 && y >= 1.0 && z >= 1.0 => {
                let mean = (x * y * z).cbrt();
                Ok(Self([x / mean, y / mean, z / mean]))
            }
            _ => Err(CommandError::input(anyhow!(
                "--rate looks for the largest box of a shape: give the shape as box:15x15x16, or leave it out for a cube"
            ))),
        }
    }

    /// The box of about so many particles cubed.
    fn sides(self, side: u32) -> [u64; 3] {
        self.0.map(|share| (share * f64::from(side)).round().max(1.0) as u64)
    }

    fn name(self, side: u32) -> String {
        let [x, y, z] = self.sides(side);
        format!("{x}x{y}x{z}")
    }

    fn scene(self, side: u32) -> Result<Scene, CommandError> {
        Scene::open(&format!("box:{}", self.name(side))).map_err(CommandError::input)
    }

    /// The same at rest, to be run for any time.
    fn at_rest(self, side: u32, work: &Work) -> Result<Scene, CommandError> {
        let [x, y, z] = self.sides(side);
        let text = format!(
            "step = 0.001\nmass = 0.005\n[mesh.box]\nsize = [{x}, {y}, {z}]\npitch = 0.01\n\
             [materials.dough]\n{}{}",
            work.law, work.tables
        );
        Scene::parse(&text, "box").map_err(CommandError::input)
    }
}

/// The largest side from 2 on that does, where a larger one never does if a smaller one does not.
fn largest(
    most: u32,
    mut does: impl FnMut(u32) -> Result<bool, CommandError>,
) -> Result<Option<u32>, CommandError> {
    let (mut good, mut bad) = (1, most + 1);
    // From the small end: large ones take long to look at.
    let mut next = 4.min(most);
    while bad - good > 1 {
        if interrupt::requested() {
            return Err(CommandError::Run(anyhow!("interrupted"), None));
        }
        if does(next)? {
            good = next;
            next = if bad == most + 1 { (2 * next).min(most) } else { good.midpoint(bad) };
        } else {
            bad = next;
            next = good.midpoint(bad);
        }
        next = next.clamp(good + 1, (bad - 1).max(good + 1));
    }
    Ok((good >= 2).then_some(good))
}

/// How long steps take here.
#[derive(Clone, Copy, Debug, Default)]
struct Pace {
    median: Duration,
    /// One step of a thousand takes longer.
    worst: Duration,
    /// The share of steps left out, because a thread had to wait for a core that others had.
    disturbed: f64,
}

/// Steps between two looks at who else uses the machine.
const GROUP: usize = 20;

/// Runs a scene for a thousand steps of which nobody took the cores away, or for some seconds.
fn timed(scene: &Scene, options: &EngineOptions) -> Result<Pace, CommandError> {
    let mut engine = engine::open(scene, options).map_err(open_failure)?;
    engine.advance(20)?;
    let (mut own, mut all) = (Vec::new(), Vec::new());
    let started = Instant::now();
    while own.len() < 1000 && started.elapsed() < Duration::from_secs(3) {
        let (mut times, mut result) = (Vec::with_capacity(GROUP), Ok(()));
        let stretch = Stretch::of(|| {
            for _ in 0..GROUP {
                let step = Instant::now();
                result = engine.advance(1);
                times.push(step.elapsed());
                if result.is_err() {
                    break;
                }
            }
        });
        result?;
        if !stretch.is_disturbed() {
            own.extend_from_slice(&times);
        }
        all.append(&mut times);
    }
    let disturbed = 1.0 - own.len() as f64 / all.len().max(1) as f64;
    let mut times = if own.len() >= 100 { own } else { all };
    times.sort_unstable();
    let rank = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    Ok(Pace { median: rank(0.5), worst: rank(0.999), disturbed })
}

/// A CPU engine, by running it.
fn cpu(work: &Work, shape: Shape, rate: f64) -> Result<Row, CommandError> {
    let options = EngineOptions { kind: work.kind, ..EngineOptions::default() };
    let period = Duration::from_secs_f64(1.0 / rate);
    let scene = |side| shape.at_rest(side, work);
    let mut times = std::collections::BTreeMap::new();
    let found = largest(200, |side| {
        let pace = timed(&scene(side)?, &options)?;
        times.insert(side, pace);
        Ok(pace.worst <= period)
    })?;
    let us = |time: Duration| time.as_secs_f64() * 1e6;
    let mut row = Row {
        engine: work.kind.name(),
        forces: work.forces,
        target: None,
        modules: None,
        size: found.map(|side| shape.name(side)),
        particles: 0,
        edges: 0,
        steps_per_s: 0.0,
        p99_9_us: None,
        disturbed: None,
        beyond_p99_9_us: None,
        limit: "speed",
        clock_mhz: None,
        not_timed: NotTimed::default(),
    };
    if let Some(side) = found {
        let Pace { median, worst, disturbed } = times[&side];
        let mesh = scene(side)?.mesh;
        (row.particles, row.edges) = (mesh.particles.len(), mesh.edges.len());
        (row.steps_per_s, row.p99_9_us) = (1.0 / median.as_secs_f64(), Some(us(worst)));
        row.disturbed = Some(disturbed);
        let beyond = (f64::from(side) * 1.5f64.cbrt()).ceil() as u32;
        row.beyond_p99_9_us = Some(us(timed(&scene(beyond)?, &options)?.worst));
    }
    Ok(row)
}

/// Hardware, by planning it.
fn hardware(
    target: &Target,
    modules: u64,
    hardware: &HardwareArgs,
    shape: Shape,
    rate: f64,
) -> Result<Row, CommandError> {
    let (Clock { mhz, not_timed }, _) = clock(target, modules);
    let budget = (mhz * 1e6 / rate) as u64;
    let mut limit = "speed";
    let mut best = None;
    let standard = Config { modules, ..hardware.standard()? };
    let most = (f64::from(u32::MAX).min((budget * modules) as f64 / 3.0)).cbrt() as u32 + 2;
    let found = largest(most, |side| {
        // What cannot be, however it is shared out, need not be planned.
        let particles: u64 = shape.sides(side).iter().product();
        let least = Config { particles: (particles / modules).max(standard.particles), ..standard };
        if !has_room(target, &least) {
            limit = "memory";
            return Ok(false);
        }
        let scene = shape.scene(side)?;
        if scene.mesh.edges.len() as u64 > budget * modules {
            limit = "speed";
            return Ok(false);
        }
        let least = Config { edges: (scene.mesh.edges.len() as u64 / modules).max(standard.edges), ..least };
        if !has_room(target, &least) || (scene.mesh.particles.len() as u64) < modules {
            limit = "memory";
            return Ok((scene.mesh.particles.len() as u64) < modules);
        }
        let image =
            Image::new(&scene, hardware.profile(), hardware.inverse()).map_err(CommandError::input)?;
        let Loaded { config, plan, .. } =
            Loaded::new(image, modules as usize).map_err(CommandError::input)?;
        let (fast, room) = (plan.cycles_per_step() <= budget, has_room(target, &config));
        if fast && room {
            best = Some(Estimate::new(target, &config, &scene, &plan));
        } else {
            limit = if fast { "memory" } else { "speed" };
        }
        Ok(fast && room)
    })?;
    let found = found.filter(|_| best.is_some());
    Ok(Row {
        engine: "hardware",
        forces: "elements",
        target: Some(target.name.clone()),
        modules: Some(modules),
        size: found.map(|side| shape.name(side)),
        particles: best.as_ref().map_or(0, |best| best.particles),
        edges: best.as_ref().map_or(0, |best| best.edges),
        steps_per_s: best.as_ref().map_or(0.0, |best| best.steps_per_s),
        p99_9_us: None,
        disturbed: None,
        beyond_p99_9_us: None,
        limit,
        clock_mhz: Some(mhz),
        not_timed,
    })
}

/// One module, and doubled for as long as there is room.
fn counts(target: &Target, standard: &Config, sweep: bool) -> Vec<u64> {
    let room = |&modules: &u64| has_room(target, &Config { modules, ..*standard });
    let all: Vec<u64> = (0..7).map(|power| 1 << power).take_while(room).collect();
    match (sweep, all.as_slice()) {
        (true, _) | (_, [] | [_]) => all,
        (false, [first, .., last]) => vec![*first, *last],
    }
}

/// The rows for a rate; of one target all numbers of modules, of several the first and the last.
pub(super) fn rows(
    rate: f64,
    targets: &[Target],
    hardware_args: &HardwareArgs,
    scene: Option<&str>,
    sweep: bool,
    console: Console,
) -> Result<Value, CommandError> {
    let (shape, standard) = (Shape::of(scene)?, hardware_args.standard()?);
    let mut rows = Vec::new();
    for work in WORKS {
        let what = format!("running {} here, {}", work.kind.name(), work.forces);
        rows.push(progress::during(&what, || cpu(work, shape, rate))?);
    }
    for target in targets {
        for modules in match hardware_args.asked_modules() {
            Some(modules) => vec![modules as u64],
            None => counts(target, &standard, sweep),
        } {
            let what = format!("planning {modules} on {}", target.name);
            rows.push(progress::during(&what, || hardware(target, modules, hardware_args, shape, rate))?);
        }
    }
    console.answer(format!("The largest box that is computed {rate} times a second:"));
    let head = [
        "",
        "forces",
        "modules",
        "box",
        "particles",
        "edges",
        "steps/s",
        "one step of 1000 takes",
        "ends by",
    ];
    let table: Vec<[String; 9]> =
        std::iter::once(head.map(str::to_owned)).chain(rows.iter().map(Row::cells)).collect();
    console.answer(aligned(&table).join("\n"));
    console.answer(
        "CPU engines were run here, without the steps in which others had the cores; hardware is planned, at the clock of a\n\
         routed report where there is one.",
    );
    let disturbed = rows.iter().filter_map(|row| row.disturbed).fold(0.0, f64::max);
    if disturbed > 0.1 {
        let share = 100.0 * disturbed;
        console
            .say(format!("the machine is busy: up to {share:.0} % of the steps were disturbed and left out"));
    }
    Ok(json!({ "rate": rate, "rows": rows }))
}

impl Row {
    fn cells(&self) -> [String; 9] {
        let worst = match (self.p99_9_us, self.beyond_p99_9_us) {
            (Some(us), Some(beyond)) => format!("{us:.0} us ({beyond:.0} us with half as many again)"),
            _ => String::new(),
        };
        let clock = self
            .clock_mhz
            .map_or(String::new(), |mhz| format!(" at {}", Clock { mhz, not_timed: self.not_timed.clone() }));
        [
            self.target.clone().unwrap_or_else(|| self.engine.to_owned()),
            self.forces.to_owned(),
            self.modules.map_or(String::new(), |modules| modules.to_string()),
            self.size.clone().unwrap_or_else(|| "none".to_owned()),
            self.particles.to_string(),
            self.edges.to_string(),
            format!("{:.0}", self.steps_per_s),
            worst,
            format!("{}{clock}", self.limit),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nendo_model::engine::{reference::Integrator, stability::Stability};

    /// A row of an object that no step holds, or that does not compute what it is called, would say nothing.
    #[test]
    fn what_is_timed_is_stable_and_is_what_it_is_called() {
        let shape = Shape([1.0; 3]);
        for work in WORKS {
            let scene = shape.at_rest(4, work).ok().unwrap();
            let stability = Stability::of(&scene, Integrator::Euler);
            assert!(stability.is_stable(), "{work:?}: {stability:?}");
            let (only, plain) = (scene.float_only().join(", "), work.forces == "elements");
            assert_eq!(only.is_empty(), plain, "{work:?}: {only}");
            let word = |word: &str| (work.forces.contains(word), only.contains(word));
            for (called, computed) in ["topology", "volume"].map(word) {
                assert_eq!(called, computed, "{work:?}: {only}");
            }
            assert_eq!(work.forces.contains("elements") && !plain, only.contains("law"), "{work:?}: {only}");
        }
    }

    #[test]
    fn the_largest_that_does_is_found() {
        for most in [2, 3, 7, 100] {
            for limit in 1..=most {
                let mut looked = 0;
                let found = largest(most, |side| {
                    looked += 1;
                    Ok(side <= limit)
                });
                assert_eq!(found.ok().flatten(), (limit >= 2).then_some(limit), "{most} {limit}");
                assert!(looked < 16, "{looked}");
            }
        }
    }

    #[test]
    fn a_shape_keeps_its_proportions() {
        let cube = Shape::of(None).ok().unwrap();
        assert_eq!(cube.name(9), "9x9x9");
        let flat = Shape::of(Some("box:20x20x5")).ok().unwrap();
        let [x, y, z] = flat.sides(20);
        assert!(x == y && x.abs_diff(4 * z) <= 2, "{x} {y} {z}");
        assert!(Shape::of(Some("cube9")).is_err() && Shape::of(Some("box:0x1x1")).is_err());
    }
}
