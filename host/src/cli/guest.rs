//! `nendo board guest`: the first process of a virtual machine, which tries the card there and switches off.
//!
//! Everything is as on a real machine: the kernel has enumerated the card, sysfs shows it, its BAR is mapped.

use super::{Console, Failure};
use crate::{
    board::{Board, selftest::selftest},
    device::{
        Device,
        pci::{Pci, sysfs::Sysfs},
    },
    engine::{BoardEngine, Engine},
    sys::machine,
};
use anyhow::{Context, anyhow};
use nendo_hdl::map::{Map, Win};
use nendo_model::{image::Image, scene::Scene};
use serde_json::{Value, json};
use std::{
    fs,
    time::{Duration, Instant},
};

#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// The scene to run
    #[arg(long, default_value = "cube9")]
    scene: String,
    /// Its steps
    #[arg(long, default_value_t = 20)]
    steps: u64,
    /// Rest so long after every 20 steps
    #[arg(long, default_value_t = 0, value_name = "MS")]
    rest: u64,
    /// Leave the self-test out
    #[arg(long)]
    no_selftest: bool,
}

/// Steps between two looks at the card: a link that is lost is noticed soon.
const AT_A_TIME: u64 = 20;

/// Tries the card, prints one line that begins with `guest:`, and switches the machine off.
pub(super) fn main(args: &Args, console: Console) -> Result<Value, Failure> {
    let result = try_card(args);
    match &result {
        Ok(value) => println!("guest: {value}"),
        Err(error) => println!("guest: {}", json!({ "error": format!("{error:#}") })),
    }
    if std::process::id() == 1 {
        console.say(format!("{}", machine::power_off()));
    }
    Ok(result?)
}

fn try_card(args: &Args) -> anyhow::Result<Value> {
    if std::process::id() == 1 {
        machine::mount("sysfs", "/sys").context("mounting /sys")?;
        machine::mount("devtmpfs", "/dev").context("mounting /dev")?;
    }
    let sysfs = Sysfs::default();
    let boards = sysfs.candidates()?;
    let Some(found) = boards.first() else {
        let ids: Vec<String> =
            fs::read_dir("/sys/bus/pci/devices").into_iter().flatten().flatten().map(ids).collect();
        return Err(anyhow!("no nendo board on the PCI bus; there are {}", ids.join(", ")));
    };
    // No driver has done it.
    fs::write(found.path.join("enable"), "1").context("switching the device on")?;
    let mut device = Pci::sysfs(&sysfs, found.address, 0)?;
    let name = device.name();
    let read_us = median_us(|| device.read(0).map(drop))?;
    let board = Board::open(device)?;
    let mut tested = None;
    let mut board = if args.no_selftest {
        board
    } else {
        let (report, board) = selftest(board)?;
        if !report.passed() {
            return Err(anyhow!("the self-test failed: {} of {} words wrong", report.wrong, report.words));
        }
        tested = Some(report.words);
        board
    };
    let (up, down) = rates(&mut board)?;
    let config = *board.config();
    let image = Image::new(&Scene::open(&args.scene)?, config.profile, config.inverse)?;
    let mut engine = BoardEngine::new(board, image, None)?;
    println!("guest: running");
    let started = Instant::now();
    let mut left = args.steps;
    while left > 0 {
        let now = left.min(AT_A_TIME);
        engine.run(now)?;
        left -= now;
        std::thread::sleep(Duration::from_millis(args.rest));
    }
    Ok(json!({
        "device": name,
        "id": format!("{:04x}:{:04x}", found.vendor, found.device),
        "selftest_words": tested,
        "scene": args.scene,
        "steps": args.steps,
        "state_digest": engine.state_digest()?,
        "link_retries": engine.link_retries(),
        "run_s": started.elapsed().as_secs_f64(),
        "read_us": read_us,
        "bar_write_words_per_s": up,
        "bar_read_words_per_s": down,
    }))
}

/// Vendor and device number of an entry of sysfs.
fn ids(entry: fs::DirEntry) -> String {
    let part = |name: &str| fs::read_to_string(entry.path().join(name)).unwrap_or_default();
    let [vendor, device] = ["vendor", "device"].map(|name| part(name).trim().replace("0x", ""));
    format!("{vendor}:{device}")
}

/// The middle of the times an access takes.
fn median_us(mut access: impl FnMut() -> Result<(), crate::device::DeviceError>) -> anyhow::Result<f64> {
    let mut times = Vec::new();
    for _ in 0..501 {
        let started = Instant::now();
        access()?;
        times.push(started.elapsed().as_secs_f64() * 1e6);
    }
    times.sort_by(f64::total_cmp);
    Ok(times[times.len() / 2])
}

/// Words per second to and from a memory of the engine, through the BAR. The sums are taken up again afterwards.
fn rates(board: &mut Board<Pci>) -> anyhow::Result<(f64, f64)> {
    let base = Map::new(board.config()).window(Win::Edge).base;
    let mut words = vec![0; 2048];
    let device = board.device();
    let started = Instant::now();
    device.read_block(base, &mut words)?;
    let down = words.len() as f64 / started.elapsed().as_secs_f64();
    let started = Instant::now();
    device.write_block(base, &words)?;
    // A read waits until all of them have arrived.
    device.read(0)?;
    let up = words.len() as f64 / started.elapsed().as_secs_f64();
    board.resync()?;
    Ok((up, down))
}
