//! What holds an object and what bounds it, by name: what a load cell could stand under.

use super::{Scene, Support};
use std::collections::HashMap;

/// What something holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Holding {
    /// These particles, which stay or move as prescribed.
    Particles(Vec<u32>),
    /// Whatever touches the boundary with this number.
    Boundary(usize),
}

/// Something that holds or bounds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// Its own name, or what it is, numbered where there are several.
    pub name: String,
    /// What it holds.
    pub holding: Holding,
}

impl Scene {
    /// Pins, motions and boundaries, in this order. Particles that are pinned without a table are `pins` together.
    pub fn holders(&self) -> Vec<Holder> {
        let mut listed = vec![false; self.support.len()];
        self.pins.iter().flat_map(|pins| &pins.particles).for_each(|&p| listed[p as usize] = true);
        let of = |support: &dyn Fn(usize) -> bool| -> Vec<u32> {
            (0..self.support.len()).filter(|&p| support(p)).map(|p| p as u32).collect()
        };
        let others = of(&|p| self.support[p] == Support::Pinned && !listed[p]);
        let pins =
            self.pins.iter().map(|pins| (&pins.name, "pins", Holding::Particles(pins.particles.clone())));
        let others = (!others.is_empty()).then_some((&None, "pins", Holding::Particles(others)));
        let motions = self.motions.iter().zip(0..).map(|(motion, number)| {
            let moved = of(&|p| self.support[p] == Support::Moved(number));
            (&motion.name, "motion", Holding::Particles(moved))
        });
        let boundaries = self.forces.contact.iter().flat_map(|contact| &contact.boundaries);
        let boundaries = boundaries
            .enumerate()
            .map(|(number, boundary)| (&boundary.name, boundary.shape.kind(), Holding::Boundary(number)));
        let all: Vec<_> = pins.chain(others).chain(motions).chain(boundaries).collect();
        let mut nameless: HashMap<&str, (u32, u32)> = HashMap::new();
        for (_, kind, _) in all.iter().filter(|(name, ..)| name.is_none()) {
            nameless.entry(kind).or_default().0 += 1;
        }
        let mut holder = |(name, kind, holding): (&Option<String>, &'static str, Holding)| {
            let name = name.clone().unwrap_or_else(|| match nameless.get_mut(kind) {
                Some((several, number)) if *several > 1 => {
                    *number += 1;
                    format!("{kind}-{number}")
                }
                _ => kind.to_owned(),
            });
            Holder { name, holding }
        };
        all.into_iter().map(&mut holder).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_name_is_called_what_it_is() {
        let text = |names: [&str; 2]| {
            format!(
                "step = 0.001\nmass = 1\n[mesh.box]\nsize = [3,3,3]\npitch = 1\n\
                 [materials.m]\nk1 = 1\nc1 = 1\nc2 = 1\n[contact]\nstiffness = 1\n\
                 [[pins]]\non = {{ face = \"x-min\" }}\n{}\n\
                 [[pins]]\non = {{ face = \"z-min\" }}\n\
                 [[boundaries]]\nplane = {{ point = [0,0,-1], normal = [0,0,1] }}\n\
                 [[boundaries]]\nplane = {{ point = [0,0,-2], normal = [0,0,1] }}\n\
                 [[boundaries]]\nball = {{ center = [0,0,3], radius = 1 }}\n{}\n",
                names[0], names[1]
            )
        };
        let names = |text: &str| -> Vec<String> {
            let scene = Scene::parse(text, "names.toml").unwrap();
            scene.holders().into_iter().map(|holder| holder.name).collect()
        };
        assert_eq!(names(&text(["", ""])), ["pins-1", "pins-2", "plane-1", "plane-2", "ball"]);
        let named = text(["name = \"wall\"", "name = \"finger\""]);
        assert_eq!(names(&named), ["wall", "pins", "plane-1", "plane-2", "finger"]);
        let holders = Scene::parse(&named, "names.toml").unwrap().holders();
        // A particle that two tables pin belongs to the first.
        let count = |k: usize| match &holders[k].holding {
            Holding::Particles(list) => list.len(),
            Holding::Boundary(_) => 0,
        };
        assert_eq!((count(0), count(1)), (9, 6));
        let twice = text(["name = \"wall\"", "name = \"wall\""]);
        let error = Scene::parse(&twice, "names.toml").unwrap_err().to_string();
        assert!(error.contains("has this name"), "{error}");
    }
}
