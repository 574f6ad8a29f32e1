//! Who may come in to the viewer, and what those do to others who may not.
#![cfg(feature = "cli")]

mod viewer;

use nendo_host::view::MAX_CLIENTS;
use serde_json::{Value, json};
use std::{
    io::{ErrorKind, Read, Write},
    net::TcpStream,
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};
use tungstenite::Message;
use viewer::{Client, PATIENCE, View};

#[test]
fn bad_clients_are_sent_away_and_the_run_goes_on() {
    let view = View::start(&["box:3x3x3"]);
    let mut page = view.connect();
    let before = page.frame(|h| h["step"].as_u64() > Some(0)).step();

    for wrong in
        ["", "play", "{}", "[1,2", r#"{"do":"explode"}"#, r#"{"do":"step","steps":-1}"#, "\u{0}\u{7f}"]
    {
        let mut client = view.connect();
        client.socket.send(Message::text(wrong)).unwrap();
        assert!(!client.sent_away().is_empty(), "{wrong}");
    }
    let mut client = view.connect();
    client.socket.send(Message::binary(vec![0; 10])).unwrap();
    assert_eq!(client.sent_away(), "text only");
    for size in [nendo_host::view::MAX_MESSAGE + 1, 1 << 22] {
        let mut client = view.connect();
        let _ = client.socket.send(Message::text(" ".repeat(size)));
        assert!(!client.sent_away().is_empty());
    }
    // Pings are messages like others: a flood of them was answered without end.
    let flood = [Message::text(r#"{"do":"speed","speed":1}"#), Message::Ping(Default::default())];
    for message in flood.into_iter().chain([Message::Pong(Default::default())]) {
        let mut client = view.connect();
        for _ in 0..2 * nendo_host::view::MAX_RATE {
            if client.socket.send(message.clone()).is_err() {
                break;
            }
        }
        assert!(!client.sent_away().is_empty(), "{message}");
    }
    // Not WebSocket at all.
    let mut raw = TcpStream::connect(view.host()).unwrap();
    raw.write_all(&[0xff; 4096]).unwrap();
    // Particles and scenes that are not there are nobody's business.
    page.tell(json!({"do": "pull", "particle": 4_000_000, "force": [1, 0, 0]}));
    page.tell(json!({"do": "open", "scene": 99, "engine": "model", "profile": "wide"}));
    page.tell(json!({"do": "open", "scene": 0, "engine": "board", "profile": "wide"}));

    // Every place taken by somebody who reads nothing: the next is refused, the engine does not wait.
    let lazy: Vec<Client> = (1..nendo_host::view::MAX_CLIENTS).map(|_| view.connect()).collect();
    assert_eq!(view.try_connect(&[]).err(), Some(503));
    let after = page.frame(|h| h["step"].as_u64() > Some(before + 200));
    assert_eq!((&after.header["trouble"], &after.header["running"]), (&Value::Null, &json!(true)));
    drop(lazy);
    let end = Instant::now() + PATIENCE;
    while view.try_connect(&[]).is_err() {
        assert!(Instant::now() < end, "places are given back");
        std::thread::sleep(Duration::from_millis(20));
    }
    view.end();
}

#[test]
fn only_its_own_page_may_connect() {
    let view = View::start(&["box:3x3x3"]);
    assert!(view.url.starts_with("http://127.0.0.1:"), "{}", view.url);
    let (host, token) = (view.host(), view.token());
    let (status, page) = view.get(&format!("/{token}/"), host);
    assert_eq!(status, 200);
    assert!(page.contains("content-security-policy") && !page.contains("https://"));
    // Parts are named relative to the page: the token goes with them.
    assert!(!page.contains("=\"/"), "{page}");
    assert_eq!(view.get(&format!("/{token}/"), "evil.example").0, 403);
    assert_eq!(view.get(&format!("/{token}/../Cargo.toml"), host).0, 404);
    for (name, value) in [("origin", "http://evil.example"), ("origin", "null"), ("host", "evil.example")] {
        assert_eq!(view.try_connect(&[(name, value)]).err(), Some(403), "{name}: {value}");
    }
    assert!(view.try_connect(&[("origin", &format!("http://{host}"))]).is_ok());
    view.end();
}

/// On loopback there was no token: any user's program on this machine could pull. And the page's parts were anybody's.
#[test]
fn nothing_is_answered_without_the_token() {
    let folder = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/view-page")).unwrap();
    let parts = folder.map(|file| file.unwrap().file_name().into_string().unwrap().replace("index.html", ""));
    let parts: Vec<String> = parts.collect();
    assert!(parts.len() > 5 && parts.iter().any(String::is_empty), "{parts:?}");
    for listen in ["127.0.0.1:0", "0.0.0.0:0"] {
        let view = View::start(&["box:3x3x3", "--listen", listen]);
        let (host, token) = (view.host(), view.token());
        assert_eq!(token.len(), 32);
        let other = "0".repeat(32);
        for part in &parts {
            assert_eq!(view.get(&format!("/{token}/{part}"), host).0, 200, "{part}");
            for wrong in [format!("/{part}"), format!("/{other}/{part}"), format!("/{part}?token={token}")] {
                assert_eq!(view.get(&wrong, host).0, 403, "{wrong}");
            }
        }
        for wrong in ["/ws".to_owned(), format!("/{other}/ws"), format!("/{}/ws", &token[1..])] {
            assert_eq!(view.try_connect_at(&wrong, &[]).err(), Some(403), "{wrong}");
        }
        assert_eq!(view.get("/favicon.ico", host).0, 403);
        assert!(view.try_connect(&[]).is_ok());
        view.end();
    }
}

/// A page that answers nothing kept its place, and what it held, for ever.
#[test]
fn silent_pages_are_asked_and_sent_away() {
    let view = View::start(&["box:3x3x3"]);
    let mut page = view.connect();
    page.rewind();
    let mut silent = view.connect();
    silent.tell(json!({"do": "pull", "particle": 13, "force": [1, 0, 0]}));
    page.frame(|h| h["pull"]["particle"] == 13);
    // This one is asked as well, and answers: who reads, answers.
    page.socket.get_ref().set_read_timeout(Some(Duration::from_millis(200))).unwrap();
    let (started, mut asked) = (Instant::now(), 0);
    loop {
        match page.socket.read() {
            Ok(Message::Ping(_)) => asked += 1,
            Ok(Message::Binary(bytes)) if String::from_utf8_lossy(&bytes).contains(r#""pull":null"#) => break,
            Ok(_) => {}
            Err(tungstenite::Error::Io(error)) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => panic!("the page that answers is sent away: {error}"),
        }
        assert!(started.elapsed() < PATIENCE, "the silent one stays");
    }
    assert!(asked > 1, "{asked}");
    assert_eq!(silent.sent_away(), "nothing heard from the page");
    view.end();
}

/// A connection that says nothing, or half a request, stays as long as it likes no more.
#[test]
fn who_does_not_finish_a_request_is_dropped() {
    let view = View::start(&["box:3x3x3"]);
    let open = |text: &str| {
        let mut stream = TcpStream::connect(view.host()).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(text.as_bytes()).unwrap();
        stream
    };
    let head = format!("GET /{}/ws HTTP/1.1\r\nHost: {}\r\n", view.token(), view.host());
    let started = Instant::now();
    let waiting = ["", "GET", &head].map(open);
    for mut stream in waiting {
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        assert!(!answer.starts_with(b"HTTP/1.1 200") && !answer.starts_with(b"HTTP/1.1 101"));
    }
    let took = started.elapsed();
    assert!(took > Duration::from_secs(1) && took < Duration::from_secs(20), "{took:?}");
    // A head without end is no request either.
    let mut endless = open(&head);
    let cut = (0..1000).any(|k| write!(endless, "X-{k}: {}\r\n", "x".repeat(100)).is_err());
    assert!(cut || endless.read(&mut [0; 12]).is_ok_and(|n| n < 12) || started.elapsed() < PATIENCE);
    view.end();
}

/// The longest time between two frames of a page while something is done.
fn longest_gap(pages: &mut [Client], something: impl FnOnce()) -> Duration {
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let stop = &stop;
        let watch = |page: &mut Client| {
            let (mut gap, mut last) = (Duration::ZERO, Instant::now());
            while !stop.load(Ordering::Relaxed) {
                page.frame(|_| true);
                gap = gap.max(last.elapsed());
                last = Instant::now();
            }
            gap
        };
        let pages: Vec<_> = pages.iter_mut().map(|page| scope.spawn(move || watch(page))).collect();
        something();
        stop.store(true, Ordering::Relaxed);
        pages.into_iter().map(|page| page.join().unwrap()).max().unwrap()
    })
}

/// Nothing, a refusal, or anything else: 0, 1, 2.
fn how_answered(mut stream: TcpStream) -> usize {
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    match answer.get(9..12) {
        None => 0,
        Some(b"403") => 1,
        Some(_) => 2,
    }
}

/// A thousand who have no token, fast ones and slow ones, beside as many pages as there are places: none gets in, and
/// every page sees the object move on.
#[test]
fn a_thousand_strangers_disturb_no_page() {
    let view = View::start(&["cube9", "--engine", "f32"]);
    let mut pages: Vec<Client> = (0..MAX_CLIENTS).map(|_| view.connect()).collect();
    for page in &mut pages {
        page.frame(|h| h["running"] == true);
    }
    let before = longest_gap(&mut pages, || std::thread::sleep(Duration::from_secs(2)));
    let host = view.host();
    let mut answered = [0; 3];
    let during = longest_gap(&mut pages, || {
        let wrong = "f".repeat(32);
        let upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
                       Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n";
        let mut waiting = Vec::new();
        for k in 0..1000 {
            let mut stream = TcpStream::connect(host).unwrap();
            stream.set_read_timeout(Some(PATIENCE)).unwrap();
            let text = match k % 4 {
                0 => format!("GET /{wrong}/ws HTTP/1.1\r\nHost: {host}\r\n{upgrade}\r\n"),
                1 => format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n"),
                // Slow ones: half a request, and nothing.
                2 => format!("GET /{wrong}/ws HTTP/1.1\r\nHost: {host}\r\nX-Slow: "),
                _ => String::new(),
            };
            // A refused one may be gone before it has said everything.
            let _ = stream.write_all(text.as_bytes());
            if k % 4 < 2 {
                answered[how_answered(stream)] += 1;
                continue;
            }
            waiting.push(stream);
            // Those who came a while ago say a little more.
            if let Some(slow) = waiting.len().checked_sub(30).and_then(|k| waiting.get_mut(k)) {
                let _ = slow.write_all(b"x");
            }
        }
        for stream in waiting {
            answered[how_answered(stream)] += 1;
        }
    });
    println!("longest gap before {before:?}, during {during:?}; dropped, refused, let in: {answered:?}");
    assert_eq!(answered[2], 0, "somebody got in");
    assert!(answered[0] >= 500 && answered[1] >= 400, "{answered:?}");
    assert!(
        during < Duration::from_secs(1),
        "frames came {before:?} apart at most before, {during:?} during it"
    );
    for page in &mut pages {
        let now = page.frame(|_| true).step();
        page.frame(|h| h["step"].as_u64() > Some(now) && h["trouble"] == Value::Null);
    }
    // And when they have gone, a place that becomes free is had at once.
    drop(pages.pop());
    let started = Instant::now();
    while view.try_connect(&[]).is_err() {
        assert!(started.elapsed() < PATIENCE);
        std::thread::sleep(Duration::from_millis(20));
    }
    view.end();
}

/// Fragments of a message that never ends are no messages, and were not counted: a page that sends them took the time
/// of all others.
#[test]
fn endless_fragments_of_one_page_disturb_no_other() {
    let view = View::start(&["cube9", "--engine", "f32"]);
    let mut page = [view.connect()];
    let mut endless = view.connect();
    let fragments: Vec<u8> = [0, 0x80, 0, 0, 0, 0].repeat(10_000);
    let mut sent = 0;
    let gap = longest_gap(&mut page, || {
        let stream = endless.socket.get_mut();
        stream.set_nonblocking(true).unwrap();
        stream.write_all(&[1, 0x80, 0, 0, 0, 0]).unwrap();
        let started = Instant::now();
        while started.elapsed() < Duration::from_secs(2) {
            match stream.write(&fragments[sent % 6..]) {
                Ok(bytes) => sent += bytes,
                Err(error) if error.kind() == ErrorKind::WouldBlock => std::thread::yield_now(),
                Err(_) => break,
            }
        }
    });
    println!("longest gap {gap:?} beside {sent} bytes of empty fragments");
    assert!(gap < Duration::from_secs(1), "{gap:?}");
    view.end();
}
