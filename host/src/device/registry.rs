//! Which devices there are.
//!
//! A kind of device is one [`Backend`], declared beside its code, and one line of [`BACKENDS`]. Help texts, error
//! messages and `nendo board list` come from this list.

use super::{
    Device, DeviceError, SpecError,
    backend::{Backend, Making},
    model, pci, record,
};
#[cfg(feature = "rtl")]
use super::{pci_sim, rtl};
use std::{fmt, str::FromStr};

/// All kinds of devices.
pub const BACKENDS: &[&Backend] = &[
    #[cfg(feature = "rtl")]
    &rtl::BACKEND,
    &model::BACKEND,
    #[cfg(feature = "rtl")]
    &pci_sim::BACKEND,
    &pci::backends::SYSFS,
    &pci::backends::XDMA,
    &pci::backends::VFIO,
    &record::BACKEND,
];

/// How users name devices: an example of each kind.
pub fn examples() -> String {
    BACKENDS.iter().map(|b| b.example()).collect::<Vec<_>>().join(", ")
}

/// The same for help texts, with what each is.
pub fn help() -> String {
    BACKENDS.iter().map(|b| format!("{} ({})", b.example(), b.help)).collect::<Vec<_>>().join(", ")
}

/// A device as users name it.
#[derive(Clone, Debug)]
pub struct DeviceSpec {
    backend: &'static Backend,
    argument: String,
}

impl DeviceSpec {
    /// The Verilated hardware.
    #[cfg(feature = "rtl")]
    pub fn rtl() -> Self {
        Self { backend: &rtl::BACKEND, argument: String::new() }
    }

    /// Whether it is made for a scene, rather than being there already.
    pub fn is_made_to_measure(&self) -> bool {
        self.backend.made_to_measure
    }

    /// Whether it computes on threads of this program.
    pub fn has_threads(&self) -> bool {
        self.backend.threads
    }

    /// Opens it. What is made to measure is made as is said; what is there already is taken as it is.
    pub fn open(&self, making: &Making<'_>) -> Result<Box<dyn Device>, DeviceError> {
        (self.backend.open)(&self.argument, making)
    }
}

impl fmt::Display for DeviceSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.argument.is_empty() {
            true => f.write_str(self.backend.prefix),
            false => write!(f, "{}:{}", self.backend.prefix, self.argument),
        }
    }
}

impl FromStr for DeviceSpec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        let (prefix, argument) = text.split_once(':').unwrap_or((text, ""));
        let Some(backend) = BACKENDS.iter().find(|b| b.prefix == prefix) else {
            return Err(SpecError::new(text, format!("is an unknown device; one of {}", examples())));
        };
        if text.contains(':') && argument.is_empty() {
            return Err(SpecError::new(
                text,
                format!("is not complete; it looks like {}", backend.example()),
            ));
        }
        (backend.check)(argument)?;
        Ok(Self { backend, argument: argument.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_users_write() {
        for text in [
            "model",
            #[cfg(feature = "rtl")]
            "rtl",
            #[cfg(feature = "rtl")]
            "pci-sim",
            "pci:0000:03:00.0",
            "pci:03:00.0",
            "vfio:0000:03:00.0",
            "xdma:0",
            "replay:a:b.jsonl",
        ] {
            assert_eq!(text.parse::<DeviceSpec>().map(|spec| spec.to_string()), Ok(text.to_owned()));
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
            "xdma",
            "xdma:",
            "xdma:-1",
            "replay",
            "replay:",
            "model:1",
            "model:",
            "usb:1",
        ] {
            assert!(text.parse::<DeviceSpec>().is_err(), "{text}");
        }
    }

    /// What is said of every kind in help and errors is a name of that kind.
    #[test]
    fn examples_are_devices() {
        for backend in BACKENDS {
            let spec: DeviceSpec = backend.example().parse().unwrap();
            assert_eq!(spec.to_string(), backend.example());
            assert!(help().contains(backend.help) && examples().contains(&backend.example()));
        }
        let error = "usb:1".parse::<DeviceSpec>().unwrap_err().to_string();
        assert!(error.contains("vfio:0000:03:00.0"), "{error}");
    }

    proptest! {
        #[test]
        fn noise_never_panics(text in "\\PC*") {
            let _ = text.parse::<DeviceSpec>();
            let _ = format!("pci:{text}").parse::<DeviceSpec>();
        }
    }
}
