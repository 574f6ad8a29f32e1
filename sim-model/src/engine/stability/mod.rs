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
mod limit;

pub use limit::{Kind, Limit, Source};

use crate::{
    engine::reference::Integrator,
    force::Material,
    scene::{
        Scene,
        spectrum::{fastest_mode, largest_eigenvalue},
    },
};
use serde::Serialize;

/// What limits the step.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Stability {
    /// The scene's step in seconds.
    pub step: f64,
    /// Steps below it are stable, in seconds; infinite when nothing limits it.
    pub largest_step: f64,
    /// What sets that limit.
    pub limited_by: Limit,
    /// The constant A of H05 (1.16) for this mesh, where its masses and materials are uniform.
    pub a_stable: Option<f64>,
}

/// A step that a spring bears.
type Spring = (f64, Limit);

/// The damping of edges, and how long a step their springs bear.
struct Edges {
    /// The fastest decay in the object, in 1/s.
    rho: f64,
    /// The material most of it comes from.
    damped: usize,
    /// What the decay of H05 (1.16) is proportional to, where edges are alike.
    uniform: Option<f64>,
    /// Largest eigenvalue of the mesh itself, in 1/kg.
    gamma: f64,
}

impl Edges {
    fn of(scene: &Scene) -> Self {
        let damping: Vec<f64> = (0..scene.mesh.edges.len()).map(|k| scene.material_of(k).c()).collect();
        let uniform = damping.first().copied().filter(|first| damping.iter().all(|c| c == first));
        let (gamma, mode) = match uniform {
            Some(_) => {
                let mode = fastest_mode(scene, &vec![1.0; damping.len()]);
                (mode.value, mode)
            }
            None => (largest_eigenvalue(scene, &vec![1.0; damping.len()]), fastest_mode(scene, &damping)),
        };
        let mut shares = vec![0.0; scene.materials.len()];
        scene.edge_material.iter().zip(&mode.by_edge).for_each(|(&m, share)| shares[usize::from(m)] += share);
        let damped = (0..shares.len()).max_by(|&a, &b| shares[a].total_cmp(&shares[b])).unwrap_or(0);
        Self { rho: uniform.map_or(mode.value, |c| gamma * c), damped, uniform, gamma }
    }

    /// How long a step the spring of a material bears.
    fn spring(&self, m: &Material, integrator: Integrator) -> f64 {
        match integrator {
            Integrator::Euler if m.k1 > 0.0 => m.c1 / m.k1 + m.flow() / self.gamma,
            Integrator::Euler => f64::INFINITY,
            Integrator::Rk4 => RK4_REAL / (m.k() * self.gamma).sqrt(),
        }
    }
}

impl Stability {
    /// Examines a scene as the integrator would run it.
    pub fn of(scene: &Scene, integrator: Integrator) -> Self {
        let edges = Edges::of(scene);
        let mut used = vec![false; scene.materials.len()];
        scene.edge_material.iter().for_each(|&m| used[usize::from(m)] = true);
        let classes = || scene.materials.iter().zip(&used).filter(|(_, used)| **used).map(|(m, _)| m);
        let of = |kind, name: &str| Limit { kind, of: Source::Material(name.to_owned()) };

        let (mut rates, mut springs) = forces::limits(scene, integrator);
        rates.extend(scene.materials.get(edges.damped).map(|m| (edges.rho, of(Kind::Damping, &m.name))));
        let relaxations = classes().map(|m| (-m.material.a(), m)).max_by(|a, b| a.0.total_cmp(&b.0));
        rates.extend(relaxations.map(|(rate, m)| (rate, of(Kind::Relaxation, &m.name))));
        if edges.gamma > 0.0 {
            springs.extend(
                classes().map(|m| (edges.spring(&m.material, integrator), of(Kind::Spring, &m.name))),
            );
        }

        let limit = if integrator == Integrator::Euler { 2.0 } else { RK4_REAL };
        let total: f64 = rates.iter().map(|(rate, _)| rate).sum();
        let largest = rates.into_iter().filter(|(rate, _)| *rate > 0.0).max_by(|a, b| a.0.total_cmp(&b.0));
        let damping = largest.map(|(_, cause)| (limit / total, cause));
        let (largest_step, limited_by) = damping
            .into_iter()
            .chain(springs)
            .filter(|(step, _)| step.is_finite())
            .min_by(|a, b| a.0.total_cmp(&b.0))
            .unwrap_or((f64::INFINITY, Limit { kind: Kind::Damping, of: Source::Nothing }));
        let alike = scene.mass.windows(2).all(|w| w[0] == w[1]) && edges.rho > 0.0;
        let a_stable = edges.uniform.filter(|_| alike).map(|c| limit * c / (edges.rho * scene.mass[0]));
        Self { step: scene.step, largest_step, limited_by, a_stable }
    }

    /// Whether the scene's own step is short enough.
    pub fn is_stable(&self) -> bool {
        self.step < self.largest_step
    }

    /// The largest stable step as it can be printed, copied into a scene, and is stable there.
    pub fn copyable_step(&self) -> f64 {
        limit::copyable(self.largest_step)
    }

    /// How long a step may be and why, for people.
    pub fn limit(&self) -> String {
        match self.largest_step.is_finite() {
            true => format!("largest stable step {} s (set by {})", self.copyable_step(), self.limited_by),
            false => "any step is stable: no particle is moved by forces".to_owned(),
        }
    }

    /// What is wrong with a step that is too long, and what sets the limit.
    pub fn complaint(&self) -> Option<String> {
        let Self { step, limited_by, .. } = self;
        if self.is_stable() {
            return None;
        }
        if self.largest_step == 0.0 {
            return Some(format!(
                "no step is stable: {limited_by} has no damping, and grows under explicit Euler; give it some `{}`",
                limited_by.of.damping_key()
            ));
        }
        Some(format!(
            "a step of {step} s is unstable here: the largest stable step is {} s, set by {limited_by}",
            self.copyable_step()
        ))
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

    /// `scene check` printed a largest stable step of `inf s (set by nothing)`.
    #[test]
    fn a_step_without_limit_was_inf_s_set_by_nothing() {
        let mut scene = pair(Material::elastic(1.0, 1.0).unwrap());
        let some = Stability::of(&scene, Integrator::Euler).limit();
        assert!(some.starts_with("largest stable step ") && some.contains(" s (set by the "), "{some}");
        scene.support.fill(crate::scene::Support::Pinned);
        let none = Stability::of(&scene, Integrator::Euler).limit();
        assert_eq!(none, "any step is stable: no particle is moved by forces");
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
            (damped, Integrator::Euler, Kind::Damping),
            (springy, Integrator::Euler, Kind::Spring),
            (damped, Integrator::Rk4, Kind::Damping),
        ] {
            let mut scene = Scene::open("box:4x4x4").unwrap();
            scene.materials[0].material = material;
            let limit = Stability::of(&scene, integrator);
            assert_eq!(limit.limited_by.kind, limited_by);
            let growth = |factor: f64| {
                let mut scene = scene.clone();
                scene.loads.clear();
                scene.velocity = scrambled(scene.mass.len()).into_iter().map(|v| v * 1e-3).collect();
                scene.step = limit.largest_step * factor;
                assert_eq!(Stability::of(&scene, integrator).is_stable(), factor < 1.0);
                let mut engine = Reference::new(&scene, integrator);
                let _ = engine.advance(20_000);
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
                engine.advance(20_000).unwrap();
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
        assert!(s.complaint().unwrap().contains("`materials.material.c1`"), "{s:?}");
    }

    /// A box of dough with more tables.
    fn dough(step: f64, tables: &str) -> Scene {
        let text = format!(
            "step = {step}\nmass = 0.01\nmaterial = \"dough\"\n[mesh.box]\nsize = [3, 3, 3]\npitch = 0.01\n\
             [materials.dough]\nk1 = 50\nc1 = 0.5\nc2 = 50\n{tables}"
        );
        Scene::parse(&text, "dough.toml").unwrap()
    }

    /// "No step is stable: give it some c1" was said of a scene whose topology forces had no damping.
    #[test]
    fn an_undamped_force_is_named_and_not_the_edges() {
        for (tables, of, key) in [
            ("[topology]\nstiffness = 5\n", "the topology forces", "`topology.damping`"),
            ("[volume]\nstiffness = 1e9\n", "the volume effect", "`volume.damping`"),
            (
                "[contact]\nstiffness = 100\ndamping = 0\n[[boundaries]]\nplane = { point = [0, 0, -1], normal = [0, 0, 1] }\n",
                "the contact",
                "`contact.damping`",
            ),
            // One of two is enough.
            (
                "[[links]]\nparticle = 1\nedge = [0, 2]\nstiffness = 1\ndamping = 1\n[[links]]\nparticle = 4\nedge = [3, 5]\nstiffness = 1\ndamping = 0\n",
                "the links",
                "`links.damping`",
            ),
        ] {
            let s = Stability::of(&dough(1e-5, tables), Integrator::Euler);
            let text = s.complaint().unwrap_or_else(|| panic!("{tables}: {s:?}"));
            assert!(text.contains(of) && text.contains(key) && !text.contains("c1"), "{text}");
        }
    }

    /// What is named is what helps: less of it, and the limit is longer.
    #[test]
    fn the_cause_is_what_lengthens_the_step() {
        let hard = "[materials.hard]\nk1 = 50\nc1 = 5\nc2 = 50\n[[edges]]\non = { face = \"z-max\" }\nmaterial = \"hard\"\n";
        for (tables, cause, change) in [
            (hard.to_owned(), "the damping of material `hard`", ("c1 = 5\n", "c1 = 2.5\n")),
            (
                "[topology]\nstiffness = 5\ndamping = 20\n".to_owned(),
                "the damping of the topology forces",
                ("damping = 20", "damping = 10"),
            ),
            (
                "[topology]\nstiffness = 5\ndamping = 0.001\n".to_owned(),
                "the spring of the topology forces",
                ("damping = 0.001", "damping = 0.002"),
            ),
        ] {
            let of = |tables: &str| Stability::of(&dough(1e-5, tables), Integrator::Euler);
            let (before, after) = (of(&tables), of(&tables.replace(change.0, change.1)));
            assert_eq!(before.limited_by.to_string(), cause);
            assert!(after.largest_step > 1.2 * before.largest_step, "{before:?} {after:?}");
        }
    }

    /// A scene with the step that was printed for it was refused: it was rounded to the nearest, and upwards.
    #[test]
    fn the_step_that_is_printed_is_stable() {
        for tables in
            ["", "[topology]\nstiffness = 5\ndamping = 0.01\n", "[topology]\nstiffness = 7\ndamping = 12\n"]
        {
            for integrator in [Integrator::Euler, Integrator::Rk4] {
                let printed = Stability::of(&dough(1.0, tables), integrator).copyable_step().to_string();
                let again = Stability::of(&dough(printed.parse().unwrap(), tables), integrator);
                assert!(
                    again.is_stable() && again.copyable_step() < 1.002 * again.step,
                    "{printed} {again:?}"
                );
            }
        }
    }
}
