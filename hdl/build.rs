//! Puts the files of `bitstreams/` into the program: a folder with a `target.toml` is a target, what lies beside the
//! folders is shared. So a new folder is a new target, without a list of names anywhere.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
};

fn main() -> io::Result<()> {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").ok_or(io::ErrorKind::NotFound)?);
    let root = here.join("../bitstreams").canonicalize()?;
    // A folder's name stands for all that is in it.
    println!("cargo::rerun-if-changed={}", root.display());
    println!("cargo::rerun-if-changed=build.rs");
    let mut targets = String::new();
    for folder in entries(&root)?.iter().filter(|path| path.join("target.toml").is_file()) {
        targets += &format!("    {},\n", literal(folder)?);
    }
    let text = format!(
        "static TARGETS: &[Folder] = &[\n{targets}];\n\nstatic SHARED: Folder = {};\n",
        literal(&root)?
    );
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or(io::ErrorKind::NotFound)?);
    fs::write(out.join("targets.rs"), text)
}

/// What is in a folder, by name, without hidden files.
fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut list = fs::read_dir(folder)?.map(|e| e.map(|e| e.path())).collect::<io::Result<Vec<_>>>()?;
    list.retain(|path| !name(path).starts_with('.'));
    list.sort();
    Ok(list)
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// A folder and the text of its files, as Rust.
fn literal(folder: &Path) -> io::Result<String> {
    let files = entries(folder)?.into_iter().filter(|path| path.is_file());
    let files: String = files
        .map(|path| format!("({:?}, include_str!({:?})), ", name(&path), path.display().to_string()))
        .collect();
    Ok(format!("Folder {{ name: {:?}, files: &[{files}] }}", name(folder)))
}
