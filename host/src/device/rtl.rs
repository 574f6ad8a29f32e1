//! The Verilated engine behind its AXI4-Lite port: a board without hardware.

use super::{Device, DeviceError, Waited, backend::Backend, waveforms};
use crate::output::Aside;
use nendo_hdl::{
    bus::axi::axi_board,
    sim::verilated::{PortId, Sim, SimOptions, VerilatedError},
};
use nendo_model::contract::config::Config;
use std::{
    io,
    path::{Path, PathBuf},
};

/// As users name it.
pub const BACKEND: Backend = Backend {
    prefix: "rtl",
    argument: None,
    help: "the hardware, compiled by Verilator",
    made_to_measure: true,
    threads: false,
    check: Backend::no_argument,
    open: |_, making| Ok(Box::new(Rtl::new(making.config, SimOptions::default())?)),
    list: Backend::none_listed,
};

/// Clocks after which an AXI transaction has failed.
const TIMEOUT: u32 = 1000;
/// Clocks between two looks at the interrupt line.
const LOOK_CLOCKS: u64 = 16;

/// The ports of an AXI4-Lite slave.
#[derive(Clone, Copy)]
struct Ports {
    awvalid: PortId,
    awready: PortId,
    awaddr: PortId,
    wvalid: PortId,
    wready: PortId,
    wdata: PortId,
    bvalid: PortId,
    bresp: PortId,
    arvalid: PortId,
    arready: PortId,
    araddr: PortId,
    rvalid: PortId,
    rdata: PortId,
    rresp: PortId,
    irq: PortId,
}

/// Which clocks go into a waveform file.
#[derive(Debug)]
struct TracePlan {
    file: PathBuf,
    /// Where the circuit writes them.
    aside: Aside,
    from: u64,
    to: u64,
    running: bool,
}

/// An engine compiled by Verilator.
pub struct Rtl {
    sim: Sim,
    ports: Ports,
    trace: Option<TracePlan>,
    /// Why the waveforms are not there.
    lost: Option<DeviceError>,
}

impl Rtl {
    /// Generates and compiles a configuration, unless it is in the cache, and takes it out of reset.
    pub fn new(config: &Config, options: SimOptions) -> Result<Self, VerilatedError> {
        let sim = Sim::new(&axi_board(config), options)?;
        let port = |name: &str| sim.port(&format!("s_axil_{name}"));
        let ports = Ports {
            awvalid: port("awvalid"),
            awready: port("awready"),
            awaddr: port("awaddr"),
            wvalid: port("wvalid"),
            wready: port("wready"),
            wdata: port("wdata"),
            bvalid: port("bvalid"),
            bresp: port("bresp"),
            arvalid: port("arvalid"),
            arready: port("arready"),
            araddr: port("araddr"),
            rvalid: port("rvalid"),
            rdata: port("rdata"),
            rresp: port("rresp"),
            irq: sim.port("irq"),
        };
        let mut rtl = Self { sim, ports, trace: None, lost: None };
        rtl.power_on();
        Ok(rtl)
    }

    fn power_on(&mut self) {
        for name in ["awvalid", "wvalid", "arvalid", "awprot", "arprot"] {
            self.sim.set(&format!("s_axil_{name}"), 0);
        }
        for (name, value) in [("bready", 1), ("rready", 1), ("wstrb", 15)] {
            self.sim.set(&format!("s_axil_{name}"), value);
        }
        self.sim.set("reset_n", 0);
        self.tick(4);
        self.sim.set("reset_n", 1);
        self.tick(1);
    }

    /// Clocks since power-on.
    pub fn clocks(&self) -> u64 {
        self.sim.clocks()
    }

    /// Writes waveforms of `clocks` clocks, from `after` clocks from now on. The circuit must have been built
    /// for it.
    pub fn trace(&mut self, file: &Path, after: u64, clocks: u64) -> Result<(), VerilatedError> {
        let from = self.sim.clocks() + after;
        // Beginning it now shows now whether it can be written.
        let aside = Aside::begin(file)
            .map_err(|error| VerilatedError::File { path: file.display().to_string(), error })?;
        self.sim.trace(Some(&aside.path()))?;
        if after > 0 {
            self.sim.trace(None)?;
        }
        let to = from.saturating_add(clocks);
        self.trace = Some(TracePlan { file: file.to_owned(), aside, from, to, running: after == 0 });
        Ok(())
    }

    /// Lets the clocks pass that a planned trace still wants, and has its file written.
    pub fn finish_trace(&mut self) -> Result<(), DeviceError> {
        if let Some(plan) = &self.trace {
            self.tick(plan.to.saturating_sub(self.sim.clocks()));
        }
        self.end_trace();
        self.lost.take().map_or(Ok(()), Err)
    }

    /// What has been traced is put where it was wanted; why it cannot be is kept.
    fn end_trace(&mut self) {
        let Some(plan) = self.trace.take() else { return };
        let (ended, first) = (self.sim.clocks(), plan.from);
        let write = || {
            // The circuit was built for waveforms, or there would be no plan.
            let stopped = self.sim.trace(None).map_err(io::Error::other);
            if !plan.running {
                let text = format!("the run ended at clock {ended}, before the waveforms' first, {first}");
                return Err(io::Error::other(text));
            }
            stopped?;
            waveforms::check(&plan.aside.path())?;
            plan.aside.finish()
        };
        self.lost = write().map_err(DeviceError::io(plan.file.display().to_string())).err();
    }

    /// Clocks, with the trace switched on and off on the way.
    fn tick(&mut self, clocks: u64) {
        let end = self.sim.clocks() + clocks;
        while let Some(plan) = self.trace.as_mut().filter(|p| if p.running { p.to } else { p.from } <= end) {
            let edge = if plan.running { plan.to } else { plan.from };
            self.sim.tick(edge - self.sim.clocks());
            if plan.running || self.sim.trace(Some(&plan.aside.path())).is_err() {
                self.end_trace();
            } else {
                plan.running = true;
            }
        }
        self.sim.tick(end - self.sim.clocks());
    }

    /// Writes coverage data.
    pub fn coverage(&mut self, file: &Path) -> Result<(), VerilatedError> {
        let failed = |error| VerilatedError::File { path: file.display().to_string(), error };
        let aside = Aside::begin(file).map_err(failed)?;
        self.sim.coverage(&aside.path())?;
        aside.finish().map_err(failed)
    }

    fn timeout(&self, doing: String) -> DeviceError {
        DeviceError::Timeout { device: self.name(), doing }
    }
}

impl Device for Rtl {
    fn read(&mut self, address: u32) -> Result<u32, DeviceError> {
        let p = self.ports;
        self.sim.set_word(p.araddr, address);
        self.sim.set_word(p.arvalid, 1);
        self.sim.settle();
        for _ in 0..TIMEOUT {
            let accepted = self.sim.get_word(p.arready) == 1;
            if self.sim.get_word(p.rvalid) == 1 {
                let (value, response) = (self.sim.get_word(p.rdata), self.sim.get_word(p.rresp));
                self.tick(1);
                let refused = DeviceError::Refused { address, write: false };
                return if response == 0 { Ok(value) } else { Err(refused) };
            }
            self.tick(1);
            if accepted {
                self.sim.set_word(p.arvalid, 0);
                self.sim.settle();
            }
        }
        self.sim.set_word(p.arvalid, 0);
        Err(self.timeout(format!("reading {address:#x}")))
    }

    fn write(&mut self, address: u32, value: u32) -> Result<(), DeviceError> {
        let p = self.ports;
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
                self.tick(1);
                return if response == 0 {
                    Ok(())
                } else {
                    Err(DeviceError::Refused { address, write: true })
                };
            }
            self.tick(1);
            if address_taken {
                self.sim.set_word(p.awvalid, 0);
            }
            if data_taken {
                self.sim.set_word(p.wvalid, 0);
            }
            self.sim.settle();
        }
        self.sim.set_word(p.awvalid, 0);
        self.sim.set_word(p.wvalid, 0);
        Err(self.timeout(format!("writing {address:#x}")))
    }

    fn pause(&mut self, clocks: u64) {
        self.tick(clocks);
    }

    fn wait_interrupt(&mut self, clocks: u64) -> Result<Waited, DeviceError> {
        let mut left = clocks;
        while self.sim.get_word(self.ports.irq) == 0 {
            if left == 0 {
                return Ok(Waited::TimedOut);
            }
            let now = left.min(LOOK_CLOCKS);
            self.tick(now);
            left -= now;
        }
        Ok(Waited::Came)
    }

    fn reset(&mut self) -> Result<(), DeviceError> {
        self.power_on();
        Ok(())
    }

    fn name(&self) -> String {
        "rtl".to_owned()
    }

    fn close(&mut self) -> Result<(), DeviceError> {
        self.end_trace();
        self.lost.take().map_or(Ok(()), Err)
    }
}
