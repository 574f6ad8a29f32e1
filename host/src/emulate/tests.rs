//! The server against the crate's own client, and against nonsense.

use super::{backend::BUS_MASTER, *};
use crate::{
    device::{model::ModelDevice, pci::dma::Status},
    sys::event,
};
use nendo_model::contract::{
    config::Config,
    map::{MAGIC, Map, Reg, WindowName},
    numbers::{Inverse, Profile},
    words::{self, Command, RegisterWord, Slot},
};
use proptest::prelude::*;
use std::{
    fs,
    io::Write,
    os::{
        fd::AsRawFd,
        unix::{
            fs::{FileTypeExt, symlink},
            net::UnixStream,
        },
    },
    time::Duration,
};

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

/// A client of a card in a thread of its own.
fn connect(card: Card) -> (vfio_user::Client, thread::JoinHandle<Counts>, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("card.sock");
    let mut emulator = Emulator::new(&path, card, model()).unwrap();
    let served = thread::spawn(move || emulator.serve().unwrap());
    (vfio_user::Client::new(&path).unwrap(), served, folder)
}

fn set(client: &mut vfio_user::Client, region: u32, address: u32, value: u32) {
    client.region_write(region, address.into(), &value.to_le_bytes()).unwrap();
}

fn get(client: &mut vfio_user::Client, region: u32, address: u32) -> u32 {
    let mut data = [0; 4];
    client.region_read(region, address.into(), &mut data).unwrap();
    word(&data)
}

#[test]
fn an_interrupt_is_a_level_that_masks_itself() {
    let (mut client, served, _folder) = connect(card());
    assert_eq!(get(&mut client, vfio::VFIO_PCI_CONFIG_REGION_INDEX, 0x3c), space::INTERRUPT_PIN);
    let index = vfio::VFIO_PCI_INTX_IRQ_INDEX;
    assert_eq!(client.get_irq_info(index).unwrap().count, 1);
    assert_eq!(client.get_irq_info(vfio::VFIO_PCI_MSI_IRQ_INDEX).unwrap().count, 0);
    let event = event::counter().unwrap();
    let come = || event::wait(&event, Duration::from_secs(10)).unwrap();
    let silent = || !event::wait(&event, Duration::from_millis(20)).unwrap();
    let trigger = vfio::VFIO_IRQ_SET_DATA_EVENTFD | vfio::VFIO_IRQ_SET_ACTION_TRIGGER;
    client.set_irqs(index, trigger, 0, 1, &[event.as_raw_fd()]).unwrap();
    let unmask = |client: &mut vfio_user::Client| {
        let flags = vfio::VFIO_IRQ_SET_DATA_NONE | vfio::VFIO_IRQ_SET_ACTION_UNMASK;
        client.set_irqs(index, flags, 0, 1, &[]).unwrap();
    };
    let command = Command { clear: true, ..Command::default() }.word();
    // Not switched on in the engine: nothing comes, however often it is asked.
    set(&mut client, 0, Reg::Command.address(), command);
    while words::Status::from_bits(get(&mut client, 0, Reg::Status.address())).busy {}
    assert_eq!(get(&mut client, 0, Reg::Interrupt.address()), 1);
    assert!(silent());
    set(&mut client, 0, Reg::Interrupt.address(), 1);
    set(&mut client, 0, Reg::InterruptEnable.address(), 1);
    // Nobody asks, and it comes all the same.
    set(&mut client, 0, Reg::Command.address(), command);
    assert!(come());
    // Masked it is silent; unmasked it comes again until it is acknowledged.
    get(&mut client, 0, 0);
    assert!(silent());
    unmask(&mut client);
    assert!(come());
    set(&mut client, 0, Reg::Interrupt.address(), 1);
    unmask(&mut client);
    assert!(silent());
    // And once more, until the client wants no more of it.
    set(&mut client, 0, Reg::Command.address(), command);
    assert!(come());
    let off = vfio::VFIO_IRQ_SET_DATA_NONE | vfio::VFIO_IRQ_SET_ACTION_TRIGGER;
    client.set_irqs(index, off, 0, 0, &[]).unwrap();
    set(&mut client, 0, Reg::Command.address(), command);
    assert!(silent());
    drop(client);
    assert_eq!(served.join().unwrap().interrupts, 3);
}

#[test]
fn the_card_fetches_words_where_it_is_asked_to() {
    use crate::device::pci::dma::Register;
    use std::os::unix::fs::FileExt;
    let config = vfio::VFIO_PCI_CONFIG_REGION_INDEX;
    let (mut client, served, _folder) = connect(Card { dma: true, ..card() });
    set(&mut client, config, 0x14, u32::MAX);
    assert_eq!(get(&mut client, config, 0x14), !(DMA_BYTES - 1));
    let map = Map::new(&CONFIG);
    let window = map.window(WindowName::Edge).base;
    let values: Vec<u32> = (0..100).map(|k| (k * 0x10001) & 0x00ff_ffff).collect();
    let file = tempfile::tempfile().unwrap();
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    file.write_all_at(&bytes, 4096).unwrap();
    client.dma_map(4096, 0x5000, 400, file.as_raw_fd()).unwrap();
    let fetch = |client: &mut vfio_user::Client, from: u32, words: u32, to: u32| {
        for (register, value) in
            [(Register::AddressLow, from), (Register::Words, words), (Register::To, to), (Register::Go, 1)]
        {
            set(client, 1, register as u32, value);
        }
        get(client, 1, Register::Status as u32)
    };
    assert_eq!(fetch(&mut client, 0x5000, 100, window), Status::Unreachable as u32, "no bus master yet");
    set(&mut client, config, 4, space::MEMORY_ENABLE | BUS_MASTER);
    assert_eq!(fetch(&mut client, 0x5000, 100, window), Status::Done as u32);
    for k in 0..50 {
        // What belongs to no part of a slot is not kept.
        let kept = map.pack(&map.unpack::<Slot>(&values[2 * k as usize..][..2]));
        let found = [0, 4].map(|word| get(&mut client, 0, window + 8 * k + word));
        assert_eq!(found[..], kept, "slot {k}");
    }
    assert_eq!(fetch(&mut client, 0x5004, 100, window), Status::Unreachable as u32);
    assert_eq!(fetch(&mut client, 0x5000, 1, Reg::Magic.address()), Status::Refused as u32);
    assert_eq!(fetch(&mut client, 0x5000, 1, card().bar_bytes), Status::Invalid as u32);
    drop(client);
    assert_eq!(served.join().unwrap().fetched, 101);
    // The card as it is built has none of it.
    let (mut client, _served, _folder) = connect(card());
    set(&mut client, config, 0x14, u32::MAX);
    set(&mut client, config, 4, u32::MAX);
    assert_eq!((get(&mut client, config, 0x14), get(&mut client, config, 4) & BUS_MASTER), (0, 0));
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

/// A connection to a plain file is refused as one to a dead socket is: the file was deleted.
#[test]
fn files_where_a_socket_was_to_be_were_deleted() {
    let folder = tempfile::tempdir().unwrap();
    let [file, link, target] = ["thesis.toml", "link", "target"].map(|name| folder.path().join(name));
    fs::write(&file, "mine").unwrap();
    symlink(&file, &link).unwrap();
    fs::create_dir(&target).unwrap();
    for (path, what) in [(&file, "is a file"), (&link, "is a link"), (&target, "is a folder")] {
        let refused = Emulator::new(path, card(), model()).err().unwrap().to_string();
        assert!(refused.contains(what) && refused.contains("choose another path"), "{refused}");
    }
    assert!(Emulator::new(Path::new("/dev/null"), card(), model()).is_err());
    assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
    assert_eq!(fs::read(&file).unwrap(), b"mine");
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
}

/// What came to be where our socket was is not ours to remove.
#[test]
fn an_end_removes_its_own_socket_only() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("card.sock");
    let emulator = Emulator::new(&path, card(), model()).unwrap();
    fs::rename(&path, folder.path().join("moved")).unwrap();
    fs::write(&path, "mine").unwrap();
    drop(emulator);
    assert_eq!(fs::read(&path).unwrap(), b"mine");
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
        let read = backend.read(region, offset, &mut data).is_ok();
        let written = backend.write(region, offset, &data).is_ok();
        prop_assert_eq!(read, written);
        prop_assert!(!read || region == vfio::VFIO_PCI_CONFIG_REGION_INDEX || region == 0);
    }
}
