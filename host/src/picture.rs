//! Pictures of deformed objects, seen from above and aside, far parts first: one alone, or rows of them.
//!
//! The surface is shaded smoothly: its triangles are cut into small ones whose colours follow the normals of the
//! particles. Colour tells displacement, from pale to fired clay.

use nendo_model::{mesh::Vec3, scene::Scene};
use std::fmt::Write;

/// Between the objects of a row, and around all.
const MARGIN: f64 = 36.0;
/// For the line of text below, and beside rows.
const CAPTION: f64 = 44.0;
/// About so many small triangles are drawn of each object.
const DETAIL: usize = 9000;

const INK: &str = "#4a443c";
const PAPER: &str = "#fbfaf7";

/// One object in a picture.
#[derive(Clone, Debug)]
pub struct Panel {
    /// Where its particles are.
    pub positions: Vec<Vec3>,
    /// Written above it.
    pub title: String,
}

/// Objects side by side, with a word on what they have in common.
#[derive(Clone, Debug)]
pub struct Row {
    /// Written at the left.
    pub title: String,
    /// From left to right.
    pub panels: Vec<Panel>,
}

/// A final state: the object, its initial outline behind.
pub fn svg(scene: &Scene, positions: &[Vec3]) -> String {
    let panel = Panel { positions: positions.to_vec(), title: String::new() };
    draw(scene, &[Row { title: String::new(), panels: vec![panel] }], (900.0, 640.0))
}

/// Rows of states of one scene, all on the same scale.
pub fn gallery(scene: &Scene, rows: &[Row]) -> String {
    draw(scene, rows, (400.0, 300.0))
}

fn draw(scene: &Scene, rows: &[Row], (width, height): (f64, f64)) -> String {
    let mesh = &scene.mesh;
    let states = || rows.iter().flat_map(|row| &row.panels).map(|panel| &panel.positions);
    let view = View::of(mesh.particles.iter().chain(states().flatten()).copied(), width, height);
    let moved = |state: &Vec<Vec3>| -> Vec<f64> {
        mesh.particles.iter().zip(state).map(|(a, b)| (a - b).norm()).collect()
    };
    let most = states().flat_map(moved).filter(|m| m.is_finite()).fold(1e-12, f64::max);
    let columns = rows.iter().map(|row| row.panels.len()).max().unwrap_or(0);
    let left = if rows.iter().all(|row| row.title.is_empty()) { 0.0 } else { CAPTION };
    let above = if rows.iter().flat_map(|r| &r.panels).all(|p| p.title.is_empty()) { 0.0 } else { CAPTION };
    let total = (left + width * columns as f64, above + height * rows.len() as f64 + CAPTION);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\">\n\
         <defs><filter id=\"soft\" x=\"-20%\" y=\"-20%\" width=\"140%\" height=\"140%\"><feGaussianBlur stdDeviation=\"{2}\"/></filter>\n\
         <linearGradient id=\"heat\">{3}</linearGradient></defs>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"{PAPER}\"/>\n",
        total.0,
        total.1,
        width / 110.0,
        (0..=4)
            .map(|k| format!(
                "<stop offset=\"{}%\" stop-color=\"{}\"/>",
                25 * k,
                hex(clay(f64::from(k) / 4.0))
            ))
            .collect::<String>(),
    );
    for (r, row) in rows.iter().enumerate() {
        let top = above + height * r as f64;
        if !row.title.is_empty() {
            let y = top + height / 2.0;
            let _ = writeln!(
                out,
                "<text transform=\"translate({:.0} {y:.0}) rotate(-90)\" text-anchor=\"middle\" {}>{}</text>",
                left * 0.72,
                font(17),
                escape(&row.title)
            );
        }
        for (c, panel) in row.panels.iter().enumerate() {
            let x = left + width * c as f64;
            if r == 0 && !panel.title.is_empty() {
                let middle = x + width / 2.0;
                let _ = writeln!(
                    out,
                    "<text x=\"{middle:.0}\" y=\"{:.0}\" text-anchor=\"middle\" {}>{}</text>",
                    above * 0.7,
                    font(17),
                    escape(&panel.title)
                );
            }
            let _ = writeln!(out, "<g transform=\"translate({x} {top})\">");
            let alone = rows.len() == 1 && columns == 1;
            object(&mut out, &view, scene, &panel.positions, &moved(&panel.positions), most, alone);
            out.push_str("</g>\n");
        }
    }
    legend(&mut out, scene, total, most);
    out + "</svg>\n"
}

/// One object: shadow, outline of where it began, surface or edges.
fn object(
    out: &mut String,
    view: &View,
    scene: &Scene,
    positions: &[Vec3],
    moved: &[f64],
    most: f64,
    outlined: bool,
) {
    let mesh = &scene.mesh;
    if mesh.triangles.is_empty() {
        return draw_edges(out, view, scene, positions);
    }
    shadow(out, view, scene, positions);
    if outlined {
        outline(out, view, mesh.bounds());
    }
    let solid = !mesh.tetrahedra.is_empty();
    let normals = smooth_normals(&mesh.triangles, positions);
    let cuts = ((DETAIL as f64 / mesh.triangles.len() as f64).sqrt() as u32).clamp(1, 6);
    let mut pieces: Vec<Piece> = Vec::new();
    for t in &mesh.triangles {
        let corner = t.map(|i| positions[i as usize]);
        let flat = (corner[1] - corner[0]).cross(&(corner[2] - corner[0]));
        // A sheet is seen from both sides, a body only from outside.
        let turn = if flat.dot(&view.eye) < 0.0 { -1.0 } else { 1.0 };
        if turn < 0.0 && solid {
            continue;
        }
        let at = |w: [f64; 3]| (0..3).map(|k| corner[k] * w[k]).sum::<Vec3>();
        for w in small_triangles(cuts) {
            let middle: [f64; 3] = std::array::from_fn(|k| (w[0][k] + w[1][k] + w[2][k]) / 3.0);
            let mixed = |k: usize| normals[t[k] as usize] * middle[k];
            let normal = ((mixed(0) + mixed(1) + mixed(2)).normalize() + flat.normalize()).normalize() * turn;
            let heat = (0..3).map(|k| moved[t[k] as usize] * middle[k]).sum::<f64>() / most;
            pieces.push(Piece {
                depth: view.depth(at(middle)),
                points: w.map(|w| view.place(at(w))),
                fill: hex(lit(clay(heat), normal, view.eye)),
                // The lattice shows at the sides of the particles' own triangles.
                lines: std::array::from_fn(|k| (0..3).any(|c| w[k][c] == 0.0 && w[(k + 1) % 3][c] == 0.0)),
            });
        }
    }
    pieces.sort_by(|a, b| a.depth.total_cmp(&b.depth));
    for piece in &pieces {
        piece.draw(out);
    }
}

/// A small triangle on paper.
struct Piece {
    depth: f64,
    points: [(f64, f64); 3],
    fill: String,
    lines: [bool; 3],
}

impl Piece {
    fn draw(&self, out: &mut String) {
        let [(ax, ay), (bx, by), (cx, cy)] = self.points;
        // A thin stroke of its own colour closes the seams.
        let _ = writeln!(
            out,
            "<path d=\"M{ax:.1} {ay:.1}L{bx:.1} {by:.1}L{cx:.1} {cy:.1}Z\" fill=\"{0}\" stroke=\"{0}\" stroke-width=\".7\"/>",
            self.fill
        );
        for k in (0..3).filter(|&k| self.lines[k]) {
            let ((x1, y1), (x2, y2)) = (self.points[k], self.points[(k + 1) % 3]);
            let _ = writeln!(
                out,
                "<path d=\"M{x1:.1} {y1:.1}L{x2:.1} {y2:.1}\" stroke=\"#3b2415\" stroke-opacity=\".22\" stroke-width=\".6\"/>"
            );
        }
    }
}

/// A triangle cut into `cuts` squared ones: the weights of their corners.
fn small_triangles(cuts: u32) -> Vec<[[f64; 3]; 3]> {
    let weight = |i: u32, j: u32| {
        let share = |n: u32| f64::from(n) / f64::from(cuts);
        [share(cuts - i - j), share(i), share(j)]
    };
    let mut all = Vec::new();
    for i in 0..cuts {
        for j in 0..cuts - i {
            all.push([weight(i, j), weight(i + 1, j), weight(i, j + 1)]);
            if i + j + 2 <= cuts {
                all.push([weight(i + 1, j), weight(i + 1, j + 1), weight(i, j + 1)]);
            }
        }
    }
    all
}

/// The normal of the surface at each particle, larger triangles counting more; zero inside.
pub fn smooth_normals(triangles: &[[u32; 3]], positions: &[Vec3]) -> Vec<Vec3> {
    let mut sum = vec![Vec3::zeros(); positions.len()];
    for t in triangles {
        let [a, b, c] = t.map(|i| positions[i as usize]);
        let normal = (b - a).cross(&(c - a));
        for &i in t {
            sum[i as usize] += normal;
        }
    }
    sum.into_iter().map(|n| n.try_normalize(0.0).unwrap_or_default()).collect()
}

/// Where the viewer stands: right, up and towards-the-eye axes.
struct View {
    right: Vec3,
    up: Vec3,
    eye: Vec3,
    center: Vec3,
    scale: f64,
    middle: (f64, f64),
}

impl View {
    fn of(points: impl Iterator<Item = Vec3> + Clone, width: f64, height: f64) -> Self {
        let eye = Vec3::new(-1.35, -2.0, 1.15).normalize();
        let right = Vec3::z().cross(&eye).normalize();
        let up = eye.cross(&right);
        let span = |axis: &Vec3| {
            let along = points.clone().map(|p| p.dot(axis)).filter(|c| c.is_finite());
            let (low, high) = along.fold((f64::MAX, f64::MIN), |(l, h), c| (l.min(c), h.max(c)));
            if low <= high { (low, high) } else { (0.0, 0.0) }
        };
        let spans = [&right, &up, &eye].map(span);
        let middle = spans.map(|(low, high)| (low + high) / 2.0);
        let reach = spans.map(|(low, high)| ((high - low) / 2.0).max(1e-12));
        let scale = ((width / 2.0 - MARGIN) / reach[0]).min((height / 2.0 - MARGIN) / reach[1]);
        let center = right * middle[0] + up * middle[1] + eye * middle[2];
        Self { right, up, eye, center, scale, middle: (width / 2.0, height / 2.0) }
    }

    fn place(&self, p: Vec3) -> (f64, f64) {
        let p = p - self.center;
        (self.middle.0 + self.scale * p.dot(&self.right), self.middle.1 - self.scale * p.dot(&self.up))
    }

    fn depth(&self, p: Vec3) -> f64 {
        (p - self.center).dot(&self.eye)
    }
}

fn sun() -> Vec3 {
    Vec3::new(-0.75, -0.35, 1.0).normalize()
}

/// From pale to fired clay.
pub fn clay(heat: f64) -> [u8; 3] {
    const SCALE: [[f64; 3]; 4] =
        [[240.0, 222.0, 196.0], [231.0, 174.0, 124.0], [206.0, 104.0, 66.0], [142.0, 44.0, 40.0]];
    let at = if heat.is_finite() { heat.clamp(0.0, 1.0) * 3.0 } else { 3.0 };
    let (low, part) = ((at as usize).min(2), at - (at as usize).min(2) as f64);
    std::array::from_fn(|k| (SCALE[low][k] + (SCALE[low + 1][k] - SCALE[low][k]) * part).round() as u8)
}

/// A colour in the light: from the sun, from the sky, and a soft gleam.
fn lit(colour: [u8; 3], normal: Vec3, eye: Vec3) -> [u8; 3] {
    let from_sun = normal.dot(&sun()).max(0.0);
    let light = 0.53 + 0.13 * (normal.z * 0.5 + 0.5) + 0.42 * from_sun;
    let gleam = 26.0 * normal.dot(&(sun() + eye).normalize()).max(0.0).powi(18);
    colour.map(|c| (f64::from(c) * light + gleam).clamp(0.0, 255.0) as u8)
}

fn hex([r, g, b]: [u8; 3]) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// Text that is safe in XML and HTML, in attributes too.
pub fn escape(text: &str) -> String {
    // XML knows no control characters, not even escaped.
    let printable: String = text.chars().filter(|c| !c.is_control()).collect();
    printable.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn font(size: u32) -> String {
    format!("font-family=\"Ubuntu\" font-size=\"{size}\" fill=\"{INK}\"")
}

/// A soft shadow on the ground the object began on.
fn shadow(out: &mut String, view: &View, scene: &Scene, positions: &[Vec3]) {
    let ground = scene.mesh.bounds().0.z;
    let sun = sun();
    let mut path = String::new();
    for t in &scene.mesh.triangles {
        let mut corners = t.map(|i| {
            let p = positions[i as usize];
            view.place(p - sun * ((p.z - ground).max(0.0) / sun.z))
        });
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
    let _ = writeln!(out, "<path d=\"{path}\" fill=\"#6b5a48\" opacity=\".28\" filter=\"url(#soft)\"/>");
}

fn outline(out: &mut String, view: &View, (low, high): (Vec3, Vec3)) {
    let corner = |k: usize| Vec3::from_fn(|axis, _| if k >> axis & 1 == 0 { low[axis] } else { high[axis] });
    for k in 0..8usize {
        for axis in (0..3).filter(|axis| k >> axis & 1 == 0) {
            let ((x1, y1), (x2, y2)) = (view.place(corner(k)), view.place(corner(k | 1 << axis)));
            let _ = writeln!(
                out,
                "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"#b9b2a6\" stroke-dasharray=\"5 4\"/>"
            );
        }
    }
}

fn draw_edges(out: &mut String, view: &View, scene: &Scene, positions: &[Vec3]) {
    for &[i, j] in &scene.mesh.edges {
        let ((x1, y1), (x2, y2)) = (view.place(positions[i as usize]), view.place(positions[j as usize]));
        let _ = writeln!(
            out,
            "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"#8a5a3a\" stroke-width=\"2\"/>"
        );
    }
    for (p, position) in positions.iter().enumerate() {
        let ((x, y), fill) = (view.place(*position), if scene.is_free(p) { "#b24c2a" } else { "#444" });
        let _ = writeln!(out, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\" fill=\"{fill}\"/>");
    }
}

fn legend(out: &mut String, scene: &Scene, (width, height): (f64, f64), most: f64) {
    let y = height - CAPTION / 2.0;
    let bar = 150.0;
    let x = width - bar - 110.0;
    let _ = writeln!(
        out,
        "<text x=\"24\" y=\"{:.0}\" {1}>{2}</text>\n\
         <text x=\"{3:.0}\" y=\"{0:.0}\" text-anchor=\"end\" {1}>moved by 0</text>\n\
         <rect x=\"{x:.0}\" y=\"{4:.0}\" width=\"{bar}\" height=\"10\" rx=\"5\" fill=\"url(#heat)\"/>\n\
         <text x=\"{5:.0}\" y=\"{0:.0}\" {1}>{6}</text>",
        y + 5.0,
        font(15),
        escape(&scene.name),
        x - 10.0,
        y - 5.0,
        x + bar + 10.0,
        metres(most),
    );
}

/// A length for people.
fn metres(length: f64) -> String {
    match length {
        l if l >= 0.1 => format!("{l:.2} m"),
        l if l >= 1e-4 => format!("{:.2} mm", l * 1e3),
        l => format!("{l:.2e} m"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_sheets_and_chains_are_drawn() {
        for (name, shape) in [("box:3x3x3", "<path"), ("box:4x4x1", "<path"), ("box:4x1x1", "<circle")] {
            let scene = Scene::open(name).unwrap();
            let svg = svg(&scene, &scene.mesh.particles);
            assert!(svg.contains(shape) && !svg.contains("NaN"), "{name}");
            assert!(crate::plot::png(&svg).is_ok());
        }
    }

    #[test]
    fn rows_of_states_are_drawn_on_one_scale() {
        let scene = Scene::open("box:3x3x3").unwrap();
        let panel = |by: f64| Panel {
            positions: scene.mesh.particles.iter().map(|p| p * by).collect(),
            title: format!("times {by}"),
        };
        let row = |title: &str| Row { title: title.to_owned(), panels: vec![panel(1.0), panel(1.5)] };
        let svg = gallery(&scene, &[row("soft"), row("hard")]);
        for part in ["soft", "hard", "times 1.5", "width=\"844\" height=\"688\""] {
            assert!(svg.contains(part), "{part}");
        }
        assert!(crate::plot::png(&svg).is_ok());
    }

    /// A state that is no longer finite must not make the drawing fail: a person wants to see how far it came.
    #[test]
    fn names_and_lost_particles_cannot_break_the_picture() {
        let mut scene = Scene::open("box:2x2x2").unwrap();
        scene.name = "</svg><script>&".to_owned();
        let mut positions = scene.mesh.particles.clone();
        assert!(crate::plot::png(&svg(&scene, &positions)).is_ok());
        positions[0].x = f64::NAN;
        svg(&scene, &positions);
    }

    #[test]
    fn small_triangles_cover_the_large_one() {
        for cuts in 1..5 {
            let all = small_triangles(cuts);
            assert_eq!(all.len(), (cuts * cuts) as usize);
            let area = |w: &[[f64; 3]; 3]| {
                let [a, b, c] = w.map(|w| (w[1], w[2]));
                (b.0 - a.0) * (c.1 - a.1) - (b.1 - a.1) * (c.0 - a.0)
            };
            assert!((all.iter().map(area).sum::<f64>() - 1.0).abs() < 1e-12);
            assert!(all.iter().all(|w| area(w) > 0.0));
        }
    }
}
