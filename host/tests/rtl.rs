//! The Verilated engine against the model.

use nendo_hdl::{config::Config, verilated::Options};
use nendo_host::{board::Board, device::rtl::Rtl};
use nendo_model::{blocks::Inverse, engine::Model, image::Image, numbers::Profile, scene::Scene};

#[test]
fn smoke() {
    let scene = Scene::open("box:3x3x3").unwrap();
    let image = Image::new(&scene, Profile::Wide, Inverse::Table).unwrap();
    let config = Config::minimal(Profile::Wide, Inverse::Table);
    let mut board = Board::open(Rtl::new(&config, Options::default()).unwrap(), &config).unwrap();
    board.load(&image).unwrap();
    let mut model = Model::new(image.clone(), 1);
    for e in image.events.iter().filter(|e| e.step == 0) {
        board.write_particle(e.particle, image.particles[e.particle as usize].class, e.write).unwrap();
    }
    model.advance(0);
    for _ in 0..5 {
        let cycles = board.run(1).unwrap();
        model.advance(1);
        let memories = board.memories().unwrap();
        assert_eq!(memories.particles, model.particles());
        let u: Vec<i32> = memories.edges.iter().map(|e| e.u).collect();
        assert_eq!(u, model.extensions());
        assert_eq!(cycles, 27 + 90 + 34);
    }
}
