//! The map as Markdown and as a C header.

use super::{Access, Availability, Direction, Map};
use std::fmt::Write;

impl Access {
    /// How tables abbreviate it.
    fn short(self) -> &'static str {
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
             byte addresses, of which the lowest two bits are not looked at.\nAnything else, a write to what cannot \
             be written, and a write of less than a word to a window is answered with an error.\n\n| address | register | bits | access | |\n|---|---|---|---|---|\n",
            super::VERSION,
            self.config.hash_text(),
            self.config.profile,
            self.config.inverse,
            self.config.modules_text(),
            self.size
        );
        for r in &self.registers {
            let value = match r.access {
                Access::Constant(value) => format!(" Reads {value:#010x}."),
                _ => String::new(),
            };
            let _ = writeln!(
                s,
                "| {:#05x} | {} | {} | {} | {}{value} |",
                r.address,
                r.name.name(),
                r.bits,
                r.access.short(),
                r.doc
            );
        }
        let _ = writeln!(
            s,
            "\nWindows: item k, word w at base + 4 (k stride + w); a memory's window in module m is {:#x} m further. Writing an\n\
             item's last word stores the whole item; words beyond it read as zero and store nothing.\n",
            self.module_span
        );
        s += "\
              | base | window | items | stride | access | when | fields (word: bits) | |\n|---|---|---|---|---|---|---|---|\n";
        for w in &self.windows {
            let way = match w.direction {
                Direction::ReadWrite => "RW",
                Direction::ReadOnly => "RO",
                Direction::WriteOnly => "WO",
            };
            let when = if w.availability == Availability::Idle { "idle" } else { "always" };
            let fields: Vec<String> = w
                .fields
                .iter()
                .map(|f| {
                    format!(
                        "{} ({}: {}..{}{})",
                        f.name,
                        f.word,
                        f.low + f.bits - 1,
                        f.low,
                        if f.signed { ", signed" } else { "" }
                    )
                })
                .collect();
            let _ = writeln!(
                s,
                "| {:#07x} | {} | {} | {} | {way} | {when} | {} | {} |",
                w.base,
                w.name.name(),
                w.items,
                w.stride,
                fields.join(", "),
                w.doc
            );
        }
        s
    }

    /// A C header.
    pub fn c_header(&self) -> String {
        let mut s = format!(
            "/* Register map of the nendo engine, configuration {}. Generated; do not edit. */\n\
             #ifndef NENDO_MAP_H\n#define NENDO_MAP_H\n\n#define NENDO_MAP_SIZE 0x{:x}u\n\
             /* From a window in one module to the same in the next. */\n\
             #define NENDO_MODULES {}u\n#define NENDO_MODULE_SPAN 0x{:x}u\n\
             #define NENDO_CONFIG_HASH 0x{}ull\n",
            self.config.hash_text(),
            self.size,
            self.config.modules,
            self.module_span,
            self.config.hash_text()
        );
        for r in &self.registers {
            let name = r.name.name().to_uppercase();
            let _ = writeln!(
                s,
                "\n/* {} ({}) */\n#define NENDO_{name} 0x{:x}u",
                r.doc,
                r.access.short(),
                r.address
            );
            let _ = writeln!(s, "#define NENDO_{name}_BITS {}u", r.bits);
            if let Access::Constant(value) = r.access {
                let _ = writeln!(s, "#define NENDO_{name}_VALUE 0x{value:x}u");
            }
        }
        for w in &self.windows {
            let name = w.name.name().to_uppercase();
            let _ = writeln!(
                s,
                "\n/* {} */\n#define NENDO_{name}_BASE 0x{:x}u\n#define NENDO_{name}_ITEMS {}u\n\
                 #define NENDO_{name}_ADDRESS(item, word) (0x{:x}u + 4u * ((item) * {}u + (word)))",
                w.doc, w.base, w.items, w.base, w.stride
            );
            for f in &w.fields {
                let field = format!("NENDO_{name}_{}", f.name.to_uppercase());
                let _ = writeln!(
                    s,
                    "#define {field}_WORD {}u\n#define {field}_LOW {}u\n#define {field}_BITS {}u",
                    f.word, f.low, f.bits
                );
            }
        }
        s += "\n#endif\n";
        s
    }
}
