//! How two features are to each other.

use super::{Pair, Pairs};
use crate::force::{
    real::{Real, Vector},
    topology::{positive, shares},
};

/// How two features are to each other: distance, direction from the second to the first, and the weights of all
/// particles that have a part (first positive, second negative, zero in all).
pub(super) struct Touch<T: Real> {
    pub(super) distance: T,
    pub(super) n: Vector<T>,
    pub(super) particles: [usize; 4],
    pub(super) weights: [T; 4],
}

/// How a corner leaves an object.
struct Exit<T: Real> {
    /// The corner and the object.
    of: (usize, usize),
    distance: T,
    n: Vector<T>,
}

impl<T: Real> Pairs<T> {
    /// The corner that a pair lets out of an object; none for two edges.
    pub(super) fn way_out(&self, pair: Pair) -> Option<(usize, usize)> {
        match pair {
            Pair::Face(p, face) => Some((p, self.object[self.faces[face][0]])),
            Pair::Side(p, edge) => Some((p, self.object[self.edges[edge].0[0]])),
            Pair::Edges(..) => None,
        }
    }

    /// Candidates that touch, by their numbers: of the ways out of an object that a corner has, the shortest.
    pub(super) fn touching(&self, x: &[Vector<T>]) -> Vec<(usize, Touch<T>)> {
        let mut found: Vec<(usize, Touch<T>)> = Vec::new();
        let mut exits: Vec<Exit<T>> = Vec::new();
        for (k, &(pair, _)) in self.candidates.iter().enumerate() {
            let Some(touch) = self.touch(pair, x).filter(|t| t.distance < self.law.region) else { continue };
            let Some(of) = self.way_out(pair) else {
                if let Pair::Edges(a, b) = pair
                    && !self.is_bypassed([a, b], &touch, &exits)
                {
                    found.push((k, touch));
                }
                continue;
            };
            // Candidates of a corner and an object stand together.
            if exits.last().is_none_or(|exit| exit.of != of) {
                exits.push(Exit { of, distance: touch.distance, n: touch.n });
                found.push((k, touch));
            } else if let (Some(exit), Some(best)) = (exits.last_mut(), found.last_mut())
                && touch.distance > exit.distance
            {
                (exit.distance, exit.n) = (touch.distance, touch.n);
                *best = (k, touch);
            }
        }
        found
    }

    /// Whether an end of one of two edges leaves the other's object by a shorter way in another direction.
    fn is_bypassed(&self, [a, b]: [usize; 2], touch: &Touch<T>, exits: &[Exit<T>]) -> bool {
        let (first, second) = (self.edges[a].0, self.edges[b].0);
        let shorter = |ends: [usize; 2], other: usize, n: Vector<T>| {
            ends.iter().any(|&p| {
                let of = (p, self.object[other]);
                let exit = exits.binary_search_by_key(&of, |exit| exit.of).ok().map(|k| &exits[k]);
                exit.is_some_and(|e| e.distance > touch.distance && e.n.dot(&n) < T::of(0.7))
            })
        };
        shorter(first, second[0], touch.n) || shorter(second, first[0], -touch.n)
    }

    /// Distance and weights, if the features face each other and are not too deep in each other.
    pub(super) fn touch(&self, pair: Pair, x: &[Vector<T>]) -> Option<Touch<T>> {
        let touch = match pair {
            Pair::Face(p, face) => self.face(p, self.faces[face], x),
            Pair::Edges(a, b) => self.cross(a, b, x),
            Pair::Side(p, edge) => self.side(p, self.edges[edge].0, x),
        };
        touch.filter(|t| t.distance > -self.depth)
    }

    fn face(&self, p: usize, face: [usize; 3], x: &[Vector<T>]) -> Option<Touch<T>> {
        let [i, j, k] = face;
        let twice = (x[j] - x[i]).cross(&(x[k] - x[i]));
        let area = twice.norm();
        let raw = shares(x[p], face.map(|c| x[c]), &twice);
        if area <= T::zero() || raw.iter().any(|r| *r < T::zero()) {
            return None;
        }
        let n = twice / area;
        let [a, b, c] = positive(raw);
        let weights = [T::one(), -a, -b, -c];
        Some(Touch { distance: (x[p] - x[i]).dot(&n), n, particles: [p, i, j, k], weights })
    }

    fn side(&self, p: usize, [i, j]: [usize; 2], x: &[Vector<T>]) -> Option<Touch<T>> {
        let along = x[j] - x[i];
        let square = along.norm_squared();
        let ratio = (x[p] - x[i]).dot(&along) / square;
        if square <= T::zero() || ratio < T::zero() || ratio > T::one() {
            return None;
        }
        let n = along.cross(&self.normal) / square.sqrt();
        let weights = [T::one(), T::zero(), ratio - T::one(), -ratio];
        Some(Touch { distance: (x[p] - x[i]).dot(&n), n, particles: [p, p, i, j], weights })
    }

    /// The outward directions of two triangles.
    fn sides(&self, faces: [usize; 2], x: &[Vector<T>]) -> [Vector<T>; 2] {
        faces.map(|f| {
            let [a, b, c] = self.faces[f].map(|p| x[p]);
            (b - a).cross(&(c - a)).try_normalize(T::zero()).unwrap_or_default()
        })
    }

    fn cross(&self, a: usize, b: usize, x: &[Vector<T>]) -> Option<Touch<T>> {
        let ([i, j], near) = self.edges[a];
        let ([k, l], other) = self.edges[b];
        let (p, q) = (x[j] - x[i], x[l] - x[k]);
        let both = p.cross(&q);
        let square = both.norm_squared();
        // Nearly parallel edges have no point of contact; corners see to them.
        if square <= T::of(1e-4) * p.norm_squared() * q.norm_squared() {
            return None;
        }
        let apart = x[k] - x[i];
        let ra = apart.cross(&q).dot(&both) / square;
        let rb = apart.cross(&p).dot(&both) / square;
        let inside = |r: T| T::zero() < r && r < T::one();
        if !inside(ra) || !inside(rb) {
            return None;
        }
        // From the second edge's object to the first's, out of the one and into the other.
        let (mine, theirs) = (self.sides(near, x), self.sides(other, x));
        let n = both / square.sqrt();
        let n = if n.dot(&(mine[0] + mine[1])) > T::zero() { -n } else { n };
        if !leaves(&-n, &mine) || !leaves(&n, &theirs) {
            return None;
        }
        let distance = (p * ra - apart - q * rb).dot(&n);
        let weights = [T::one() - ra, ra, rb - T::one(), -rb];
        Some(Touch { distance, n, particles: [i, j, k, l], weights })
    }
}

/// Whether a direction across an edge leads out between its two sides, or nearly: one that leads along a side, as that of
/// two nearly parallel edges may, would push things past each other.
fn leaves<T: Real>(direction: &Vector<T>, [a, b]: &[Vector<T>; 2]) -> bool {
    let least = a.dot(b) - T::of(0.2);
    direction.dot(a) >= least && direction.dot(b) >= least && direction.dot(&(a + b)) > T::zero()
}
