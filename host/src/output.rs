//! Files that are whole or not there: written aside, then renamed.

use std::{io, io::Write, path::Path};

/// Writes a file so that an interrupted run leaves either the old one or the new one.
pub fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    std::fs::create_dir_all(folder)?;
    let mut aside = tempfile::Builder::new().prefix(".nendo-").tempfile_in(folder)?;
    aside.write_all(bytes)?;
    aside.as_file().sync_all()?;
    // A temporary file is private; what it becomes is an ordinary one.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        aside.as_file().set_permissions(std::fs::Permissions::from_mode(0o644))?;
    }
    aside.persist(path).map_err(|e| e.error)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaces_whole_files_and_leaves_nothing_aside() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/sub/file.txt");
        write_whole(&path, b"one").unwrap();
        write_whole(&path, b"two").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"two");
        assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
        assert!(write_whole(&path.join("below-a-file"), b"x").is_err());
    }
}
