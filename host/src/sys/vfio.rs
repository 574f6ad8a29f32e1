//! The calls VFIO is made of, each with the type the kernel's vfio.h gives it.

use super::mapping::Mapping;
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
const DEVICE_GET_IRQ_INFO: libc::c_ulong = 0x3b6d;
const DEVICE_SET_IRQS: libc::c_ulong = 0x3b6e;
const DEVICE_RESET: libc::c_ulong = 0x3b6f;
const IOMMU_MAP_DMA: libc::c_ulong = 0x3b71;
const TYPE1_IOMMU: libc::c_ulong = 1;
const GROUP_VIABLE: u32 = 1;
const REGION_MMAP: u32 = 4;
const INTX: u32 = 0;
const IRQ_DATA_NONE: u32 = 1;
const IRQ_DATA_EVENTFD: u32 = 4;
const IRQ_UNMASK: u32 = 16;
const IRQ_TRIGGER: u32 = 32;
const DMA_READ: u32 = 1;
/// The region of configuration space.
pub(crate) const CONFIG: u32 = 7;

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

#[repr(C)]
#[derive(Default)]
struct IrqInfo {
    argsz: u32,
    flags: u32,
    index: u32,
    count: u32,
}

#[repr(C)]
struct IrqSet {
    argsz: u32,
    flags: u32,
    index: u32,
    start: u32,
    count: u32,
    eventfd: i32,
}

#[repr(C)]
struct DmaMap {
    argsz: u32,
    flags: u32,
    vaddr: u64,
    iova: u64,
    size: u64,
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

/// Whether a device has INTx.
pub(crate) fn has_interrupt(device: &File) -> io::Result<bool> {
    let mut info = IrqInfo { argsz: size_of::<IrqInfo>() as u32, index: INTX, ..IrqInfo::default() };
    // SAFETY: the request fills a `vfio_irq_info`, which this is, of the size it says.
    checked(unsafe { libc::ioctl(device.as_raw_fd(), DEVICE_GET_IRQ_INFO as _, &raw mut info) })?;
    Ok(info.count > 0)
}

fn set_interrupt(device: &File, flags: u32, eventfd: i32) -> io::Result<()> {
    let argsz = size_of::<IrqSet>() as u32;
    let mut set = IrqSet { argsz, flags, index: INTX, start: 0, count: 1, eventfd };
    // SAFETY: the request reads a `vfio_irq_set` with one descriptor as its data, which this is, of the size it says.
    checked(unsafe { libc::ioctl(device.as_raw_fd(), DEVICE_SET_IRQS as _, &raw mut set) }).map(drop)
}

/// Switches INTx on: from now on it adds to this counter, and masks itself each time.
pub(crate) fn enable_interrupt(device: &File, event: &File) -> io::Result<()> {
    set_interrupt(device, IRQ_DATA_EVENTFD | IRQ_TRIGGER, event.as_raw_fd())
}

/// Lets INTx come again.
pub(crate) fn unmask_interrupt(device: &File) -> io::Result<()> {
    set_interrupt(device, IRQ_DATA_NONE | IRQ_UNMASK, -1)
}

/// Lets the container's devices read memory of this process, at an address of their own.
pub(crate) fn map_for_reading(container: &File, memory: &Mapping, address: u64) -> io::Result<()> {
    let argsz = size_of::<DmaMap>() as u32;
    let (vaddr, size) = (memory.place() as u64, memory.bytes() as u64);
    let mut map = DmaMap { argsz, flags: DMA_READ, vaddr, iova: address, size };
    // SAFETY: the request reads a `vfio_iommu_type1_dma_map`, which this is, of the size it says. The kernel pins the
    // pages: they stay what they are even if the mapping goes.
    checked(unsafe { libc::ioctl(container.as_raw_fd(), IOMMU_MAP_DMA as _, &raw mut map) }).map(drop)
}

/// Resets a device.
pub(crate) fn reset(device: &File) -> io::Result<()> {
    // SAFETY: the request takes no argument.
    checked(unsafe { libc::ioctl(device.as_raw_fd(), DEVICE_RESET as _) }).map(drop)
}
