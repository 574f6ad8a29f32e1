//! The fuzzer of one parser, named by `NENDO_PARSER`; `NENDO_SEEDS` names a folder to write its samples into, and then
//! that is all.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nendo_fuzz::{Parser, parser};
use std::{env, fs, path::Path, process, sync::OnceLock};

static PARSER: OnceLock<&Parser> = OnceLock::new();

fn begin() {
    let name = env::var("NENDO_PARSER").unwrap_or_default();
    let Some(found) = parser(&name) else {
        eprintln!("NENDO_PARSER is `{name}`: no parser; see fuzz/src/lib.rs");
        process::exit(2);
    };
    if let Some(folder) = env::var_os("NENDO_SEEDS") {
        for (k, seed) in found.seeds().iter().enumerate() {
            fs::write(Path::new(&folder).join(format!("seed-{k}")), seed).expect("a sample can be written");
        }
        process::exit(0);
    }
    let _ = PARSER.set(found);
}

fuzz_target!(
    init: begin(),
    |bytes: &[u8]| {
        if let Some(parser) = PARSER.get() {
            (parser.run)(bytes);
        }
    }
);
