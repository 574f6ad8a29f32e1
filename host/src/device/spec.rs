//! Device names as users write them.

use std::{fmt, path::PathBuf, str::FromStr};

/// A PCI address: domain, bus, device and function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PciAddress {
    /// Domain.
    pub domain: u16,
    /// Bus.
    pub bus: u8,
    /// Device, 0 to 31.
    pub device: u8,
    /// Function, 0 to 7.
    pub function: u8,
}

impl fmt::Display for PciAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { domain, bus, device, function } = self;
        write!(f, "{domain:04x}:{bus:02x}:{device:02x}.{function}")
    }
}

/// Text that names no device.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// Not a PCI address.
    #[error("`{0}` is no PCI address; it looks like 0000:03:00.0 (see `nendo board list`)")]
    Pci(String),
    /// Not an XDMA number.
    #[error("`{0}` is no XDMA device number; the first one is xdma:0")]
    Xdma(String),
    /// Nothing of the kind.
    #[error(
        "unknown device `{0}`; one of model, rtl, pci-sim, pci:0000:03:00.0, xdma:0, vfio:0000:03:00.0, replay:FILE"
    )]
    Unknown(String),
}

impl FromStr for PciAddress {
    type Err = SpecError;

    /// `0000:03:00.0`, or `03:00.0` in domain 0.
    fn from_str(text: &str) -> Result<Self, SpecError> {
        let wrong = || SpecError::Pci(text.to_owned());
        let digits = |part: &str, most: usize, max: u32| {
            let hex = !part.is_empty() && part.len() <= most && part.bytes().all(|b| b.is_ascii_hexdigit());
            hex.then(|| u32::from_str_radix(part, 16).ok()).flatten().filter(|v| *v <= max).ok_or_else(wrong)
        };
        let (rest, function) = text.rsplit_once('.').ok_or_else(wrong)?;
        let (rest, device) = rest.rsplit_once(':').ok_or_else(wrong)?;
        let (domain, bus) = rest.rsplit_once(':').unwrap_or(("0", rest));
        Ok(Self {
            domain: digits(domain, 4, 0xffff)? as u16,
            bus: digits(bus, 2, 0xff)? as u8,
            device: digits(device, 2, 31)? as u8,
            function: digits(function, 1, 7)? as u8,
        })
    }
}

/// A device as users name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceSpec {
    /// The model behind the register map.
    Model,
    /// The Verilated hardware.
    Rtl,
    /// The Verilated card on a simulated PCI bus.
    PciSim,
    /// A PCI board's BAR through sysfs.
    Pci(PciAddress),
    /// A board behind the XDMA driver.
    Xdma(u32),
    /// A PCI board through VFIO.
    Vfio(PciAddress),
    /// A recording.
    Replay(PathBuf),
}

impl FromStr for DeviceSpec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        let (kind, rest) = text.split_once(':').unwrap_or((text, ""));
        match (kind, rest) {
            ("model", "") => Ok(Self::Model),
            ("rtl", "") => Ok(Self::Rtl),
            ("pci-sim", "") => Ok(Self::PciSim),
            ("pci", address) => Ok(Self::Pci(address.parse()?)),
            ("vfio", address) => Ok(Self::Vfio(address.parse()?)),
            ("xdma", number) => {
                let plain =
                    !number.is_empty() && number.len() <= 4 && number.bytes().all(|b| b.is_ascii_digit());
                let number = plain.then(|| number.parse().ok()).flatten();
                number.map(Self::Xdma).ok_or_else(|| SpecError::Xdma(rest.to_owned()))
            }
            ("replay", file) if !file.is_empty() => Ok(Self::Replay(file.into())),
            _ => Err(SpecError::Unknown(text.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_users_write() {
        let address = PciAddress { domain: 0, bus: 3, device: 0, function: 0 };
        for (text, spec) in [
            ("model", DeviceSpec::Model),
            ("rtl", DeviceSpec::Rtl),
            ("pci-sim", DeviceSpec::PciSim),
            ("pci:0000:03:00.0", DeviceSpec::Pci(address)),
            ("pci:03:00.0", DeviceSpec::Pci(address)),
            ("vfio:0000:03:00.0", DeviceSpec::Vfio(address)),
            ("xdma:0", DeviceSpec::Xdma(0)),
            ("replay:a:b.jsonl", DeviceSpec::Replay("a:b.jsonl".into())),
        ] {
            assert_eq!(text.parse(), Ok(spec), "{text}");
        }
        for text in [
            "",
            "pci",
            "pci:",
            "pci:03:00",
            "pci:03:20.0",
            "pci:03:00.8",
            "pci:10000:03:00.0",
            "pci:0:+3:00.0",
            "xdma:",
            "xdma:-1",
            "replay:",
            "model:1",
            "usb:1",
        ] {
            assert!(text.parse::<DeviceSpec>().is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn addresses_come_back(domain: u16, bus: u8, device in 0u8..32, function in 0u8..8) {
            let address = PciAddress { domain, bus, device, function };
            prop_assert_eq!(address.to_string().parse(), Ok(address));
        }

        #[test]
        fn noise_never_panics(text in "\\PC*") {
            let _ = text.parse::<DeviceSpec>();
            let _ = format!("pci:{text}").parse::<DeviceSpec>();
        }
    }
}
