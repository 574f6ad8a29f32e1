//! The server against the crate's own client, and against nonsense.

use super::*;
use crate::device::model::ModelDevice;
use nendo_hdl::{
    config::Config,
    map::{MAGIC, Map, Reg},
};
use nendo_model::{blocks::Inverse, numbers::Profile};
use proptest::prelude::*;
use std::io::Write;

const CONFIG: Config = Config::minimal(Profile::Wide, Inverse::Table);

fn card() -> Card {
    Card::new(Map::new(&CONFIG).size)
}

fn model() -> Box<dyn Device> {
    Box::new(ModelDevice::new(&CONFIG, 1))
}

fn word(data: &[u8]) -> u32 {
    u32::from_le_bytes(data.try_into().unwrap())
}

#[test]
fn a_client_finds_the_card_and_the_engine() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("card.sock");
    let mut emulator = Emulator::new(&path, card(), model()).unwrap();
    let served = std::thread::spawn(move || emulator.serve().map(|counts| (counts, emulator)));
    let mut client = vfio_user::Client::new(&path).unwrap();
    let config = vfio::VFIO_PCI_CONFIG_REGION_INDEX;
    let mut data = [0; 4];
    client.region_read(config, 0, &mut data).unwrap();
    assert_eq!(word(&data), 0x6e64_10ee);
    client.region_write(config, 0x10, &[0xff; 4]).unwrap();
    client.region_read(config, 0x10, &mut data).unwrap();
    assert_eq!(word(&data), !(card().bar_bytes - 1));
    client.region_read(0, 0, &mut data).unwrap();
    assert_eq!(word(&data), MAGIC);
    let scratch = u64::from(Reg::Scratch.address());
    client.region_write(0, scratch, &0x1234_5678u32.to_le_bytes()).unwrap();
    client.region_read(0, scratch, &mut data).unwrap();
    assert_eq!(word(&data), 0x1234_5678);
    // What the engine refuses reads as ones.
    client.region_read(0, 0x3fc, &mut data).unwrap();
    assert_eq!(word(&data), u32::MAX);
    drop(client);
    let (counts, emulator) = served.join().unwrap().unwrap();
    assert_eq!((counts.read, counts.written, counts.refused), (3, 1, 1));
    drop(emulator);
    assert!(!path.exists());
}

#[test]
fn sockets_left_behind_are_replaced_and_used_ones_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("card.sock");
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    assert!(path.exists());
    let first = Emulator::new(&path, card(), model()).unwrap();
    let second = Emulator::new(&path, card(), model()).err().unwrap().to_string();
    assert!(second.contains("in use"), "{second}");
    drop(first);
    let odd = Emulator::new(&path, Card { bar_bytes: 5000, ..card() }, model()).err().unwrap().to_string();
    assert!(odd.contains("power of two"), "{odd}");
    let nowhere = Emulator::new(Path::new("/nowhere/at/all"), card(), model()).err().unwrap().to_string();
    assert!(nowhere.contains("/nowhere/at/all"), "{nowhere}");
}

#[test]
fn nonsense_ends_a_connection_not_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("card.sock");
    let mut emulator = Emulator::new(&path, card(), model()).unwrap();
    // A version message that is shorter than itself.
    let mut noise = UnixStream::connect(&path).unwrap();
    noise.write_all(&[0, 0, 1, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]).unwrap();
    noise.shutdown(std::net::Shutdown::Write).unwrap();
    assert!(emulator.serve().is_err());
    let client = std::thread::spawn(move || {
        let mut data = [0; 4];
        vfio_user::Client::new(&path).unwrap().region_read(0, 0, &mut data).unwrap();
        word(&data)
    });
    assert_eq!(emulator.serve().unwrap().read, 1);
    assert_eq!(client.join().unwrap(), MAGIC);
}

proptest! {
    /// Whatever is asked for, nothing panics, and nothing outside the card is touched.
    #[test]
    fn any_access(region in 0u32..12, offset in prop_oneof![any::<u64>(), 0u64..600, 0x3_fff0u64..0x4_0010],
        bytes in 0usize..20, value: u8) {
        let mut backend = Backend::new(card(), model());
        let mut data = vec![value; bytes];
        let read = backend.region_read(region, offset, &mut data).is_ok();
        let written = backend.region_write(region, offset, &data).is_ok();
        prop_assert_eq!(read, written);
        prop_assert!(!read || region == vfio::VFIO_PCI_CONFIG_REGION_INDEX || region == 0);
    }
}
