//! The first process of a virtual machine, which tries the card there and switches off (`scripts/test-pci`).
//!
//! Everything is as on a real machine: the kernel has enumerated the card, sysfs shows it, its BAR is mapped. With
//! `--vfio` it is given to VFIO, and everything is tried twice: polled and by interrupt, through the BAR and by DMA.
//!
//! Options: `--scene NAME`, `--steps N`, `--rest MS` after every 20 steps, `--no-selftest`, `--vfio`, `--interrupt` (wait
//! for it, whether the card has one or not).

mod machine;

use anyhow::{Context, anyhow, bail};
use nendo_host::{
    board::{Board, Completion},
    device::{
        Device,
        pci::{
            Pci,
            sysfs::{PciDevice, Sysfs},
        },
    },
    engine::{BoardEngine, Engine},
    selftest::selftest,
};
use nendo_model::{
    contract::{
        image::Image,
        map::{Map, WindowName},
    },
    scene::Scene,
};
use serde_json::{Value, json};
use std::{
    fs,
    process::ExitCode,
    time::{Duration, Instant},
};

/// What is to be tried.
struct Args {
    scene: String,
    steps: u64,
    rest: u64,
    no_selftest: bool,
    vfio: bool,
    interrupt: bool,
}

impl Args {
    fn parse(mut words: impl Iterator<Item = String>) -> anyhow::Result<Self> {
        let mut args = Self {
            scene: "cube9".to_owned(),
            steps: 20,
            rest: 0,
            no_selftest: false,
            vfio: false,
            interrupt: false,
        };
        while let Some(word) = words.next() {
            let mut value = || words.next().with_context(|| format!("{word} needs a value"));
            match word.as_str() {
                "--scene" => args.scene = value()?,
                "--steps" => args.steps = value()?.parse().context("--steps")?,
                "--rest" => args.rest = value()?.parse().context("--rest")?,
                "--no-selftest" => args.no_selftest = true,
                "--vfio" => args.vfio = true,
                "--interrupt" => args.interrupt = true,
                other => bail!("unknown option {other}"),
            }
        }
        Ok(args)
    }
}

/// Steps between two looks at the card: a link that is lost is noticed soon.
const AT_A_TIME: u64 = 20;
/// Runs that are timed: how many, of how many steps.
const TIMED: [(u64, u64); 2] = [(100, 1), (1, 100)];
/// Kernel modules that the machine brings along, in the order of their names.
const MODULES: &str = "/modules";

/// Tries the card, prints one line that begins with `guest:`, and switches the machine off. Anywhere but as the first
/// process of a machine it does nothing.
fn main() -> ExitCode {
    if std::process::id() != 1 {
        eprintln!(
            "this is for the first process of a virtual machine, which it switches off: see scripts/test-pci"
        );
        return ExitCode::from(2);
    }
    match Args::parse(std::env::args().skip(1)).and_then(|args| try_card(&args)) {
        Ok(value) => println!("guest: {value}"),
        Err(error) => println!("guest: {}", json!({ "error": format!("{error:#}") })),
    }
    eprintln!("{}", machine::power_off());
    ExitCode::FAILURE
}

fn try_card(args: &Args) -> anyhow::Result<Value> {
    machine::mount("sysfs", "/sys").context("mounting /sys")?;
    machine::mount("devtmpfs", "/dev").context("mounting /dev")?;
    let sysfs = Sysfs::default();
    let boards = sysfs.candidates()?;
    let Some(found) = boards.first() else {
        let ids: Vec<String> =
            fs::read_dir("/sys/bus/pci/devices").into_iter().flatten().flatten().map(ids).collect();
        return Err(anyhow!("no nendo board on the PCI bus; there are {}", ids.join(", ")));
    };
    let mut device = if args.vfio {
        give_to_vfio(found)?;
        Pci::vfio(&sysfs, found.address)?
    } else {
        // No driver has done it.
        fs::write(found.path.join("enable"), "1").context("switching the device on")?;
        Pci::sysfs(&sysfs, found.address, 0)?
    };
    let name = device.name();
    let dma = device.has_dma();
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
    board.device().use_dma(false);
    let (up, down) = rates(&mut board)?;
    board.device().use_dma(true);
    let fetched = if dma { Some(rates(&mut board)?.0) } else { None };
    println!("guest: BAR: {up:.0} words/s up, {down:.0} down; a read takes {read_us:.0} us");
    if let Some(fetched) = fetched {
        println!("guest: DMA: {fetched:.0} words/s up");
    }
    let config = *board.config();
    let image = Image::new(&Scene::open(&args.scene)?, config.profile, config.inverse)?;
    let mut ways = Vec::new();
    let mut digest = None;
    for (on, how) in
        [(!args.interrupt, Completion::Poll), (args.vfio || args.interrupt, Completion::Interrupt)]
    {
        if !on {
            continue;
        }
        board.set_completion(how)?;
        let mut engine = BoardEngine::new(board, image.clone(), None)?;
        println!("guest: running");
        let mut left = args.steps;
        while left > 0 {
            let now = left.min(AT_A_TIME);
            engine.run(now)?;
            left -= now;
            if args.rest > 0 {
                println!("guest: resting");
                std::thread::sleep(Duration::from_millis(args.rest));
            }
        }
        let found = engine.state_digest()?;
        anyhow::ensure!(
            digest.get_or_insert_with(|| found.clone()) == &found,
            "{how:?} gives another digest"
        );
        for runs in TIMED {
            ways.push(timed(&mut engine, runs)?);
        }
        board = engine.into_board();
    }
    Ok(json!({
        "device": name,
        "id": format!("{:04x}:{:04x}", found.vendor, found.device),
        "selftest_words": tested,
        "scene": args.scene,
        "steps": args.steps,
        "state_digest": digest,
        "link_retries": board.retries(),
        "completion": ways,
        "read_us": read_us,
        "bar_write_words_per_s": up,
        "bar_read_words_per_s": down,
        "dma_words_per_s": fetched,
    }))
}

/// Loads the modules, and has VFIO's driver take the card.
fn give_to_vfio(found: &PciDevice) -> anyhow::Result<()> {
    let mut modules: Vec<_> =
        fs::read_dir(MODULES).context("modules of VFIO")?.flatten().map(|entry| entry.path()).collect();
    modules.sort();
    for module in &modules {
        machine::load_module(module).with_context(|| format!("loading {}", module.display()))?;
    }
    fs::write(found.path.join("driver_override"), "vfio-pci").context("choosing the driver vfio-pci")?;
    fs::write("/sys/bus/pci/drivers_probe", found.address.to_string()).context("binding to vfio-pci")
}

/// What waiting costs: so many runs of so many steps each.
fn timed(engine: &mut BoardEngine<Pci>, (runs, steps): (u64, u64)) -> anyhow::Result<Value> {
    let reads = engine.board().device().reads();
    let (started, processor) = (Instant::now(), machine::processor_time());
    let mut slowest = Duration::ZERO;
    for _ in 0..runs {
        let started = Instant::now();
        engine.run(steps)?;
        slowest = slowest.max(started.elapsed());
    }
    let time = started.elapsed().as_secs_f64();
    let share = (machine::processor_time() - processor).as_secs_f64() / time;
    let reads = engine.board().device().reads() - reads;
    let how = engine.board().completion();
    let ms = 1e3 * time / runs as f64;
    let reads = reads as f64 / runs as f64;
    println!(
        "guest: {runs} x {steps} steps, {how:?}: {ms:.2} ms a run, {:.0} steps/s, {reads:.1} reads a run, {:.0} % of \
         the processor",
        (runs * steps) as f64 / time,
        100.0 * share
    );
    Ok(json!({
        "how": how,
        "runs": runs,
        "steps": steps,
        "ms_per_run": ms,
        "slowest_ms": 1e3 * slowest.as_secs_f64(),
        "reads_per_run": reads,
        "processor_share": share,
    }))
}

/// Vendor and device number of an entry of sysfs.
fn ids(entry: fs::DirEntry) -> String {
    let part = |name: &str| fs::read_to_string(entry.path().join(name)).unwrap_or_default();
    let [vendor, device] = ["vendor", "device"].map(|name| part(name).trim().replace("0x", ""));
    format!("{vendor}:{device}")
}

/// The middle of the times an access takes.
fn median_us(mut access: impl FnMut() -> Result<(), nendo_host::device::DeviceError>) -> anyhow::Result<f64> {
    let mut times = Vec::new();
    for _ in 0..501 {
        let started = Instant::now();
        access()?;
        times.push(started.elapsed().as_secs_f64() * 1e6);
    }
    times.sort_by(f64::total_cmp);
    Ok(times[times.len() / 2])
}

/// Words per second to and from a memory of the engine. The sums are taken up again afterwards.
fn rates(board: &mut Board<Pci>) -> anyhow::Result<(f64, f64)> {
    let base = Map::new(board.config()).window(WindowName::Edge).base;
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
