//! `nendo estimate`: hardware and rate without running a tool.

use super::{
    Console, Failure,
    options::{HardwareArgs, SceneArg},
};
use crate::engine;
use nendo_hdl::{
    config::Config,
    resources::{Memory, Multipliers, flip_flops},
    target::Target,
};
use nendo_model::cycles::Depths;
use serde_json::{Value, json};

#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  nendo estimate cube9                       on the papers' own card
  nendo estimate block16 --target acorn
  nendo estimate --profile paper-2005        one minimal set of 1024 particles and 5120 edges")]
pub(super) struct Args {
    /// A scene file or built-in scene; without one, a full minimal memory set
    #[arg(value_name = "SCENE")]
    scene: Option<String>,
    #[command(flatten)]
    hardware: HardwareArgs,
    /// Device: xc2v6000, vc707, vcu118, acorn or ecp5-85k
    #[arg(long, default_value = "xc2v6000", value_name = "T")]
    target: String,
}

pub(super) fn main(args: &Args, console: Console) -> Result<Value, Failure> {
    let target = Target::by_name(&args.target).map_err(Failure::input)?;
    let (profile, inverse) = (args.hardware.profile, args.hardware.inverse());
    let (config, particles, edges) = match &args.scene {
        Some(name) => {
            let scene = SceneArg { scene: name.clone() }.open()?;
            let config = engine::config_for(&scene, profile, inverse);
            (config, scene.mesh.particles.len() as u64, scene.mesh.edges.len() as u64)
        }
        None => {
            let config = Config::minimal(profile, inverse);
            (config, config.particles, config.edges)
        }
    };
    let memory = Memory::of(&config);
    let multipliers = Multipliers::of(&config);
    let cycles = Depths::of(profile, inverse).cycles_per_step(particles, edges);
    let steps_per_s = target.clock_mhz * 1e6 / cycles as f64;
    let ff = flip_flops(&config, &target);
    let fits = memory.total() <= target.brams
        && multipliers.total() <= target.multipliers
        && ff <= target.flip_flops;

    let share =
        |used: u64, of: u64| format!("{used:>6} / {of:>6} {:>7.1} %", 100.0 * used as f64 / of as f64);
    console.say(format!(
        "{} ({}), {profile}, {inverse}: {particles} particles, {edges} edges\n\
         block memories {}\n\
         multipliers    {}\n\
         flip-flops     {} (within 10 %)\n\
         {cycles} cycles per step: {steps_per_s:.0} steps/s at {} MHz (the target's clock, not a routed one)\n\
         {}",
        target.name,
        target.part,
        share(memory.total(), target.brams),
        share(multipliers.total(), target.multipliers),
        share(ff, target.flip_flops),
        target.clock_mhz,
        if fits { "fits" } else { "does not fit" },
    ));
    Ok(json!({
        "target": target,
        "profile": profile,
        "inverse": inverse,
        "modules": args.hardware.modules,
        "particles": particles,
        "edges": edges,
        "memory": memory,
        "brams": memory.total(),
        "multipliers": multipliers.total(),
        "multipliers_by_module": multipliers,
        "ff": ff,
        "cycles_per_step": cycles,
        "steps_per_s": steps_per_s,
        "clock_mhz": target.clock_mhz,
        "fits": fits,
    }))
}
