//! The digest of `cube9` after some steps, for a host that knows nothing but WebAssembly: no imports.
//! `tests/wasm/digest.mjs` prints it; `scripts/test wasm` compares it with the native one.
#![allow(unsafe_code, reason = "exported names are unsafe attributes; nothing else here is unsafe")]

use nendo_model::{
    engine::{self, Options},
    scene::Scene,
};
use std::sync::OnceLock;

static DIGEST: OnceLock<String> = OnceLock::new();

/// Runs `cube9` on the bit-accurate model; the address of the digest's 64 characters, or null if it failed. The first
/// call decides how many steps.
#[unsafe(no_mangle)]
pub extern "C" fn digest(steps: u32) -> *const u8 {
    let run = || {
        let scene = Scene::open("cube9").ok()?;
        let mut engine = engine::open(&scene, &Options::default()).ok()?;
        engine.advance(steps.into()).ok()?;
        engine.state_digest().ok()
    };
    let digest = DIGEST.get_or_init(|| run().unwrap_or_default());
    if digest.is_empty() { std::ptr::null() } else { digest.as_ptr() }
}
