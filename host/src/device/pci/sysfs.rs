//! Boards as the kernel shows them in sysfs. All of it is text from outside: nothing here panics on it.

use crate::device::{DeviceError, pci::address::PciAddress};
use serde::Serialize;
use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// Vendor and device numbers a nendo board may have, and what they mean. Any other device of the same vendor
/// is a candidate, too: its identity registers decide.
pub const KNOWN: [(u16, u16, &str); 1] = [(VENDOR, 0x6e64, "nendo engine")];
/// The FPGA vendor's number, which its PCI cores carry unless told otherwise.
pub const VENDOR: u16 = 0x10ee;

/// Where the kernel lists PCI devices.
#[derive(Clone, Debug)]
pub struct Sysfs {
    root: PathBuf,
}

impl Default for Sysfs {
    fn default() -> Self {
        Self::at("/sys/bus/pci/devices")
    }
}

/// A region of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Region {
    /// Its size in bytes; 0 if it is not there.
    pub bytes: u64,
    /// Whether it is memory (not ports).
    pub memory: bool,
}

/// Whether a BAR can be used, and if not, why not and what to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "state", content = "hint")]
pub enum Usability {
    /// It can.
    Usable,
    /// It cannot, for this reason.
    Unusable(String),
}

/// A PCI device.
#[derive(Clone, Debug, Serialize)]
pub struct PciDevice {
    /// Where it is.
    #[serde(serialize_with = "as_text")]
    pub address: PciAddress,
    /// Vendor number.
    pub vendor: u16,
    /// Device number.
    pub device: u16,
    /// What these numbers mean.
    pub description: String,
    /// The driver that has it.
    pub driver: Option<String>,
    /// Its regions.
    pub regions: Vec<Region>,
    /// Whether BAR 0 can be used.
    pub access: Usability,
    /// Its folder.
    #[serde(skip)]
    pub path: PathBuf,
}

fn as_text<S: serde::Serializer>(address: &PciAddress, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(address)
}

/// The longest file sysfs is believed to have here.
const MAX_TEXT: usize = 64 * 1024;

fn text(path: &Path) -> io::Result<String> {
    let bytes = fs::read(path)?;
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(MAX_TEXT)]);
    Ok(text.trim().to_owned())
}

/// A number as sysfs writes it: hexadecimal after 0x.
fn number(text: &str) -> Option<u64> {
    let digits = text.strip_prefix("0x")?;
    let hex = !digits.is_empty() && digits.len() <= 16 && digits.bytes().all(|b| b.is_ascii_hexdigit());
    hex.then(|| u64::from_str_radix(digits, 16).ok()).flatten()
}

/// A line of `resource`: start, end and flags.
fn region(line: &str) -> Option<Region> {
    const IORESOURCE_MEM: u64 = 0x200;
    let mut words = line.split_whitespace().map(number);
    let (start, end, flags) = (words.next()??, words.next()??, words.next()??);
    let bytes = if end > start { (end - start).checked_add(1)? } else { 0 };
    Some(Region { bytes, memory: flags & IORESOURCE_MEM != 0 })
}

impl Sysfs {
    /// A list of devices somewhere else: for tests.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// All boards that might hold an engine.
    pub fn candidates(&self) -> Result<Vec<PciDevice>, DeviceError> {
        let entries = match fs::read_dir(&self.root) {
            Ok(entries) => entries,
            // No PCI bus: no boards.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(DeviceError::Io { what: self.root.display().to_string(), error }),
        };
        let mut addresses: Vec<PciAddress> =
            entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
        addresses.sort_unstable();
        // A device that vanishes while we look is not a candidate any more.
        let devices = addresses.into_iter().filter_map(|address| self.device(address).ok());
        Ok(devices.filter(|device| device.vendor == VENDOR).collect())
    }

    /// The folder of a device.
    fn folder(&self, address: PciAddress) -> PathBuf {
        self.root.join(address.to_string())
    }

    /// One device.
    pub fn device(&self, address: PciAddress) -> Result<PciDevice, DeviceError> {
        let path = self.folder(address);
        let id = |name: &str| {
            let file = path.join(name);
            let value = text(&file).map_err(|error| match error.kind() {
                io::ErrorKind::NotFound => DeviceError::Unusable(format!(
                    "there is no PCI device {address} (or it has just vanished); see `nendo board list`"
                )),
                _ => DeviceError::Io { what: file.display().to_string(), error },
            })?;
            number(&value).and_then(|n| u16::try_from(n).ok()).ok_or_else(|| {
                DeviceError::Unusable(format!("{}: `{value}` is no {name} number", file.display()))
            })
        };
        let (vendor, device) = (id("vendor")?, id("device")?);
        let regions = text(&path.join("resource")).unwrap_or_default();
        let regions = regions
            .lines()
            .take(6)
            .map(|l| region(l).unwrap_or(Region { bytes: 0, memory: false }))
            .collect();
        let driver = fs::read_link(path.join("driver")).ok();
        let driver = driver.and_then(|link| Some(link.file_name()?.to_string_lossy().into_owned()));
        let known = KNOWN.iter().find(|(v, d, _)| (*v, *d) == (vendor, device));
        let description =
            known.map_or_else(|| format!("device {device:04x} of vendor {vendor:04x}"), |k| k.2.to_owned());
        let mut found = PciDevice {
            address,
            vendor,
            device,
            description,
            driver,
            regions,
            access: Usability::Usable,
            path,
        };
        if let Err(error) = found.usable_bar(0) {
            found.access = Usability::Unusable(error.to_string());
        }
        Ok(found)
    }

    /// The number of the IOMMU group of a device, for VFIO.
    pub fn iommu_group(&self, address: PciAddress) -> Option<String> {
        let link = fs::read_link(self.folder(address).join("iommu_group")).ok()?;
        Some(link.file_name()?.to_string_lossy().into_owned())
    }
}

impl PciDevice {
    /// The size of a BAR.
    pub fn bar_bytes(&self, bar: usize) -> u64 {
        self.regions.get(bar).map_or(0, |r| r.bytes)
    }

    /// The file of a BAR, if it can be mapped.
    pub fn usable_bar(&self, bar: usize) -> Result<PathBuf, DeviceError> {
        let unusable = |text: String| DeviceError::Unusable(format!("pci:{}: {text}", self.address));
        match self.regions.get(bar) {
            None | Some(Region { bytes: 0, .. }) => {
                return Err(unusable(format!(
                    "it has no BAR {bar}; is its bitstream loaded, and was the bus rescanned?"
                )));
            }
            Some(Region { memory: false, .. }) => return Err(unusable(format!("BAR {bar} is not memory"))),
            Some(_) => {}
        }
        if text(&self.path.join("enable")).is_ok_and(|enabled| enabled == "0") {
            let enable = self.path.join("enable");
            return Err(unusable(format!(
                "the device is switched off; as root: echo 1 > {}",
                enable.display()
            )));
        }
        let path = self.path.join(format!("resource{bar}"));
        match super::open(&path) {
            Ok(_) => Ok(path),
            Err(error) => Err(unusable(error.to_string())),
        }
    }
}
