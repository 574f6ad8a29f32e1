//! Contact between surfaces, of different objects or of one with itself.
//!
//! Corner against face and edge against edge; in a plane, corner against edge. Candidates are looked for in a grid,
//! with a margin, and again only when something has moved through half of it: the cost grows with what is near.
//! Neighbours in the mesh are no candidates, and what is deeper inside than half the shortest edge is not pushed out.

use super::{
    force::{ContactForce, Partner},
    grid::Grid,
    law::Contact,
};
use crate::{
    force::{
        real::{Real, Vector, vector},
        topology::{positive, react, shares},
    },
    mesh::{
        Mesh, Vec3,
        orientation::{oriented_triangles, plane},
    },
};
use std::{
    collections::{HashMap, HashSet},
    slice::Iter,
};

/// Two features that may touch, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Pair {
    /// Particle and triangle.
    Face(usize, usize),
    /// Two edges.
    Edges(usize, usize),
    /// Particle and edge of a plane's outline.
    Side(usize, usize),
}

/// How two features are to each other: distance, direction from the second to the first, and the weights of all
/// particles that have a part (first positive, second negative, zero in all).
struct Touch<T: Real> {
    distance: T,
    n: Vector<T>,
    particles: [usize; 4],
    weights: [T; 4],
}

/// All surfaces of a scene.
#[derive(Clone, Debug)]
pub struct Pairs<T: Real> {
    law: Contact<T>,
    normal: Vector<T>,
    corners: Vec<usize>,
    faces: Vec<[usize; 3]>,
    /// Ends of the surface's edges, and for solids the two triangles at each.
    edges: Vec<([usize; 2], [usize; 2])>,
    flat: bool,
    neighbours: HashSet<(usize, usize)>,
    depth: T,
    longest: f64,
    margin: f64,
    candidates: Vec<(Pair, T)>,
    seen: Vec<Vector<T>>,
}

impl<T: Real> Pairs<T> {
    /// The surfaces of a mesh of tetrahedra, or the outlines of a flat one of triangles.
    pub fn new(mesh: &Mesh, law: &Contact<f64>) -> Self {
        let normal = plane(mesh);
        let faces: Vec<[usize; 3]> = match &normal {
            Some(n) => oriented_triangles(mesh, n),
            None => mesh.triangles.iter().map(|t| t.map(|p| p as usize)).collect(),
        };
        let edges = surface_edges(&faces, normal.is_some());
        let mut corners: Vec<usize> = edges.iter().flat_map(|(ends, _)| *ends).collect();
        corners.sort_unstable();
        corners.dedup();
        let length = |ends: &[usize; 2]| (mesh.particles[ends[0]] - mesh.particles[ends[1]]).norm();
        let lengths = || edges.iter().map(|(ends, _)| length(ends));
        let shortest = lengths().fold(f64::INFINITY, f64::min);
        let both = |&[a, b]: &[u32; 2]| [(a as usize, b as usize), (b as usize, a as usize)];
        Self {
            law: law.narrow(),
            normal: vector(&normal.unwrap_or_else(Vec3::zeros)),
            corners,
            faces,
            flat: normal.is_some(),
            neighbours: mesh.edges.iter().flat_map(both).collect(),
            depth: T::of(0.5 * shortest),
            longest: lengths().fold(0.0, f64::max),
            margin: 0.25 * shortest,
            edges,
            candidates: Vec::new(),
            seen: Vec::new(),
        }
    }

    /// How many pairs are near enough to be looked at in every step.
    pub fn candidates(&self) -> usize {
        self.candidates.len()
    }

    /// Operations of a step in which nothing touches.
    pub(super) fn operations(&self) -> u64 {
        70 * self.candidates.len() as u64
    }

    /// Before a step of length h: looks for candidates if they may have changed; integrals go on or end.
    pub fn settle(&mut self, h: T, x: &[Vector<T>]) {
        let far = T::of(0.25 * self.margin * self.margin);
        let moved = |(seen, p): (&Vector<T>, &usize)| (x[*p] - seen).norm_squared() > far;
        if self.seen.is_empty() || self.seen.iter().zip(&self.corners).any(moved) {
            self.find(x);
        }
        if self.law.integral > T::zero() {
            let mut candidates = std::mem::take(&mut self.candidates);
            for (pair, integral) in &mut candidates {
                let distance = self.touch(*pair, x).map_or(self.law.region, |t| t.distance);
                *integral = self.law.integrate(*integral, distance, h);
            }
            self.candidates = candidates;
        }
    }

    fn find(&mut self, x: &[Vector<T>]) {
        self.seen = self.corners.iter().map(|&p| x[p]).collect();
        let before: HashMap<Pair, T> =
            self.candidates.iter().filter(|(_, s)| *s < T::zero()).copied().collect();
        let reach = Vector::repeat(self.depth.max(self.law.region) + T::of(self.margin));
        let size = self.longest + self.margin;
        let mut found = Vec::new();
        let corners = Grid::new(size, self.seen.iter().copied());
        let around = |list: &[usize]| {
            let first = x[list[0]];
            list.iter().fold((first - reach, first + reach), |(low, high), &p| {
                (low.inf(&(x[p] - reach)), high.sup(&(x[p] + reach)))
            })
        };
        let apart =
            |p: usize, list: &[usize]| list.iter().all(|&q| p != q && !self.neighbours.contains(&(p, q)));
        let within = |p: &Vector<T>, low: &Vector<T>, high: &Vector<T>| *p >= *low && *p <= *high;
        if self.flat {
            for (k, (ends, _)) in self.edges.iter().enumerate() {
                let (low, high) = around(ends);
                corners.each(low, high, |c| {
                    let p = self.corners[c as usize];
                    let near = within(&x[p], &low, &high) && apart(p, ends);
                    found.extend(near.then_some(Pair::Side(p, k)));
                });
            }
        } else {
            let outward = self.outward(x);
            for (k, face) in self.faces.iter().enumerate() {
                let (low, high) = around(face);
                let [a, b, c] = face.map(|p| x[p]);
                let normal = (b - a).cross(&(c - a));
                corners.each(low, high, |c| {
                    let p = self.corners[c as usize];
                    let near = within(&x[p], &low, &high) && facing(&outward[p], &normal) && apart(p, face);
                    found.extend(near.then_some(Pair::Face(p, k)));
                });
            }
            let half = T::of(0.5);
            let middles = Grid::new(size, self.edges.iter().map(|([a, b], _)| (x[*a] + x[*b]) * half));
            let edge_reach = Vector::repeat(T::of(0.5 * self.longest));
            let normals: Vec<Vector<T>> =
                self.edges.iter().map(|(_, faces)| self.beside(*faces, x)).collect();
            for (k, (ends, _)) in self.edges.iter().enumerate() {
                let (low, high) = around(ends);
                middles.each(low - edge_reach, high + edge_reach, |other| {
                    let m = other as usize;
                    if m <= k || !facing(&normals[k], &normals[m]) {
                        return;
                    }
                    let [a, b] = self.edges[m].0;
                    let near = x[a].inf(&x[b]) <= high && x[a].sup(&x[b]) >= low;
                    let far = near && apart(a, ends) && apart(b, ends);
                    found.extend(far.then_some(Pair::Edges(k, m)));
                });
            }
        }
        let with_integral = |pair| (pair, before.get(&pair).copied().unwrap_or_default());
        self.candidates = found.into_iter().map(with_integral).collect();
    }

    /// Each pair that touches, how, and the force on its first feature.
    #[inline(always)]
    fn each(&self, x: &[Vector<T>], v: &[Vector<T>], mut found: impl FnMut(Pair, &Touch<T>, Vector<T>)) {
        for &(pair, integral) in &self.candidates {
            let Some(t) = self.touch(pair, x).filter(|t| t.distance < self.law.region) else { continue };
            let mut velocity = Vector::zeros();
            for (&p, &w) in t.particles.iter().zip(&t.weights) {
                velocity += v[p] * w;
            }
            found(pair, &t, self.law.force(t.distance, &t.n, &velocity, integral));
        }
    }

    /// Adds the forces: about 70 operations for each candidate, 60 more for each that touches.
    pub fn add(&self, x: &[Vector<T>], v: &[Vector<T>], force: &mut [Vector<T>]) {
        self.each(x, v, |pair, t, push| match pair {
            Pair::Face(p, face) => {
                force[p] += push;
                let [_, i, j, k] = t.weights;
                react(push, self.faces[face], [-i, -j, -k], force);
            }
            Pair::Side(..) | Pair::Edges(..) => {
                let (first, second) = (push * t.weights[1], push * t.weights[3]);
                force[t.particles[0]] += push - first;
                force[t.particles[1]] += first;
                force[t.particles[2]] -= push + second;
                force[t.particles[3]] += second;
            }
        });
    }

    /// The same forces, one by one.
    pub fn contacts(&self, x: &[Vector<T>], v: &[Vector<T>], found: &mut dyn FnMut(ContactForce<T>)) {
        self.each(x, v, |pair, t, force| {
            if force == Vector::zeros() {
                return;
            }
            let between = match pair {
                Pair::Face(p, face) => [Partner::Particle(p), Partner::Face(self.faces[face])],
                Pair::Side(p, edge) => [Partner::Particle(p), Partner::Edge(self.edges[edge].0)],
                Pair::Edges(a, b) => [a, b].map(|edge| Partner::Edge(self.edges[edge].0)),
            };
            // Where the first feature touches: its weights are the positive ones.
            let first =
                t.particles.iter().zip(&t.weights).take(if matches!(pair, Pair::Edges(..)) { 2 } else { 1 });
            let place = first.fold(Vector::zeros(), |sum, (&p, &w)| sum + x[p] * w);
            found(ContactForce { between, place, normal: t.n, depth: -t.distance, force });
        });
    }

    /// What it remembers: where corners were when candidates were looked for, and the integrals.
    pub(super) fn save(&self, memory: &mut Vec<T>) {
        memory.push(T::of(self.seen.len() as f64));
        memory.extend(self.seen.iter().flat_map(|p| [p.x, p.y, p.z]));
        memory.extend(self.candidates.iter().map(|(_, integral)| *integral));
    }

    pub(super) fn restore(&mut self, memory: &mut Iter<'_, T>, x: &[Vector<T>]) -> bool {
        let Some(count) = memory.next().map(|count| count.wide() as usize) else { return false };
        self.candidates.clear();
        self.seen.clear();
        if count == 0 {
            return true; // nobody has looked yet
        }
        // The same search from the same places finds the same candidates, in the same order.
        let mut then = x.to_vec();
        for &corner in &self.corners {
            let mut next = || memory.next().copied();
            let (Some(x), Some(y), Some(z)) = (next(), next(), next()) else { return false };
            then[corner] = Vector::new(x, y, z);
        }
        self.find(&then);
        self.candidates
            .iter_mut()
            .all(|(_, integral)| memory.next().map(|value| *integral = *value).is_some())
            && count == self.corners.len()
    }

    /// Distance and weights, if the features face each other and are not too deep in each other.
    fn touch(&self, pair: Pair, x: &[Vector<T>]) -> Option<Touch<T>> {
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

    /// The outward direction of two triangles together.
    fn beside(&self, faces: [usize; 2], x: &[Vector<T>]) -> Vector<T> {
        faces.iter().fold(Vector::zeros(), |sum: Vector<T>, &f| {
            let [a, b, c] = self.faces[f].map(|p| x[p]);
            sum + (b - a).cross(&(c - a))
        })
    }

    /// The outward direction at every particle of the surface.
    fn outward(&self, x: &[Vector<T>]) -> Vec<Vector<T>> {
        let mut sums = vec![Vector::zeros(); x.len()];
        for face in &self.faces {
            let [a, b, c] = face.map(|p| x[p]);
            let normal = (b - a).cross(&(c - a));
            face.iter().for_each(|&p| sums[p] += normal);
        }
        sums
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
        // From the second edge's object to the first's: against the outward side of the first.
        let (mine, theirs) = (self.beside(near, x), self.beside(other, x));
        let n = both / square.sqrt();
        let n = if n.dot(&mine) > T::zero() { -n } else { n };
        if n.dot(&mine) >= T::zero() || n.dot(&theirs) <= T::zero() {
            return None;
        }
        let distance = (p * ra - apart - q * rb).dot(&n);
        let weights = [T::one() - ra, ra, rb - T::one(), -rb];
        Some(Touch { distance, n, particles: [i, j, k, l], weights })
    }
}

/// Whether outward directions differ enough that what they belong to may touch: neighbours on a smooth surface cannot.
fn facing<T: Real>(a: &Vector<T>, b: &Vector<T>) -> bool {
    let along = a.dot(b);
    along <= T::zero() || along * along <= T::of(0.25) * a.norm_squared() * b.norm_squared()
}

/// Edges of a surface, each once and with the triangles at it; of a flat mesh only its outline.
fn surface_edges(faces: &[[usize; 3]], flat: bool) -> Vec<([usize; 2], [usize; 2])> {
    let mut sides: HashMap<[usize; 2], usize> = HashMap::new();
    for (k, &[a, b, c]) in faces.iter().enumerate() {
        sides.extend([[a, b], [b, c], [c, a]].map(|side| (side, k)));
    }
    let mut edges = Vec::new();
    for (k, &[a, b, c]) in faces.iter().enumerate() {
        for [i, j] in [[a, b], [b, c], [c, a]] {
            match sides.get(&[j, i]) {
                Some(&other) if !flat && i < j => edges.push(([i, j], [k, other])),
                None if flat => edges.push(([i, j], [k, k])),
                _ => {}
            }
        }
    }
    edges
}
