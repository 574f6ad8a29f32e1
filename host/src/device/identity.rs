//! What a device says it is: the identity block at the start of the map.

use super::DeviceError;
use nendo_model::contract::{
    config::Config,
    map::{self, Reg},
    words::{Configuration, RegisterWord},
};

/// Why what answers is not an engine this program can use.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IdentityError {
    /// Something else answers at this address.
    #[error("{device} is no nendo engine: it reads {found:#010x} instead of {:#010x}", map::MAGIC)]
    Magic {
        /// The name of the device.
        device: String,
        /// The word it reads there.
        found: u32,
    },
    /// Another version of the map.
    #[error(
        "{device} speaks version {found} of the register map, this program version {}: {}",
        map::VERSION,
        if *found < map::VERSION {
            "the bitstream is older; make it anew with this program (`nendo synth --target ...`) and load it"
        } else {
            "the program is older; use the one that made the bitstream, or a newer one"
        }
    )]
    Version {
        /// The name of the device.
        device: String,
        /// Its version.
        found: u32,
    },
    /// A profile or inverse form this program does not know.
    #[error("{device} has a configuration this program does not know ({found:#x})")]
    Unknown {
        /// The name of the device.
        device: String,
        /// The word it reads there.
        found: u32,
    },
    /// Memories that no engine has.
    #[error(
        "{device} claims to hold {particles} particles and {edges} edges in a module, which no engine does"
    )]
    Capacity {
        /// The name of the device.
        device: String,
        /// Particles it says a module holds.
        particles: u64,
        /// Edges it says a module holds.
        edges: u64,
    },
    /// The hash does not belong to what the device says of itself.
    #[error(
        "{device} holds configuration {found:016x}, but what it says of itself gives {expected:016x}: its bitstream \
         was made by another version of nendo; rebuild it"
    )]
    Hash {
        /// The name of the device.
        device: String,
        /// Its hash.
        found: u64,
        /// The hash of what it says.
        expected: u64,
    },
}

/// The configuration a device says it holds.
pub fn identify(
    read: &mut dyn FnMut(Reg) -> Result<u32, DeviceError>,
    device: &str,
) -> Result<Config, DeviceError> {
    let device = device.to_owned();
    let found = read(Reg::Magic)?;
    if found == u32::MAX {
        return Err(DeviceError::LinkLost { device });
    }
    if found != map::MAGIC {
        return Err(IdentityError::Magic { device, found }.into());
    }
    let found = read(Reg::MapVersion)?;
    if found != map::VERSION {
        return Err(IdentityError::Version { device, found }.into());
    }
    let found = read(Reg::Configuration)?;
    let said = Configuration::from_bits(found);
    let modules = u64::from(said.modules);
    // Nothing else may be in the word.
    let known = (1..=Config::MAX_MODULES).contains(&modules) && said.bits() == found;
    let (Some(profile), Some(inverse), true) = (said.profile, said.inverse, known) else {
        return Err(IdentityError::Unknown { device, found }.into());
    };
    let (particles, edges) = (u64::from(read(Reg::MaxParticles)?), u64::from(read(Reg::MaxEdges)?));
    if !(1..=Config::MAX_PARTICLES).contains(&particles) || !(1..=Config::MAX_EDGES).contains(&edges) {
        return Err(IdentityError::Capacity { device, particles, edges }.into());
    }
    let config = Config { profile, inverse, modules, particles, edges, clock_khz: read(Reg::ClockKhz)? };
    let found = u64::from(read(Reg::HashHigh)?) << 32 | u64::from(read(Reg::HashLow)?);
    if found != config.hash() {
        return Err(IdentityError::Hash { device, found, expected: config.hash() }.into());
    }
    Ok(config)
}
