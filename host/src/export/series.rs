//! States taken during a run, at even distances in time: frames on disk, chosen particles and forces as tables.
//!
//! Every frame is written at once. The lists of them and the tables are written again every second or so: what kills a run
//! leaves all of it but the last moments.

use super::{history::History, measures::MeasureSeries, vtu};
use crate::{
    around::{self, Solid},
    output::{remove, write_whole},
    sample::Sample,
};
use nendo_model::scene::{
    Scene,
    measure::{Measuring, Moment},
};
use std::{
    collections::BTreeMap,
    fmt::Write,
    fs, io,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

/// How often tables are written while a run goes on; less often where that would take more than a twentieth of the time.
const KEEP: Duration = Duration::from_secs(1);

/// What is wanted of a run.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// At least so many states after the first one; none for the last one alone.
    pub samples: u64,
    /// So many frames after the first one.
    pub frames: u64,
    /// These particles in a table.
    pub watch: Vec<u32>,
}

/// When a state is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mark {
    step: u64,
    frame: bool,
}

impl Plan {
    /// Even distances of each kind, in integers, so that the last state is that of the last step; every frame is a state
    /// in the tables, too.
    fn marks(&self, steps: u64) -> Vec<Mark> {
        let even = |count: u64| {
            let count = count.min(steps);
            let step = move |i: u64| (u128::from(steps) * u128::from(i) / u128::from(count.max(1))) as u64;
            (0..=count).map(step)
        };
        let mut marks: BTreeMap<u64, bool> = BTreeMap::from([(steps, false)]);
        if self.samples > 0 {
            marks.extend(even(self.samples).map(|step| (step, false)));
        }
        if self.frames > 0 {
            marks.extend(even(self.frames).map(|step| (step, true)));
        }
        marks.into_iter().map(|(step, frame)| Mark { step, frame }).collect()
    }
}

/// Takes the states.
#[derive(Debug)]
pub struct Series<'a> {
    scene: &'a Scene,
    /// What stands around the object.
    solids: Vec<Solid>,
    /// Where files go, if anywhere.
    folder: Option<PathBuf>,
    watch: Vec<u32>,
    marks: Vec<Mark>,
    /// How many of them are behind.
    passed: usize,
    frames: Vec<(f64, String)>,
    history: History,
    measured: MeasureSeries,
    watched: String,
    /// Lines of the tables of the run that this one goes on from.
    before: Before,
    kept: Instant,
    /// How long it took to write them.
    keeping: Duration,
}

/// What an earlier run left in the same folder.
#[derive(Debug, Default)]
struct Before {
    forces: String,
    measures: String,
}

/// The state from which a run goes on.
pub const STATE: &str = "state.nendo";

/// What a run leaves in its folder, but for frames.
const LEFT: [&str; 14] = [
    "frames.pvd",
    "edges.pvd",
    "around.pvd",
    "watch.csv",
    "forces.csv",
    "measures.csv",
    "live.csv",
    "state.csv",
    STATE,
    "report.html",
    "report.json",
    "model.glb",
    "picture.png",
    "picture.svg",
];

/// Removes what an earlier run has left in a folder: nothing of it is taken for the next one's.
pub fn clear(folder: &Path) -> io::Result<()> {
    LEFT.iter().try_for_each(|name| remove(&folder.join(name)))?;
    remove_frames(folder, 0)
}

/// Removes the frames of a folder from a number on.
fn remove_frames(folder: &Path, from: usize) -> io::Result<()> {
    let Ok(entries) = fs::read_dir(folder.join("frames")) else { return Ok(()) };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let number =
            name.to_str().and_then(|name| name.strip_suffix(".vtu")?.get(..5)?.parse::<usize>().ok());
        if number.is_some_and(|number| number >= from) {
            remove(&entry.path())?;
        }
    }
    Ok(())
}

impl<'a> Series<'a> {
    /// A series of a run of so many steps, into a folder if there is one.
    pub fn new(scene: &'a Scene, folder: Option<&Path>, plan: &Plan, steps: u64) -> Self {
        let mut watched = "t_s".to_owned();
        for p in &plan.watch {
            let _ = write!(watched, ",x{p}_m,y{p}_m,z{p}_m");
        }
        watched.push('\n');
        Self {
            scene,
            solids: around::boundaries(scene),
            folder: folder.map(Path::to_owned),
            watch: plan.watch.clone(),
            marks: plan.marks(steps),
            passed: 0,
            frames: Vec::new(),
            history: History::default(),
            measured: MeasureSeries::new(scene),
            watched,
            before: Before::default(),
            kept: Instant::now(),
            keeping: Duration::ZERO,
        }
    }

    /// Goes on where an earlier run with the same plan was: what it left of before that step stays.
    pub fn go_on_from(&mut self, step: u64) -> io::Result<()> {
        self.passed = self.marks.partition_point(|mark| mark.step <= step);
        let Some(folder) = &self.folder else { return Ok(()) };
        let time = step as f64 * self.scene.step;
        let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap_or_default();
        let earlier = |text: &str| -> String {
            let is_earlier = |line: &&str| {
                line.split(',').next().and_then(|first| first.parse().ok()).is_some_and(|t: f64| t <= time)
            };
            text.lines().filter(is_earlier).flat_map(|line| [line, "\n"]).collect()
        };
        let watched = read("watch.csv");
        if watched.lines().next() == self.watched.lines().next() {
            self.watched += &earlier(&watched);
        }
        self.before.forces = earlier(&read("forces.csv"));
        self.before.measures = earlier(&read("measures.csv"));
        self.frames = frames_of(&read("frames.pvd"));
        self.frames.retain(|(t, name)| *t <= time && folder.join(name).is_file());
        // Their numbers go on.
        let count =
            self.frames.iter().enumerate().take_while(|(k, (_, name))| *name == frame_name(*k)).count();
        self.frames.truncate(count);
        remove_frames(folder, count)
    }

    /// The step at which the next state is due, until all are taken.
    pub fn due(&self) -> Option<u64> {
        self.marks.get(self.passed).map(|mark| mark.step)
    }

    /// Whether all forces are wanted of the next state.
    pub fn wants_all(&self) -> bool {
        self.folder.is_some() && self.marks.get(self.passed).is_some_and(|mark| mark.frame)
    }

    /// Where files go, if anywhere.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// What was felt and seen so far.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// Whether measures go into a table at every state.
    pub fn keeps_measures(&self) -> bool {
        self.folder.is_some() && !self.scene.measures.is_empty()
    }

    /// What the scene's sensors found so far.
    pub fn measured(&self) -> &MeasureSeries {
        &self.measured
    }

    /// Notes what the scene's sensors find at a moment that is taken, too.
    pub fn measure(&mut self, measuring: &Measuring<'_>, moment: &Moment<'_>) {
        if self.keeps_measures() {
            self.measured.push(self.scene, measuring, moment);
        }
    }

    /// Takes a state: the one that is due, or one beside them. Tells whether it is time to keep what there is, which has
    /// been done with all that is here.
    pub fn take(&mut self, sample: &Sample) -> io::Result<bool> {
        let due = self.marks.get(self.passed).filter(|mark| mark.step == sample.step).copied();
        self.passed += usize::from(due.is_some());
        self.history.push(sample);
        let _ = write!(self.watched, "{}", sample.time);
        for p in self.watch.iter().filter_map(|&p| sample.positions.get(p as usize)) {
            let _ = write!(self.watched, ",{},{},{}", p.x, p.y, p.z);
        }
        self.watched.push('\n');
        let Some(folder) = &self.folder else { return Ok(false) };
        if due.is_some_and(|mark| mark.frame) {
            let name = frame_name(self.frames.len());
            let write = |name: &str, text: String| write_whole(&folder.join(name), text.as_bytes());
            if vtu::has_edges_apart(self.scene) {
                write(&beside(&name, "edges"), vtu::edges(self.scene, sample))?;
            }
            if !self.solids.is_empty() {
                write(&beside(&name, "around"), vtu::around(&self.solids, sample.time))?;
            }
            // Last: a frame that is there has all that belongs to it.
            write(&name, vtu::object(self.scene, sample))?;
            self.frames.push((sample.time, name));
        }
        let keeps = self.kept.elapsed() > KEEP.max(20 * self.keeping);
        if keeps {
            self.keep()?;
        }
        Ok(keeps)
    }

    /// Writes the list of frames and the tables; tells their names.
    pub fn keep(&mut self) -> io::Result<Vec<String>> {
        let Some(folder) = &self.folder else { return Ok(Vec::new()) };
        let (mut files, begun) = (Vec::new(), Instant::now());
        let mut write = |name: &str, text: &str| {
            files.push(name.to_owned());
            write_whole(&folder.join(name), text.as_bytes())
        };
        if self.marks.iter().any(|mark| mark.frame) {
            let frames = || self.frames.iter().map(|(time, name)| (*time, name.as_str()));
            write("frames.pvd", &vtu::pvd(frames()))?;
            let others = [("edges", vtu::has_edges_apart(self.scene)), ("around", !self.solids.is_empty())];
            for (part, _) in others.into_iter().filter(|(_, there)| *there) {
                let names: Vec<_> = frames().map(|(time, name)| (time, beside(name, part))).collect();
                let list = vtu::pvd(names.iter().map(|(time, name)| (*time, name.as_str())));
                write(&format!("{part}.pvd"), &list)?;
            }
        }
        if !self.watch.is_empty() {
            write("watch.csv", &self.watched)?;
        }
        let mut table = |name: &str, before: &str, own: &str| {
            let (head, lines) = own.split_once('\n').unwrap_or_default();
            write(name, &[head, "\n", before, lines].concat())
        };
        table("forces.csv", &self.before.forces, &self.history.csv())?;
        if !self.scene.measures.is_empty() {
            table("measures.csv", &self.before.measures, &self.measured.csv())?;
        }
        (self.kept, self.keeping) = (Instant::now(), begun.elapsed());
        Ok(files)
    }
}

/// The frames that a list of ours has: the objects' own, not what stands around them.
fn frames_of(list: &str) -> Vec<(f64, String)> {
    let frame = |line: &str| {
        let (time, rest) = line.strip_prefix("<DataSet timestep=\"")?.split_once("\" part=\"0\" file=\"")?;
        Some((time.parse().ok()?, rest.strip_suffix("\"/>")?.to_owned()))
    };
    list.lines().filter_map(frame).collect()
}

fn frame_name(number: usize) -> String {
    format!("frames/{number:05}.vtu")
}

/// The file of another part of a frame: the object's edges, the boundaries around it.
fn beside(frame: &str, part: &str) -> String {
    frame.replace(".vtu", &format!("-{part}.vtu"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Sampler;
    use nendo_model::engine::{self, Kind, Options};

    fn frames(plan: &Plan, steps: u64) -> Vec<u64> {
        plan.marks(steps).iter().filter(|mark| mark.frame).map(|mark| mark.step).collect()
    }

    #[test]
    fn states_are_evenly_spaced_and_end_with_the_run() {
        for (steps, count, wanted) in
            [(10, 3, vec![0, 3, 6, 10]), (2, 5, vec![0, 1, 2]), (0, 4, vec![0]), (4, 1, vec![0, 4])]
        {
            for samples in [1, 4, 100] {
                let plan = Plan { samples, frames: count, watch: vec![] };
                assert_eq!(frames(&plan, steps), wanted, "{plan:?} {steps}");
                let marks = plan.marks(steps);
                assert!(marks.len() as u64 > samples.min(steps), "{marks:?}");
                assert_eq!(marks.last().unwrap().step, steps);
            }
        }
        let steps = |plan: Plan| plan.marks(10).iter().map(|mark| mark.step).collect::<Vec<_>>();
        assert_eq!(steps(Plan { samples: 0, ..Plan::default() }), [10]);
        assert_eq!(steps(Plan { samples: 2, ..Plan::default() }), [0, 5, 10]);
    }

    fn run(
        folder: &Path,
        plan: &Plan,
        steps: u64,
        until: u64,
        from: Option<&engine::Snapshot>,
    ) -> engine::Snapshot {
        let scene = Scene::open("cube9").unwrap();
        let sampler = Sampler::new(&scene);
        let options = Options { kind: Kind::F64, ..Options::default() };
        let mut engine = engine::open(&scene, &options).unwrap();
        let mut series = Series::new(&scene, Some(folder), plan, steps);
        if let Some(state) = from {
            engine.restore(state).unwrap();
            series.go_on_from(state.step).unwrap();
        }
        while let Some(step) = series.due().filter(|&step| step <= until) {
            engine.advance(step - engine.step()).unwrap();
            series.take(&sampler.take(engine.as_mut(), series.wants_all()).unwrap()).unwrap();
        }
        series.keep().unwrap();
        engine.save().unwrap()
    }

    /// Broken off and gone on with, a run leaves what it leaves in one piece.
    #[test]
    fn a_resumed_run_leaves_what_a_whole_one_does() {
        let [whole, parts] = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let plan = Plan { samples: 6, frames: 3, watch: vec![0, 7] };
        run(whole.path(), &plan, 12, 12, None);
        let state = run(parts.path(), &plan, 12, 6, None);
        // It was killed a little later, after a frame that no list has.
        fs::write(parts.path().join("frames/00002.vtu"), "later").unwrap();
        run(parts.path(), &plan, 12, 12, Some(&state));
        for name in [
            "frames.pvd",
            "edges.pvd",
            "watch.csv",
            "forces.csv",
            "frames/00000.vtu",
            "frames/00003-edges.vtu",
            "frames/00002.vtu",
            "frames/00003.vtu",
        ] {
            let [a, b] = [&whole, &parts].map(|f| fs::read_to_string(f.path().join(name)).unwrap());
            assert_eq!(a, b, "{name}");
        }
        let table = fs::read_to_string(whole.path().join("watch.csv")).unwrap();
        assert!(table.starts_with("t_s,x0_m,y0_m,z0_m,x7_m,y7_m,z7_m\n0,"), "{table}");
        assert_eq!(table.lines().count(), 8);
    }

    #[test]
    fn a_second_run_into_a_folder_left_stale_frames() {
        let folder = tempfile::tempdir().unwrap();
        run(folder.path(), &Plan { samples: 1, frames: 4, watch: vec![1] }, 4, 4, None);
        fs::write(folder.path().join("frames/notes.txt"), "mine").unwrap();
        fs::write(folder.path().join("notes.txt"), "mine").unwrap();
        clear(folder.path()).unwrap();
        run(folder.path(), &Plan { samples: 1, frames: 1, watch: vec![] }, 4, 4, None);
        let names = |sub: &str| {
            let entries = fs::read_dir(folder.path().join(sub)).unwrap();
            let mut names: Vec<String> =
                entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
            names.sort();
            names
        };
        assert_eq!(names(""), ["edges.pvd", "forces.csv", "frames", "frames.pvd", "notes.txt"]);
        assert_eq!(
            names("frames"),
            ["00000-edges.vtu", "00000.vtu", "00001-edges.vtu", "00001.vtu", "notes.txt"]
        );
    }
}
