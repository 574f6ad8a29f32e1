//! Co-simulation: the Verilated engine, driven through its bus, against the model. Equality, no tolerance.

use nendo_hdl::sim::verilated::SimOptions;
use nendo_host::{
    board::Board,
    cosim::Lockstep,
    device::{Device, rtl::Rtl},
    engine::{BoardEngine, Engine},
};
use nendo_model::{
    contract::{
        config::Config,
        image::Image,
        map::Map,
        numbers::{Inverse, Profile},
        overflow::Overflow,
        words::{Item, Slot},
    },
    scene::Scene,
    testing,
    twin::engine::Model,
};

fn image(name: &str, profile: Profile, inverse: Inverse) -> Image {
    Image::new(&Scene::open(name).unwrap(), profile, inverse).unwrap()
}

/// So many modules, with memories for every scene here: one circuit for all of them.
fn parallel(modules: u64) -> Config {
    let minimal = Config::minimal(Profile::Wide, Inverse::Table);
    match modules {
        1 => minimal.holding(4096, 20480),
        2 => Config { modules, ..minimal.holding(2048, 10240) },
        _ => Config { modules, ..minimal },
    }
}

fn board(config: &Config) -> Board<Rtl> {
    Board::open(Rtl::new(config, SimOptions::default()).unwrap()).unwrap()
}

/// The same digest after many steps, in exactly the predicted number of clocks; returns the ratio to the ideal.
fn same_digest(name: &str, modules: u64, steps: u64, order: Option<Vec<u32>>) -> f64 {
    let image = image(name, Profile::Wide, Inverse::Table);
    let mut engine = BoardEngine::new(board(&parallel(modules)), image.clone(), order).unwrap();
    engine.run(steps).unwrap();
    let mut model = Model::new(image.clone(), 2);
    model.advance(steps);
    assert_eq!(engine.state_digest().unwrap(), model.state_digest(), "{name}, {modules} modules");
    assert_eq!(engine.overflow(), Overflow::NONE);
    let predicted = engine.board().schedule().cycles_per_step();
    assert_eq!(engine.cycles_per_step(), Some(predicted), "{name}, {modules} modules");
    let ratio = predicted as f64 * modules as f64 / image.edges.len() as f64;
    println!("{name}, {modules} modules: {predicted} clocks, {ratio:.4} of the ideal");
    ratio
}

#[test]
fn cube9_200_steps() {
    assert!(same_digest("cube9", 1, 200, None) < 1.04);
}

#[test]
fn cube9_with_edges_backwards() {
    same_digest("cube9", 1, 20, Some((0..3672).rev().collect()));
    same_digest("cube9", 4, 20, Some((0..3672).rev().collect()));
}

/// What the papers' machine does in 1.19 and, by their estimate of four modules, 1.24 times the ideal.
#[test]
fn block16_20_steps() {
    assert!(same_digest("block16", 1, 20, None) < 1.02);
    assert!(same_digest("block16", 4, 20, None) < 1.04);
}

#[test]
fn any_number_of_modules_has_the_same_result() {
    for modules in [2, 4, 8] {
        same_digest("cube9", modules, 20, None);
        same_digest("block16", modules, 3, None);
        random_images(parallel(modules), 30);
    }
}

/// From 5 modules on, a word takes two clocks from one to another; from 17 on three.
#[test]
fn modules_three_clocks_apart_have_the_same_result() {
    same_digest("cube9", 17, 20, None);
    random_images(parallel(17), 10);
}

/// At most 98 clocks of pauses with CORDIC (H05: 90 + 8) and 60 with the table, in every profile.
#[test]
fn pauses_are_within_the_papers() {
    for profile in Profile::HARDWARE {
        for (inverse, most) in [(Inverse::Cordic, 98), (Inverse::Table, 60)] {
            let depths = nendo_model::plan::cycles::Depths::of(profile, inverse, 1);
            assert!(depths.element + depths.particle <= most, "{profile} {inverse}: {depths:?}");
        }
    }
}

/// Random graphs, constants, held particles and forces, calm and overflowing, in every configuration: every
/// memory word after every half step, the flags and the clocks. So many of them, and more until most flags were seen.
fn random_images(config: Config, rounds: u32) {
    let Config { profile, inverse, .. } = config;
    let mut runner = testing::runner();
    let mut seen = Overflow::NONE;
    let (mut words, mut calm) = (0, 0);
    // One circuit for all images: what one leaves behind must not disturb the next.
    let mut device = Some(Rtl::new(&config, SimOptions::default()).unwrap());
    let mut round = 0;
    while round < rounds || seen.sources().count() < 6 {
        assert!(round < 1000, "{seen} is all that overflows");
        let image = testing::sample(testing::images_of(profile, inverse, round % 2 == 0), &mut runner);
        let board = Board::open(device.take().unwrap()).unwrap();
        let mut lockstep = Lockstep::new(board, image.clone()).unwrap();
        for _ in 0..10 {
            let same = lockstep.step().unwrap();
            assert!(same, "{profile} {inverse} round {round}: {:?}\n{image:?}", lockstep.report());
        }
        words += lockstep.report().words_compared;
        seen = seen.union(lockstep.board().overflow());
        calm += u32::from(!lockstep.board().overflow().any());
        device = Some(lockstep.into_device());
        round += 1;
    }
    assert!(words > 1600 * u64::from(round) && calm >= 2, "{words} words, {calm} calm images");
}

#[test]
fn random_images_paper_2003_cordic() {
    random_images(Config::minimal(Profile::Paper2003, Inverse::Cordic), 60);
}

#[test]
fn random_images_paper_2003_table() {
    random_images(Config::minimal(Profile::Paper2003, Inverse::Table), 60);
}

#[test]
fn random_images_paper_2005_cordic() {
    random_images(Config::minimal(Profile::Paper2005, Inverse::Cordic), 60);
}

#[test]
fn random_images_paper_2005_table() {
    random_images(Config::minimal(Profile::Paper2005, Inverse::Table), 60);
}

#[test]
fn random_images_wide_cordic() {
    random_images(Config::minimal(Profile::Wide, Inverse::Cordic), 60);
}

#[test]
fn random_images_wide_table() {
    random_images(Config::minimal(Profile::Wide, Inverse::Table), 60);
}

/// A word that was changed behind the model's back is found and named, in the right step and place.
#[test]
fn a_single_wrong_bit_is_found_and_named() {
    let image = image("box:3x3x3", Profile::Wide, Inverse::Table);
    let config = Config::minimal(Profile::Wide, Inverse::Table);
    let map = Map::new(&config);
    let mut lockstep = Lockstep::new(board(&config), image).unwrap();
    assert!(lockstep.step().unwrap());
    assert!(lockstep.step().unwrap());
    // The lowest bit of the stored extension in one slot, and the edge that is there.
    let window = map.window(Slot::WINDOW);
    let edge = lockstep.board().board().schedule().modules[0][17].edge.unwrap() as usize;
    let board = lockstep.board().board();
    let words = [0, 1].map(|word| board.device().read(window.address(17, word)).unwrap());
    let slot: Slot = map.unpack(&words);
    board.device().write_block(window.address(17, 0), &map.pack(&Slot { u: slot.u ^ 1, ..slot })).unwrap();
    board.resync().unwrap();
    assert!(!lockstep.step().unwrap());
    let found = lockstep.report().first_mismatch.clone().unwrap();
    assert_eq!(
        (found.step, found.mode, found.memory, found.item, found.field),
        (2, "element", "edge", edge, "u")
    );
    assert_eq!((found.enters_at_clock, (found.board - found.model).abs()), (17, 1));
}
