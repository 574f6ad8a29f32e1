//! What a scene has beyond plain three-element edges. Scenes that have nothing of it run on every engine.

use super::Scene;
use crate::law::Law;
use std::collections::BTreeMap;

/// Laws and forces beyond plain edges; empty in a plain scene.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Added {
    /// Laws of element classes that are not plain three-element ones.
    pub laws: BTreeMap<u16, Law>,
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
        laws.map(|(&class, law)| format!("the law {} of material `{}`", law.name(), name(class))).collect()
    }
}
