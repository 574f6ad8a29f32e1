//! What a run leaves in its folder.

use super::report::RunReport;
use crate::{
    engine::Engine,
    export::{
        gltf,
        page::{self, Page},
        series::Series,
    },
    output::write_whole,
    picture, plot,
};
use anyhow::Context;
use nendo_model::{mesh::Vec3, plan::schedule::Schedule, scene::Scene};
use serde_json::Value;
use std::{fmt::Write, path::Path};

/// Writes everything a run leaves; the names of the files.
pub(super) fn write(
    folder: &Path,
    scene: &Scene,
    engine: &mut dyn Engine,
    report: &RunReport,
    value: &Value,
    series: Option<Series<'_>>,
) -> anyhow::Result<Vec<String>> {
    let positions = engine.positions()?;
    let text = serde_json::to_string_pretty(value)?;
    let picture = picture::svg(scene, &positions);
    let mut names = series.map_or(Ok(vec![]), Series::finish).context("writing the series")?;
    let files = [
        ("report.html", html(scene, report, value, engine.plan(), &picture).into_bytes()),
        ("report.json", (text + "\n").into_bytes()),
        ("state.csv", state_csv(scene, &positions).into_bytes()),
        ("model.glb", gltf::glb(scene, &positions)),
        ("picture.png", plot::png(&picture)?),
        ("picture.svg", picture.into_bytes()),
    ];
    for (name, content) in files {
        let path = folder.join(name);
        write_whole(&path, &content).with_context(|| format!("writing {}", path.display()))?;
        names.push(name.to_owned());
    }
    Ok(names)
}

/// The run as a page: scene, engine, figures, picture and, for hardware, where a step's clocks go.
fn html(scene: &Scene, report: &RunReport, value: &Value, plan: Option<&Schedule>, picture: &str) -> String {
    let below = format!("{} s of `{}` on {}", report.simulated_s, scene.name, report.engine.name());
    let mut page = Page::new(&format!("nendo: {}", scene.name), &below);
    page.picture("At the end", picture)
        .table("Scene", &page::scene_rows(scene))
        .table("Run", &page::json_rows(value));
    if report.deformation.is_some() {
        page.table("Deformation", &page::json_rows(&value["deformation"]));
    }
    if let Some(plan) = plan {
        let total = plan.cycles_per_step();
        let phases = [
            ("elements, one per clock and module, and particles beside them", plan.slots().into()),
            ("pause: the element pipeline drains", plan.depths().element.into()),
            ("particles that are left, one per clock and module", plan.left.into()),
            ("pause: the particle pipeline drains", plan.depths().particle.into()),
            ("a step", total),
        ];
        let row = |(name, clocks): (&str, u64)| {
            vec![
                name.to_owned(),
                clocks.to_string(),
                format!("{:.1} %", 100.0 * clocks as f64 / total as f64),
            ]
        };
        page.numbers("Clock cycles of a step", &["phase", "clocks", "share"], &phases.map(row));
    }
    page.finish()
}

/// Final positions and displacements, one particle per line.
fn state_csv(scene: &Scene, positions: &[Vec3]) -> String {
    let mut csv = "particle,x_m,y_m,z_m,dx_m,dy_m,dz_m\n".to_owned();
    for (k, (now, start)) in positions.iter().zip(&scene.mesh.particles).enumerate() {
        let d = now - start;
        let _ = writeln!(csv, "{k},{},{},{},{},{},{}", now.x, now.y, now.z, d.x, d.y, d.z);
    }
    csv
}
