//! An object cut into blocks of equal work, and the order in which a block's particles are swept over.
//!
//! ```text
//!   block 0         block 1         block 2         block 3
//!   9 8 7 .. 1 0 | 0 1 2 .. 8 9 | 9 8 7 .. 1 0 | 0 1 2 .. 8 9      along each axis
//! ```
//! As if the object were folded like paper at the cuts: every second block along an axis is swept the other way, so that
//! neighbours on both sides of a cut have their turn at the same time.

use crate::{mesh::Vec3, plan::order};

/// Blocks, by the axes they were cut along.
#[derive(Clone, Debug)]
pub(crate) struct Blocks {
    cells: Vec<Cell>,
    points: Vec<Vec3>,
    /// Layer, row and column of each particle.
    sites: Vec<[u32; 3]>,
    /// Edges at each particle.
    valence: Vec<u64>,
    /// The axes, longest first.
    axes: [usize; 3],
}

#[derive(Clone, Debug)]
struct Cell {
    particles: Vec<u32>,
    /// Which axes are swept backwards.
    mirrored: [bool; 3],
}

impl Blocks {
    /// Cuts a mesh into so many blocks, each of one particle at least.
    pub(crate) fn new(points: &[Vec3], edges: &[[u32; 2]], groups: usize) -> Self {
        let groups = groups.clamp(1, points.len().max(1));
        let mut valence = vec![0; points.len()];
        edges.iter().flatten().for_each(|&p| valence[p as usize] += 1);
        let sizes = size(points);
        let mut axes = [0, 1, 2];
        axes.sort_by(|&a, &b| sizes[b].total_cmp(&sizes[a]));
        let mut blocks = Self {
            cells: Vec::new(),
            points: points.to_vec(),
            sites: order::sites(points, edges),
            valence,
            axes,
        };
        let mut cuts = cuts(groups, sizes);
        cuts.sort_by(|(a, _), (b, _)| sizes[*b].total_cmp(&sizes[*a]));
        let mut all: Vec<u32> = (0..points.len() as u32).collect();
        blocks.cut(&mut all, &cuts, [false; 3]);
        blocks
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.cells.len()
    }

    /// Edges at a particle.
    pub(crate) fn valence(&self, particle: u32) -> u64 {
        self.valence[particle as usize]
    }

    /// The axes, longest first.
    pub(crate) fn axes(&self) -> [usize; 3] {
        self.axes
    }

    /// Cuts along one axis after the other, at equal sums of valences.
    fn cut(&mut self, particles: &mut [u32], cuts: &[(usize, usize)], mirrored: [bool; 3]) {
        let Some((&(axis, count), inner)) = cuts.split_first() else {
            self.cells.push(Cell { particles: particles.to_vec(), mirrored });
            return;
        };
        let others = [(axis + 1) % 3, (axis + 2) % 3];
        let key = |p: u32| [axis, others[0], others[1]].map(|axis| self.points[p as usize][axis]);
        // Numbers break ties, so that the order depends on the mesh alone.
        particles.sort_unstable_by(|&a, &b| {
            let along = key(a).into_iter().zip(key(b)).map(|(a, b)| a.total_cmp(&b));
            along.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then).then(a.cmp(&b))
        });
        let least: usize = inner.iter().map(|(_, count)| count).product();
        let total: u64 = particles.iter().map(|&p| self.valence(p)).sum();
        let (mut rest, mut done) = (particles, 0);
        for k in 0..count {
            let room = rest.len() - (count - 1 - k) * least;
            let limit = 2 * total * (k as u64 + 1) / count as u64;
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
            self.cut(part, inner, mirrored);
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
fn size(points: &[Vec3]) -> Vec3 {
    let Some(&first) = points.first() else { return Vec3::zeros() };
    let (low, high) = points.iter().fold((first, first), |(low, high), p| (low.inf(p), high.sup(p)));
    high - low
}

/// Into how many parts to cut along which axis: the longest part is cut first, into the largest prime factor.
fn cuts(groups: usize, size: Vec3) -> Vec<(usize, usize)> {
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
    counts.into_iter().enumerate().filter(|(_, count)| *count > 1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::Lattice;

    #[test]
    fn the_longest_part_is_cut() {
        assert_eq!(cuts(1, Vec3::repeat(1.0)), []);
        assert_eq!(cuts(8, Vec3::repeat(1.0)), [(0, 2), (1, 2), (2, 2)]);
        assert_eq!(cuts(12, Vec3::new(1.0, 9.0, 1.0)), [(1, 12)]);
        assert_eq!(cuts(6, Vec3::new(2.0, 0.0, 3.0)), [(0, 2), (2, 3)]);
    }

    /// Both sides of a cut are swept from the cut, and the blocks have about the same number of edges.
    #[test]
    fn blocks_are_folded_at_the_cuts() {
        let mesh = Lattice { size: [16, 4, 4], pitch: 1.0, center: Vec3::zeros() }.mesh().unwrap();
        let blocks = Blocks::new(&mesh.particles, &mesh.edges, 4);
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
}
