//! `nendo gen`: Verilog, manifest and register map of a configuration.

use super::{
    CommandError, Console,
    options::{HardwareArgs, SceneArg},
};
use crate::output::write_whole;
use anyhow::Context;
use nendo_hdl::design::Design;
use nendo_model::{contract::image::Image, plan::loaded::Loaded};
use serde_json::{Value, json};
use std::path::PathBuf;

#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  nendo gen -o out/engine                                 one set of 1024 particles and 5120 edges
  nendo gen --modules 4 -o out/four                       four such modules
  nendo gen --profile paper-2005 --for block16 -o out/block16")]
pub(super) struct Args {
    #[command(flatten)]
    hardware: HardwareArgs,
    /// Particles the memories of a module hold (rounded up to 1024)
    #[arg(long, default_value_t = 1024, value_name = "N", value_parser = clap::value_parser!(u64).range(2..=65536))]
    particles: u64,
    /// Edges the memory of a module holds (rounded up to 1024)
    #[arg(long, default_value_t = 5120, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1048576))]
    edges: u64,
    /// Memories just large enough for this scene
    #[arg(long = "for", value_name = "SCENE", conflicts_with_all = ["particles", "edges"])]
    scene: Option<String>,
    /// The folder to write into
    #[arg(long, short, value_name = "DIR")]
    out: PathBuf,
}

pub(super) fn main(args: &Args, console: Console) -> Result<Value, CommandError> {
    let (profile, inverse) = (args.hardware.profile(), args.hardware.inverse());
    let config = match &args.scene {
        Some(name) => {
            let scene = SceneArg { scene: name.clone() }.open()?;
            let image = Image::new(&scene, profile, inverse).map_err(CommandError::input)?;
            Loaded::new(image, args.hardware.modules()).map_err(CommandError::input)?.config
        }
        None => args.hardware.standard().holding(args.particles, args.edges),
    };
    let design = Design::new(&config);
    let mut files = Vec::new();
    for (name, content) in design.files() {
        let path = args.out.join(&name);
        write_whole(&path, content.as_bytes()).with_context(|| format!("writing {}", path.display()))?;
        files.push(name);
    }
    console.say(format!(
        "configuration {}: {profile}, {inverse}, {}\nwrote {} into {}",
        config.hash_text(),
        config.modules_text(),
        files.join(", "),
        args.out.display()
    ));
    Ok(
        json!({ "files": files, "folder": args.out, "config_hash": config.hash_text(), "manifest": design.manifest() }),
    )
}
