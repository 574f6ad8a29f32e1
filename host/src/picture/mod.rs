//! Pictures of deformed objects and what stands around them: one alone, rows of them, the frames of a movie.
//!
//! All that is drawn of a series is on one stage: one camera, one scale of colours. Far parts come first. The surface is
//! shaded smoothly: its triangles are cut into small ones whose colours follow the normals of the particles. Boundaries are
//! convex: what one hides is drawn before it, everything else after it.

mod camera;
mod colour;
mod cut;
mod page;
mod scenery;
mod surface;

pub use camera::Direction;
pub use colour::{Colour, clay, displacements, elongations};
pub use cut::Cut;
pub use page::{Caption, Panel, Reel, Row, picture, sheet};
pub use surface::smooth_normals;

use crate::around::{Solid, boundaries_near};
use camera::{Camera, bulk_of_all, corners};
use colour::Scale;
use cut::Knife;
use nendo_model::{mesh::Vec3, scene::Scene};
use std::fmt::Write;
use surface::{Brush, Piece};

/// What is darkest, and text.
const DARK: &str = "#3a332b";

/// How things are looked at.
#[derive(Clone, Debug, Default)]
pub struct Look {
    /// From where.
    pub view: Direction,
    /// What colours tell.
    pub colour: Colour,
    /// What the last colour stands for, in SI units; the largest value of the series where that is not given.
    pub scale: Option<f64>,
    /// What is before this plane is hidden.
    pub cut: Option<Cut>,
    /// Whether the lattice shows on the surface.
    pub edges: bool,
}

/// A state of an object.
#[derive(Clone, Debug)]
pub struct State {
    /// Simulated seconds.
    pub time: f64,
    /// Where its particles are.
    pub positions: Vec<Vec3>,
    /// What is told by colour, of each particle.
    pub values: Vec<f64>,
}

/// Where a series of states of a scene is drawn: all on one scale.
#[derive(Debug)]
pub struct Stage<'a> {
    scene: &'a Scene,
    look: Look,
    camera: Camera,
    scale: Scale,
    /// Floors first, then tools, far ones first.
    solids: Vec<Solid>,
    /// The height of the floor that shadows fall on.
    ground: f64,
}

impl<'a> Stage<'a> {
    /// A stage of so many pixels for these states.
    pub fn new(scene: &'a Scene, look: &Look, size: (f64, f64), states: &[&State]) -> Self {
        let start = &scene.mesh.particles;
        let bulk = bulk_of_all(start, states.iter().map(|state| &state.positions[..]));
        let mut solids = boundaries_near(scene, bulk);
        let tools = solids.iter().filter(|solid| !solid.is_plane);
        let times = states.iter().map(|state| state.time);
        let beside: Vec<Vec3> =
            times.flat_map(|time| tools.clone().flat_map(move |solid| solid.placed(time))).collect();
        // Places the bulk is at, not the corners of its box, which may be far from it.
        let inside = |p: &Vec3| (0..3).all(|k| (bulk.0[k]..=bulk.1[k]).contains(&p[k]));
        let all = states.iter().flat_map(|state| &state.positions).chain(start);
        let camera = Camera::new(look.view, size, all.filter(|p| inside(p)).copied(), beside.iter().copied());
        let depth = |solid: &Solid| camera.depth(solid.pose(0.0).translation.vector);
        solids.sort_by(|a, b| b.is_plane.cmp(&a.is_plane).then(depth(a).total_cmp(&depth(b))));
        let level = solids.iter().filter(|solid| solid.is_plane).map(|solid| solid.placed(0.0));
        let level = level.filter(|at| at.iter().all(|p| (p.z - at[0].z).abs() < 1e-9));
        let ground =
            level.map(|at| at[0].z).fold(None, |most: Option<f64>, z| Some(most.map_or(z, |m| m.max(z))));
        let ground = ground.unwrap_or(scene.mesh.bounds().0.z);
        let seen = |state: &&State| -> Vec<f64> {
            let both = state.positions.iter().zip(&state.values);
            both.filter(|(p, _)| camera.shows(**p, 0.0)).map(|(_, value)| *value).collect()
        };
        let scale = Scale::new(look.colour, look.scale, states.iter().flat_map(seen));
        Self { scene, look: look.clone(), camera, scale, solids, ground }
    }

    /// How many particles of a state are out of the picture.
    pub fn out_of_picture(&self, state: &State) -> usize {
        state.positions.iter().filter(|p| !self.camera.shows(**p, 0.0)).count()
    }

    /// A state and what stands around it.
    fn draw(&self, state: &State, outlined: bool) -> String {
        let camera = &self.camera;
        let knife = self.look.cut.map(|cut| Knife::new(cut, camera, self.look.colour.blends()));
        let brush = Brush {
            scene: self.scene,
            time: state.time,
            camera,
            scale: &self.scale,
            knife,
            edges: self.look.edges,
        };
        // What is hidden by a boundary comes before it.
        let mut layers: Vec<Vec<Piece>> = self.solids.iter().map(|_| Vec::new()).collect();
        layers.push(Vec::new());
        for piece in brush.pieces(&state.positions, &state.values) {
            let hider = self.solids.iter().position(|solid| solid.hides(&piece.at, &camera.eye, state.time));
            layers[hider.unwrap_or(self.solids.len())].push(piece);
        }
        let floors = self.solids.iter().take_while(|solid| solid.is_plane).count();
        let mut out = String::new();
        for (k, mut layer) in layers.into_iter().enumerate() {
            if k == floors {
                if camera.eye.z > 0.05 {
                    out +=
                        &scenery::shadow(camera, &self.scene.mesh.triangles, &state.positions, self.ground);
                }
                if outlined {
                    out += &outline(camera, self.scene.mesh.bounds());
                }
            }
            layer.sort_by(|a, b| a.depth.total_cmp(&b.depth));
            layer.iter().for_each(|piece| out += &piece.svg);
            if let Some(solid) = self.solids.get(k) {
                out += &scenery::boundary(solid, state.time, camera, knife.as_ref());
            }
        }
        out
    }
}

/// Where the object began.
fn outline(camera: &Camera, bounds: (Vec3, Vec3)) -> String {
    let (mut out, corner) = (String::new(), corners(bounds));
    for k in 0..8usize {
        for axis in (0..3).filter(|axis| k >> axis & 1 == 0) {
            let ((x1, y1), (x2, y2)) = (camera.place(corner[k]), camera.place(corner[k | 1 << axis]));
            let _ = writeln!(
                out,
                "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"#b9b2a6\" stroke-dasharray=\"5 4\"/>"
            );
        }
    }
    out
}

/// A colour in the light: from the sun, from the sky, and a soft gleam.
fn lit(colour: [u8; 3], normal: Vec3, eye: Vec3) -> [u8; 3] {
    let sun = scenery::sun();
    let light = 0.64 + 0.12 * (normal.z * 0.5 + 0.5) + 0.32 * normal.dot(&sun).max(0.0);
    let half = (sun + eye).try_normalize(0.0).unwrap_or(sun);
    let gleam = 26.0 * normal.dot(&half).max(0.0).powi(18);
    colour.map(|c| (f64::from(c) * light + gleam).clamp(0.0, 255.0) as u8)
}

fn hex([r, g, b]: [u8; 3]) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// Text that is safe in XML and HTML, in attributes too.
pub fn escape(text: &str) -> String {
    // XML knows no control characters, not even escaped.
    let printable: String = text.chars().filter(|c| !c.is_control()).collect();
    printable.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests;
