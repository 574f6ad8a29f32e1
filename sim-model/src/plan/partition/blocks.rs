//! An object cut into blocks of equal work, and the order in which a block's particles are swept over.
//!
//! ```text
//!   block 0         block 1         block 2         block 3
//!   9 8 7 .. 1 0 | 0 1 2 .. 8 9 | 9 8 7 .. 1 0 | 0 1 2 .. 8 9      along each axis
//! ```
//! As if the object were folded like paper at the cuts: every second block along an axis is swept the other way, so that
//! neighbours on both sides of a cut have their turn at the same time.

use crate::{mesh::Vec3, plan::order};
use std::sync::Arc;

/// Blocks, by the axes they were cut along.
#[derive(Clone, Debug)]
pub(crate) struct Blocks {
    cells: Vec<Cell>,
    points: Arc<[Vec3]>,
    /// Layer, row and column of each particle.
    sites: Arc<[[u32; 3]]>,
    /// Edges at each particle.
    valence: Arc<[u64]>,
    /// The axes, longest first.
    axes: [usize; 3],
}

#[derive(Clone, Debug, PartialEq)]
struct Cell {
    particles: Vec<u32>,
    /// Which axes are swept backwards.
    mirrored: [bool; 3],
}

impl Blocks {
    /// A mesh cut into so many blocks of equal work, each of one particle at least, in several shapes.
    pub(crate) fn all(points: &[Vec3], edges: &[[u32; 2]], groups: usize) -> Vec<Self> {
        let groups = groups.clamp(1, points.len().max(1));
        let mut valence = vec![0; points.len()];
        edges.iter().flatten().for_each(|&p| valence[p as usize] += 1);
        let size = size(points.iter());
        let mut axes = [0, 1, 2];
        axes.sort_by(|&a, &b| size[b].total_cmp(&size[a]));
        let sites = order::sites(points, edges);
        let uncut = Self {
            cells: Vec::new(),
            points: points.into(),
            sites: sites.into(),
            valence: valence.into(),
            axes,
        };
        let mut all: Vec<Self> = Vec::new();
        for shape in shapes(groups, size, axes) {
            let mut blocks = uncut.clone();
            blocks.cut(&mut (0..points.len() as u32).collect::<Vec<_>>(), groups, &shape, [false; 3]);
            if all.iter().all(|other| other.cells != blocks.cells) {
                all.push(blocks);
            }
        }
        all
    }

    /// Edges at a particle.
    pub(crate) fn valence(&self, particle: u32) -> u64 {
        self.valence[particle as usize]
    }

    /// The axes, longest first.
    pub(crate) fn axes(&self) -> [usize; 3] {
        self.axes
    }

    /// Cuts into so many blocks, at sums of valences in proportion to the blocks on both sides.
    fn cut(&mut self, particles: &mut [u32], groups: usize, cuts: &[(usize, usize)], mirrored: [bool; 3]) {
        if groups == 1 {
            self.cells.push(Cell { particles: particles.to_vec(), mirrored });
            return;
        }
        let (axis, count, inner) = match cuts {
            [] => (size(particles.iter().map(|&p| &self.points[p as usize])).imax(), 2, cuts),
            [(axis, count), inner @ ..] => (*axis, (*count).min(groups), inner),
        };
        let others = [(axis + 1) % 3, (axis + 2) % 3];
        let key = |p: u32| [axis, others[0], others[1]].map(|axis| self.points[p as usize][axis]);
        // Numbers break ties, so that the order depends on the mesh alone.
        particles.sort_unstable_by(|&a, &b| {
            let along = key(a).into_iter().zip(key(b)).map(|(a, b)| a.total_cmp(&b));
            along.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then).then(a.cmp(&b))
        });
        let total: u64 = particles.iter().map(|&p| self.valence(p)).sum();
        let before = |k: usize| k * groups / count;
        let (mut rest, mut done) = (particles, 0);
        for k in 0..count {
            let least = before(k + 1) - before(k);
            let room = rest.len() - (groups - before(k + 1));
            let limit = 2 * total * before(k + 1) as u64 / groups as u64;
            let mut taken = 0;
            while taken < room {
                let next = self.valence(rest[taken]);
                if taken >= least && k + 1 < count && 2 * done + next > limit {
                    break;
                }
                (taken, done) = (taken + 1, done + next);
            }
            let (part, others) = rest.split_at_mut(taken);
            let mut mirrored = mirrored;
            mirrored[axis] = k % 2 == 0;
            self.cut(part, least, inner, mirrored);
            rest = others;
        }
    }

    /// The particles of each block, layer by layer along the first axis and row by row along the second. Rows are in
    /// two halves, as the squares of a chess board: the first have most of the row's edges, which leaves fewer visits.
    pub(crate) fn swept(&self, sweep: [usize; 3]) -> Vec<Vec<u32>> {
        let order = |cell: &Cell| {
            let signed = |axis: usize, value: i64| if cell.mirrored[axis] { -value } else { value };
            let key = |p: u32| {
                let site = self.sites[p as usize];
                let [layer, row] = [sweep[0], sweep[1]].map(|axis| signed(axis, site[axis].into()));
                (layer, row, site.iter().fold(0, |sum, s| sum ^ (s & 1)))
            };
            let column = |p: u32| {
                let x = self.points[p as usize][sweep[2]];
                if cell.mirrored[sweep[2]] { -x } else { x }
            };
            let mut particles = cell.particles.clone();
            particles.sort_by(|&a, &b| {
                key(a).cmp(&key(b)).then_with(|| column(a).total_cmp(&column(b))).then(a.cmp(&b))
            });
            particles
        };
        self.cells.iter().map(order).collect()
    }
}

/// How long an object is along each axis.
fn size<'a>(mut points: impl Iterator<Item = &'a Vec3>) -> Vec3 {
    let Some(&first) = points.next() else { return Vec3::zeros() };
    let (low, high) = points.fold((first, first), |(low, high), p| (low.inf(p), high.sup(p)));
    high - low
}

/// How an object is cut into blocks: along which axis into how many parts, one cut inside the other. What is left to be
/// cut then is cut into halves, along its longest side.
type Shape = Vec<(usize, usize)>;

/// Shapes worth a try, for an object of a size and its axes, longest first. Numbers of blocks need not be products: of
/// 101 blocks in five layers, four layers have 20 blocks and one has 21.
fn shapes(groups: usize, size: Vec3, axes: [usize; 3]) -> Vec<Shape> {
    // A side much shorter than a block is not cut, and none is divided by.
    let side = axes.map(|axis| size[axis].max(1e-3 * size.max()).max(f64::MIN_POSITIVE));
    // Parts along a side that make blocks about as long as wide.
    let about = |parts: f64| [parts.floor(), parts.ceil()].map(|parts| (parts as usize).clamp(1, groups));
    let mut shapes = vec![product(groups, size, axes)];
    for layers in about((groups as f64 * (side[0] / side[1]) * (side[0] / side[2])).cbrt()) {
        for rows in about((groups as f64 / layers as f64 * (side[1] / side[2])).sqrt()) {
            shapes.push(vec![(axes[0], layers), (axes[1], rows), (axes[2], groups)]);
        }
    }
    shapes.push(Vec::new());
    shapes
}

/// Into how many parts to cut along which axis: the longest part is cut first, into the largest prime factor.
fn product(groups: usize, size: Vec3, axes: [usize; 3]) -> Shape {
    let mut counts = [1; 3];
    let mut rest = groups;
    let mut factors = Vec::new();
    let mut factor = 2;
    while rest > 1 {
        while rest.is_multiple_of(factor) {
            factors.push(factor);
            rest /= factor;
        }
        factor += 1;
    }
    for &factor in factors.iter().rev() {
        let part = |axis: usize| size[axis] / counts[axis] as f64;
        let longest = (1..3).fold(0, |best, axis| if part(axis) > part(best) { axis } else { best });
        counts[longest] *= factor;
    }
    axes.into_iter().map(|axis| (axis, counts[axis])).filter(|(_, count)| *count > 1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::Lattice;
    use proptest::prelude::*;

    #[test]
    fn the_longest_part_is_cut() {
        assert_eq!(product(1, Vec3::repeat(1.0), [0, 1, 2]), []);
        assert_eq!(product(8, Vec3::repeat(1.0), [0, 1, 2]), [(0, 2), (1, 2), (2, 2)]);
        assert_eq!(product(12, Vec3::new(1.0, 9.0, 1.0), [1, 0, 2]), [(1, 12)]);
        assert_eq!(product(6, Vec3::new(2.0, 0.0, 3.0), [2, 0, 1]), [(2, 3), (0, 2)]);
    }

    /// A prime number of blocks was cut into slabs alone: two thirds of the edges of 15x15x16 led from one to another.
    #[test]
    fn a_prime_number_of_blocks_is_not_slabs() {
        let shapes = shapes(101, Vec3::repeat(31.0), [0, 1, 2]);
        assert_eq!(shapes[0], [(0, 101)]);
        assert!(
            shapes.contains(&vec![(0, 5), (1, 4), (2, 101)]) && shapes.contains(&Vec::new()),
            "{shapes:?}"
        );
        // What has no thickness is not cut along it, or only where nothing else is left to be cut.
        for (flat, axes) in [(Vec3::new(9.0, 9.0, 0.0), [0, 1, 2]), (Vec3::new(0.0, 0.0, 4.0), [2, 0, 1])] {
            for shape in super::shapes(101, flat, axes) {
                let before_last = &shape[..shape.len().saturating_sub(1)];
                assert!(
                    before_last.iter().all(|(axis, count)| flat[*axis] > 0.0 || *count == 1),
                    "{shape:?}"
                );
            }
        }
    }

    /// Both sides of a cut are swept from the cut, and the blocks have about the same number of edges.
    #[test]
    fn blocks_are_folded_at_the_cuts() {
        let mesh = Lattice { size: [16, 4, 4], pitch: 1.0, center: Vec3::zeros() }.mesh().unwrap();
        let blocks = Blocks::all(&mesh.particles, &mesh.edges, 4).remove(0);
        assert_eq!(blocks.axes()[0], 0);
        let swept = blocks.swept([0, 1, 2]);
        let x = |p: u32| mesh.particles[p as usize].x;
        for pair in swept.chunks(2) {
            let (left, right) = (&pair[0], &pair[1]);
            assert!(
                left.windows(2).all(|w| x(w[0]) >= x(w[1])) && right.windows(2).all(|w| x(w[0]) <= x(w[1]))
            );
            assert!((x(left[0]) - x(right[0])).abs() <= 1.0);
        }
        let work = |cell: &Vec<u32>| cell.iter().map(|&p| blocks.valence(p)).sum::<u64>();
        let (least, most) = (swept.iter().map(work).min(), swept.iter().map(work).max());
        assert!(most.unwrap() - least.unwrap() <= 20, "{least:?} {most:?}");
    }

    /// Points in a box, a plane, a line, or one place; some share coordinates.
    fn points() -> impl Strategy<Value = Vec<Vec3>> {
        let flat = prop::array::uniform3(any::<bool>());
        let place = prop::array::uniform3(prop_oneof![-1.0f64..1.0, (-2i8..3).prop_map(f64::from)]);
        (prop::collection::vec(place, 1..400), flat).prop_map(|(places, flat)| {
            let kept = |place: [f64; 3]| Vec3::from_fn(|axis, _| if flat[axis] { 0.5 } else { place[axis] });
            places.into_iter().map(kept).collect()
        })
    }

    proptest! {
        /// Any number of blocks of any points in any graph, connected or not. A cut is less than half a particle from where
        /// it ought to be, and two lie inside each other's shares: no block has more than three particles too much or too
        /// little, wherever blocks are not so small that they need particles for their own sake.
        #[test]
        fn any_number_of_blocks_shares_alike(
            points in points(),
            ends in prop::collection::vec((0usize..400, 0usize..400), 0..2000),
            groups in 1usize..=128,
        ) {
            let inside = |(a, b): (usize, usize)| [(a % points.len()) as u32, (b % points.len()) as u32];
            let edges: Vec<[u32; 2]> = ends.into_iter().map(inside).filter(|[a, b]| a != b).collect();
            for blocks in Blocks::all(&points, &edges, groups) {
                prop_assert_eq!(blocks.cells.len(), groups.min(points.len()));
                prop_assert!(blocks.cells.iter().all(|cell| !cell.particles.is_empty()));
                let mut all: Vec<u32> = blocks.cells.iter().flat_map(|cell| cell.particles.clone()).collect();
                all.sort_unstable();
                prop_assert!(all.into_iter().eq(0..points.len() as u32));
                let most = blocks.valence.iter().copied().max().unwrap_or(0) as f64;
                let mean = 2.0 * edges.len() as f64 / blocks.cells.len() as f64;
                for cell in &blocks.cells {
                    let work = cell.particles.iter().map(|&p| blocks.valence(p)).sum::<u64>() as f64;
                    prop_assert!(mean < 4.0 * most || (work - mean).abs() <= 3.0 * most, "{} {} {}", work, mean, most);
                }
            }
        }
    }
}
