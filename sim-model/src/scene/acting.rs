//! A scene's forces, ready for an engine.

use super::Scene;
use crate::{
    force::{
        ActingForces, Material, Object,
        contact::law::Contact,
        law::{AnyLaw, Elements},
        real::Real,
    },
    mesh::Vec3,
};

impl Scene {
    /// What forces act on.
    pub fn object(&self) -> Object<'_> {
        let free = (0..self.mass.len()).map(|p| self.becomes_free(p)).collect();
        let (links, joints) = (self.forces.links.iter(), self.forces.joints.iter());
        let held = links.map(|l| &l.0).chain(joints.map(|j| &j.0)).flatten();
        let joined = held.flat_map(|link| link.place.held_by().map(|(p, _)| [link.place.particle, p]));
        Object { mesh: &self.mesh, mass: &self.mass, free, joined: joined.collect() }
    }

    /// The material of an edge.
    pub fn material_of(&self, edge: usize) -> Material {
        self.materials[usize::from(self.edge_material[edge])].material
    }

    /// The law of an edge, where it is not the plain three-element one.
    pub fn law_of(&self, edge: usize) -> Option<&AnyLaw> {
        self.materials[usize::from(self.edge_material[edge])].law.as_ref()
    }

    /// What the scene uses that only the engines f64 and f32 can compute; nothing for a plain scene.
    pub fn float_only(&self) -> Vec<String> {
        let used = |class: &usize| self.edge_material.iter().any(|m| usize::from(*m) == *class);
        let classes = (0..self.materials.len()).filter(used).map(|class| &self.materials[class]);
        let laws = classes.filter_map(|m| Some((m.law.as_ref()?.name(), &m.name)));
        let laws = laws.map(|(law, name)| format!("law {law} of material `{name}`"));
        laws.chain(self.forces.names().into_iter().map(str::to_owned)).collect()
    }

    /// All forces but those of plain elements, ready to be computed; positions are relative to `origin`.
    pub fn acting<T: Real>(&self, origin: Vec3) -> ActingForces<T> {
        let classes = self.materials.iter().map(|m| (&m.material, m.law.as_ref()));
        let elements = Elements::new(&self.mesh, classes, &self.edge_material);
        ActingForces::new(&self.forces, elements, &self.object(), origin, self.step)
    }

    /// The contact of a hand: the scene's own, or where it has none a penalty that its step and lightest particle
    /// bear, ten times as stiff as its stiffest edge if they do.
    pub fn hand_contact(&self) -> Contact<f64> {
        if let Some(contact) = &self.forces.contact {
            return contact.law;
        }
        let lightest = self.object().lightest();
        let stiffest = (0..self.mesh.edges.len())
            .map(|k| self.material_of(k).k())
            .filter(|k| k.is_finite())
            .fold(0.0, f64::max);
        let bearable = 0.05 * lightest / (self.step * self.step);
        let stiffness = if stiffest > 0.0 { bearable.min(10.0 * stiffest) } else { bearable };
        let damping = 0.5 * (stiffness * lightest).sqrt();
        Contact { stiffness, damping, integral: 0.0, region: 0.0, friction: 0.3, slip: 0.0, corner: false }
    }
}
