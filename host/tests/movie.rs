//! Moving pictures: as many frames as asked for, whole files however the run ends, and words where something is missing.
#![cfg(feature = "cli")]

mod common;

use common::{json, ok};
use serde_json::Value;
use std::{
    fs::{self, File},
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

const NENDO: &str = env!("CARGO_BIN_EXE_nendo");

/// Width, height, and how many frames, by the decoder of the crate that browsers' engines in Rust use.
fn gif(file: &Path) -> (u16, u16, usize) {
    let mut decoder = gif::DecodeOptions::new().read_info(File::open(file).unwrap()).unwrap();
    let mut frames = 0;
    while decoder.read_next_frame().unwrap().is_some() {
        frames += 1;
    }
    (decoder.width(), decoder.height(), frames)
}

/// Width and height, from the head of a PNG file.
fn png(file: &Path) -> (u32, u32) {
    let bytes = fs::read(file).unwrap();
    let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
    assert_eq!(&bytes[1..4], b"PNG");
    (number(16), number(20))
}

#[test]
fn a_movie_has_the_frames_and_the_size_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sub/cube.gif");
    let path = file.to_str().unwrap();
    let movie = ["movie", "cube9", "--steps", "100", "--size", "240x200", "--engine", "f32", "-o", path];
    let report = ok(&[&movie[..], &["--frames", "5", "--colour", "force", "--view", "side"]].concat());
    assert_eq!(gif(&file), (240, 200, 5));
    assert_eq!((&report["frames"], report["file"].as_str()), (&5.into(), Some(path)));
    assert_eq!(report["seconds"].as_f64(), Some(0.1), "100 steps of 0.001 s: {report}");
    // No more frames than states.
    let series = folder.path().join("series/");
    let series = [series.to_str().unwrap(), "/"].concat();
    let report = ok(&["movie", "box:3x3x3", "--steps", "2", "--size", "240x200", "-o", &series]);
    assert_eq!(report["frames"], 3);
    for frame in 0..3 {
        assert_eq!(png(Path::new(&format!("{series}frame-{frame:05}.png"))), (240, 200));
    }
}

/// What was computed before a run burst is a movie: it is what one wants to look at.
#[test]
fn a_run_that_diverges_leaves_a_whole_movie_and_picture() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let burst = "step = 0.02\nduration = 20\nmass = 0.001\n[mesh.box]\nsize = [4, 4, 4]\npitch = 0.01\n\
        [materials.m]\nk1 = 60\nc1 = 0.1\nc2 = inf\n[[pins]]\non = { face = \"z-min\" }\n\
        [[velocities]]\non = { face = \"z-max\" }\nvelocity = [0, 0, 0.001]\n";
    fs::write(at("burst.toml"), burst).unwrap();
    let scene = at("burst.toml");
    let movie = ["movie", &scene, "--engine", "f64", "--force", "--size", "200x200", "--frames", "1001"];
    let (code, report) = json(&[&movie[..], &["-o", &at("burst.gif")]].concat());
    let frames = report["frames"].as_u64().unwrap();
    assert!(code == 1 && (2..1001).contains(&frames), "{report}");
    assert!(report["error"].as_str().unwrap().contains("the simulation diverged"), "{report}");
    assert_eq!(gif(Path::new(&at("burst.gif"))), (200, 200, frames as usize));
    let (code, report) =
        json(&["picture", &scene, "--engine", "f64", "--force", "--at", "0,0.02,20", "-o", &at("burst.svg")]);
    assert!(code == 1 && report["pictures"] == 2, "{report}");
    assert!(fs::read_to_string(at("burst.svg")).unwrap().ends_with("</svg>\n"));
}

#[test]
fn an_interrupted_run_leaves_the_frames_it_came_to() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cube.gif");
    let child = Command::new(NENDO)
        .args(["movie", "box:12x12x12", "--steps", "10000000", "--frames", "10000", "--size", "200x160"])
        .args(["--engine", "f64", "--json", "-o"])
        .arg(&file)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The first frame is of the first step; then a thousand steps a frame.
    let started = Instant::now();
    while started.elapsed() < Duration::from_millis(800) {
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let out = child.wait_with_output().unwrap();
    let report: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(out.status.code(), Some(1), "{report}");
    assert!(report["error"].as_str().unwrap().starts_with("interrupted after "), "{report}");
    assert_eq!(report["frames"].as_u64().unwrap() as usize, gif(&file).2);
}

/// Without ffmpeg its name and the way around it are said, before the run; with one, it gets every pixel.
#[test]
fn videos_are_made_by_ffmpeg_where_that_is() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cube.mp4");
    let movie = |path: &str| {
        Command::new(NENDO)
            .args(["movie", "cube9", "--steps", "30", "--frames", "4", "--size", "201x160", "--json", "-o"])
            .arg(&file)
            .env("PATH", path)
            .output()
            .unwrap()
    };
    let without = movie(folder.path().to_str().unwrap());
    let report: Value = serde_json::from_slice(&without.stdout).unwrap();
    let error = report["error"].as_str().unwrap();
    assert!(without.status.code() == Some(1) && error.contains("ffmpeg") && error.contains("PNG"), "{error}");
    assert!(!file.exists());
    // It stands in for ffmpeg: what it is given is what it makes; the last word is the file.
    let tool = folder.path().join("ffmpeg");
    fs::write(&tool, "#!/bin/sh\nfor last; do :; done\necho \"$@\" > \"$0.args\"\nexec cat > \"$last\"\n")
        .unwrap();
    assert!(Command::new("chmod").arg("+x").arg(&tool).status().unwrap().success());
    let with = movie(&format!("{}:/usr/bin:/bin", folder.path().display()));
    let report: Value = serde_json::from_slice(&with.stdout).unwrap();
    assert!(with.status.success() && report["frames"] == 4, "{report}");
    assert_eq!(fs::metadata(&file).unwrap().len(), 4 * 201 * 160 * 3);
    let args = fs::read_to_string(folder.path().join("ffmpeg.args")).unwrap();
    assert!(args.contains("-pix_fmt rgb24 -s 201x160 -r 20 -i -"), "{args}");
    // Its complaints are ours.
    fs::write(&tool, "#!/bin/sh\necho 'Unknown encoder' >&2\nexit 3\n").unwrap();
    let failing = movie(&format!("{}:/usr/bin:/bin", folder.path().display()));
    let report: Value = serde_json::from_slice(&failing.stdout).unwrap();
    assert!(failing.status.code() == Some(1), "{report}");
    assert!(report["error"].as_str().unwrap().contains("Unknown encoder"), "{report}");
    assert_eq!(fs::metadata(&file).unwrap().len(), 4 * 201 * 160 * 3, "the movie of before is there");
}

#[test]
fn careless_movies_get_good_words() {
    for (line, words) in [
        ("movie cube9 -o never.avi", "/ for a folder of PNG files"),
        ("movie cube9 -o never", ".gif, .mp4 or .webm"),
        ("movie cube9 -o never.gif --png", "--png makes a folder"),
        ("movie cube9 -o never.gif --size 10x10", "width x height"),
        ("movie cube9 -o never.gif --view up", "azimuth,elevation"),
        ("movie cube9 -o never.gif --cut 0.5", "x=0.04"),
        ("movie cube9 -o never.gif --scale -1", "above 0"),
        ("movie cube9 -o never.gif --colour material --scale 1", "leave it out"),
        ("movie cube9 -o never.gif --fps 0", "1..=50"),
        ("movie box:20x20x20 --steps 20000 -o never.gif --frames 10000", "at most"),
    ] {
        let out = common::nendo(&line.split(' ').collect::<Vec<_>>());
        let said = common::stderr(&out);
        assert!(out.status.code() == Some(2) && said.contains(words), "{line}: {said}");
        assert!(
            fs::read_dir(".").unwrap().all(|e| !e
                .unwrap()
                .file_name()
                .to_string_lossy()
                .starts_with("never"))
        );
    }
}
