//! How much memory may be taken, and the one rule by which too much is refused: before it is taken, with words.
//!
//! What is free is what the system has available, less where a control group or a limit of the process leaves less.
//! `NENDO_MEMORY=8G` in the environment says otherwise. Where nothing can be read (another system, WebAssembly) nothing is
//! refused here, and an allocation that fails is still an error where [`reserved`] makes it.

use std::{env, fs, path::Path};

/// Where users say how much may be taken.
pub const SETTING: &str = "NENDO_MEMORY";
/// As much is always taken: nobody has so little.
const SMALL: u64 = 1 << 24;

/// Why something is not begun.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MemoryError {
    /// It takes too much.
    #[error(
        "{what} would take about {} of memory, and {} are free: take fewer particles or a coarser mesh, or say \
         {SETTING}={} in the environment if that much can be had",
        text(*wanted), text(*free), setting(*wanted)
    )]
    TooMuch {
        /// What would take it.
        what: String,
        /// Bytes it takes.
        wanted: u64,
        /// Bytes there are.
        free: u64,
    },
    /// The system gave none.
    #[error("{what}: the system has no {} of memory left; take fewer particles or a coarser mesh", text(*wanted))]
    Refused {
        /// What was to have it.
        what: String,
        /// Bytes it was to have.
        wanted: u64,
    },
    /// The setting is not understood.
    #[error("{SETTING} is `{0}`: a number of bytes is needed, such as 500M or 8G")]
    Setting(String),
}

/// Bytes as people read them.
pub fn text(bytes: u64) -> String {
    match bytes as f64 {
        b if b >= 999.5e6 => format!("{:.1} GB", b / 1e9),
        b => format!("{:.0} MB", (b / 1e6).ceil()),
    }
}

/// A setting that lets so much pass.
fn setting(bytes: u64) -> String {
    format!("{}M", bytes.div_ceil(1_000_000))
}

/// Refuses what would take more than there is.
pub fn demand(what: impl FnOnce() -> String, bytes: u64) -> Result<(), MemoryError> {
    if bytes <= SMALL {
        return Ok(());
    }
    match available()? {
        Some(free) if bytes > free => Err(MemoryError::TooMuch { what: what(), wanted: bytes, free }),
        _ => Ok(()),
    }
}

/// An empty list with room for so many, or an error where an ordinary one would end the program.
pub fn reserved<T>(what: &str, count: usize) -> Result<Vec<T>, MemoryError> {
    let mut list = Vec::new();
    let wanted = count.saturating_mul(size_of::<T>()) as u64;
    list.try_reserve_exact(count).map_err(|_| MemoryError::Refused { what: what.to_owned(), wanted })?;
    Ok(list)
}

/// Bytes that may still be taken, if that can be told.
pub fn available() -> Result<Option<u64>, MemoryError> {
    if let Some(said) = env::var_os(SETTING) {
        let said = said.to_string_lossy();
        return parse(&said).map(Some).ok_or_else(|| MemoryError::Setting(said.into_owned()));
    }
    Ok([of_system(), of_groups(Path::new("/sys/fs/cgroup")), of_process()].into_iter().flatten().min())
}

/// `123`, `500k`, `500M` or `8G`.
fn parse(said: &str) -> Option<u64> {
    let digits = said.trim_end_matches(|c: char| !c.is_ascii_digit());
    let factor = match said[digits.len()..].trim().to_ascii_lowercase().trim_end_matches('b') {
        "" => 1,
        "k" => 1_000,
        "m" => 1_000_000,
        "g" => 1_000_000_000,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(factor)
}

/// The number behind a key in lines such as `MemAvailable:  123 kB`.
fn field(text: &str, key: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(key))?.split_ascii_whitespace().next()?.parse().ok()
}

fn of_system() -> Option<u64> {
    Some(field(&fs::read_to_string("/proc/meminfo").ok()?, "MemAvailable:")? * 1024)
}

/// What the control groups of this process leave, each of which bounds those below it.
fn of_groups(root: &Path) -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let own = groups.lines().find_map(|line| line.strip_prefix("0::/"));
    let own = root.join(own.unwrap_or_default());
    own.ancestors().take_while(|group| group.starts_with(root)).filter_map(of_group).min()
}

fn of_group(group: &Path) -> Option<u64> {
    let number = |name: &str| fs::read_to_string(group.join(name)).ok()?.trim().parse::<u64>().ok();
    // A group without a limit says `max`. Files that could be dropped count as free.
    let (limit, used) = (number("memory.max")?, number("memory.current")?);
    let cached = fs::read_to_string(group.join("memory.stat")).ok();
    let cached = cached.and_then(|stat| field(&stat, "inactive_file ")).unwrap_or(0);
    Some(limit.saturating_sub(used.saturating_sub(cached)))
}

/// What `ulimit -v` leaves.
fn of_process() -> Option<u64> {
    let limit = field(&fs::read_to_string("/proc/self/limits").ok()?, "Max address space")?;
    let used = field(&fs::read_to_string("/proc/self/status").ok()?, "VmSize:")? * 1024;
    Some(limit.saturating_sub(used))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read() {
        let cases = [
            ("123", 123),
            ("500k", 500_000),
            ("2M", 2_000_000),
            ("8 GB", 8_000_000_000),
            ("1gb", 1_000_000_000),
        ];
        for (said, bytes) in cases {
            assert_eq!(parse(said), Some(bytes), "{said}");
        }
        for said in ["", "much", "-1", "1T", "99999999999999999999", "1.5G"] {
            assert_eq!(parse(said), None, "{said}");
        }
    }

    #[test]
    fn a_control_group_leaves_what_it_has_not_used() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        assert_eq!(of_group(folder.path()), None);
        write("memory.current", "700\n");
        write("memory.max", "max\n");
        assert_eq!(of_group(folder.path()), None);
        write("memory.max", "1000\n");
        assert_eq!(of_group(folder.path()), Some(300));
        write("memory.stat", "anon 5\ninactive_file 100\n");
        assert_eq!(of_group(folder.path()), Some(400));
    }

    #[test]
    fn what_no_machine_has_is_an_error_and_no_abort() {
        let wanted = demand(|| "a box".to_owned(), u64::MAX);
        assert!(
            !cfg!(target_os = "linux") || wanted.unwrap_err().to_string().contains("a box would take about")
        );
        assert!(matches!(reserved::<u64>("edges", usize::MAX / 8), Err(MemoryError::Refused { .. })));
        assert_eq!(reserved::<u8>("edges", 8).unwrap().capacity(), 8);
    }
}
