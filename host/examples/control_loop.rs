//! A control loop of one's own at 1 kHz: a hand on a spring leads a corner of the object round, and feels it.
//!
//!   cargo run --release -p nendo-host --example control_loop
//!
//! Each tick reads where the corner is, pulls at it with the spring's force, and has the board take the steps of a
//! millisecond. The model stands for the board; any device name will do.

use nendo_host::{
    board::Board,
    device::{DeviceSpec, Making},
    engine::{BoardEngine, Engine},
    live::Latency,
};
use nendo_model::{
    contract::{image::Image, numbers::Profile},
    mesh::Vec3,
    plan::loaded::Loaded,
    scene::Scene,
};
use std::time::{Duration, Instant};

const TICK: Duration = Duration::from_millis(1);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let device: DeviceSpec = std::env::args().nth(1).unwrap_or_else(|| "model".to_owned()).parse()?;
    let (mut scene, profile) = (Scene::open("box:5x5x5")?, Profile::Wide);
    scene.loads.clear();
    let loaded = Loaded::new(Image::new(&scene, profile, profile.usual_inverse())?, 1)?;
    let board = Board::open(device.open(&Making { config: &loaded.config, threads: 1 })?)?;
    let mut engine = BoardEngine::with(board, loaded, None)?;

    let corner = scene.mesh.particles.len() as u32 - 1;
    let (start, width) = (scene.mesh.particles[corner as usize], scene.mesh.width());
    // As stiff as an element of the object.
    let stiffness = scene.material_of(0).k1;
    let steps = (TICK.as_secs_f64() / scene.step).round().max(1.0) as u64;
    let residual = engine.image().numbers().x.residual;

    let (mut times, mut felt, mut due) = (Vec::new(), Vec3::zeros(), Instant::now());
    for tick in 0..500 {
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        let angle = f64::from(tick) * 0.02;
        let hand = start + 0.002 * width * Vec3::new(angle.sin(), 0.0, 1.0 - angle.cos());
        let words = engine.board().points(&[corner])?[0];
        let place = engine.image().position(words.map(|word| word << residual));
        felt = stiffness * (hand - place);
        engine.pull(corner, felt)?;
        engine.advance(steps)?;
        times.push(due.elapsed());
        due += TICK;
    }
    let Latency { p50, p99, max, .. } = Latency::of(&mut times);
    println!(
        "500 ticks; latency p50 {p50:.0} us, p99 {p99:.0} us, max {max:.0} us; the hand feels {:.3} N",
        felt.norm()
    );
    assert!(felt.norm() > 0.0);
    Ok(engine.close()?)
}
