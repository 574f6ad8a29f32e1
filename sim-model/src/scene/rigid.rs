//! Rigid materials: as hard as mesh, masses and step allow, which are known when a file has been read.

use super::{Scene, spectrum::largest_eigenvalue};
use crate::force::{Material, MaterialError};

impl Scene {
    /// Gives its rigid materials the stiffness and damping of the hardest elastic one that its step allows: half of what
    /// either integrator bears.
    pub fn resolve_rigid(&mut self) -> Result<(), MaterialError> {
        if !self.materials.iter().any(|m| m.rigid) {
            return Ok(());
        }
        let gamma = largest_eigenvalue(self, &vec![1.0; self.mesh.edges.len()]);
        let c1 = 0.5 * 2.0 / (gamma * self.step);
        let hardest = Material::elastic(0.5 * c1 / self.step, c1)?;
        self.materials.iter_mut().filter(|m| m.rigid).for_each(|m| m.material = hardest);
        Ok(())
    }
}
