//! Which features are so near that they may touch.

use super::{Pair, Pairs};
use crate::force::{
    contact::grid::Grid,
    real::{Real, Vector},
};
use std::collections::HashMap;

impl<T: Real> Pairs<T> {
    /// Looks for candidates at these positions; integrals of those that were some already go on.
    pub(super) fn find(&mut self, x: &[Vector<T>]) {
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
        // By corner and object, edges last.
        found.sort_by_key(|pair| self.way_out(*pair).unwrap_or((usize::MAX, 0)));
        let with_integral = |pair| (pair, before.get(&pair).copied().unwrap_or_default());
        self.candidates = found.into_iter().map(with_integral).collect();
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
}

/// Whether outward directions differ enough that what they belong to may touch: neighbours on a smooth surface cannot.
fn facing<T: Real>(a: &Vector<T>, b: &Vector<T>) -> bool {
    let along = a.dot(b);
    along <= T::zero() || along * along <= T::of(0.25) * a.norm_squared() * b.norm_squared()
}
