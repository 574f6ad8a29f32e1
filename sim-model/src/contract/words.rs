//! The words on the bus and in the memories.

use super::numbers::Constant;

/// Width of a table's entry: a mantissa, and how far the product is shifted.
pub const ENTRY_BITS: u32 = Constant::MANTISSA_BITS + 5;

/// The most ranks an owner may be further than the one before: what a slot's word has room for.
pub const MAX_ADVANCE: u32 = 7;
