//! A scene in Rust, without a file: a bar of dough, one end held, the other pulled for a second and let go.
//!
//!   cargo run -p nendo-model --example own_scene

use nendo_model::{
    engine::{self, Engine, Kind, Options},
    force::Material,
    mesh::{Lattice, Vec3},
    scene::{Load, Scene, Support},
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // 9 x 3 x 3 particles, 10 mm apart, 2 g each; k1 in N/m, c1 and c2 in N s/m.
    let mesh = Lattice { size: [9, 3, 3], pitch: 0.01, center: Vec3::zeros() }.mesh()?;
    let dough = Material::new(50.0, 0.5, 20.0)?;
    let mut scene = Scene::uniform("bar", mesh, dough, 0.002, 0.001, 3.0);

    let (left, right) = scene.mesh.bounds();
    let at = |x: f64| {
        let near = |p: &Vec3| (p.x - x).abs() < 1e-6;
        let found = scene.mesh.particles.iter().enumerate().filter(|(_, p)| near(p)).map(|(k, _)| k as u32);
        found.collect::<Vec<u32>>()
    };
    let (held, pulled) = (at(left.x), at(right.x));
    held.iter().for_each(|&p| scene.support[p as usize] = Support::Pinned);
    scene.loads.push(Load { particles: pulled.clone(), force: Vec3::x() * 0.005, from: 0.0, to: 1.0 });

    // The same scene on three engines: without rounding, fast, and as the hardware computes it.
    for kind in [Kind::F64, Kind::F32, Kind::Model] {
        let mut engine = engine::open(&scene, &Options { kind, ..Options::default() })?;
        let stretch = |engine: &mut Box<dyn Engine>| -> Result<f64, engine::EngineError> {
            let p = pulled[0] as usize;
            Ok(1e3 * (engine.positions()?[p].x - scene.mesh.particles[p].x))
        };
        // Numbers that overflow and particles that fly apart are errors, too.
        engine.advance(scene.steps_for(1.0))?;
        let loaded = stretch(&mut engine)?;
        engine.advance(scene.steps_for(2.0))?;
        let released = stretch(&mut engine)?;
        println!("{kind:?}: {loaded:.3} mm longer when let go, {released:.3} mm two seconds later");
        assert!(0.0 < released && released < loaded, "dough returns in part");
    }
    Ok(())
}
