//! Sockets of our own in the file system.

use crate::sys;
use std::{
    fs, io,
    os::unix::{
        fs::{FileTypeExt, MetadataExt},
        net::{UnixListener, UnixStream},
    },
    path::{Path, PathBuf},
};

/// Why there can be no socket at a path.
#[derive(Debug, thiserror::Error)]
pub enum SocketError {
    /// Somebody listens there.
    #[error("{} is in use by another server; choose another path", .0.display())]
    InUse(PathBuf),
    /// Something else is there.
    #[error("{} is {what}, and stays as it is; choose another path, or remove it yourself", path.display())]
    Occupied {
        /// The path.
        path: PathBuf,
        /// What it is.
        what: &'static str,
    },
    /// What the system says.
    #[error("{}: {error}", path.display())]
    Io {
        /// The path.
        path: PathBuf,
        /// What happened.
        error: io::Error,
    },
}

/// Where a socket of ours is: it goes when this is told to, and nothing else does.
#[derive(Clone, Debug)]
pub struct SocketPlace {
    path: PathBuf,
    /// Device and number of the inode.
    is: (u64, u64),
}

impl SocketPlace {
    /// Listens at a path. A socket of this user's that nobody listens on any more is replaced, and nothing else.
    pub fn listen(path: &Path) -> Result<(Self, UnixListener), SocketError> {
        make_room(path)?;
        let io = |error| SocketError::Io { path: path.to_owned(), error };
        let listener = UnixListener::bind(path).map_err(io)?;
        let there = fs::symlink_metadata(path).map_err(io)?;
        Ok((Self { path: path.to_owned(), is: (there.dev(), there.ino()) }, listener))
    }

    /// Removes the socket, if it is still this one.
    pub fn remove(&self) {
        if fs::symlink_metadata(&self.path).is_ok_and(|there| (there.dev(), there.ino()) == self.is) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Removes a dead socket of this user's; refuses whatever else is there.
fn make_room(path: &Path) -> Result<(), SocketError> {
    let io = |error| SocketError::Io { path: path.to_owned(), error };
    let occupied = |what| Err(SocketError::Occupied { path: path.to_owned(), what });
    let there = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        there => there.map_err(io)?,
    };
    let kind = there.file_type();
    if kind.is_symlink() {
        return occupied("a link");
    }
    if kind.is_dir() {
        return occupied("a folder");
    }
    if !kind.is_socket() {
        return occupied(if kind.is_file() { "a file" } else { "a device or pipe" });
    }
    match UnixStream::connect(path) {
        Ok(_) => Err(SocketError::InUse(path.to_owned())),
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            if there.uid() != sys::user::user() {
                return occupied("another user's socket");
            }
            fs::remove_file(path).map_err(io)
        }
        Err(error) => Err(io(error)),
    }
}
