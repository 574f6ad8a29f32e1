//! Building circuits: nets, operations on them, registers, delay lines and instances.

mod operations;

use super::module::{Direction, Module, Port};
use crate::circuit::delay;
use std::{collections::HashMap, fmt::Write, rc::Rc};

/// A signal: its name (or a literal), width and pipeline stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Net {
    text: Rc<str>,
    bits: u32,
    stage: Option<u32>,
}

impl Net {
    /// Its width.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// Its pipeline stage; `None` for static nets.
    pub fn stage(&self) -> Option<u32> {
        self.stage
    }

    /// Its name in Verilog, for text that is written by hand.
    pub fn name(&self) -> &str {
        &self.text
    }

    /// The same signal taken out of its pipeline, for control that times itself.
    pub fn as_static(&self) -> Self {
        Self { stage: None, ..self.clone() }
    }

    /// The same signal declared to belong to a stage, for control that issues items.
    pub fn at_stage(&self, stage: u32) -> Self {
        Self { stage: Some(stage), ..self.clone() }
    }
}

/// A register whose next value is set later: for state that feeds back on itself.
#[derive(Debug)]
#[must_use = "a register without a next value would never change"]
pub struct State {
    net: Net,
}

impl State {
    /// Its present value.
    pub fn value(&self) -> &Net {
        &self.net
    }
}

/// The outputs of an instance.
#[derive(Clone, Debug)]
pub struct Outputs {
    nets: HashMap<String, Net>,
}

impl Outputs {
    /// An output by name.
    ///
    /// # Panics
    /// If there is none.
    pub fn get(&self, name: &str) -> Net {
        self.nets.get(name).unwrap_or_else(|| panic!("no output {name}")).clone()
    }

    /// Outputs `name0`, `name1` and `name2`.
    pub fn get3(&self, name: &str) -> [Net; 3] {
        std::array::from_fn(|k| self.get(&format!("{name}{k}")))
    }
}

/// A circuit in the making.
///
/// # Panics
/// Every method panics when widths or stages do not fit: such a circuit must not be elaborated.
#[derive(Debug)]
pub struct Build {
    kind: String,
    doc: String,
    ports: Vec<Port>,
    children: Vec<(String, Rc<Module>)>,
    body: String,
    /// Right-hand sides of the clocked block.
    clocked: Vec<(String, String)>,
    connections: String,
    outputs: String,
    delayed: HashMap<String, Vec<Net>>,
    /// Verilog of nets already made, so that equal expressions share one.
    known: HashMap<String, Net>,
    count: u32,
    /// Forward wires that nothing drives yet.
    undriven: Vec<String>,
}

/// Words of (System)Verilog that cannot be names.
const RESERVED: &str = include_str!("reserved.txt");

fn range(bits: u32) -> String {
    if bits == 1 { String::new() } else { format!("[{}:0] ", bits - 1) }
}

impl Build {
    /// An empty circuit. `kind` is its name in Verilog, `doc` a sentence about it.
    pub fn new(kind: impl Into<String>, doc: impl Into<String>) -> Self {
        let mut build = Self {
            kind: kind.into(),
            doc: doc.into(),
            ports: Vec::new(),
            children: Vec::new(),
            body: String::new(),
            clocked: Vec::new(),
            connections: String::new(),
            outputs: String::new(),
            delayed: HashMap::new(),
            known: HashMap::new(),
            count: 0,
            undriven: Vec::new(),
        };
        build.input("clock", 1);
        build
    }

    fn port(&mut self, name: &str, bits: u32, direction: Direction, stage: Option<u32>) {
        assert!(bits > 0, "{}.{name}: no width", self.kind);
        let reserved = RESERVED.split_whitespace().any(|word| word == name);
        assert!(!reserved, "{}.{name} is a word of Verilog's own", self.kind);
        assert!(self.ports.iter().all(|p| p.name != name), "{}.{name} twice", self.kind);
        self.ports.push(Port { name: name.to_owned(), bits, direction, stage });
    }

    /// A static input: configuration or control.
    pub fn input(&mut self, name: &str, bits: u32) -> Net {
        self.port(name, bits, Direction::In, None);
        Net { text: name.into(), bits, stage: None }
    }

    /// An input of the pipeline's first stage.
    pub fn pipe_input(&mut self, name: &str, bits: u32) -> Net {
        self.input_at(name, bits, 0)
    }

    /// An input that arrives some stages after the first ones.
    pub fn input_at(&mut self, name: &str, bits: u32, stage: u32) -> Net {
        self.port(name, bits, Direction::In, Some(stage));
        Net { text: name.into(), bits, stage: Some(stage) }
    }

    /// Three inputs `name0` to `name2` of the first stage.
    pub fn pipe_inputs(&mut self, name: &str, bits: u32) -> [Net; 3] {
        std::array::from_fn(|k| self.pipe_input(&format!("{name}{k}"), bits))
    }

    /// An output.
    pub fn output(&mut self, name: &str, net: &Net) {
        self.port(name, net.bits, Direction::Out, net.stage);
        let _ = writeln!(self.outputs, "always @(*) {name} = {};", net.text);
    }

    /// Three outputs `name0` to `name2`.
    pub fn output3(&mut self, name: &str, nets: &[Net; 3]) {
        for (k, net) in nets.iter().enumerate() {
            self.output(&format!("{name}{k}"), net);
        }
    }

    /// A comment line in the Verilog.
    pub fn comment(&mut self, text: &str) {
        let _ = writeln!(self.body, "\n// {text}");
    }

    /// Verilog written by hand; it may name nets of this circuit.
    pub fn verbatim(&mut self, text: &str) {
        self.body.push_str(text);
        self.body.push('\n');
    }

    fn fresh(&mut self, prefix: &str) -> String {
        self.count += 1;
        format!("{prefix}{}", self.count)
    }

    /// The common stage of some nets.
    fn stage_of(&self, nets: &[&Net]) -> Option<u32> {
        let mut stage = None;
        for net in nets {
            match (stage, net.stage) {
                (Some(a), Some(b)) => assert_eq!(a, b, "{}: stages of {nets:?} differ", self.kind),
                (None, s) => stage = s,
                (s, None) => stage = s,
            }
        }
        stage
    }

    fn same_bits(&self, nets: &[&Net]) -> u32 {
        let bits = nets[0].bits;
        assert!(nets.iter().all(|n| n.bits == bits), "{}: widths of {nets:?} differ", self.kind);
        bits
    }

    fn wire(&mut self, bits: u32, stage: Option<u32>, expression: String) -> Net {
        if let Some(net) = self.known.get(&expression).filter(|n| n.stage == stage && n.bits == bits) {
            return net.clone();
        }
        let name = self.fresh("n");
        let _ = writeln!(self.body, "wire {}{name} = {expression};", range(bits));
        let net = Net { text: name.into(), bits, stage };
        self.known.insert(expression, net.clone());
        net
    }

    /// A wire that a hand-written piece of Verilog drives: declared here, assigned there.
    pub fn declared(&mut self, name: &str, bits: u32, stage: Option<u32>) -> Net {
        Net { text: name.into(), bits, stage }
    }

    /// A static wire that is used before it is driven: [`Build::drive`] says by what.
    pub fn forward(&mut self, name: &str, bits: u32) -> Net {
        let _ = writeln!(self.body, "wire {}{name};", range(bits));
        self.undriven.push(name.to_owned());
        Net { text: name.into(), bits, stage: None }
    }

    /// Drives a wire that was declared by [`Build::forward`].
    pub fn drive(&mut self, net: &Net, source: &Net) {
        assert_eq!(net.bits, source.bits, "{}: {net:?} = {source:?}", self.kind);
        let known = self.undriven.iter().position(|name| *name == *net.text);
        self.undriven.remove(known.unwrap_or_else(|| panic!("{}: {net:?} is driven twice", self.kind)));
        let _ = writeln!(self.body, "assign {} = {};", net.text, source.text);
    }

    /// Gives a net a name of its own.
    pub fn named(&mut self, name: &str, net: &Net) -> Net {
        let _ = writeln!(self.body, "wire {}{name} = {};", range(net.bits), net.text);
        Net { text: name.into(), ..net.clone() }
    }

    /// A constant; negative ones as two's complement.
    pub fn constant(&self, value: i64, bits: u32) -> Net {
        let top = value >> (bits - 1).min(63);
        assert!(top == 0 || top == -1 || (value >= 0 && top == 1), "{value} in {bits} bits");
        let raw = if bits < 64 { value as u64 & ((1 << bits) - 1) } else { value as u64 };
        assert!(bits <= 64 || value >= 0, "{value} in {bits} bits");
        Net { text: format!("{bits}'h{raw:x}").into(), bits, stage: None }
    }

    /// A register: the value one clock later.
    pub fn reg(&mut self, a: &Net) -> Net {
        let name = self.fresh("r");
        let _ = writeln!(self.body, "reg {}{name};", range(a.bits));
        self.clocked.push((name.clone(), a.text.to_string()));
        Net { text: name.into(), bits: a.bits, stage: a.stage.map(|s| s + 1) }
    }

    /// A register that starts at zero, for bits that say whether an item is one.
    pub fn reg_from_zero(&mut self, a: &Net) -> Net {
        let late = self.reg(a);
        let _ = writeln!(self.body, "initial {} = {}'h0;", late.text, a.bits);
        late
    }

    /// Registers for three.
    pub fn reg3(&mut self, a: &[Net; 3]) -> [Net; 3] {
        std::array::from_fn(|k| self.reg(&a[k]))
    }

    /// A register that starts at zero and whose next value is given by [`Build::set`].
    pub fn state(&mut self, name: &str, bits: u32) -> State {
        let _ = writeln!(self.body, "reg {}{name};\ninitial {name} = {bits}'h0;", range(bits));
        State { net: Net { text: name.into(), bits, stage: None } }
    }

    /// Sets the next value of a state.
    pub fn set(&mut self, state: State, next: &Net) {
        assert_eq!(state.net.bits, next.bits, "{}: {state:?} = {next:?}", self.kind);
        self.clocked.push((state.net.text.to_string(), next.text.to_string()));
    }

    /// A static register that starts at zero: the value one clock later.
    pub fn state_reg(&mut self, name: &str, next: &Net) -> Net {
        let state = self.state(name, next.bits);
        let value = state.value().clone();
        self.set(state, next);
        value
    }

    /// The value `clocks` later, through a delay line that is shared with other delays of the same net.
    pub fn delay(&mut self, a: &Net, clocks: u32) -> Net {
        let Some(from) = a.stage else { return a.clone() };
        self.until(a, from + clocks)
    }

    /// The net delayed to a later stage.
    pub fn until(&mut self, a: &Net, stage: u32) -> Net {
        let Some(from) = a.stage.filter(|&s| s != stage) else { return a.clone() };
        assert!(from < stage, "{}: {a:?} is already past stage {stage}", self.kind);
        let known = self.delayed.get(&*a.text).into_iter().flatten();
        let nearest = known.filter(|n| n.stage <= Some(stage)).max_by_key(|n| n.stage).cloned();
        let start = nearest.unwrap_or_else(|| a.clone());
        let clocks = stage - start.stage.unwrap_or(from);
        let late = match clocks {
            0 => return start,
            1 => self.reg(&start),
            _ => {
                let line = Rc::new(delay::delay(a.bits, clocks));
                let name = self.fresh("delay");
                self.instance(&name, &line, &[("d", &start)]).get("q")
            }
        };
        self.delayed.entry(a.text.to_string()).or_default().push(late.clone());
        late
    }

    /// All nets delayed to the latest stage among them.
    pub fn align<const N: usize>(&mut self, nets: [&Net; N]) -> [Net; N] {
        let stage = nets.iter().filter_map(|n| n.stage).max();
        std::array::from_fn(|k| stage.map_or_else(|| nets[k].clone(), |s| self.until(nets[k], s)))
    }

    /// Three nets delayed to a later stage.
    pub fn until3(&mut self, nets: &[Net; 3], stage: u32) -> [Net; 3] {
        std::array::from_fn(|k| self.until(&nets[k], stage))
    }

    /// An instance of another circuit. The clock connects itself; every other input must be given.
    pub fn instance(&mut self, name: &str, module: &Rc<Module>, inputs: &[(&str, &Net)]) -> Outputs {
        assert!(self.children.iter().all(|(n, _)| n != name), "{}: instance {name} twice", self.kind);
        let mut base: Option<u32> = None;
        for (port, net) in inputs {
            let Port { bits, direction, stage, .. } = module.port(port);
            assert_eq!(*direction, Direction::In, "{}: {name}.{port} is an output", self.kind);
            assert_eq!(*bits, net.bits, "{}: width of {name}.{port} = {net:?}", self.kind);
            if let (Some(offset), Some(stage)) = (stage, net.stage) {
                let start = stage.checked_sub(*offset);
                assert!(
                    start.is_some(),
                    "{}: {name}.{port} = {net:?} is too early for stage {offset}",
                    self.kind
                );
                assert!(
                    base.is_none() || base == start,
                    "{}: {name}.{port} = {net:?} is out of step",
                    self.kind
                );
                base = start;
            }
        }
        let mut nets = HashMap::new();
        for port in module.ports() {
            let given = inputs.iter().find(|(n, _)| *n == port.name).map(|(_, net)| net.text.to_string());
            match port.direction {
                Direction::In => {
                    let value = given.or_else(|| (port.name == "clock").then(|| "clock".to_owned()));
                    let value =
                        value.unwrap_or_else(|| panic!("{}: {name}.{} is open", self.kind, port.name));
                    let _ = writeln!(self.connections, "always @(*) {name}${} = {value};", port.name);
                }
                Direction::Out => {
                    let text = format!("{name}${}", port.name).into();
                    let stage = port.stage.and_then(|s| Some(s + base?));
                    nets.insert(port.name.clone(), Net { text, bits: port.bits, stage });
                }
            }
        }
        self.children.push((name.to_owned(), Rc::clone(module)));
        Outputs { nets }
    }

    /// The finished circuit.
    pub fn finish(self) -> Module {
        assert!(self.undriven.is_empty(), "{}: nothing drives {:?}", self.kind, self.undriven);
        let mut rest = String::new();
        if !self.clocked.is_empty() {
            rest.push_str("\nalways @(posedge clock) begin\n");
            for (register, value) in &self.clocked {
                let _ = writeln!(rest, "   {register} <= {value};");
            }
            rest.push_str("end\n");
        }
        rest.push_str(&self.connections);
        rest.push_str(&self.outputs);
        let body = without_unused(&self.body, &rest);
        let doc = self.doc.replace('\n', "\n// ");
        let text = format!("// kind: {}\n// {doc}\n{body}{rest}", self.kind);
        Module { kind: self.kind, ports: self.ports, children: self.children, text }
    }
}

/// The names in a piece of Verilog.
fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '$'))
}

/// The body without wires that nothing uses.
fn without_unused(body: &str, rest: &str) -> String {
    let mut uses: HashMap<&str, usize> = HashMap::new();
    names(body).chain(names(rest)).for_each(|name| *uses.entry(name).or_default() += 1);
    let lines: Vec<&str> = body.lines().collect();
    let mut dropped = vec![false; lines.len()];
    // Wires use only wires above them, so one pass from below finds all.
    for (k, line) in lines.iter().enumerate().rev() {
        let declared = line.strip_prefix("wire ").and_then(|l| l.split_once(" = ")).map(|(left, _)| left);
        let name = declared.and_then(|left| left.split_whitespace().last());
        if name.is_some_and(|name| uses.get(name) == Some(&1)) {
            dropped[k] = true;
            for used in names(line) {
                uses.entry(used).and_modify(|count| *count -= 1);
            }
        }
    }
    let kept =
        lines.iter().zip(&dropped).filter(|(_, dropped)| !**dropped).map(|(line, _)| format!("{line}\n"));
    kept.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build() -> Build {
        Build::new("test", "a test")
    }

    #[test]
    #[should_panic(expected = "differ")]
    fn widths_must_agree() {
        let mut b = build();
        let (x, y) = (b.input("x", 4), b.input("y", 5));
        b.add(&x, &y);
    }

    #[test]
    #[should_panic(expected = "stages")]
    fn stages_must_agree() {
        let mut b = build();
        let x = b.pipe_input("x", 4);
        let later = b.reg(&x);
        b.add(&x, &later);
    }

    #[test]
    #[should_panic(expected = "is open")]
    fn inputs_must_be_connected() {
        let mut inner = Build::new("inner", "");
        let x = inner.input("x", 1);
        inner.output("y", &x);
        let inner = Rc::new(inner.finish());
        build().instance("i", &inner, &[]);
    }

    #[test]
    #[should_panic(expected = "out of step")]
    fn instances_check_stages() {
        let mut inner = Build::new("inner", "");
        let (x, y) = (inner.pipe_input("x", 1), inner.input_at("y", 1, 2));
        inner.output("a", &x);
        inner.output("b", &y);
        let inner = Rc::new(inner.finish());
        let mut b = build();
        let (x, y) = (b.pipe_input("x", 1), b.pipe_input("y", 1));
        let y = b.delay(&y, 3);
        b.instance("i", &inner, &[("x", &x), ("y", &y)]);
    }

    #[test]
    fn delays_are_shared() {
        let mut b = build();
        let x = b.pipe_input("x", 4);
        let (three, five) = (b.until(&x, 3), b.until(&x, 5));
        assert_eq!(b.until(&x, 3), three);
        assert_eq!((five.stage(), b.children.len()), (Some(5), 2));
        let sizes: Vec<&str> = b.children.iter().map(|(_, m)| m.kind()).collect();
        assert_eq!(sizes, ["delay_4x3", "delay_4x2"]);
    }
}
