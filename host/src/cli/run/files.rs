//! What a run leaves in its folder.

use super::{advance::Run, report::RunReport};
use crate::{
    export::{
        gltf, measures,
        page::{self, Page},
        series::STATE,
    },
    output::write_whole,
    picture, plot,
    quantity::quantity,
    sample::Sample,
};
use nendo_model::{plan::schedule::Schedule, scene::Scene};
use serde_json::Value;
use std::{fmt::Write, path::Path};

/// Writes everything a run leaves, however it ended; the names of the files, and what could not be written.
pub(super) fn write(
    folder: &Path,
    scene: &Scene,
    run: &mut Run<'_>,
    report: &RunReport,
    value: &Value,
) -> (Vec<String>, Vec<String>) {
    let (mut names, mut failures) = match run.series.keep() {
        Ok(names) => (names, Vec::new()),
        Err(error) => (Vec::new(), vec![format!("the tables: {error}")]),
    };
    let mut put = |name: &str, content: anyhow::Result<Vec<u8>>| {
        match content.and_then(|content| Ok(write_whole(&folder.join(name), &content)?)) {
            Ok(()) => names.push(name.to_owned()),
            Err(error) => failures.push(format!("{name}: {error:#}")),
        }
    };
    // What cannot be computed again comes first.
    if let Some(state) = &run.saved {
        put(STATE, Ok(state.to_bytes()));
    }
    if let Some(live) = &report.live {
        put("live.csv", Ok(live.table.clone().into_bytes()));
    }
    put("report.json", serde_json::to_vec_pretty(value).map_err(Into::into));
    let picture = run.last.as_ref().map(|last| picture::picture(scene, &last.positions, last.time));
    if let Some((last, picture)) = run.last.as_ref().zip(picture.as_ref()) {
        put("state.csv", Ok(state_csv(scene, last).into_bytes()));
        put("model.glb", Ok(gltf::glb(scene, &last.positions, last.step)));
        put("picture.svg", Ok(picture.clone().into_bytes()));
        put("picture.png", plot::png(picture));
    }
    put("report.html", html(scene, run, report, value, picture.as_deref()).map(String::into_bytes));
    (names, failures)
}

/// The run as a page one sends on: what happened, in pictures and plain words; how it was computed is folded at the end.
fn html(
    scene: &Scene,
    run: &Run<'_>,
    report: &RunReport,
    value: &Value,
    picture: Option<&str>,
) -> anyhow::Result<String> {
    let history = run.series.history();
    let mut page = Page::new(&scene.name, &scene.about);
    if let Some(error) = value["error"].as_str() {
        page.alert(&format!("The run did not end as it should: {error}"));
    }
    for warning in &report.warnings {
        page.alert(warning);
    }
    if let Some(picture) = picture {
        let time = run.last.as_ref().map_or(0.0, |last| last.time);
        page.picture(&format!("After {}", quantity(time, "s")), picture);
    }
    let mass = ("mass".to_owned(), quantity(1e3 * scene.mass.iter().sum::<f64>(), "g"));
    page.table("What happened", &[vec![mass], report.physical()].concat());
    if !report.measures.is_empty() {
        let head = ["measure", "value", "expected", ""];
        page.numbers("Measured", &head, &measures::rows(&report.measures).into_iter().map(Vec::from).collect::<Vec<_>>());
    }
    for chart in run.series.measured().charts().iter() {
        page.picture("", &plot::svg(chart)?);
    }
    for chart in history.forces_chart().iter().chain(&history.shape_chart()) {
        page.picture("", &plot::svg(chart)?);
    }
    page.folded("The object", |page| {
        page.table("", &page::scene_rows(scene));
    });
    page.folded("How it was computed", |page| {
        page.table("", &page::json_rows(value));
        if let Some(plan) = run.engine.plan() {
            let head = ["phase", "clocks", "share"];
            page.numbers("Clock cycles of a step", &head, &phases(plan));
        }
    });
    Ok(page.finish())
}

/// Where the clocks of a step go.
fn phases(plan: &Schedule) -> Vec<Vec<String>> {
    let total = plan.cycles_per_step();
    let phases = [
        ("elements, one per clock and module, and particles beside them", plan.slots().into()),
        ("pause: the element pipeline drains", plan.depths().element.into()),
        ("particles that are left, one per clock and module", plan.left.into()),
        ("pause: the particle pipeline drains", plan.depths().particle.into()),
        ("a step", total),
    ];
    let row = |(name, clocks): (&str, u64)| {
        vec![name.to_owned(), clocks.to_string(), format!("{:.1} %", 100.0 * clocks as f64 / total as f64)]
    };
    phases.map(row).to_vec()
}

/// Final positions and displacements, one particle per line.
fn state_csv(scene: &Scene, last: &Sample) -> String {
    let mut csv = "particle,x_m,y_m,z_m,dx_m,dy_m,dz_m,vx_m_s,vy_m_s,vz_m_s\n".to_owned();
    let particles = last.positions.iter().zip(&last.velocities).zip(&scene.mesh.particles);
    for (k, ((now, v), start)) in particles.enumerate() {
        let d = now - start;
        let _ = writeln!(csv, "{k},{},{},{},{},{},{},{},{},{}", now.x, now.y, now.z, d.x, d.y, d.z, v.x, v.y, v.z);
    }
    csv
}
