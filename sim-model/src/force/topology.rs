//! Topology preservation: a corner that comes too near the opposite side of its element is pushed back.
//!
//! A truss cannot tell a triangle from its mirror image. So each corner of a triangle (tetrahedron) has a virtual
//! Voigt element to the opposite edge (face), which acts when the signed distance d is at most eps:
//! f = -K (d - eps) - C d'. With eps > 0 it acts before the element turns over, with eps = 0 after.
//!
//! The reaction goes to the side's corners by the shares R of the foot Q. Shares are cut to what is inside the
//! side, or badly sheared elements would feel huge forces; forces always add up to zero, moments where nothing
//! was cut. The rate d' is that of the point with shares R, so that damping only takes energy.

use super::{
    Acting, Force, Object, Rates, need_elements,
    real::{Real, Vector, vector},
};
use crate::{
    mesh::{
        Mesh, Vec3,
        orientation::{oriented_tetrahedra, oriented_triangles, plane},
    },
    reader::{SceneError, Table},
};

/// Coefficients of the virtual Voigt element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Preserve<T> {
    /// K, N/m.
    pub stiffness: T,
    /// C, N s/m.
    pub damping: T,
    /// eps in metres.
    pub threshold: T,
}

impl Force for Preserve<f64> {
    const NAME: &'static str = "topology forces";
    const KEYS: &'static [&'static str] = &["topology"];

    fn read(root: &Table<'_>, object: &Object<'_>) -> Result<Option<Self>, SceneError> {
        let Some(value) = root.get("topology") else { return Ok(None) };
        need_elements(&value, object.mesh)?;
        let t = value.table(&["stiffness", "damping", "threshold"])?;
        let stiffness = t.need("stiffness")?.positive()?;
        let (damping, threshold) = (t.zero_or_more("damping")?, t.zero_or_more("threshold")?);
        Ok(Some(Self { stiffness, damping, threshold }))
    }

    fn stiffest(&self, object: &Object<'_>) -> Rates {
        Rates::of(self.stiffness, self.damping, 2.0, object)
    }

    fn acting<T: Real>(&self, object: &Object<'_>, _origin: Vec3) -> Box<dyn Acting<T>> {
        Box::new(Topology::new(object.mesh, self))
    }
}

/// The forces of all elements.
#[derive(Clone, Debug)]
pub struct Topology<T> {
    law: Preserve<T>,
    normal: Vector<T>,
    triangles: Vec<[usize; 3]>,
    tetrahedra: Vec<[usize; 4]>,
}

impl<T: Real> Topology<T> {
    /// Those of a mesh of tetrahedra or of a flat one of triangles.
    pub fn new(mesh: &Mesh, law: &Preserve<f64>) -> Self {
        let flat = plane(mesh);
        let Preserve { stiffness, damping, threshold } = *law;
        let [stiffness, damping, threshold] = [stiffness, damping, threshold].map(T::of);
        Self {
            law: Preserve { stiffness, damping, threshold },
            normal: vector(&flat.unwrap_or_default()),
            triangles: flat.map_or(Vec::new(), |normal| oriented_triangles(mesh, &normal)),
            tetrahedra: oriented_tetrahedra(mesh),
        }
    }
}

impl<T: Real> Acting<T> for Topology<T> {
    fn add(&self, x: &[Vector<T>], v: &[Vector<T>], force: &mut [Vector<T>]) {
        for &[a, b, c] in &self.triangles {
            for (corner, side) in [(a, [b, c]), (b, [c, a]), (c, [a, b])] {
                self.law.edge(corner, side, &self.normal, x, v, force);
            }
        }
        for t in &self.tetrahedra {
            if self.law.near(t, x) {
                let [a, b, c, d] = *t;
                for (corner, side) in [(d, [a, b, c]), (a, [b, d, c]), (b, [a, c, d]), (c, [a, d, b])] {
                    self.law.face(corner, side, x, v, force);
                }
            }
        }
    }

    fn copy(&self) -> Box<dyn Acting<T>> {
        Box::new(self.clone())
    }

    fn operations(&self) -> u64 {
        3 * 33 * self.triangles.len() as u64 + 60 * self.tetrahedra.len() as u64
    }
}

impl<T: Real> Preserve<T> {
    /// Corner and opposite edge of a triangle in a plane: 31 operations, a root and a division; with a force 40 more.
    pub fn edge(
        &self,
        corner: usize,
        [i, j]: [usize; 2],
        plane: &Vector<T>,
        x: &[Vector<T>],
        v: &[Vector<T>],
        force: &mut [Vector<T>],
    ) {
        let along = x[j] - x[i];
        let length = along.norm();
        let n = plane.cross(&along) / length;
        let apart = x[corner] - x[i];
        let distance = apart.dot(&n);
        if distance > self.threshold || length <= T::zero() {
            return;
        }
        let to_j = (apart.dot(&along) / (length * length)).max(T::zero()).min(T::one());
        let rate = (v[corner] - v[i] - (v[j] - v[i]) * to_j).dot(&n);
        let push = n * (-self.stiffness * (distance - self.threshold) - self.damping * rate);
        force[corner] += push;
        let on_j = push * to_j;
        force[j] -= on_j;
        force[i] -= push - on_j;
    }

    /// Whether some corner of a tetrahedron is within the threshold of its opposite face: 60 operations, no root.
    fn near(&self, &[a, b, c, d]: &[usize; 4], x: &[Vector<T>]) -> bool {
        let (p, q, r) = (x[b] - x[a], x[c] - x[a], x[d] - x[a]);
        let [pq, qr, rp] = [p.cross(&q), q.cross(&r), r.cross(&p)];
        let volume = pq.dot(&r);
        let largest = [pq, qr, rp, pq + qr + rp].iter().fold(T::zero(), |m, n| m.max(n.norm_squared()));
        volume <= T::zero() || volume * volume <= self.threshold * self.threshold * largest
    }

    /// Corner and opposite face of a tetrahedron: 28 operations, a root and a division; with a force 90 more.
    pub fn face(
        &self,
        corner: usize,
        side: [usize; 3],
        x: &[Vector<T>],
        v: &[Vector<T>],
        force: &mut [Vector<T>],
    ) {
        let [i, j, k] = side;
        let twice = (x[j] - x[i]).cross(&(x[k] - x[i]));
        let area = twice.norm();
        let apart = x[corner] - x[i];
        if apart.dot(&twice) > self.threshold * area || area <= T::zero() {
            return;
        }
        let n = twice / area;
        let distance = apart.dot(&n);
        let shares = positive(shares(x[corner], side.map(|p| x[p]), &twice));
        let rate = (v[corner] - v[i] * shares[0] - v[j] * shares[1] - v[k] * shares[2]).dot(&n);
        let push = n * (-self.stiffness * (distance - self.threshold) - self.damping * rate);
        force[corner] += push;
        react(push, side, shares, force);
    }
}

/// Shares of a triangle's corners at the foot of a point; `twice` is the triangle's normal, twice its area long.
pub fn shares<T: Real>(point: Vector<T>, [a, b, c]: [Vector<T>; 3], twice: &Vector<T>) -> [T; 3] {
    let square = twice.norm_squared();
    let i = (b - point).cross(&(c - point)).dot(twice) / square;
    let j = (c - point).cross(&(a - point)).dot(twice) / square;
    [i, j, T::one() - i - j]
}

/// Shares without negative ones, one in all.
pub fn positive<T: Real>(shares: [T; 3]) -> [T; 3] {
    let cut = shares.map(|r| r.max(T::zero()));
    let sum = cut[0] + cut[1] + cut[2];
    cut.map(|r| r / sum)
}

/// The reaction to a push, shared among a triangle's corners so that nothing is left.
pub fn react<T: Real>(push: Vector<T>, [i, j, k]: [usize; 3], shares: [T; 3], force: &mut [Vector<T>]) {
    let (on_j, on_k) = (push * shares[1], push * shares[2]);
    force[j] -= on_j;
    force[k] -= on_k;
    force[i] -= push - on_j - on_k;
}
