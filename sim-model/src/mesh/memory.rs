//! How much memory a mesh takes while it is made.

/// Bytes for so many particles, edges and tetrahedra: lists that may have twice the room they need, and for each of four faces
/// of a tetrahedron a place in the order and one in a table that is filled to at least 7/16.
pub(super) fn making(particles: usize, edges: usize, tetrahedra: usize) -> u64 {
    let bytes = |n: usize, each: u64| (n as u64).saturating_mul(each);
    bytes(particles, 24).saturating_add(bytes(edges, 16)).saturating_add(bytes(tetrahedra, 212))
}
