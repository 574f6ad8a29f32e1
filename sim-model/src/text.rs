//! Numbers of things in messages.

/// So many of something: `1 edge`, `2 edges`, `3 tetrahedra`.
pub fn count(number: impl TryInto<u64>, thing: &str) -> String {
    let number = number.try_into().unwrap_or(u64::MAX);
    match (number, thing.strip_suffix("hedron")) {
        (1, _) => format!("1 {thing}"),
        (_, Some(stem)) => format!("{number} {stem}hedra"),
        (_, None) => format!("{number} {thing}s"),
    }
}

#[test]
fn one_edge_was_called_1_edges() {
    assert_eq!(count(1, "edge"), "1 edge");
    assert_eq!(count(0_usize, "edge"), "0 edges");
    assert_eq!(count(2_u32, "tetrahedron"), "2 tetrahedra");
    assert_eq!(count(1_u64, "tetrahedron"), "1 tetrahedron");
}
