//! Chains of four particles, one for each element law: the first held, the last pulled by 1 N for 20 s.
//!
//! Masses and coefficients are those of H05 chapter 1 (1.6), where it gives any; the pitch
//! is ours (it does not matter as long as no element turns round).

use super::{Load, NamedMaterial, Scene, Support};
use crate::{
    force::{
        Material,
        law::{
            AnyLaw,
            generalized_maxwell::GeneralizedMaxwell,
            generalized_voigt::GeneralizedVoigt,
            slider::{Form, Limits},
            yielding::{Yielding, YieldingElement},
        },
    },
    mesh::{Mesh, Vec3},
    reader::SceneError,
};

/// The names after `chain:`.
pub(super) const LAWS: &str = "spring, damper, voigt, maxwell, maxwell-slider, three-element, slider, clamp, \
     yielding, generalized-voigt, generalized-maxwell";

const STEP: f64 = 0.001;
const PITCH: f64 = 10.0;

pub(super) fn by_law(name: &str, law: &str) -> Result<Scene, SceneError> {
    let sliding = |least, form| Limits::new(least, 0.51, 0.5, form).map(AnyLaw::Slider);
    let parts = || vec![[2.0, 20.0], [2.0, 200.0], [2.0, 2000.0]];
    let three = Material { k1: 2.0, c1: 8.0, c2: 40.0 };
    let maxwell = Material { k1: 60.0, c1: 0.0, c2: 40.0 };
    let (material, law) = match law {
        // An undamped chain swings for ever: Euler's method needs some damping, ours.
        "spring" => (Material { k1: 2.0, c1: 0.01, c2: f64::INFINITY }, None),
        "damper" => (Material { k1: 0.0, c1: 40.0, c2: f64::INFINITY }, None),
        "voigt" => (Material { k1: 2.0, c1: 6.0, c2: f64::INFINITY }, None),
        "maxwell" => (maxwell, None),
        // Stuck, it is a bare spring, so here too.
        "maxwell-slider" => (Material { c1: 0.2, ..maxwell }, sliding(0.49, Form::Switch)),
        "three-element" => (three, None),
        "slider" => (three, sliding(0.4, Form::Switch)),
        "clamp" => (three, sliding(0.4, Form::Assign)),
        "yielding" => {
            let yielding = Yielding::new(4000.0, 40.0, 0.5, 0.9);
            (
                Material { c2: 4000.0, ..three },
                yielding.map(|damper| AnyLaw::Yielding(YieldingElement { damper, limits: None })),
            )
        }
        "generalized-voigt" => (
            Material { k1: 1.8, c1: 18.0, c2: f64::INFINITY },
            Some(AnyLaw::GeneralizedVoigt(GeneralizedVoigt(parts()))),
        ),
        "generalized-maxwell" => (
            Material { k1: 6.0, c1: 0.0, c2: 2220.0 },
            Some(AnyLaw::GeneralizedMaxwell(GeneralizedMaxwell(parts()))),
        ),
        _ => {
            return Err(SceneError::Builtin {
                name: name.to_owned(),
                reason: format!("a chain is chain:LAW with one of {LAWS}"),
            });
        }
    };
    let particles = (0..4).map(|k| f64::from(k) * PITCH * Vec3::x()).collect();
    let mesh = Mesh { particles, edges: vec![[0, 1], [1, 2], [2, 3]], ..Mesh::default() };
    let mut scene = Scene::uniform(name, mesh, material, 1.0, STEP, 80.0);
    scene.materials = vec![NamedMaterial { law, ..NamedMaterial::plain("element", material) }];
    scene.support[0] = Support::Pinned;
    scene.loads = vec![Load { particles: vec![3], force: Vec3::x(), from: 0.0, to: 20.0 }];
    Ok(scene)
}
