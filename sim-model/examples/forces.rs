//! How fast the f32 engine is with every force on: steps per second on one thread, at the sizes of the
//! 2003 system's table, and the largest cube that holds 1000 steps per second.
//!
//!   cargo run --release -p nendo-model --example forces
//!
//! Not run by the tests: it measures speed, for minutes.

use nendo_model::engine::InProcess;
use nendo_model::{
    engine::cpu::Cpu,
    force::{
        Forces,
        contact::{shape::Shape, wall::Boundary},
    },
    mesh::Vec3,
    scene::Scene,
};
use std::time::Instant;

/// What is computed beside plain edges.
#[derive(Clone, Copy, PartialEq)]
enum On {
    /// Nothing.
    Edges,
    /// As the table's ON: topology, volume, a damper that yields, contact with the floor and a manipulation point.
    Table,
    /// And contact of the surface with itself.
    All,
}

fn scene(size: [u32; 3], on: On) -> Scene {
    let file = format!("{}/../scenes/x3-interactive.toml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(file).expect("the scene file");
    let text = text.replace("size = [7, 7, 6]", &format!("size = {size:?}"));
    let mut scene = Scene::parse(&text, "x3").expect("a sound scene");
    let cells: f64 = size.iter().map(|n| f64::from(n - 1)).product();
    if let Some(volume) = &mut scene.forces.volume {
        // The same object, cut finer or coarser, is as stiff as before.
        (volume.stiffness, volume.damping) =
            (volume.stiffness * 180.0 / cells, volume.damping * 180.0 / cells);
    }
    // Nor does it collapse under its own weight, which would cost more than being pressed.
    scene.gravity *= 5.0 / f64::from(size[2] - 1);
    let top = scene.mesh.bounds().1.z;
    let floor = scene.mesh.bounds().0.z - 1e-4;
    let shape = Shape::Ball { center: Vec3::new(0.0, 0.0, top + 0.008), radius: 0.01 };
    let contact = scene.forces.contact.as_mut().expect("the scene has contact");
    contact.boundaries = vec![
        Boundary::still(Shape::Plane { point: floor * Vec3::z(), normal: Vec3::z() }),
        Boundary::still(shape),
    ];
    contact.surfaces = on == On::All;
    if on == On::Edges {
        scene.forces = Forces::default();
        scene.gravity = Vec3::zeros();
    }
    scene
}

/// Seconds this thread has had a core, where the system tells (Linux); else seconds. Others on the machine then hardly
/// count.
fn seconds(since: Instant) -> f64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = told.and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    nanoseconds.map_or_else(|| since.elapsed().as_secs_f64(), |n| n * 1e-9)
}

/// Steps per second: the best of five turns.
fn speed(size: [u32; 3], on: On) -> (f64, usize) {
    let scene = scene(size, on);
    let mut engine = Cpu::new(&scene, 1).expect("an engine");
    engine.advance(200).expect("a stable scene");
    let turn = |engine: &mut Cpu| {
        let begun = Instant::now();
        let (from, mut steps) = (seconds(begun), 0);
        while begun.elapsed().as_secs_f64() < 0.2 {
            engine.advance(50).expect("a stable scene");
            steps += 50;
        }
        f64::from(steps) / (seconds(begun) - from)
    };
    let best = (0..5).map(|_| turn(&mut engine)).fold(0.0, f64::max);
    (best, scene.mesh.edges.len())
}

fn main() {
    println!("particles   edges  forces  2003 Hz  steps/s  with self-contact");
    for (size, on, printed) in [
        ([7, 7, 6], On::Table, 100),
        ([9, 8, 8], On::Edges, 100),
        ([4, 4, 4], On::Table, 1000),
        ([6, 5, 5], On::Edges, 1000),
    ] {
        let (rate, edges) = speed(size, on);
        let all = if on == On::Table { format!("{:.0}", speed(size, On::All).0) } else { "-".to_owned() };
        let [x, y, z] = size;
        let state = if on == On::Table { "on" } else { "off" };
        println!("{x}x{y}x{z:<6} {edges:>6}  {state:<6} {printed:>8} {rate:>8.0}  {all}");
    }
    for on in [On::Table, On::All] {
        let mut largest = 0;
        for n in 6..40 {
            if speed([n; 3], on).0 < 1000.0 {
                break;
            }
            largest = n;
        }
        let what = if on == On::All { "everything on" } else { "the table's forces on" };
        println!("largest cube at 1000 steps/s with {what}: {largest}x{largest}x{largest}");
    }
}
