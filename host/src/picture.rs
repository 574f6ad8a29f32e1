//! A picture of the deformed object: its surface seen from above and aside, far parts first.

use nendo_model::{mesh::Vec3, scene::Scene};
use std::fmt::Write;

const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 720.0;
const MARGIN: f64 = 50.0;

/// Where the viewer stands: right, up and towards-the-eye axes.
struct View {
    right: Vec3,
    up: Vec3,
    eye: Vec3,
    center: Vec3,
    scale: f64,
}

impl View {
    fn of(points: impl Iterator<Item = Vec3> + Clone) -> Self {
        let eye = Vec3::new(-1.35, -2.0, 1.15).normalize();
        let right = Vec3::z().cross(&eye).normalize();
        let up = eye.cross(&right);
        let first = points.clone().next().unwrap_or_default();
        let (low, high) = points.clone().fold((first, first), |(l, h), p| (l.inf(&p), h.sup(&p)));
        let center = (low + high) / 2.0;
        let reach = |axis: &Vec3| points.clone().map(|p| (p - center).dot(axis).abs()).fold(1e-12, f64::max);
        let scale = ((WIDTH / 2.0 - MARGIN) / reach(&right)).min((HEIGHT / 2.0 - MARGIN) / reach(&up));
        Self { right, up, eye, center, scale }
    }

    fn place(&self, p: Vec3) -> (f64, f64) {
        let p = p - self.center;
        (WIDTH / 2.0 + self.scale * p.dot(&self.right), HEIGHT / 2.0 - self.scale * p.dot(&self.up))
    }

    fn depth(&self, p: Vec3) -> f64 {
        (p - self.center).dot(&self.eye)
    }
}

/// The object as SVG: surface shaded by light and tinted by displacement, its initial outline behind.
pub fn svg(scene: &Scene, positions: &[Vec3]) -> String {
    let mesh = &scene.mesh;
    let view = View::of(mesh.particles.iter().chain(positions).copied());
    let moved: Vec<f64> = mesh.particles.iter().zip(positions).map(|(a, b)| (a - b).norm()).collect();
    let most = moved.iter().copied().fold(1e-12, f64::max);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" height=\"{HEIGHT}\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fbfaf7\"/>\n"
    );
    outline(&mut out, &view, mesh.bounds());
    let light = Vec3::new(-0.35, -0.55, 1.0).normalize();
    if mesh.triangles.is_empty() {
        draw_edges(&mut out, &view, scene, positions);
    } else {
        let corner = |i: u32| positions[i as usize];
        let middle = |t: &[u32; 3]| t.iter().map(|&i| corner(i)).sum::<Vec3>() / 3.0;
        let mut order: Vec<&[u32; 3]> = mesh.triangles.iter().collect();
        order.sort_by(|a, b| view.depth(middle(a)).total_cmp(&view.depth(middle(b))));
        for t in order {
            let [a, b, c] = t.map(corner);
            let normal = (b - a).cross(&(c - a)).normalize();
            // A sheet is seen from both sides, a body only from outside.
            let facing = normal.dot(&view.eye);
            if facing < 0.0 && !mesh.tetrahedra.is_empty() {
                continue;
            }
            let shade = 0.45 + 0.55 * (normal * facing.signum()).dot(&light).max(0.0);
            let heat = t.iter().map(|&i| moved[i as usize] / most).sum::<f64>() / 3.0;
            let fill = tint(heat, shade);
            let points: Vec<String> =
                [a, b, c].map(|p| view.place(p)).iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
            let _ = writeln!(
                out,
                "<polygon points=\"{}\" fill=\"{fill}\" stroke=\"#5b3a24\" stroke-opacity=\"0.35\" stroke-width=\"0.6\"/>",
                points.join(" ")
            );
        }
    }
    let _ = writeln!(
        out,
        "<text x=\"24\" y=\"{:.0}\" font-family=\"Ubuntu\" font-size=\"15\" fill=\"#555\">{}: colour from unmoved to moved by {}</text>\n</svg>",
        HEIGHT - 20.0,
        escape(&scene.name),
        metres(most),
    );
    out
}

/// A length for people.
fn metres(length: f64) -> String {
    match length {
        l if l >= 0.1 => format!("{l:.2} m"),
        l if l >= 1e-4 => format!("{:.2} mm", l * 1e3),
        l => format!("{l:.2e} m"),
    }
}

/// From clay to brick red.
fn tint(heat: f64, shade: f64) -> String {
    let mix = |cold: f64, hot: f64| ((cold + (hot - cold) * heat.clamp(0.0, 1.0)) * shade).round() as u8;
    format!("#{:02x}{:02x}{:02x}", mix(236.0, 214.0), mix(212.0, 72.0), mix(176.0, 40.0))
}

fn outline(out: &mut String, view: &View, (low, high): (Vec3, Vec3)) {
    let corner = |k: usize| Vec3::from_fn(|axis, _| if k >> axis & 1 == 0 { low[axis] } else { high[axis] });
    for k in 0..8usize {
        for axis in (0..3).filter(|axis| k >> axis & 1 == 0) {
            let ((x1, y1), (x2, y2)) = (view.place(corner(k)), view.place(corner(k | 1 << axis)));
            let _ = writeln!(
                out,
                "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"#b9c2cc\" stroke-dasharray=\"5 4\"/>"
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

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_sheets_and_chains_are_drawn() {
        for (name, shape) in [("box:3x3x3", "<polygon"), ("box:4x4x1", "<polygon"), ("box:4x1x1", "<circle")]
        {
            let scene = Scene::open(name).unwrap();
            let svg = svg(&scene, &scene.mesh.particles);
            assert!(svg.contains(shape) && !svg.contains("NaN"), "{name}");
            assert!(crate::plot::png(&svg).is_ok());
        }
    }

    #[test]
    fn names_cannot_break_the_picture() {
        let mut scene = Scene::open("box:2x2x2").unwrap();
        scene.name = "</svg><script>&".to_owned();
        assert!(crate::plot::png(&svg(&scene, &scene.mesh.particles)).is_ok());
    }
}
