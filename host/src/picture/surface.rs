//! The object in a picture: its surface, shaded smoothly, or its edges; and what it is pinned by.

use super::{
    DARK,
    camera::Camera,
    colour::Scale,
    cut::{Corner, Facet, Knife},
    hex, lit,
};
use nendo_model::{
    mesh::Vec3,
    scene::{Scene, Support},
};
use std::fmt::Write;

/// At most so many small triangles are drawn of each object, and one for so many pixels of the picture.
const DETAIL: (f64, f64) = (9000.0, 25.0);

/// Something small that hides, or is hidden, as a whole.
pub(super) struct Piece {
    /// Its middle.
    pub(super) at: Vec3,
    pub(super) depth: f64,
    pub(super) svg: String,
}

/// How an object is drawn.
pub(super) struct Brush<'a> {
    pub(super) scene: &'a Scene,
    /// Simulated seconds: what is held may be let go.
    pub(super) time: f64,
    pub(super) camera: &'a Camera,
    pub(super) scale: &'a Scale,
    pub(super) knife: Option<Knife>,
    /// Whether the lattice shows on the surface.
    pub(super) edges: bool,
}

impl Brush<'_> {
    /// An object in small pieces.
    pub(super) fn pieces(&self, positions: &[Vec3], values: &[f64]) -> Vec<Piece> {
        let mesh = &self.scene.mesh;
        let mut pieces = Vec::new();
        if mesh.triangles.is_empty() {
            self.threads(positions, values, &mut pieces);
        } else {
            let facets = self.facets(positions, values);
            let detail = DETAIL.0.min(self.camera.pixels() / DETAIL.1);
            let cuts = ((detail / facets.len().max(1) as f64).sqrt() as u32).clamp(1, 6);
            let small = small_triangles(cuts);
            facets.iter().for_each(|facet| self.shade(facet, &small, &mut pieces));
        }
        self.marks(positions, &mut pieces);
        pieces
    }

    /// Whether a particle is where it can be drawn.
    fn is_here(&self, p: &Vec3) -> bool {
        self.camera.shows(*p, 1.0)
    }

    /// The surface, without what is cut off, and with the section.
    fn facets(&self, positions: &[Vec3], values: &[f64]) -> Vec<Facet> {
        let mesh = &self.scene.mesh;
        let normals = smooth_normals(&mesh.triangles, positions);
        let corner =
            |i: u32, normal: Vec3| Corner { at: positions[i as usize], normal, value: values[i as usize] };
        let here = |corners: &[u32]| corners.iter().all(|&i| self.is_here(&positions[i as usize]));
        let surface = mesh
            .triangles
            .iter()
            .filter(|t| here(&t[..]))
            .map(|t| Facet { corners: t.map(|i| corner(i, normals[i as usize])), lines: [self.edges; 3] });
        let Some(knife) = &self.knife else { return surface.collect() };
        let section = mesh
            .tetrahedra
            .iter()
            .filter(|t| here(&t[..]))
            .flat_map(|t| knife.section(t.map(|i| corner(i, Vec3::zeros()))));
        let section = section.map(|mut facet| {
            facet.lines = facet.lines.map(|line| line && self.edges);
            facet
        });
        surface.flat_map(|facet| knife.clip(&facet)).chain(section).collect()
    }

    /// One facet in small triangles, whose colours follow values and normals of its corners.
    fn shade(&self, facet: &Facet, small: &[[[f64; 3]; 3]], pieces: &mut Vec<Piece>) {
        let [a, b, c] = facet.corners.map(|corner| corner.at);
        let Some(flat) = (b - a).cross(&(c - a)).try_normalize(0.0) else { return };
        // A sheet is seen from both sides, a body only from outside.
        let facing = flat.dot(&self.camera.eye);
        let turn = if facing < 0.0 { -1.0 } else { 1.0 };
        if facing < 1e-9 && !self.scene.mesh.tetrahedra.is_empty() {
            return;
        }
        for w in small {
            let middle: [f64; 3] = std::array::from_fn(|k| (w[0][k] + w[1][k] + w[2][k]) / 3.0);
            let at = |w: [f64; 3]| (0..3).map(|k| facet.corners[k].at * w[k]).sum::<Vec3>();
            let smooth: Vec3 = (0..3).map(|k| facet.corners[k].normal * middle[k]).sum();
            let smooth = smooth.try_normalize(0.0).unwrap_or(flat);
            let normal = (smooth + flat * 0.4).try_normalize(0.0).unwrap_or(flat) * turn;
            let value = match self.scale.colour.blends() {
                true => (0..3).map(|k| facet.corners[k].value * middle[k]).sum(),
                false => {
                    facet.corners[(0..3).fold(0, |most, k| if middle[k] > middle[most] { k } else { most })]
                        .value
                }
            };
            let fill = hex(lit(self.scale.of(value), normal, self.camera.eye));
            let points = w.map(|w| self.camera.place(at(w)));
            let [(ax, ay), (bx, by), (cx, cy)] = points;
            // A thin stroke of its own colour closes the seams.
            let mut svg = format!(
                "<path d=\"M{ax:.1} {ay:.1}L{bx:.1} {by:.1}L{cx:.1} {cy:.1}Z\" fill=\"{fill}\" stroke=\"{fill}\" stroke-width=\".7\"/>\n"
            );
            // The lattice shows at the sides of the particles' own triangles.
            for k in 0..3 {
                let side = (0..3).find(|&c| w[k][c] == 0.0 && w[(k + 1) % 3][c] == 0.0);
                if side.is_some_and(|opposite| facet.lines[(opposite + 1) % 3]) {
                    let ((x1, y1), (x2, y2)) = (points[k], points[(k + 1) % 3]);
                    let _ = writeln!(
                        svg,
                        "<path d=\"M{x1:.1} {y1:.1}L{x2:.1} {y2:.1}\" stroke=\"#3b2415\" stroke-opacity=\".3\" stroke-width=\".7\"/>"
                    );
                }
            }
            let at = at(middle);
            pieces.push(Piece { at, depth: self.camera.depth(at), svg });
        }
    }

    /// An object without a surface: its edges and particles.
    fn threads(&self, positions: &[Vec3], values: &[f64], pieces: &mut Vec<Piece>) {
        let corner =
            |i: u32| Corner { at: positions[i as usize], normal: Vec3::zeros(), value: values[i as usize] };
        for &[i, j] in &self.scene.mesh.edges {
            if ![i, j].iter().all(|&p| self.is_here(&positions[p as usize])) {
                continue;
            }
            let ends = match &self.knife {
                Some(knife) => knife.clip_line(corner(i), corner(j)),
                None => Some((corner(i), corner(j))),
            };
            let Some((a, b)) = ends else { continue };
            let ((x1, y1), (x2, y2)) = (self.camera.place(a.at), self.camera.place(b.at));
            let at = (a.at + b.at) / 2.0;
            let stroke = hex(self.scale.of(if self.scale.colour.blends() {
                (a.value + b.value) / 2.0
            } else {
                a.value
            }));
            let svg = format!(
                "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"#8a5a3a\" stroke-width=\"4\"/>\n\
                 <line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"{stroke}\" stroke-width=\"2.6\"/>\n"
            );
            pieces.push(Piece { at, depth: self.camera.depth(at), svg });
        }
        for (p, position) in positions.iter().enumerate().filter(|(_, p)| self.is_seen(p)) {
            if self.support(p) == Support::Free {
                let ((x, y), fill) = (self.camera.place(*position), hex(self.scale.of(values[p])));
                let svg = format!(
                    "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\" fill=\"{fill}\" stroke=\"#8a5a3a\"/>\n"
                );
                pieces.push(Piece { at: *position, depth: self.camera.depth(*position), svg });
            }
        }
    }

    /// What determines a particle's motion at this time.
    fn support(&self, p: usize) -> Support {
        let step = self.scene.steps_for(self.time);
        match self.scene.free_from(p) {
            Some(first) if step >= first => Support::Free,
            _ => self.scene.support[p],
        }
    }

    fn is_seen(&self, p: &Vec3) -> bool {
        self.is_here(p) && self.knife.is_none_or(|knife| knife.before(p) <= 0.0)
    }

    /// Pinned particles, and those whose motion is prescribed: a dark mark, and a ring.
    fn marks(&self, positions: &[Vec3], pieces: &mut Vec<Piece>) {
        let mesh = &self.scene.mesh;
        let mut outside = vec![mesh.triangles.is_empty(); positions.len()];
        mesh.triangles.iter().flatten().for_each(|&p| outside[p as usize] = true);
        let (low, high) = mesh.bounds();
        let nearer = 0.01 * (high - low).norm();
        for (p, position) in positions.iter().enumerate().filter(|(p, at)| outside[*p] && self.is_seen(at)) {
            let (x, y) = self.camera.place(*position);
            let svg = mark(self.support(p), x, y);
            pieces.extend(svg.map(|svg| Piece {
                at: *position,
                depth: self.camera.depth(*position) + nearer,
                svg,
            }));
        }
    }
}

/// The mark of a particle that is held, in a picture and in its legend.
pub(super) fn mark(support: Support, x: f64, y: f64) -> Option<String> {
    match support {
        Support::Free => None,
        Support::Pinned => Some(format!(
            "<circle class=\"pinned\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2.6\" fill=\"{DARK}\"/>\n"
        )),
        Support::Moved(_) => Some(format!(
            "<circle class=\"moved\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2.4\" fill=\"#fff\" stroke=\"{DARK}\" stroke-width=\"1.4\"/>\n"
        )),
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

#[cfg(test)]
mod tests {
    use super::*;

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
