//! The driver against a sysfs tree made of files, with files for BARs.

use super::*;
use crate::device::{IdentityError, pci::address::PciAddress};
use nendo_model::contract::{
    config::Config,
    map::{Access, Register},
    numbers::{Inverse, Profile},
};
use proptest::prelude::*;
use std::{fs, os::unix::fs::PermissionsExt};

const CONFIG: Config = Config::minimal(Profile::Wide, Inverse::Table);
const ADDRESS: PciAddress = PciAddress { domain: 0, bus: 3, device: 0, function: 0 };

/// A PCI bus with one board on it.
struct Tree {
    root: tempfile::TempDir,
}

impl Tree {
    /// A board whose BAR 0 has so many bytes and the identity of a configuration.
    fn new(bytes: u64) -> Self {
        let tree = Self { root: tempfile::tempdir().unwrap() };
        fs::create_dir_all(tree.device()).unwrap();
        tree.file("vendor", "0x10ee\n");
        tree.file("device", "0x6e64\n");
        tree.file("enable", "1\n");
        let end = 0xf000_0000 + bytes.max(1) - 1;
        tree.file(
            "resource",
            &format!("0x00000000f0000000 0x{end:016x} 0x0000000000040200\n{}", "0x0 0x0 0x0\n".repeat(5)),
        );
        let bar = vec![0; bytes as usize];
        fs::write(tree.device().join("resource0"), bar).unwrap();
        for Register { address, access, .. } in Map::new(&CONFIG).registers {
            if let Access::Constant(value) = access {
                tree.poke(address, value);
            }
        }
        tree
    }

    fn whole() -> Self {
        Self::new(Map::new(&CONFIG).size.into())
    }

    fn device(&self) -> PathBuf {
        self.root.path().join(ADDRESS.to_string())
    }

    fn file(&self, name: &str, text: &str) {
        fs::write(self.device().join(name), text).unwrap();
    }

    /// A word of the BAR, as the hardware would change it.
    fn poke(&self, address: u32, value: u32) {
        let file = OpenOptions::new().write(true).open(self.device().join("resource0")).unwrap();
        file.write_all_at(&value.to_le_bytes(), address.into()).unwrap();
    }

    fn sysfs(&self) -> Sysfs {
        Sysfs::at(self.root.path())
    }

    fn open(&self) -> Result<Pci, DeviceError> {
        Pci::sysfs(&self.sysfs(), ADDRESS, 0)
    }

    fn refused(&self) -> String {
        self.open().err().expect("refused").to_string()
    }
}

#[test]
fn a_sound_board_is_found_and_mapped() {
    let tree = Tree::whole();
    let found = tree.sysfs().candidates().unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].address, found[0].vendor, found[0].device), (ADDRESS, 0x10ee, 0x6e64));
    assert_eq!(
        (found[0].description.as_str(), &found[0].access),
        ("nendo engine", &sysfs::Usability::Usable)
    );
    assert_eq!(found[0].bar_bytes(0), u64::from(Map::new(&CONFIG).size));
    let mut board = tree.open().unwrap();
    assert_eq!(board.name(), "pci:0000:03:00.0");
    let scratch = Reg::Scratch.address();
    board.write(scratch, 0x1234_5678).unwrap();
    assert_eq!(board.read(scratch).unwrap(), 0x1234_5678);
    let mut words = [0; 2];
    board.write_block(0x1000, &[1, 2]).unwrap();
    board.read_block(0x1000, &mut words).unwrap();
    assert_eq!(words, [1, 2]);
    for address in [2, Map::new(&CONFIG).size, u32::MAX - 3] {
        assert!(matches!(board.read(address), Err(DeviceError::Address { .. })), "{address:#x}");
        assert!(matches!(board.write(address, 0), Err(DeviceError::Address { .. })), "{address:#x}");
    }
    // What another side puts there is seen at once.
    tree.poke(scratch, 7);
    assert_eq!(board.read(scratch).unwrap(), 7);
}

#[test]
fn boards_that_cannot_be_used_say_why_and_what_to_do() {
    let small = Tree::new(8192);
    let text = small.refused();
    assert!(text.contains("8192 bytes") && text.contains(&Map::new(&CONFIG).size.to_string()), "{text}");
    // The kernel says there is more than there is: no access beyond the end of the file.
    let lying = Tree::new(8192);
    lying.file("resource", "0x00000000f0000000 0x00000000f00fffff 0x0000000000040200\n");
    assert!(lying.refused().contains("it has only 0x2000 bytes"), "{}", lying.refused());

    let missing = Tree::whole();
    missing.file("resource", &"0x0 0x0 0x0\n".repeat(6));
    assert!(missing.refused().contains("no BAR 0"), "{}", missing.refused());
    let ports = Tree::whole();
    ports.file("resource", "0x000000000000e000 0x000000000000e0ff 0x0000000000040101\n");
    assert!(ports.refused().contains("BAR 0 is not memory"));
    let gone = Tree::whole();
    fs::remove_file(gone.device().join("resource0")).unwrap();
    assert!(gone.refused().contains("resource0"), "{}", gone.refused());
    let off = Tree::whole();
    off.file("enable", "0\n");
    assert!(off.refused().contains("switched off") && off.refused().contains("echo 1"));

    let vanished = Tree::whole();
    fs::remove_dir_all(vanished.device()).unwrap();
    assert!(vanished.refused().contains("there is no PCI device 0000:03:00.0"));
    assert!(vanished.sysfs().candidates().unwrap().is_empty());
    assert!(Sysfs::at("/nowhere/at/all").candidates().unwrap().is_empty());
}

#[test]
fn no_permission_is_explained() {
    let tree = Tree::whole();
    let bar = tree.device().join("resource0");
    fs::set_permissions(&bar, fs::Permissions::from_mode(0o000)).unwrap();
    if OpenOptions::new().read(true).write(true).open(&bar).is_ok() {
        // Root is let in everywhere; a directory in place of the file is not.
        fs::remove_file(&bar).unwrap();
        fs::create_dir(&bar).unwrap();
        assert!(tree.refused().contains("resource0"), "{}", tree.refused());
        let denied = refusal(Path::new("resource0"), std::io::ErrorKind::PermissionDenied.into()).to_string();
        assert!(denied.contains("no permission for resource0") && denied.contains("chown"), "{denied}");
        return;
    }
    let text = tree.refused();
    assert!(text.contains("no permission") && text.contains("chown"), "{text}");
    assert!(
        matches!(&tree.sysfs().candidates().unwrap()[0].access, sysfs::Usability::Unusable(t) if t.contains("chown"))
    );
}

#[test]
fn wrong_bitstreams_are_refused() {
    let expect = |register: Reg, value: u32| {
        let tree = Tree::whole();
        tree.poke(register.address(), value);
        match tree.open() {
            Err(DeviceError::Identity(error)) => error,
            Err(other) => panic!("{register:?}: {other}"),
            Ok(_) => panic!("{register:?}: accepted"),
        }
    };
    assert!(matches!(expect(Reg::Magic, 0), IdentityError::Magic { found: 0, .. }));
    assert!(matches!(expect(Reg::MapVersion, 99), IdentityError::Version { found: 99, .. }));
    assert!(expect(Reg::MapVersion, 99).to_string().contains("the program is older"));
    // The one before refused no start, and took writes while busy.
    for older in [0, 2] {
        let text = expect(Reg::MapVersion, older).to_string();
        let says = format!("speaks version {older} of the register map, this program version 3");
        assert!(
            text.contains(&says) && text.contains("the bitstream is older") && text.contains("nendo synth"),
            "{text}"
        );
    }
    assert!(matches!(expect(Reg::Configuration, 15), IdentityError::Unknown { .. }));
    assert!(matches!(expect(Reg::MaxParticles, u32::MAX), IdentityError::Capacity { .. }));
    assert!(matches!(expect(Reg::MaxEdges, 0), IdentityError::Capacity { .. }));
    assert!(matches!(expect(Reg::HashLow, 1), IdentityError::Hash { .. }));
    let tree = Tree::whole();
    tree.poke(Reg::Magic.address(), u32::MAX);
    assert!(matches!(tree.open(), Err(DeviceError::LinkLost { .. })));
}

#[test]
fn resets_go_through_sysfs() {
    let tree = Tree::whole();
    tree.file("reset", "");
    tree.open().unwrap().reset().unwrap();
    assert_eq!(fs::read_to_string(tree.device().join("reset")).unwrap(), "1");
}

#[test]
fn the_xdma_drivers_files() {
    let tree = Tree::whole();
    let folder = tree.root.path();
    let user = folder.join("xdma0_user");
    fs::copy(tree.device().join("resource0"), &user).unwrap();
    // Without the channels, words go one by one.
    let mut board = Pci::xdma(folder, 0).unwrap();
    assert!(board.channels.is_none());
    board.write_block(0x2000, &[5, 6]).unwrap();
    assert_eq!(board.read(0x2004).unwrap(), 6);
    // Channels that lead to something else are not used, those that lead to the engine are.
    fs::write(folder.join("xdma0_h2c_0"), []).unwrap();
    fs::write(folder.join("xdma0_c2h_0"), [0; 64]).unwrap();
    assert!(Pci::xdma(folder, 0).unwrap().channels.is_none());
    for name in ["xdma0_h2c_0", "xdma0_c2h_0"] {
        fs::remove_file(folder.join(name)).unwrap();
        fs::hard_link(&user, folder.join(name)).unwrap();
    }
    let mut board = Pci::xdma(folder, 0).unwrap();
    assert!(board.channels.is_some());
    board.write_block(0x3000, &[8, 9]).unwrap();
    let mut words = [0; 2];
    board.read_block(0x3000, &mut words).unwrap();
    assert_eq!((words, board.read(0x3004).unwrap()), ([8, 9], 9));
    assert!(Pci::xdma(folder, 1).err().unwrap().to_string().contains("xdma1_user is not there"));
}

#[test]
fn a_bar_alone_has_no_interrupt() {
    let mut board = Tree::whole().open().unwrap();
    assert_eq!(board.wait_interrupt(0).unwrap(), Waited::Unsupported);
    assert!(!board.has_dma());
}

#[test]
fn vfio_without_an_iommu_is_explained() {
    let text = Pci::vfio(&Tree::whole().sysfs(), ADDRESS).err().unwrap().to_string();
    assert!(text.contains("no IOMMU group") && text.contains("use pci: instead"), "{text}");
}

proptest! {
    /// Whatever stands in the files of sysfs, nothing panics, and nothing is mapped that is not there.
    #[test]
    fn noise_in_sysfs(
        vendor in "\\PC{0,12}|0x10ee", device in "\\PC{0,12}|0x[0-9a-f]{1,20}",
        resource in "(0x[0-9a-f]{1,18}( |\n)){0,30}|\\PC{0,80}", raw in prop::collection::vec(any::<u8>(), 0..40),
    ) {
        let tree = Tree::new(4096);
        tree.file("vendor", &vendor);
        tree.file("device", &device);
        tree.file("resource", &resource);
        fs::write(tree.device().join("enable"), raw).unwrap();
        let _ = tree.sysfs().candidates();
        prop_assert!(tree.open().is_err());
    }

    /// Names of folders that are no addresses are passed over.
    #[test]
    fn noise_in_names(name in "[^/\\x00]{1,40}") {
        let tree = Tree::whole();
        if name != "." && name != ".." {
            let _ = fs::create_dir(tree.root.path().join(&name));
        }
        prop_assert!(tree.sysfs().candidates().unwrap().len() == 1);
    }
}
