//! Boundaries that are smaller than the pitch: they touch faces and edges, between the particles, too.
//!
//! A ball smaller than the longest edge of the surface would slip between its particles. So each triangle near it has
//! one contact, at its point nearest to the boundary (of a rod along it the middle of what is nearest), and the force is
//! shared among the corners by that point's barycentric weights: sum and moment are those of one force at that point.
//! On an edge the point belongs to two triangles, on a corner to all around it; it counts once, by this rule:
//!
//! ```text
//!   lambda_i = p_i - sum over j of g_ij lambda_j,   0 <= lambda_i <= p_i
//!   g_ij = (n_i . n_j) / (1 + 2 (apart / longest edge)^2)^2, at least 0; 0 between objects
//! ```
//! p_i is what the contact's law would push alone, lambda_i what it pushes. A triangle gives what its neighbours do not
//! give along its normal already: on a flat or convex surface only the nearest point pushes, with all of the law's
//! force, wherever it is; in a groove both sides do. Places, distances and normals go on without jumps from triangle to
//! triangle, and so do the forces. All that is asked of a boundary is the distance and the normal at a point.

use super::{
    closest::closest,
    force::{ContactForce, Partner},
    law::Contact,
    shape::Shape,
};
use crate::{
    force::{
        Object,
        real::{Real, Vector},
        volume::objects,
    },
    mesh::orientation::plane,
};
use nalgebra::{DMatrix, DVector};
use std::{cmp::Ordering, collections::HashMap, slice::Iter};

/// Rounds until the nearest point is taken as found, and until shares are looked at more closely.
const ROUNDS: usize = 12;
/// How much stiffer than one contact those of a boundary are to the particles they share: rods press on many corners at
/// once (measured: 2.6 times; for moments more, on the edges of strong dents and where the edge of a bar rubs over a corner).
pub(super) fn stiffening(shape: &Shape<f64>, object: &Object<'_>) -> f64 {
    let small = || Surface::<f64>::new(object).is_some_and(|surface| surface.is_coarse_for(shape));
    if !matches!(shape, Shape::Ball { .. }) && small() { 3.0 } else { 1.0 }
}

/// The faces of all objects, or of a mesh of edges alone these, whose last corner counts twice.
#[derive(Clone, Debug)]
pub(super) struct Surface<T: Real> {
    features: Vec<[usize; 3]>,
    /// The object that each particle belongs to; what is joined is one.
    object: Vec<usize>,
    covered: Vec<bool>,
    /// What smaller boundaries slip through: the longest edge at the start, of a sheet of its outline.
    pitch: f64,
    /// The longest edge at the start.
    scale: T,
    near: Vec<usize>,
    integrals: Vec<T>,
}

/// Where a boundary touches a feature, and how.
#[derive(Clone, Debug)]
pub(super) struct Touch<T: Real> {
    corners: [usize; 3],
    weights: [T; 3],
    place: Vector<T>,
    distance: T,
    normal: Vector<T>,
    /// Relative to the boundary's surface.
    velocity: Vector<T>,
    /// What the law gives alone, and what remains of it.
    alone: T,
    push: T,
}

impl<T: Real> Surface<T> {
    /// The surface of what can be touched; a mesh without faces and edges of its own has none.
    pub(super) fn new(object: &Object<'_>) -> Option<Self> {
        let mesh = object.mesh;
        let faces = || mesh.triangles.iter().map(|t| t.map(|p| p as usize));
        let bare = mesh.triangles.is_empty() && mesh.tetrahedra.is_empty();
        let edges = || mesh.edges.iter().map(|&[a, b]| [a as usize, b as usize, b as usize]);
        let all: Vec<[usize; 3]> = if bare { edges().collect() } else { faces().collect() };
        let mut covered = vec![false; mesh.particles.len()];
        all.iter().flatten().for_each(|&p| covered[p] = true);
        let length = |[a, b]: [usize; 2]| (mesh.particles[a] - mesh.particles[b]).norm();
        let sides = |&[a, b, c]: &[usize; 3]| [[a, b], [b, c], [c, a]];
        let longest = |sides: &mut dyn Iterator<Item = [usize; 2]>| sides.map(length).fold(0.0, f64::max);
        // A sheet in its plane is touched from beside.
        let pitch = match plane(mesh) {
            Some(_) => longest(&mut outline(&all).into_iter()),
            None => longest(&mut all.iter().flat_map(sides)),
        };
        let scale = T::of(longest(&mut all.iter().flat_map(sides)));
        let features: Vec<[usize; 3]> =
            all.into_iter().filter(|corners| corners.iter().any(|&p| object.free[p])).collect();
        (!features.is_empty()).then(|| Self {
            object: bodies(object),
            covered,
            pitch,
            scale,
            near: Vec::new(),
            integrals: vec![T::zero(); features.len()],
            features,
        })
    }

    /// Whether a boundary could slip between particles.
    pub(super) fn is_coarse_for(&self, shape: &Shape<f64>) -> bool {
        // What is as large as the pitch but for rounding is not smaller.
        shape.size() < self.pitch * (1.0 - 1e-6)
    }

    /// Whether a particle is a corner of it.
    pub(super) fn covers(&self, particle: usize) -> bool {
        self.covered[particle]
    }

    /// Operations of a step in which nothing touches: a distance and two lengths for each feature.
    pub(super) fn operations(&self, distance: u64) -> u64 {
        (distance + 14) * self.features.len() as u64
    }

    /// Before a step of length h: looks for what is near, integrals go on or end.
    pub(super) fn settle(&mut self, shape: &Shape<T>, law: &Contact<T>, h: T, x: &[Vector<T>]) {
        self.near.clear();
        for (k, &[a, b, c]) in self.features.iter().enumerate() {
            // No point of it is further from the first corner than the longer side there; a quarter more for what
            // moves within the step.
            let side = (x[b] - x[a]).norm_squared().max((x[c] - x[a]).norm_squared());
            let room = shape.distance(&x[a]).0 - law.region;
            if room <= T::zero() || room * room < side * T::of(1.5) {
                self.near.push(k);
            } else {
                self.integrals[k] = T::zero();
            }
        }
        if law.integral > T::zero() {
            for &k in &self.near {
                let (distance, ..) = nearest(shape, self.features[k], x);
                self.integrals[k] = law.integrate(self.integrals[k], distance, h);
            }
        }
    }

    /// Each that touches, and the force on it; `moves` is the velocity of the boundary's surface at a point. A distance
    /// for each feature, about 500 operations for each that is near.
    pub(super) fn each(
        &self,
        shape: &Shape<T>,
        law: &Contact<T>,
        moves: impl Fn(&Vector<T>) -> Vector<T>,
        x: &[Vector<T>],
        v: &[Vector<T>],
        mut found: impl FnMut(&Touch<T>, Vector<T>),
    ) {
        let mut touching = Vec::new();
        for &k in &self.near {
            let corners = self.features[k];
            let (distance, normal, place, weights) = nearest(shape, corners, x);
            if distance < law.region {
                let velocity = at(v, corners, weights) - moves(&place);
                let alone = law.push(distance, velocity.dot(&normal), self.integrals[k]);
                let push = alone;
                touching.push(Touch { corners, weights, place, distance, normal, velocity, alone, push });
            }
        }
        self.share(&mut touching);
        for touch in touching.iter().filter(|touch| touch.push > T::zero()) {
            found(touch, law.with_drag(touch.push, &touch.normal, &touch.velocity));
        }
    }

    /// What each gives beside the others.
    fn share(&self, found: &mut [Touch<T>]) {
        if found.len() < 2 {
            return;
        }
        let common = DMatrix::from_fn(found.len(), found.len(), |i, j| match i == j {
            true => T::one(),
            false => self.common(&found[i], &found[j]),
        });
        let alone: Vec<T> = found.iter().map(|touch| touch.alone).collect();
        found.iter_mut().zip(shares(&common, &alone)).for_each(|(touch, push)| touch.push = push);
    }

    /// How much of what one gives the other need not give.
    fn common(&self, a: &Touch<T>, b: &Touch<T>) -> T {
        if self.object[a.corners[0]] != self.object[b.corners[0]] {
            return T::zero();
        }
        let apart = (a.place - b.place).norm_squared() / (self.scale * self.scale);
        let near = T::one() / (T::one() + apart * T::of(2.0));
        a.normal.dot(&b.normal).max(T::zero()) * near * near
    }

    /// What it remembers: the integrals.
    pub(super) fn save(&self, memory: &mut Vec<T>) {
        memory.extend(&self.integrals);
    }

    pub(super) fn restore(&mut self, memory: &mut Iter<'_, T>) -> bool {
        self.integrals.iter_mut().all(|integral| memory.next().map(|value| *integral = *value).is_some())
    }
}

impl<T: Real> Touch<T> {
    /// Shares a force at the place of contact among the corners: nothing of it is lost, nor of its moment.
    pub(super) fn give(&self, whole: Vector<T>, force: &mut [Vector<T>]) {
        let ([a, b, c], [_, to_b, to_c]) = (self.corners, self.weights);
        let (on_b, on_c) = (whole * to_b, whole * to_c);
        force[a] += whole - on_b - on_c;
        force[b] += on_b;
        force[c] += on_c;
    }

    /// The contact as it is reported.
    pub(super) fn report(&self, own: Partner, force: Vector<T>) -> ContactForce<T> {
        let Self { place, normal, distance, .. } = *self;
        ContactForce { between: [self.partner(), own], place, normal, depth: -distance, force }
    }

    /// What of the surface touches.
    fn partner(&self) -> Partner {
        let shared = |k: &usize| self.weights[*k] > T::zero();
        let having: Vec<usize> = (0..3).filter(shared).map(|k| self.corners[k]).collect();
        match having[..] {
            [p] => Partner::Particle(p),
            [p, q] if p == q => Partner::Particle(p),
            [p, q] => Partner::Edge([p, q]),
            _ => Partner::Face(self.corners),
        }
    }
}

/// What is left of what each would give alone, by the rule above: Gauss-Seidel rounds, the hardest first, which soon show
/// whose share is nothing; the others' follow from their equations at once, where rounds would take long.
fn shares<T: Real>(common: &DMatrix<T>, alone: &[T]) -> Vec<T> {
    let count = alone.len();
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|&a, &b| alone[b].partial_cmp(&alone[a]).unwrap_or(Ordering::Equal));
    let mut push = vec![T::zero(); count];
    let enough = alone[order[0]] * T::of(1e-6);
    for round in 1..=ROUNDS * ROUNDS {
        let mut change = T::zero();
        for &i in &order {
            let given =
                (0..count).filter(|&j| j != i).fold(T::zero(), |sum, j| sum + common[(i, j)] * push[j]);
            let wanted = (alone[i] - given).max(T::zero());
            change = change.max((wanted - push[i]).abs());
            push[i] = wanted;
        }
        if change <= enough {
            break;
        }
        if round % ROUNDS == 0 {
            let some: Vec<usize> = (0..count).filter(|&i| push[i] > T::zero()).collect();
            let among = DMatrix::from_fn(some.len(), some.len(), |i, j| common[(some[i], some[j])]);
            let wanted = DVector::from_fn(some.len(), |i, _| alone[some[i]]);
            let solved = among.cholesky().map(|factors| factors.solve(&wanted));
            // The next round finds out whether that is it.
            if let Some(solved) = solved.filter(|solved| solved.iter().all(|share| *share >= T::zero())) {
                some.iter().zip(solved.iter()).for_each(|(&i, &share)| push[i] = share.min(alone[i]));
            }
        }
    }
    push
}

/// The object that each particle belongs to, of which joints make one of two.
fn bodies(object: &Object<'_>) -> Vec<usize> {
    let mut bodies = objects(object.mesh);
    for &[p, q] in &object.joined {
        let (one, other) = (bodies[p], bodies[q]);
        if one != other {
            bodies.iter_mut().filter(|body| **body == other).for_each(|body| *body = one);
        }
    }
    bodies
}

/// Edges that one triangle alone has, whichever way round the triangles are.
fn outline(triangles: &[[usize; 3]]) -> Vec<[usize; 2]> {
    let mut counts: HashMap<[usize; 2], usize> = HashMap::new();
    for &[a, b, c] in triangles {
        for [p, q] in [[a, b], [b, c], [c, a]] {
            *counts.entry([p.min(q), p.max(q)]).or_default() += 1;
        }
    }
    counts.into_iter().filter(|(_, count)| *count == 1).map(|(edge, _)| edge).collect()
}

/// What corners have, with weights.
fn at<T: Real>(of: &[Vector<T>], [a, b, c]: [usize; 3], [_, to_b, to_c]: [T; 3]) -> Vector<T> {
    of[a] + (of[b] - of[a]) * to_b + (of[c] - of[a]) * to_c
}

/// Distance, normal, place and weights of a triangle's point nearest to a shape, or deepest in it: from its middle on to
/// the nearest point of the shape's core and back, by turns. Of a ball the first is it; of a rod along the triangle, too.
fn nearest<T: Real>(
    shape: &Shape<T>,
    corners: [usize; 3],
    x: &[Vector<T>],
) -> (T, Vector<T>, Vector<T>, [T; 3]) {
    let (core, around) = shape.core();
    let mut weights = [T::of(1.0 / 3.0); 3];
    let mut place = at(x, corners, weights);
    let (mut distance, mut normal) = core.distance(&place);
    let rounds = if matches!(shape, Shape::Ball { .. }) { 1 } else { ROUNDS };
    for _ in 0..rounds {
        weights = closest(&(place - normal * distance.max(T::zero())), corners.map(|p| x[p]));
        place = at(x, corners, weights);
        (distance, normal) = core.distance(&place);
    }
    (distance - around, normal, place, weights)
}

impl Shape<f64> {
    /// What decides whether it is smaller than the pitch: a radius, of a bar the middle one of its sides. A plate, thin in
    /// one direction only, bears on particles.
    fn size(&self) -> f64 {
        match self {
            Self::Plane { .. } => f64::INFINITY,
            Self::Roller { radius, .. } | Self::Ball { radius, .. } => *radius,
            Self::Bar { half, .. } => {
                let mut sides = [half.x, half.y, half.z];
                sides.sort_by(f64::total_cmp);
                2.0 * sides[1]
            }
        }
    }
}

impl<T: Real> Shape<T> {
    /// What is deep inside, and how deep: the middle of a ball, the axis of a roller. Around it directions do not jump, as
    /// they do at the edges of a bar, which so are round by an eighth of its thickness.
    fn core(&self) -> (Self, T) {
        match self {
            Self::Plane { .. } => (*self, T::zero()),
            Self::Roller { center, axis, radius } => {
                (Self::Roller { center: *center, axis: *axis, radius: T::zero() }, *radius)
            }
            Self::Bar { center, half, axes } => {
                let around = half.min() * T::of(0.25);
                (Self::Bar { center: *center, half: half.add_scalar(-around), axes: *axes }, around)
            }
            Self::Ball { center, radius } => (Self::Ball { center: *center, radius: T::zero() }, *radius),
        }
    }
}
