//! Primitive blocks, each under the name of its model twin in `nendo_model` where it computes.
//!
//! Blocks are pipelines unless they say otherwise: initiation interval 1, no stall, no reset, and what they
//! put out before their first item has come through is undefined.

pub mod accumulator;
pub mod arith;
pub mod class_table;
pub mod cordic;
pub mod multiply;
pub mod normalise;
pub mod parts;
pub mod ram;
pub mod table;
