//! A strict front end to rust-hdl: circuits whose widths are known when they are elaborated.
//!
//! rust-hdl's own translator (`#[hdl_gen]`) works on tokens: it knows neither widths nor signs, and some
//! expressions silently mean something else in Verilog. Its widths are also types, while ours come from the
//! number contract of a profile. So circuits are built here by functions on [`Net`]s: every operation
//! checks widths and pipeline stages when it is made, is explicit about signs, and becomes one line of
//! Verilog. The result, a [`Module`], is a rust-hdl block: rust-hdl checks and generates the hierarchy, and
//! [`verilog`] rewrites its output with shared modules, ANSI headers and plain names.
//!
//! # Without rust-hdl
//!
//! rust-hdl has had no release since 2023. All we use of it is in `module.rs` and `tidy.rs`: the traits `Block` and `Logic`,
//! which a [`Module`] implements with its ports as atoms and its body as custom text, the check for unconnected and doubly
//! driven signals, and `generate_verilog`, which walks the hierarchy and prints a module per instance. [`verilog`] reads
//! that text again to share equal modules. Without it, `Module` would lose its trait implementations (90 lines), `verilog`
//! would print every distinct module once, children first, from what a `Module` holds already (ports, children, text),
//! instead of parsing (220 lines would become about 60), and the check would be one pass over each module's nets, which
//! [`Build`] knows. The golden list of all Verilog would tell whether the result is the same.
//!
//! Pipeline stages: a net of stage k carries the item that entered k clocks ago. Nets of different stages
//! do not meet; [`Build::align`] delays the earlier ones. Static nets (configuration, control) go with all.
//!
//! ```
//! use nendo_hdl::circuit::{Build, verilog};
//! let mut b = Build::new("sum", "q = a + b, one clock later");
//! let (a, c) = (b.pipe_input("a", 8), b.pipe_input("b", 8));
//! let sum = b.add(&a, &c);
//! let sum = b.reg(&sum);
//! b.output("q", &sum);
//! let module = b.finish();
//! assert_eq!(module.latency("q"), 1);
//! assert!(verilog(&module, "sum").contains("module sum"));
//! ```

mod build;
pub mod delay;
mod module;
mod tidy;

pub use build::{Build, Net, Outputs, State};
pub use module::{Direction, Module, Port};
pub use tidy::verilog;
