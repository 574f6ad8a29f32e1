//! The viewer from the outside: what a page sees and does.
#![cfg(feature = "cli")]

mod viewer;

use nendo_model::engine::InProcess;
use nendo_model::{
    contract::{
        image::Image,
        numbers::{Inverse, Profile},
    },
    engine::cpu::Cpu,
    force::contact::wall::Hand,
    mesh::Vec3,
    scene::Scene,
    twin::engine::Model,
};
use serde_json::{Value, json};
use std::process::Command;
use viewer::View;

fn model(change: impl Fn(&mut Model)) -> Vec<[f32; 3]> {
    let scene = Scene::open("box:3x3x3").unwrap();
    let mut model = Model::new(Image::new(&scene, Profile::Wide, Inverse::Table).unwrap(), 1);
    change(&mut model);
    model.positions().iter().map(|p| [p.x as f32, p.y as f32, p.z as f32]).collect()
}

#[test]
fn a_page_sees_the_engines_own_state_and_pulls_at_it() {
    let view = View::start(&["box:3x3x3"]);
    let mut page = view.connect();
    let scene = page.next();
    assert_eq!(scene.header["kind"], "scene");
    assert_eq!((&scene.header["particles"], &scene.header["engine"]), (&json!(27), &json!("model")));
    let mesh = Scene::open("box:3x3x3").unwrap().mesh;
    assert_eq!(scene.words.len(), 4 * (3 * 27 + 2 * mesh.edges.len() + 3 * mesh.triangles.len()));

    // It moves by itself, at its pace.
    let first = page.frame(|h| h["running"] == true);
    page.frame(|h| h["step"].as_u64() > Some(first.step() + 50));

    page.rewind();
    assert_eq!(page.step(25).points(), model(|m| m.advance(25)));

    page.rewind();
    page.tell(json!({"do": "pull", "particle": 13, "force": [1.5, 0, -2]}));
    let pulled = page.step(40);
    let force = Vec3::new(1.5, 0.0, -2.0);
    assert_eq!(
        pulled.points(),
        model(|m| {
            m.pull(13, force).unwrap();
            m.advance(40);
        })
    );
    assert_eq!(pulled.header["pull"]["particle"], 13);
    let reaction: Vec<f64> = serde_json::from_value(pulled.header["pull"]["reaction"].clone()).unwrap();
    assert!(reaction[0] < 0.0 && reaction[2] > 0.0, "the object pulls back: {reaction:?}");

    // No pull is stronger than the limit.
    let limit = scene.header["pull_limit"].as_f64().unwrap();
    page.tell(json!({"do": "pull", "particle": 2, "force": [1e6, 0, 0]}));
    let strong = page.frame(|h| h["pull"]["particle"] == 2);
    assert!((strong.header["pull"]["force"][0].as_f64().unwrap() - limit).abs() < 1e-9 * limit);

    // Who leaves lets go.
    drop(page);
    let mut other = view.connect();
    other.frame(|h| h["pull"].is_null());

    // Errors are counted from the start, beside the reference.
    other.tell(json!({"do": "color", "by": "error"}));
    other.frame(|h| h["step"] == 0 && h["color"] == "error" && h["busy"].is_null());
    let error = other.step(100).header["mean_error"].as_f64().unwrap();
    assert!(error > 0.0 && error < 0.01, "{error} %");
    other.tell(json!({"do": "open", "scene": 1, "engine": "f64", "profile": "wide"}));
    other.frame(|h| h["mean_error"] == 0.0 && h["busy"].is_null());
    view.end();
}

/// `nendo view scenes/` ended at once: the model cannot compute the first scene.
#[test]
fn a_folder_of_scenes_is_shown_each_on_an_engine_that_computes_it() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["press9.toml", "volume-with.toml", "x2-roller.toml"] {
        let shipped = format!("{}/../scenes/{name}", env!("CARGO_MANIFEST_DIR"));
        // So that the first is one that the model cannot compute.
        let name = if name == "volume-with.toml" { "first.toml" } else { name };
        std::fs::copy(shipped, folder.path().join(name)).unwrap();
    }
    let view = View::start(&[folder.path().to_str().unwrap()]);
    let mut page = view.connect();
    let first = page.next().header;
    assert_eq!((&first["choice"], &first["engine"]), (&json!("auto"), &json!("f32")), "{first}");
    assert!(first["engine_why"].as_str().unwrap().contains("volume effect"), "{first}");
    assert!(first["engines"].as_array().unwrap().contains(&json!("auto")), "{first}");
    let scenes: Vec<String> = serde_json::from_value(first["scenes"].clone()).unwrap();
    for (name, engine) in [("press9.toml", "model"), ("x2-roller.toml", "f32")] {
        let number = scenes.iter().position(|s| s == name).unwrap();
        page.tell(json!({"do": "open", "scene": number, "engine": "auto", "profile": "wide"}));
        let header = loop {
            let part = page.next().header;
            if part["kind"] == "scene" {
                break part;
            }
        };
        assert_eq!((&header["scene"], &header["engine"]), (&json!(number), &json!(engine)), "{header}");
        let moves = page.frame(|h| h["busy"].is_null() && h["step"].as_u64() > Some(0));
        assert!(moves.header["trouble"].is_null(), "{}", moves.header);
    }
    // An engine that is asked for is not replaced by another.
    page.tell(json!({"do": "open", "scene": 0, "engine": "model", "profile": "wide"}));
    page.frame(|h| h["trouble"].as_str().is_some_and(|t| t.contains("volume effect")));
    view.end();
}

/// A page was not told of boundaries, nor of what presses on them and on pins. Nine pinned particles of 1 kg each weigh
/// 9 * 9.8 N before anything is stretched; after 0.25 s a ball has gone a quarter of its way, and a roller has turned.
#[test]
fn a_page_saw_no_boundaries_and_no_forces() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("around.toml");
    let text = "step = 0.001\nmass = 1\ngravity = [0, 0, -9.8]\n[mesh.box]\nsize = [3, 3, 3]\npitch = 1\n\
        [materials.m]\nk1 = 1000\nc1 = 10\nc2 = 1000\n[contact]\nstiffness = 1\ndamping = 1\n\
        [[pins]]\nname = \"bottom\"\non = { face = \"z-min\" }\n\
        [[boundaries]]\nplane = { point = [0, 0, -9], normal = [0, 0, 1] }\n\
        [[boundaries]]\nname = \"finger\"\nball = { center = [0, 0, 9], radius = 1 }\n\
        frames = [{ t = 1, offset = [0, 0, 4] }]\n\
        [[boundaries]]\nroller = { center = [0, 0, 6], axis = [0, 1, 0], radius = 1 }\nspin = 2\n";
    std::fs::write(&file, text).unwrap();
    let view = View::start(&[file.to_str().unwrap(), "--engine", "f64"]);
    let mut page = view.connect();
    let scene = page.next();
    let size = |k: usize, what: &str| scene.header["solids"][k][what].as_u64().unwrap();
    assert_eq!(
        (&scene.header["solids"][0]["plane"], &scene.header["solids"][1]["name"]),
        (&json!(true), &json!("finger"))
    );
    let count = |what: &str| scene.header[what].as_u64().unwrap();
    let solids: u64 =
        (0..3).map(|k| 3 * size(k, "corners") + 3 * size(k, "triangles") + 2 * size(k, "lines")).sum();
    let words = 3 * count("particles") + 2 * count("edges") + 3 * count("triangles") + solids;
    assert_eq!(scene.words.len() as u64, 4 * words);
    page.rewind();
    let start = page.step(1).header;
    let pressed = |header: &Value, name: &str| {
        let forces = header["forces"].as_array().unwrap();
        forces.iter().find(|f| f[0] == name).unwrap()[1][2].as_f64().unwrap()
    };
    // In the first step nothing but the weight has begun to act.
    assert!((pressed(&start, "bottom") + 9.0 * 9.8).abs() < 5.0, "{start}");
    assert_eq!(pressed(&start, "plane"), 0.0);
    let later = page.step(249).header;
    assert_eq!(later["step"], 250);
    let pose = |k: usize| -> Vec<f64> { serde_json::from_value(later["poses"][k].clone()).unwrap() };
    assert_eq!(pose(1), [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 10.0]);
    let (sin, cos) = 0.25f64.sin_cos();
    let wanted = [0.0, sin, 0.0, cos, 0.0, 0.0, 6.0];
    assert!(pose(2).iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-12), "{:?}", pose(2));
    assert!(pressed(&later, "bottom") < -9.0 * 9.8, "the rest of it weighs on them by now: {later}");
    view.end();
}

/// A ball pushes in what it is moved into, as the engine itself computes it; where there is no contact it says so.
#[test]
fn a_page_touches_the_object() {
    let view = View::start(&["box:3x3x3", "--engine", "f32"]);
    let mut page = view.connect();
    let scene = Scene::open("box:3x3x3").unwrap();
    let high = scene.mesh.bounds().1.z;
    let top = scene.mesh.particles.iter().position(|p| p.z == high && p.x == 0.0 && p.y == 0.0).unwrap();
    let radius = 0.4 * scene.mesh.width();
    let hand = |depth: f64| Hand { center: Vec3::new(0.0, 0.0, high + radius - depth), radius };
    page.rewind();
    for depth in [0.0, 0.1 * scene.mesh.width()] {
        let Hand { center, radius } = hand(depth);
        page.tell(json!({"do": "touch", "center": [center.x, center.y, center.z], "radius": radius}));
    }
    let touched = page.step(60);
    let mut engine = Cpu::new(&scene, 1).unwrap();
    let free = {
        engine.advance(60).unwrap();
        engine.positions()[top].z
    };
    let mut engine = Cpu::new(&scene, 1).unwrap();
    [0.0, 0.1 * scene.mesh.width()]
        .iter()
        .for_each(|&depth| engine.touch(&scene, Some(&hand(depth))).unwrap());
    engine.advance(60).unwrap();
    let expected: Vec<[f32; 3]> =
        engine.positions().iter().map(|p| [p.x as f32, p.y as f32, p.z as f32]).collect();
    assert_eq!(touched.points(), expected);
    assert!(engine.positions()[top].z < free - 0.005 * scene.mesh.width(), "pushed in from {free}");
    assert_eq!(touched.header["touch"][3].as_f64(), Some(radius));
    // What the hand feels is what the engine says, and goes out of the object.
    let felt = scene.reactions(&InProcess::sense(&engine), 60);
    let told: Vec<(String, [f64; 3])> = serde_json::from_value(touched.header["forces"].clone()).unwrap();
    assert_eq!(told.len(), 1);
    assert!(told[0].0 == "hand" && felt[0].name == "hand" && felt[0].force.z > 0.0, "{told:?} {felt:?}");
    // To the last digit but one, as JSON is read here.
    assert!(
        (Vec3::from(told[0].1) - felt[0].force).norm() < 1e-12 * felt[0].force.norm(),
        "{told:?} {felt:?}"
    );
    page.tell(json!({"do": "release"}));
    page.frame(|h| h["touch"].is_null());
    page.tell(json!({"do": "open", "scene": 0, "engine": "model", "profile": "wide"}));
    page.frame(|h| h["step"] == 0 && h["busy"].is_null());
    page.tell(json!({"do": "touch", "center": [0, 0, 0], "radius": 1.0}));
    page.frame(|h| h["trouble"].as_str().is_some_and(|t| t.contains("choose f32 or f64")));
    view.end();
}

/// Many steps were taken in one go: nobody saw or changed anything until they were over.
#[test]
fn many_steps_of_one_page_do_not_hold_up_the_others() {
    let view = View::start(&["box:12x12x12"]);
    let (mut one, mut other) = (view.connect(), view.connect());
    one.rewind();
    let steps = 100_000;
    one.tell(json!({"do": "step", "steps": steps}));
    let moving = other.frame(|h| h["step"].as_u64() > Some(0));
    other.frame(|h| h["step"].as_u64() > Some(moving.step()));
    other.tell(json!({"do": "pull", "particle": 7, "force": [1, 0, 0]}));
    let pulled = other.frame(|h| h["pull"]["particle"] == 7);
    assert!(pulled.step() < steps, "while it is under way");
    other.tell(json!({"do": "pause"}));
    other.tell(json!({"do": "release"}));
    let ended = one.frame(|h| h["pull"].is_null() && h["step"].as_u64() >= Some(pulled.step())).step();
    assert!(ended < steps, "a pause ends it: {ended}");
    // Told twice, taken twice.
    for _ in 0..2 {
        one.tell(json!({"do": "step", "steps": 3}));
    }
    assert_eq!(one.frame(|h| h["step"].as_u64() >= Some(ended + 6)).step(), ended + 6);
    view.end();
}

/// Another page's "release", or its leaving, let go of whatever somebody held.
#[test]
fn what_a_page_holds_is_not_let_go_by_another() {
    let view = View::start(&["box:3x3x3", "--engine", "f32"]);
    let mut mine = view.connect();
    mine.rewind();
    mine.tell(json!({"do": "pull", "particle": 13, "force": [1, 0, 0]}));
    mine.tell(json!({"do": "touch", "center": [0, 0, 100], "radius": 1.0}));
    let held = |h: &Value| h["pull"]["particle"] == 13 && !h["touch"].is_null();
    mine.frame(held);
    let mut other = view.connect();
    other.tell(json!({"do": "release"}));
    other.tell(json!({"do": "pull", "particle": 5, "force": [1, 0, 0]}));
    other.tell(json!({"do": "touch", "center": [0, 0, 50], "radius": 1.0}));
    // What follows is obeyed after all that.
    other.tell(json!({"do": "speed", "speed": 0.5}));
    let after = mine.frame(|h| h["speed"] == 0.5).header;
    assert!(held(&after) && after["touch"][2] == 100.0, "{after}");
    drop(other);
    let mut third = view.connect();
    third.tell(json!({"do": "speed", "speed": 0.25}));
    assert!(held(&third.frame(|h| h["speed"] == 0.25).header));
    // Who leaves lets go, and then another may hold it.
    drop(mine);
    third.frame(|h| h["pull"].is_null() && h["touch"].is_null());
    third.tell(json!({"do": "pull", "particle": 5, "force": [1, 0, 0]}));
    third.frame(|h| h["pull"]["particle"] == 5);
    view.end();
}

#[test]
fn wrong_scenes_folders_and_addresses_are_wrong_usage() {
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().to_str().unwrap();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    for args in [vec!["no-such-scene"], vec![empty], vec!["cube9", "--listen", &address]] {
        let out = Command::new(env!("CARGO_BIN_EXE_nendo")).arg("view").args(&args).output().unwrap();
        assert_eq!(out.status.code(), Some(2), "{args:?}");
    }
    let scene = Command::new(env!("CARGO_BIN_EXE_nendo"))
        .args(["scene", "box", "3x3x3", "-o"])
        .arg(folder.path().join("b.toml"))
        .output()
        .unwrap();
    assert!(scene.status.success());
    let view = View::start(&[empty]);
    let scenes = view.connect().next().header["scenes"].clone();
    assert_eq!(scenes[0], "b.toml");
    assert!(scenes.as_array().unwrap().contains(&json!("materials")));
    view.end();
}
