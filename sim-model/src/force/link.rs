//! Coarse-fine connection: a particle that belongs on an edge of a coarser part is held at its place there.
//!
//! Two Voigt elements of natural length zero, along and across the edge, with the same coefficients: together
//! f = -K q - C q', q from the place on the edge to the particle. The reaction goes to the edge's ends by the place's
//! fixed ratio. Forces add up to zero; so do the moments of the springs.

use super::{
    Acting, Force, Object, Rates,
    real::{Real, Vector},
};
use crate::{
    mesh::{Mesh, Vec3},
    reader::{SceneError, Table},
};

/// A connection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link<T> {
    /// The particle.
    pub particle: usize,
    /// The edge's ends.
    pub edge: [usize; 2],
    /// K, N/m.
    pub stiffness: T,
    /// C, N s/m.
    pub damping: T,
    /// Where on the edge: 0 at its start, 1 at its end.
    pub ratio: T,
}

impl Link<f64> {
    /// A connection where the particle is now; none if that is not between the edge's ends.
    pub fn new(mesh: &Mesh, particle: u32, edge: [u32; 2], stiffness: f64, damping: f64) -> Option<Self> {
        let [i, j] = edge.map(|p| p as usize);
        let along = mesh.particles[j] - mesh.particles[i];
        let ratio =
            (mesh.particles[particle as usize] - mesh.particles[i]).dot(&along) / along.norm_squared();
        let inside = (0.0..=1.0).contains(&ratio);
        inside.then_some(Self { particle: particle as usize, edge: [i, j], stiffness, damping, ratio })
    }

    /// The same in an engine's numbers.
    pub fn narrow<T: Real>(&self) -> Link<T> {
        let Self { particle, edge, stiffness, damping, ratio } = *self;
        let [stiffness, damping, ratio] = [stiffness, damping, ratio].map(T::of);
        Link { particle, edge, stiffness, damping, ratio }
    }
}

/// All connections of a scene.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Links(pub Vec<Link<f64>>);

impl Force for Links {
    const NAME: &'static str = "links";
    const KEYS: &'static [&'static str] = &["links"];

    fn read(root: &Table<'_>, object: &Object<'_>) -> Result<Option<Self>, SceneError> {
        let tables = root.tables("links", &["particle", "edge", "stiffness", "damping"])?;
        let links: Vec<_> = tables.iter().map(|t| read(t, object.mesh)).collect::<Result<_, _>>()?;
        Ok((!links.is_empty()).then_some(Self(links)))
    }

    fn stiffest(&self, object: &Object<'_>) -> Rates {
        let each = self.0.iter().map(|l| Rates::of(l.stiffness, l.damping, 2.0, object));
        each.fold(Rates::of(0.0, 0.0, 2.0, object), Rates::worst)
    }

    fn acting<T: Real>(&self, _object: &Object<'_>, _origin: Vec3) -> Box<dyn Acting<T>> {
        Box::new(self.0.iter().map(Link::narrow).collect::<Vec<Link<T>>>())
    }
}

impl<T: Real> Acting<T> for Vec<Link<T>> {
    fn add(&self, x: &[Vector<T>], v: &[Vector<T>], force: &mut [Vector<T>]) {
        self.iter().for_each(|link| link.add(x, v, force));
    }

    fn copy(&self) -> Box<dyn Acting<T>> {
        Box::new(self.clone())
    }

    fn operations(&self) -> u64 {
        45 * self.len() as u64
    }
}

fn read(t: &Table<'_>, mesh: &Mesh) -> Result<Link<f64>, SceneError> {
    let (particle, edge) = (t.need("particle")?, t.need("edge")?);
    let (p, ends) = (particle.index()?, edge.indices::<2>()?);
    let count = mesh.particles.len();
    if [p, ends[0], ends[1]].iter().any(|&q| q as usize >= count) {
        return Err(
            particle.error(format!("a link of particles {p} and {ends:?}: the mesh has {count} particles"))
        );
    }
    let stiffness = t.need("stiffness")?.positive()?;
    let link = Link::new(mesh, p, ends, stiffness, t.zero_or_more("damping")?);
    link.ok_or_else(|| edge.error(format!("particle {p} does not lie beside the edge {ends:?}")))
}

impl<T: Real> Link<T> {
    /// Adds its forces: 45 operations.
    pub fn add(&self, x: &[Vector<T>], v: &[Vector<T>], force: &mut [Vector<T>]) {
        let [i, j] = self.edge;
        let away = |of: &[Vector<T>]| of[self.particle] - of[i] - (of[j] - of[i]) * self.ratio;
        let pull = away(x) * -self.stiffness - away(v) * self.damping;
        let on_j = pull * self.ratio;
        force[self.particle] += pull;
        force[j] -= on_j;
        force[i] -= pull - on_j;
    }
}
