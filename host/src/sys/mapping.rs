//! Mapped device memory: the one place where addresses become pointers.

use std::{
    fs::File,
    io,
    os::fd::AsRawFd,
    ptr::{self, NonNull},
    sync::atomic::{Ordering, fence},
};

/// Why memory cannot be mapped or reached.
#[derive(Debug, thiserror::Error)]
pub enum MappingError {
    /// The system does not let us.
    #[error("{what}: {error}")]
    Io {
        /// What was tried.
        what: String,
        /// What the system says.
        error: io::Error,
    },
    /// An address outside the mapping, or not a multiple of four.
    #[error("address {address:#x} is outside {device} ({size:#x} bytes) or not a multiple of 4")]
    Address {
        /// What is mapped.
        device: String,
        /// The byte address.
        address: u32,
        /// Bytes that are mapped.
        size: u64,
    },
}

/// A mapping of 32-bit registers.
pub struct Mapping {
    start: NonNull<u32>,
    bytes: usize,
    name: String,
}

// SAFETY: the mapping is memory of the process, not of a thread, and `&mut self` lets one access it at a time.
unsafe impl Send for Mapping {}

impl Mapping {
    /// Maps `bytes` bytes of a file or device from `offset` on, for reading and writing.
    pub fn new(file: &File, offset: u64, bytes: usize, name: &str) -> Result<Self, MappingError> {
        let fail = |error| MappingError::Io { what: format!("mapping {bytes:#x} bytes of {name}"), error };
        if bytes == 0 || !bytes.is_multiple_of(4) {
            return Err(fail(io::ErrorKind::InvalidInput.into()));
        }
        // A regular file (a test's BAR) shorter than the mapping would raise SIGBUS on access.
        let length = file.metadata().map_err(fail)?;
        if length.is_file() && length.len() < offset.saturating_add(bytes as u64) {
            return Err(fail(io::Error::other(format!("it has only {:#x} bytes", length.len()))));
        }
        let offset = libc::off_t::try_from(offset).map_err(|_| fail(io::ErrorKind::InvalidInput.into()))?;
        // SAFETY: a fresh mapping at an address of the kernel's choice cannot overlap anything of ours; length
        // and file are checked, and failure is reported as MAP_FAILED.
        let start = unsafe {
            libc::mmap(
                ptr::null_mut(),
                bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                file.as_raw_fd(),
                offset,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(fail(io::Error::last_os_error()));
        }
        let start = NonNull::new(start.cast()).ok_or_else(|| fail(io::ErrorKind::Other.into()))?;
        Ok(Self { start, bytes, name: name.to_owned() })
    }

    /// Memory of our own, whole pages of zeros: for a device to read.
    pub fn memory(bytes: usize, name: &str) -> Result<Self, MappingError> {
        let fail = |error| MappingError::Io { what: format!("{bytes:#x} bytes of memory for {name}"), error };
        // SAFETY: a fresh mapping of no file at an address of the kernel's choice; failure is MAP_FAILED.
        let start = unsafe {
            libc::mmap(
                ptr::null_mut(),
                bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(fail(io::Error::last_os_error()));
        }
        let start = NonNull::new(start.cast()).ok_or_else(|| fail(io::ErrorKind::Other.into()))?;
        Ok(Self { start, bytes, name: name.to_owned() })
    }

    /// Where it is in this process.
    pub(crate) fn place(&self) -> usize {
        self.start.as_ptr() as usize
    }

    /// How large it is.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The register at a byte address, if it is inside and aligned.
    fn register(&self, address: u32) -> Result<*mut u32, MappingError> {
        let inside = (address as usize).checked_add(4).is_some_and(|end| end <= self.bytes);
        if !inside || !address.is_multiple_of(4) {
            return Err(MappingError::Address {
                device: self.name.clone(),
                address,
                size: self.bytes as u64,
            });
        }
        // SAFETY: within the mapping, as just checked.
        Ok(unsafe { self.start.as_ptr().add(address as usize / 4) })
    }

    /// Reads a register.
    pub fn read(&mut self, address: u32) -> Result<u32, MappingError> {
        let register = self.register(address)?;
        // Writes before this read must have left the processor.
        fence(Ordering::SeqCst);
        // SAFETY: `register` points into the mapping and is aligned; volatile, because reading has effects.
        Ok(u32::from_le(unsafe { ptr::read_volatile(register) }))
    }

    /// Writes a register.
    pub fn write(&mut self, address: u32, value: u32) -> Result<(), MappingError> {
        let register = self.register(address)?;
        // SAFETY: as for `read`.
        unsafe { ptr::write_volatile(register, value.to_le()) };
        fence(Ordering::SeqCst);
        Ok(())
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: mapped by `new` with this length, and unmapped once. Nothing can be done about a failure.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn file(bytes: u64) -> File {
        let file = tempfile::tempfile().unwrap();
        file.set_len(bytes).unwrap();
        file
    }

    #[test]
    fn words_come_back_and_others_see_them() {
        let file = file(4096);
        let mut one = Mapping::new(&file, 0, 4096, "one").unwrap();
        let mut other = Mapping::new(&file, 0, 4096, "other").unwrap();
        one.write(4092, 0xdead_beef).unwrap();
        assert_eq!(other.read(4092).unwrap(), 0xdead_beef);
    }

    #[test]
    fn memory_keeps_what_is_written() {
        let mut memory = Mapping::memory(8192, "buffer").unwrap();
        memory.write(8188, 7).unwrap();
        assert_eq!((memory.read(0).unwrap(), memory.read(8188).unwrap(), memory.bytes()), (0, 7, 8192));
        assert!(memory.read(8192).is_err() && memory.place().is_multiple_of(4096));
        assert!(Mapping::memory(0, "nothing").is_err());
    }

    #[test]
    fn what_cannot_be_mapped_is_refused() {
        assert!(Mapping::new(&file(4096), 0, 8192, "short").is_err());
        assert!(Mapping::new(&file(4096), 4096, 4096, "behind").is_err());
        assert!(Mapping::new(&file(4096), 0, 0, "empty").is_err());
        assert!(Mapping::new(&file(4096), 0, 6, "odd").is_err());
        assert!(Mapping::new(&file(4096), u64::MAX, 4096, "far").is_err());
        assert!(Mapping::new(&file(8192), 1, 4096, "unaligned").is_err());
    }

    proptest! {
        /// No address, however wild, reaches outside.
        #[test]
        fn every_access_is_checked(address: u32, value: u32) {
            let mut mapping = Mapping::new(&file(4096), 0, 4096, "bar").unwrap();
            let inside = address < 4096 && address % 4 == 0;
            prop_assert_eq!(mapping.write(address, value).is_ok(), inside);
            prop_assert_eq!(mapping.read(address).ok(), inside.then_some(value));
            for address in [4093, 4094, 4096, u32::MAX, u32::MAX - 3] {
                prop_assert!(mapping.read(address).is_err());
            }
        }
    }
}
