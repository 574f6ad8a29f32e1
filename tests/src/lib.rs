//! Tests across nendo's crates live in this package's `tests` folder.
