//! What stands around the object in a picture: floors and tools, and the object's shadow.

use super::{
    camera::Camera,
    cut::{Corner, Facet, Knife},
    escape, hex, lit,
};
use crate::around::Solid;
use nendo_model::mesh::Vec3;
use std::{collections::HashSet, fmt::Write};

const FLOOR: [u8; 3] = [226, 219, 206];
const TOOL: [u8; 3] = [150, 160, 172];
/// Tools are seen through a little: what they press on is what one looks for.
const TOOL_OPACITY: f64 = 0.62;

/// One boundary at a time, as seen.
pub(super) fn boundary(solid: &Solid, time: f64, camera: &Camera, knife: Option<&Knife>) -> String {
    let places = solid.placed(time);
    let at = |k: u32| Corner { at: places[k as usize], normal: Vec3::zeros(), value: 0.0 };
    let drawn: HashSet<[u32; 2]> = solid.lines.iter().flat_map(|&[a, b]| [[a, b], [b, a]]).collect();
    let (mut faces, mut lines) = (String::new(), String::new());
    for t in &solid.triangles {
        let [a, b, c] = t.map(|k| places[k as usize]);
        let Some(normal) = (b - a).cross(&(c - a)).try_normalize(0.0) else { continue };
        let seen = normal.dot(&camera.eye) > 1e-9;
        // A floor seen from below is its outline.
        if !seen && !solid.is_plane {
            continue;
        }
        let fill = hex(lit(if solid.is_plane { FLOOR } else { TOOL }, normal, camera.eye));
        let facet =
            Facet { corners: t.map(at), lines: [0, 1, 2].map(|k| drawn.contains(&[t[k], t[(k + 1) % 3]])) };
        for left in knife.map_or_else(|| vec![facet], |knife| knife.clip(&facet)) {
            let points = left.corners.map(|corner| camera.place(corner.at));
            if seen {
                let [(ax, ay), (bx, by), (cx, cy)] = points;
                let _ = writeln!(
                    faces,
                    "<path d=\"M{ax:.1} {ay:.1}L{bx:.1} {by:.1}L{cx:.1} {cy:.1}Z\" fill=\"{fill}\" stroke=\"{fill}\" stroke-width=\".8\"/>"
                );
            }
            for k in (0..3).filter(|&k| left.lines[k]) {
                let ((x1, y1), (x2, y2)) = (points[k], points[(k + 1) % 3]);
                let _ = write!(lines, "M{x1:.1} {y1:.1}L{x2:.1} {y2:.1}");
            }
        }
    }
    let (class, opacity, ink) = match solid.is_plane {
        true => ("floor", 1.0, "#c3b9a8"),
        false => ("tool", TOOL_OPACITY, "#5d6773"),
    };
    format!(
        "<g class=\"{class}\"><title>{}</title><g opacity=\"{opacity}\">\n{faces}</g>\
         <path d=\"{lines}\" fill=\"none\" stroke=\"{ink}\" stroke-width=\"1\"/></g>\n",
        escape(&solid.name)
    )
}

/// Where the light comes from.
pub(super) fn sun() -> Vec3 {
    Vec3::new(-0.75, -0.35, 1.0).normalize()
}

/// A soft shadow on level ground of this height.
pub(super) fn shadow(camera: &Camera, triangles: &[[u32; 3]], positions: &[Vec3], ground: f64) -> String {
    let sun = sun();
    let mut path = String::new();
    for t in triangles {
        let corners = t.map(|i| positions[i as usize]);
        if corners.iter().any(|p| !camera.shows(*p, 1.0)) {
            continue;
        }
        let mut corners = corners.map(|p| camera.place(p - sun * ((p.z - ground).max(0.0) / sun.z)));
        // All turned one way, so that where they overlap nothing cancels.
        let [a, b, c] = corners;
        if (b.0 - a.0) * (c.1 - a.1) < (b.1 - a.1) * (c.0 - a.0) {
            corners.swap(1, 2);
        }
        for ((x, y), letter) in corners.iter().zip(["M", "L", "L"]) {
            let _ = write!(path, "{letter}{x:.1} {y:.1}");
        }
        path.push('Z');
    }
    format!("<path d=\"{path}\" fill=\"#6b5a48\" opacity=\".28\" filter=\"url(#soft)\"/>\n")
}
