//! VFIO: the kernel's way to give a device to a program, protected by the IOMMU.

use super::sysfs::Sysfs;
use crate::{
    device::{DeviceError, pci::address::PciAddress},
    sys::{event, vfio},
};
use std::{
    fs::{File, OpenOptions},
    io,
    os::unix::fs::FileExt,
    time::Duration,
};

const API_VERSION: i32 = 0;
/// The command register, and its bit that lets a device read and write memory.
const COMMAND: u64 = 4;
const BUS_MASTER: u16 = 1 << 2;

/// A device that VFIO has given to us.
pub(super) struct Vfio {
    pub(super) device: File,
    /// Whose memory the device may reach.
    pub(super) container: File,
    // The device is ours only as long as this is open.
    _group: File,
}

impl Vfio {
    /// Lets the device read memory that it was given.
    pub(super) fn make_master(&self) -> io::Result<()> {
        let at = vfio::region(&self.device, vfio::CONFIG)?.offset + COMMAND;
        let mut command = [0; 2];
        self.device.read_exact_at(&mut command, at)?;
        let command = u16::from_le_bytes(command) | BUS_MASTER;
        self.device.write_all_at(&command.to_le_bytes(), at)
    }
}

/// INTx of a device, as a counter. It masks itself when it comes, and is unmasked by the next wait: the driver has made
/// the device take it back by then.
pub(super) struct Interrupt {
    device: File,
    event: File,
    state: State,
}

#[derive(PartialEq)]
enum State {
    Off,
    Masked,
    On,
}

impl Interrupt {
    /// The interrupt of a device, if it has one. It is switched on by the first wait.
    pub(super) fn new(device: &File) -> io::Result<Option<Self>> {
        if !vfio::has_interrupt(device)? {
            return Ok(None);
        }
        Ok(Some(Self { device: device.try_clone()?, event: event::counter()?, state: State::Off }))
    }

    /// Waits for it: whether it came.
    pub(super) fn wait(&mut self, time: Duration) -> io::Result<bool> {
        match self.state {
            State::Off => vfio::enable_interrupt(&self.device, &self.event)?,
            State::Masked => vfio::unmask_interrupt(&self.device)?,
            State::On => {}
        }
        self.state = State::On;
        let came = event::wait(&self.event, time)?;
        if came {
            self.state = State::Masked;
        }
        Ok(came)
    }
}

/// Takes a device and finds its BAR 0.
pub(super) fn open(sysfs: &Sysfs, address: PciAddress) -> Result<(Vfio, vfio::Region), DeviceError> {
    let unusable = |text: String| DeviceError::Unusable(format!("vfio:{address}: {text}"));
    let call = |what: &str| DeviceError::io(format!("vfio:{address}: {what}"));
    let group = sysfs.iommu_group(address).ok_or_else(|| {
        unusable(
            "it is in no IOMMU group: switch the IOMMU on in the firmware and the kernel (intel_iommu=on or \
             amd_iommu=on), or use pci: instead"
                .to_owned(),
        )
    })?;
    let path = format!("/dev/vfio/{group}");
    let open = |path: &str| OpenOptions::new().read(true).write(true).open(path);
    let group_file = open(&path).map_err(|error| {
        unusable(format!(
            "{path}: {error}. Bind the device to vfio-pci (echo vfio-pci > driver_override, then bind) and give \
             yourself access to {path}"
        ))
    })?;
    let container = open("/dev/vfio/vfio").map_err(|error| unusable(format!("/dev/vfio/vfio: {error}")))?;
    let version = vfio::version(&container).map_err(call("asking VFIO for its version"))?;
    if version != API_VERSION {
        return Err(unusable(format!("VFIO speaks version {version} of its interface, not {API_VERSION}")));
    }
    if !vfio::group_is_viable(&group_file).map_err(call("asking for the group's status"))? {
        return Err(unusable(format!(
            "group {group} is not free: all its devices must be bound to vfio-pci"
        )));
    }
    vfio::join(&group_file, &container).map_err(call("joining group and container"))?;
    let device = vfio::device(&group_file, &address.to_string()).map_err(call("taking the device"))?;
    let region = vfio::region(&device, 0).map_err(call("asking for BAR 0"))?;
    if !region.mappable {
        return Err(unusable("BAR 0 cannot be mapped".to_owned()));
    }
    Ok((Vfio { device, container, _group: group_file }, region))
}
