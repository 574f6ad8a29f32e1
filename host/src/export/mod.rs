//! What a run leaves for other programs: a VTU series, tables, a glTF model, a report.

pub mod gltf;
pub mod history;
pub mod measures;
pub mod page;
pub mod series;
pub mod vtu;

pub use crate::{
    picture::{displacements, elongations, escape},
    quantity,
};
