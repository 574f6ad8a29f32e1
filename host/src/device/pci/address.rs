//! PCI addresses as users and the kernel write them.

use crate::device::SpecError;
use std::{fmt, str::FromStr};

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

impl FromStr for PciAddress {
    type Err = SpecError;

    /// `0000:03:00.0`, or `03:00.0` in domain 0.
    fn from_str(text: &str) -> Result<Self, SpecError> {
        let wrong =
            || SpecError::new(text, "is no PCI address; it looks like 0000:03:00.0 (see `nendo board list`)");
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn addresses_come_back(domain: u16, bus: u8, device in 0u8..32, function in 0u8..8) {
            let address = PciAddress { domain, bus, device, function };
            prop_assert_eq!(address.to_string().parse(), Ok(address));
        }
    }
}
