//! The map as a C header.

use super::{Access, Map, Register, Window};
use crate::contract::words::Field;
use std::fmt::Write;

/// A name as C writes it.
fn upper(name: &str) -> String {
    name.to_uppercase().replace('-', "_")
}

impl Map {
    /// A C header.
    pub fn c_header(&self) -> String {
        let hash = self.config.hash_text();
        let mut s = format!(
            "/* Register map of the nendo engine, configuration {hash}. Generated; do not edit. */\n\
             /*\n{}\n */\n\
             #ifndef NENDO_MAP_H\n#define NENDO_MAP_H\n\n#define NENDO_MAP_SIZE 0x{:x}u\n\
             /* From a window in one module to the same in the next. */\n\
             #define NENDO_MODULES {}u\n#define NENDO_MODULE_SPAN 0x{:x}u\n\
             #define NENDO_CONFIG_HASH 0x{hash}ull\n",
            self.rules.map(|rule| format!(" * {rule}")).join("\n"),
            self.size,
            self.config.modules,
            self.module_span,
        );
        self.registers_by_address().into_iter().for_each(|r| register(&mut s, r));
        self.windows.iter().for_each(|w| window(&mut s, w));
        s += "\n#endif\n";
        s
    }
}

fn register(s: &mut String, r: &Register) {
    let name = upper(r.name.name());
    let _ = writeln!(
        s,
        "\n/* {} ({}, {}) */\n#define NENDO_{name} 0x{:x}u\n#define NENDO_{name}_BITS {}u",
        r.doc,
        r.access.short(),
        r.availability.short(),
        r.address,
        r.bits
    );
    match r.access {
        Access::Constant(value) => drop(writeln!(s, "#define NENDO_{name}_VALUE 0x{value:x}u")),
        Access::Command => {
            let _ = writeln!(s, "#define NENDO_{name}_WORD(bits) ((~(bits) & 0xffffu) << 16 | (bits))");
        }
        _ => {}
    }
    for f in r.fields {
        // The mask is what flags are used by.
        let field = format!("NENDO_{name}_{}", upper(f.name));
        let _ = writeln!(s, "/* {} */\n#define {field} 0x{:x}u", f.doc, f.mask());
        place(s, &field, f);
    }
}

fn window(s: &mut String, w: &Window) {
    let name = upper(w.name.name());
    let _ = writeln!(
        s,
        "\n/* {} */\n#define NENDO_{name}_BASE 0x{:x}u\n#define NENDO_{name}_ITEMS {}u\n\
         #define NENDO_{name}_ADDRESS(item, word) (0x{:x}u + 4u * ((item) * {}u + (word)))",
        w.doc, w.base, w.items, w.base, w.stride
    );
    for f in &w.fields {
        let field = format!("NENDO_{name}_{}", upper(f.name));
        let _ = writeln!(s, "/* {} */\n#define {field}_WORD {}u", f.doc, f.word);
        place(s, &field, f);
    }
}

/// Where a field is, what its values are called, and its own parts.
fn place(s: &mut String, name: &str, f: &Field) {
    let _ = writeln!(s, "#define {name}_LOW {}u\n#define {name}_BITS {}u", f.low, f.bits);
    for (value, code) in f.values.iter().zip(0..) {
        let _ = writeln!(s, "#define {name}_{} {code}u", upper(value));
    }
    for part in f.parts {
        let of_part = format!("{name}_{}", upper(part.name));
        place(s, &of_part, &Field { low: f.low + part.low, ..*part });
    }
}
