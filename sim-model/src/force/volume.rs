//! Volume effect: a pressure p = -k (V - V0) - c V' that resists a change of volume.
//!
//! One pressure for a whole object, on its surface, or one for every element. In the plane the same with areas and
//! edges. Forces are p times the area vectors of the sides, shared equally among their corners: over a closed
//! surface they and their moments add up to zero.

use super::{
    Acting, Force, Object, Rates, need_elements,
    real::{Real, Vector, vector},
};
use crate::{
    mesh::{
        Mesh, Vec3,
        orientation::{oriented_tetrahedra, oriented_triangles, plane},
    },
    reader::{SceneError, Table, Value},
};
use std::collections::HashSet;

/// What has a volume of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Each connected object.
    Object,
    /// Each tetrahedron or, in the plane, triangle.
    Element,
}

/// Coefficients of the pressure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pressure {
    /// k, Pa/m^3 (in the plane N/m per m^2).
    pub stiffness: f64,
    /// c, the same times s.
    pub damping: f64,
    /// What has a pressure.
    pub per: Scope,
}

impl Force for Pressure {
    const NAME: &'static str = "volume effect";
    const KEYS: &'static [&'static str] = &["volume"];

    fn read(root: &Table<'_>, object: &Object<'_>) -> Result<Option<Self>, SceneError> {
        let Some(value) = root.get("volume") else { return Ok(None) };
        need_elements(&value, object.mesh)?;
        let t = value.table(&["stiffness", "damping", "per"])?;
        let per = match t.optional("per", Value::string)? {
            None | Some("object") => Scope::Object,
            Some("element") => Scope::Element,
            Some(other) => {
                return Err(t.need("per")?.error(format!("unknown `per = \"{other}\"`; object or element")));
            }
        };
        let stiffness = t.need("stiffness")?.positive()?;
        Ok(Some(Self { stiffness, damping: t.zero_or_more("damping")?, per }))
    }

    fn stiffest(&self, object: &Object<'_>) -> Rates {
        let cells = Volume::<f64>::new(object.mesh, self);
        let square = cells.steepest(&object.mesh.particles, |p| object.mobility(p));
        let shared = if self.per == Scope::Element { most_shared(object.mesh) } else { 1.0 };
        Rates {
            stiffness: self.stiffness * square * shared,
            damping: self.damping * square * shared,
            slowest: self.damping / self.stiffness,
        }
    }

    fn acting<T: Real>(&self, object: &Object<'_>, _origin: Vec3) -> Box<dyn Acting<T>> {
        Box::new(Volume::new(object.mesh, self))
    }
}

/// How many elements share a particle, at most.
fn most_shared(mesh: &Mesh) -> f64 {
    let mut count = vec![0.0; mesh.particles.len()];
    let mut one_more = |p: &u32| count[*p as usize] += 1.0;
    match mesh.tetrahedra.is_empty() {
        true => mesh.triangles.iter().flatten().for_each(&mut one_more),
        false => mesh.tetrahedra.iter().flatten().for_each(&mut one_more),
    }
    count.into_iter().fold(1.0, f64::max)
}

/// Something closed.
#[derive(Clone, Debug)]
struct Cell<T> {
    /// Outward triangles.
    faces: Vec<[usize; 3]>,
    /// In the plane, counterclockwise edges.
    edges: Vec<[usize; 2]>,
    natural: T,
}

/// The forces of all closed cells.
#[derive(Clone, Debug)]
pub struct Volume<T> {
    stiffness: T,
    damping: T,
    normal: Vector<T>,
    cells: Vec<Cell<T>>,
}

impl<T: Real> Volume<T> {
    /// Those of a mesh of tetrahedra or of a flat one of triangles.
    pub fn new(mesh: &Mesh, pressure: &Pressure) -> Self {
        let normal = plane(mesh);
        let mut cells: Vec<Cell<T>> = match (normal, pressure.per) {
            (Some(n), Scope::Element) => {
                oriented_triangles(mesh, &n).iter().map(|t| flat_cell(&[*t])).collect()
            }
            (Some(n), Scope::Object) => by_object(mesh, oriented_triangles(mesh, &n), |t| t[0])
                .iter()
                .map(|all| flat_cell(all))
                .collect(),
            (None, Scope::Element) => oriented_tetrahedra(mesh)
                .iter()
                .map(|&[a, b, c, d]| solid_cell(vec![[a, c, b], [b, c, d], [a, d, c], [a, b, d]]))
                .collect(),
            (None, Scope::Object) => {
                let faces = mesh.triangles.iter().map(|t| t.map(|p| p as usize)).collect();
                by_object(mesh, faces, |t| t[0]).into_iter().map(solid_cell).collect()
            }
        };
        let natural: Vec<Vec3> = mesh.particles.clone();
        let flat = normal.unwrap_or_default();
        for cell in &mut cells {
            let exact = Cell { faces: cell.faces.clone(), edges: cell.edges.clone(), natural: 0.0 };
            cell.natural = T::of(exact.size(&flat, &natural, &natural).0);
        }
        Self {
            stiffness: T::of(pressure.stiffness),
            damping: T::of(pressure.damping),
            normal: vector(&flat),
            cells,
        }
    }

    /// The largest square of a cell's gradient, each particle's part divided by its mass: what makes a stiffness
    /// of volumes one of lengths.
    pub fn steepest(&self, x: &[Vector<T>], mobility: impl Fn(usize) -> T) -> T {
        let mut force = vec![Vector::zeros(); x.len()];
        let mut most = T::zero();
        for cell in &self.cells {
            cell.push(T::one(), &self.normal, x, &mut force);
            let mut sum = T::zero();
            for &p in cell.faces.iter().flatten().chain(cell.edges.iter().flatten()) {
                sum += force[p].norm_squared() * mobility(p);
                force[p] = Vector::zeros();
            }
            most = most.max(sum);
        }
        most
    }

    /// The volumes (areas) of all cells.
    pub fn sizes(&self, x: &[Vector<T>]) -> Vec<T> {
        self.cells.iter().map(|cell| cell.size(&self.normal, x, x).0).collect()
    }
}

impl<T: Real> Acting<T> for Volume<T> {
    fn add(&self, x: &[Vector<T>], v: &[Vector<T>], force: &mut [Vector<T>]) {
        for cell in &self.cells {
            let (size, rate) = cell.size(&self.normal, x, v);
            let pressure = -self.stiffness * (size - cell.natural) - self.damping * rate;
            cell.push(pressure, &self.normal, x, force);
        }
    }

    fn copy(&self) -> Box<dyn Acting<T>> {
        Box::new(self.clone())
    }

    fn operations(&self) -> u64 {
        let cell = |c: &Cell<T>| 55 * c.faces.len() as u64 + 33 * c.edges.len() as u64 + 4;
        self.cells.iter().map(cell).sum()
    }
}

impl<T: Real> Cell<T> {
    /// Volume (area) and its rate.
    fn size(&self, normal: &Vector<T>, x: &[Vector<T>], v: &[Vector<T>]) -> (T, T) {
        let (mut size, mut rate) = (T::zero(), T::zero());
        if let Some(&[first, ..]) = self.faces.first() {
            // Relative to one of its corners: f32 would lose a small volume far from the middle.
            let origin = x[first];
            for &[i, j, k] in &self.faces {
                let twice = (x[j] - x[i]).cross(&(x[k] - x[i]));
                size += (x[i] - origin).dot(&twice);
                rate += (v[i] + v[j] + v[k]).dot(&twice);
            }
            let sixth = T::of(1.0 / 6.0);
            return (size * sixth, rate * sixth);
        }
        let origin = self.edges.first().map_or(Vector::zeros(), |e| x[e[0]]);
        for &[i, j] in &self.edges {
            let out = (x[j] - x[i]).cross(normal);
            size += (x[i] - origin).dot(&out);
            rate += (v[i] + v[j]).dot(&out);
        }
        let half = T::of(0.5);
        (size * half, rate * half)
    }

    fn push(&self, pressure: T, normal: &Vector<T>, x: &[Vector<T>], force: &mut [Vector<T>]) {
        for face in &self.faces {
            let [i, j, k] = *face;
            let share = (x[j] - x[i]).cross(&(x[k] - x[i])) * (pressure * T::of(1.0 / 6.0));
            face.iter().for_each(|&p| force[p] += share);
        }
        for edge in &self.edges {
            let [i, j] = *edge;
            let share = (x[j] - x[i]).cross(normal) * (pressure * T::of(0.5));
            edge.iter().for_each(|&p| force[p] += share);
        }
    }
}

fn solid_cell<T: Real>(faces: Vec<[usize; 3]>) -> Cell<T> {
    Cell { faces, edges: Vec::new(), natural: T::zero() }
}

/// The edges around some triangles: those whose other side is not among them.
fn flat_cell<T: Real>(triangles: &[[usize; 3]]) -> Cell<T> {
    let all: Vec<[usize; 2]> = triangles.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]).collect();
    let set: HashSet<[usize; 2]> = all.iter().copied().collect();
    let edges = all.into_iter().filter(|&[i, j]| !set.contains(&[j, i])).collect();
    Cell { faces: Vec::new(), edges, natural: T::zero() }
}

/// Items of each connected object, in order.
fn by_object<I: Copy>(mesh: &Mesh, items: Vec<I>, particle: impl Fn(&I) -> usize) -> Vec<Vec<I>> {
    let object = objects(mesh);
    let mut lists = vec![Vec::new(); mesh.particles.len()];
    for item in items {
        lists[object[particle(&item)]].push(item);
    }
    lists.retain(|list| !list.is_empty());
    lists
}

/// For each particle the lowest one it is connected with.
pub fn objects(mesh: &Mesh) -> Vec<usize> {
    let mut up: Vec<usize> = (0..mesh.particles.len()).collect();
    fn root(up: &mut [usize], mut p: usize) -> usize {
        while up[p] != p {
            up[p] = up[up[p]];
            p = up[p];
        }
        p
    }
    for &[a, b] in &mesh.edges {
        let (a, b) = (root(&mut up, a as usize), root(&mut up, b as usize));
        up[a.max(b)] = a.min(b);
    }
    (0..up.len()).map(|p| root(&mut up, p)).collect()
}
