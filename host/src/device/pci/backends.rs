//! The three ways to a PCI board, as users name them.

use super::{
    Pci,
    address::PciAddress,
    sysfs::{Sysfs, Usability},
};
use crate::device::{
    DeviceError, SpecError,
    backend::{Backend, Found},
};
use std::path::Path;

/// A BAR through sysfs.
pub const SYSFS: Backend = Backend {
    prefix: "pci",
    argument: Some("0000:03:00.0"),
    help: "a board's BAR",
    made_to_measure: false,
    threads: false,
    check: |argument| argument.parse::<PciAddress>().map(drop),
    open: |argument, _| Ok(Box::new(Pci::sysfs(&Sysfs::default(), address(argument)?, 0)?)),
    list: || found(&Sysfs::default()),
};

/// A board behind the XDMA driver.
pub const XDMA: Backend = Backend {
    prefix: "xdma",
    argument: Some("0"),
    help: "a board behind the XDMA driver",
    made_to_measure: false,
    threads: false,
    check: |argument| number(argument).map(drop),
    open: |argument, _| Ok(Box::new(Pci::xdma(Path::new("/dev"), number(argument).map_err(unusable)?)?)),
    list: || {
        let here = |n: &u32| Path::new(&format!("/dev/xdma{n}_user")).exists();
        let board = |n: u32| Found {
            name: format!("xdma:{n}"),
            description: "behind the XDMA driver".to_owned(),
            hindrance: None,
            detail: None,
        };
        Ok((0..8).filter(here).map(board).collect())
    },
};

/// A board through VFIO. Which boards there are sysfs tells.
pub const VFIO: Backend = Backend {
    prefix: "vfio",
    argument: Some("0000:03:00.0"),
    help: "a board through VFIO, with interrupts and DMA",
    made_to_measure: false,
    threads: false,
    check: |argument| argument.parse::<PciAddress>().map(drop),
    open: |argument, _| Ok(Box::new(Pci::vfio(&Sysfs::default(), address(argument)?)?)),
    list: Backend::none_listed,
};

fn unusable(error: SpecError) -> DeviceError {
    DeviceError::Unusable(error.to_string())
}

fn address(argument: &str) -> Result<PciAddress, DeviceError> {
    argument.parse().map_err(unusable)
}

fn number(argument: &str) -> Result<u32, SpecError> {
    let plain = !argument.is_empty() && argument.len() <= 4 && argument.bytes().all(|b| b.is_ascii_digit());
    let number = plain.then(|| argument.parse().ok()).flatten();
    number.ok_or_else(|| SpecError::new(argument, "is no XDMA device number; the first one is xdma:0"))
}

/// Boards that might hold an engine.
fn found(sysfs: &Sysfs) -> Result<Vec<Found>, DeviceError> {
    let boards = sysfs.candidates()?.into_iter().map(|board| Found {
        name: format!("pci:{}", board.address),
        description: format!(
            "[{:04x}:{:04x}] {}, driver {}",
            board.vendor,
            board.device,
            board.description,
            board.driver.as_deref().unwrap_or("none")
        ),
        hindrance: match &board.access {
            Usability::Usable => None,
            Usability::Unusable(why) => Some(why.clone()),
        },
        detail: serde_json::to_value(&board).ok(),
    });
    Ok(boards.collect())
}
