//! The Verilated engine behind its AXI4-Lite port: a board without hardware.

use super::{Device, DeviceError};
use nendo_hdl::{
    config::Config,
    engine::engine,
    verilated::{Options, PortId, Sim, VerilatedError},
};
use std::path::Path;

/// Clocks after which an AXI transaction has failed.
const TIMEOUT: u32 = 1000;

/// The ports of an AXI4-Lite slave.
struct Ports {
    awvalid: PortId,
    awready: PortId,
    awaddr: PortId,
    wvalid: PortId,
    wready: PortId,
    wdata: PortId,
    bvalid: PortId,
    bready: PortId,
    bresp: PortId,
    arvalid: PortId,
    arready: PortId,
    araddr: PortId,
    rvalid: PortId,
    rready: PortId,
    rdata: PortId,
    rresp: PortId,
}

/// An engine compiled by Verilator.
pub struct Rtl {
    sim: Sim,
    ports: Ports,
}

impl Rtl {
    /// Generates and compiles a configuration, unless it is in the cache, and takes it out of reset.
    pub fn new(config: &Config, options: Options) -> Result<Self, VerilatedError> {
        let mut sim = Sim::new(&engine(config), options)?;
        let port = |name: &str| sim.port(&format!("s_axil_{name}"));
        let ports = Ports {
            awvalid: port("awvalid"),
            awready: port("awready"),
            awaddr: port("awaddr"),
            wvalid: port("wvalid"),
            wready: port("wready"),
            wdata: port("wdata"),
            bvalid: port("bvalid"),
            bready: port("bready"),
            bresp: port("bresp"),
            arvalid: port("arvalid"),
            arready: port("arready"),
            araddr: port("araddr"),
            rvalid: port("rvalid"),
            rready: port("rready"),
            rdata: port("rdata"),
            rresp: port("rresp"),
        };
        for name in ["awvalid", "wvalid", "arvalid", "awprot", "arprot"] {
            sim.set(&format!("s_axil_{name}"), 0);
        }
        for (name, value) in [("bready", 1), ("rready", 1), ("wstrb", 15)] {
            sim.set(&format!("s_axil_{name}"), value);
        }
        sim.set("reset_n", 0);
        sim.tick(4);
        sim.set("reset_n", 1);
        sim.tick(1);
        Ok(Self { sim, ports })
    }

    /// Clocks since power-on.
    pub fn clocks(&self) -> u64 {
        self.sim.clocks()
    }

    /// Starts writing waveforms to a file, or stops.
    pub fn trace(&mut self, file: Option<&Path>) -> Result<(), VerilatedError> {
        self.sim.trace(file)
    }

    /// Writes coverage data.
    pub fn coverage(&mut self, file: &Path) -> Result<(), VerilatedError> {
        self.sim.coverage(file)
    }

    fn timeout(&self, doing: String) -> DeviceError {
        DeviceError::Timeout { device: self.name(), doing }
    }
}

impl Device for Rtl {
    fn read(&mut self, address: u32) -> Result<u32, DeviceError> {
        let p = &self.ports;
        self.sim.set_word(p.araddr, address);
        self.sim.set_word(p.arvalid, 1);
        self.sim.settle();
        for _ in 0..TIMEOUT {
            let accepted = self.sim.get_word(p.arready) == 1;
            if self.sim.get_word(p.rvalid) == 1 {
                let (value, response) = (self.sim.get_word(p.rdata), self.sim.get_word(p.rresp));
                self.sim.tick(1);
                let refused = DeviceError::Refused { address, write: false };
                return if response == 0 { Ok(value) } else { Err(refused) };
            }
            self.sim.tick(1);
            if accepted {
                self.sim.set_word(p.arvalid, 0);
                self.sim.settle();
            }
        }
        self.sim.set_word(self.ports.arvalid, 0);
        Err(self.timeout(format!("reading {address:#x}")))
    }

    fn write(&mut self, address: u32, value: u32) -> Result<(), DeviceError> {
        let p = &self.ports;
        self.sim.set_word(p.awaddr, address);
        self.sim.set_word(p.awvalid, 1);
        self.sim.set_word(p.wdata, value);
        self.sim.set_word(p.wvalid, 1);
        self.sim.settle();
        for _ in 0..TIMEOUT {
            let (address_taken, data_taken) =
                (self.sim.get_word(p.awready) == 1, self.sim.get_word(p.wready) == 1);
            if self.sim.get_word(p.bvalid) == 1 {
                let response = self.sim.get_word(p.bresp);
                self.sim.tick(1);
                return if response == 0 {
                    Ok(())
                } else {
                    Err(DeviceError::Refused { address, write: true })
                };
            }
            self.sim.tick(1);
            if address_taken {
                self.sim.set_word(p.awvalid, 0);
            }
            if data_taken {
                self.sim.set_word(p.wvalid, 0);
            }
            self.sim.settle();
        }
        self.sim.set_word(self.ports.awvalid, 0);
        self.sim.set_word(self.ports.wvalid, 0);
        Err(self.timeout(format!("writing {address:#x}")))
    }

    fn pause(&mut self, clocks: u64) {
        self.sim.tick(clocks);
    }

    fn name(&self) -> String {
        "rtl".to_owned()
    }
}
