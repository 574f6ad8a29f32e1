//! Which way round elements are: what has turned over, and volume and area, of which that counts less.

use crate::mesh::{Mesh, Vec3};

/// The normal of a mesh of triangles that lies in a plane; none if it has tetrahedra or is no flat sheet.
pub fn plane(mesh: &Mesh) -> Option<Vec3> {
    let at = |p: u32| mesh.particles[p as usize];
    let [a, b, c] = mesh.triangles.first().filter(|_| mesh.tetrahedra.is_empty())?.map(at);
    let normal = (b - a).cross(&(c - a)).try_normalize(0.0)?;
    let slack = 1e-9 * mesh.width();
    mesh.particles.iter().all(|p| normal.dot(&(p - a)).abs() <= slack).then_some(normal)
}

/// Triangles of a flat mesh, all counterclockwise about `normal`.
pub fn oriented_triangles(mesh: &Mesh, normal: &Vec3) -> Vec<[usize; 3]> {
    let turned = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|p| p as usize);
        let at = |p: usize| mesh.particles[p];
        if (at(b) - at(a)).cross(&(at(c) - at(a))).dot(normal) > 0.0 { [a, b, c] } else { [a, c, b] }
    };
    mesh.triangles.iter().map(turned).collect()
}

/// Tetrahedra with positive volume: the fourth corner on the side to which the first three turn.
pub fn oriented_tetrahedra(mesh: &Mesh) -> Vec<[usize; 4]> {
    let turned = |t: &[u32; 4]| {
        let [a, b, c, d] = t.map(|p| p as usize);
        let at = |p: usize| mesh.particles[p] - mesh.particles[a];
        if at(b).cross(&at(c)).dot(&at(d)) > 0.0 { [a, b, c, d] } else { [a, c, b, d] }
    };
    mesh.tetrahedra.iter().map(turned).collect()
}

/// How many elements have turned over: triangles of a flat mesh, or tetrahedra.
pub fn inverted(mesh: &Mesh, now: &[Vec3]) -> usize {
    if let Some(normal) = plane(mesh) {
        let area = |&[a, b, c]: &[usize; 3]| (now[b] - now[a]).cross(&(now[c] - now[a])).dot(&normal);
        return oriented_triangles(mesh, &normal).iter().filter(|t| area(t) < 0.0).count();
    }
    let volume =
        |&[a, b, c, d]: &[usize; 4]| (now[b] - now[a]).cross(&(now[c] - now[a])).dot(&(now[d] - now[a]));
    oriented_tetrahedra(mesh).iter().filter(|t| volume(t) < 0.0).count()
}

/// The volume of the tetrahedra that `counts` of the corners of each; one that has turned over counts less.
pub fn volume(mesh: &Mesh, now: &[Vec3], counts: impl Fn(&[usize]) -> bool) -> f64 {
    let six =
        |&[a, b, c, d]: &[usize; 4]| (now[b] - now[a]).cross(&(now[c] - now[a])).dot(&(now[d] - now[a]));
    oriented_tetrahedra(mesh).iter().filter(|t| counts(&t[..])).map(six).sum::<f64>() / 6.0
}

/// The area of the triangles that `counts` of the corners of each; of a flat mesh one that has turned over counts less.
pub fn area(mesh: &Mesh, now: &[Vec3], counts: impl Fn(&[usize]) -> bool) -> f64 {
    let normal = plane(mesh);
    let twice = |&[a, b, c]: &[usize; 3]| {
        let twice = (now[b] - now[a]).cross(&(now[c] - now[a]));
        normal.map_or_else(|| twice.norm(), |normal| twice.dot(&normal))
    };
    let triangles = match &normal {
        Some(normal) => oriented_triangles(mesh, normal),
        None => mesh.triangles.iter().map(|t| t.map(|p| p as usize)).collect(),
    };
    triangles.iter().filter(|t| counts(&t[..])).map(twice).sum::<f64>() / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::Scene;

    #[test]
    fn volumes_and_areas_of_boxes() {
        let solid = Scene::open("box:3x4x2").unwrap().mesh;
        assert!((volume(&solid, &solid.particles, |_| true) - 6000.0).abs() < 1e-9);
        assert!((area(&solid, &solid.particles, |_| true) - 2.0 * (600.0 + 200.0 + 300.0)).abs() < 1e-9);
        // Of a part: the first layer of cubes along x.
        let first = |corners: &[usize]| corners.iter().all(|&p| solid.particles[p].x < 1e-9);
        assert!((volume(&solid, &solid.particles, first) - 3000.0).abs() < 1e-9);
        let mut moved = solid.particles.clone();
        moved[0] = -moved[0];
        assert!(inverted(&solid, &moved) > 0 && volume(&solid, &moved, |_| true) < 6000.0);

        let sheet = Scene::open("box:3x1x3").unwrap().mesh;
        assert!((area(&sheet, &sheet.particles, |_| true) - 400.0).abs() < 1e-9);
        let mut folded = sheet.particles.clone();
        folded[0] = folded[8] * 1.5;
        assert!(inverted(&sheet, &folded) > 0 && area(&sheet, &folded, |_| true) < 400.0);
    }
}
