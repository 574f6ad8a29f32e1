//! Recording all traffic with a device, and replaying it without one.
//!
//! A recording is a file of JSON lines: a header that says what was recorded, then one line per access. A
//! replay answers the same accesses in the same order with the same values, and refuses anything else: so a
//! run on a real board becomes a test.

use super::{Device, DeviceError, SpecError, Waited, backend::Backend};
use crate::output::Whole;
use serde::{Deserialize, Serialize};
use std::{
    fs::File,
    io::{BufRead, BufReader, Read, Write},
    path::{Path, PathBuf},
};

/// As users name a recording.
pub const BACKEND: Backend = Backend {
    prefix: "replay",
    argument: Some("FILE"),
    help: "a recording",
    made_to_measure: false,
    threads: false,
    check: |file| match file.is_empty() {
        true => Err(SpecError::new("replay", "needs a recording behind it: replay:FILE")),
        false => Ok(()),
    },
    open: |file, _| Ok(Box::new(Replay::new(Path::new(file))?)),
    list: Backend::none_listed,
};

/// The first line of a recording.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Header {
    nendo_recording: u32,
    device: String,
    /// Recordings of before do not know it.
    #[serde(default)]
    origin: Option<Origin>,
}

/// Where a recording comes from: what to run again for another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The command line.
    pub command: String,
    /// The version of the program.
    pub nendo: String,
    /// The name of the scene.
    pub scene: String,
}

impl Origin {
    /// Of this process, at work on a scene.
    pub fn here(scene: &str) -> Self {
        let words: Vec<String> = std::env::args_os().map(|word| quoted(&word.to_string_lossy())).collect();
        let (program, rest) =
            words.split_first().map_or(("", &[][..]), |(program, rest)| (program.as_str(), rest));
        let program = program.rsplit('/').next().unwrap_or_default();
        let command =
            std::iter::once(program).chain(rest.iter().map(String::as_str)).collect::<Vec<_>>().join(" ");
        let short = |text: &str| text.chars().take(MAX_TEXT).collect::<String>();
        Self { command: short(&command), nendo: env!("CARGO_PKG_VERSION").to_owned(), scene: short(scene) }
    }
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_=+,.:/@%".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

/// Characters of a command or name that a header keeps.
const MAX_TEXT: usize = 2000;

const VERSION: u32 = 1;

/// One access.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "do")]
enum Line {
    Read { at: u32, value: u32 },
    Write { at: u32, value: u32 },
    Refused { at: u32, write: bool },
    Failed { message: String },
    Interrupt { came: bool },
    Reset,
}

/// A device whose traffic is written to a file.
pub struct Recorder<D: Device> {
    inner: D,
    /// Until it has been completed.
    file: Option<Whole>,
    path: PathBuf,
}

impl<D: Device> Recorder<D> {
    /// Records all traffic with a device, for a scene of this name.
    pub fn new(inner: D, path: &Path, scene: &str) -> Result<Self, DeviceError> {
        let file = Whole::begin(path).map_err(DeviceError::io(path.display().to_string()))?;
        let header =
            Header { nendo_recording: VERSION, device: inner.name(), origin: Some(Origin::here(scene)) };
        let mut recorder = Self { inner, file: Some(file), path: path.to_owned() };
        recorder.line(&header)?;
        Ok(recorder)
    }

    fn line(&mut self, line: &impl Serialize) -> Result<(), DeviceError> {
        // What comes after its end is not part of it.
        let Some(file) = &mut self.file else { return Ok(()) };
        let mut text = serde_json::to_vec(line).unwrap_or_default();
        text.push(b'\n');
        file.write_all(&text).map_err(DeviceError::io(self.path.display().to_string()))
    }

    fn failure(&mut self, error: DeviceError) -> DeviceError {
        let line = match &error {
            DeviceError::Refused { address, write } => Line::Refused { at: *address, write: *write },
            other => Line::Failed { message: other.to_string() },
        };
        self.line(&line).err().unwrap_or(error)
    }
}

impl<D: Device> Device for Recorder<D> {
    fn read(&mut self, address: u32) -> Result<u32, DeviceError> {
        match self.inner.read(address) {
            Ok(value) => self.line(&Line::Read { at: address, value }).map(|()| value),
            Err(error) => Err(self.failure(error)),
        }
    }

    fn write(&mut self, address: u32, value: u32) -> Result<(), DeviceError> {
        match self.inner.write(address, value) {
            Ok(()) => self.line(&Line::Write { at: address, value }),
            Err(error) => Err(self.failure(error)),
        }
    }

    fn pause(&mut self, clocks: u64) {
        self.inner.pause(clocks);
    }

    fn wait_interrupt(&mut self, clocks: u64) -> Result<Waited, DeviceError> {
        let waited = self.inner.wait_interrupt(clocks)?;
        if waited != Waited::Unsupported {
            self.line(&Line::Interrupt { came: waited == Waited::Came })?;
        }
        Ok(waited)
    }

    fn reset(&mut self) -> Result<(), DeviceError> {
        self.inner.reset()?;
        self.line(&Line::Reset)
    }

    fn name(&self) -> String {
        self.inner.name()
    }

    /// Completes the recording: only now does it have its name.
    fn close(&mut self) -> Result<(), DeviceError> {
        let done = self.file.take().map_or(Ok(()), Whole::finish);
        done.map_err(DeviceError::io(self.path.display().to_string()))?;
        self.inner.close()
    }
}

/// A recording in place of a device.
pub struct Replay {
    file: BufReader<File>,
    path: String,
    number: usize,
    device: String,
    origin: Option<Origin>,
}

/// No line of a recording is longer, not even the first; a longer one is not a recording.
const MAX_LINE: usize = 1 << 15;

impl Replay {
    /// Opens a recording.
    pub fn new(path: &Path) -> Result<Self, DeviceError> {
        let name = path.display().to_string();
        let file = File::open(path).map_err(DeviceError::io(name.clone()))?;
        let mut replay =
            Self { file: BufReader::new(file), path: name, number: 0, device: String::new(), origin: None };
        let header: Header = replay.parse("a recording made by nendo")?;
        if header.nendo_recording != VERSION {
            return Err(replay.wrong(format!(
                "version {} of the format; this program reads {VERSION}",
                header.nendo_recording
            )));
        }
        (replay.device, replay.origin) = (header.device, header.origin);
        Ok(replay)
    }

    fn wrong(&self, message: String) -> DeviceError {
        DeviceError::Replay { file: self.path.clone(), line: self.number, message }
    }

    fn parse<T: for<'a> Deserialize<'a>>(&mut self, wanted: &str) -> Result<T, DeviceError> {
        self.number += 1;
        // One byte more than a line has shows that it is too long, however long it is.
        let mut line = Vec::new();
        let read = self.file.by_ref().take(MAX_LINE as u64 + 1).read_until(b'\n', &mut line);
        match read {
            Ok(0) => {
                Err(self.wrong(format!("the recording ends here; {wanted} was expected{}", self.told())))
            }
            Ok(bytes) if bytes > MAX_LINE => Err(self.wrong(format!("not {wanted}: the line is too long"))),
            Ok(_) => serde_json::from_slice(&line).map_err(|e| self.wrong(format!("not {wanted}: {e}"))),
            Err(error) => Err(self.wrong(format!("not {wanted}: {error}"))),
        }
    }

    fn differs(&self, asked: &str, line: &Line) -> DeviceError {
        self.wrong(format!(
            "the program asks to {asked}, but the recording goes on with {line:?}{}",
            self.told()
        ))
    }

    /// Where the recording comes from, as the end of a sentence.
    fn told(&self) -> String {
        let told = |Origin { command, nendo, scene }: &Origin| {
            format!("; it was made by `{command}` (nendo {nendo}, scene {scene})")
        };
        self.origin.as_ref().map_or_else(String::new, told)
    }
}

impl Device for Replay {
    fn read(&mut self, address: u32) -> Result<u32, DeviceError> {
        match self.parse(&format!("a read of {address:#x}"))? {
            Line::Read { at, value } if at == address => Ok(value),
            Line::Refused { at, write: false } if at == address => {
                Err(DeviceError::Refused { address, write: false })
            }
            Line::Failed { message } => Err(DeviceError::Unusable(message)),
            other => Err(self.differs(&format!("read {address:#x}"), &other)),
        }
    }

    fn write(&mut self, address: u32, value: u32) -> Result<(), DeviceError> {
        match self.parse(&format!("a write to {address:#x}"))? {
            Line::Write { at, value: recorded } if at == address && recorded == value => Ok(()),
            Line::Refused { at, write: true } if at == address => {
                Err(DeviceError::Refused { address, write: true })
            }
            Line::Failed { message } => Err(DeviceError::Unusable(message)),
            other => Err(self.differs(&format!("write {value:#x} to {address:#x}"), &other)),
        }
    }

    fn pause(&mut self, _: u64) {}

    fn wait_interrupt(&mut self, _: u64) -> Result<Waited, DeviceError> {
        match self.parse("a wait for the interrupt")? {
            Line::Interrupt { came } => Ok(if came { Waited::Came } else { Waited::TimedOut }),
            other => Err(self.differs("wait for the interrupt", &other)),
        }
    }

    fn reset(&mut self) -> Result<(), DeviceError> {
        match self.parse("a reset")? {
            Line::Reset => Ok(()),
            other => Err(self.differs("reset", &other)),
        }
    }

    fn name(&self) -> String {
        format!("replay of {}", self.device)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{fs, os::unix::fs::FileTypeExt};

    fn replay(text: &[u8]) -> Result<Replay, DeviceError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("traffic.jsonl");
        fs::write(&path, text).unwrap();
        Replay::new(&path)
    }

    /// A replay that did not fit said nothing of what had been recorded.
    #[test]
    fn a_recording_knows_its_command_and_a_mismatch_tells_it() {
        let text = br#"{"nendo_recording":1,"device":"x","origin":{"command":"nendo run 'my scene.toml' --steps 3","nendo":"0.1.0","scene":"dough"}}"#;
        let mut found = replay(&[&text[..], b"\n", br#"{"do":"reset"}"#, b"\n"].concat()).unwrap();
        for _ in 0..2 {
            let said = found.read(4).unwrap_err().to_string();
            assert!(
                said.contains("`nendo run 'my scene.toml' --steps 3` (nendo 0.1.0, scene dough)"),
                "{said}"
            );
        }
        assert_eq!(["a b", "it's", "", "x=1"].map(quoted), ["'a b'", r"'it'\''s'", "''", "x=1"]);
    }

    /// The name `FILE.partial` was the same for both.
    #[test]
    fn two_recordings_into_one_file_destroyed_each_other() {
        struct Same(u32);
        impl Device for Same {
            fn read(&mut self, _: u32) -> Result<u32, DeviceError> {
                Ok(self.0)
            }
            fn write(&mut self, _: u32, _: u32) -> Result<(), DeviceError> {
                Ok(())
            }
            fn pause(&mut self, _: u64) {}
            fn reset(&mut self) -> Result<(), DeviceError> {
                Ok(())
            }
            fn name(&self) -> String {
                format!("device {}", self.0)
            }
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("traffic.jsonl");
        let mut both = [1, 2].map(|k| Recorder::new(Same(k), &path, "scene").unwrap());
        for _ in 0..1000 {
            both.iter_mut().for_each(|recorder| assert!(recorder.read(4).is_ok()));
        }
        for recorder in &mut both {
            recorder.close().unwrap();
            let mut found = Replay::new(&path).unwrap();
            let name = found.name();
            let values: Vec<u32> = (0..1000).map(|_| found.read(4).unwrap()).collect();
            assert!(values.iter().all(|value| name == format!("replay of device {value}")), "{name}");
            assert!(found.read(4).unwrap_err().to_string().contains("ends here"));
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_recording_replaced_device_nodes() {
        let recorder = Recorder::new(replay(HEADER).unwrap(), Path::new("/dev/null"), "scene");
        recorder.unwrap().close().unwrap();
        assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
        assert!(!Path::new("/dev/null.partial").exists());
    }

    const HEADER: &[u8] = br#"{"nendo_recording":1,"device":"x"}"#;

    #[test]
    fn what_is_no_recording_is_refused() {
        let message = |text: &[u8]| replay(text).err().unwrap().to_string();
        assert!(message(b"").contains("ends here"));
        assert!(message(&[0xff, 0xfe, b'\n']).contains("not a recording"));
        assert!(message(br#"{"nendo_recording":2,"device":"x"}"#).contains("version 2"));
        assert!(message(&vec![b' '; 1 << 20]).contains("too long"));
    }

    #[test]
    fn a_recording_answers_what_was_asked() {
        let text =
            [HEADER, b"\n", br#"{"do":"read","at":4,"value":7}"#, b"\n", br#"{"do":"reset"}"#].concat();
        let mut found = replay(&text).unwrap();
        assert_eq!((found.name().as_str(), found.read(4).unwrap()), ("replay of x", 7));
        assert!(found.write(4, 1).unwrap_err().to_string().contains("goes on with Reset"));
        assert!(found.read(4).unwrap_err().to_string().contains("ends here"));
    }
}
