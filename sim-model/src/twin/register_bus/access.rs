//! What an address is, and what reading or writing it does.

use super::{Activity, RegisterModel};
use crate::contract::{
    map::{Access, Availability, Direction, Reg, Register, Window, WindowName},
    words::{
        Command, Display, ElementDamper, ElementExtension, ElementRate, External, Force, MassTable, Mode,
        Position, Refused, RegisterWord, Slot, Status, Velocity,
    },
};

impl RegisterModel {
    /// The window an address lies in, with item (counted through all modules) and word. One that is for an idle engine
    /// only is refused to a busy one's user.
    fn find(&mut self, address: u32) -> Option<(Window, usize, u32)> {
        let span = self.map.module_span;
        let within = |w: &Window, module: u32| {
            let word = address.checked_sub(w.base + module * span)? / 4;
            (word < w.items * w.stride).then_some((module * w.items + word / w.stride, word % w.stride))
        };
        let found = self.map.windows.iter().find_map(|w| {
            let module = address.checked_sub(w.base)? / span;
            let (item, word) = within(w, module).filter(|_| module < w.modules)?;
            Some((w.clone(), item as usize, word))
        })?;
        self.is_free(found.0.availability).then_some(found)
    }

    /// Whether what is available then may be used now; that it may not is kept.
    fn is_free(&mut self, availability: Availability) -> bool {
        let free = availability == Availability::Always || self.idle();
        if !free {
            self.refuse(Refused { access: true, ..Refused::default() });
        }
        free
    }

    fn register_at(&self, address: u32) -> Option<Register> {
        self.map.registers.iter().find(|r| r.address == address).cloned()
    }

    /// An item's words; of a table, which cannot be read, none.
    fn item(&self, window: WindowName, item: usize) -> Vec<u32> {
        let map = &self.map;
        match window {
            WindowName::Position => map.pack(&Position::from(self.particles[item].x)),
            WindowName::Velocity => map.pack(&Velocity::from(self.particles[item].v)),
            WindowName::External => {
                let particle = self.particles[item];
                map.pack(&External::new(particle.force, particle.class))
            }
            WindowName::Edge => map.pack(&self.slots[item]),
            WindowName::Display => map.pack(&Display::from(self.display[item])),
            WindowName::Force => map.pack(&Force::from(self.forces[item])),
            WindowName::ElementExtension
            | WindowName::ElementRate
            | WindowName::ElementDamper
            | WindowName::MassTable => Vec::new(),
        }
    }

    fn store_item(&mut self, window: WindowName, item: usize, words: &[u32]) {
        let map = &self.map;
        match window {
            WindowName::Position => {
                self.particles[item].x = map.unpack::<Position>(words).into();
                self.show(item);
            }
            WindowName::Velocity => self.particles[item].v = map.unpack::<Velocity>(words).into(),
            WindowName::External => {
                let external: External = map.unpack(words);
                let (force, class) = (external.force(), external.mass_class);
                (self.particles[item].force, self.particles[item].class) = (force, class);
                // The engine reads external forces as they are when it needs them.
                if let Activity::Running { run, .. } = &mut self.activity
                    && let Ok(number) = run.particles.binary_search(&item)
                {
                    run.model.set_external(number as u32, force, class);
                }
            }
            WindowName::Edge => self.slots[item] = map.unpack::<Slot>(words),
            WindowName::ElementExtension => {
                self.elements[item].extension = map.unpack::<ElementExtension>(words).a_or_k.into();
            }
            WindowName::ElementRate => {
                self.elements[item].rate = map.unpack::<ElementRate>(words).b_or_c.into();
            }
            WindowName::ElementDamper => {
                self.elements[item].damper = map.unpack::<ElementDamper>(words).c2_or_d.into();
            }
            WindowName::MassTable => self.masses[item] = map.unpack::<MassTable>(words).inverse_mass.into(),
            WindowName::Display | WindowName::Force => {}
        }
    }

    /// Adds an access to the sums, unless it was one of the sums themselves.
    pub(super) fn sum(&mut self, [low, high]: [Reg; 2], address: u32, value: u32) {
        if self.register_at(address).is_some_and(|r| r.name.is_sum()) {
            return;
        }
        let next = self.get(low).wrapping_add(value).wrapping_add(address);
        let next_high = self.get(high).wrapping_add(next);
        self.registers.insert(low, next);
        self.registers.insert(high, next_high);
    }

    fn status(&self) -> Status {
        let mode = match self.activity {
            Activity::Idle => Mode::Idle,
            Activity::Running { .. } => Mode::Element,
            Activity::Finishing { .. } => Mode::Finish,
        };
        Status { busy: !self.idle(), mode: Some(mode), refused: self.get(Reg::Refused) != 0 }
    }

    fn read_register(&self, register: &Register) -> u32 {
        match (register.access, register.name) {
            (Access::Constant(value), _) => value,
            (Access::Command, _) => 0,
            (_, Reg::Status) => self.status().bits(),
            (_, name) => self.get(name),
        }
    }

    /// Whether it was taken.
    fn write_register(&mut self, register: &Register, value: u32) -> bool {
        let Register { name, bits, access, availability, .. } = *register;
        let mask = u32::MAX >> (32 - bits);
        match access {
            Access::Constant(_) | Access::ReadOnly => return false,
            Access::Command => match Command::from_word(value) {
                Some(command) => self.command(command),
                None => return false,
            },
            Access::WriteOneToClear => drop(self.registers.insert(name, self.get(name) & !value)),
            Access::ReadWrite => {
                let free = self.is_free(availability);
                if free {
                    self.registers.insert(name, value & mask);
                }
                return free;
            }
        }
        true
    }

    pub(super) fn read_word(&mut self, address: u32) -> Option<u32> {
        if let Some(register) = self.register_at(address) {
            return Some(self.read_register(&register));
        }
        let (window, item, word) =
            self.find(address).filter(|(w, ..)| w.direction != Direction::WriteOnly)?;
        let name = window.name;
        let mut words = self.item(name, item);
        if name == WindowName::Display {
            if word == 0 {
                self.held.clone_from(&words);
            } else {
                words.clone_from(&self.held);
            }
        }
        Some(words.get(word as usize).copied().unwrap_or(0))
    }

    pub(super) fn write_word(&mut self, address: u32, value: u32) -> Option<()> {
        if let Some(register) = self.register_at(address) {
            return self.write_register(&register, value).then_some(());
        }
        let (window, item, word) = self.find(address).filter(|(w, ..)| w.direction != Direction::ReadOnly)?;
        let (name, last) = (window.name, window.words() - 1);
        if word == last {
            let words: Vec<u32> = self.stage.iter().take(last as usize).copied().chain([value]).collect();
            self.store_item(name, item, &words);
        } else if word < last {
            self.stage[word as usize] = value;
        }
        Some(())
    }
}
