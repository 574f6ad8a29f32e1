//! Drives a board: loads a scene, takes steps, reads points, and compares its words with the bit-accurate model's.
//!
//!   cargo run -p nendo-host --example drive_board                            the model as a board: every machine has it
//!   cargo run -p nendo-host --example drive_board -- pci:0000:03:00.0        a card
//!
//! The driver alone is enough: nendo-host without default features.

use nendo_host::{
    board::Board,
    device::{DeviceSpec, Making},
    engine::{BoardEngine, Engine},
};
use nendo_model::{
    contract::{image::Image, numbers::Profile},
    plan::loaded::Loaded,
    scene::Scene,
    twin::engine::Model,
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let device: DeviceSpec = std::env::args().nth(1).unwrap_or_else(|| "model".to_owned()).parse()?;
    let (scene, profile) = (Scene::open("cube9")?, Profile::Wide);
    let image = Image::new(&scene, profile, profile.usual_inverse())?;

    // What is made to measure (model, rtl) is made for this; what is there already is taken as it is.
    let loaded = Loaded::new(image.clone(), 1)?;
    let board = Board::open(device.open(&Making { config: &loaded.config, threads: 1 })?)?;
    println!("{}: {}", board.name(), board.config().modules_text());
    let mut engine = BoardEngine::new(board, image.clone(), None)?;

    let (steps, corner) = (100, scene.mesh.particles.len() as u32 - 1);
    engine.advance(steps)?;
    let seen = engine.board().points(&[corner])?;
    println!("particle {corner}: words {:?}, {} clocks a step", seen[0], engine.cycles() / steps);

    let mut model = Model::new(image, 1);
    model.advance(steps);
    let (board, model) = (engine.state_digest()?, model.state_digest());
    println!("board {board}\nmodel {model}");
    assert_eq!(board, model, "bit for bit");
    Ok(engine.close()?)
}
