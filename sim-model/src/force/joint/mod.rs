//! Coarse-fine joints: the program finds particles that hang on edges and faces of coarser parts, and links them there.
//!
//! - [`find`]: which particles hang where;
//! - [`link`](super::link): the force of one.

pub mod find;

use super::{
    Acting, Force, Object, Rates,
    link::{Link, Place, stiffest},
    real::Real,
};
use crate::{
    mesh::{Mesh, Vec3},
    reader::{SceneError, Table},
};

/// All joints of a scene.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Joints(pub Vec<Link<f64>>);

impl Joints {
    /// How many there are on particles, on edges and on faces.
    pub fn kinds(&self) -> [usize; 3] {
        let mut kinds = [0; 3];
        self.0.iter().for_each(|link| kinds[link.place.held_by().count() - 1] += 1);
        kinds
    }
}

impl Force for Joints {
    const NAME: &'static str = "joints";
    const KEYS: &'static [&'static str] = &["joints"];

    fn read(root: &Table<'_>, object: &Object<'_>) -> Result<Option<Self>, SceneError> {
        let mut links = Vec::new();
        for t in root.tables("joints", &["between", "tolerance", "stiffness", "damping"])? {
            let (stiffness, damping) = (t.need("stiffness")?.positive()?, t.zero_or_more("damping")?);
            let places = places(&t, object.mesh)?;
            links.extend(places.into_iter().map(|place| Link { place, stiffness, damping }));
        }
        Ok((!links.is_empty()).then_some(Self(links)))
    }

    fn stiffest(&self, object: &Object<'_>) -> Rates {
        stiffest(&self.0, object)
    }

    fn acting<T: Real>(&self, _object: &Object<'_>, _origin: Vec3) -> Box<dyn Acting<T>> {
        Box::new(self.0.iter().map(Link::narrow).collect::<Vec<Link<T>>>())
    }
}

/// The hanging particles that a table asks for by `between` and `tolerance`; at least one.
pub fn places(t: &Table<'_>, mesh: &Mesh) -> Result<Vec<Place<f64>>, SceneError> {
    let mut between = Vec::new();
    if let Some(list) = t.get("between") {
        for name in list.array()? {
            let group = mesh.group(name.string()?).map_err(|why| name.error(why))?;
            between.push(&group.particles[..]);
        }
        if !(2..=find::MOST_PARTS).contains(&between.len()) {
            let most = find::MOST_PARTS;
            return Err(list.error(format!("joints are between two groups or more, up to {most}")));
        }
    }
    let tolerance = t.get("tolerance").map(|_| t.zero_or_more("tolerance")).transpose()?;
    find::hanging(mesh, &between, tolerance).map_err(|why| match t.get("tolerance") {
        Some(value) => value.error(why),
        None => t.error(why),
    })
}
