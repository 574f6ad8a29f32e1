//! What parallel main modules do in each clock of a step, planned before the run.
//!
//! ```text
//!   clock       0    1    2    3    4    5    6    7   ...
//!   module 0   e00  e01  e02  e10  e11   -   e20  e21       edges, owner after owner; a bubble where no end is free
//!   module 1   e00  e01  e10  e11  e12  e13  e20  e21
//!   moved       .    .    .    .    .   p0    .   p1        particles follow as soon as their forces are complete
//! ```
//! - An edge reads its owner through one port of the owner's memory, once for all edges of this owner, and its other
//!   particle through the other port of that one's memory: in a clock the others are in different groups. Which owner
//!   comes next and which of its edges is chosen so that as many modules as possible have one; particles get their
//!   ranks when that is known.
//! - The port of the owners is free between their first edges. There a particle that has all its forces is read for
//!   MPM and, some clocks later, written.
//! - The sums of forces are in two memories that take turns, clock by clock: each has every second clock left to give
//!   away a particle's sum, or to take the sum of an owner's edges.
//! - What could not be moved before the last edge is moved after it, a particle per clock.
//!
//! Modules follow the plan blindly: there is nothing to wait for and nothing to decide, and the clocks of a step are
//! known.

mod edges;

use crate::{
    contract::{
        config::Config,
        image::Image,
        numbers::{Inverse, Profile},
        words::MAX_ADVANCE,
    },
    mesh::Vec3,
    plan::{
        cycles::Depths,
        partition::{Blocks, Partition},
    },
};
use edges::place_edges;
use rayon::prelude::*;
use std::sync::Arc;

/// How many more edges between two groups one of them may own; which is better depends on the mesh.
const LEADS: [i64; 2] = [4, 64];

/// A clock of a module.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slot {
    /// The edge, by its number in the mesh; none in a bubble.
    pub edge: Option<u32>,
    /// How many ranks the owner is further than the one before, the first from before rank 0; 0 if it is the same.
    pub advance: u32,
    /// Whether this is the last edge of its owner.
    pub last: bool,
    /// Whether the next particle is moved.
    pub moves: bool,
}

/// Plans a mesh's step on so many modules.
type Planner = fn(&[Vec3], &[[u32; 2]], usize, Depths) -> Schedule;

/// A way to plan a step.
struct Way {
    blocks: Arc<Blocks>,
    sweep: [usize; 3],
    lead: i64,
}

impl Way {
    /// One way to sweep over some blocks, as good as another.
    fn sketch(blocks: Blocks) -> Self {
        Self { sweep: blocks.axes(), blocks: Arc::new(blocks), lead: LEADS[0] }
    }

    fn plan(&self, edges: &[[u32; 2]], depths: Depths) -> Schedule {
        Schedule::on(Partition::new(&self.blocks, edges, self.sweep, self.lead), edges, depths)
    }
}

/// The plan of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// Which module has which particles.
    pub partition: Partition,
    /// Per module, its clocks; all have the same number, at least one.
    pub modules: Vec<Vec<Slot>>,
    /// Particles of the largest group: the others are filled up with held ones to as many.
    pub particles: u32,
    /// Clocks after the last edge in which the particles that are left are moved.
    pub left: u32,
    depths: Depths,
}

impl Schedule {
    /// The smallest engine that holds it.
    pub fn config(&self, profile: Profile, inverse: Inverse) -> Config {
        Config { modules: self.modules.len() as u64, ..Config::minimal(profile, inverse) }
            .holding(self.particles.into(), self.slots().into())
    }

    /// Plans a mesh's step on so many modules: products of blocks and, of all other shapes, that with the shortest
    /// sketch; several ways to sweep over both, and the shortest plan.
    pub fn new(points: &[Vec3], edges: &[[u32; 2]], modules: usize, depths: Depths) -> Self {
        let mut shapes = Blocks::all(points, edges, modules);
        if shapes.len() > 2 {
            let others = shapes.split_off(1);
            let clocks = |blocks: &Blocks| Way::sketch(blocks.clone()).plan(edges, depths).cycles_per_step();
            let clocks: Vec<u64> = others.par_iter().map(clocks).collect();
            let best = others.into_iter().zip(clocks).min_by_key(|(_, clocks)| *clocks);
            shapes.extend(best.map(|(blocks, _)| blocks));
        }
        let ways = shapes.into_iter().flat_map(|blocks| {
            let blocks = Arc::new(blocks);
            let [long, middle, short] = blocks.axes();
            let sweeps = [
                [long, short, middle],
                [long, middle, short],
                [middle, long, short],
                [middle, short, long],
                [short, long, middle],
                [short, middle, long],
            ];
            sweeps
                .into_iter()
                .flat_map(move |sweep| LEADS.map(|lead| Way { blocks: blocks.clone(), sweep, lead }))
        });
        let mut ways: Vec<_> = ways.collect();
        // On one module nothing has to meet, and one way is as good as another.
        ways.truncate(if modules <= 1 { 1 } else { ways.len() });
        Self::shortest(ways, edges, depths)
    }

    /// The same in a tenth of the time, and some percent longer: one way to sweep over blocks of each shape.
    pub fn sketch(points: &[Vec3], edges: &[[u32; 2]], modules: usize, depths: Depths) -> Self {
        let ways = Blocks::all(points, edges, modules).into_iter().map(Way::sketch).collect();
        Self::shortest(ways, edges, depths)
    }

    /// The first of those that are as short, however threads share the work.
    fn shortest(mut ways: Vec<Way>, edges: &[[u32; 2]], depths: Depths) -> Self {
        let plan = |way: &Way| way.plan(edges, depths);
        let better = |best: Self, found: Self| {
            if found.cycles_per_step() < best.cycles_per_step() { found } else { best }
        };
        let others = ways.split_off(1);
        let (first, rest) =
            rayon::join(|| plan(&ways[0]), || others.par_iter().map(plan).reduce_with(better));
        rest.into_iter().fold(first, better)
    }

    /// Plans a step of a mesh that is shared like this.
    fn on(partition: Partition, edges: &[[u32; 2]], depths: Depths) -> Self {
        let mut placed = place_edges(&partition, edges);
        let last = last_edges(&placed.modules, edges, partition.place.len());
        let groups = partition.groups.iter().zip(&placed.owners);
        let ranked = groups.map(|(group, owners)| rank(group, owners, &last)).collect();
        let partition = partition.reordered(ranked);
        let particles = partition.groups.iter().map(Vec::len).max().unwrap_or(0);
        let mut left = 0;
        for ((group, owners), slots) in partition.groups.iter().zip(&placed.owners).zip(&mut placed.modules) {
            advance(slots, group, owners);
            let mut last: Vec<Option<u32>> = group.iter().map(|&p| last[p as usize]).collect();
            last.resize(particles, None);
            left = left.max(particles as u32 - move_particles(slots, &last, depths));
        }
        Self { partition, modules: placed.modules, particles: particles as u32, left, depths }
    }

    /// Plans an image's step.
    pub fn of(image: &Image, modules: usize) -> Self {
        Self::of_image(image, modules, Self::new)
    }

    /// Plans an image's step in a tenth of the time: see [`Self::sketch`].
    pub fn sketch_of(image: &Image, modules: usize) -> Self {
        Self::of_image(image, modules, Self::sketch)
    }

    fn of_image(image: &Image, modules: usize, plan: Planner) -> Self {
        let points: Vec<Vec3> = image.particles.iter().map(|p| Vec3::from(p.x.map(f64::from))).collect();
        let edges: Vec<[u32; 2]> = image.edges.iter().map(|e| [e.start, e.end]).collect();
        plan(&points, &edges, modules, Depths::of(image.profile, image.inverse, modules as u64))
    }

    /// The depths it keeps.
    pub fn depths(&self) -> Depths {
        self.depths
    }

    /// Clocks of each module's plan.
    pub fn slots(&self) -> u32 {
        self.modules.first().map_or(0, |m| m.len() as u32)
    }

    /// Clocks of a step.
    pub fn cycles_per_step(&self) -> u64 {
        self.depths.cycles_per_step(self.slots(), self.left)
    }
}

/// The clock of each particle's last edge, its own or another's.
fn last_edges(modules: &[Vec<Slot>], edges: &[[u32; 2]], particles: usize) -> Vec<Option<u32>> {
    let mut last = vec![None; particles];
    for module in modules {
        for (slot, clock) in module.iter().zip(0..) {
            for &particle in slot.edge.iter().flat_map(|&e| &edges[e as usize]) {
                last[particle as usize] = last[particle as usize].max(Some(clock));
            }
        }
    }
    last
}

/// The particles of a group by rank: owners in their order, the others between them when they have all their forces,
/// as far as the next owner is not too many ranks further then.
fn rank(group: &[u32], owners: &[u32], last: &[Option<u32>]) -> Vec<u32> {
    let done = |p: &u32| last[*p as usize];
    let mut is_owner = vec![false; last.len()];
    owners.iter().for_each(|&p| is_owner[p as usize] = true);
    let mut others: Vec<u32> = group.iter().copied().filter(|&p| !is_owner[p as usize]).collect();
    others.sort_by_key(done);
    let mut others = others.into_iter().peekable();
    let mut ranked = Vec::with_capacity(group.len());
    for owner in owners {
        let between = std::iter::from_fn(|| others.next_if(|other| done(other) < done(owner)));
        ranked.extend(between.take(MAX_ADVANCE as usize - 1));
        ranked.push(*owner);
    }
    ranked.extend(others);
    ranked
}

/// Writes how many ranks each owner is further than the one before into the slots where owners begin.
fn advance(slots: &mut [Slot], group: &[u32], owners: &[u32]) {
    let (mut next, mut ranked) = (0, (0..).zip(group));
    let begins = slots.iter_mut().filter(|slot| slot.advance > 0);
    for (slot, owner) in begins.zip(owners) {
        let rank: u32 = ranked.by_ref().find(|(_, p)| *p == owner).map_or(next, |(rank, _)| rank);
        slot.advance = rank + 1 - next;
        next = rank + 1;
    }
}

/// Marks the clocks in which particles are moved, in order of rank, and returns how many are.
fn move_particles(slots: &mut [Slot], last: &[Option<u32>], depths: Depths) -> u32 {
    let clocks = slots.len() as u32;
    // The port of the owners: first edges, particles read and written.
    let mut busy: Vec<bool> = slots.iter().map(|s| s.advance > 0).collect();
    busy.resize(slots.len() + (depths.read + depths.particle) as usize, false);
    let mut adding = vec![false; slots.len() + depths.element as usize + 1];
    slots.iter().zip(depths.element as usize..).for_each(|(slot, at)| adding[at] = slot.last);
    let mut next = 1;
    for (rank, last) in (0..).zip(last) {
        next = next.max(last.map_or(0, |clock| clock + depths.element + 1)) | 1;
        let ports = |clock: u32| [clock + depths.read, clock + depths.particle].map(|at| at as usize);
        let is_free = |clock: u32| {
            let [read, write] = ports(clock);
            !busy[read] && !busy[write] && !adding[clock as usize] && !adding[clock as usize + 1]
        };
        while next < clocks && !is_free(next) {
            next += 2;
        }
        if next >= clocks {
            return rank;
        }
        slots[next as usize].moves = true;
        ports(next).into_iter().for_each(|at| busy[at] = true);
        next += 2;
    }
    last.len() as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        contract::numbers::{Inverse, Profile},
        mesh::Mesh,
        scene::Scene,
    };
    use proptest::prelude::*;
    use std::collections::HashSet;

    fn depths(modules: usize) -> Depths {
        Depths::of(Profile::Wide, Inverse::Table, modules as u64)
    }

    /// Plays a schedule clock by clock, and fails where two want the same port or something is not ready.
    fn play(edges: &[[u32; 2]], schedule: &Schedule) {
        let Depths { element: own, particle: write, read } = schedule.depths();
        let partition = &schedule.partition;
        let clocks = schedule.slots() as usize;
        let mut last = vec![None; partition.place.len()];
        let mut computed = HashSet::new();
        for clock in 0..clocks {
            let mut ends = HashSet::new();
            for module in &schedule.modules {
                let Some(edge) = module[clock].edge else { continue };
                assert!(computed.insert(edge), "edge {edge} twice");
                let owned = partition.owned(edge, edges[edge as usize]);
                assert!(ends.insert(owned.other.0), "two ends in a group in clock {clock}");
                edges[edge as usize].iter().for_each(|&p| last[p as usize] = Some(clock as u32));
            }
        }
        assert_eq!(computed.len(), edges.len());
        let mut most_left = 0;
        for (group, (slots, particles)) in (0..).zip(schedule.modules.iter().zip(&partition.groups)) {
            assert_eq!(slots.len(), clocks);
            // Port and sums by clock; what goes on after the last edge has both to itself.
            let (mut port, mut sums) = (HashSet::new(), HashSet::new());
            let (mut rank, mut moved) = (-1, 0);
            let mut unfinished: Option<(u32, i64)> = None;
            for (clock, slot) in (0..).zip(slots) {
                rank += i64::from(slot.advance);
                assert!(slot.advance <= MAX_ADVANCE);
                assert!(slot.advance == 0 || port.insert(clock), "an owner's port in clock {clock}");
                if let Some(edge) = slot.edge {
                    assert_eq!(partition.owned(edge, edges[edge as usize]).owner, (group, rank as u32));
                    // One owner's edges come together, and the last one says so.
                    assert!(
                        unfinished.is_none_or(|(_, owner)| owner == rank)
                            && (unfinished.is_none() == (slot.advance > 0))
                    );
                    unfinished = (!slot.last).then_some((clock, rank));
                    let at = clock + own;
                    assert!(!slot.last || sums.insert((at, 1 - at % 2)), "sum of an owner in clock {at}");
                } else {
                    assert!(!slot.last);
                }
                if slot.moves {
                    if let Some(&particle) = particles.get(moved as usize) {
                        let last: Option<u32> = last[particle as usize];
                        assert!(last.is_none_or(|last| clock > last + own), "too early");
                    }
                    assert!(
                        port.insert(clock + read) && port.insert(clock + write),
                        "a particle's port in clock {clock}"
                    );
                    // The first memory of sums has its turn in even clocks, the second in odd ones.
                    assert!(sums.insert((clock, 0)) && sums.insert((clock + 1, 1)) && clock % 2 == 1);
                    moved += 1;
                }
            }
            assert!(unfinished.is_none());
            most_left = most_left.max(schedule.particles - moved);
        }
        assert_eq!(most_left, schedule.left);
    }

    fn ratio(scene: &str, modules: usize) -> f64 {
        ratio_of(scene, &Scene::open(scene).unwrap().mesh, modules)
    }

    fn ratio_of(scene: &str, mesh: &Mesh, modules: usize) -> f64 {
        let schedule = Schedule::new(&mesh.particles, &mesh.edges, modules, depths(modules));
        play(&mesh.edges, &schedule);
        let ratio = schedule.cycles_per_step() as f64 * modules as f64 / mesh.edges.len() as f64;
        println!(
            "{scene}, {modules} modules: {} slots, {} left, {} cycles, {ratio:.4} of the ideal",
            schedule.slots(),
            schedule.left,
            schedule.cycles_per_step(),
        );
        ratio
    }

    /// The papers' estimate for four modules is 1.24 times the ideal.
    #[test]
    fn particles_hide_behind_edges() {
        assert!(ratio("cube9", 1) < 1.06);
        assert!(ratio("block16", 1) < 1.02);
        assert!(ratio("block16", 4) < 1.04);
        assert!(ratio("box:32x32x32", 16) < 1.05);
    }

    /// Clocks of the plans that cut into products alone, slabs where the number of modules is prime: none is longer now.
    #[test]
    fn no_plan_is_longer_than_with_products() {
        for (scene, before) in [
            ("box:8x8x8", vec![(2, 1350), (4, 719), (8, 405), (16, 242), (32, 152), (64, 99)]),
            ("cube9", vec![(3, 1369), (7, 652), (100, 100), (101, 101)]),
            ("block16", vec![(2, 9908), (4, 5031), (8, 2663), (16, 1452), (32, 782), (64, 439), (101, 314)]),
            (
                "box:20x20x20",
                vec![(2, 22427), (4, 11303), (8, 5781), (16, 3124), (32, 1637), (64, 876), (101, 608)],
            ),
        ] {
            let mesh = Scene::open(scene).unwrap().mesh;
            for (modules, before) in before {
                let plan = |plan: Planner| plan(&mesh.particles, &mesh.edges, modules, depths(modules));
                let (plan, sketch) = (plan(Schedule::new), plan(Schedule::sketch));
                play(&mesh.edges, &plan);
                let (clocks, sketch) = (plan.cycles_per_step(), sketch.cycles_per_step());
                assert!(clocks <= before, "{scene}, {modules} modules: {clocks}, {before} before");
                assert!(
                    (clocks..clocks + clocks / 5).contains(&sketch),
                    "{scene}, {modules}: {sketch} {clocks}"
                );
            }
        }
    }

    /// What fills no grid is shared nearly as well: a box whose particles are shaken until no layer is left.
    #[test]
    fn meshes_without_a_grid_share_alike() {
        let mut mesh = Scene::open("box:14x14x14").unwrap().mesh;
        let shaken = |k: usize| (k * 7919 % 1000) as f64 / 1000.0 - 0.5;
        for (k, p) in mesh.particles.iter_mut().enumerate() {
            *p += Vec3::new(shaken(3 * k), shaken(3 * k + 1), shaken(3 * k + 2)) * 12.0;
        }
        assert!(ratio_of("shaken", &mesh, 4) < 1.12);
    }

    proptest! {
        #[test]
        fn any_mesh_has_a_sound_schedule(
            points in prop::collection::vec(prop::array::uniform3(-1.0f64..1.0), 1..150),
            ends in prop::collection::vec((0usize..150, 0usize..150), 0..500),
            modules in 1usize..20,
        ) {
            let points: Vec<Vec3> = points.into_iter().map(Vec3::from).collect();
            let inside = |(a, b): (usize, usize)| [(a % points.len()) as u32, (b % points.len()) as u32];
            let edges: Vec<[u32; 2]> = ends.into_iter().map(inside).filter(|[a, b]| a != b).collect();
            let schedule = Schedule::new(&points, &edges, modules, depths(modules));
            play(&edges, &schedule);
            prop_assert!(u64::from(schedule.slots()) >= schedule.partition.shares(&edges).clocks());
        }
    }
}
