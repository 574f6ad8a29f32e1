//! A conversation with a page that has been let in, and what it may not do.

use super::{
    protocol::{Command, MAX_MESSAGE},
    session::{Frame, Refused, Session},
};
use axum::extract::{
    WebSocketUpgrade,
    ws::{CloseFrame, Message, WebSocket, close_code},
};
use std::time::{Duration, Instant};
use tokio::time::{sleep, timeout};

/// Pages at a time.
pub const MAX_CLIENTS: usize = 8;
/// Messages of any kind that a page may send within a second.
pub const MAX_RATE: u32 = 240;
/// A page that takes nothing for so long is gone.
const PATIENCE: Duration = Duration::from_secs(10);
/// A page that has said nothing for so long is asked whether it is there.
const SILENCE: Duration = Duration::from_secs(3);
/// And has so long to answer: browsers do by themselves.
const ANSWER: Duration = Duration::from_secs(6);

/// A WebSocket that holds no more than a message at a time.
pub(super) fn limited(upgrade: WebSocketUpgrade) -> WebSocketUpgrade {
    upgrade.max_message_size(MAX_MESSAGE).max_frame_size(MAX_MESSAGE).read_buffer_size(4 * MAX_MESSAGE)
}

/// Talks with a page until it leaves or is sent away; what it holds is let go.
pub(super) async fn talk(mut socket: WebSocket, session: &Session, page: u64) {
    if let Err(why) = converse(&mut socket, session, page).await {
        let close = CloseFrame { code: close_code::POLICY, reason: why.into() };
        let _ = timeout(PATIENCE, socket.send(Message::Close(Some(close)))).await;
    }
    while session.left(page) == Err(Refused::Full) {
        sleep(Duration::from_millis(5)).await;
    }
}

/// How much a page says.
struct Rate {
    since: Instant,
    count: u32,
}

impl Rate {
    fn count(&mut self) -> Result<(), String> {
        if self.since.elapsed() >= Duration::from_secs(1) {
            *self = Self { since: Instant::now(), count: 0 };
        }
        self.count += 1;
        let fine = self.count <= MAX_RATE;
        fine.then_some(()).ok_or_else(|| format!("more than {MAX_RATE} messages within a second"))
    }
}

/// Talks with a page until it leaves; an error is why it is sent away.
async fn converse(socket: &mut WebSocket, session: &Session, page: u64) -> Result<(), String> {
    let mut frames = session.frames();
    frames.mark_changed();
    let mut opened = 0;
    let mut rate = Rate { since: Instant::now(), count: 0 };
    let (mut heard, mut asked) = (Instant::now(), false);
    loop {
        let limit = if asked { SILENCE + ANSWER } else { SILENCE };
        tokio::select! {
            // What has been said is heard before silence is complained of.
            biased;
            message = socket.recv() => {
                (heard, asked) = (Instant::now(), false);
                rate.count()?;
                let text = match message {
                    Some(Ok(Message::Text(text))) => text,
                    Some(Ok(Message::Ping(_) | Message::Pong(_))) => continue,
                    Some(Ok(Message::Binary(_))) => return Err("text only".to_owned()),
                    Some(Ok(Message::Close(_))) | None => return Ok(()),
                    Some(Err(error)) => return Err(short(&error.to_string())),
                };
                let command = Command::parse(&text).map_err(|e| short(&e))?;
                // Another page may have filled the queue: whose commands come at a bearable rate waits for room.
                let end = Instant::now() + PATIENCE;
                while let Err(why) = session.command(page, command.clone()) {
                    if why == Refused::Ended {
                        return Err("the engine's thread has ended".to_owned());
                    }
                    if Instant::now() >= end {
                        return Err("too many commands are waiting".to_owned());
                    }
                    sleep(Duration::from_millis(5)).await;
                }
            }
            () = sleep(limit.saturating_sub(heard.elapsed())) => {
                if asked {
                    return Err("nothing heard from the page".to_owned());
                }
                asked = true;
                deliver(socket, Message::Ping(Default::default())).await?;
            }
            changed = frames.changed() => {
                changed.map_err(|_| "the engine's thread has ended".to_owned())?;
                let Frame { opened: now, scene, state } = frames.borrow_and_update().clone();
                let news = if now == opened { None } else { Some(scene) };
                opened = now;
                for bytes in news.into_iter().chain([state]) {
                    deliver(socket, Message::Binary(bytes)).await?;
                }
            }
        }
    }
}

/// Sends a message, unless the page takes nothing.
async fn deliver(socket: &mut WebSocket, message: Message) -> Result<(), String> {
    match timeout(PATIENCE, socket.send(message)).await {
        Ok(sent) => sent.map_err(|error| short(&error.to_string())),
        Err(_) => Err("the page takes nothing".to_owned()),
    }
}

/// A reason as it fits a closing message.
fn short(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(100).map(|c| if c.is_ascii() { c } else { '?' }).collect()
}
