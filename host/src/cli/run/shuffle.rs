//! Edges in a random order, to show that the order does not matter.

/// The numbers 0 to n-1 in an order that depends on the seed alone.
pub(super) fn shuffled(n: u32, seed: u64) -> Vec<u32> {
    let mut order: Vec<u32> = (0..n).collect();
    let mut state = seed;
    let mut next = || {
        // SplitMix64
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    for k in (1..order.len()).rev() {
        order.swap(k, (next() % (k as u64 + 1)) as usize);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shuffles_are_permutations_that_differ_by_seed() {
        let (a, b) = (shuffled(1000, 1), shuffled(1000, 2));
        assert_ne!(a, b);
        assert_eq!(a, shuffled(1000, 1));
        let mut sorted = a;
        sorted.sort_unstable();
        assert!(sorted.into_iter().eq(0..1000));
    }
}
