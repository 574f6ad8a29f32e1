//! Where a picture is looked at from, and how large things are in it.

use nendo_model::mesh::Vec3;
use std::str::FromStr;

/// From where one looks: degrees about the vertical from the front, and above the horizon.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Direction {
    /// 0 looks along y, with x to the right; 90 from the side where x is largest.
    pub azimuth: f64,
    /// -90 to 90: from below, from above.
    pub elevation: f64,
}

/// Directions with names.
const NAMED: [(&str, f64, f64); 7] = [
    ("iso", -34.0, 25.5),
    ("front", 0.0, 0.0),
    ("back", 180.0, 0.0),
    ("side", 90.0, 0.0),
    ("left", -90.0, 0.0),
    ("top", 0.0, 90.0),
    ("bottom", 0.0, -90.0),
];

impl Default for Direction {
    fn default() -> Self {
        let (_, azimuth, elevation) = NAMED[0];
        Self { azimuth, elevation }
    }
}

impl FromStr for Direction {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(&(_, azimuth, elevation)) = NAMED.iter().find(|(name, ..)| *name == text) {
            return Ok(Self { azimuth, elevation });
        }
        let numbers =
            text.split_once(',').and_then(|(a, b)| Some((a.trim().parse().ok()?, b.trim().parse().ok()?)));
        numbers
            .map(|(azimuth, elevation)| Self { azimuth, elevation })
            .filter(|d| d.azimuth.abs() <= 360.0 && d.elevation.abs() <= 90.0)
            .ok_or_else(|| {
                let names: Vec<&str> = NAMED.iter().map(|(name, ..)| *name).collect();
                format!("{}, or azimuth,elevation in degrees such as -34,25 (azimuth 0 is the front, elevation -90 to 90)", names.join(", "))
            })
    }
}

/// Looks at things without perspective: right, up and towards-the-eye axes, and where they go on paper.
#[derive(Clone, Debug)]
pub(super) struct Camera {
    pub(super) right: Vec3,
    pub(super) up: Vec3,
    pub(super) eye: Vec3,
    center: Vec3,
    scale: f64,
    size: (f64, f64),
}

/// Around what is drawn, as a share of the picture's smaller side.
const MARGIN: f64 = 0.1;
/// Far from the middle: so many times the distance of which three quarters of the particles are.
const FAR: f64 = 6.0;
/// A state so many times as large as the first one has flown apart as a whole.
const APART: f64 = 10.0;

/// The box that holds the bulk of some places, however far others flew.
pub(super) fn bulk(places: &[Vec3]) -> Option<(Vec3, Vec3)> {
    let finite: Vec<Vec3> = places.iter().copied().filter(|p| p.iter().all(|c| c.is_finite())).collect();
    let nth = |mut numbers: Vec<f64>, share: usize| {
        let k = (numbers.len() * share / 4).min(numbers.len() - 1);
        *numbers.select_nth_unstable_by(k, f64::total_cmp).1
    };
    if finite.is_empty() {
        return None;
    }
    let middle = Vec3::from_fn(|k, _| nth(finite.iter().map(|p| p[k]).collect(), 2));
    let usual = nth(finite.iter().map(|p| (p - middle).norm()).collect(), 3);
    let near = finite.iter().filter(|p| (*p - middle).norm() <= FAR * usual);
    let box_of = |(low, high): (Vec3, Vec3), p: &Vec3| (low.inf(p), high.sup(p));
    Some(near.fold((middle, middle), box_of))
}

/// The box that holds the bulk of all states of an object.
pub(super) fn bulk_of_all<'a>(start: &[Vec3], states: impl Iterator<Item = &'a [Vec3]>) -> (Vec3, Vec3) {
    let first = bulk(start).unwrap_or_default();
    let size = |(low, high): (Vec3, Vec3)| (high - low).norm();
    let sound = states.filter_map(bulk).filter(|b| size(*b) <= APART * size(first).max(1e-12));
    sound.fold(first, |(low, high), b| (low.inf(&b.0), high.sup(&b.1)))
}

/// The corners of a box along the axes.
pub(super) fn corners((low, high): (Vec3, Vec3)) -> [Vec3; 8] {
    std::array::from_fn(|k| Vec3::from_fn(|axis, _| if k >> axis & 1 == 0 { low[axis] } else { high[axis] }))
}

impl Camera {
    /// A camera that has some places in its picture: all of `near`, and of `beside` what is not much farther out.
    pub(super) fn new(
        from: Direction,
        size: (f64, f64),
        near: impl Iterator<Item = Vec3> + Clone,
        beside: impl Iterator<Item = Vec3> + Clone,
    ) -> Self {
        let (a, e) = (from.azimuth.to_radians(), from.elevation.to_radians());
        let right = Vec3::new(a.cos(), a.sin(), 0.0);
        let eye = Vec3::new(a.sin() * e.cos(), -a.cos() * e.cos(), e.sin());
        let up = eye.cross(&right);
        let grown = |(low, high): (f64, f64), c: f64| (low.min(c), high.max(c));
        let own = [&right, &up, &eye]
            .map(|axis| near.clone().map(|p| p.dot(axis)).fold((f64::MAX, f64::MIN), grown));
        let widest = own.iter().map(|(low, high)| high - low).fold(1e-12, f64::max);
        let spans: [(f64, f64); 3] = std::array::from_fn(|k| {
            let (low, high) = own[k];
            let room = (low - 0.4 * widest, high + 0.4 * widest);
            let axis = [&right, &up, &eye][k];
            beside.clone().map(|p| p.dot(axis).clamp(room.0, room.1)).fold((low, high), grown)
        });
        let middle = spans.map(|(low, high)| (low + high) / 2.0);
        let reach = spans.map(|(low, high)| ((high - low) / 2.0).max(1e-12));
        let margin = MARGIN * size.0.min(size.1);
        let scale = ((size.0 / 2.0 - margin) / reach[0]).min((size.1 / 2.0 - margin) / reach[1]);
        let center = right * middle[0] + up * middle[1] + eye * middle[2];
        Self { right, up, eye, center, scale, size }
    }

    /// How many the picture has.
    pub(super) fn pixels(&self) -> f64 {
        self.size.0 * self.size.1
    }

    pub(super) fn place(&self, p: Vec3) -> (f64, f64) {
        let p = p - self.center;
        (
            self.size.0 / 2.0 + self.scale * p.dot(&self.right),
            self.size.1 / 2.0 - self.scale * p.dot(&self.up),
        )
    }

    pub(super) fn depth(&self, p: Vec3) -> f64 {
        (p - self.center).dot(&self.eye)
    }

    /// Whether a place is in the picture, or within so many pictures beside it.
    pub(super) fn shows(&self, p: Vec3, beside: f64) -> bool {
        let (x, y) = self.place(p);
        let within = |c: f64, size: f64| c >= -beside * size && c <= (1.0 + beside) * size;
        within(x, self.size.0) && within(y, self.size.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn views_have_names_and_angles() {
        for (text, right, up) in [
            ("front", Vec3::x(), Vec3::z()),
            ("side", Vec3::y(), Vec3::z()),
            ("90,0", Vec3::y(), Vec3::z()),
            ("top", Vec3::x(), Vec3::y()),
            ("back", -Vec3::x(), Vec3::z()),
        ] {
            let camera = Camera::new(
                text.parse().unwrap(),
                (100.0, 100.0),
                [Vec3::zeros(), Vec3::x()].into_iter(),
                [].into_iter(),
            );
            assert!((camera.right - right).norm() + (camera.up - up).norm() < 1e-12, "{text}");
            assert!((camera.right.cross(&camera.up) - camera.eye).norm() < 1e-12, "{text}");
        }
        for wrong in ["", "up", "1", "0,91", "nan,0", "1,2,3", "400,0"] {
            assert!(wrong.parse::<Direction>().is_err(), "{wrong}");
        }
    }

    /// One particle that flew away made the object a dot in the corner.
    #[test]
    fn the_picture_is_of_the_bulk_not_of_what_flew_away() {
        let mut places: Vec<Vec3> =
            (0..100).map(|k| Vec3::new((k % 10) as f64, (k / 10) as f64, 0.0)).collect();
        let whole = bulk(&places).unwrap();
        assert_eq!(whole, (Vec3::zeros(), Vec3::new(9.0, 9.0, 0.0)));
        places.extend([Vec3::new(1e6, 0.0, 0.0), Vec3::new(f64::NAN, 0.0, 0.0), Vec3::z() * f64::INFINITY]);
        assert_eq!(bulk(&places).unwrap(), whole);
        let burst: Vec<Vec3> = places.iter().map(|p| p * 1e4).collect();
        assert_eq!(bulk_of_all(&places, [&burst[..]].into_iter()), whole);
        let moved: Vec<Vec3> = places.iter().map(|p| p + Vec3::x() * 50.0).collect();
        assert_eq!(bulk_of_all(&places, [&moved[..]].into_iter()).1.x, 59.0);
        assert!(bulk(&[]).is_none() && bulk(&[Vec3::x() * f64::NAN]).is_none());
    }
}
