//! A state as a binary glTF model (`.glb`): the surface coloured by displacement, or chains as lines; the boundaries around
//! it where they are at that time, and what is held as small octahedra, each a node by the name that reports have for it.

use super::displacements;
use crate::{around, picture::clay};
use nendo_model::{
    mesh::Vec3,
    scene::{Holding, Scene},
};
use serde_json::{Value, json};
use std::f64::consts::FRAC_1_SQRT_2;

const FLOAT: u32 = 5126;
const UNSIGNED_INT: u32 = 5125;
const VERTICES: u32 = 34962;
const INDICES: u32 = 34963;
const LINES: u32 = 1;
const TRIANGLES: u32 = 4;

/// Numbers of materials in [`materials`].
#[derive(Clone, Copy)]
enum Paint {
    Object,
    Plane,
    Solid,
    Held,
}

/// In the order of [`Paint`].
fn materials() -> Value {
    let rough =
        |color: [f64; 4]| json!({ "baseColorFactor": color, "metallicFactor": 0.0, "roughnessFactor": 0.8 });
    let clear = |alpha: f64| rough([0.35, 0.4, 0.45, alpha]);
    json!([
        { "name": "object", "doubleSided": true, "pbrMetallicRoughness": rough([1.0; 4]) },
        // A plane hides nothing from below.
        { "name": "plane", "alphaMode": "BLEND", "pbrMetallicRoughness": clear(0.6) },
        { "name": "boundary", "alphaMode": "BLEND", "pbrMetallicRoughness": clear(0.45) },
        { "name": "held", "pbrMetallicRoughness": rough([0.03, 0.05, 0.1, 1.0]) },
    ])
}

/// The model of a state after so many steps. Z is up in scenes, Y in glTF: the root turns it.
pub fn glb(scene: &Scene, positions: &[Vec3], step: u64) -> Vec<u8> {
    let time = step as f64 * scene.step;
    let mut model = Model::default();
    model.object(scene, positions);
    for solid in around::boundaries(scene) {
        let pose = solid.pose(time);
        let (at, turned) = (pose.translation.vector, pose.rotation.coords);
        let corners = model.places(&solid.corners);
        let indices = model.indices(solid.triangles.as_flattened());
        let paint = if solid.is_plane { Paint::Plane } else { Paint::Solid };
        let mesh = model.mesh(json!({ "POSITION": corners }), indices, TRIANGLES, paint);
        model.nodes.push(json!({
            "name": solid.name,
            "mesh": mesh,
            "translation": [at.x, at.y, at.z],
            "rotation": [turned.x, turned.y, turned.z, turned.w],
        }));
    }
    for holder in scene.holders() {
        let Holding::Particles(list) = holder.holding else { continue };
        let is_held = |p: usize| scene.free_from(p).is_none_or(|first| step < first);
        let held: Vec<Vec3> =
            list.iter().map(|&p| p as usize).filter(|&p| is_held(p)).map(|p| positions[p]).collect();
        if !held.is_empty() {
            model.held(scene, &holder.name, &held);
        }
    }
    model.file(&scene.name)
}

/// A model being made.
#[derive(Default)]
struct Model {
    binary: Vec<u8>,
    views: Vec<Value>,
    accessors: Vec<Value>,
    meshes: Vec<Value>,
    nodes: Vec<Value>,
}

impl Model {
    fn object(&mut self, scene: &Scene, positions: &[Vec3]) {
        let mesh = &scene.mesh;
        let moved: Vec<f64> = displacements(scene, positions).iter().map(|d| d.norm()).collect();
        let most = moved.iter().copied().fold(1e-12, f64::max);
        // Colours in a model are linear light.
        let linear = |c: u8| (f64::from(c) / 255.0).powf(2.2);
        let color = |m: &f64| Vec3::from(clay(m / most).map(linear));
        let colors: Vec<Vec3> = moved.iter().map(color).collect();
        let attributes = json!({
            "POSITION": self.places(positions),
            "NORMAL": self.vectors(&normals(&mesh.triangles, positions)),
            "COLOR_0": self.vectors(&colors),
        });
        let (indices, mode) = match mesh.triangles.is_empty() {
            true => (mesh.edges.as_flattened(), LINES),
            false => (mesh.triangles.as_flattened(), TRIANGLES),
        };
        let indices = self.indices(indices);
        let mesh = self.mesh(attributes, indices, mode, Paint::Object);
        self.nodes.push(json!({ "name": "object", "mesh": mesh }));
    }

    /// An octahedron at each place, an eighth of an edge in size.
    fn held(&mut self, scene: &Scene, name: &str, places: &[Vec3]) {
        let edges = scene.mesh.edges.len();
        let size = (0..edges).map(|k| scene.mesh.edge_length(k)).sum::<f64>() / edges as f64 / 8.0;
        let (mut corners, mut sides) = (Vec::new(), Vec::new());
        for &place in places {
            let first = corners.len() as u32;
            corners.extend(
                [Vec3::x(), Vec3::y(), Vec3::z()]
                    .into_iter()
                    .flat_map(|a| [place + a * size, place - a * size]),
            );
            for octant in 0..8u32 {
                let [x, y, z] = [0, 1, 2].map(|axis| first + 2 * axis + (octant >> axis & 1));
                // Mirrored an odd number of times, the corners go round the other way.
                sides.push(if octant.count_ones() % 2 == 0 { [x, y, z] } else { [x, z, y] });
            }
        }
        let corners = self.places(&corners);
        let indices = self.indices(sides.as_flattened());
        let mesh = self.mesh(json!({ "POSITION": corners }), indices, TRIANGLES, Paint::Held);
        self.nodes.push(json!({ "name": name, "mesh": mesh }));
    }

    fn array(&mut self, bytes: impl Iterator<Item = [u8; 4]>, target: u32, mut accessor: Value) -> usize {
        let start = self.binary.len();
        self.binary.extend(bytes.flatten());
        let length = self.binary.len() - start;
        self.views.push(json!({ "buffer": 0, "byteOffset": start, "byteLength": length, "target": target }));
        accessor["bufferView"] = json!(self.views.len() - 1);
        self.accessors.push(accessor);
        self.accessors.len() - 1
    }

    fn vectors(&mut self, list: &[Vec3]) -> usize {
        let bytes = list.iter().flat_map(|v| [v.x, v.y, v.z]).map(|c| (c as f32).to_le_bytes());
        self.array(bytes, VERTICES, json!({ "componentType": FLOAT, "count": list.len(), "type": "VEC3" }))
    }

    /// Vectors with the box that they are in.
    fn places(&mut self, list: &[Vec3]) -> usize {
        let number = self.vectors(list);
        let first = list.first().copied().unwrap_or_default();
        let (low, high) = list.iter().fold((first, first), |(l, h), p| (l.inf(p), h.sup(p)));
        let single = |v: Vec3| [v.x as f32, v.y as f32, v.z as f32];
        self.accessors[number]["min"] = json!(single(low));
        self.accessors[number]["max"] = json!(single(high));
        number
    }

    fn indices(&mut self, list: &[u32]) -> usize {
        let accessor = json!({ "componentType": UNSIGNED_INT, "count": list.len(), "type": "SCALAR" });
        self.array(list.iter().map(|i| i.to_le_bytes()), INDICES, accessor)
    }

    fn mesh(&mut self, attributes: Value, indices: usize, mode: u32, paint: Paint) -> usize {
        let primitive =
            json!({ "attributes": attributes, "indices": indices, "mode": mode, "material": paint as u8 });
        self.meshes.push(json!({ "primitives": [primitive] }));
        self.meshes.len() - 1
    }

    /// The file, with a root above all nodes.
    fn file(mut self, name: &str) -> Vec<u8> {
        let children: Vec<usize> = (0..self.nodes.len()).collect();
        let turned = [-FRAC_1_SQRT_2, 0.0, 0.0, FRAC_1_SQRT_2];
        self.nodes.push(json!({ "name": name, "rotation": turned, "children": children }));
        let document = json!({
            "asset": { "version": "2.0", "generator": concat!("nendo ", env!("CARGO_PKG_VERSION")) },
            "scene": 0,
            "scenes": [{ "nodes": [children.len()] }],
            "nodes": self.nodes,
            "meshes": self.meshes,
            "materials": materials(),
            "accessors": self.accessors,
            "bufferViews": self.views,
            "buffers": [{ "byteLength": self.binary.len() }],
        });
        let mut text = document.to_string().into_bytes();
        text.resize(text.len().next_multiple_of(4), b' ');
        let mut file = b"glTF".to_vec();
        let word = |file: &mut Vec<u8>, n: usize| file.extend_from_slice(&(n as u32).to_le_bytes());
        word(&mut file, 2);
        word(&mut file, 12 + 8 + text.len() + 8 + self.binary.len());
        for (kind, chunk) in [(b"JSON", text), (b"BIN\0", self.binary)] {
            word(&mut file, chunk.len());
            file.extend_from_slice(kind);
            file.extend_from_slice(&chunk);
        }
        file
    }
}

/// Normals of the surface's particles, larger triangles counting more; up where there are none.
fn normals(triangles: &[[u32; 3]], positions: &[Vec3]) -> Vec<Vec3> {
    crate::picture::smooth_normals(triangles, positions)
        .into_iter()
        .map(|n| if n.norm() > 0.0 { n } else { Vec3::z() })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The document and the binary part of a file whose chunks fit together.
    fn parts(file: &[u8]) -> (Value, &[u8]) {
        let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap()) as usize;
        assert_eq!((&file[..4], word(4), word(8)), (&b"glTF"[..], 2, file.len()));
        let json: Value = serde_json::from_slice(&file[20..20 + word(12)]).unwrap();
        let binary = 20 + word(12);
        assert_eq!((&file[binary + 4..binary + 8], binary + 8 + word(binary)), (&b"BIN\0"[..], file.len()));
        (json, &file[binary + 8..])
    }

    fn number(value: &Value) -> usize {
        value.as_u64().unwrap() as usize
    }

    /// The words of an accessor.
    fn words(json: &Value, binary: &[u8], accessor: &Value) -> Vec<[u8; 4]> {
        let accessor = &json["accessors"][number(accessor)];
        let view = &json["bufferViews"][number(&accessor["bufferView"])];
        let components = if accessor["type"] == "VEC3" { 3 } else { 1 };
        assert_eq!(number(&view["byteLength"]), 4 * components * number(&accessor["count"]));
        let start = number(&view["byteOffset"]);
        let bytes = &binary[start..start + number(&view["byteLength"])];
        bytes.chunks(4).map(|c| c.try_into().unwrap()).collect()
    }

    /// Offsets and counts fit together, for bodies and chains.
    #[test]
    fn models_are_sound() {
        for (name, mode) in [("box:3x3x3", TRIANGLES), ("box:4x1x1", LINES)] {
            let scene = Scene::open(name).unwrap();
            let file = glb(&scene, &scene.mesh.particles, 0);
            let (json, binary) = parts(&file);
            assert_eq!(json["meshes"][0]["primitives"][0]["mode"], mode);
            for mesh in json["meshes"].as_array().unwrap() {
                let primitive = &mesh["primitives"][0];
                let corners = words(&json, binary, &primitive["attributes"]["POSITION"]).len() / 3;
                let indices = words(&json, binary, &primitive["indices"]);
                assert!(indices.iter().all(|&i| (u32::from_le_bytes(i) as usize) < corners));
                assert!(number(&primitive["material"]) < json["materials"].as_array().unwrap().len());
            }
            let root = &json["nodes"][number(&json["scenes"][0]["nodes"][0])];
            assert_eq!(root["children"].as_array().unwrap().len(), json["meshes"].as_array().unwrap().len());
        }
    }

    /// A ball that has moved up by a metre, a plane and a pinned face: nodes by the names that reports have.
    #[test]
    fn boundaries_and_pins_were_not_in_the_model() {
        let text = "step = 0.001\nmass = 1\n[mesh.box]\nsize = [3, 3, 3]\npitch = 1\n\
            [materials.m]\nk1 = 1\nc1 = 1\nc2 = 1\n[contact]\nstiffness = 1\n\
            [[pins]]\nname = \"bottom\"\non = { face = \"z-min\" }\n\
            [[boundaries]]\nname = \"floor\"\nplane = { point = [0, 0, -2], normal = [0, 0, 1] }\n\
            [[boundaries]]\nname = \"finger\"\nball = { center = [0, 0, 3], radius = 0.5 }\n\
            frames = [{ t = 1, offset = [0, 0, 2] }]\n";
        let scene = Scene::parse(text, "model.toml").unwrap();
        let file = glb(&scene, &scene.mesh.particles, 500);
        let (json, binary) = parts(&file);
        let node =
            |name: &str| json["nodes"].as_array().unwrap().iter().find(|node| node["name"] == name).unwrap();
        assert_eq!(node("finger")["translation"], json!([0.0, 0.0, 4.0]), "where it is after half a second");
        assert_eq!(node("floor")["translation"][2], json!(-2.0));
        let held = &json["meshes"][number(&node("bottom")["mesh"])]["primitives"][0];
        assert_eq!(words(&json, binary, &held["indices"]).len(), 9 * 8 * 3, "nine octahedra");
        // Seen from outside, their sides go round counter-clockwise.
        let places: Vec<f32> = words(&json, binary, &held["attributes"]["POSITION"])
            .into_iter()
            .map(f32::from_le_bytes)
            .collect();
        let place = |k: usize| Vec3::from_fn(|axis, _| f64::from(places[3 * k + axis]));
        let middle = (0..6).map(place).sum::<Vec3>() / 6.0;
        let sides = words(&json, binary, &held["indices"]);
        for side in sides[..24].chunks(3) {
            let [a, b, c] = [0, 1, 2].map(|k| place(u32::from_le_bytes(side[k]) as usize));
            assert!((b - a).cross(&(c - a)).dot(&(a - middle)) > 0.0);
        }
    }
}
