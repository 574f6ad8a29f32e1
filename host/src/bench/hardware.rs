//! What the hardware would take: cycles of a step times the clock that a routed report supports.

use super::Row;
use nendo_hdl::{
    resources::Memory,
    target::{Files, NotTimed, Target},
};
use nendo_model::{
    contract::{
        image::Image,
        numbers::{Inverse, Profile},
    },
    plan::schedule::Schedule,
    scene::Scene,
};
use std::path::Path;

/// A row per target for one scene, with the default profile. Clocks are those of the routed reports with exactly so many
/// modules, in the target's folder under `reports` or else as they are built in.
pub(super) fn rows(reports: Option<&Path>, modules: u16, mesh: &str, scene: &Scene) -> Vec<Row> {
    let (particles, edges) = (scene.mesh.particles.len(), scene.mesh.edges.len());
    let Ok(image) = Image::new(scene, Profile::Wide, Inverse::Table) else { return Vec::new() };
    // The Verilated engine is tested to take exactly these.
    let plan = Schedule::of(&image, modules.into());
    let cycles = plan.cycles_per_step();
    let memory = Memory::of(&plan.config(image.profile, image.inverse)).total();
    let row = |target: Target| {
        let files = reports
            .map_or_else(|| target.files().clone(), |folder| Files::folder(&folder.join(&target.name)));
        let clock = files.routed_clock(modules.into());
        let note = match &clock {
            _ if usize::from(modules) > particles => {
                Some(format!("{modules} modules for {particles} particles: at most one each"))
            }
            _ if memory > target.brams => {
                Some(format!("does not fit: {memory} block memories of {}", target.brams))
            }
            Err(reason) => Some(format!("no clock: {reason}")),
            Ok(_) => None,
        };
        let seconds =
            clock.as_ref().ok().filter(|_| note.is_none()).map(|clock| cycles as f64 / (clock.mhz * 1e6));
        Row {
            engine: format!("hardware {}", target.name),
            size: mesh.to_owned(),
            particles,
            edges,
            ms_per_step: seconds.map(|s| s * 1e3),
            edges_per_s: seconds.map(|s| edges as f64 / s),
            modules: Some(modules),
            cycles_per_step: Some(cycles),
            clock_mhz: clock.as_ref().ok().map(|clock| clock.mhz),
            not_timed: clock.map_or_else(|_| NotTimed::default(), |clock| clock.not_timed),
            valid: seconds.is_some(),
            note,
            ..Row::default()
        }
    };
    Target::all().into_iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_clock_is_invented() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("acorn")).unwrap();
        let report = r#"{"routed": true, "fmax_mhz": 100}"#;
        std::fs::write(folder.path().join("acorn/report.json"), report).unwrap();
        let scene = Scene::open("cube9").unwrap();
        let one = rows(Some(folder.path()), 1, "9x9x9", &scene);
        let acorn = |rows: &[Row]| rows.iter().find(|r| r.engine == "hardware acorn").cloned().unwrap();
        // 3672 edges, 77 particles that are left, and the pauses, at 100 MHz.
        let found = acorn(&one);
        assert_eq!((found.cycles_per_step, found.clock_mhz), (Some(3672 + 27 + 77 + 10), Some(100.0)));
        assert!((found.ms_per_step.unwrap() - 0.03786).abs() < 1e-9);
        assert!(
            one.iter()
                .filter(|r| r.engine != "hardware acorn")
                .all(|r| r.ms_per_step.is_none() && r.note.is_some())
        );
        // One module's clock is not four modules'.
        let four = acorn(&rows(Some(folder.path()), 4, "9x9x9", &scene));
        assert!(four.clock_mhz.is_none() && four.note.unwrap().contains("report-4.json"));
    }

    /// Without a folder, the reports are those that are built in, and messages name them as they are in the repository.
    #[test]
    fn reports_are_built_in() {
        let rows = rows(None, 4, "9x9x9", &Scene::open("cube9").unwrap());
        let row = |name: &str| rows.iter().find(|r| r.engine == format!("hardware {name}")).unwrap();
        assert!(row("ecp5-85k").not_timed.is_empty());
        assert!(row("ecp5-85k").clock_mhz.is_some_and(|mhz| mhz > 100.0));
        let note = row("xc2v6000").note.as_deref();
        assert_eq!(note, Some("no clock: the design of bitstreams/xc2v6000/report-4.json is not routed"));
    }
}
