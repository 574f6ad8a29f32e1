//! `nendo view` and a plain WebSocket client in place of its page, for tests.
#![allow(dead_code, reason = "each test uses a part of it")]

use serde_json::{Value, json};
use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::{Child, ChildStdout, Command, Stdio},
    time::{Duration, Instant},
};
use tungstenite::{Message, WebSocket, client::IntoClientRequest, protocol::frame::coding::CloseCode};

pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// `nendo view`, interrupted at the end of the test.
pub(crate) struct View {
    pub(crate) child: Child,
    stdout: BufReader<ChildStdout>,
    pub(crate) url: String,
}

impl View {
    pub(crate) fn start(args: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_nendo"))
            .args([&["view", "--json", "--quiet"], args].concat())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let url: Value = serde_json::from_str(&line).unwrap();
        Self { child, stdout, url: url["url"].as_str().unwrap().to_owned() }
    }

    /// Host and port.
    pub(crate) fn host(&self) -> &str {
        self.url.strip_prefix("http://").unwrap().split('/').next().unwrap()
    }

    /// The token that the printed address has.
    pub(crate) fn token(&self) -> &str {
        self.url.rsplit('/').nth(1).unwrap()
    }

    pub(crate) fn connect(&self) -> Client {
        self.try_connect(&[]).unwrap()
    }

    pub(crate) fn try_connect(&self, headers: &[(&'static str, &str)]) -> Result<Client, u16> {
        self.try_connect_at(&format!("/{}/ws", self.token()), headers)
    }

    pub(crate) fn try_connect_at(&self, path: &str, headers: &[(&'static str, &str)]) -> Result<Client, u16> {
        let stream = TcpStream::connect(self.host()).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut request = format!("ws://{}{path}", self.host()).into_client_request().unwrap();
        for (name, value) in headers {
            request.headers_mut().insert(*name, value.parse().unwrap());
        }
        match tungstenite::client(request, stream) {
            Ok((socket, _)) => Ok(Client { socket }),
            Err(tungstenite::HandshakeError::Failure(tungstenite::Error::Http(answer))) => {
                Err(answer.status().as_u16())
            }
            Err(error) => panic!("{error}"),
        }
    }

    /// Status and body of a request.
    pub(crate) fn get(&self, path: &str, host: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(self.host()).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        let status = text.split(' ').nth(1).unwrap().parse().unwrap();
        (status, text)
    }

    /// Ctrl-C: it ends well, and has printed one object only.
    pub(crate) fn end(mut self) {
        interrupt(&self.child);
        let end = Instant::now() + PATIENCE;
        let status = loop {
            match self.child.try_wait().unwrap() {
                Some(status) => break status,
                None if Instant::now() < end => std::thread::sleep(Duration::from_millis(10)),
                None => panic!("does not end"),
            }
        };
        let mut rest = String::new();
        self.stdout.read_to_string(&mut rest).unwrap();
        assert_eq!((status.code(), rest.as_str()), (Some(0), ""));
    }
}

impl Drop for View {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn interrupt(child: &Child) {
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
}

pub(crate) struct Client {
    pub(crate) socket: WebSocket<TcpStream>,
}

/// A binary message: its header and its words.
pub(crate) struct Part {
    pub(crate) header: Value,
    pub(crate) words: Vec<u8>,
}

impl Part {
    pub(crate) fn points(&self) -> Vec<[f32; 3]> {
        let floats: Vec<f32> =
            self.words.chunks(4).map(|c| f32::from_le_bytes(c.try_into().unwrap())).collect();
        floats[..floats.len() / 4 * 3].chunks(3).map(|c| c.try_into().unwrap()).collect()
    }

    pub(crate) fn step(&self) -> u64 {
        self.header["step"].as_u64().unwrap()
    }
}

impl Client {
    pub(crate) fn next(&mut self) -> Part {
        let bytes = loop {
            match self.socket.read().unwrap() {
                Message::Binary(bytes) => break bytes,
                // Answered by reading on.
                Message::Ping(_) => {}
                other => panic!("binary messages only, not {other}"),
            }
        };
        let length = u32::from_le_bytes(bytes[..4].try_into().unwrap()) as usize;
        Part {
            header: serde_json::from_slice(&bytes[4..4 + length]).unwrap(),
            words: bytes[4 + length..].to_vec(),
        }
    }

    /// The next frame that is as wanted.
    pub(crate) fn frame(&mut self, wanted: impl Fn(&Value) -> bool) -> Part {
        let end = Instant::now() + PATIENCE;
        loop {
            let part = self.next();
            if part.header["kind"] == "frame" && wanted(&part.header) {
                return part;
            }
            assert!(Instant::now() < end, "last: {}", part.header);
        }
    }

    pub(crate) fn tell(&mut self, message: Value) {
        self.socket.send(Message::text(message.to_string())).unwrap();
    }

    /// Back to the start, standing still.
    pub(crate) fn rewind(&mut self) {
        self.tell(json!({"do": "pause"}));
        self.tell(json!({"do": "reset"}));
        self.frame(|h| h["step"] == 0 && h["running"] == false && h["busy"].is_null());
    }

    pub(crate) fn step(&mut self, steps: u64) -> Part {
        self.tell(json!({"do": "step", "steps": steps}));
        self.frame(|h| h["step"].as_u64() >= Some(steps))
    }

    /// Why the server closed the connection.
    pub(crate) fn sent_away(mut self) -> String {
        loop {
            match self.socket.read() {
                Ok(Message::Close(Some(close))) => {
                    assert_eq!(close.code, CloseCode::Policy);
                    return close.reason.to_string();
                }
                Ok(Message::Close(None)) => panic!("closed without a reason"),
                Ok(_) => {}
                Err(error) => return error.to_string(),
            }
        }
    }
}
