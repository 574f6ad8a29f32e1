//! Contact between surfaces, of different objects or of one with itself.
//!
//! Corner against face and edge against edge; in a plane, corner against edge. Candidates are looked for in a grid
//! (`search`), with a margin, and again only when something has moved through half of it: the cost grows with what is
//! near. Neighbours in the mesh and what is joined are no candidates, and what is deeper inside than half the shortest edge is not pushed out.
//!
//! A corner inside an object leaves by the nearest of its faces, and only by that; an edge across another does not push
//! where one of its ends leaves another way that is shorter (`touch`).

mod search;
mod touch;

use super::{
    force::{ContactForce, Partner},
    law::Contact,
};
use crate::{
    force::{
        real::{Real, Vector, vector},
        topology::react,
        volume::objects,
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
use touch::Touch;

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
    /// The object that each particle belongs to.
    object: Vec<usize>,
    neighbours: HashSet<(usize, usize)>,
    depth: T,
    longest: f64,
    margin: f64,
    candidates: Vec<(Pair, T)>,
    seen: Vec<Vector<T>>,
}

impl<T: Real> Pairs<T> {
    /// The surfaces of a mesh of tetrahedra, or the outlines of a flat one of triangles; joined particles do not touch,
    /// nor do features that have them.
    pub fn new(mesh: &Mesh, law: &Contact<f64>, joined: &[[usize; 2]]) -> Self {
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
        let edges_of_mesh = mesh.edges.iter().map(|e| e.map(|p| p as usize));
        let both = |[a, b]: [usize; 2]| [(a, b), (b, a)];
        Self {
            law: law.narrow(),
            normal: vector(&normal.unwrap_or_else(Vec3::zeros)),
            corners,
            faces,
            flat: normal.is_some(),
            object: objects(mesh),
            neighbours: edges_of_mesh.chain(joined.iter().copied()).flat_map(both).collect(),
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
            let mut integrals = vec![T::zero(); self.candidates.len()];
            for (k, touch) in self.touching(x) {
                integrals[k] = self.law.integrate(self.candidates[k].1, touch.distance, h);
            }
            self.candidates.iter_mut().zip(integrals).for_each(|((_, integral), now)| *integral = now);
        }
    }

    /// Each pair that touches, how, and the force on its first feature.
    #[inline(always)]
    fn each(&self, x: &[Vector<T>], v: &[Vector<T>], mut found: impl FnMut(Pair, &Touch<T>, Vector<T>)) {
        for (k, t) in self.touching(x) {
            let (pair, integral) = self.candidates[k];
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
