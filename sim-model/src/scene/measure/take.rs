//! Takes the measures of a scene from moments of a run.

use super::{
    Extreme, Measure, Outcome, Quantity, Target, Value, Verdict, When,
    judge::Reference,
    shape::{axis_ratio, middle},
    subject::Touching,
};
use crate::{
    mesh::{
        Vec3,
        orientation::{area, inverted, volume},
    },
    scene::{Scene, deformation::Deformation, sense::Sensed},
};
use std::collections::{BTreeMap, BTreeSet};

/// Moments of a window.
const MOMENTS: u64 = 100;

/// A moment of a run, on whatever engine.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    /// Steps taken.
    pub step: u64,
    /// Where the particles are, in metres.
    pub positions: &'a [Vec3],
    /// Their velocities in m/s.
    pub velocities: &'a [Vec3],
    /// Forces, where they were asked for.
    pub sensed: Option<&'a Sensed>,
    /// Extensions of elements in metres, where they were asked for.
    pub extensions: Option<&'a [f64]>,
}

/// What has to be asked of an engine besides its motion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Forces.
    pub forces: bool,
    /// Extensions of elements.
    pub extensions: bool,
}

/// The measures of a run.
#[derive(Clone, Debug)]
pub struct Measuring<'a> {
    scene: &'a Scene,
    /// For each measure the steps at which it is taken.
    steps: Vec<BTreeSet<u64>>,
    /// What was found at them.
    found: Vec<BTreeMap<u64, Value>>,
    /// Shapes under load, by step.
    loaded: BTreeMap<u64, Option<Vec<Vec3>>>,
}

impl<'a> Measuring<'a> {
    /// Those of a scene, nothing measured yet.
    pub fn new(scene: &'a Scene) -> Self {
        let steps = |measure: &Measure| -> BTreeSet<u64> {
            let at = |time: f64| scene.steps_for(time);
            match &measure.when {
                When::End => [at(scene.duration)].into(),
                When::At(times) => times.iter().map(|&t| at(t)).collect(),
                When::Over { from, to, .. } => {
                    let (from, to) = (at(*from), at(*to));
                    (0..=MOMENTS).map(|k| from + (to - from) * k / MOMENTS).collect()
                }
            }
        };
        let loaded = scene.measures.iter().filter_map(|measure| match &measure.quantity {
            Quantity::Class { loaded, .. } => Some((scene.steps_for(*loaded), None)),
            _ => None,
        });
        Self {
            scene,
            steps: scene.measures.iter().map(steps).collect(),
            found: vec![BTreeMap::new(); scene.measures.len()],
            loaded: loaded.collect(),
        }
    }

    /// The scene.
    pub fn scene(&self) -> &'a Scene {
        self.scene
    }

    /// The next step after this one, or this one itself, at which a moment is wanted.
    pub fn due(&self, from: u64) -> Option<u64> {
        let next = |steps: &BTreeSet<u64>| steps.range(from..).next().copied();
        let loaded = self.loaded.range(from..).next().map(|(step, _)| *step);
        self.steps.iter().filter_map(next).chain(loaded).min()
    }

    /// What is needed of the moment at a step; of any moment at all for a series.
    pub fn needs(&self, step: Option<u64>) -> Needs {
        let wanted = |steps: &BTreeSet<u64>| step.is_none_or(|step| steps.contains(&step));
        let mut needs = Needs::default();
        for (measure, _) in self.scene.measures.iter().zip(&self.steps).filter(|(_, steps)| wanted(steps)) {
            needs.forces |= measure.quantity.needs_forces();
            needs.extensions |= measure.quantity.needs_extensions();
        }
        needs
    }

    /// Takes what is due at a moment.
    pub fn take(&mut self, moment: &Moment<'_>) {
        if let Some(shape) = self.loaded.get_mut(&moment.step) {
            *shape = Some(moment.positions.to_vec());
        }
        for (k, measure) in self.scene.measures.iter().enumerate() {
            if self.steps[k].contains(&moment.step)
                && let Some(value) = self.value(measure, moment)
            {
                self.found[k].insert(moment.step, value);
            }
        }
    }

    /// What a measure finds at a moment, whenever it is due; nothing if what it needs was not asked for.
    pub fn value(&self, measure: &Measure, moment: &Moment<'_>) -> Option<Value> {
        let value = self.look(&measure.quantity, measure.axis.as_ref(), moment)?;
        Some(match (value, &measure.axis) {
            (Value::Vector(v), Some(axis)) => Value::Number(axis.dot(&Vec3::from(v))),
            (value, _) => value,
        })
    }

    fn look(&self, quantity: &Quantity, axis: Option<&Vec3>, moment: &Moment<'_>) -> Option<Value> {
        let Moment { positions: x, velocities: v, .. } = moment;
        let (mesh, mass) = (&self.scene.mesh, &self.scene.mass);
        let at = |list: &[u32], of: &[Vec3]| middle(list.iter().map(|&p| of[p as usize]));
        let among = |list: &[u32]| {
            let mut inside = vec![false; x.len()];
            list.iter().for_each(|&p| inside[p as usize] = true);
            move |corners: &[usize]| corners.iter().all(|&p| inside[p])
        };
        let vector = |v: Vec3| Some(Value::Vector(v.into()));
        let number = |n: f64| Some(Value::Number(n));
        match quantity {
            Quantity::Position(list) => vector(at(list, x)),
            Quantity::Displacement(list) => vector(at(list, x) - at(list, &mesh.particles)),
            Quantity::Velocity(list) => vector(at(list, v)),
            Quantity::Distance { from, to } => {
                let from = at(from, x);
                let way = match to {
                    Target::Middle(list) => at(list, x) - from,
                    Target::Line(ends) => {
                        let [a, b] = ends.map(|p| x[p as usize]);
                        let share = ((from - a).dot(&(b - a)) / (b - a).norm_squared()).clamp(0.0, 1.0);
                        a + (b - a) * share - from
                    }
                };
                number(axis.map_or_else(|| way.norm(), |axis| way.dot(axis)))
            }
            Quantity::Extent(list) => {
                let points = || list.iter().map(|&p| x[p as usize]);
                match axis {
                    // Along any direction, not the component of a box's diagonal.
                    Some(axis) => {
                        let along = points().map(|p| p.dot(axis));
                        let (low, high) =
                            along.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), c| (l.min(c), h.max(c)));
                        number(high - low)
                    }
                    None => {
                        let first = x[list[0] as usize];
                        let (low, high) = points().fold((first, first), |(l, h), p| (l.inf(&p), h.sup(&p)));
                        vector(high - low)
                    }
                }
            }
            Quantity::AxisRatio(list) => {
                let points: Vec<Vec3> = list.iter().map(|&p| x[p as usize]).collect();
                number(axis_ratio(&points, &axis.copied().unwrap_or_else(Vec3::z)))
            }
            Quantity::Force(holder) => {
                let reactions = self.scene.reactions(moment.sensed?, moment.step);
                vector(reactions.get(*holder)?.force)
            }
            Quantity::ContactForce(touching) => vector(contacts(touching, moment)?.map(|(f, _)| f).sum()),
            Quantity::ContactPoint(touching) => {
                let (sum, weight) = contacts(touching, moment)?
                    .fold((Vec3::zeros(), 0.0), |(sum, w), (f, c)| (sum + c.place * f.norm(), w + f.norm()));
                (weight > 0.0).then(|| Value::Vector((sum / weight).into()))
            }
            Quantity::ContactDepth(touching) => {
                number(contacts(touching, moment)?.map(|(_, c)| c.depth).fold(0.0, f64::max))
            }
            Quantity::Volume(list) => number(volume(mesh, x, among(list))),
            Quantity::Area(list) => number(area(mesh, x, among(list))),
            Quantity::Momentum(list) => vector(list.iter().map(|&p| v[p as usize] * mass[p as usize]).sum()),
            Quantity::AngularMomentum(list) => {
                let of = |&p: &u32| x[p as usize].cross(&v[p as usize]) * mass[p as usize];
                vector(list.iter().map(of).sum())
            }
            Quantity::Energy(list) => number(self.energy(list, moment)?),
            Quantity::Class { of, loaded } => {
                let loaded = self.loaded.get(&self.scene.steps_for(*loaded))?.as_ref()?;
                let shape = |of_all: &[Vec3]| of.iter().map(|&p| of_all[p as usize]).collect::<Vec<_>>();
                let (initial, loaded, now) = (shape(&mesh.particles), shape(loaded), shape(x));
                Some(Value::Class(Deformation::of(&initial, &loaded, &now).kind))
            }
            Quantity::Inverted => number(inverted(mesh, x) as f64),
            Quantity::Crack(places) => {
                // Not a number anywhere is not a number.
                let widths = || places.iter().map(|place| place.gap(x).norm());
                number(if widths().any(f64::is_nan) { f64::NAN } else { widths().fold(0.0, f64::max) })
            }
        }
    }

    /// Of motion, in gravity and in the springs of elements between those particles.
    fn energy(&self, list: &[u32], moment: &Moment<'_>) -> Option<f64> {
        let (scene, sensed, u) = (self.scene, moment.sensed?, moment.extensions?);
        let mut inside = vec![false; moment.positions.len()];
        list.iter().for_each(|&p| inside[p as usize] = true);
        let of_particle = |&p: &u32| {
            let (x, v) = (moment.positions[p as usize], moment.velocities[p as usize]);
            scene.mass[p as usize] * (0.5 * v.norm_squared() - scene.gravity.dot(&x))
        };
        let mut sum: f64 = list.iter().map(of_particle).sum();
        let between = |edge: usize| scene.mesh.edges[edge].iter().all(|&p| inside[p as usize]);
        for (edge, &u) in u.iter().enumerate().filter(|(edge, _)| between(*edge)) {
            if scene.law_of(edge).is_none() {
                sum += 0.5 * scene.material_of(edge).k1 * u * u;
            }
        }
        sum += sensed.stored.iter().filter(|(edge, _)| between(*edge)).map(|(_, joules)| joules).sum::<f64>();
        Some(sum)
    }

    /// What was found of a measure last.
    pub fn last(&self, name: &str) -> Option<Value> {
        let k = self.scene.measures.iter().position(|measure| measure.name == name)?;
        self.results(k).pop().and_then(|(_, value)| value)
    }

    /// Times and values of a measure.
    fn results(&self, k: usize) -> Vec<(f64, Option<Value>)> {
        let (found, time) = (&self.found[k], |step: u64| step as f64 * self.scene.step);
        let When::Over { to, take, .. } = &self.scene.measures[k].when else {
            return self.steps[k].iter().map(|step| (time(*step), found.get(step).cloned())).collect();
        };
        let whole = found.len() == self.steps[k].len();
        let sizes = || found.values().filter_map(Value::size);
        let value = match take {
            Extreme::Min => sizes().fold(f64::INFINITY, f64::min),
            Extreme::Max => sizes().fold(f64::NEG_INFINITY, f64::max),
            Extreme::Mean => sizes().sum::<f64>() / found.len() as f64,
        };
        // Not a number anywhere is not a number.
        let value = if sizes().any(f64::is_nan) { f64::NAN } else { value };
        vec![(time(self.scene.steps_for(*to)), whole.then_some(Value::Number(value)))]
    }

    /// All measures, judged; `elsewhere` finds those of other files.
    pub fn outcomes(&self, elsewhere: &mut dyn FnMut(&Reference) -> Result<Value, String>) -> Vec<Outcome> {
        let mut other = |reference: &Reference| match reference.file {
            None => self.last(&reference.name).ok_or_else(|| format!("{} has no value yet", reference.name)),
            Some(_) => elsewhere(reference),
        };
        let mut outcomes = Vec::new();
        for (k, measure) in self.scene.measures.iter().enumerate() {
            for (at, value) in self.results(k) {
                let verdict =
                    measure.expect.as_ref().zip(value.as_ref()).map(|(e, v)| e.judge(v, &mut other));
                let (ok, why) = match verdict {
                    None => (None, None),
                    Some(Verdict::Met) => (Some(true), None),
                    Some(Verdict::Missed(why)) => (Some(false), Some(why)),
                    Some(Verdict::Unknown(why)) => (None, Some(why)),
                };
                let (name, unit, expected) =
                    (measure.name.clone(), measure.quantity.unit(), measure.expect.clone());
                outcomes.push(Outcome { name, at, value, unit, expected, ok, why });
            }
        }
        outcomes
    }
}

/// The forces of the contacts between two, each with its contact.
fn contacts<'m>(
    touching: &'m Touching,
    moment: &'m Moment<'_>,
) -> Option<impl Iterator<Item = (Vec3, &'m crate::force::contact::force::ContactForce<f64>)>> {
    let of = move |contact| match touching.sign(contact) {
        0.0 => None,
        sign => Some((contact.force * sign, contact)),
    };
    Some(moment.sensed?.contacts.iter().filter_map(of))
}
