//! Other programs: where they may come from.
//!
//! What is executed is the user's own choice, never a find: programs come from the folder that `NENDO_TOOLS` names, else
//! from `.tools` of the tree this program was built from, then from the search path. The current folder and what is above
//! it may hold anybody's files: they are not looked at, and entries of the search path that depend on it are skipped, for
//! the programs that are started as well.

use std::{
    env,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// A variable that does not say where.
#[derive(Debug, thiserror::Error)]
#[error("{name} is `{value}`: an absolute path is needed, which means the same from every folder")]
pub struct Relative {
    name: &'static str,
    value: String,
}

/// Whether the variables that name programs and their folders mean the same from every folder.
pub fn check() -> Result<(), Relative> {
    for name in ["NENDO_TOOLS", "NENDO_PYTHON", "NENDO_VERILATOR", "NENDO_CACHE"] {
        if let Some(value) = variable(name).filter(|value| !value.is_absolute()) {
            return Err(Relative { name, value: value.display().to_string() });
        }
    }
    Ok(())
}

/// A variable that is not empty, as a path.
pub(crate) fn variable(name: &str) -> Option<PathBuf> {
    env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// The folder of private tools: `NENDO_TOOLS`, else `.tools` of the tree this was built from, if that is the user's.
pub fn private_folder() -> Option<PathBuf> {
    match variable("NENDO_TOOLS") {
        Some(named) => Some(named).filter(|folder| folder.is_absolute()),
        None => Some(own(Path::new(env!("CARGO_MANIFEST_DIR")).parent()?)?),
    }
}

/// `.tools` of a tree that is the user's own.
fn own(tree: &Path) -> Option<PathBuf> {
    let tools = tree.join(".tools");
    (belongs_to_user(tree) && belongs_to_user(&tools)).then_some(tools)
}

/// Whether a folder is there, the user's, and not everybody's to write into.
#[cfg(unix)]
fn belongs_to_user(folder: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let user = rustix::process::geteuid().as_raw();
    fs::metadata(folder).is_ok_and(|data| data.is_dir() && data.uid() == user && data.mode() & 0o002 == 0)
}

#[cfg(not(unix))]
fn belongs_to_user(folder: &Path) -> bool {
    folder.is_dir()
}

/// Folders of the search path that mean the same from every folder.
fn search_path() -> Vec<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).filter(|folder| folder.is_absolute()).collect()
}

/// All programs of a name, or of an absolute path, in the order they are to be tried.
pub fn find_all(name: &str) -> Vec<PathBuf> {
    if Path::new(name).components().count() != 1 {
        return Some(PathBuf::from(name)).filter(|p| p.is_absolute() && is_program(p)).into_iter().collect();
    }
    let private =
        private_folder().into_iter().flat_map(|tools| [tools.join("bin"), tools.join("python/bin")]);
    private.chain(search_path()).map(|folder| folder.join(name)).filter(|file| is_program(file)).collect()
}

/// The program of a name, or of an absolute path.
pub fn find(name: &str) -> Option<PathBuf> {
    find_all(name).into_iter().next()
}

/// Folders of Python packages: of the environment that `NENDO_PYTHON` names, and of the private one.
pub fn python_packages() -> Vec<PathBuf> {
    let named = variable("NENDO_PYTHON").filter(|folder| folder.is_absolute());
    let private = private_folder().map(|tools| tools.join("python"));
    let versions =
        named.into_iter().chain(private).filter_map(|folder| fs::read_dir(folder.join("lib")).ok());
    versions.flatten().flatten().map(|version| version.path().join("site-packages")).collect()
}

/// A program to be started, whose own search path has nothing that depends on the current folder.
pub fn command(program: &Path) -> Command {
    let mut command = Command::new(program);
    // Joined again, what was split has no separators in it.
    command.env("PATH", env::join_paths(search_path()).unwrap_or_else(|_| OsString::new()));
    command
}

fn is_program(file: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::metadata(file).is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
    }
    #[cfg(not(unix))]
    file.is_file()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_tree_that_is_not_the_users_has_no_tools() {
        let tree = tempfile::tempdir().unwrap();
        let tools = tree.path().join(".tools");
        assert_eq!(own(tree.path()), None);
        fs::create_dir(&tools).unwrap();
        assert_eq!(own(tree.path()), Some(tools.clone()));
        for folder in [&tools, tree.path()] {
            let mode = |mode| fs::set_permissions(folder, fs::Permissions::from_mode(mode)).unwrap();
            mode(0o777);
            assert_eq!(own(tree.path()), None, "{}", folder.display());
            mode(0o755);
        }
        // Somebody else's, where one may give away.
        if std::os::unix::fs::chown(&tools, Some(65_534), None).is_ok() {
            assert_eq!(own(tree.path()), None);
        }
    }

    #[test]
    fn a_path_that_depends_on_the_current_folder_is_no_program() {
        assert!(find("sh").is_some_and(|path| path.is_absolute()));
        assert_eq!(find("/bin/sh"), Some(PathBuf::from("/bin/sh")));
        for name in ["./sh", "bin/sh", "../bin/sh", "no-such-program-here", "", "."] {
            assert_eq!(find(name), None, "{name}");
        }
    }
}
