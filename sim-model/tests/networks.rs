//! Networks of springs and dampers: the closed forms against steps in time, counts against generating functions, tables
//! and smallest networks against the paper (K03), laws against the networks they are said to be.

#[path = "../examples/networks.rs"]
mod example;

use nendo_model::{
    engine::{
        InProcess,
        reference::{Integrator, Reference},
    },
    force::law::network::{Class, Network},
    scene::{Scene, deformation::DeformationKind},
};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// A network in time: one line f = a x + b through what the next step can be, for each of its parts.
enum Node {
    Leaf { spring: bool, coefficient: f64, x: f64, f: f64 },
    Series(Vec<Node>),
    Parallel(Vec<Node>),
}

/// Length of a step, and how much its end weighs: 1 is implicit Euler, 1/2 the trapezoidal rule, which loses no energy.
#[derive(Clone, Copy)]
struct Step {
    h: f64,
    end: f64,
}

impl Node {
    fn new(network: &Network, coefficients: &mut impl Iterator<Item = f64>) -> Self {
        match network {
            Network::Series(group) => {
                Self::Series(group.iter().map(|n| Self::new(n, coefficients)).collect())
            }
            Network::Parallel(group) => {
                Self::Parallel(group.iter().map(|n| Self::new(n, coefficients)).collect())
            }
            Network::Spring | Network::Damper => Self::Leaf {
                spring: *network == Network::Spring,
                coefficient: coefficients.next().unwrap(),
                x: 0.0,
                f: 0.0,
            },
        }
    }

    fn line(&self, step: Step) -> (f64, f64) {
        match self {
            Self::Leaf { spring: true, coefficient, .. } => (*coefficient, 0.0),
            Self::Leaf { coefficient, x, f, .. } => {
                let a = coefficient / (step.end * step.h);
                (a, -a * x - (1.0 - step.end) / step.end * f)
            }
            Self::Parallel(nodes) => {
                nodes.iter().map(|n| n.line(step)).fold((0.0, 0.0), |sum, l| (sum.0 + l.0, sum.1 + l.1))
            }
            Self::Series(nodes) => {
                let lines = nodes.iter().map(|n| n.line(step));
                let (ease, slack) = lines.fold((0.0, 0.0), |sum, (a, b)| (sum.0 + 1.0 / a, sum.1 + b / a));
                (1.0 / ease, slack / ease)
            }
        }
    }

    fn stretch(&mut self, to: f64, step: Step) {
        let (a, b) = self.line(step);
        let force = a * to + b;
        match self {
            Self::Leaf { x, f, .. } => (*x, *f) = (to, force),
            Self::Parallel(nodes) => nodes.iter_mut().for_each(|n| n.stretch(to, step)),
            Self::Series(nodes) => nodes.iter_mut().for_each(|n| {
                let (a, b) = n.line(step);
                n.stretch((force - b) / a, step);
            }),
        }
    }

    /// Extension after this many steps under a force.
    fn press(&mut self, force: f64, steps: usize, step: Step) -> f64 {
        let mut x = 0.0;
        for _ in 0..steps {
            let (a, b) = self.line(step);
            x = (force - b) / a;
            self.stretch(x, step);
        }
        x
    }

    /// How fast a mass of 1 kg at its end, pushed off at 1 m/s, still is in the last tenth of so many steps.
    fn swings(&mut self, steps: usize, h: f64) -> f64 {
        let step = Step { h, end: 0.5 };
        let (mut x, mut v, mut f, mut last) = (0.0, 1.0, 0.0, 0.0f64);
        for k in 0..steps {
            // Both the part and the mass, v' = -f, by the trapezoidal rule.
            let (a, b) = self.line(step);
            let free = x + h * v - h * h / 4.0 * f;
            let to = (free - h * h / 4.0 * b) / (1.0 + h * h / 4.0 * a);
            let next = a * to + b;
            v -= h / 2.0 * (f + next);
            (x, f) = (to, next);
            self.stretch(x, step);
            if k >= steps * 9 / 10 {
                last = last.max(v.abs());
            }
        }
        last
    }
}

fn networks() -> impl Iterator<Item = Network> {
    (1..=4).flat_map(Network::all)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]
    /// Held for long against all its times and let go: what returns and what stays are those of the closed form, and the
    /// class follows.
    #[test]
    fn every_network_answers_in_time_as_in_closed_form(coefficients in prop::array::uniform4(0.3f64..3.0), force in 0.5f64..2.0) {
        let (step, steps) = (Step { h: 1.0, end: 1.0 }, 1500);
        for network in networks() {
            let mut node = Node::new(&network, &mut coefficients.into_iter());
            let pressed = node.press(force, steps, step);
            let stays = node.press(0.0, steps, step);
            let returns = pressed - stays;
            let mut next = coefficients.into_iter();
            let closed = network.operator(&mut |_| next.next().unwrap());
            let small = 1e-6 * pressed;
            prop_assert!((stays - closed.stays() * force * steps as f64).abs() < small, "{network} {stays}");
            prop_assert!((returns - closed.returns() * force).abs() < small, "{network} {returns}");
            let class = match (returns > 1e-3 * force, stays > small) {
                (true, false) => Class::Elastic,
                (false, true) => Class::Viscoplastic,
                (true, true) => Class::Rheological,
                (false, false) => return Err(TestCaseError::fail(format!("{network} does not move"))),
            };
            prop_assert_eq!(network.class(), class, "{}", network);
        }
    }
}

/// A mass swings for ever on a part that has no damper, and on no other.
#[test]
fn what_settles_comes_to_rest() {
    for part in networks().filter(|network| network.in_series().len() == 1) {
        let mut node = Node::new(&part, &mut [0.7, 1.9, 0.4, 1.3].into_iter());
        let left = node.swings(20_000, 0.02);
        assert_eq!(left < 0.01, part.settles(), "{part}: {left} m/s are left");
    }
    for network in networks() {
        assert_eq!(network.settles(), network.in_series().iter().all(Network::settles), "{network}");
    }
}

/// The numbers of networks by size, from generating functions: a network is a multiset of such as are no series, or of
/// such as are no parallels. Where like parts are `joined`, the multiset has one of each colour at most.
fn counted(colours: usize, joined: bool, most: usize) -> Vec<usize> {
    let mut series = vec![0; most + 1];
    series[0] = 1;
    for _ in 0..colours {
        if joined {
            (1..=most).rev().for_each(|n| series[n] += series[n - 1]);
        } else {
            (1..=most).for_each(|n| series[n] += series[n - 1]);
        }
    }
    let mut counts = vec![colours];
    for n in 2..=most {
        // So many are in series, and as many in parallel; each of those is a member of larger ones.
        let members = series[n];
        counts.push(2 * members);
        for _ in 0..members {
            (n..=most).for_each(|k| series[k] += series[k - n]);
        }
    }
    counts
}

#[test]
fn there_are_as_many_as_generating_functions_count() {
    // MacMahon's series-parallel networks, A000084 of the OEIS.
    assert_eq!(counted(1, false, 8), [1, 2, 4, 10, 24, 66, 180, 522]);
    let two = counted(2, false, 6);
    assert_eq!(two[..4], [2, 6, 20, 80]);
    for n in 1..=6 {
        let all = Network::all(n);
        assert_eq!(all.len(), two[n - 1], "{n} parts");
        assert!(all.iter().all(|network| network.parts() == n));
        let springs = all.iter().filter(|network| !network.has_damper()).count();
        assert_eq!(springs, counted(1, false, 6)[n - 1], "{n} springs");
        let reduced = all.iter().filter(|network| network.reduced() == **network).count();
        assert_eq!(reduced, counted(2, true, 6)[n - 1], "{n} parts, reduced");
    }
    assert!(Network::all(0).is_empty());
}

/// What stands together does not matter to the answer, and what is reduced stays so.
#[test]
fn reduced_networks_answer_alike() {
    let mut seen = BTreeSet::new();
    for network in networks() {
        let reduced = network.reduced();
        assert_eq!((reduced.chain(), reduced.reduced()), (network.chain(), reduced.clone()), "{network}");
        assert!(reduced.parts() >= network.chain().parts(), "{network}");
        seen.insert(reduced);
    }
    assert_eq!(seen.len(), 2 + 2 + 4 + 12);
}

/// K03 tables 1 and 2, row by row: (a) serial, (b) parallel; residual (bouncing) first.
#[test]
fn tables_1_and_2_come_out() {
    type Table = (fn(&Network) -> bool, fn(Network, Network) -> Network, [[bool; 2]; 2]);
    let residual: fn(&Network) -> bool = |n| n.operator(&mut |_| 1.5).stays() > 0.0;
    let bouncing: fn(&Network) -> bool = |n| n.operator(&mut |_| 1.5).returns() > 0.0;
    let tables: [Table; 4] = [
        (residual, Network::then, [[true, true], [true, false]]),
        (residual, Network::beside, [[true, false], [false, false]]),
        (bouncing, Network::then, [[true, true], [true, false]]),
        (bouncing, Network::beside, [[true, true], [true, false]]),
    ];
    let halves: Vec<Network> = (1..=3).flat_map(Network::all).collect();
    for (which, (has, join, printed)) in tables.into_iter().enumerate() {
        let mut cells = BTreeSet::new();
        for (a, b) in halves.iter().flat_map(|a| halves.iter().map(move |b| (a, b))) {
            let (row, column) = (usize::from(!has(a)), usize::from(!has(b)));
            let both = join(a.clone(), b.clone());
            assert_eq!(has(&both), printed[row][column], "table {which}: {a} with {b}");
            cells.insert((row, column));
        }
        assert_eq!(cells.len(), 4, "table {which}");
    }
}

/// The page: a network bounces if there is a spring in it, and keeps a residual unless springs lead from end to end.
#[test]
fn the_class_can_be_read_off_the_drawing() {
    fn springs_lead_through(network: &Network) -> bool {
        match network {
            Network::Series(group) => group.iter().all(springs_lead_through),
            Network::Parallel(group) => group.iter().any(springs_lead_through),
            Network::Spring | Network::Damper => *network == Network::Spring,
        }
    }
    for network in (1..=6).flat_map(Network::all) {
        let class = match (network.to_string().contains('k'), springs_lead_through(&network)) {
            (false, _) => Class::Viscoplastic,
            (true, true) => Class::Elastic,
            (true, false) => Class::Rheological,
        };
        assert_eq!(network.class(), class, "{network}");
    }
}

/// K03 Fig. 2: with the fewest parts, the Voigt part before a damper, and the Maxwell part beside one.
#[test]
fn the_smallest_rheological_networks_are_two() {
    let (spring, damper) = (Network::Spring, Network::Damper);
    let three = spring.clone().beside(damper.clone()).then(damper.clone());
    let other = spring.then(damper.clone()).beside(damper);
    let meets = |n: &Network| n.class() == Class::Rheological && n.settles();
    assert_eq!(Network::all(1).into_iter().chain(Network::all(2)).filter(meets).count(), 0);
    let found: BTreeSet<Network> = Network::all(3).into_iter().filter(meets).collect();
    assert_eq!(found, BTreeSet::from([three.clone(), other.clone()]));

    // The page says which coefficients make one of the other.
    let (k1, c1, c2) = (60.0, 0.5, 7.0f64);
    let with = |network: &Network, coefficients: [f64; 3]| {
        let mut next = coefficients.into_iter();
        network.operator(&mut |_| next.next().unwrap())
    };
    let share = c2 / (c1 + c2);
    let (c, d, k) = (c1 * share, c2 * share, k1 * share * share);
    let (a, b) = (with(&three, [k1, c1, c2]), with(&other, [k, d, c]));
    for s in [0.01, 0.3, 1.0, 20.0, 4000.0] {
        let at = |p: &[f64]| p.iter().rev().fold(0.0, |sum, c| sum * s + c);
        let [a, b] = [&a, &b].map(|o| at(o.length()) / at(o.force()));
        assert!((a - b).abs() < 1e-12 * a, "{a} and {b} at s = {s}");
    }
}

/// The law that the page names for a network moves a light particle as the network's closed form says; all but a spring,
/// which would swing for ever.
#[test]
fn laws_are_the_networks_they_are_said_to_be() {
    let laws: &[(&str, &str, &[f64])] = &[
        ("c", "law = \"damper\"\nc1 = 3.0", &[3.0]),
        ("k|c", "law = \"voigt\"\nk1 = 5.0\nc1 = 3.0", &[5.0, 3.0]),
        ("k-c", "law = \"maxwell\"\nk1 = 5.0\nc2 = 3.0", &[5.0, 3.0]),
        ("(k|c)-c", "law = \"three-element\"\nk1 = 5.0\nc1 = 2.0\nc2 = 40.0", &[5.0, 2.0, 40.0]),
        (
            "(k|c)-(k|c)",
            "law = \"generalized-voigt\"\nparts = [{ k = 5.0, c = 2.0 }, { k = 2.0, c = 3.0 }]",
            &[5.0, 2.0, 2.0, 3.0],
        ),
        (
            "(k-c)|(k-c)",
            "law = \"generalized-maxwell\"\nparts = [{ k = 5.0, c = 2.0 }, { k = 2.0, c = 30.0 }]",
            &[5.0, 2.0, 2.0, 30.0],
        ),
    ];
    let (force, held) = (0.01, 40.0);
    for (printed, law, coefficients) in laws {
        let network = networks().find(|network| network.to_string() == *printed).unwrap();
        let name = network.chain().law().unwrap();
        assert!(law.contains(&format!("\"{name}\"")), "{printed} is {name}");
        let scene = format!(
            "step = 0.0005\nduration = 80\nmass = 0.01\n[mesh]\nparticles = [[0, 0, 0], [1, 0, 0]]\nedges = [[0, 1]]\n\
             [materials.m]\n{law}\n[[pins]]\non = [0]\n[[forces]]\non = [1]\nforce = [{force}, 0, 0]\nto = {held}\n"
        );
        let mut engine = Reference::new(&Scene::parse(&scene, "one").unwrap(), Integrator::Rk4);
        let mut after = |steps| {
            engine.advance(steps).unwrap();
            engine.positions()[1].x - 1.0
        };
        let (pressed, stays) = (after(80_000), after(80_000));
        let mut next = coefficients.iter().copied();
        let closed = network.operator(&mut |_| next.next().unwrap());
        // The particle's own momentum stretches a damper a little longer: m v / c.
        let slack = 0.01 * force * closed.stays().powi(2) + 1e-4 * pressed;
        assert!((stays - closed.stays() * force * held).abs() < slack, "{name}: {stays} stays");
        assert!((pressed - stays - closed.returns() * force).abs() < slack, "{name}: {pressed} pressed");
    }
}

#[test]
#[should_panic = "is no coefficient"]
fn a_spring_without_stiffness_is_refused() {
    Network::Spring.then(Network::Damper).operator(&mut |part| f64::from(u8::from(*part == Network::Damper)));
}

/// Classes have the names that measures of scenes have.
#[test]
fn classes_are_named_as_in_scenes() {
    for class in Class::ALL {
        assert!(DeformationKind::ALL.iter().any(|kind| kind.name() == class.name()), "{}", class.name());
    }
}

#[test]
fn the_page_is_what_the_program_prints() {
    let kept = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/networks.md")).unwrap();
    let page = example::page();
    assert!(page == kept, "docs/networks.md is to be:\n{page}");
}
