//! The state digest: equal digests are the meaning of "bit-exact".

use sha2::{Digest, Sha256};

/// SHA-256 over state words.
#[derive(Clone, Default)]
pub struct StateHasher(Sha256);

impl StateHasher {
    /// Nothing hashed yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds bytes.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Adds a two's complement word of `bits` bits (a multiple of 8), little-endian.
    pub fn word(&mut self, raw: i64, bits: u32) {
        self.0.update(&raw.to_le_bytes()[..bits.div_ceil(8) as usize]);
    }

    /// The digest in hexadecimal.
    pub fn hex(self) -> String {
        self.0.finalize().iter().map(|b| format!("{b:02x}")).collect()
    }
}

/// SHA-256 of some bytes in hexadecimal.
pub fn hex_digest(bytes: &[u8]) -> String {
    let mut hasher = StateHasher::new();
    hasher.bytes(bytes);
    hasher.hex()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_little_endian_twos_complement() {
        let mut hasher = StateHasher::new();
        hasher.word(-2, 24);
        hasher.word(0x1234, 16);
        assert_eq!(hasher.hex(), hex_digest(&[0xfe, 0xff, 0xff, 0x34, 0x12]));
    }
}
