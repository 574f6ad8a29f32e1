//! The ports of the register bus by register and window, so that a wrong one does not compile.

use crate::circuit::{Net, Outputs};
use nendo_model::contract::map::{Access, Direction, Reg, Register, Window, WindowName};

/// The input for what a register reads, or is set by; none if the bus has it all itself.
pub fn register_input(register: &Register) -> Option<String> {
    let name = register.name.name();
    match register.access {
        Access::ReadOnly => Some(name.to_owned()),
        Access::WriteOneToClear => Some(format!("{name}_set")),
        Access::Constant(_) | Access::ReadWrite | Access::Command => None,
    }
}

/// The input for the word of a window's item; none if it cannot be read.
pub fn window_input(window: &Window) -> Option<String> {
    (window.direction != Direction::WriteOnly).then(|| read_port(window.name))
}

/// The port of the word that a memory puts out.
pub fn read_port(window: WindowName) -> String {
    format!("{}_q", window.name())
}

/// The outputs of a register bus.
#[derive(Clone, Debug)]
pub struct BusOutputs(pub Outputs);

impl BusOutputs {
    /// What a register holds that is written over the bus.
    pub fn value(&self, register: Reg) -> Net {
        self.0.get(register.name())
    }

    /// The command that is given in this clock.
    pub fn command(&self) -> Net {
        self.0.get(&format!("{}_do", Reg::Command.name()))
    }

    /// The item of a window that is meant.
    pub fn item(&self, window: WindowName) -> Net {
        self.0.get(&format!("{}_item", window.name()))
    }

    /// Whether an item of a window is stored.
    pub fn write(&self, window: WindowName) -> Net {
        self.0.get(&format!("{}_write", window.name()))
    }

    /// What is stored in it.
    pub fn d(&self, window: WindowName) -> Net {
        self.0.get(&format!("{}_d", window.name()))
    }

    /// The module that is meant, where there are several.
    pub fn module_number(&self) -> Net {
        self.0.get("module_number")
    }
}
