//! The items of the windows, with a sentence for each part.

use super::{
    super::{
        config::{Config, address_bits},
        image::{ELEMENT_CLASSES, MASS_CLASSES},
    },
    MAX_ADVANCE, RegisterWord, TableEntry,
    names::WindowName,
};

items! {
    /// Element class: constant times u (A or K); mantissa, shift << 16.
    ElementExtension as ElementExtensionParts in ElementExtension, |config, n| {
        /// A or K.
        a_or_k: TableEntry = (0, 0, TableEntry::WIDTH),
    }

    /// Element class: constant times l' (B or C).
    ElementRate as ElementRateParts in ElementRate, |config, n| {
        /// B or C.
        b_or_c: TableEntry = (0, 0, TableEntry::WIDTH),
    }

    /// Element class: c2 or D = 1/c2.
    ElementDamper as ElementDamperParts in ElementDamper, |config, n| {
        /// c2 or D.
        c2_or_d: TableEntry = (0, 0, TableEntry::WIDTH),
    }

    /// Mass class: inverse mass; class 0 is held.
    MassTable as MassTableParts in MassTable, |config, n| {
        /// 1/m.
        inverse_mass: TableEntry = (0, 0, TableEntry::WIDTH),
    }

    /// Stored positions.
    Position as PositionParts in Position, |config, n| {
        /// Along x.
        x: i32 = (0, 0, n.x.bits),
        /// Along y.
        y: i32 = (1, 0, n.x.bits),
        /// Along z.
        z: i32 = (2, 0, n.x.bits),
    }

    /// Stored velocities.
    Velocity as VelocityParts in Velocity, |config, n| {
        /// Along x.
        x: i32 = (0, 0, n.v.bits),
        /// Along y.
        y: i32 = (1, 0, n.v.bits),
        /// Along z.
        z: i32 = (2, 0, n.v.bits),
    }

    /// External forces and mass classes.
    External as ExternalParts in External, |config, n| {
        /// External force along x.
        fx: i32 = (0, 0, n.edge_force.bits),
        /// External force along y.
        fy: i32 = (0, 16, n.edge_force.bits),
        /// External force along z.
        fz: i32 = (1, 0, n.edge_force.bits),
        /// Class of the inverse mass.
        mass_class: u8 = (1, 16, MASS_CLASSES.ilog2()),
    }

    /// A slot: the next of an owner's edges, or none. Stored extension, class, the other particle (module and
    /// number), how much further the owner is (from -1), whether it is the edge's end, whether this is its last
    /// edge, whether there is an edge, and whether the next particle is moved.
    Slot as SlotParts in Edge, |config, n| {
        /// Stored extension.
        u: i32 = (0, 0, n.u.bits),
        /// Class of the element.
        class: u8 = (0, 24, ELEMENT_CLASSES.ilog2()),
        /// Number of the other particle.
        other: u32 = (1, 0, address_bits(config.particles)),
        /// How much further the owner is than the one before, the first from -1.
        advance: u32 = (1, 24, MAX_ADVANCE.ilog2() + 1),
        /// The owner is the edge's end.
        reversed: bool = (1, 27, 1),
        /// The last edge of its owner.
        last: bool = (1, 28, 1),
        /// There is an edge.
        present: bool = (1, 29, 1),
        /// The next particle is moved.
        moves: bool = (1, 30, 1),
        /// Module of the other particle; not there if there is only one.
        module: u32 = (1, 16, config.module_bits()),
    }

    /// Positions as each particle's last move left them; word 0 holds word 1.
    Display as DisplayParts in Display, |config, n| {
        /// Along x.
        x: i32 = (0, 0, n.x.operand_bits()),
        /// Along y.
        y: i32 = (0, 16, n.x.operand_bits()),
        /// Along z.
        z: i32 = (1, 0, n.x.operand_bits()),
    }

    /// Sum of the forces of the elements on a particle; zero between steps.
    Force as ForceParts in Force, |config, n| {
        /// Along x.
        fx: i32 = (0, 0, n.force_sum.bits),
        /// Along y.
        fy: i32 = (1, 0, n.force_sum.bits),
        /// Along z.
        fz: i32 = (2, 0, n.force_sum.bits),
    }
}

/// Items that are vectors, from and to three components.
macro_rules! vectors {
    ($($item:ident { $x:ident, $y:ident, $z:ident })+) => {
        $(
            impl From<[i32; 3]> for $item {
                fn from([$x, $y, $z]: [i32; 3]) -> Self {
                    Self { $x, $y, $z }
                }
            }

            impl From<$item> for [i32; 3] {
                fn from($item { $x, $y, $z }: $item) -> Self {
                    [$x, $y, $z]
                }
            }
        )+
    };
}

vectors! {
    Position { x, y, z }
    Velocity { x, y, z }
    Display { x, y, z }
    Force { fx, fy, fz }
}

impl External {
    /// A force on a particle of a mass class.
    pub fn new([fx, fy, fz]: [i32; 3], mass_class: u8) -> Self {
        Self { fx, fy, fz, mass_class }
    }

    /// The force.
    pub fn force(self) -> [i32; 3] {
        [self.fx, self.fy, self.fz]
    }
}
