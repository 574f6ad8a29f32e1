//! `nendo board emulate`: the card for a virtual machine.

use super::{CommandError, Console, options::HardwareArgs};
use crate::{
    device::{Device, DeviceSpec, Making},
    emulate::{Card, Emulator},
    interrupt,
};
use anyhow::anyhow;
use nendo_model::contract::map::Map;
use serde_json::{Value, json};
use std::{path::PathBuf, sync::mpsc, time::Duration};

#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  nendo board emulate --socket /tmp/card.sock --device rtl
  qemu-system-x86_64 ... -device '{\"driver\":\"vfio-user-pci\",\"socket\":{\"type\":\"unix\",\"path\":\"/tmp/card.sock\"}}'")]
pub(super) struct Args {
    /// Where to listen
    #[arg(long, value_name = "PATH")]
    socket: PathBuf,
    /// What is behind it: model, rtl (Verilated) or pci-sim
    #[arg(long, default_value = "model", value_name = "DEVICE")]
    device: DeviceSpec,
    #[command(flatten)]
    hardware: HardwareArgs,
    /// Another vendor and device number than the card's, for testing drivers
    #[arg(long, value_name = "VVVV:DDDD", value_parser = id)]
    id: Option<(u16, u16)>,
    /// Another size of BAR 0 than the engine needs, for testing drivers
    #[arg(long, value_name = "BYTES")]
    bar_bytes: Option<u32>,
    /// Let the card fetch uploads from the guest's memory by itself, which the card as it is built cannot
    #[arg(long)]
    dma: bool,
    /// End when the first client has gone
    #[arg(long)]
    once: bool,
}

fn id(text: &str) -> Result<(u16, u16), String> {
    let number = |part: &str| u16::from_str_radix(part, 16).ok().filter(|_| part.len() == 4);
    let parts = text.split_once(':').and_then(|(v, d)| number(v).zip(number(d)));
    parts.ok_or_else(|| format!("`{text}` is no pair of numbers; the card's is 10ee:6e64"))
}

pub(super) fn main(args: &Args, console: Console) -> Result<Value, CommandError> {
    if !args.device.is_made_to_measure() {
        return Err(CommandError::input(anyhow!(
            "a card is emulated by model, rtl or pci-sim; see --device"
        )));
    }
    let config = args.hardware.standard()?;
    let device = args.device.open(&Making { config: &config, threads: 1 }).map_err(anyhow::Error::from)?;
    let name = device.name();
    let mut card = Card::new(Map::new(&config).size);
    (card.vendor, card.device) = args.id.unwrap_or((card.vendor, card.device));
    card.bar_bytes = args.bar_bytes.unwrap_or(card.bar_bytes);
    card.dma = args.dma;
    let mut emulator = Emulator::new(&args.socket, card, device).map_err(CommandError::input)?;
    console.say(format!(
        "{:04x}:{:04x}, BAR 0 of {} bytes, {name} behind it, on {}",
        card.vendor,
        card.device,
        card.bar_bytes,
        args.socket.display()
    ));
    let place = emulator.place();
    // The server waits for its clients without end; this thread watches for Ctrl-C.
    let (tell, told) = mpsc::channel();
    let once = args.once;
    std::thread::spawn(move || {
        loop {
            let served = emulator.serve();
            let ends = once;
            if tell.send(served).is_err() || ends {
                return;
            }
        }
    });
    let mut clients = Vec::new();
    while !interrupt::requested() {
        match told.recv_timeout(Duration::from_millis(100)) {
            Ok(Ok(counts)) => {
                let text = format!(
                    "{} words read, {} written, {} fetched, {} refused, {} interrupts",
                    counts.read, counts.written, counts.fetched, counts.refused, counts.interrupts
                );
                console.say(format!("a client has gone: {text}"));
                clients.push(counts);
            }
            Ok(Err(error)) => console.say(error.to_string()),
            Err(mpsc::RecvTimeoutError::Disconnected) => break,
            Err(mpsc::RecvTimeoutError::Timeout) => {}
        }
    }
    // The server's thread may still wait for a client: its socket goes with us.
    place.remove();
    Ok(json!({ "device": name, "socket": args.socket, "clients": clients }))
}
