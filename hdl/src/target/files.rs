//! Where a target's files come from: the folders of `bitstreams/`, which the build script puts into the program, or a
//! folder of the user's.

use super::TargetError;
use std::{
    borrow::Cow,
    fs, io,
    path::{Component, Path, PathBuf},
};

/// A folder that is built in: its name, and the names and texts of its files.
#[derive(Debug, PartialEq)]
struct Folder {
    name: &'static str,
    files: &'static [(&'static str, &'static str)],
}

include!(concat!(env!("OUT_DIR"), "/targets.rs"));

/// The files of a target.
#[derive(Clone, Debug, PartialEq)]
pub struct Files(Place);

#[derive(Clone, Debug, PartialEq)]
enum Place {
    BuiltIn(&'static Folder),
    Disk(PathBuf),
}

/// Those that all targets share.
impl Default for Files {
    fn default() -> Self {
        Self(Place::BuiltIn(&SHARED))
    }
}

/// The names of the built-in targets, in alphabetical order.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    TARGETS.iter().map(|folder| folder.name)
}

impl Files {
    /// A folder on disk.
    pub fn folder(path: &Path) -> Self {
        Self(Place::Disk(path.to_owned()))
    }

    /// The folder of a built-in target.
    pub(super) fn built_in(name: &str) -> Option<Self> {
        TARGETS.iter().find(|folder| folder.name == name).map(|folder| Self(Place::BuiltIn(folder)))
    }

    /// The folder's name, which is the target's.
    pub(super) fn name(&self) -> Result<String, TargetError> {
        match &self.0 {
            Place::BuiltIn(folder) => Ok(folder.name.to_owned()),
            Place::Disk(path) => {
                let whole = path.canonicalize().map_err(|e| self.error("", e))?;
                Ok(whole.file_name().unwrap_or_default().to_string_lossy().into_owned())
            }
        }
    }

    /// How messages name a file.
    pub(super) fn place(&self, name: &str) -> String {
        match &self.0 {
            Place::BuiltIn(folder) if folder.name == SHARED.name => format!("{}/{name}", SHARED.name),
            Place::BuiltIn(folder) => format!("{}/{}/{name}", SHARED.name, folder.name),
            Place::Disk(path) => path.join(name).display().to_string(),
        }
    }

    /// The names of all files.
    pub(super) fn list(&self) -> Vec<String> {
        match &self.0 {
            Place::BuiltIn(folder) => folder.files.iter().map(|(name, _)| (*name).to_owned()).collect(),
            Place::Disk(path) => {
                let entries = fs::read_dir(path).into_iter().flatten().flatten();
                entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
            }
        }
    }

    /// The text of a file.
    pub(super) fn read(&self, name: &str) -> Result<Cow<'static, str>, TargetError> {
        match &self.0 {
            Place::BuiltIn(folder) => {
                let text = folder.files.iter().find(|file| file.0 == name).map(|file| file.1);
                text.map(Cow::Borrowed).ok_or_else(|| self.error(name, io::ErrorKind::NotFound.into()))
            }
            Place::Disk(path) => from_disk(path, name).map(Cow::Owned).map_err(|e| self.error(name, e)),
        }
    }

    /// The text of a file, or of the shared one of that name.
    pub(super) fn read_or_shared(&self, name: &str) -> Result<Cow<'static, str>, TargetError> {
        match self.read(name) {
            Err(TargetError::File { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                Self::default().read(name).map_err(|_| self.error(name, source))
            }
            result => result,
        }
    }

    fn error(&self, name: &str, source: io::Error) -> TargetError {
        TargetError::File { file: self.place(name), source }
    }
}

/// Reads a file of a folder, and of no other: neither its name nor a link may lead out.
fn from_disk(folder: &Path, name: &str) -> io::Result<String> {
    let refused = |why: &str| Err(io::Error::new(io::ErrorKind::InvalidInput, why.to_owned()));
    if !is_plain(name) {
        return refused("a file is named without folders, and lies in the target's own");
    }
    let file = folder.join(name).canonicalize()?;
    if file.parent() != Some(folder.canonicalize()?.as_path()) {
        return refused("it leads out of the target's folder");
    }
    if !file.is_file() {
        return refused("not a file");
    }
    fs::read_to_string(file)
}

/// Whether a name is a file's, without any folder.
fn is_plain(name: &str) -> bool {
    let mut parts = Path::new(name).components();
    matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None)) && !name.contains(['/', '\\'])
}
