//! The elements of a scene that have laws of their own.

use super::{AnyLaw, ElementLaw, Memory, Stretch, three_element::Material};
use crate::{
    force::real::{Real, Vector},
    mesh::Mesh,
};

/// An element with a law of its own.
#[derive(Clone, Copy, Debug)]
pub struct Element<T> {
    /// The edge.
    pub edge: usize,
    /// Both ends.
    pub ends: [usize; 2],
    rest: T,
    class: usize,
    /// Where the states after the first are.
    more: usize,
}

/// All of them.
#[derive(Debug)]
pub struct Elements<T: Real> {
    classes: Vec<Option<Box<dyn ElementLaw<T>>>>,
    list: Vec<Element<T>>,
    states: usize,
}

impl<T: Real> Elements<T> {
    /// Those of a mesh whose edges have these classes.
    pub fn new<'a>(
        mesh: &Mesh,
        classes: impl Iterator<Item = (&'a Material, Option<&'a AnyLaw>)>,
        edge_class: &[u16],
    ) -> Self {
        let (laws, further): (Vec<_>, Vec<_>) = classes
            .map(|(material, law)| {
                let states = law.map_or(0, |law| law.states().saturating_sub(1));
                (law.map(|law| law.acting(material)), states)
            })
            .unzip();
        let (mut list, mut states) = (Vec::new(), mesh.edges.len());
        for (edge, &class) in edge_class.iter().enumerate() {
            let class = usize::from(class);
            if laws[class].is_some() {
                let ends = mesh.edges[edge].map(|p| p as usize);
                let rest = T::of(mesh.edge_length(edge));
                list.push(Element { edge, ends, rest, class, more: states });
                states += further[class];
            }
        }
        Self { classes: laws, list, states }
    }

    /// How many numbers the states of all elements are: one for each edge of the mesh, and what some have besides.
    pub fn states(&self) -> usize {
        self.states
    }

    /// Those there are.
    pub fn iter(&self) -> impl Iterator<Item = &Element<T>> {
        self.list.iter()
    }

    /// The element of an edge, if it has a law of its own.
    pub fn find(&self, edge: usize) -> Option<&Element<T>> {
        self.list.binary_search_by_key(&edge, |e| e.edge).ok().map(|k| &self.list[k])
    }

    fn law(&self, element: &Element<T>) -> Option<&dyn ElementLaw<T>> {
        self.classes[element.class].as_deref()
    }

    /// Puts states back into their range, where laws say so.
    pub(crate) fn settle(&self, x: &[Vector<T>], states: &mut [T]) {
        for element in &self.list {
            let [start, end] = element.ends;
            if let Some(law) = self.law(element) {
                let length = (x[end] - x[start]).norm();
                states[element.edge] = law.settle(length, element.rest, states[element.edge]);
            }
        }
    }

    /// The force on the end particle (the start particle feels its negative), and the rates of its states.
    pub fn compute(
        &self,
        element: &Element<T>,
        x: &[Vector<T>],
        v: &[Vector<T>],
        states: &[T],
        rates: &mut [T],
    ) -> Vector<T> {
        let [start, end] = element.ends;
        let apart = x[end] - x[start];
        let length = apart.norm();
        let direction = apart / length;
        let rate = direction.dot(&(v[end] - v[start]));
        let mut memory = Memory::new(element.edge, element.more, states, rates);
        let stretch = Stretch { length, rest: element.rest, rate };
        let tension = self.law(element).map_or(T::zero(), |law| law.tension(&stretch, &mut memory));
        direction * -tension
    }

    /// What the springs of an element hold.
    pub(crate) fn stored(&self, element: &Element<T>, x: &[Vector<T>], states: &[T]) -> T {
        let [start, end] = element.ends;
        let length = (x[end] - x[start]).norm();
        let stretch = Stretch { length, rest: element.rest, rate: T::zero() };
        let memory = Memory::new(element.edge, element.more, states, &mut []);
        self.law(element).map_or(T::zero(), |law| law.stored(&stretch, &memory))
    }

    pub(crate) fn add(
        &self,
        x: &[Vector<T>],
        v: &[Vector<T>],
        states: &[T],
        force: &mut [Vector<T>],
        rates: &mut [T],
    ) {
        for element in &self.list {
            let on_end = self.compute(element, x, v, states, rates);
            let [start, end] = element.ends;
            force[start] -= on_end;
            force[end] += on_end;
        }
    }

    /// Operations of a step: length, direction and rate of each element, its law, and two sums.
    pub(crate) fn operations(&self) -> u64 {
        let element = |e: &Element<T>| 29 + self.law(e).map_or(0, |law| law.operations());
        self.list.iter().map(element).sum()
    }
}
