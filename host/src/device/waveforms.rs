//! Waveform files that Verilator's FST writer makes: it tells of no failure, so what it wrote is looked at.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    path::Path,
};

/// Sections of an FST file: a number, eight bytes of length that count themselves, and so many bytes.
const HEADER: u8 = 0;
const GEOMETRY: u8 = 3;
const HIERARCHIES: [u8; 3] = [4, 6, 7];

/// Whether a file is an FST as its writer leaves it at its end: section after section, to the last byte.
pub(super) fn check(path: &Path) -> io::Result<()> {
    let bad = |what: &str| Err(io::Error::new(io::ErrorKind::InvalidData, format!("the waveforms {what}")));
    let mut file = File::open(path)?;
    let (end, mut at, mut seen) = (file.metadata()?.len(), 0, Vec::new());
    while at < end {
        file.seek(SeekFrom::Start(at))?;
        let mut head = [0; 9];
        if file.read_exact(&mut head).is_err() {
            return bad("end in the middle: is the disk full?");
        }
        let [kind, length @ ..] = head;
        let length = u64::from_be_bytes(length);
        at = at.saturating_add(length.max(8)).saturating_add(1);
        seen.push(kind);
    }
    match seen.first() {
        None => bad("are empty: is the disk full?"),
        Some(&kind) if kind != HEADER => bad("have no header: is the disk full?"),
        _ if at != end => bad("end in the middle: is the disk full?"),
        _ if !seen.contains(&GEOMETRY) || !seen.iter().any(|kind| HIERARCHIES.contains(kind)) => {
            bad("lack their signals' names: is the disk full?")
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// A run with `--trace` ended well when nothing, or half of it, had been written.
    #[test]
    fn waveforms_that_were_not_written_were_a_success() {
        let section = |kind: u8, bytes: usize| {
            [&[kind][..], &(bytes as u64 + 8).to_be_bytes(), &vec![0; bytes]].concat()
        };
        let whole = [section(HEADER, 321), section(8, 40), section(GEOMETRY, 9), section(6, 30)].concat();
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("wave.fst");
        let checked = |bytes: &[u8]| {
            fs::write(&file, bytes).unwrap();
            check(&file)
        };
        checked(&whole).unwrap();
        for end in 0..whole.len() {
            assert!(checked(&whole[..end]).is_err(), "{end} bytes of {}", whole.len());
        }
        let mut endless = whole.clone();
        endless[1..9].fill(0xff);
        assert!(checked(&endless).is_err());
        assert!(checked(&whole[330..]).unwrap_err().to_string().contains("no header"));
        assert!(check(&folder.path().join("none")).is_err());
    }
}
