//! Finds hanging particles: those that lie on an edge or a face of another part, or where another part has a particle.
//!
//! Of two parts the one with more particles on the other is the finer: its particles hang, the other's do not. In one
//! connected mesh, too, a particle may lie on an edge or face that it is no corner of; it hangs there. A particle hangs at
//! one place: the nearest, and of those as near a particle before an edge, an edge before a face.

use crate::{
    force::{contact::grid::Grid, link::Place, volume::objects},
    mesh::{Mesh, Vec3},
};
use std::collections::{HashMap, HashSet};

/// More groups are not told apart.
pub const MOST_PARTS: usize = 64;

/// Where things are taken to lie on each other, of the shortest edge.
const TOLERANCE: f64 = 1e-3;

/// More places near each particle than this are no mesh.
const MOST_PLACES: usize = 16;

/// Nothing farther than so many shortest edges is named when nothing is found.
const FAR: f64 = 4.0;

/// A particle near a place, so far from it.
struct Near {
    place: Place<f64>,
    distance: f64,
}

/// What particles may hang on, and who may.
struct Parts<'m> {
    mesh: &'m Mesh,
    /// The object of each particle: the lowest number it is connected with.
    object: Vec<usize>,
    /// Groups that each particle is in, a bit for each; none if all objects are parts.
    groups: Option<Vec<u64>>,
    /// Particles that may hang: those of surfaces.
    points: Vec<usize>,
    /// Particles, edges and faces that they may hang on, with their number of corners.
    sides: Vec<([usize; 3], usize)>,
    shortest: f64,
}

/// Hanging particles between groups, or of all parts if none are given, at most `tolerance` metres from their places, a
/// thousandth of the shortest edge if not given; or why there is none.
pub fn hanging(mesh: &Mesh, between: &[&[u32]], tolerance: Option<f64>) -> Result<Vec<Place<f64>>, String> {
    let parts = Parts::new(mesh, between);
    let tolerance = tolerance.unwrap_or(TOLERANCE * parts.shortest);
    if tolerance >= 0.5 * parts.shortest {
        return Err(format!(
            "a tolerance of {tolerance} m: with half the shortest edge, {} m, or more all particles lie on their neighbours",
            0.5 * parts.shortest
        ));
    }
    let slack = tolerance.min(TOLERANCE * parts.shortest);
    let mut all: Vec<Near> = Vec::new();
    let (most, mut full) = (MOST_PLACES * mesh.particles.len(), false);
    parts.each(tolerance, slack, |near| {
        all.push(near);
        full = all.len() > most;
        !full
    });
    if full {
        return Err(format!("more than {MOST_PLACES} places for each particle within {tolerance} m"));
    }
    let hangs = parts.finer(&all);
    let mut best: HashMap<usize, Near> = HashMap::new();
    for near in all {
        let on = parts.object[near.place.corners[0]];
        if !hangs(parts.object[near.place.particle], on, &near.place) {
            continue;
        }
        // Particles come first, then edges, then faces.
        let is_better = |other: &Near| near.distance + slack < other.distance;
        if best.get(&near.place.particle).is_none_or(is_better) {
            best.insert(near.place.particle, near);
        }
    }
    let mut places: Vec<Place<f64>> = best.into_values().map(|near| near.place).collect();
    places.sort_by_key(|place| place.particle);
    match places.is_empty() {
        true => Err(parts.nothing(tolerance)),
        false => Ok(places),
    }
}

impl<'m> Parts<'m> {
    fn new(mesh: &'m Mesh, between: &[&[u32]]) -> Self {
        let groups = (!between.is_empty()).then(|| {
            let mut bits = vec![0; mesh.particles.len()];
            for (k, group) in between.iter().enumerate() {
                group.iter().for_each(|&p| bits[p as usize] |= 1 << k);
            }
            bits
        });
        // What is inside a solid has no other part beside it; faces of what is flat are elements, and overlap nothing.
        let mut in_solid = vec![false; mesh.particles.len()];
        mesh.tetrahedra.iter().flatten().for_each(|&p| in_solid[p as usize] = true);
        let solid = |corners: &[u32]| corners.iter().all(|&p| in_solid[p as usize]);
        let faces: Vec<[u32; 3]> = mesh.triangles.iter().copied().filter(|t| solid(t)).collect();
        let sides = faces.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]);
        let all = sides.chain(mesh.edges.iter().copied().filter(|e| !solid(e)));
        let mut edges: Vec<[usize; 2]> = all.map(|[a, b]| [a.min(b) as usize, a.max(b) as usize]).collect();
        edges.sort_unstable();
        edges.dedup();
        let mut points = edges.as_flattened().to_vec();
        points.sort_unstable();
        points.dedup();
        let sides = points
            .iter()
            .map(|&p| ([p; 3], 1))
            .chain(edges.iter().map(|&[i, j]| ([i, j, i], 2)))
            .chain(faces.iter().map(|face| (face.map(|p| p as usize), 3)))
            .collect();
        let length = |k| mesh.edge_length(k);
        let shortest = (0..mesh.edges.len()).map(length).fold(f64::INFINITY, f64::min);
        Self { mesh, object: objects(mesh), groups, points, sides, shortest }
    }

    /// Whether a particle may hang on a side, where that is.
    fn may_hang(&self, particle: usize, side: &[usize]) -> bool {
        if side.contains(&particle) {
            return false;
        }
        let Some(groups) = &self.groups else { return true };
        let of_side = side.iter().fold(u64::MAX, |all, &p| all & groups[p]);
        groups[particle] != 0 && of_side != 0 && (groups[particle] | of_side).count_ones() > 1
    }

    /// Calls `found` for all that is within `reach` of a side, until that says it is enough. What is nearer than `slack`
    /// to a side's border is on the border.
    fn each(&self, reach: f64, slack: f64, mut found: impl FnMut(Near) -> bool) {
        let x = &self.mesh.particles;
        // From the lowest corner on: cells have numbers of 32 bits.
        let origin = self.mesh.bounds().0;
        let grid = Grid::new(4.0 * self.shortest, self.points.iter().map(|&p| x[p] - origin));
        for &(corners, count) in &self.sides {
            let side = &corners[..count];
            let first = x[corners[0]];
            let (low, high) = side.iter().fold((first, first), |(l, h), &p| (l.inf(&x[p]), h.sup(&x[p])));
            let around = Vec3::repeat(reach);
            let mut go_on = true;
            grid.each(low - around - origin, high + around - origin, |k| {
                let particle = self.points[k as usize];
                if !go_on || !self.may_hang(particle, side) {
                    return;
                }
                let Some(shares) = shares(&x[particle], corners.map(|p| x[p]), count, slack) else { return };
                let place = Place { particle, corners, shares };
                let distance = place.gap(x).norm();
                if distance <= reach {
                    go_on = found(Near { place, distance });
                }
            });
            if !go_on {
                return;
            }
        }
    }

    /// Which of two objects hangs on the other: that with more particles on it, of as many the later one.
    fn finer(&self, all: &[Near]) -> impl Fn(usize, usize, &Place<f64>) -> bool + use<> {
        let mut seen: HashSet<(usize, usize)> = HashSet::new();
        let mut count: HashMap<(usize, usize), usize> = HashMap::new();
        for Near { place, .. } in all {
            let on = self.object[place.corners[0]];
            if seen.insert((place.particle, on)) {
                *count.entry((self.object[place.particle], on)).or_insert(0) += 1;
            }
        }
        move |object, on, place| {
            let of = |a, b| count.get(&(a, b)).copied().unwrap_or(0);
            match object == on {
                // Two particles at one place: one of them.
                true => place.shares[0] < 1.0 || place.particle > place.corners[0],
                false => (of(object, on), object) > (of(on, object), on),
            }
        }
    }

    /// Why nothing hangs.
    fn nothing(&self, tolerance: f64) -> String {
        let one = self.object.iter().all(|o| *o == self.object[0]);
        if one && self.groups.is_none() {
            return format!(
                "no particle lies within {tolerance} m of an edge or face that it is no corner of, and the mesh is in one part: nothing is to be joined"
            );
        }
        let mut nearest: Option<Near> = None;
        let mut reach = tolerance.max(TOLERANCE * self.shortest);
        while nearest.is_none() && reach < FAR * self.shortest {
            reach *= 4.0;
            self.each(reach, 0.0, |near| {
                let apart = self.object[near.place.particle] != self.object[near.place.corners[0]];
                if apart && nearest.as_ref().is_none_or(|n| near.distance < n.distance) {
                    nearest = Some(near);
                }
                true
            });
        }
        let Some(Near { place, distance }) = nearest else {
            return format!(
                "no particle lies on an edge or face of another part, nor within {reach:.3e} m of one: bring the parts together"
            );
        };
        let [i, j, k] = place.corners;
        let on = match (i == j, i == k) {
            (true, _) => format!("particle {i}"),
            (_, true) => format!("edge [{i}, {j}]"),
            _ => format!("face [{i}, {j}, {k}]"),
        };
        format!(
            "no particle lies within {tolerance} m of an edge or face of another part; the nearest, {}, is {distance:.3e} m from {on}: bring the parts together, or give a `tolerance`",
            place.particle
        )
    }
}

/// The shares of a side's corners at the foot of a point; none if that is not inside, or within `slack` of the border.
fn shares(point: &Vec3, [a, b, c]: [Vec3; 3], corners: usize, slack: f64) -> Option<[f64; 3]> {
    match corners {
        1 => Some([1.0, 0.0, 0.0]),
        2 => {
            let along = b - a;
            let (length, to_b) = (along.norm(), (point - a).dot(&along) / along.norm_squared());
            let inside = (to_b * length).min((1.0 - to_b) * length) > slack;
            inside.then_some([1.0 - to_b, to_b, 0.0])
        }
        _ => {
            let twice = (b - a).cross(&(c - a));
            let shares = crate::force::topology::shares(*point, [a, b, c], &twice);
            // A share is a distance from the opposite side, over the height there.
            let height = |side: Vec3| twice.norm() / side.norm();
            let heights = [height(c - b), height(a - c), height(b - a)];
            let inside = shares.iter().zip(heights).all(|(share, height)| share * height > slack);
            inside.then_some(shares)
        }
    }
}
