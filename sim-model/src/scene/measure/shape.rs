//! Measures of form.

use crate::mesh::Vec3;

/// The mean of some points.
pub(super) fn middle(points: impl Iterator<Item = Vec3>) -> Vec3 {
    let (sum, count) = points.fold((Vec3::zeros(), 0u32), |(sum, count), p| (sum + p, count + 1));
    sum / f64::from(count.max(1))
}

/// Standard deviation along the shorter over that along the longer of the principal axes, seen along `axis`: 1 of what is
/// round or square, towards 0 of what is long.
pub(super) fn axis_ratio(points: &[Vec3], axis: &Vec3) -> f64 {
    let (right, up) = across(axis);
    let center = middle(points.iter().copied());
    let (mut xx, mut xy, mut yy) = (0.0, 0.0, 0.0);
    for point in points {
        let d = point - center;
        let (x, y) = (d.dot(&right), d.dot(&up));
        (xx, xy, yy) = (xx + x * x, xy + x * y, yy + y * y);
    }
    let (mean, half) = ((xx + yy) / 2.0, ((xx - yy) / 2.0).hypot(xy));
    ((mean - half).max(0.0) / (mean + half)).sqrt()
}

/// Two directions across another.
fn across(axis: &Vec3) -> (Vec3, Vec3) {
    let mut start = Vec3::zeros();
    start[axis.iamin()] = 1.0;
    let right = (start - axis * start.dot(axis)).normalize();
    (right, axis.cross(&right))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A box of 4 x 2: variances of 4 and 2 evenly spaced points.
    #[test]
    fn round_is_one_and_long_is_less() {
        let points: Vec<Vec3> =
            (0..8).map(|k| Vec3::new(f64::from(k % 4), f64::from(k / 4), f64::from(k))).collect();
        let ratio = axis_ratio(&points, &Vec3::z());
        // Standard deviations: of 0, 1 one half; of 0 to 3 the root of 5/4.
        assert!((ratio - 0.5 / 1.25f64.sqrt()).abs() < 1e-12, "{ratio}");
        let turned: Vec<Vec3> =
            points.iter().map(|p| Vec3::new(0.6 * p.x - 0.8 * p.y, 0.8 * p.x + 0.6 * p.y, p.z)).collect();
        assert!((axis_ratio(&turned, &Vec3::z()) - ratio).abs() < 1e-12);
        let circle: Vec<Vec3> = (0..7)
            .map(|k| {
                let (s, c) = (f64::from(k) * 0.8975979).sin_cos();
                Vec3::new(c, s, 0.0)
            })
            .collect();
        assert!((axis_ratio(&circle, &Vec3::z()) - 1.0).abs() < 1e-6);
    }
}
