//! The cache of what was compiled: a folder of the user's own with an entry per key, each sealed by the digests of its
//! files.
//!
//! What is in it is loaded into this process. So the folder is nobody else's, and what does not bear its seal (a full
//! disk, a bad one) is made anew instead of being loaded: half a library ends a process by a signal.

use super::VerilatedError;
use crate::tools;
use nendo_model::contract::digest::hex_digest;
use std::{
    fmt::Write,
    fs, io,
    path::{Path, PathBuf},
};

/// The file of digests in an entry, as `sha256sum` writes and checks them.
const SEAL: &str = "sha256";

/// The cache.
pub(super) struct Cache(PathBuf);

/// Why an entry is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lack {
    /// There is none.
    Absent,
    /// It is not as it was left.
    Damaged,
}

/// `NENDO_CACHE`, else `nendo` in the user's folder of caches.
fn place() -> Result<PathBuf, VerilatedError> {
    tools::check()?;
    let absolute = |name| tools::variable(name).filter(|folder| folder.is_absolute());
    let user = || absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")));
    let named = absolute("NENDO_CACHE").or_else(|| Some(user()?.join("nendo")));
    named.ok_or(VerilatedError::NoCache)
}

impl Cache {
    /// The user's.
    pub(super) fn open() -> Result<Self, VerilatedError> {
        Self::at(place()?)
    }

    /// The one in a folder, which is made if it is not there.
    fn at(folder: PathBuf) -> Result<Self, VerilatedError> {
        make_private(&folder).map_err(file_error(&folder))?;
        let refused = |fault, remedy: String| {
            Err(VerilatedError::Cache { folder: folder.display().to_string(), fault, remedy })
        };
        let data = fs::symlink_metadata(&folder).map_err(file_error(&folder))?;
        if data.is_symlink() {
            return refused("is a symbolic link", "set NENDO_CACHE to the folder itself".to_owned());
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            if data.uid() != rustix::process::geteuid().as_raw() {
                return refused(
                    "belongs to another user",
                    "set NENDO_CACHE to a folder of your own".to_owned(),
                );
            }
            if data.mode() & 0o022 != 0 {
                // Taking the right away is not enough: what they have left would stay.
                let remedy =
                    format!("others may have left programs in it. Remove it: rm -r '{}'", folder.display());
                return refused("others may write into", remedy);
            }
        }
        Ok(Self(folder))
    }

    /// A file beside the entries.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// The folder of an entry with these files in it. Unless it is there, and whole, it is made, once: whoever else
    /// wants it waits.
    pub(super) fn entry(
        &self,
        name: &str,
        files: &[&str],
        make: impl FnOnce(&Path, Lack) -> Result<(), VerilatedError>,
    ) -> Result<PathBuf, VerilatedError> {
        let folder = self.0.join(name);
        if lack(&folder, files).is_none() {
            return Ok(folder);
        }
        let lock = self.0.join(format!("{name}.lock"));
        let lock = fs::File::create(&lock).and_then(|f| f.lock().map(|()| f)).map_err(file_error(&lock))?;
        let Some(found) = lack(&folder, files) else { return Ok(folder) };
        // Made aside and renamed: who does not wait sees all of it, or nothing.
        let aside =
            |prefix| tempfile::Builder::new().prefix(prefix).tempdir_in(&self.0).map_err(file_error(&self.0));
        let work = aside("build-")?;
        make(work.path(), found)?;
        let seal = work.path().join(SEAL);
        seal_of(work.path(), files).and_then(|text| fs::write(&seal, text)).map_err(file_error(&seal))?;
        if found == Lack::Damaged {
            let old = aside("old-")?;
            fs::rename(&folder, old.path().join(name)).map_err(file_error(&folder))?;
        }
        fs::rename(work.keep(), &folder).map_err(file_error(&folder))?;
        drop(lock);
        match lack(&folder, files) {
            None => Ok(folder),
            Some(_) => Err(VerilatedError::Damaged(folder.display().to_string())),
        }
    }
}

/// Makes a folder, and those above it, that nobody else may look into.
fn make_private(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)
}

/// What an entry lacks, if anything.
fn lack(folder: &Path, files: &[&str]) -> Option<Lack> {
    if fs::symlink_metadata(folder).is_err() {
        return Some(Lack::Absent);
    }
    let sealed = fs::read_to_string(folder.join(SEAL)).and_then(|seal| Ok(seal == seal_of(folder, files)?));
    if sealed.unwrap_or(false) { None } else { Some(Lack::Damaged) }
}

/// The digests of an entry's files; they are files of their own, no links.
fn seal_of(folder: &Path, files: &[&str]) -> io::Result<String> {
    let mut text = String::new();
    for name in files {
        let file = folder.join(name);
        if !fs::symlink_metadata(&file)?.is_file() {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let _ = writeln!(text, "{}  {name}", hex_digest(&fs::read(&file)?));
    }
    Ok(text)
}

pub(super) fn file_error(path: &Path) -> impl Fn(io::Error) -> VerilatedError + use<> {
    let path = path.display().to_string();
    move |error| VerilatedError::File { path: path.clone(), error }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::{
        os::unix::fs::{MetadataExt, PermissionsExt, symlink},
        sync::atomic::{AtomicUsize, Ordering},
    };

    fn refusal(folder: &Path) -> String {
        Cache::at(folder.to_owned()).map(|_| ()).unwrap_err().to_string()
    }

    fn is_made(cache: &Cache) -> Option<Lack> {
        let mut made = None;
        let make = |folder: &Path, why| {
            made = Some(why);
            fs::write(folder.join("circuit.so"), [7; 100_000]).map_err(file_error(folder))
        };
        let folder = cache.entry("key", &["circuit.so"], make).unwrap();
        assert_eq!(fs::read(folder.join("circuit.so")).unwrap(), [7; 100_000]);
        made
    }

    #[test]
    fn a_cache_that_others_may_write_into_is_not_used() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("a/b");
        let cache = Cache::at(folder.clone()).unwrap();
        for made in [&folder, &place.path().join("a")] {
            assert_eq!(fs::metadata(made).unwrap().mode() & 0o777, 0o700, "{}", made.display());
        }
        assert_eq!(is_made(&cache), Some(Lack::Absent));
        for mode in [0o777, 0o775, 0o1777] {
            fs::set_permissions(&folder, fs::Permissions::from_mode(mode)).unwrap();
            assert!(refusal(&folder).contains("others may write into"), "{mode:o}: {}", refusal(&folder));
            assert!(refusal(&folder).contains(&format!("rm -r '{}'", folder.display())));
        }
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
        assert!(Cache::at(folder).is_ok());
    }

    #[test]
    fn a_cache_of_another_user_or_behind_a_link_is_not_used() {
        let place = tempfile::tempdir().unwrap();
        let (folder, link) = (place.path().join("folder"), place.path().join("link"));
        Cache::at(folder.clone()).unwrap();
        symlink(&folder, &link).unwrap();
        assert!(refusal(&link).contains("symbolic link"), "{}", refusal(&link));
        // Root gives its own away; anybody else has root's.
        let other = match std::os::unix::fs::chown(&folder, Some(65_534), None) {
            Ok(()) => &folder,
            Err(_) => Path::new("/usr"),
        };
        assert!(refusal(other).contains("another user"), "{}", refusal(other));
    }

    #[test]
    fn a_damaged_entry_is_made_anew_once() {
        let place = tempfile::tempdir().unwrap();
        let cache = Cache::at(place.path().join("cache")).unwrap();
        assert_eq!(is_made(&cache), Some(Lack::Absent));
        assert_eq!(is_made(&cache), None);
        let (entry, elsewhere) = (cache.file("key"), place.path().join("elsewhere"));
        let file = entry.join("circuit.so");
        let damages: [&dyn Fn(); 6] = [
            // Cut off, as a full disk does, which ends who maps it by SIGBUS.
            &|| fs::File::options().write(true).open(&file).unwrap().set_len(5000).unwrap(),
            &|| fs::write(&file, [8; 100_000]).unwrap(),
            &|| fs::remove_file(&file).unwrap(),
            &|| fs::remove_file(entry.join(SEAL)).unwrap(),
            // The right bytes, but another's file.
            &|| {
                fs::rename(&file, &elsewhere).unwrap();
                symlink(&elsewhere, &file).unwrap();
            },
            &|| {
                fs::remove_dir_all(&entry).unwrap();
                fs::write(&entry, "").unwrap();
            },
        ];
        for (k, damage) in damages.iter().enumerate() {
            damage();
            assert_eq!(is_made(&cache), Some(Lack::Damaged), "{k}");
            assert_eq!(is_made(&cache), None, "{k}");
        }
        let left: Vec<_> = fs::read_dir(&cache.0).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(left.len(), 2, "the entry and its lock: {left:?}");
    }

    #[test]
    fn many_at_once_make_an_entry_once() {
        let place = tempfile::tempdir().unwrap();
        let cache = Cache::at(place.path().join("cache")).unwrap();
        let times = AtomicUsize::new(0);
        for damaged in [false, true] {
            if damaged {
                fs::write(cache.file("key").join("f"), "bad").unwrap();
            }
            std::thread::scope(|scope| {
                for _ in 0..8 {
                    scope.spawn(|| {
                        let make = |folder: &Path, _| {
                            times.fetch_add(1, Ordering::Relaxed);
                            std::thread::sleep(std::time::Duration::from_millis(20));
                            fs::write(folder.join("f"), "good").map_err(file_error(folder))
                        };
                        let folder = cache.entry("key", &["f"], make).unwrap();
                        assert_eq!(fs::read_to_string(folder.join("f")).unwrap(), "good");
                    });
                }
            });
            assert_eq!(times.load(Ordering::Relaxed), 1 + usize::from(damaged));
        }
    }
}
