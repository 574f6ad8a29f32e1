//! The scenes that are always there: the papers' own.

use super::{ErrorScale, Load, NamedMaterial, ScalingRequest, Scene, Support};
use crate::{
    force::Material,
    mesh::{Lattice, Mesh, Vec3},
    reader::SceneError,
};

/// The names, for help texts.
pub const BUILTIN_HELP: &str = "table3, single, cube9, block16, materials, box:NXxNYxNZ, chain:LAW";

/// Time step, particle mass and material of the experiments of H05 chapter 2.
const STEP: f64 = 0.001;
const MASS: f64 = 1.0;
const MATERIAL: Material = Material { k1: 250.0, c1: 20.0, c2: 100.0 };
const PITCH: f64 = 10.0;

/// The papers give numbers without units.
const UNITS: &str = "The papers' numbers, taken as SI units: particles of 1 kg, 10 m apart. For an object of everyday size \
                     see scenes/press9.toml.";

pub(super) fn by_name(name: &str) -> Result<Option<Scene>, SceneError> {
    Ok(Some(match name {
        "table3" => table3(),
        "single" => single(),
        "cube9" => loaded_box(name, [9, 9, 9], 30.0)?,
        "materials" => materials(name)?,
        "block16" => loaded_box(name, [15, 15, 16], 1.0)?,
        _ => match (name.strip_prefix("box:"), name.strip_prefix("chain:")) {
            (Some(size), _) => loaded_box(name, parse_size(name, size)?, 1.0)?,
            (_, Some(law)) => super::chains::by_law(name, law)?,
            _ => return Ok(None),
        },
    }))
}

fn parse_size(name: &str, text: &str) -> Result<[u32; 3], SceneError> {
    let sides: Vec<u32> = text.split('x').map_while(|s| s.parse().ok()).collect();
    <[u32; 3]>::try_from(sides).ok().filter(|_| text.split('x').count() == 3).ok_or_else(|| {
        SceneError::Builtin {
            name: name.to_owned(),
            reason: "a box is box:NXxNYxNZ with three numbers of particles, e.g. box:9x9x9".to_owned(),
        }
    })
}

/// The single element of T03 Tables 2 and 3. Its natural length is 10/256: the papers do not
/// print it, and with this value every printed digit comes out.
fn table3() -> Scene {
    let mesh = Mesh {
        particles: vec![Vec3::new(1.0, 2.0, 3.0), Vec3::new(6.0, 5.0, 4.0)],
        edges: vec![[0, 1]],
        ..Mesh::default()
    };
    let material = Material { k1: 0.5, c1: 0.5, c2: 2.3 };
    let mut scene = Scene::uniform("table3", mesh, material, 1.0, 0.01, 0.01);
    scene.velocity = vec![Vec3::new(4.0, 5.0, 6.0), Vec3::new(3.0, 2.0, 1.0)];
    scene.extension = vec![7.0 - 10.0 / 256.0];
    scene.scaling =
        ScalingRequest { length: Some(1.0), mass: Some(1.0), time: Some(1.0), ..Default::default() };
    scene
}

/// One element, one end fixed, pulled for a second: H05 Fig. 2.10.
fn single() -> Scene {
    let mesh =
        Mesh { particles: vec![Vec3::zeros(), PITCH * Vec3::x()], edges: vec![[0, 1]], ..Mesh::default() };
    let mut scene = Scene::uniform("single", mesh, MATERIAL, MASS, STEP, 2.0);
    scene.about = UNITS.to_owned();
    scene.support[0] = Support::Pinned;
    scene.loads = vec![Load { particles: vec![1], force: Vec3::new(3000.0, 0.0, 0.0), from: 0.0, to: 1.0 }];
    scene.error_scale = ErrorScale::PeakDisplacement;
    scene
}

/// A free box, two corners of its top face pulled: Figs 2.11 and 2.12 with 9x9x9 particles.
fn loaded_box(name: &str, size: [u32; 3], duration: f64) -> Result<Scene, SceneError> {
    let lattice = Lattice { size, pitch: PITCH, center: Vec3::zeros() };
    let mesh =
        lattice.mesh().map_err(|e| SceneError::Builtin { name: name.to_owned(), reason: e.to_string() })?;
    let top = size[2] - 1;
    let corners = [lattice.index([0, 0, top]), lattice.index([size[0] - 1, size[1] - 1, top])];
    let mut scene = Scene::uniform(name, mesh, MATERIAL, MASS, STEP, duration);
    scene.about = UNITS.to_owned();
    scene.loads = [Vec3::new(6.0, 30.0, 6.0), Vec3::new(-30.0, -15.0, -30.0)]
        .into_iter()
        .zip(corners)
        .map(|(force, corner)| Load { particles: vec![corner], force, from: 0.0, to: 30.0 })
        .collect();
    Ok(scene)
}

/// Three boxes that differ in nothing but their material, pressed from above for two seconds and let go:
/// one comes back, one stays, one does both.
fn materials(name: &str) -> Result<Scene, SceneError> {
    let kinds = [
        ("elastic", Material { k1: 25.0, c1: 30.0, c2: f64::INFINITY }),
        ("viscoplastic", Material { k1: 0.0, c1: 80.0, c2: 80.0 }),
        ("rheological", Material { k1: 25.0, c1: 30.0, c2: 80.0 }),
    ];
    let mut mesh = Mesh::default();
    let mut edge_material = Vec::new();
    for k in 0..kinds.len() {
        let center = (k as f64 - 1.0) * 8.0 * PITCH * Vec3::x();
        let lattice = Lattice { size: [6, 6, 5], pitch: PITCH, center };
        let part = lattice
            .mesh()
            .map_err(|e| SceneError::Builtin { name: name.to_owned(), reason: e.to_string() })?;
        let first = mesh.particles.len() as u32;
        edge_material.extend(part.edges.iter().map(|_| k as u16));
        mesh.particles.extend(part.particles);
        mesh.edges.extend(part.edges.iter().map(|edge| edge.map(|p| first + p)));
        mesh.triangles.extend(part.triangles.iter().map(|t| t.map(|p| first + p)));
        mesh.tetrahedra.extend(part.tetrahedra.iter().map(|t| t.map(|p| first + p)));
    }
    let (low, high) = mesh.bounds();
    let mut scene = Scene::uniform(name, mesh, MATERIAL, MASS, STEP, 10.0);
    scene.about = UNITS.to_owned();
    scene.materials = kinds.map(|(kind, material)| NamedMaterial::plain(kind, material)).to_vec();
    scene.edge_material = edge_material;
    let mut top = Vec::new();
    for (p, place) in scene.mesh.particles.iter().enumerate() {
        if place.z == low.z {
            scene.support[p] = Support::Pinned;
        } else if place.z == high.z {
            top.push(p as u32);
        }
    }
    scene.loads = vec![Load { particles: top, force: Vec3::new(0.0, 0.0, -90.0), from: 0.5, to: 2.5 }];
    Ok(scene)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::InProcess;
    use crate::engine::reference::{Integrator, Reference};

    /// Pressed alike and let go, the three keep what their kind keeps.
    #[test]
    fn one_material_returns_one_stays_one_does_both() {
        let scene = materials("materials").unwrap();
        let mut engine = Reference::new(&scene, Integrator::Euler);
        let top = &scene.loads[0].particles;
        let heights = |engine: &Reference| -> Vec<f64> {
            let sink = |p: &u32| scene.mesh.particles[*p as usize].z - engine.positions()[*p as usize].z;
            top.chunks(top.len() / 3).map(|of| of.iter().map(sink).sum::<f64>() / of.len() as f64).collect()
        };
        engine.advance(scene.steps_for(2.5)).unwrap();
        let pressed = heights(&engine);
        engine.advance(scene.steps_for(scene.duration - 2.5)).unwrap();
        let kept: Vec<f64> = heights(&engine).iter().zip(&pressed).map(|(after, at)| after / at).collect();
        println!("pressed by {pressed:?} m, kept {kept:?}");
        assert!(pressed.iter().all(|by| (2.0..25.0).contains(by)), "{pressed:?}");
        assert!(kept[0].abs() < 0.05, "elastic: {kept:?}");
        assert!(kept[1] > 0.9, "viscoplastic: {kept:?}");
        assert!((0.2..0.8).contains(&kept[2]), "rheological: {kept:?}");
    }
}
