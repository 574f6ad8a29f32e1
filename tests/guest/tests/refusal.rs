//! The program for a virtual machine, started anywhere else.

use std::process::Command;

/// It mounts, loads modules and switches off: a user who starts it by hand is told, and nothing happens.
#[test]
fn as_an_ordinary_program_it_does_nothing_but_say_so() {
    let out = Command::new(env!("CARGO_BIN_EXE_nendo-guest")).args(["--scene", "single"]).output().unwrap();
    let text = String::from_utf8(out.stderr).unwrap();
    assert_eq!((out.status.code(), out.stdout), (Some(2), Vec::new()), "{text}");
    assert!(text.contains("the first process of a virtual machine"), "{text}");
}
