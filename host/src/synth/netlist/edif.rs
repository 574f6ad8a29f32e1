//! Reads an EDIF netlist and writes it as Verilog: what a vendor's tool would read is what is simulated.
//!
//! Yosys has no EDIF reader of its own. This one knows what a flat netlist needs: cells with ports, instances with
//! properties, nets that join ports; anything else is skipped.

use std::{
    collections::{HashMap, HashSet},
    fmt::Write,
};

/// What is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("EDIF: {0}")]
pub struct EdifError(String);

fn bad<T>(reason: impl Into<String>) -> Result<T, EdifError> {
    Err(EdifError(reason.into()))
}

/// A symbolic expression.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Tree {
    Word(String),
    Text(String),
    List(Vec<Tree>),
}

/// Nothing legal nests deeper.
const DEEPEST: usize = 64;

fn parse(text: &str) -> Result<Tree, EdifError> {
    let mut open: Vec<Vec<Tree>> = Vec::new();
    let mut rest = text.trim_start();
    loop {
        let Some(first) = rest.chars().next() else { return bad("it ends in the middle") };
        let tree = match first {
            '(' => {
                if open.len() >= DEEPEST {
                    return bad("too many open parentheses");
                }
                open.push(Vec::new());
                rest = rest[1..].trim_start();
                continue;
            }
            ')' => {
                rest = &rest[1..];
                let Some(list) = open.pop() else { return bad("a `)` too many") };
                Tree::List(list)
            }
            '"' => {
                let Some((text, after)) = rest[1..].split_once('"') else { return bad("an open string") };
                rest = after;
                Tree::Text(text.to_owned())
            }
            _ => {
                let end = rest.find(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | '"'));
                let (word, after) = rest.split_at(end.unwrap_or(rest.len()));
                rest = after;
                Tree::Word(word.to_owned())
            }
        };
        rest = rest.trim_start();
        match open.last_mut() {
            Some(list) => list.push(tree),
            None => return Ok(tree),
        }
    }
}

impl Tree {
    fn list(&self) -> &[Tree] {
        if let Self::List(list) = self { list } else { &[] }
    }

    /// The word in front of a list.
    fn head(&self) -> &str {
        self.list().first().map_or("", Self::word)
    }

    fn word(&self) -> &str {
        if let Self::Word(word) = self { word } else { "" }
    }

    /// Lists in this list with such a word in front.
    fn all<'a>(&'a self, head: &'a str) -> impl Iterator<Item = &'a Tree> {
        self.list().iter().filter(move |tree| tree.head() == head)
    }

    fn first<'a>(&'a self, head: &'a str) -> Option<&'a Tree> {
        self.all(head).next()
    }

    /// A name, or what it was before it was renamed.
    fn name(&self) -> &str {
        match self.head() {
            "rename" => self.list().get(1).map_or("", Self::word),
            _ => self.word(),
        }
    }
}

/// A port: its name, and its range where it is a vector.
#[derive(Clone, Debug)]
struct Port {
    name: String,
    range: Option<(u32, u32)>,
    output: bool,
    /// It goes both ways.
    both: bool,
}

impl Port {
    /// The bit that is the k-th member: members count from the left.
    fn bit(&self, member: u32) -> Option<u32> {
        let (high, low) = self.range?;
        let bit = if high >= low { high.checked_sub(member)? } else { high.checked_add(member)? };
        (bit >= high.min(low) && bit <= high.max(low)).then_some(bit)
    }
}

fn ports(cell: &Tree) -> Result<Vec<Port>, EdifError> {
    let view = cell.first("view").and_then(|view| view.first("interface"));
    let Some(interface) = view else { return bad("a cell without interface") };
    interface.all("port").map(port).collect()
}

fn port(tree: &Tree) -> Result<Port, EdifError> {
    let Some(name) = tree.list().get(1) else { return bad("a port without name") };
    let direction = tree.first("direction").and_then(|d| d.list().get(1)).map_or("", Tree::word);
    let (output, both) = (direction == "OUTPUT", direction == "INOUT");
    if name.head() != "array" {
        return Ok(Port { name: name.name().to_owned(), range: None, output, both });
    }
    let renamed = name.list().get(1);
    let range = renamed.and_then(|renamed| {
        let Tree::Text(text) = renamed.list().get(2)? else { return None };
        let (high, low) = text.split_once('[')?.1.strip_suffix(']')?.split_once(':')?;
        Some((high.parse().ok()?, low.parse().ok()?))
    });
    match (renamed, range) {
        (Some(renamed), Some(range)) => {
            Ok(Port { name: renamed.name().to_owned(), range: Some(range), output, both })
        }
        _ => bad("an array without range"),
    }
}

/// A property as a Verilog parameter.
fn parameter(property: &Tree) -> Option<String> {
    let [_, name, value, ..] = property.list() else { return None };
    let value = match (value.head(), value.list().get(1)?) {
        ("integer", Tree::Word(number)) => number.parse::<i64>().ok()?.to_string(),
        ("string", Tree::Text(text)) => {
            let number = text.split_once("'h").is_some_and(|(width, digits)| {
                width.parse::<u32>().is_ok() && digits.chars().all(|c| c.is_ascii_hexdigit())
            });
            if number { text.clone() } else { format!("\"{text}\"") }
        }
        _ => return None,
    };
    Some(format!(".{}({value})", name.name()))
}

/// Nets by instance (`""` for the module itself), port and bit.
type Wiring = HashMap<(String, String, u32), String>;

/// The netlist of the design's top cell as a Verilog module.
pub fn to_verilog(text: &str) -> Result<String, EdifError> {
    let edif = parse(text)?;
    let design = edif.first("design").and_then(|d| d.first("cellRef")).and_then(|c| c.list().get(1));
    let Some(top_name) = design.map(Tree::name) else { return bad("no design") };
    let libraries = || edif.all("external").chain(edif.all("library"));
    let mut cells = HashMap::new();
    for cell in libraries().flat_map(|library| library.all("cell")) {
        let name = cell.list().get(1).map_or("", Tree::name);
        cells.insert(name, (ports(cell)?, cell));
    }
    let Some((top_ports, top)) = cells.get(top_name) else { return bad(format!("no cell {top_name}")) };
    let contents = top.first("view").and_then(|view| view.first("contents"));
    let Some(contents) = contents else { return bad(format!("{top_name} has no contents")) };

    let mut kinds: HashMap<&str, &str> = HashMap::new();
    for instance in contents.all("instance") {
        let name = instance.list().get(1).map_or("", Tree::name);
        let cell = instance.first("viewRef").and_then(|v| v.first("cellRef")).and_then(|c| c.list().get(1));
        kinds.insert(name, cell.map_or("", Tree::name));
    }
    let mut wiring = Wiring::new();
    let mut wires = 0;
    for net in contents.all("net") {
        let wire = format!("w{wires}");
        wires += 1;
        for reference in net.first("joined").into_iter().flat_map(|joined| joined.all("portRef")) {
            let instance =
                reference.first("instanceRef").and_then(|i| i.list().get(1)).map_or("", Tree::name);
            let known = if instance.is_empty() {
                Some(top_ports)
            } else {
                kinds.get(instance).and_then(|kind| cells.get(kind)).map(|cell| &cell.0)
            };
            let Some(known) = known else { return bad(format!("nothing known about instance `{instance}`")) };
            let Some(target) = reference.list().get(1) else { return bad("a reference to nothing") };
            let (name, member) = match target.list() {
                [_, name, member] if target.head() == "member" => {
                    (name.name(), member.word().parse::<u32>().ok())
                }
                _ => (target.name(), None),
            };
            let port = known.iter().find(|port| port.name == name);
            let bit = port.and_then(|port| match (port.range, member) {
                (None, None) => Some(0),
                (Some(_), Some(member)) => port.bit(member),
                _ => None,
            });
            let Some(bit) = bit else { return bad(format!("no port {name} on `{instance}`")) };
            if wiring.insert((instance.to_owned(), name.to_owned(), bit), wire.clone()).is_some() {
                return bad(format!("{name} of `{instance}` is on two nets"));
            }
        }
    }
    let mut out = format!("module {top_name} (\n");
    let range = |port: &Port| port.range.map_or(String::new(), |(high, low)| format!("[{high}:{low}] "));
    let list: Vec<String> = top_ports
        .iter()
        .map(|port| {
            let direction = match port {
                Port { both: true, .. } => "inout",
                Port { output: true, .. } => "output",
                _ => "input",
            };
            format!("    {direction} {}{}", range(port), port.name)
        })
        .collect();
    let _ = writeln!(out, "{}\n);", list.join(",\n"));
    let pads = join_pads(&mut wiring, top_ports);
    for wire in (0..wires).map(|wire| format!("w{wire}")).filter(|wire| !pads.contains(wire)) {
        let _ = writeln!(out, "wire {wire};");
    }
    for port in top_ports.iter().filter(|port| !port.both) {
        let (bits, indexed) = port.range.map_or((0..=0, false), |(a, b)| (a.min(b)..=a.max(b), true));
        for bit in bits {
            let Some(wire) = wiring.get(&(String::new(), port.name.clone(), bit)) else { continue };
            let index = if indexed { format!("[{bit}]") } else { String::new() };
            let (to, from) = (format!("{}{index}", port.name), wire.clone());
            let (to, from) = if port.output { (to, from) } else { (from, to) };
            let _ = writeln!(out, "assign {to} = {from};");
        }
    }
    for instance in contents.all("instance") {
        let name = instance.list().get(1).map_or("", Tree::name);
        let kind = kinds[name];
        let Some((ports, _)) = cells.get(kind) else { return bad(format!("no cell {kind}")) };
        let parameters: Vec<String> = instance.all("property").filter_map(parameter).collect();
        let parameters =
            if parameters.is_empty() { String::new() } else { format!("#({}) ", parameters.join(", ")) };
        let connections: Vec<String> = ports.iter().map(|port| connection(&wiring, name, port)).collect();
        let _ = writeln!(out, "{kind} {parameters}{name} ({});", connections.join(", "));
    }
    out.push_str("endmodule\n");
    Ok(out)
}

/// Nets on ports that go both ways have no wire of their own: an assignment would have a direction. Returns those.
fn join_pads(wiring: &mut Wiring, top: &[Port]) -> HashSet<String> {
    let mut pads = HashMap::new();
    for ((instance, port, bit), wire) in wiring.iter() {
        if let Some(port) = top.iter().find(|p| instance.is_empty() && p.both && p.name == *port) {
            let index = if port.range.is_some() { format!("[{bit}]") } else { String::new() };
            pads.insert(wire.clone(), format!("{}{index}", port.name));
        }
    }
    for wire in wiring.values_mut() {
        if let Some(pad) = pads.get(wire) {
            wire.clone_from(pad);
        }
    }
    pads.into_keys().collect()
}

/// `.PORT({...})`, the leftmost bit first; bits on no net stay open.
fn connection(wiring: &Wiring, instance: &str, port: &Port) -> String {
    let (high, low) = port.range.unwrap_or((0, 0));
    let bits: Vec<u32> = if high >= low { (low..=high).rev().collect() } else { (high..=low).collect() };
    let wire = |bit: &u32| wiring.get(&(instance.to_owned(), port.name.clone(), *bit));
    if bits.iter().all(|bit| wire(bit).is_none()) {
        return format!(".{}()", port.name);
    }
    let wires: Vec<&str> = bits.iter().map(|bit| wire(bit).map_or("1'bz", String::as_str)).collect();
    format!(".{}({{{}}})", port.name, wires.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NETLIST: &str = r#"(edif top (edifVersion 2 0 0)
      (external LIB (cell LUT2 (view V (interface (port O (direction OUTPUT)) (port I0 (direction INPUT)) (port I1 (direction INPUT)))))
        (cell RAM (view V (interface (port (array (rename A "A[2:0]") 3) (direction INPUT)) (port Q (direction OUTPUT))))))
      (library DESIGN (cell top (view V (interface (port (array (rename a "a[2:0]") 3) (direction INPUT)) (port y (direction OUTPUT)))
        (contents
          (instance (rename id0 "x$1") (viewRef V (cellRef LUT2 (libraryRef LIB))) (property INIT (integer 8)))
          (instance id1 (viewRef V (cellRef RAM (libraryRef LIB))) (property INIT (string "36'h00f")) (property MODE (string "FIRST")))
          (net n0 (joined (portRef (member a 0)) (portRef I0 (instanceRef id0)) (portRef (member A 2) (instanceRef id1))))
          (net n1 (joined (portRef Q (instanceRef id1)) (portRef I1 (instanceRef id0))))
          (net (rename n2 "y") (joined (portRef O (instanceRef id0)) (portRef y)))))))
      (design top (cellRef top (libraryRef DESIGN))))"#;

    #[test]
    fn a_netlist_becomes_a_module() {
        let text = to_verilog(NETLIST).unwrap();
        for line in [
            "    input [2:0] a,",
            "assign w0 = a[2];",
            "assign y = w2;",
            "LUT2 #(.INIT(8)) id0 (.O({w2}), .I0({w0}), .I1({w1}));",
            "RAM #(.INIT(36'h00f), .MODE(\"FIRST\")) id1 (.A({1'bz, 1'bz, w0}), .Q({w1}));",
        ] {
            assert!(text.contains(line), "{line} in\n{text}");
        }
    }

    #[test]
    fn what_goes_both_ways_stays_one_net() {
        let text =
            to_verilog(&NETLIST.replace("3) (direction INPUT)) (port y", "3) (direction INOUT)) (port y"))
                .unwrap();
        for line in ["    inout [2:0] a,", ".I0({a[2]})", ".A({1'bz, 1'bz, a[2]})"] {
            assert!(text.contains(line), "{line} in\n{text}");
        }
        assert!(!text.contains("wire w0;") && !text.contains("= a[2]"), "{text}");
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        for (from, to) in [
            ("(member a 0)", "(member a 3)"),
            ("(member a 0)", "a"),
            ("portRef Q", "portRef R"),
            ("cellRef RAM", "cellRef ROM"),
            ("(portRef y)", "(portRef (member a 0))"),
            ("(design top", "(nothing"),
            ("a[2:0]", "a"),
        ] {
            assert!(to_verilog(&NETLIST.replacen(from, to, 1)).is_err(), "{from} -> {to}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(cut in 0..NETLIST.len(), junk in "[()\" a-z0-9]{0,40}") {
            let _ = to_verilog(&NETLIST[..cut]);
            let _ = to_verilog(&junk);
            let _ = to_verilog(&format!("{}{junk}{}", &NETLIST[..cut], &NETLIST[cut..]));
        }
    }
}
