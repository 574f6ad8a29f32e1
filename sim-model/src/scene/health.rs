//! Whether a state can still be an object: elements inside out, lost volume, particles beyond boundaries.

use super::Scene;
use crate::{
    mesh::{
        Vec3,
        orientation::{inverted, plane, volume},
    },
    text::count,
};

/// Outside of this range a ratio of volumes is nonsense, or near it: dough is pressed flat, not out of the world.
const VOLUMES: std::ops::RangeInclusive<f64> = 0.5..=2.0;

/// What a state looks like from outside, and what is wrong with it.
#[derive(Clone, Debug, PartialEq)]
pub struct Health {
    /// Tetrahedra inside out, or triangles of a flat mesh; unknown where it has neither.
    pub inverted: Option<usize>,
    /// Volume in m^3, of bodies only.
    pub volume: Option<f64>,
    /// The same, of the initial volume.
    pub volume_ratio: Option<f64>,
    /// The corners of the box around it, of particles that are somewhere.
    pub bounds: (Vec3, Vec3),
    /// Particles deeper behind a boundary than half an edge, by its place among [`Scene::holders`].
    pub beyond: Vec<(String, usize)>,
    /// Particles that are nowhere: their coordinates are no numbers.
    pub nowhere: usize,
}

/// Looks at states of one scene.
#[derive(Debug)]
pub struct Doctor<'a> {
    scene: &'a Scene,
    /// Whether its elements have two sides: they are tetrahedra, or lie in a plane.
    has_sides: bool,
    volume: Option<f64>,
    /// Half of a mean edge, in metres.
    deep: f64,
    /// Boundaries by name.
    boundaries: Vec<(String, usize)>,
}

impl<'a> Doctor<'a> {
    /// Learns what the scene's object is like at the start.
    pub fn new(scene: &'a Scene) -> Self {
        let mesh = &scene.mesh;
        let edges = mesh.edges.len();
        let total: f64 = (0..edges).map(|k| mesh.edge_length(k)).sum();
        let boundaries = scene.holders().into_iter().filter_map(|holder| match holder.holding {
            super::Holding::Boundary(number) => Some((holder.name, number)),
            super::Holding::Particles(_) => None,
        });
        Self {
            scene,
            has_sides: !mesh.tetrahedra.is_empty() || plane(mesh).is_some(),
            volume: Some(volume(mesh, &mesh.particles, |_| true)).filter(|&volume| volume > 0.0),
            deep: total / edges as f64 / 2.0,
            boundaries: boundaries.collect(),
        }
    }

    /// What can be said of a state at a time in seconds.
    pub fn look(&self, positions: &[Vec3], time: f64) -> Health {
        let mesh = &self.scene.mesh;
        let inverted = self.has_sides.then(|| inverted(mesh, positions));
        let volume = self.volume.map(|_| volume(mesh, positions, |_| true));
        let found = positions.iter().filter(|p| p.iter().all(|c| c.is_finite()));
        let nowhere = positions.len() - found.clone().count();
        let bounds = found.fold(None, |bounds: Option<(Vec3, Vec3)>, p| match bounds {
            Some((low, high)) => Some((low.inf(p), high.sup(p))),
            None => Some((*p, *p)),
        });
        let behind = |(name, number): &(String, usize)| {
            let boundary = &self.scene.forces.contact.as_ref()?.boundaries[*number];
            let shape = boundary.shape_at(time);
            let deep = |p: &&Vec3| -shape.distance(p).0 > self.deep;
            let count =
                positions.iter().enumerate().filter(|(k, _)| self.scene.becomes_free(*k)).map(|(_, p)| p);
            let count = count.filter(deep).count();
            (count > 0).then(|| (name.clone(), count))
        };
        Health {
            inverted,
            volume,
            volume_ratio: volume.zip(self.volume).map(|(now, first)| now / first),
            bounds: bounds.unwrap_or_default(),
            beyond: self.boundaries.iter().filter_map(behind).collect(),
            nowhere,
        }
    }

    /// Half a mean edge: deeper than this behind a boundary a particle is beyond it, in metres.
    pub fn deep(&self) -> f64 {
        self.deep
    }
}

impl Health {
    /// Whether nothing is wrong.
    pub fn is_sound(&self) -> bool {
        self.complaints(0.0).is_empty()
    }

    /// The height of the object, in metres.
    pub fn height(&self) -> f64 {
        self.bounds.1.z - self.bounds.0.z
    }

    /// What is wrong, each with its remedy; `deep` as [`Doctor::deep`] has it.
    pub fn complaints(&self, deep: f64) -> Vec<String> {
        let mut all = Vec::new();
        if self.nowhere > 0 {
            let nowhere = count(self.nowhere, "particle");
            all.push(format!("{nowhere} nowhere: the state is useless; shorten `step`"));
        }
        if let Some(inverted) = self.inverted.filter(|&n| n > 0) {
            let (are, them) = if inverted == 1 { ("element is", "it") } else { ("elements are", "them") };
            all.push(format!(
                "{inverted} {are} inside out, and forces there mean nothing: a [topology] table keeps {them} upright, \
                 stiffer or more viscous elements (k1, c1, c2) or a slower and smaller motion do without"
            ));
        }
        if let Some(ratio) = self.volume_ratio.filter(|ratio| !VOLUMES.contains(ratio)) {
            all.push(format!(
                "the volume is {:.0} % of what it was: a [volume] table resists that, stiffer elements or smaller forces \
                 cause less",
                100.0 * ratio
            ));
        }
        for (name, count) in &self.beyond {
            let (are, they) = if *count == 1 { ("particle is", "it") } else { ("particles are", "they") };
            all.push(format!(
                "{count} {are} more than {:.3} mm behind `{name}`, which {they} should not pass: raise `stiffness` in \
                 [contact], or let things meet more slowly",
                deep * 1e3
            ));
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TETRAHEDRON: &str = "step = 0.001\nmass = 1\n[mesh]\n\
        particles = [[0,0,0],[1,0,0],[0,1,0],[0,0,1]]\ntetrahedra = [[0,1,2,3]]\n\
        [materials.m]\nk1 = 1\nc1 = 1\nc2 = 1\n[contact]\nstiffness = 1\n\
        [[boundaries]]\nname = \"table\"\nplane = { point = [0,0,0], normal = [0,0,1] }\n\
        frames = [{ t = 1, offset = [0,0,-10] }]\n";

    fn scene() -> Scene {
        Scene::parse(TETRAHEDRON, "tetrahedron.toml").unwrap()
    }

    /// Its volume is a sixth of the product of its sides; mirrored it is inside out.
    #[test]
    fn inside_out_elements_and_lost_volume_went_unnoticed() {
        let scene = scene();
        let doctor = Doctor::new(&scene);
        let start = doctor.look(&scene.mesh.particles, 0.0);
        assert!(start.is_sound(), "{start:?}");
        assert_eq!((start.inverted, start.volume, start.volume_ratio), (Some(0), Some(1.0 / 6.0), Some(1.0)));
        let mirrored: Vec<Vec3> = scene.mesh.particles.iter().map(|p| Vec3::new(p.x, p.y, -p.z)).collect();
        // The table has moved out of the way by then.
        let health = doctor.look(&mirrored, 1.0);
        assert_eq!((health.inverted, health.volume_ratio, health.beyond.len()), (Some(1), Some(-1.0), 0));
        let complaints = health.complaints(doctor.deep());
        assert!(complaints[0].contains("1 element is inside out") && complaints[0].contains("[topology]"));
        assert!(complaints[1].contains("-100 %"), "{complaints:?}");
    }

    #[test]
    fn particles_behind_a_moving_boundary_are_counted_where_it_is() {
        let scene = scene();
        let doctor = Doctor::new(&scene);
        // Three sides of 1 and three of its diagonal.
        assert!((doctor.deep() - (3.0 + 3.0 * 2f64.sqrt()) / 12.0).abs() < 1e-12);
        let lowered: Vec<Vec3> = scene.mesh.particles.iter().map(|p| p - Vec3::z() * 0.7).collect();
        assert_eq!(doctor.look(&lowered, 0.0).beyond, [("table".to_owned(), 3)]);
        assert_eq!(doctor.look(&lowered, 0.1).beyond, []);
    }

    #[test]
    fn a_state_without_numbers_is_looked_at_all_the_same() {
        let scene = scene();
        let doctor = Doctor::new(&scene);
        let mut lost = scene.mesh.particles.clone();
        lost[3] = Vec3::repeat(f64::NAN);
        let health = doctor.look(&lost, 0.0);
        assert_eq!((health.nowhere, health.bounds.1), (1, Vec3::new(1.0, 1.0, 0.0)));
        assert!(!health.is_sound());
    }

    /// A box has a volume and sides; a sheet has sides, a chain neither.
    #[test]
    fn bodies_have_a_volume_and_sheets_have_none() {
        for (name, volume, inverted) in [
            ("box:3x4x5", Some(2.0 * 3.0 * 4.0), Some(0)),
            ("box:4x4x1", None, Some(0)),
            ("box:4x1x1", None, None),
        ] {
            let scene = Scene::open(name).unwrap();
            let pitch = scene.mesh.edge_length(0);
            let health = Doctor::new(&scene).look(&scene.mesh.particles, 0.0);
            let found = health.volume.map(|v| (v / pitch.powi(3) * 1e6).round() / 1e6);
            assert_eq!((found, health.inverted), (volume, inverted), "{name}");
        }
    }
}
