//! Facets of a surface, and a plane that cuts off what is before it.

use super::camera::Camera;
use nendo_model::mesh::Vec3;
use std::str::FromStr;

/// A plane across an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cut {
    axis: usize,
    at: f64,
}

impl FromStr for Cut {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('=').and_then(|(axis, at)| {
            let axis = ["x", "y", "z"].iter().position(|name| *name == axis.trim())?;
            Some(Self { axis, at: at.trim().parse().ok().filter(|at: &f64| at.is_finite())? })
        });
        parts.ok_or_else(|| "an axis and a place in metres: x=0.04, y=0 or z=-0.01".to_owned())
    }
}

impl Cut {
    /// The unit normal towards what is hidden: the eye's side.
    fn normal(&self, eye: &Vec3) -> Vec3 {
        let mut normal = Vec3::zeros();
        normal[self.axis] = if eye[self.axis] < -1e-9 { -1.0 } else { 1.0 };
        normal
    }
}

/// A plane with what is before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Knife {
    normal: Vec3,
    at: f64,
    /// Whether values may be mixed.
    blends: bool,
}

/// A corner of a facet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Corner {
    pub(super) at: Vec3,
    /// The smooth surface's; zero where that has none.
    pub(super) normal: Vec3,
    pub(super) value: f64,
}

/// A triangle of what is drawn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Facet {
    pub(super) corners: [Corner; 3],
    /// Whether a line of the lattice goes from a corner to the next one.
    pub(super) lines: [bool; 3],
}

impl Knife {
    pub(super) fn new(cut: Cut, camera: &Camera, blends: bool) -> Self {
        let normal = cut.normal(&camera.eye);
        Self { normal, at: cut.at * normal[cut.axis], blends }
    }

    /// How far before the plane a place is.
    pub(super) fn before(&self, p: &Vec3) -> f64 {
        p.dot(&self.normal) - self.at
    }

    /// Where the way from one corner to another meets the plane.
    fn between(&self, a: &Corner, b: &Corner) -> Corner {
        let (from, to) = (self.before(&a.at), self.before(&b.at));
        let share = from / (from - to);
        let value = match (self.blends, share < 0.5) {
            (true, _) => a.value + (b.value - a.value) * share,
            (false, true) => a.value,
            (false, false) => b.value,
        };
        Corner { at: a.at + (b.at - a.at) * share, normal: a.normal + (b.normal - a.normal) * share, value }
    }

    /// What is left of a facet.
    pub(super) fn clip(&self, facet: &Facet) -> Vec<Facet> {
        let mut left: Vec<(Corner, bool)> = Vec::new();
        for k in 0..3 {
            let (a, b) = (&facet.corners[k], &facet.corners[(k + 1) % 3]);
            let hidden = [a, b].map(|c| self.before(&c.at) > 0.0);
            if !hidden[0] {
                left.push((*a, facet.lines[k]));
            }
            if hidden[0] != hidden[1] {
                // Behind the point at which one leaves comes the cut, which is no line.
                left.push((self.between(a, b), hidden[0] && facet.lines[k]));
            }
        }
        fan(&left)
    }

    /// What is left of a line.
    pub(super) fn clip_line(&self, a: Corner, b: Corner) -> Option<(Corner, Corner)> {
        match [&a, &b].map(|c| self.before(&c.at) > 0.0) {
            [true, true] => None,
            [false, false] => Some((a, b)),
            [true, false] => Some((self.between(&a, &b), b)),
            [false, true] => Some((a, self.between(&a, &b))),
        }
    }

    /// Where the plane goes through a tetrahedron: up to two facets that face what is hidden.
    pub(super) fn section(&self, corners: [Corner; 4]) -> Vec<Facet> {
        let (hidden, kept): (Vec<Corner>, Vec<Corner>) =
            corners.iter().partition(|c| self.before(&c.at) > 0.0);
        let to = |a: &Corner, b: &Corner| (Corner { normal: self.normal, ..self.between(a, b) }, true);
        let mut around = match (&hidden[..], &kept[..]) {
            ([a], [b, c, d]) | ([b, c, d], [a]) => vec![to(a, b), to(a, c), to(a, d)],
            ([a, b], [c, d]) => vec![to(a, c), to(a, d), to(b, d), to(b, c)],
            _ => return Vec::new(),
        };
        let [a, b, c] = [0, 1, 2].map(|k| around[k].0.at);
        if (b - a).cross(&(c - a)).dot(&self.normal) < 0.0 {
            around.reverse();
        }
        fan(&around)
    }
}

/// A convex polygon as triangles; each corner tells whether a line goes from it to the next one.
fn fan(around: &[(Corner, bool)]) -> Vec<Facet> {
    let last = around.len().saturating_sub(1);
    (1..last)
        .map(|k| Facet {
            corners: [around[0].0, around[k].0, around[k + 1].0],
            lines: [k == 1 && around[0].1, around[k].1, k + 1 == last && around[last].1],
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn corner(x: f64, y: f64, z: f64) -> Corner {
        Corner { at: Vec3::new(x, y, z), normal: Vec3::z(), value: x }
    }

    fn knife(cut: &str, view: &str) -> Knife {
        let camera = Camera::new(
            view.parse().unwrap(),
            (9.0, 9.0),
            [Vec3::zeros(), Vec3::x()].into_iter(),
            [].into_iter(),
        );
        Knife::new(cut.parse().unwrap(), &camera, true)
    }

    fn area(facets: &[Facet]) -> f64 {
        let one = |f: &Facet| {
            let [a, b, c] = f.corners.map(|c| c.at);
            (b - a).cross(&(c - a)).norm() / 2.0
        };
        facets.iter().map(one).sum()
    }

    /// Areas by hand: of a right triangle with sides of 1, and of sections of the corner of a unit cube.
    #[test]
    fn what_is_before_a_plane_is_cut_off() {
        let whole = Facet {
            corners: [corner(0.0, 0.0, 0.0), corner(1.0, 0.0, 0.0), corner(0.0, 1.0, 0.0)],
            lines: [true; 3],
        };
        for (cut, view, left, lines) in [
            ("x=0.5", "90,20", 0.375, 3),
            ("x=0.5", "-90,20", 0.125, 2),
            ("x=2", "side", 0.5, 3),
            ("x=-1", "side", 0.0, 0),
            ("y=0.25", "back", 0.21875, 3),
            ("z=0", "top", 0.5, 3),
        ] {
            let facets = knife(cut, view).clip(&whole);
            assert!((area(&facets) - left).abs() < 1e-12, "{cut} from {view}: {}", area(&facets));
            let found: usize = facets.iter().map(|f| f.lines.iter().filter(|line| **line).count()).sum();
            assert_eq!(found, lines, "{cut} from {view}");
        }
        let tetrahedron =
            [corner(0.0, 0.0, 0.0), corner(1.0, 0.0, 0.0), corner(0.0, 1.0, 0.0), corner(0.0, 0.0, 1.0)];
        let section = knife("x=0.5", "side").section(tetrahedron);
        assert!((area(&section) - 0.125).abs() < 1e-12);
        assert!(section.iter().all(|f| f.corners.iter().all(|c| (c.value - 0.5).abs() < 1e-12)));
        // Two corners on either side: x + z from 0 to 1, cut at half.
        let skew =
            [corner(0.0, 0.0, 0.0), corner(0.0, 1.0, 0.0), corner(1.0, 0.0, 0.0), corner(1.0, 1.0, 1.0)];
        let facets = knife("x=0.5", "side").section(skew);
        assert_eq!(facets.len(), 2);
        let [a, b, c] = facets[0].corners.map(|c| c.at);
        assert!((b - a).cross(&(c - a)).x > 0.0, "it faces what is hidden");
        // The section is a parallelogram with sides (0, 1/2, 0) and (0, 1/2, 1/2).
        assert!((area(&facets) - 0.25).abs() < 1e-12, "{}", area(&facets));
        assert!(knife("x=3", "side").section(skew).is_empty());
    }

    #[test]
    fn only_planes_cut() {
        for wrong in ["x", "x=", "w=1", "x=nan", "x=inf", "=1", "x=1=2"] {
            assert!(wrong.parse::<Cut>().is_err(), "{wrong}");
        }
        assert_eq!("z = -0.01".parse::<Cut>().unwrap(), Cut { axis: 2, at: -0.01 });
    }
}
