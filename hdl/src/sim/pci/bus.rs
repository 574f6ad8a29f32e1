//! The bus: the master's lines and the target's, resolved clock by clock.

use super::{
    Monitor,
    wires::{Drive, Drivers, Wires, even_parity},
};
use crate::sim::verilated::{PortId, Sim};

/// What stands behind a target that is tried alone.
pub trait Backend {
    /// Looks at the target's outputs and sets its inputs for this clock.
    fn clock(&mut self, sim: &mut Sim);
}

/// The circuit has everything inside.
#[derive(Debug)]
pub struct Inside;

impl Backend for Inside {
    fn clock(&mut self, _: &mut Sim) {}
}

/// The target's pins.
struct Pins {
    rst_n: PortId,
    idsel: PortId,
    frame_n: PortId,
    irdy_n: PortId,
    ad_in: PortId,
    cbe_n: PortId,
    par_in: PortId,
    ad_out: PortId,
    ad_oe: PortId,
    par_out: PortId,
    par_oe: PortId,
    devsel_n: PortId,
    trdy_n: PortId,
    stop_n: PortId,
    control_oe: PortId,
    perr_n: PortId,
    perr_oe: PortId,
    serr_oe: PortId,
    inta_oe: PortId,
}

impl Pins {
    fn of(sim: &Sim) -> Self {
        let p = |name: &str| sim.port(name);
        Self {
            rst_n: p("rst_n"),
            idsel: p("idsel"),
            frame_n: p("frame_n"),
            irdy_n: p("irdy_n"),
            ad_in: p("ad_in"),
            cbe_n: p("cbe_n"),
            par_in: p("par_in"),
            ad_out: p("ad_out"),
            ad_oe: p("ad_oe"),
            par_out: p("par_out"),
            par_oe: p("par_oe"),
            devsel_n: p("devsel_n"),
            trdy_n: p("trdy_n"),
            stop_n: p("stop_n"),
            control_oe: p("control_oe"),
            perr_n: p("perr_n"),
            perr_oe: p("perr_oe"),
            serr_oe: p("serr_oe"),
            inta_oe: p("inta_oe"),
        }
    }
}

/// A bus with one target on it.
pub struct Bus<B> {
    sim: Sim,
    pins: Pins,
    /// Behind the target.
    pub backend: B,
    /// Watches every clock.
    pub monitor: Monitor,
    /// PAR that the master owes for the clock before.
    owed: Option<bool>,
    /// What is on lines that nobody drives.
    noise: u64,
    /// Clocks in which SERR# was asserted.
    pub system_errors: u64,
    /// Clocks in which PERR# was asserted.
    pub parity_errors: u64,
    /// INTA# in the last clock.
    pub interrupt: bool,
}

impl<B: Backend> Bus<B> {
    /// A bus with this circuit on it.
    pub fn new(sim: Sim, backend: B) -> Self {
        let pins = Pins::of(&sim);
        Self {
            sim,
            pins,
            backend,
            monitor: Monitor::default(),
            owed: None,
            noise: 0x9e37_79b9_7f4a_7c15,
            system_errors: 0,
            parity_errors: 0,
            interrupt: false,
        }
    }

    /// The circuit.
    pub fn sim(&mut self) -> &mut Sim {
        &mut self.sim
    }

    /// Clocks so far.
    pub fn clocks(&self) -> u64 {
        self.sim.clocks()
    }

    /// One clock: what the master drives meets what the target drives.
    pub fn clock(&mut self, drive: &Drive) -> Wires {
        // xorshift: floating lines hold anything.
        self.noise ^= self.noise << 13;
        self.noise ^= self.noise >> 7;
        self.noise ^= self.noise << 17;
        let p = &self.pins;
        self.sim.set_word(p.rst_n, u32::from(!drive.reset));
        self.sim.settle();
        let on = |port: PortId| self.sim.get_word(port) == 1;
        let by = Drivers {
            target_ad: on(p.ad_oe),
            target_par: on(p.par_oe),
            target_control: on(p.control_oe),
            target_perr: on(p.perr_oe),
            master_ad: drive.ad.is_some(),
            master_par: self.owed.is_some(),
        };
        let low = |port: PortId, driven: bool| driven && !on(port);
        let from_target = by.target_ad.then(|| self.sim.get_word(p.ad_out));
        let wires = Wires {
            frame: drive.frame,
            irdy: drive.irdy,
            devsel: low(p.devsel_n, by.target_control),
            trdy: low(p.trdy_n, by.target_control),
            stop: low(p.stop_n, by.target_control),
            perr: low(p.perr_n, by.target_perr),
            serr: on(p.serr_oe),
            inta: on(p.inta_oe),
            idsel: drive.idsel,
            reset: drive.reset,
            ad: drive.ad.or(from_target).unwrap_or(self.noise as u32),
            cbe_n: drive.cbe_n & 15,
            par: self.owed.or(by.target_par.then(|| on(p.par_out))).unwrap_or(self.noise >> 40 & 1 == 1),
            by,
        };
        self.sim.set_word(p.idsel, drive.idsel.into());
        self.sim.set_word(p.frame_n, u32::from(!wires.frame));
        self.sim.set_word(p.irdy_n, u32::from(!wires.irdy));
        self.sim.set_word(p.ad_in, wires.ad);
        self.sim.set_word(p.cbe_n, wires.cbe_n.into());
        self.sim.set_word(p.par_in, wires.par.into());
        self.owed = drive.ad.map(|ad| even_parity(ad, wires.cbe_n) != drive.wrong_parity);
        self.system_errors += u64::from(wires.serr);
        self.parity_errors += u64::from(wires.perr);
        self.interrupt = wires.inta;
        self.monitor.clock(&wires);
        self.backend.clock(&mut self.sim);
        self.sim.tick(1);
        wires
    }

    /// So many clocks without a transaction.
    pub fn idle(&mut self, clocks: u64) {
        for _ in 0..clocks {
            self.clock(&Drive::default());
        }
    }

    /// RST# for some clocks.
    pub fn reset(&mut self) {
        self.owed = None;
        for _ in 0..4 {
            self.clock(&Drive { reset: true, ..Drive::default() });
        }
        self.idle(2);
    }
}
