//! INTx as VFIO has it: a level that masks itself when it is signalled, and is signalled again if it is still there when
//! it is unmasked.

use crate::sys::event;
use std::{
    fs::File,
    io::{self, Write},
};
use vfio_bindings::bindings::vfio;

/// The client's side of the line.
#[derive(Debug, Default)]
pub(super) struct Line {
    trigger: Option<File>,
    masked: bool,
    /// How often it was signalled.
    pub(super) signalled: u64,
}

impl Line {
    /// What a client asks for, in the terms of `VFIO_DEVICE_SET_IRQS`.
    pub(super) fn set(&mut self, flags: u32, count: u32, mut files: Vec<File>) -> io::Result<()> {
        let action = flags & vfio::VFIO_IRQ_SET_ACTION_TYPE_MASK;
        let counter = flags & vfio::VFIO_IRQ_SET_DATA_EVENTFD != 0;
        match (action, counter) {
            (vfio::VFIO_IRQ_SET_ACTION_MASK, false) => self.masked = true,
            (vfio::VFIO_IRQ_SET_ACTION_UNMASK, false) => self.masked = false,
            (vfio::VFIO_IRQ_SET_ACTION_TRIGGER, true) => {
                let trigger = files.pop();
                trigger.iter().try_for_each(event::never_block)?;
                (self.trigger, self.masked) = (trigger, false);
            }
            (vfio::VFIO_IRQ_SET_ACTION_TRIGGER, false) if count == 0 => {
                (self.trigger, self.masked) = (None, false)
            }
            _ => return Err(io::ErrorKind::InvalidInput.into()),
        }
        Ok(())
    }

    /// Whether anybody wants to know.
    pub(super) fn is_open(&self) -> bool {
        self.trigger.is_some() && !self.masked
    }

    /// The level as it is now.
    pub(super) fn update(&mut self, level: bool) {
        if !level || !self.is_open() {
            return;
        }
        self.masked = true;
        self.signalled += 1;
        // Whoever takes no more events has enough of them.
        if let Some(mut trigger) = self.trigger.as_ref() {
            let _ = trigger.write(&1u64.to_ne_bytes());
        }
    }
}
