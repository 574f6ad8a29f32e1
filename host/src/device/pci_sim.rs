//! The card on a simulated PCI bus: the Verilated target and engine, driven by a PCI master.
//!
//! Every word goes over the bus as on a real one, with retries, disconnects and parity, and a monitor checks every
//! clock. Writes are posted: what the engine refuses comes back as SERR#, which is looked for after each write.

use super::{Device, DeviceError, Waited, backend::Backend};
use nendo_hdl::{
    bus::pci::{config_space as space, pci_board},
    sim::{
        pci::{Bus, Command, End, Inside, Master, Outcome, Transfer, Word},
        verilated::{Sim, SimOptions},
    },
};
use nendo_model::contract::{
    config::Config,
    map::{Map, Reg},
};

/// As users name it.
pub const BACKEND: Backend = Backend {
    prefix: "pci-sim",
    argument: None,
    help: "the card on a simulated PCI bus",
    made_to_measure: true,
    threads: false,
    check: Backend::no_argument,
    open: |_, making| Ok(Box::new(PciSim::new(making.config, SimOptions::default())?)),
    list: Backend::none_listed,
};

/// Where the BAR is put.
const BAR: u32 = 0xe000_0000;
/// A target that says "again" more often than this is broken.
const RETRIES: u32 = 1000;
/// Words of a burst.
const BURST: usize = 64;

/// The card on a bus of its own.
pub struct PciSim {
    bus: Bus<Inside>,
    master: Master,
    size: u32,
}

impl PciSim {
    /// Compiles a configuration's card, unless it is in the cache, and enumerates it.
    pub fn new(config: &Config, options: SimOptions) -> Result<Self, DeviceError> {
        let size = Map::new(config).size;
        let mut bus = Bus::new(Sim::new(&pci_board(config), options)?, Inside);
        bus.monitor.set_bar_size(size);
        let mut card = Self { bus, master: Master::default(), size };
        card.power_on()?;
        Ok(card)
    }

    /// Clocks since power-on.
    pub fn clocks(&self) -> u64 {
        self.bus.clocks()
    }

    /// Rules of the bus that were broken so far.
    pub fn violations(&self) -> u64 {
        self.bus.monitor.count()
    }

    /// The most clocks from FRAME# to a first answer so far.
    pub fn slowest(&self) -> u64 {
        self.bus.monitor.slowest()
    }

    /// RST#, then what a BIOS does.
    fn power_on(&mut self) -> Result<(), DeviceError> {
        self.bus.reset();
        let id = u32::from(space::DEVICE) << 16 | u32::from(space::VENDOR);
        let found = self.config_read(0x00)?;
        if found != id {
            return Err(DeviceError::Unusable(format!(
                "pci-sim: the card says it is {found:08x}, not {id:08x}"
            )));
        }
        self.config_write(0x10, u32::MAX)?;
        let mask = self.config_read(0x10)?;
        let bytes = (!(mask & !15)).wrapping_add(1);
        if bytes != self.size {
            let size = self.size;
            return Err(DeviceError::Unusable(format!("pci-sim: BAR 0 has {bytes} bytes, not {size}")));
        }
        self.config_write(0x10, BAR)?;
        self.config_write(0x04, space::MEMORY_ENABLE | space::PARITY_RESPONSE | space::SERR_ENABLE)
    }

    /// Makes a transaction, again while the target says so.
    fn run(&mut self, transfer: &Transfer) -> Result<Outcome, DeviceError> {
        let mut outcome = self.master.run(&mut self.bus, transfer);
        for _ in 0..RETRIES {
            if outcome.end != End::Retry {
                break;
            }
            outcome = self.master.run(&mut self.bus, transfer);
        }
        if let Some(violation) = self.bus.monitor.violations().first() {
            return Err(DeviceError::Unusable(format!("pci-sim: the bus was violated: {violation}")));
        }
        let device = self.name();
        let doing = format!("accessing {:#x}", transfer.address);
        match outcome.end {
            End::Hung | End::Retry => Err(DeviceError::Timeout { device, doing }),
            End::MasterAbort => Err(DeviceError::LinkLost { device }),
            End::Completed | End::Disconnect | End::TargetAbort => Ok(outcome),
        }
    }

    fn config_read(&mut self, register: u32) -> Result<u32, DeviceError> {
        let transfer = Transfer::new(Command::ConfigRead, register, vec![Word::whole(0)]);
        let outcome = self.run(&transfer)?;
        let refused = DeviceError::Refused { address: register, write: false };
        outcome.words.first().copied().ok_or(refused)
    }

    fn config_write(&mut self, register: u32, value: u32) -> Result<(), DeviceError> {
        self.run(&Transfer::new(Command::ConfigWrite, register, vec![Word::whole(value)])).map(drop)
    }

    fn place(&self, address: u32) -> Result<u32, DeviceError> {
        if address >= self.size || !address.is_multiple_of(4) {
            return Err(DeviceError::Address { device: self.name(), address, size: self.size.into() });
        }
        Ok(BAR + address)
    }

    /// Writes as many of these words as one burst takes.
    fn burst(&mut self, address: u32, values: &[u32]) -> Result<usize, DeviceError> {
        let words = values.iter().take(BURST).map(|v| Word::whole(*v)).collect();
        let transfer = Transfer::new(Command::MemoryWrite, self.place(address)?, words);
        let moved = self.run(&transfer)?.words.len();
        if moved == 0 { Err(DeviceError::Refused { address, write: true }) } else { Ok(moved) }
    }
}

impl Device for PciSim {
    fn read(&mut self, address: u32) -> Result<u32, DeviceError> {
        let transfer = Transfer::new(Command::MemoryRead, self.place(address)?, vec![Word::whole(0)]);
        let outcome = self.run(&transfer)?;
        outcome.words.first().copied().ok_or(DeviceError::Refused { address, write: false })
    }

    fn write(&mut self, address: u32, value: u32) -> Result<(), DeviceError> {
        self.write_block(address, &[value])
    }

    fn write_block(&mut self, address: u32, values: &[u32]) -> Result<(), DeviceError> {
        let errors = self.bus.system_errors;
        let mut done = 0;
        while done < values.len() {
            done += self.burst(address + 4 * done as u32, &values[done..])?;
        }
        // A read waits for all posted words; reads of the sums count in none.
        self.read(Reg::WriteSumLow.address())?;
        let refused = DeviceError::Refused { address, write: true };
        if self.bus.system_errors == errors { Ok(()) } else { Err(refused) }
    }

    fn pause(&mut self, clocks: u64) {
        self.bus.idle(clocks);
    }

    fn wait_interrupt(&mut self, clocks: u64) -> Result<Waited, DeviceError> {
        for _ in 0..clocks {
            if self.bus.interrupt {
                break;
            }
            self.bus.idle(1);
        }
        Ok(if self.bus.interrupt { Waited::Came } else { Waited::TimedOut })
    }

    fn reset(&mut self) -> Result<(), DeviceError> {
        self.power_on()
    }

    fn name(&self) -> String {
        "pci-sim".to_owned()
    }
}
