//! The calls VFIO is made of, each with the type the kernel's vfio.h gives it.

use std::{
    ffi::CString,
    fs::File,
    io,
    os::fd::{AsRawFd, FromRawFd},
};

// _IO(';', 100 + n)
const GET_API_VERSION: libc::c_ulong = 0x3b64;
const SET_IOMMU: libc::c_ulong = 0x3b66;
const GROUP_GET_STATUS: libc::c_ulong = 0x3b67;
const GROUP_SET_CONTAINER: libc::c_ulong = 0x3b68;
const GROUP_GET_DEVICE_FD: libc::c_ulong = 0x3b6a;
const DEVICE_GET_REGION_INFO: libc::c_ulong = 0x3b6c;
const DEVICE_RESET: libc::c_ulong = 0x3b6f;
const TYPE1_IOMMU: libc::c_ulong = 1;
const GROUP_VIABLE: u32 = 1;
const REGION_MMAP: u32 = 4;

#[repr(C)]
#[derive(Default)]
struct GroupStatus {
    argsz: u32,
    flags: u32,
}

#[repr(C)]
#[derive(Default)]
struct RegionInfo {
    argsz: u32,
    flags: u32,
    index: u32,
    cap_offset: u32,
    size: u64,
    offset: u64,
}

/// Where a region is in the device's file.
pub(crate) struct Region {
    pub(crate) offset: u64,
    pub(crate) size: u64,
    pub(crate) mappable: bool,
}

fn checked(result: libc::c_int) -> io::Result<i32> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// The version of the interface the container speaks.
pub(crate) fn version(container: &File) -> io::Result<i32> {
    // SAFETY: the request takes no argument.
    checked(unsafe { libc::ioctl(container.as_raw_fd(), GET_API_VERSION as _) })
}

/// Whether all devices of a group are free for us.
pub(crate) fn group_is_viable(group: &File) -> io::Result<bool> {
    let mut status = GroupStatus { argsz: size_of::<GroupStatus>() as u32, flags: 0 };
    // SAFETY: the request fills a `vfio_group_status`, which this is, of the size it says.
    checked(unsafe { libc::ioctl(group.as_raw_fd(), GROUP_GET_STATUS as _, &raw mut status) })?;
    Ok(status.flags & GROUP_VIABLE != 0)
}

/// Puts a group into a container and switches its IOMMU on.
pub(crate) fn join(group: &File, container: &File) -> io::Result<()> {
    let mut fd = container.as_raw_fd();
    // SAFETY: the request reads an int through the pointer.
    checked(unsafe { libc::ioctl(group.as_raw_fd(), GROUP_SET_CONTAINER as _, &raw mut fd) })?;
    // SAFETY: the request takes a plain number.
    checked(unsafe { libc::ioctl(container.as_raw_fd(), SET_IOMMU as _, TYPE1_IOMMU) })?;
    Ok(())
}

/// Takes a device out of a group.
pub(crate) fn device(group: &File, address: &str) -> io::Result<File> {
    let name = CString::new(address)?;
    // SAFETY: the request reads a string that ends with a zero, alive for the call.
    let fd = checked(unsafe { libc::ioctl(group.as_raw_fd(), GROUP_GET_DEVICE_FD as _, name.as_ptr()) })?;
    // SAFETY: the kernel has just made this descriptor for us; nobody else owns it.
    Ok(unsafe { File::from_raw_fd(fd) })
}

/// A region of a device: 0 is BAR 0.
pub(crate) fn region(device: &File, index: u32) -> io::Result<Region> {
    let mut info = RegionInfo { argsz: size_of::<RegionInfo>() as u32, index, ..RegionInfo::default() };
    // SAFETY: the request fills a `vfio_region_info`, which this is, of the size it says.
    checked(unsafe { libc::ioctl(device.as_raw_fd(), DEVICE_GET_REGION_INFO as _, &raw mut info) })?;
    Ok(Region { offset: info.offset, size: info.size, mappable: info.flags & REGION_MMAP != 0 })
}

/// Resets a device.
pub(crate) fn reset(device: &File) -> io::Result<()> {
    // SAFETY: the request takes no argument.
    checked(unsafe { libc::ioctl(device.as_raw_fd(), DEVICE_RESET as _) }).map(drop)
}
