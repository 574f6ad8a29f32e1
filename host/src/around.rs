//! What stands around an object: its boundaries, as surfaces to draw. What has no end is cut near the object.

use nalgebra::{Isometry3, Matrix3, Translation3, UnitQuaternion};
use nendo_model::{
    force::contact::{shape::Shape, wall::Boundary},
    mesh::Vec3,
    scene::{Holding, Scene},
};
use std::f64::consts::TAU;

/// A boundary to draw.
#[derive(Clone, Debug)]
pub struct Solid {
    /// What reports call it.
    pub name: String,
    /// Whether it is a plane: seen from its upper side only, it hides nothing from below.
    pub is_plane: bool,
    /// Corners relative to its pivot, which [`Self::pose`] places.
    pub corners: Vec<Vec3>,
    /// Seen from outside, counter-clockwise.
    pub triangles: Vec<[u32; 3]>,
    /// Lines that show its form, and how it turns.
    pub lines: Vec<[u32; 2]>,
    pivot: Vec3,
    boundary: Boundary,
}

/// A room around the object in which boundaries without ends are drawn.
struct Room {
    middle: Vec3,
    /// From the middle to the object's sides.
    half: Vec3,
}

impl Room {
    /// From the middle as far in a direction as things are drawn: somewhat beyond the object.
    fn reach(&self, direction: &Vec3) -> f64 {
        1.3 * self.half.dot(&direction.abs()) + 0.2 * self.half.norm()
    }
}

/// Pieces of a round thing's circumference.
const AROUND: u32 = 36;
/// Pieces of a ball from pole to pole.
const ACROSS: u32 = 18;

/// The boundaries of a scene.
pub fn boundaries(scene: &Scene) -> Vec<Solid> {
    boundaries_near(scene, scene.mesh.bounds())
}

/// The same, for an object that is within these corners in the course of time.
pub fn boundaries_near(scene: &Scene, (low, high): (Vec3, Vec3)) -> Vec<Solid> {
    let room = Room { middle: (low + high) / 2.0, half: (high - low) / 2.0 };
    let solid = |name: String, boundary: &Boundary| {
        let mut solid = Solid {
            name,
            is_plane: matches!(boundary.shape, Shape::Plane { .. }),
            corners: Vec::new(),
            triangles: Vec::new(),
            lines: Vec::new(),
            pivot: Vec3::zeros(),
            boundary: boundary.clone(),
        };
        match &boundary.shape {
            Shape::Plane { point, normal } => solid.plane(point, normal, &room),
            Shape::Roller { center, axis, radius } => solid.roller(center, axis, *radius, &room),
            Shape::Bar { center, half, axes } => solid.bar(center, half, axes, &room),
            Shape::Ball { center, radius } => solid.ball(center, *radius),
        }
        solid
    };
    let holders = scene.holders().into_iter().filter_map(|holder| match holder.holding {
        Holding::Boundary(number) => Some((holder.name, number)),
        Holding::Particles(_) => None,
    });
    let all = scene.forces.contact.as_ref().map_or(&[][..], |contact| &contact.boundaries);
    holders.map(|(name, number)| solid(name, &all[number])).collect()
}

impl Solid {
    /// Where it is at a time in seconds: from corners to places.
    pub fn pose(&self, time: f64) -> Isometry3<f64> {
        let pose = self.boundary.path.at(time);
        let turned = UnitQuaternion::from_rotation_matrix(&pose.rotation);
        Isometry3::from_parts(Translation3::from(pose.place(&self.pivot)), turned)
    }

    /// Its corners at a time in seconds.
    pub fn placed(&self, time: f64) -> Vec<Vec3> {
        let pose = self.pose(time);
        self.corners.iter().map(|corner| pose.rotation * corner + pose.translation.vector).collect()
    }

    /// Whether it is between a place and an eye far away, at a time in seconds. Where it has no end, none is seen.
    pub fn hides(&self, place: &Vec3, eye: &Vec3, time: f64) -> bool {
        let shape = self.boundary.shape_at(time);
        // On the way from the place to the eye, where a round thing is entered and left: |from + s along| = radius.
        let round = |from: Vec3, along: Vec3, radius: f64| {
            let (a, b, c) = (along.norm_squared(), from.dot(&along), from.norm_squared() - radius * radius);
            let root = b * b - a * c;
            c < 0.0 || (root > 0.0 && b < 0.0)
        };
        match &shape {
            Shape::Plane { point, normal } => eye.dot(normal) > 0.0 && (place - point).dot(normal) < 0.0,
            Shape::Ball { center, radius } => round(place - center, *eye, *radius),
            Shape::Roller { center, axis, radius } => {
                let across = |v: Vec3| v - axis * v.dot(axis);
                round(across(place - center), across(*eye), *radius)
            }
            Shape::Bar { center, half, axes } => {
                let (place, eye) = (axes.tr_mul(&(place - center)), axes.tr_mul(eye));
                let (mut enter, mut leave) = (0.0f64, f64::INFINITY);
                for k in 0..3 {
                    let (from, along) = (place[k], eye[k]);
                    if along.abs() < 1e-12 {
                        leave = if from.abs() < half[k] { leave } else { -1.0 };
                    } else {
                        let ends = [(-half[k] - from) / along, (half[k] - from) / along];
                        enter = enter.max(ends[0].min(ends[1]));
                        leave = leave.min(ends[0].max(ends[1]));
                    }
                }
                enter < leave
            }
        }
    }

    fn plane(&mut self, point: &Vec3, normal: &Vec3, room: &Room) {
        // Below the object, not below its own point, which may be anywhere.
        self.pivot = room.middle - normal * (room.middle - point).dot(normal);
        let (right, up) = across(normal);
        let (wide, deep) = (right * room.reach(&right), up * room.reach(&up));
        let corner = |(a, b): (f64, f64)| wide * a + deep * b;
        self.corners = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)].map(corner).to_vec();
        self.triangles = vec![[0, 1, 2], [0, 2, 3]];
        self.lines = vec![[0, 1], [1, 2], [2, 3], [3, 0]];
    }

    fn roller(&mut self, center: &Vec3, axis: &Vec3, radius: f64, room: &Room) {
        self.pivot = center + axis * (room.middle - center).dot(axis);
        let (right, up) = across(axis);
        for end in [-1.0, 1.0] {
            let along = axis * (end * room.reach(axis));
            self.corners.extend((0..AROUND).map(|k| {
                let (sin, cos) = (TAU * f64::from(k) / f64::from(AROUND)).sin_cos();
                along + (right * cos + up * sin) * radius
            }));
            self.corners.push(along);
        }
        let far = AROUND + 1;
        for k in 0..AROUND {
            let next = (k + 1) % AROUND;
            self.triangles.extend([[k, next, far + next], [k, far + next, far + k]]);
            self.triangles.extend([[AROUND, next, k], [far + AROUND, far + k, far + next]]);
            self.lines.extend([[k, next], [far + k, far + next]]);
            if k % (AROUND / 6) == 0 {
                self.lines.extend([[k, far + k], [AROUND, k], [far + AROUND, far + k]]);
            }
        }
    }

    fn bar(&mut self, center: &Vec3, half: &Vec3, axes: &Matrix3<f64>, room: &Room) {
        let middle = axes.tr_mul(&(room.middle - center));
        let endless = |k: usize| half[k].is_infinite();
        self.pivot = center + axes * Vec3::from_fn(|k, _| if endless(k) { middle[k] } else { 0.0 });
        let reach = |k: usize| room.reach(&axes.column(k).into());
        let half = Vec3::from_fn(|k, _| if endless(k) { reach(k) } else { half[k] });
        let sign = |corner: usize, k: usize| if corner >> k & 1 == 0 { -1.0 } else { 1.0 };
        let corner = |corner: usize| axes * Vec3::from_fn(|k, _| half[k] * sign(corner, k));
        self.corners = (0..8).map(corner).collect();
        for [a, b, c, d] in
            [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]]
        {
            self.triangles.extend([[a, b, c], [a, c, d]]);
        }
        let sides = |k: u32| (0..8u32).filter(move |c| c >> k & 1 == 0).map(move |c| [c, c | 1 << k]);
        self.lines = (0..3).flat_map(sides).collect();
    }

    fn ball(&mut self, center: &Vec3, radius: f64) {
        self.pivot = *center;
        let at = |i: u32, j: u32| {
            let (sin, cos) = (TAU / 2.0 * f64::from(i) / f64::from(ACROSS)).sin_cos();
            let (east, north) = (TAU * f64::from(j) / f64::from(AROUND)).sin_cos();
            Vec3::new(sin * north, sin * east, cos) * radius
        };
        self.corners = (0..=ACROSS).flat_map(|i| (0..AROUND).map(move |j| at(i, j))).collect();
        for i in 0..ACROSS {
            for j in 0..AROUND {
                let (a, b) = (i * AROUND + j, i * AROUND + (j + 1) % AROUND);
                let (c, d) = (a + AROUND, b + AROUND);
                // At the poles one of the two has no area.
                self.triangles.extend((i + 1 < ACROSS).then_some([a, c, d]));
                self.triangles.extend((i > 0).then_some([a, d, b]));
                self.lines.extend((2 * i == ACROSS).then_some([a, b]));
            }
        }
    }
}

/// Two directions across another, so that the three are right-handed: first, second, given.
fn across(axis: &Vec3) -> (Vec3, Vec3) {
    // From the coordinate axis that is farthest from it.
    let mut start = Vec3::zeros();
    start[axis.iamin()] = 1.0;
    let right = (start - axis * start.dot(axis)).normalize();
    (right, axis.cross(&right))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCENE: &str = "step = 0.001\nmass = 1\n[mesh.box]\nsize = [3, 3, 3]\npitch = 1\n\
        [materials.m]\nk1 = 1\nc1 = 1\nc2 = 1\n[contact]\nstiffness = 1\n\
        [[boundaries]]\nname = \"floor\"\nplane = { point = [50, 0, -1], normal = [0, 0, 1] }\n\
        [[boundaries]]\nroller = { center = [0, 0, 3], axis = [0, 1, 0], radius = 1 }\nspin = 1\n\
        frames = [{ t = 1, offset = [2, 0, 0] }]\n\
        [[boundaries]]\nbar = { min = [1, -inf, 2], max = [2, inf, 3] }\n\
        [[boundaries]]\nball = { center = [0, 0, 5], radius = 0.5 }\n\
        [[boundaries]]\nname = \"prism\"\nbar = { min = [4, -inf, 0], max = [6, inf, 2], turn = [0, 0.3, 0] }\n\
        spin = [0, 1, 0]\nframes = [{ t = 2, offset = [0, 0, 1], turn = [0.5, 0, 0] }]\n";

    /// Corners are on the boundary, triangles closed and outward, where the engine has it at any time.
    #[test]
    fn what_is_drawn_is_what_is_touched() {
        let scene = Scene::parse(SCENE, "around.toml").unwrap();
        let solids = boundaries(&scene);
        let names: Vec<&str> = solids.iter().map(|s| s.name.as_str()).collect();
        assert_eq!(names, ["floor", "roller", "bar", "ball", "prism"]);
        for (solid, boundary) in solids.iter().zip(&scene.forces.contact.as_ref().unwrap().boundaries) {
            for time in [0.0, 0.25, 3.0] {
                let placed = solid.placed(time);
                let shape = boundary.shape_at(time);
                // Ends of what has none are drawn, too.
                let near = placed.iter().filter(|p| shape.distance(p).0.abs() < 1e-9).count();
                let caps = if solid.name == "roller" { 2 } else { 0 };
                assert_eq!(near, placed.len() - caps, "{} at {time}", solid.name);
                for [a, b, c] in &solid.triangles {
                    let [a, b, c] = [a, b, c].map(|k| placed[*k as usize]);
                    let normal = (b - a).cross(&(c - a));
                    let middle = (a + b + c) / 3.0;
                    let inside = solid.pose(time).translation.vector;
                    assert!(normal.norm() > 1e-6, "{}: a triangle without area", solid.name);
                    if !solid.is_plane {
                        assert!(normal.dot(&(middle - inside)) > 0.0, "{}: faces inward", solid.name);
                    }
                }
            }
        }
        let floor = solids[0].placed(0.0);
        assert!(floor.iter().all(|p| p.x.abs() < 5.0), "it lies below the object: {floor:?}");
        assert!(boundaries(&Scene::open("cube9").unwrap()).is_empty());
    }

    /// What is hidden is found by going the way to the eye in small paces, too.
    #[test]
    fn boundaries_hide_what_is_behind_them() {
        let scene = Scene::parse(SCENE, "around.toml").unwrap();
        let all = &scene.forces.contact.as_ref().unwrap().boundaries;
        let mut hidden = [0; 5];
        for (k, (solid, boundary)) in boundaries(&scene).iter().zip(all).enumerate() {
            for eye in [[0.6, -0.64, 0.48], [0.0, -1.0, 0.0], [0.0, 0.28, -0.96]].map(Vec3::from) {
                for n in 0..120 {
                    let share = |prime: f64| (f64::from(n) * prime).fract();
                    let place = Vec3::new(
                        8.0 * share(0.618) - 4.0,
                        8.0 * share(0.414) - 4.0,
                        8.0 * share(0.732) - 2.0,
                    );
                    let time = share(0.236);
                    // No pace is longer than what is left to the boundary.
                    let shape = boundary.shape_at(time);
                    let distance = |way: f64| shape.distance(&(place + eye * way)).0;
                    let (mut way, mut nearest) = (0.0, f64::INFINITY);
                    while way < 30.0 && nearest >= 0.0 {
                        let left = distance(way);
                        (way, nearest) = (way + left.max(0.01), nearest.min(left));
                    }
                    // Where it is grazed, a pace may step over it; a plane hides from its upper side only.
                    let seen_from_below = solid.is_plane && eye.z <= 0.0;
                    if !(0.0..0.03).contains(&nearest) && !seen_from_below {
                        let is_hidden = solid.hides(&place, &eye, time);
                        assert_eq!(is_hidden, nearest < 0.0, "{} {place} {eye}", solid.name);
                        hidden[k] += u32::from(is_hidden);
                    }
                    assert!(!(seen_from_below && solid.hides(&place, &eye, time)));
                }
            }
        }
        assert!(hidden.iter().all(|&count| count > 3), "{hidden:?}");
    }

    /// A roller that spins is seen to turn, about its axis and as the engine has it turn.
    #[test]
    fn rollers_are_seen_to_turn() {
        let scene = Scene::parse(SCENE, "around.toml").unwrap();
        let roller = &boundaries(&scene)[1];
        let (before, after) = (roller.placed(2.0)[0], roller.placed(2.0 + 1e-6)[0]);
        let velocity = (after - before) / 1e-6;
        let surface = Vec3::y().cross(&(before - roller.pose(2.0).translation.vector));
        let surface = surface - Vec3::y() * surface.y;
        assert!((velocity - surface).norm() < 1e-4, "{velocity} {surface}");
    }
}
