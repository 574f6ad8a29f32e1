//! Files that another writer makes: a circuit its waveforms, a library what it has only a path for.

use super::{ASIDE, LOCK, Place, Whole, folder_of, sweep, sync_folder};
use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};
use tempfile::TempDir;

/// A place of its own beside a file to be, for a writer that has to be given a path. Without `finish` nothing has happened.
#[derive(Debug)]
pub struct Aside {
    folder: TempDir,
    /// Whoever holds this lock is at work here.
    _lock: File,
    to: PathBuf,
}

impl Aside {
    /// A place for what will be at this path; looks whether that can be written.
    pub fn begin(to: &Path) -> io::Result<Self> {
        drop(Whole::begin(to)?);
        // Where it is only to be renamed at the end; a device has no such place.
        let beside = match Place::of(to)? {
            Place::File { path, .. } => folder_of(&path).to_owned(),
            Place::Device => std::env::temp_dir(),
        };
        sweep(&beside);
        let folder = tempfile::Builder::new().prefix(ASIDE).tempdir_in(beside)?;
        let lock = File::create(folder.path().join(LOCK))?;
        let _ = lock.try_lock();
        Ok(Self { folder, _lock: lock, to: to.to_owned() })
    }

    /// Where the writer is to write.
    pub fn path(&self) -> PathBuf {
        self.folder.path().join("file")
    }

    /// What was written is there, whole, and on the disk. Nothing written is an error.
    pub fn finish(self) -> io::Result<()> {
        let from = self.path();
        let nothing = || io::Error::new(io::ErrorKind::UnexpectedEof, "nothing was written");
        let mut file = File::open(&from).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => nothing(),
            _ => error,
        })?;
        if file.metadata()?.len() == 0 {
            return Err(nothing());
        }
        match Place::of(&self.to)? {
            Place::Device => {
                let mut through = Whole::begin(&self.to)?;
                io::copy(&mut file, &mut through)?;
                through.finish()
            }
            Place::File { path, permissions } => {
                permissions.map_or(Ok(()), |permissions| file.set_permissions(permissions))?;
                file.sync_all()?;
                fs::rename(&from, &path)?;
                sync_folder(&path);
                Ok(())
            }
        }
    }
}
