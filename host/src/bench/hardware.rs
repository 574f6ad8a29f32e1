//! What the hardware would take: cycles of a step times the clock that a routed report supports.

use super::Row;
use nendo_hdl::{resources::Memory, target::Target};
use nendo_model::{
    contract::{
        image::Image,
        numbers::{Inverse, Profile},
    },
    plan::schedule::Schedule,
    scene::Scene,
};
use serde_json::Value;
use std::path::Path;

/// The clock in MHz that a target's report of so many modules supports, or why there is none.
fn routed_clock(folder: &Path, target: &str, modules: u16) -> Result<f64, String> {
    let name = if modules == 1 { "report.json".to_owned() } else { format!("report-{modules}.json") };
    let path = folder.join(target).join(name);
    let text = std::fs::read_to_string(&path)
        .map_err(|_| format!("no clock: there is no routed report {}", path.display()))?;
    let report: Value =
        serde_json::from_str(&text).map_err(|e| format!("no clock: {}: {e}", path.display()))?;
    match (report["routed"].as_bool(), report["fmax_mhz"].as_f64()) {
        (Some(true), Some(clock)) if clock > 0.0 => Ok(clock),
        _ => Err(format!("no clock: the design of {} is not routed", path.display())),
    }
}

/// A row per target for one scene, with the default profile.
pub(super) fn rows(folder: &Path, modules: u16, mesh: &str, scene: &Scene) -> Vec<Row> {
    let (particles, edges) = (scene.mesh.particles.len(), scene.mesh.edges.len());
    let Ok(image) = Image::new(scene, Profile::Wide, Inverse::Table) else { return Vec::new() };
    // The Verilated engine is tested to take exactly these.
    let plan = Schedule::of(&image, modules.into());
    let cycles = plan.cycles_per_step();
    let memory = Memory::of(&plan.config(image.profile, image.inverse)).total();
    let row = |target: Target| {
        let clock = routed_clock(folder, &target.name, modules);
        let note = match &clock {
            _ if usize::from(modules) > particles => {
                Some(format!("{modules} modules for {particles} particles: at most one each"))
            }
            _ if memory > target.brams => {
                Some(format!("does not fit: {memory} block memories of {}", target.brams))
            }
            Err(reason) => Some(reason.clone()),
            Ok(_) => None,
        };
        let seconds = clock.as_ref().ok().filter(|_| note.is_none()).map(|mhz| cycles as f64 / (mhz * 1e6));
        Row {
            engine: format!("hardware {}", target.name),
            size: mesh.to_owned(),
            particles,
            edges,
            ms_per_step: seconds.map(|s| s * 1e3),
            edges_per_s: seconds.map(|s| edges as f64 / s),
            modules: Some(modules),
            cycles_per_step: Some(cycles),
            clock_mhz: clock.ok(),
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
        let report = |text: &str| {
            std::fs::create_dir_all(folder.path().join("acorn")).unwrap();
            std::fs::write(folder.path().join("acorn/report.json"), text).unwrap();
            routed_clock(folder.path(), "acorn", 1)
        };
        assert!(routed_clock(folder.path(), "acorn", 1).unwrap_err().contains("report.json"));
        assert_eq!(report(r#"{"routed": true, "fmax_mhz": 104.5}"#), Ok(104.5));
        for bad in
            ["", "[]", r#"{"fmax_mhz": 100}"#, r#"{"routed": false, "fmax_mhz": 100}"#, r#"{"routed": true}"#]
        {
            assert!(report(bad).is_err(), "{bad}");
        }
        report(r#"{"routed": true, "fmax_mhz": 100}"#).unwrap();
        // One module's clock is not four modules'.
        assert!(routed_clock(folder.path(), "acorn", 4).unwrap_err().contains("report-4.json"));
        let rows = rows(folder.path(), 1, "9x9x9", &Scene::open("cube9").unwrap());
        let acorn = rows.iter().find(|r| r.engine == "hardware acorn").unwrap();
        // 3672 edges, 77 particles that are left, and the pauses, at 100 MHz.
        assert_eq!((acorn.cycles_per_step, acorn.clock_mhz), (Some(3672 + 27 + 77 + 10), Some(100.0)));
        assert!((acorn.ms_per_step.unwrap() - 0.03786).abs() < 1e-9);
        assert!(
            rows.iter()
                .filter(|r| r.engine != "hardware acorn")
                .all(|r| r.ms_per_step.is_none() && r.note.is_some())
        );
    }
}
