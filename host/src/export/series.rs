//! States taken during a run, at even distances in time: frames on disk and a table of chosen particles.

use super::vtu;
use crate::output::write_whole;
use nendo_model::{mesh::Vec3, scene::Scene};
use std::{
    fmt::Write,
    io,
    path::{Path, PathBuf},
};

/// What is wanted of a run.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// So many frames after the first one.
    pub frames: u64,
    /// These particles in a table.
    pub watch: Vec<u32>,
}

impl Plan {
    /// How often the state is taken. A table without frames has a hundred lines.
    fn samples(&self) -> u64 {
        if self.frames > 0 { self.frames } else { 100 }
    }
}

/// Takes the states. Every frame is written at once; the lists of them when the run ends.
#[derive(Debug)]
pub struct Series<'a> {
    scene: &'a Scene,
    folder: PathBuf,
    plan: Plan,
    steps: u64,
    taken: u64,
    frames: Vec<(f64, String)>,
    table: String,
}

impl<'a> Series<'a> {
    /// A series of a run of so many steps, into a folder.
    pub fn new(scene: &'a Scene, folder: &Path, plan: Plan, steps: u64) -> Self {
        let mut table = "t_s".to_owned();
        for p in &plan.watch {
            let _ = write!(table, ",x{p}_m,y{p}_m,z{p}_m");
        }
        table.push('\n');
        Self { scene, folder: folder.to_owned(), plan, steps, taken: 0, frames: Vec::new(), table }
    }

    /// The step at which the next state is due, until all are taken.
    pub fn due(&self) -> Option<u64> {
        let samples = self.plan.samples().min(self.steps);
        // Integers, so that the last sample is the last step.
        (self.taken <= samples)
            .then(|| (u128::from(self.steps) * u128::from(self.taken) / u128::from(samples.max(1))) as u64)
    }

    /// Takes the state at a step.
    pub fn take(&mut self, step: u64, positions: &[Vec3]) -> io::Result<()> {
        let time = step as f64 * self.scene.step;
        if self.plan.frames > 0 {
            let name = format!("frames/{:05}.vtu", self.taken);
            write_whole(&self.folder.join(&name), vtu::vtu(self.scene, positions).as_bytes())?;
            self.frames.push((time, name));
        }
        if !self.plan.watch.is_empty() {
            let _ = write!(self.table, "{time}");
            for p in self.plan.watch.iter().filter_map(|&p| positions.get(p as usize)) {
                let _ = write!(self.table, ",{},{},{}", p.x, p.y, p.z);
            }
            self.table.push('\n');
        }
        self.taken += 1;
        Ok(())
    }

    /// Writes the list of frames and the table; tells their names.
    pub fn finish(self) -> io::Result<Vec<String>> {
        let mut files = Vec::new();
        let mut write = |name: &str, text: &str| {
            files.push(name.to_owned());
            write_whole(&self.folder.join(name), text.as_bytes())
        };
        if self.plan.frames > 0 {
            write("frames.pvd", &vtu::pvd(&self.frames))?;
        }
        if !self.plan.watch.is_empty() {
            write("watch.csv", &self.table)?;
        }
        Ok(files)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_evenly_spaced_and_end_with_the_run() {
        let scene = Scene::open("box:2x2x2").unwrap();
        let folder = tempfile::tempdir().unwrap();
        for (steps, frames, wanted) in
            [(10, 3, vec![0, 3, 6, 10]), (2, 5, vec![0, 1, 2]), (0, 4, vec![0]), (4, 1, vec![0, 4])]
        {
            let plan = Plan { frames, watch: vec![0, 7] };
            let mut series = Series::new(&scene, folder.path(), plan, steps);
            let mut seen = Vec::new();
            while let Some(step) = series.due() {
                seen.push(step);
                series.take(step, &scene.mesh.particles).unwrap();
            }
            assert_eq!(seen, wanted);
            assert_eq!(series.finish().unwrap(), ["frames.pvd", "watch.csv"]);
            let table = std::fs::read_to_string(folder.path().join("watch.csv")).unwrap();
            assert_eq!(table.lines().count(), wanted.len() + 1);
            assert!(table.starts_with("t_s,x0_m,y0_m,z0_m,x7_m,y7_m,z7_m\n0,-5,-5,-5,5,5,5\n"), "{table}");
            let list = std::fs::read_to_string(folder.path().join("frames.pvd")).unwrap();
            assert_eq!(list.matches("<DataSet").count(), wanted.len());
        }
    }
}
