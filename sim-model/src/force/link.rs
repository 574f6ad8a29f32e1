//! Coarse-fine connection: a particle that belongs on an edge or face of a coarser part is held at its place there.
//!
//! Voigt elements of natural length zero along every direction, with the same coefficients: together f = -K q - C q',
//! q from the place to the particle. The reaction goes to the corners by the place's fixed shares. Forces add up to
//! zero; so do the moments of the springs.

use super::{
    Acting, Force, Object, Rates,
    real::{Real, Vector},
    topology::react,
};
use crate::{
    mesh::{Mesh, Vec3},
    reader::{SceneError, Table},
};

/// Where a particle belongs: on a face, an edge or at another particle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place<T> {
    /// The particle.
    pub particle: usize,
    /// The face's corners; an edge's third corner has no share and is its first, and so are a particle's second and third.
    pub corners: [usize; 3],
    /// What each corner has of the place, one in all.
    pub shares: [T; 3],
}

impl<T: Real> Place<T> {
    /// From the place to the particle; of velocities, how fast that changes.
    pub fn gap(&self, of: &[Vector<T>]) -> Vector<T> {
        let [i, j, k] = self.corners;
        let [_, to_j, to_k] = self.shares;
        of[self.particle] - of[i] - (of[j] - of[i]) * to_j - (of[k] - of[i]) * to_k
    }

    /// Each corner that has a share, and that.
    pub fn held_by(&self) -> impl Iterator<Item = (usize, T)> {
        self.corners.into_iter().zip(self.shares).filter(|(_, share)| *share != T::zero())
    }
}

impl Place<f64> {
    /// The same in an engine's numbers.
    pub fn narrow<T: Real>(&self) -> Place<T> {
        Place { particle: self.particle, corners: self.corners, shares: self.shares.map(T::of) }
    }
}

/// A connection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link<T> {
    /// The particle, and where it is held.
    pub place: Place<T>,
    /// K, N/m.
    pub stiffness: T,
    /// C, N s/m.
    pub damping: T,
}

impl Link<f64> {
    /// A connection where the particle is now; none if that is not between the edge's ends.
    pub fn new(mesh: &Mesh, particle: u32, edge: [u32; 2], stiffness: f64, damping: f64) -> Option<Self> {
        let ([i, j], particle) = (edge.map(|p| p as usize), particle as usize);
        let along = mesh.particles[j] - mesh.particles[i];
        let ratio = (mesh.particles[particle] - mesh.particles[i]).dot(&along) / along.norm_squared();
        let place = Place { particle, corners: [i, j, i], shares: [1.0 - ratio, ratio, 0.0] };
        (0.0..=1.0).contains(&ratio).then_some(Self { place, stiffness, damping })
    }

    /// The same in an engine's numbers.
    pub fn narrow<T: Real>(&self) -> Link<T> {
        let [stiffness, damping] = [self.stiffness, self.damping].map(T::of);
        Link { place: self.place.narrow(), stiffness, damping }
    }
}

/// All connections of a scene that its file lists.
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
        stiffest(&self.0, object)
    }

    fn acting<T: Real>(&self, _object: &Object<'_>, _origin: Vec3) -> Box<dyn Acting<T>> {
        Box::new(self.0.iter().map(Link::narrow).collect::<Vec<Link<T>>>())
    }
}

/// The stiffest that connections are to a particle together: what Gershgorin's circles leave of the rates of all. A
/// row of a connection's matrix, in which the particle has 1 and its corners one in all, adds up to twice its share.
pub(super) fn stiffest(links: &[Link<f64>], object: &Object<'_>) -> Rates {
    let mut sums = vec![[0.0, 0.0]; object.mass.len()];
    let mut slowest = f64::INFINITY;
    for Link { place, stiffness, damping } in links {
        for (p, share) in place.held_by().chain([(place.particle, 1.0)]) {
            sums[p][0] += 2.0 * stiffness * share * object.mobility(p);
            sums[p][1] += 2.0 * damping * share * object.mobility(p);
        }
        slowest = slowest.min(damping / stiffness);
    }
    let most = |k: usize| sums.iter().map(|sum| sum[k]).fold(0.0, f64::max);
    Rates { stiffness: most(0), damping: most(1), slowest }
}

impl<T: Real> Acting<T> for Vec<Link<T>> {
    fn add(&self, x: &[Vector<T>], v: &[Vector<T>], force: &mut [Vector<T>]) {
        self.iter().for_each(|link| link.add(x, v, force));
    }

    fn copy(&self) -> Box<dyn Acting<T>> {
        Box::new(self.clone())
    }

    fn operations(&self) -> u64 {
        66 * self.len() as u64
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
    /// Adds its forces: 66 operations.
    pub fn add(&self, x: &[Vector<T>], v: &[Vector<T>], force: &mut [Vector<T>]) {
        let pull = self.place.gap(x) * -self.stiffness - self.place.gap(v) * self.damping;
        force[self.place.particle] += pull;
        react(pull, self.place.corners, self.place.shares, force);
    }
}
