//! rust-hdl's Verilog, made readable.
//!
//! rust-hdl writes one module per instance, named by its path, with stub registers between a module and its
//! children. This pass reads exactly that output and writes it again: equal modules once, under the name
//! their circuit gave itself, after `nendo_`; ANSI headers; children connected directly; no `$` in any name.

use super::module::Module;
use rust_hdl::prelude::generate_verilog;
use std::{collections::HashMap, fmt::Write};

/// The Verilog of a circuit and all it contains, the circuit itself last and named `top`.
///
/// # Panics
/// If two different circuits have the same name, or rust-hdl finds a fault: the design is wrong.
pub fn verilog(module: &Module, top: &str) -> String {
    let parsed = parse(&generate_verilog(module));
    let mut tidy = Tidy { parsed, written: HashMap::new(), out: String::new() };
    tidy.write("top", Some(top));
    tidy.out
}

/// A module as rust-hdl wrote it.
#[derive(Debug, Default)]
struct Raw {
    /// Declarations of ports, without semicolon: `input wire [3:0] a`.
    ports: Vec<String>,
    /// Wires that carry the outputs of children: `[3:0] child$q`.
    wires: Vec<String>,
    /// Module and instance name of each child, and its port names.
    children: Vec<(String, String, Vec<String>)>,
    code: Vec<String>,
}

#[derive(PartialEq)]
enum Section {
    Ports,
    Stubs,
    Children,
    Code,
}

fn parse(text: &str) -> HashMap<String, Raw> {
    let mut modules = HashMap::new();
    let mut current: Option<(String, Raw)> = None;
    let mut section = Section::Ports;
    for line in text.lines() {
        let line = line.trim();
        if let Some(header) = line.strip_prefix("module ") {
            let name = header.split('(').next().unwrap_or_default();
            current = Some((name.to_owned(), Raw::default()));
            continue;
        }
        let Some((_, raw)) = current.as_mut() else { continue };
        if line.starts_with("endmodule") {
            modules.extend(current.take());
            continue;
        }
        match line {
            "" => continue,
            "// Module arguments" => section = Section::Ports,
            "// Stub signals" => section = Section::Stubs,
            "// Sub module instances" => section = Section::Children,
            "// Update code (custom)" => section = Section::Code,
            _ => match section {
                Section::Ports => raw.ports.push(squeeze(line.trim_end_matches(';'))),
                Section::Stubs => {
                    if let Some(wire) = line.strip_prefix("wire ") {
                        raw.wires.push(squeeze(wire.trim_end_matches(';')));
                    }
                }
                Section::Children => parse_child(raw, line),
                Section::Code => raw.code.push(line.to_owned()),
            },
        }
    }
    modules
}

/// One blank where there were several.
fn squeeze(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn parse_child(raw: &mut Raw, line: &str) {
    if let Some(port) = line.strip_prefix('.') {
        let name = port.split('(').next().unwrap_or_default().to_owned();
        if let Some(child) = raw.children.last_mut() {
            child.2.push(name);
        }
    } else if let Some((module, instance)) = line.trim_end_matches('(').split_once(' ') {
        raw.children.push((module.to_owned(), instance.to_owned(), Vec::new()));
    }
}

struct Tidy {
    parsed: HashMap<String, Raw>,
    /// Text of each module written, by name.
    written: HashMap<String, String>,
    out: String,
}

impl Tidy {
    /// Writes a module and its children, unless it is there already. Returns its name.
    fn write(&mut self, path: &str, name: Option<&str>) -> String {
        let raw = self.parsed.remove(path).unwrap_or_else(|| panic!("rust-hdl wrote no module {path}"));
        let children: Vec<String> = raw.children.iter().map(|(path, ..)| self.write(path, None)).collect();
        let kind = raw.code.first().and_then(|l| l.strip_prefix("// kind: "));
        let kind = kind.unwrap_or_else(|| panic!("module {path} has no kind"));
        let name = name.map_or_else(|| format!("nendo_{kind}"), str::to_owned);
        let text = body(&raw, &children);
        match self.written.get(&name) {
            Some(known) => assert_eq!(*known, text, "two different modules called {name}"),
            None => {
                let _ = write!(self.out, "\nmodule {name} {text}");
                self.written.insert(name.clone(), text);
            }
        }
        name
    }
}

/// Everything after the module's name.
fn body(raw: &Raw, children: &[String]) -> String {
    let inputs = connections(raw);
    let mut out = String::new();
    let ports: Vec<String> = raw.ports.iter().map(|p| format!("    {}", plain(p))).collect();
    let _ = writeln!(out, "(\n{}\n);", ports.join(",\n"));
    let mut lines = raw.code.iter().filter(|l| connection(l).is_none()).skip(1).peekable();
    // The circuit's sentence first, then wires from its children, its own logic, and the children.
    while let Some(line) = lines.next_if(|l| l.starts_with("//")) {
        let _ = writeln!(out, "    {line}");
    }
    // An output that nothing uses stays open.
    let used = |stub: &str| raw.code.iter().any(|line| line.split(is_separator).any(|name| name == stub));
    for wire in raw.wires.iter().filter(|wire| wire.split_whitespace().last().is_some_and(used)) {
        let _ = writeln!(out, "    wire {};", plain(wire));
    }
    let mut depth = 0;
    for line in lines {
        if line.starts_with("//") && depth == 0 {
            out.push('\n');
        }
        let closes = usize::from(line.starts_with("end"));
        let indent = 4 * (1 + depth - closes.min(depth));
        let _ = writeln!(out, "{:indent$}{}", "", plain(line));
        depth = depth + usize::from(line.ends_with("begin")) - closes.min(depth);
    }
    for ((_, instance, ports), module) in raw.children.iter().zip(children) {
        let port = |port: &String| {
            let stub = format!("{instance}${port}");
            let own = if used(&stub) { stub.as_str() } else { "" };
            let value = inputs.get(stub.as_str()).map_or(own, |v| *v);
            format!("        .{port}({})", plain(value))
        };
        let ports: Vec<String> = ports.iter().map(port).collect();
        let _ = writeln!(out, "    {module} u_{instance} (\n{}\n    );", ports.join(",\n"));
    }
    out.push_str("endmodule\n");
    out
}

fn is_separator(c: char) -> bool {
    !(c.is_ascii_alphanumeric() || c == '_' || c == '$')
}

/// What drives each child's inputs, by stub.
fn connections(raw: &Raw) -> HashMap<&str, &str> {
    raw.code.iter().filter_map(|line| connection(line)).collect()
}

/// `always @(*) child$port = value;`
fn connection(line: &str) -> Option<(&str, &str)> {
    let (stub, value) = line.strip_prefix("always @(*) ")?.split_once(" = ")?;
    stub.contains('$').then_some((stub, value.trim_end_matches(';')))
}

/// Names without `$`, but for Verilog's own functions.
fn plain(line: &str) -> String {
    line.replace("$signed", "\u{1}").replace('$', "_").replace('\u{1}', "$signed")
}

#[cfg(test)]
mod tests {
    use super::super::Build;
    use super::*;
    use std::rc::Rc;

    #[test]
    fn equal_children_are_shared_and_connected_directly() {
        let mut inner = Build::new("inner", "One bit later.");
        let x = inner.pipe_input("x", 3);
        let y = inner.reg(&x);
        inner.output("y", &y);
        let inner = Rc::new(inner.finish());
        let mut outer = Build::new("outer", "Two of them.");
        let x = outer.pipe_input("x", 3);
        let y = outer.instance("first", &inner, &[("x", &x)]).get("y");
        let z = outer.instance("second", &inner, &[("x", &y)]).get("y");
        outer.output("z", &z);
        let text = verilog(&outer.finish(), "outer");
        assert_eq!(text.matches("module nendo_inner").count(), 1, "{text}");
        assert!(text.contains(".x(first_y)") && text.contains(".clock(clock)"), "{text}");
        assert!(text.contains("input wire [2:0] x,\n") && !text.contains('$'), "{text}");
    }

    #[test]
    #[should_panic(expected = "two different modules called nendo_inner")]
    fn one_name_one_circuit() {
        let make = |bits| {
            let mut inner = Build::new("inner", "");
            let x = inner.pipe_input("x", bits);
            inner.output("y", &x);
            Rc::new(inner.finish())
        };
        let mut outer = Build::new("outer", "");
        let (x, y) = (outer.pipe_input("x", 3), outer.pipe_input("y", 4));
        let a = outer.instance("a", &make(3), &[("x", &x)]).get("y");
        let b = outer.instance("b", &make(4), &[("x", &y)]).get("y");
        outer.output("a", &a);
        outer.output("b", &b);
        verilog(&outer.finish(), "outer");
    }
}
