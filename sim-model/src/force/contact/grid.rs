//! What is near: points sorted by the cell of space they are in.

use crate::force::real::{Real, Vector};
use std::ops::RangeInclusive;

type Cell = [i32; 3];

/// Points in cells of one size.
#[derive(Clone, Debug)]
pub struct Grid {
    size: f64,
    sorted: Vec<(Cell, u32)>,
}

impl Grid {
    /// A grid of points.
    pub fn new<T: Real>(size: f64, points: impl Iterator<Item = Vector<T>>) -> Self {
        let cell = |p: Vector<T>| std::array::from_fn(|k| cell(p[k].wide(), size));
        let mut sorted: Vec<(Cell, u32)> = points.map(cell).zip(0..).collect();
        sorted.sort_unstable();
        Self { size, sorted }
    }

    /// Calls `found` for all points in cells that touch the box around `low` and `high`, in a fixed order.
    pub fn each<T: Real>(&self, low: Vector<T>, high: Vector<T>, mut found: impl FnMut(u32)) {
        let [x_range, y_range, z_range] =
            [0, 1, 2].map(|k| cell(low[k].wide(), self.size)..=cell(high[k].wide(), self.size));
        let width =
            |range: &RangeInclusive<i32>| (1 + i64::from(*range.end()) - i64::from(*range.start())).max(0);
        // A box over more columns of cells than there are points, in an object that is torn apart: all points are
        // asked, which come in the same order.
        if width(&x_range) * width(&y_range) > self.sorted.len() as i64 {
            let inside =
                |c: &Cell| x_range.contains(&c[0]) && y_range.contains(&c[1]) && z_range.contains(&c[2]);
            return self.sorted.iter().filter(|(c, _)| inside(c)).for_each(|(_, k)| found(*k));
        }
        for x in x_range {
            for y in y_range.clone() {
                // Cells along z are neighbours in the list, too.
                let (first, last) = ([x, y, *z_range.start()], [x, y, *z_range.end()]);
                let from = self.sorted.partition_point(|(c, _)| *c < first);
                self.sorted[from..].iter().take_while(|(c, _)| *c <= last).for_each(|(_, k)| found(*k));
            }
        }
    }
}

/// A coordinate's cell; what has flown away is all in the last one.
fn cell(value: f64, size: f64) -> i32 {
    (value / size).floor().clamp(-1e9, 1e9) as i32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::Vec3;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn nothing_near_is_missed(points in prop::collection::vec(prop::array::uniform3(-5.0f64..5.0), 1..60), size in 0.3f64..3.0, low in prop::array::uniform3(-5.0f64..5.0), side in 0.0f64..3.0) {
            let points: Vec<Vec3> = points.into_iter().map(Vec3::from).collect();
            let grid = Grid::new(size, points.iter().copied());
            let (low, high) = (Vec3::from(low), Vec3::from(low) + Vec3::repeat(side));
            let mut found = Vec::new();
            grid.each(low, high, |k| found.push(k as usize));
            let inside = |p: &Vec3| (0..3).all(|k| low[k] <= p[k] && p[k] <= high[k]);
            for k in 0..points.len() {
                prop_assert!(!inside(&points[k]) || found.contains(&k));
            }
            found.sort_unstable();
            let before = found.len();
            found.dedup();
            prop_assert_eq!(found.len(), before, "none twice");
        }
    }

    /// A box around everything, in cells as small as dust, was walked through cell by cell: it never ended.
    #[test]
    fn a_box_of_very_many_cells_ends() {
        let points = [Vec3::zeros(), Vec3::repeat(1.0), Vec3::repeat(-2.0)];
        let grid = Grid::new(1e-12, points.iter().copied());
        let mut found = Vec::new();
        grid.each(Vec3::repeat(-1e30), Vec3::repeat(1e30), |k| found.push(k));
        assert_eq!(found.len(), 3);
        let mut few = Vec::new();
        grid.each(Vec3::repeat(-1e-12), Vec3::repeat(1e-12), |k| few.push(k));
        assert_eq!(few, [0]);
    }
}
