//! The map as a page for people.

use super::{Access, Direction, Map, Register, Window};
use crate::contract::words::Field;
use std::fmt::Write;

impl Access {
    /// How tables abbreviate it.
    pub(super) fn short(self) -> &'static str {
        match self {
            Self::Constant(_) => "constant",
            Self::ReadOnly => "RO",
            Self::ReadWrite => "RW",
            Self::Command => "command",
            Self::WriteOneToClear => "W1C",
        }
    }
}

impl Map {
    /// A page for people.
    pub fn markdown(&self) -> String {
        let mut s = format!(
            "# Register map, version {}\n\nConfiguration {} ({}, {}, {}). {} bytes, 32-bit words, \
             byte addresses.\n\n{}\n\n| address | register | bits | access | when | |\n|---|---|---|---|---|---|\n",
            super::VERSION,
            self.config.hash_text(),
            self.config.profile,
            self.config.inverse,
            self.config.modules_text(),
            self.size,
            self.rules.map(|rule| format!("- {rule}")).join("\n"),
        );
        self.registers_by_address().into_iter().for_each(|r| register(&mut s, r));
        let _ = writeln!(
            s,
            "\nWindows: item k, word w at base + 4 (k stride + w); a memory's window in module m is {:#x} m further. Writing an\n\
             item's last word stores the whole item; words beyond it read as zero and store nothing.\n",
            self.module_span
        );
        s += "\
              | base | window | items | stride | access | when | fields (word: bits) | |\n|---|---|---|---|---|---|---|---|\n";
        self.windows.iter().for_each(|w| window(&mut s, w));
        s += "\nFields, with what their values from 0 on are called, or the parts they have.\n\n\
              | of | field | word | bits | |\n|---|---|---|---|---|\n";
        for r in self.registers_by_address() {
            r.fields.iter().for_each(|f| field(&mut s, r.name.name(), f));
        }
        for w in &self.windows {
            w.fields.iter().for_each(|f| field(&mut s, w.name.name(), f));
        }
        s
    }
}

fn register(s: &mut String, r: &Register) {
    let value = match r.access {
        Access::Constant(value) => format!(" Reads {value:#010x}."),
        _ => String::new(),
    };
    let (name, access, when) = (r.name.name(), r.access.short(), r.availability.short());
    let _ =
        writeln!(s, "| {:#05x} | {name} | {} | {access} | {when} | {}{value} |", r.address, r.bits, r.doc);
}

fn window(s: &mut String, w: &Window) {
    let direction = match w.direction {
        Direction::ReadWrite => "RW",
        Direction::ReadOnly => "RO",
        Direction::WriteOnly => "WO",
    };
    let when = w.availability.short();
    let signed = |f: &Field| if f.signed { ", signed" } else { "" };
    let fields: Vec<String> =
        w.fields.iter().map(|f| format!("{} ({}: {}{})", f.name, f.word, bits(f), signed(f))).collect();
    let _ = writeln!(
        s,
        "| {:#07x} | {} | {} | {} | {direction} | {when} | {} | {} |",
        w.base,
        w.name.name(),
        w.items,
        w.stride,
        fields.join(", "),
        w.doc
    );
}

/// Highest and lowest bit.
fn bits(f: &Field) -> String {
    format!("{}..{}", f.low + f.bits - 1, f.low)
}

fn field(s: &mut String, of: &str, f: &Field) {
    let parts = f.parts.iter().map(|p| format!("{} {}", p.name, bits(p)));
    let more: Vec<String> = f.values.iter().map(|&v| v.to_owned()).chain(parts).collect();
    let colon = if more.is_empty() { "" } else { ": " };
    let (name, word, bits) = (f.name, f.word, bits(f));
    let doc = f.doc.trim_end_matches('.');
    let _ = writeln!(s, "| {of} | {name} | {word} | {bits} | {doc}{colon}{}. |", more.join(", "));
}
