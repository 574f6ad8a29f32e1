//! What colours mean.

use crate::quantity::quantity;
use nendo_model::{
    engine::{Engine, EngineError},
    mesh::Vec3,
    scene::Scene,
};

/// What is told by colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Colour {
    /// How far particles are from where they began
    #[default]
    Displacement,
    /// How much longer the edges at a particle are than at the start
    Strain,
    /// Mean force of the elements at a particle
    Force,
    /// Which material most edges at a particle are of
    Material,
}

type Stops = &'static [[f64; 3]];

/// From pale to fired clay.
const CLAY: Stops =
    &[[240.0, 222.0, 196.0], [231.0, 174.0, 124.0], [206.0, 104.0, 66.0], [142.0, 44.0, 40.0]];
/// From shortened through pale to stretched.
const BOTH_WAYS: Stops = &[
    [38.0, 84.0, 142.0],
    [132.0, 172.0, 200.0],
    [240.0, 226.0, 204.0],
    [222.0, 140.0, 98.0],
    [146.0, 40.0, 38.0],
];
const MATERIALS: [[u8; 3]; 8] = [
    [226, 190, 140],
    [112, 148, 178],
    [178, 92, 66],
    [130, 164, 112],
    [160, 126, 168],
    [214, 168, 74],
    [104, 104, 110],
    [120, 184, 182],
];

impl Colour {
    /// The value of each particle in an engine's present state, in SI units.
    pub fn values(
        self,
        scene: &Scene,
        positions: &[Vec3],
        engine: &mut dyn Engine,
    ) -> Result<Vec<f64>, EngineError> {
        Ok(match self {
            Self::Displacement => displacements(scene, positions).iter().map(Vec3::norm).collect(),
            Self::Strain => elongations(scene, positions),
            Self::Force => {
                let forces = engine.sense()?.elements;
                let mut sums = vec![(0.0, 0.0); positions.len()];
                for (ends, force) in scene.mesh.edges.iter().zip(&forces) {
                    for &p in ends {
                        let (sum, count) = &mut sums[p as usize];
                        (*sum, *count) = (*sum + force.norm(), *count + 1.0);
                    }
                }
                sums.into_iter().map(|(sum, count): (f64, f64)| sum / count.max(1.0)).collect()
            }
            Self::Material => most_common(scene),
        })
    }

    /// Whether what is between two values means something.
    pub(super) fn blends(self) -> bool {
        self != Self::Material
    }

    fn stops(self) -> Stops {
        if self == Self::Strain { BOTH_WAYS } else { CLAY }
    }
}

/// How far each particle is from where it began, in metres.
pub fn displacements(scene: &Scene, positions: &[Vec3]) -> Vec<Vec3> {
    positions.iter().zip(&scene.mesh.particles).map(|(now, start)| now - start).collect()
}

/// Mean relative elongation of the edges at each particle: positive where the object is stretched.
pub fn elongations(scene: &Scene, positions: &[Vec3]) -> Vec<f64> {
    let mut sum = vec![(0.0, 0u32); positions.len()];
    for (k, &[i, j]) in scene.mesh.edges.iter().enumerate() {
        let now = (positions[j as usize] - positions[i as usize]).norm();
        let strain = now / scene.mesh.edge_length(k) - 1.0;
        for p in [i, j] {
            sum[p as usize].0 += strain;
            sum[p as usize].1 += 1;
        }
    }
    sum.into_iter().map(|(total, count)| total / f64::from(count.max(1))).collect()
}

/// The material of most edges at each particle, by number.
fn most_common(scene: &Scene) -> Vec<f64> {
    let kinds = scene.materials.len();
    let mut counts = vec![0u32; kinds * scene.mesh.particles.len()];
    for (ends, &material) in scene.mesh.edges.iter().zip(&scene.edge_material) {
        ends.iter().for_each(|&p| counts[p as usize * kinds + usize::from(material)] += 1);
    }
    let most = |counts: &[u32]| {
        let max = counts.iter().max();
        counts.iter().position(|c| Some(c) == max).unwrap_or(0) as f64
    };
    counts.chunks(kinds.max(1)).map(most).collect()
}

/// Colours for the values of a whole series.
#[derive(Clone, Debug)]
pub(super) struct Scale {
    pub(super) colour: Colour,
    /// What the last colour stands for.
    pub(super) most: f64,
}

impl Scale {
    /// A scale that holds these values, or the one asked for.
    pub(super) fn new(colour: Colour, asked: Option<f64>, values: impl Iterator<Item = f64>) -> Self {
        let most =
            asked.unwrap_or_else(|| values.map(f64::abs).filter(|v| v.is_finite()).fold(1e-12, f64::max));
        Self { colour, most }
    }

    pub(super) fn of(&self, value: f64) -> [u8; 3] {
        let share = value / self.most;
        match self.colour {
            Colour::Material => MATERIALS[value.max(0.0) as usize % MATERIALS.len()],
            Colour::Strain => mixed(BOTH_WAYS, 0.5 + share / 2.0),
            colour => mixed(colour.stops(), share),
        }
    }

    /// Stops of the legend's bar, from left to right.
    pub(super) fn stops(&self) -> Vec<[u8; 3]> {
        self.colour.stops().iter().map(|stop| stop.map(|c| c as u8)).collect()
    }

    /// What is written at both ends of the bar; nothing where colours are names.
    pub(super) fn ends(&self) -> Option<(String, String)> {
        let percent = |share: f64| quantity(share * 100.0, "%");
        match self.colour {
            Colour::Displacement => Some(("moved by 0".to_owned(), quantity(self.most, "m"))),
            Colour::Strain => {
                Some((format!("strain {}", percent(-self.most)), format!("+{}", percent(self.most))))
            }
            Colour::Force => Some(("edge force 0".to_owned(), quantity(self.most, "N"))),
            Colour::Material => None,
        }
    }
}

/// From pale to fired clay.
pub fn clay(heat: f64) -> [u8; 3] {
    mixed(CLAY, heat)
}

/// The colour at a share of the way; what is not a number is at the end.
fn mixed(stops: Stops, share: f64) -> [u8; 3] {
    let last = stops.len() - 1;
    let at = if share.is_finite() { share.clamp(0.0, 1.0) * last as f64 } else { last as f64 };
    let low = (at as usize).min(last - 1);
    std::array::from_fn(|k| {
        (stops[low][k] + (stops[low + 1][k] - stops[low][k]) * (at - low as f64)).round() as u8
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use nendo_model::engine::{self, Kind, Options};

    fn values(colour: Colour, scene: &Scene, positions: &[Vec3]) -> Vec<f64> {
        let mut engine = engine::open(scene, &Options { kind: Kind::F64, ..Options::default() }).unwrap();
        colour.values(scene, positions, engine.as_mut()).unwrap()
    }

    /// Values by hand: two springs of 10 N/m stretched by 0.1 m before anything moves, and what is known of a stretched box.
    #[test]
    fn colours_mean_what_the_legend_says() {
        let scene = Scene::open("box:3x3x3").unwrap();
        let stretched: Vec<Vec3> = scene.mesh.particles.iter().map(|p| p * 1.1).collect();
        let strain = values(Colour::Strain, &scene, &stretched);
        assert!(strain.iter().all(|s| (s - 0.1).abs() < 1e-12));
        let moved = values(Colour::Displacement, &scene, &stretched);
        assert!(moved.iter().zip(&scene.mesh.particles).all(|(m, p)| (m - 0.1 * p.norm()).abs() < 1e-12));
        let scale = Scale::new(Colour::Strain, None, strain.into_iter());
        assert_eq!(scale.ends().unwrap(), ("strain -10.0 %".to_owned(), "+10.0 %".to_owned()));
        assert_eq!((scale.of(0.1), scale.of(-0.1)), ([146, 40, 38], [38, 84, 142]));
        let fixed = Scale::new(Colour::Displacement, Some(0.02), [5.0].into_iter());
        assert_eq!(fixed.ends().unwrap().1, "20.0 mm");
        assert_eq!(fixed.of(7.0), clay(1.0));
    }

    #[test]
    fn stretching_by_a_tenth_is_an_elongation_of_a_tenth() {
        let scene = Scene::open("box:3x3x3").unwrap();
        let stretched: Vec<Vec3> = scene.mesh.particles.iter().map(|p| p * 1.1).collect();
        assert!(elongations(&scene, &stretched).iter().all(|e| (e - 0.1).abs() < 1e-12));
        let moved = displacements(&scene, &stretched);
        assert!(moved.iter().zip(&scene.mesh.particles).all(|(d, p)| (d - p * 0.1).norm() < 1e-12));
    }

    #[test]
    fn particles_have_the_material_of_most_of_their_edges() {
        let mut scene = Scene::open("box:4x1x1").unwrap();
        let other = scene.materials[0].clone();
        scene.materials.push(other);
        scene.edge_material = vec![0; scene.mesh.edges.len()];
        let at_end = scene.mesh.edges.iter().position(|e| e.contains(&3)).unwrap();
        scene.edge_material[at_end] = 1;
        assert_eq!(values(Colour::Material, &scene, &scene.mesh.particles.clone()), [0.0, 0.0, 0.0, 1.0]);
    }
}
