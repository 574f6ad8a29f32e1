//! The one way to write files: whole or not there.
//!
//! What is written grows under a name of its own in the same folder, is synced, and then takes the place of what was there.
//! Symlinks are followed. A device or a pipe is written to as it stands (`-o /dev/stdout`); a socket is refused. What an
//! ended process has left in a folder is removed by the next that writes there. No other source file of this crate makes,
//! replaces or removes a file (`tests/tests/architecture.rs`).

#[cfg(feature = "rtl")]
mod aside;
#[cfg(feature = "cli")]
mod socket;

#[cfg(feature = "rtl")]
pub use aside::Aside;
#[cfg(feature = "cli")]
pub use socket::{SocketError, SocketPlace};

use std::{
    collections::HashSet,
    fs::{self, File, OpenOptions, Permissions},
    io::{self, BufWriter, Write},
    os::unix::fs::{FileTypeExt, PermissionsExt},
    path::{Path, PathBuf},
    sync::{LazyLock, Mutex, PoisonError},
    time::{Duration, SystemTime},
};
use tempfile::NamedTempFile;

/// What files under way are called in front.
const ASIDE: &str = ".nendo-";
/// The lock in a folder under way.
const LOCK: &str = "lock";
/// A file under way is locked; what is found unlocked was left behind, unless it is so young that its lock may be to come.
const YOUNG: Duration = Duration::from_secs(60);
/// As many links are followed, as systems do.
const LINKS: usize = 40;

/// Writes a file so that an interrupted run leaves either the old one or the new one.
pub fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = Whole::begin(path)?;
    file.write_all(bytes)?;
    file.finish()
}

/// A disk that has no room for so much has none for results.
static ROOM: [u8; 1 << 16] = [0; 1 << 16];

/// Whether a folder takes files: makes it if need be. Asked before long work, and before old results are removed.
pub fn try_folder(folder: &Path) -> io::Result<()> {
    let mut probe = Whole::begin(&folder.join("probe"))?;
    probe.write_all(&ROOM)?;
    probe.flush()
}

/// Whether a file can be written. Asked before long work; what is there stays as it is.
pub fn try_file(path: &Path) -> io::Result<()> {
    Whole::begin(path).map(drop)
}

/// Removes a file of ours; that it is not there is as good.
pub fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// A log that is read while it grows: it is there at once, and another program writes it.
pub fn log(path: &Path) -> io::Result<File> {
    match Place::of(path)? {
        Place::Device => OpenOptions::new().write(true).open(path),
        Place::File { path, .. } => File::create(path),
    }
}

/// Writes to what the system shows as a file and is none, as it stands.
pub fn tell(path: &Path, text: &str) -> io::Result<()> {
    OpenOptions::new().write(true).open(path)?.write_all(text.as_bytes())
}

/// A file under way. Without `finish` nothing has happened.
#[derive(Debug)]
pub struct Whole {
    sink: BufWriter<Sink>,
}

/// Where the bytes of a file under way go.
#[derive(Debug)]
enum Sink {
    /// Beside what it will replace.
    Aside(NamedTempFile, PathBuf),
    /// A device or pipe, as it stands.
    Through(File),
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Aside(file, _) => file.write(bytes),
            Self::Through(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Write for Whole {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.sink.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }
}

impl Whole {
    /// A file that will be at this path, in a folder that is made if need be.
    pub fn begin(path: &Path) -> io::Result<Self> {
        let sink = match Place::of(path)? {
            Place::Device => Sink::Through(OpenOptions::new().write(true).open(path)?),
            Place::File { path, permissions } => {
                let folder = folder_of(&path);
                fs::create_dir_all(folder)?;
                sweep(folder);
                let mut builder = tempfile::Builder::new();
                // As a file that is made anew, which leaves to the umask what is allowed to whom.
                builder.prefix(ASIDE).permissions(Permissions::from_mode(0o666));
                let aside = builder.tempfile_in(folder)?;
                // Where there are no locks nothing is taken for left behind either.
                let _ = aside.as_file().try_lock();
                if let Some(permissions) = permissions {
                    aside.as_file().set_permissions(permissions)?;
                }
                Sink::Aside(aside, path)
            }
        };
        Ok(Self { sink: BufWriter::new(sink) })
    }

    /// The file is there, and on the disk.
    pub fn finish(self) -> io::Result<()> {
        match self.sink.into_inner().map_err(io::IntoInnerError::into_error)? {
            Sink::Through(_) => Ok(()),
            Sink::Aside(aside, path) => {
                aside.as_file().sync_all()?;
                // Meanwhile something else may have come to be there.
                if let Place::Device = Place::of(&path)? {
                    return Err(io::Error::new(io::ErrorKind::AlreadyExists, "a device is there now"));
                }
                aside.persist(&path).map_err(|e| e.error)?;
                sync_folder(&path);
                Ok(())
            }
        }
    }
}

/// The folder a file is in.
fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A name that is lost with the power is no file; not every file system can be asked.
fn sync_folder(path: &Path) {
    let _ = File::open(folder_of(path)).and_then(|folder| folder.sync_all());
}

/// What stands where a file is to be.
enum Place {
    /// A file or nothing, behind all links; who may do what with it.
    File { path: PathBuf, permissions: Option<Permissions> },
    /// What is written to as it stands.
    Device,
}

impl Place {
    fn of(path: &Path) -> io::Result<Self> {
        let refused = |what: &str| Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        let mut at = path.to_owned();
        for _ in 0..LINKS {
            // Open files by number, which are links to nowhere where they are pipes.
            if ["/proc", "/dev/fd", "/dev/stdout", "/dev/stderr"].iter().any(|open| at.starts_with(open)) {
                return Ok(Self::Device);
            }
            let there = match fs::symlink_metadata(&at) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    return Ok(Self::File { path: at, permissions: None });
                }
                there => there?,
            };
            let kind = there.file_type();
            if kind.is_symlink() {
                let target = fs::read_link(&at)?;
                at = at.parent().unwrap_or(Path::new("")).join(target);
            } else if kind.is_file() {
                return Ok(Self::File { path: at, permissions: Some(there.permissions()) });
            } else if kind.is_dir() {
                return refused("a folder is there");
            } else if kind.is_socket() {
                return refused("a socket is there");
            } else {
                return Ok(Self::Device);
            }
        }
        refused("too many links")
    }
}

/// Removes what ended processes have left in a folder: looked for once.
fn sweep(folder: &Path) {
    static SWEPT: LazyLock<Mutex<HashSet<PathBuf>>> = LazyLock::new(Mutex::default);
    let known = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    if SWEPT.lock().unwrap_or_else(PoisonError::into_inner).insert(known) {
        remove_leftovers(folder);
    }
}

fn remove_leftovers(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let ours = entry.file_name().to_str().is_some_and(|name| name.starts_with(ASIDE));
        let Some(kind) = entry.file_type().ok().filter(|_| ours) else { continue };
        if kind.is_file() && is_left(&entry.path()) {
            let _ = fs::remove_file(entry.path());
        } else if kind.is_dir() && is_left(&entry.path().join(LOCK)) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Whether nobody writes this file any more.
fn is_left(path: &Path) -> bool {
    let old = |file: &File| {
        let age = file.metadata().and_then(|m| m.modified()).map(|at| SystemTime::now().duration_since(at));
        matches!(age, Ok(Ok(age)) if age > YOUNG)
    };
    File::open(path).is_ok_and(|file| old(&file) && file.try_lock().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::{fs::symlink, net::UnixListener};

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn replaces_whole_files_and_leaves_nothing_aside() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/sub/file.txt");
        write_whole(&path, b"one").unwrap();
        write_whole(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
        assert!(write_whole(&path.join("below-a-file"), b"x").is_err());
    }

    #[test]
    fn what_is_not_finished_has_not_happened() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file.txt");
        write_whole(&path, b"old").unwrap();
        let mut file = Whole::begin(&path).unwrap();
        file.write_all(b"new").unwrap();
        file.flush().unwrap();
        drop(file);
        try_file(&path).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn two_writers_of_one_file_do_not_destroy_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file.txt");
        let (mut a, mut b) = (Whole::begin(&path).unwrap(), Whole::begin(&path).unwrap());
        a.write_all(b"from a").unwrap();
        b.write_all(b"by b").unwrap();
        a.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"from a");
        b.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"by b");
    }

    #[test]
    fn symlinks_are_followed_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let [link, second, file] = ["link", "second", "to/file"].map(|name| folder.path().join(name));
        symlink("second", &link).unwrap();
        symlink("to/file", &second).unwrap();
        for bytes in [b"dangling", b"standing"] {
            write_whole(&link, bytes).unwrap();
            assert_eq!(fs::read(&file).unwrap(), bytes);
        }
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        symlink("round", folder.path().join("round")).unwrap();
        let error = write_whole(&folder.path().join("round"), b"").unwrap_err();
        assert_eq!(error.to_string(), "too many links");
    }

    #[test]
    fn devices_and_sockets_were_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let [null, pipe, socket] = ["null", "pipe", "socket"].map(|name| folder.path().join(name));
        symlink("/dev/null", &null).unwrap();
        write_whole(Path::new("/dev/null"), b"x").unwrap();
        write_whole(&null, b"x").unwrap();
        assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
        let _listener = UnixListener::bind(&socket).unwrap();
        assert_eq!(write_whole(&socket, b"x").unwrap_err().to_string(), "a socket is there");
        assert!(fs::symlink_metadata(&socket).unwrap().file_type().is_socket());
        assert_eq!(write_whole(folder.path(), b"x").unwrap_err().to_string(), "a folder is there");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        if made.is_ok_and(|status| status.success()) {
            let reader = std::thread::spawn({
                let pipe = pipe.clone();
                move || fs::read(pipe).unwrap()
            });
            write_whole(&pipe, b"through").unwrap();
            assert_eq!(reader.join().unwrap(), b"through");
            assert!(fs::metadata(&pipe).unwrap().file_type().is_fifo());
        }
    }

    #[test]
    fn the_umask_and_what_a_file_allowed_are_honoured() {
        let folder = tempfile::tempdir().unwrap();
        let [plain, ours, private] = ["plain", "ours", "private"].map(|name| folder.path().join(name));
        File::create(&plain).unwrap();
        write_whole(&ours, b"").unwrap();
        assert_eq!(mode(&ours), mode(&plain));
        File::create(&private).unwrap().set_permissions(Permissions::from_mode(0o600)).unwrap();
        write_whole(&private, b"").unwrap();
        assert_eq!(mode(&private), 0o600);
    }

    #[test]
    fn leftovers_of_killed_runs_are_removed_and_files_under_way_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let aged = |name: &str| {
            let file = File::create(folder.path().join(name)).unwrap();
            file.set_modified(SystemTime::now() - 2 * YOUNG).unwrap();
            file
        };
        aged(".nendo-left");
        aged("kept");
        fs::create_dir(folder.path().join(".nendo-folder")).unwrap();
        aged(".nendo-folder/lock");
        aged(".nendo-folder/file");
        // A folder without our lock is somebody's.
        fs::create_dir(folder.path().join(".nendo-notes")).unwrap();
        let at_work = aged(".nendo-at-work");
        at_work.try_lock().unwrap();
        File::create(folder.path().join(".nendo-young")).unwrap();
        remove_leftovers(folder.path());
        let mut names: Vec<_> =
            fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, [".nendo-at-work", ".nendo-notes", ".nendo-young", "kept"]);
    }
}
