//! What a scene has beyond plain three-element edges. Scenes that have nothing of it run on every engine.

use super::Scene;
use crate::force::{
    contact::{law::Contact, wall::Boundary},
    law::Law,
    link::Link,
    topology::Preserve,
    volume::Pressure,
};
use std::collections::BTreeMap;

/// Laws and forces beyond plain edges; empty in a plain scene.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Added {
    /// Laws of element classes that are not plain three-element ones.
    pub laws: BTreeMap<u16, Law>,
    /// Keeps elements from turning over.
    pub topology: Option<Preserve<f64>>,
    /// Keeps the volume.
    pub volume: Option<Pressure>,
    /// Particles held at places on edges.
    pub links: Vec<Link<f64>>,
    /// How things touch.
    pub contact: Option<Contact<f64>>,
    /// Whether surfaces touch each other.
    pub surfaces: bool,
    /// Rigid boundaries.
    pub boundaries: Vec<Boundary>,
}

impl Scene {
    /// The law of an edge, where it is not the plain three-element one.
    pub fn law_of(&self, edge: usize) -> Option<&Law> {
        self.added.laws.get(&self.edge_material[edge])
    }

    /// What the scene uses that only the engines f64 and f32 can compute; nothing for a plain scene.
    pub fn extras(&self) -> Vec<String> {
        let used = |class: &u16| self.edge_material.contains(class);
        let name = |class: u16| &self.materials[usize::from(class)].name;
        let laws = self.added.laws.iter().filter(|(class, _)| used(class));
        let laws = laws.map(|(&class, law)| format!("the law {} of material `{}`", law.name(), name(class)));
        let Added { topology, volume, links, contact, .. } = &self.added;
        let forces = [
            ("topology forces", topology.is_some()),
            ("volume effect", volume.is_some()),
            ("links", !links.is_empty()),
            ("contact", contact.is_some()),
        ];
        laws.chain(forces.into_iter().filter(|f| f.1).map(|f| f.0.to_owned())).collect()
    }

    /// The contact of a hand: the scene's own, or where it has none a penalty that its step and lightest particle
    /// bear, ten times as stiff as its stiffest edge if they do.
    pub fn hand_contact(&self) -> Contact<f64> {
        let own = |p: &usize| self.is_free(*p);
        let lightest = (0..self.mass.len()).filter(own).map(|p| self.mass[p]).fold(f64::INFINITY, f64::min);
        let stiffest = (0..self.mesh.edges.len())
            .map(|k| self.material_of(k).k())
            .filter(|k| k.is_finite())
            .fold(0.0, f64::max);
        let bearable = 0.05 * lightest / (self.step * self.step);
        let stiffness = if stiffest > 0.0 { bearable.min(10.0 * stiffest) } else { bearable };
        let damping = 0.5 * (stiffness * lightest).sqrt();
        let penalty =
            Contact { stiffness, damping, integral: 0.0, region: 0.0, friction: 0.3, corner: false };
        self.added.contact.unwrap_or(penalty)
    }

    /// Particles that boundaries touch: those of the surface, or all of a mesh without one.
    pub fn touchable(&self) -> Vec<usize> {
        if self.mesh.tetrahedra.is_empty() || self.mesh.triangles.is_empty() {
            return (0..self.mesh.particles.len()).collect();
        }
        let mut on_surface = vec![false; self.mesh.particles.len()];
        self.mesh.triangles.iter().flatten().for_each(|&p| on_surface[p as usize] = true);
        (0..on_surface.len()).filter(|&p| on_surface[p]).collect()
    }
}
