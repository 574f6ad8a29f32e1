//! `nendo view`: a scene in the browser.

use super::{
    CommandError, Console, open_failure,
    engine::{Chosen, EngineArgs},
    options::scenes_help,
};
use crate::{
    interrupt,
    view::{Server, Session, Start},
};
use anyhow::{Context, anyhow};
use nendo_model::scene::Scene;
use serde_json::{Value, json};
use std::{net::SocketAddr, path::Path, time::Duration};

#[derive(clap::Args, Debug)]
#[command(after_help = scenes_help() + "
Examples:
  nendo view                            the papers' box
  nendo view materials                  elastic, viscoplastic and rheological side by side
  nendo view cube9 --engine rtl         on the hardware itself, compiled by Verilator
  nendo view scenes/                    choose among the scene files of a folder
  nendo view cube9 --listen 0.0.0.0:8080    for others too; whoever visits needs the printed address")]
pub(super) struct Args {
    /// A scene file, a folder of scene files, or one of the built-in scenes
    #[arg(value_name = "SCENE|DIR", default_value = "cube9")]
    scene: String,
    #[command(flatten)]
    engine: EngineArgs,
    /// Address and port to serve at; port 0 is any free one
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:0", value_parser = address)]
    listen: SocketAddr,
}

fn address(text: &str) -> Result<SocketAddr, &'static str> {
    text.parse().map_err(|_| "an address and a port: 127.0.0.1:8080")
}

/// What there is to choose besides what was asked for.
const OTHERS: [&str; 4] = ["cube9", "materials", "single", "block16"];

/// The scenes to choose from, the first one first.
fn scenes(asked: &str) -> Result<Vec<String>, CommandError> {
    let folder = Path::new(asked);
    let mut scenes = vec![asked.to_owned()];
    if folder.is_dir() {
        let read = || -> std::io::Result<Vec<String>> {
            let files =
                folder.read_dir()?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>()?;
            let scenes = files.iter().filter(|f| f.is_file() && f.extension().is_some_and(|e| e == "toml"));
            Ok(scenes.map(|f| f.to_string_lossy().into_owned()).collect())
        };
        scenes = read().with_context(|| asked.to_owned()).map_err(CommandError::Input)?;
        scenes.sort();
        if scenes.is_empty() {
            let text =
                format!("{asked}: no scene files (*.toml) in this folder; `nendo scene box` makes one");
            return Err(CommandError::input(anyhow!(text)));
        }
    }
    scenes.extend(OTHERS.iter().filter(|o| **o != asked).map(|o| (*o).to_owned()));
    Ok(scenes)
}

pub(super) fn main(args: &Args, console: Console) -> Result<Value, CommandError> {
    let scenes = scenes(&args.scene)?;
    let scene = Scene::open(&scenes[0]).map_err(CommandError::input)?;
    let Chosen { options, why } = args.engine.choose(&scene, console)?;
    let (choice, candidates) = args.engine.asked();
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().context("starting the server")?;
    let server = runtime.block_on(Server::listen(args.listen)).map_err(CommandError::Input)?;
    let start = Start { scenes, scene, options, choice, candidates: candidates.to_vec(), why };
    let session = Session::start(start).map_err(open_failure)?;
    let url = server.url();
    console.answer(format!("open {url} in a browser; Ctrl-C ends it"));
    console.object(&json!({ "url": url }));
    let interrupted = async {
        while !interrupt::requested() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    runtime.block_on(server.serve(session, interrupted));
    // The object has been printed already.
    Ok(Value::Null)
}
