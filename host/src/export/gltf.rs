//! The surface as a binary glTF model (`.glb`), coloured by displacement; chains as lines.

use super::displacements;
use crate::picture::clay;
use nendo_model::{mesh::Vec3, scene::Scene};
use serde_json::json;

const FLOAT: u32 = 5126;
const UNSIGNED_INT: u32 = 5125;

/// The model. Z is up in scenes, Y in glTF: the only node turns it.
pub fn glb(scene: &Scene, positions: &[Vec3]) -> Vec<u8> {
    let mesh = &scene.mesh;
    let moved: Vec<f64> = displacements(scene, positions).iter().map(|d| d.norm()).collect();
    let most = moved.iter().copied().fold(1e-12, f64::max);
    let (indices, mode) =
        if mesh.triangles.is_empty() { (mesh.edges.concat(), 1) } else { (mesh.triangles.concat(), 4) };
    let floats = |list: &[Vec3]| -> Vec<u8> {
        list.iter().flat_map(|v| [v.x, v.y, v.z]).flat_map(|c| (c as f32).to_le_bytes()).collect()
    };
    // Colours in a model are linear light.
    let linear = |c: u8| (f32::from(c) / 255.0).powf(2.2);
    let colours: Vec<u8> =
        moved.iter().flat_map(|m| clay(m / most)).flat_map(|c| linear(c).to_le_bytes()).collect();
    let parts = [
        floats(positions),
        floats(&normals(&mesh.triangles, positions)),
        colours,
        indices.iter().flat_map(|i| i.to_le_bytes()).collect(),
    ];
    let mut binary = Vec::new();
    let mut views = Vec::new();
    for (k, part) in parts.iter().enumerate() {
        let target = if k == 3 { 34963 } else { 34962 };
        views.push(
            json!({ "buffer": 0, "byteOffset": binary.len(), "byteLength": part.len(), "target": target }),
        );
        binary.extend_from_slice(part);
    }
    let single = |v: Vec3| [v.x as f32, v.y as f32, v.z as f32];
    let first = positions.first().copied().unwrap_or_default();
    let (low, high) = positions.iter().fold((first, first), |(l, h), p| (l.inf(p), h.sup(p)));
    let vectors = |view: u32| json!({ "bufferView": view, "componentType": FLOAT, "count": positions.len(), "type": "VEC3" });
    let mut corners = vectors(0);
    corners["min"] = json!(single(low));
    corners["max"] = json!(single(high));
    let document = json!({
        "asset": { "version": "2.0", "generator": concat!("nendo ", env!("CARGO_PKG_VERSION")) },
        "scene": 0,
        "scenes": [{ "nodes": [0] }],
        "nodes": [{ "mesh": 0, "name": scene.name, "rotation": [-std::f64::consts::FRAC_1_SQRT_2, 0.0, 0.0, std::f64::consts::FRAC_1_SQRT_2] }],
        "meshes": [{ "primitives": [{
            "attributes": { "POSITION": 0, "NORMAL": 1, "COLOR_0": 2 },
            "indices": 3,
            "mode": mode,
            "material": 0,
        }] }],
        "materials": [{ "doubleSided": true, "pbrMetallicRoughness": { "metallicFactor": 0.0, "roughnessFactor": 0.8 } }],
        "accessors": [
            corners,
            vectors(1),
            vectors(2),
            { "bufferView": 3, "componentType": UNSIGNED_INT, "count": indices.len(), "type": "SCALAR" },
        ],
        "bufferViews": views,
        "buffers": [{ "byteLength": binary.len() }],
    });
    let mut text = document.to_string().into_bytes();
    text.resize(text.len().next_multiple_of(4), b' ');
    binary.resize(binary.len().next_multiple_of(4), 0);
    let mut file = b"glTF".to_vec();
    let word = |file: &mut Vec<u8>, n: usize| file.extend_from_slice(&(n as u32).to_le_bytes());
    word(&mut file, 2);
    word(&mut file, 12 + 8 + text.len() + 8 + binary.len());
    for (kind, chunk) in [(b"JSON", text), (b"BIN\0", binary)] {
        word(&mut file, chunk.len());
        file.extend_from_slice(kind);
        file.extend_from_slice(&chunk);
    }
    file
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

    /// Chunks, offsets and counts fit together, for bodies and chains.
    #[test]
    fn models_are_sound() {
        for (name, mode) in [("box:3x3x3", 4), ("box:4x1x1", 1)] {
            let scene = Scene::open(name).unwrap();
            let file = glb(&scene, &scene.mesh.particles);
            let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap()) as usize;
            assert_eq!((&file[..4], word(4), word(8)), (&b"glTF"[..], 2, file.len()));
            let json: serde_json::Value = serde_json::from_slice(&file[20..20 + word(12)]).unwrap();
            let binary = 20 + word(12);
            assert_eq!(
                (&file[binary + 4..binary + 8], binary + 8 + word(binary)),
                (&b"BIN\0"[..], file.len())
            );
            assert_eq!(json["meshes"][0]["primitives"][0]["mode"], mode);
            for (accessor, bytes) in json["accessors"].as_array().unwrap().iter().zip([12, 12, 12, 4]) {
                let view = &json["bufferViews"][accessor["bufferView"].as_u64().unwrap() as usize];
                assert_eq!(view["byteLength"].as_u64().unwrap(), accessor["count"].as_u64().unwrap() * bytes);
                let end = view["byteOffset"].as_u64().unwrap() + view["byteLength"].as_u64().unwrap();
                assert!(end <= json["buffers"][0]["byteLength"].as_u64().unwrap());
            }
        }
    }
}
