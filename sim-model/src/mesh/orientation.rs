//! Internal forces of an object besides those of its edges: they keep its elements from turning over, its volume,
//! and coarse and fine parts together.

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
