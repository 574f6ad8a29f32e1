//! The result of a run: what `nendo synth --json` prints and `bitstreams/<target>/report.json` keeps.

use super::{cells::Used, stages::Stage, timing::Step};
use nendo_hdl::target::{Flow, NotTimed, Papers, Target};
use nendo_model::contract::config::Config;
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, fmt::Write};

/// Flip-flops and look-up tables may differ by so much from the report that is kept.
const TOLERANCE: f64 = 0.05;

/// A run's result. Numbers are the tools' own; what no tool said is null.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SynthReport {
    /// The target.
    pub target: String,
    /// Its part.
    pub part: String,
    /// The flow that was run.
    pub flow: Flow,
    /// Number contract.
    pub profile: String,
    /// Circuit of the inverse length.
    pub inverse: String,
    /// Main modules.
    pub modules: u64,
    /// Particles the memories hold.
    pub particles: u64,
    /// Edges the memories hold.
    pub edges: u64,
    /// What tells configurations apart.
    pub config_hash: String,
    /// The stages, in the order they were run.
    pub stages: Vec<Stage>,
    /// Flip-flops of the netlist.
    pub ff: Option<u64>,
    /// Look-up tables of the netlist.
    pub lut: Option<u64>,
    /// Slices, where a placer counted them.
    pub slices: Option<u64>,
    /// Multipliers of the netlist.
    pub multipliers: Option<u64>,
    /// Block memories of the netlist, of 18 Kbit.
    pub brams: Option<u64>,
    /// What the part has, and the share that is used.
    pub available: BTreeMap<String, Share>,
    /// The netlist's cells by type.
    pub cells: BTreeMap<String, u64>,
    /// TEM and MPM alone.
    pub blocks: BTreeMap<String, Used>,
    /// The papers' engine on the same part, whole and by module.
    pub papers: BTreeMap<String, Papers>,
    /// What the netlist itself computed, where it was simulated.
    pub simulated: Option<Simulated>,
    /// The clock the target is built for.
    pub clock_mhz: f64,
    /// The clock reached.
    pub fmax_mhz: Option<f64>,
    /// What `fmax_mhz` leaves out, because the tool does not time it.
    #[serde(default)]
    pub not_timed: NotTimed,
    /// Whether `fmax_mhz` is of the routed design.
    pub routed: bool,
    /// The slowest path.
    pub worst_path: Vec<Step>,
    /// Cells placed and sites there are.
    pub placed: BTreeMap<String, (u64, u64)>,
    /// The bitstream's file name.
    pub bitstream: Option<String>,
    /// Its size in bytes.
    pub bitstream_bytes: Option<u64>,
    /// Tools used.
    pub tools: BTreeMap<String, String>,
}

/// What the simulation of the netlist showed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Simulated {
    /// The scene that was run.
    pub scene: String,
    /// Steps that were run.
    pub steps: u32,
    /// Words read from the netlist and compared with the RTL's.
    pub words_compared: u64,
    /// Words that differed.
    pub mismatches: u64,
}

/// Used of what there is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Share {
    /// What the part has.
    pub available: u64,
    /// How much of it is used, in percent.
    pub percent: Option<f64>,
}

impl SynthReport {
    /// A report with nothing done yet.
    pub fn new(target: &Target, flow: Flow, config: &Config) -> Self {
        Self {
            target: target.name.clone(),
            part: target.part.clone(),
            flow,
            profile: config.profile.to_string(),
            inverse: config.inverse.to_string(),
            modules: config.modules,
            particles: config.particles,
            edges: config.edges,
            config_hash: config.hash_text(),
            stages: Vec::new(),
            ff: None,
            lut: None,
            slices: None,
            multipliers: None,
            brams: None,
            available: BTreeMap::new(),
            cells: BTreeMap::new(),
            blocks: BTreeMap::new(),
            papers: target.papers.clone(),
            simulated: None,
            clock_mhz: target.clock_mhz,
            fmax_mhz: None,
            not_timed: NotTimed::default(),
            routed: false,
            worst_path: Vec::new(),
            placed: BTreeMap::new(),
            bitstream: None,
            bitstream_bytes: None,
            tools: BTreeMap::new(),
        }
    }

    /// Takes what a netlist uses.
    pub fn set_used(&mut self, used: Used, target: &Target) {
        (self.ff, self.lut) = (Some(used.ff), Some(used.lut));
        (self.multipliers, self.brams) = (Some(used.multipliers), Some(used.brams));
        let capacities = [target.flip_flops, target.luts, target.multipliers, target.brams];
        for ((name, used), available) in self.rows().into_iter().zip(capacities) {
            let percent = used.map(|n| (n as f64 / available as f64 * 1e4).round() / 100.0);
            self.available.insert(name.to_owned(), Share { available, percent });
        }
    }

    fn rows(&self) -> [(&'static str, Option<u64>); 4] {
        [("ff", self.ff), ("lut", self.lut), ("multipliers", self.multipliers), ("brams", self.brams)]
    }

    /// What the run broke: the part's capacities, the target's clock and, for one module of the standard
    /// configuration, its budget.
    pub fn broken(&self, target: &Target, standard: bool) -> Vec<String> {
        let mut broken = Vec::new();
        for (name, used) in self.rows() {
            if let (Some(used), Some(share)) = (used, self.available.get(name))
                && used > share.available
            {
                broken.push(format!("{used} {name}, the part has {}", share.available));
            }
        }
        let budget = &target.budget;
        let limits =
            [("ff", budget.flip_flops), ("multipliers", budget.multipliers), ("brams", budget.brams)];
        for (name, limit) in limits.into_iter().filter(|_| standard) {
            let used = self.rows().into_iter().find(|row| row.0 == name).and_then(|row| row.1);
            if let (Some(used), Some(limit)) = (used, limit)
                && used > limit
            {
                broken.push(format!("{used} {name}, the budget is {limit}"));
            }
        }
        if let Some(fmax) = self.fmax_mhz.filter(|fmax| *fmax < target.clock_mhz) {
            broken.push(format!("{fmax:.1} MHz, the target's clock is {} MHz", target.clock_mhz));
        }
        broken
    }

    /// How this run differs from the report that is kept: multipliers and block memories must be equal,
    /// flip-flops and look-up tables about equal.
    pub fn differences(&self, kept: &Self) -> Vec<String> {
        let rows = self.rows().into_iter().zip(kept.rows());
        let mut found: Vec<String> = rows
            .filter_map(|((name, now), (_, then))| {
                let exact = matches!(name, "multipliers" | "brams");
                let far = |now: u64, then: u64| {
                    if exact {
                        now != then
                    } else {
                        (now as f64 - then as f64).abs() > TOLERANCE * then as f64
                    }
                };
                let differ = match (now, then) {
                    (Some(now), Some(then)) => far(now, then),
                    (now, then) => now != then,
                };
                differ.then(|| format!("{name}: {now:?} now, {then:?} in the report"))
            })
            .collect();
        for (name, then) in &kept.blocks {
            match self.blocks.get(name) {
                Some(now) if now.multipliers == then.multipliers && now.brams == then.brams => {}
                now => found.push(format!("{name}: {now:?} now, {then:?} in the report")),
            }
        }
        found
    }

    /// The table for people.
    pub fn table(&self) -> String {
        let mut text = format!("{} ({}), {}, {}\n", self.target, self.part, self.profile, self.inverse);
        for (name, used) in self.rows() {
            let (Some(used), Some(share)) = (used, self.available.get(name)) else { continue };
            let percent = share.percent.unwrap_or(0.0);
            let _ = writeln!(text, "{name:<12} {used:>7} / {:>8} {percent:>6.2} %", share.available);
        }
        for (name, used) in &self.blocks {
            let Used { ff, lut, multipliers, brams } = used;
            let _ =
                write!(text, "  {name:<10} {ff:>7} ff, {lut} lut, {multipliers} multipliers, {brams} brams");
            if let Some(Papers { ff, slices, multipliers }) = self.papers.get(name) {
                let _ = write!(text, "   (the papers: {ff} ff, {slices} slices, {multipliers} multipliers)");
            }
            text.push('\n');
        }
        if let Some(Simulated { scene, steps, words_compared, .. }) = &self.simulated {
            let _ =
                writeln!(text, "netlist      {scene}, {steps} steps: {words_compared} words as in the RTL");
        }
        let _ = write!(text, "clock        {} MHz wanted, ", self.clock_mhz);
        match self.fmax_mhz {
            Some(fmax) => {
                let routed =
                    super::timing::Routed { worst_path: self.worst_path.clone(), ..Default::default() };
                let _ = write!(
                    text,
                    "{fmax:.1} MHz reached, routed{}\nworst path   {}",
                    self.not_timed,
                    routed.path_text()
                );
            }
            None => text += "nothing placed",
        }
        for Stage { name, status, seconds } in &self.stages {
            let _ = write!(text, "\n{name:<24} {status:<28} {seconds:>7.1} s");
        }
        if let Some(file) = &self.bitstream {
            let _ = write!(text, "\nbitstream    {file}, {} bytes", self.bitstream_bytes.unwrap_or(0));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nendo_model::contract::numbers::{Inverse, Profile};

    fn report() -> (SynthReport, Target) {
        let target = Target::by_name("xc2v6000").unwrap();
        let mut report =
            SynthReport::new(&target, target.flow, &Config::minimal(Profile::Wide, Inverse::Table));
        report.set_used(Used { ff: 4000, lut: 6000, multipliers: 19, brams: 36 }, &target);
        (report, target)
    }

    #[test]
    fn budgets_and_capacities_are_kept() {
        let (mut report, target) = report();
        assert_eq!(report.broken(&target, true), Vec::<String>::new());
        report.set_used(Used { ff: 70_000, lut: 6000, multipliers: 25, brams: 36 }, &target);
        report.fmax_mhz = Some(20.0);
        let broken = report.broken(&target, true);
        assert_eq!(broken.len(), 4, "{broken:?}");
        assert_eq!(report.broken(&target, false).len(), 2);
    }

    #[test]
    fn differences_are_exact_or_within_tolerance() {
        let (kept, target) = report();
        let mut now = kept.clone();
        now.set_used(Used { ff: 4100, lut: 5800, multipliers: 19, brams: 36 }, &target);
        assert_eq!(now.differences(&kept), Vec::<String>::new());
        now.set_used(Used { ff: 4300, lut: 6000, multipliers: 20, brams: 36 }, &target);
        assert_eq!(now.differences(&kept).len(), 2);
        now.ff = None;
        assert_eq!(now.differences(&kept).len(), 2);
    }

    /// A clock that leaves the multipliers out was printed like any other.
    #[test]
    fn the_table_says_what_is_not_timed() {
        let (mut report, _) = report();
        report.fmax_mhz = Some(168.89);
        assert!(report.table().contains("168.9 MHz reached, routed\n"), "{}", report.table());
        report.not_timed = Flow::NextpnrXilinx.not_timed();
        assert!(
            report.table().contains("168.9 MHz reached, routed (multipliers not timed)\n"),
            "{}",
            report.table()
        );
    }

    #[test]
    fn a_report_is_read_back_as_it_was_written() {
        let (mut report, _) = report();
        report.blocks.insert("tem".to_owned(), Used { ff: 1, lut: 2, multipliers: 3, brams: 4 });
        let text = serde_json::to_string(&report).unwrap();
        assert_eq!(serde_json::from_str::<SynthReport>(&text).unwrap(), report);
        assert!(
            report.table().contains("the papers: 6880 ff, 4144 slices, 16 multipliers"),
            "{}",
            report.table()
        );
    }
}
