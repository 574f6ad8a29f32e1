//! VFIO: the kernel's way to give a device to a program, protected by the IOMMU.

use super::sysfs::Sysfs;
use crate::{
    device::{DeviceError, spec::PciAddress},
    sys::vfio,
};
use std::fs::{File, OpenOptions};

const API_VERSION: i32 = 0;

/// A device that VFIO has given to us.
pub(super) struct Vfio {
    pub(super) device: File,
    // The device is ours only as long as these are open.
    _group: File,
    _container: File,
}

/// Takes a device and finds its BAR 0.
pub(super) fn open(sysfs: &Sysfs, address: PciAddress) -> Result<(Vfio, vfio::Region), DeviceError> {
    let unusable = |text: String| DeviceError::Unusable(format!("vfio:{address}: {text}"));
    let call = |what: &str| DeviceError::io(format!("vfio:{address}: {what}"));
    let group = sysfs.iommu_group(address).ok_or_else(|| {
        unusable(
            "it is in no IOMMU group: switch the IOMMU on in the firmware and the kernel (intel_iommu=on or \
             amd_iommu=on), or use pci: instead"
                .to_owned(),
        )
    })?;
    let path = format!("/dev/vfio/{group}");
    let open = |path: &str| OpenOptions::new().read(true).write(true).open(path);
    let group_file = open(&path).map_err(|error| {
        unusable(format!(
            "{path}: {error}. Bind the device to vfio-pci (echo vfio-pci > driver_override, then bind) and give \
             yourself access to {path}"
        ))
    })?;
    let container = open("/dev/vfio/vfio").map_err(|error| unusable(format!("/dev/vfio/vfio: {error}")))?;
    let version = vfio::version(&container).map_err(call("asking VFIO for its version"))?;
    if version != API_VERSION {
        return Err(unusable(format!("VFIO speaks version {version} of its interface, not {API_VERSION}")));
    }
    if !vfio::group_is_viable(&group_file).map_err(call("asking for the group's status"))? {
        return Err(unusable(format!(
            "group {group} is not free: all its devices must be bound to vfio-pci"
        )));
    }
    vfio::join(&group_file, &container).map_err(call("joining group and container"))?;
    let device = vfio::device(&group_file, &address.to_string()).map_err(call("taking the device"))?;
    let region = vfio::region(&device, 0).map_err(call("asking for BAR 0"))?;
    if !region.mappable {
        return Err(unusable("BAR 0 cannot be mapped".to_owned()));
    }
    Ok((Vfio { device, _group: group_file, _container: container }, region))
}
