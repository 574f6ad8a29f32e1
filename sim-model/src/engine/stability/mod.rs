//! Is the step short enough? The papers' bound, made a number.
//!
//! H05 asks for c1 c2/(c1+c2) < A m/T (1.16) and gives no A. For a mesh it follows from the largest
//! eigenvalue rho of M^-1 sum(C e e^T), C = c1 c2/(c1+c2): the fastest decay in the object. Explicit Euler
//! needs h rho < 2 (so A = 2 C/(m rho): 1 for one edge between two free particles), Runge-Kutta 2.785.
//!
//! Euler's method also blows up oscillations that are damped too little. For one mode with the element
//! law's own states (l', u) the 2 x 2 step matrix has determinant below 1 iff
//! `h < c1/k1 + 1/(gamma c2)`, gamma the largest eigenvalue of M^-1 sum(e e^T).

mod forces;

use crate::{
    engine::reference::Integrator,
    scene::{Scene, spectrum::largest_eigenvalue},
};
use serde::Serialize;

/// What limits the step.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Stability {
    /// The scene's step in seconds.
    pub step: f64,
    /// The largest stable step in seconds; infinite when nothing limits it.
    pub largest_step: f64,
    /// What sets that limit: `damping` or `spring`.
    pub limited_by: &'static str,
    /// The constant A of H05 (1.16) for this mesh, where its masses and materials are uniform.
    pub a_stable: Option<f64>,
}

impl Stability {
    /// Examines a scene as the integrator would run it.
    pub fn of(scene: &Scene, integrator: Integrator) -> Self {
        let damping: Vec<f64> = (0..scene.mesh.edges.len()).map(|k| scene.material_of(k).c()).collect();
        let uniform = |values: &[f64]| values.windows(2).all(|w| w[0] == w[1]);
        let gamma = largest_eigenvalue(scene, &vec![1.0; damping.len()]);
        let rho = if uniform(&damping) { gamma * damping[0] } else { largest_eigenvalue(scene, &damping) };

        let mut used = vec![false; scene.materials.len()];
        scene.edge_material.iter().for_each(|&m| used[usize::from(m)] = true);
        let classes =
            || scene.materials.iter().zip(&used).filter(|(_, used)| **used).map(|(m, _)| m.material);
        let relaxation = classes().map(|m| -m.a()).fold(0.0, f64::max);
        let (from_damping, from_spring) = match integrator {
            Integrator::Euler => {
                let slowest = |c1: f64, k1: f64, flow: f64| {
                    if k1 > 0.0 { c1 / k1 + flow / gamma } else { f64::INFINITY }
                };
                let spring = classes().map(|m| slowest(m.c1, m.k1, m.flow())).fold(f64::INFINITY, f64::min);
                (2.0 / (rho + relaxation), spring)
            }
            Integrator::Rk4 => {
                let stiffest = classes().map(|m| m.k()).fold(0.0, f64::max);
                (RK4_REAL / (rho + relaxation), RK4_REAL / (stiffest * gamma).sqrt())
            }
        };
        let limit = if integrator == Integrator::Euler { 2.0 } else { RK4_REAL };
        let (from_damping, from_spring) = forces::limits(scene, integrator, (from_damping, from_spring));
        let a_stable = (uniform(&scene.mass) && uniform(&damping) && rho > 0.0)
            .then(|| limit * damping[0] / (rho * scene.mass[0]));
        Self {
            step: scene.step,
            largest_step: from_damping.min(from_spring),
            limited_by: if from_damping <= from_spring { "damping" } else { "spring" },
            a_stable,
        }
    }

    /// Whether the scene's own step is short enough.
    pub fn is_stable(&self) -> bool {
        self.step < self.largest_step
    }
}

/// Where the stability region of RK4 ends on the negative real axis.
const RK4_REAL: f64 = 2.785;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::InProcess;
    use crate::{engine::reference::Reference, force::Material, scene::spectrum::scrambled};

    fn pair(material: Material) -> Scene {
        let mut scene = Scene::open("box:2x1x1").unwrap();
        scene.materials[0].material = material;
        scene
    }

    /// For one edge between two free particles A is 1 with Euler and 1.39 with RK4.
    #[test]
    fn the_constant_for_one_edge() {
        let scene = pair(Material::new(1.0, 20.0, 100.0).unwrap());
        let a = |i| Stability::of(&scene, i).a_stable.unwrap() * 1.02;
        assert!((a(Integrator::Euler) - 1.0).abs() < 1e-6, "{}", a(Integrator::Euler));
        assert!((a(Integrator::Rk4) - 1.3925).abs() < 1e-4, "{}", a(Integrator::Rk4));
    }

    /// Just below the limit the object calms down, just above it bursts: both limits, both methods.
    #[test]
    fn the_limit_is_where_runs_diverge() {
        let damped = Material::new(250.0, 20.0, 100.0).unwrap();
        let springy = Material::elastic(250.0, 0.2).unwrap();
        for (material, integrator, limited_by) in [
            (damped, Integrator::Euler, "damping"),
            (springy, Integrator::Euler, "spring"),
            (damped, Integrator::Rk4, "damping"),
        ] {
            let mut scene = Scene::open("box:4x4x4").unwrap();
            scene.materials[0].material = material;
            let limit = Stability::of(&scene, integrator);
            assert_eq!(limit.limited_by, limited_by);
            let growth = |factor: f64| {
                let mut scene = scene.clone();
                scene.loads.clear();
                scene.velocity = scrambled(scene.mass.len()).into_iter().map(|v| v * 1e-3).collect();
                scene.step = limit.largest_step * factor;
                assert_eq!(Stability::of(&scene, integrator).is_stable(), factor < 1.0);
                let mut engine = Reference::new(&scene, integrator);
                engine.advance(20_000);
                engine.velocities().iter().map(|v| v.norm() / 2e-3).fold(0.0, |a, b| a + b)
            };
            let calm = growth(0.97) / 64.0;
            assert!(calm < 0.5, "{material:?} {integrator:?}: {calm}");
            let burst = growth(1.25) / 64.0;
            assert!(burst.is_nan() || burst > 3.0, "{material:?} {integrator:?}: {burst}");
        }
    }

    /// The presets on a mesh of many edges: Runge-Kutta's constant falls with the number of edges at a particle, and
    /// every preset that the check lets pass calms down.
    #[test]
    fn presets_are_stable_where_the_check_says_so() {
        let text = |preset: &str, keys: &str| {
            format!(
                "step = 0.001\nmass = 0.01\n[mesh.box]\nsize = [4, 4, 4]\npitch = 0.01\n[materials.m]\npreset = \"{preset}\"\n{keys}"
            )
        };
        for (preset, keys) in [
            ("elastic", "k1 = 50\nc1 = 0.5"),
            ("viscoplastic", "c1 = 1\nc2 = 1"),
            ("rheological", "k1 = 50\nc1 = 0.5\nc2 = 5"),
            ("rigid", ""),
        ] {
            let mut scene = Scene::parse(&text(preset, keys), "preset.toml").unwrap();
            for integrator in [Integrator::Euler, Integrator::Rk4] {
                let stability = Stability::of(&scene, integrator);
                assert!(stability.is_stable(), "{preset} {integrator:?}: {stability:?}");
                if integrator == Integrator::Rk4 {
                    let a = stability.a_stable.unwrap();
                    assert!((0.1..0.5).contains(&a), "less than the 1.39 of a single edge: {a}");
                }
                scene.velocity = scrambled(scene.mass.len()).into_iter().map(|v| v * 1e-3).collect();
                let mut engine = Reference::new(&scene, integrator);
                engine.advance(20_000);
                let fastest = engine.velocities().iter().map(|v| v.norm()).fold(0.0, f64::max);
                assert!(fastest < 1e-3, "{preset} {integrator:?}: {fastest}");
            }
        }
    }

    #[test]
    fn a_bare_spring_has_no_stable_step() {
        let scene = pair(Material::elastic(1.0, 0.0).unwrap());
        let s = Stability::of(&scene, Integrator::Euler);
        assert_eq!((s.largest_step, s.is_stable()), (0.0, false));
    }
}
