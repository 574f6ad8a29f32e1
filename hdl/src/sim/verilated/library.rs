//! The loaded library: the one place in this crate that calls foreign code.
#![allow(unsafe_code)]

use super::VerilatedError;
use std::{
    ffi::{CString, c_char, c_void},
    path::Path,
};

type Handle = *mut c_void;

/// A circuit's C interface and one instance of the circuit.
pub(super) struct Library {
    handle: Handle,
    free: unsafe extern "C" fn(Handle),
    set: unsafe extern "C" fn(Handle, u32, u32, u32),
    get: unsafe extern "C" fn(Handle, u32, u32) -> u32,
    eval: unsafe extern "C" fn(Handle),
    tick: unsafe extern "C" fn(Handle, u64),
    trace: Option<unsafe extern "C" fn(Handle, *const c_char)>,
    coverage: Option<unsafe extern "C" fn(Handle, *const c_char)>,
    // Declared last, dropped last: the functions above live in it.
    _library: libloading::Library,
}

// The instance has no thread of its own and no thread-local state; it may move, but not be shared.
unsafe impl Send for Library {}

impl Library {
    /// Loads a library that `build` made and creates an instance.
    pub(super) fn open(path: &Path) -> Result<Self, VerilatedError> {
        let fail = |error: libloading::Error| VerilatedError::Load {
            path: path.display().to_string(),
            error: error.to_string(),
        };
        // SAFETY: the file was compiled from our own shim and Verilator's output; its initialisers only set
        // up C++ statics. The signatures below are those of the shim, which is part of the cache's key.
        unsafe {
            let library = libloading::Library::new(path).map_err(fail)?;
            let new = *library.get::<unsafe extern "C" fn() -> Handle>(b"nendo_new").map_err(fail)?;
            let free = *library.get(b"nendo_free").map_err(fail)?;
            let set = *library.get(b"nendo_set").map_err(fail)?;
            let get = *library.get(b"nendo_get").map_err(fail)?;
            let eval = *library.get(b"nendo_eval").map_err(fail)?;
            let tick = *library.get(b"nendo_tick").map_err(fail)?;
            let trace = library.get(b"nendo_trace").ok().map(|f| *f);
            let coverage = library.get(b"nendo_coverage").ok().map(|f| *f);
            Ok(Self { handle: new(), free, set, get, eval, tick, trace, coverage, _library: library })
        }
    }

    pub(super) fn set(&mut self, port: u32, word: u32, value: u32) {
        // SAFETY: `handle` is alive; the caller's port and word are checked against the module's ports.
        unsafe { (self.set)(self.handle, port, word, value) }
    }

    pub(super) fn get(&self, port: u32, word: u32) -> u32 {
        // SAFETY: as for `set`; reading does not change the instance.
        unsafe { (self.get)(self.handle, port, word) }
    }

    pub(super) fn eval(&mut self) {
        // SAFETY: `handle` is alive and not shared.
        unsafe { (self.eval)(self.handle) }
    }

    pub(super) fn tick(&mut self, clocks: u64) {
        // SAFETY: `handle` is alive and not shared.
        unsafe { (self.tick)(self.handle, clocks) }
    }

    pub(super) fn trace(&mut self, file: Option<&Path>) -> Result<(), VerilatedError> {
        let trace = self.trace.ok_or(VerilatedError::Without("waveforms"))?;
        let name = file.map(c_path).transpose()?;
        // SAFETY: `handle` is alive; the name outlives the call, and null means "stop".
        unsafe { trace(self.handle, name.as_ref().map_or(std::ptr::null(), |n| n.as_ptr())) }
        Ok(())
    }

    pub(super) fn coverage(&mut self, file: &Path) -> Result<(), VerilatedError> {
        let coverage = self.coverage.ok_or(VerilatedError::Without("coverage"))?;
        let name = c_path(file)?;
        // SAFETY: `handle` is alive; the name outlives the call.
        unsafe { coverage(self.handle, name.as_ptr()) }
        Ok(())
    }
}

fn c_path(path: &Path) -> Result<CString, VerilatedError> {
    CString::new(path.display().to_string()).map_err(|_| VerilatedError::File {
        path: path.display().to_string(),
        error: std::io::ErrorKind::InvalidInput.into(),
    })
}

impl Drop for Library {
    fn drop(&mut self) {
        // SAFETY: made by `nendo_new`, freed once, and the library is still loaded.
        unsafe { (self.free)(self.handle) }
    }
}
