//! The page over HTTP and its WebSocket, with limits on what strangers can do.
//!
//! Only pages from this very server may connect: the browser says where a page comes from (`Origin`), and the
//! name it used (`Host`) must be one of ours, so that no other site can reach the engine through the browser.
//! Beyond loopback every request needs the token.

use super::{
    protocol::{Command, MAX_MESSAGE},
    session::{Frame, Session},
};
use anyhow::Context;
use axum::{
    Router,
    extract::{
        Query, State, WebSocketUpgrade,
        ws::{CloseFrame, Message, WebSocket, close_code},
    },
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use std::{
    collections::HashMap,
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::{
    net::TcpListener,
    sync::Semaphore,
    time::{sleep, timeout},
};

/// Pages at a time.
pub const MAX_CLIENTS: usize = 8;
/// Messages a page may send within a second.
pub const MAX_RATE: u32 = 240;
/// A page that takes nothing for so long is gone.
const PATIENCE: Duration = Duration::from_secs(10);

/// The page's parts: path, type, content.
const PARTS: [(&str, &str, &str); 8] = [
    ("/style.css", "text/css", include_str!("../../view-page/style.css")),
    ("/main.js", "text/javascript", include_str!("../../view-page/main.js")),
    ("/camera.js", "text/javascript", include_str!("../../view-page/camera.js")),
    ("/hand.js", "text/javascript", include_str!("../../view-page/hand.js")),
    ("/picture.js", "text/javascript", include_str!("../../view-page/picture.js")),
    ("/overlay.js", "text/javascript", include_str!("../../view-page/overlay.js")),
    ("/solids.js", "text/javascript", include_str!("../../view-page/solids.js")),
    ("/plot.js", "text/javascript", include_str!("../../view-page/plot.js")),
];
const PAGE: &str = include_str!("../../view-page/index.html");
/// Nothing from elsewhere.
const POLICY: &str = "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'";

/// A server that listens but does not yet serve.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    token: Option<String>,
}

struct Shared {
    session: Session,
    places: Arc<Semaphore>,
    address: SocketAddr,
    token: Option<String>,
}

impl Server {
    /// Listens; beyond loopback a token is made that every visitor needs.
    pub async fn listen(address: SocketAddr) -> anyhow::Result<Self> {
        let token = match address.ip().is_loopback() {
            true => None,
            false => Some(token()?),
        };
        let listener = TcpListener::bind(address).await.with_context(|| format!("listening on {address}"))?;
        let address = listener.local_addr()?;
        Ok(Self { listener, address, token })
    }

    /// Where to look.
    pub fn url(&self) -> String {
        let token = self.token.as_ref().map_or(String::new(), |t| format!("?token={t}"));
        format!("http://{}/{token}", self.address)
    }

    /// Serves until `end` comes.
    pub async fn serve(self, session: Session, end: impl Future<Output = ()>) -> anyhow::Result<()> {
        let Self { listener, address, token } = self;
        let places = Arc::new(Semaphore::new(MAX_CLIENTS));
        let shared = Arc::new(Shared { session, places, address, token });
        let mut routes = Router::new().route("/", get(page)).route("/ws", get(connect));
        for (path, kind, content) in PARTS {
            routes = routes.route(path, get(move || async move { part(kind, content) }));
        }
        let serve = axum::serve(listener, routes.with_state(shared.clone())).into_future();
        tokio::select! {
            result = serve => result?,
            () = end => {}
        }
        shared.session.end();
        Ok(())
    }
}

/// 128 random bits as text.
fn token() -> anyhow::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|e| anyhow::anyhow!("no random numbers for a token: {e}"))?;
    Ok(bytes.iter().map(|b| format!("{b:02x}")).collect())
}

fn part(kind: &'static str, content: &'static str) -> Response {
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
    ];
    (headers, content).into_response()
}

type Question = Query<HashMap<String, String>>;

async fn page(State(shared): State<Arc<Shared>>, headers: HeaderMap, Query(question): Question) -> Response {
    match shared.admit(&headers, &question) {
        Ok(()) => part("text/html; charset=utf-8", PAGE),
        Err(why) => (StatusCode::FORBIDDEN, why).into_response(),
    }
}

impl Shared {
    fn admit(&self, headers: &HeaderMap, question: &HashMap<String, String>) -> Result<(), &'static str> {
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
        let host = text(header::HOST).ok_or("no Host\n")?;
        if let Some(origin) = text(header::ORIGIN)
            && origin.strip_prefix("http://") != Some(host)
        {
            return Err("pages from elsewhere may not connect\n");
        }
        match &self.token {
            Some(token) if question.get("token") == Some(token) => Ok(()),
            Some(_) => Err("the address needs the token that nendo printed\n"),
            None => {
                let port = self.address.port();
                let ours = [format!("localhost:{port}"), self.address.to_string()];
                ours.iter().any(|o| o == host).then_some(()).ok_or("not a name of this server\n")
            }
        }
    }
}

async fn connect(
    State(shared): State<Arc<Shared>>,
    headers: HeaderMap,
    Query(question): Question,
    upgrade: WebSocketUpgrade,
) -> Response {
    if let Err(why) = shared.admit(&headers, &question) {
        return (StatusCode::FORBIDDEN, why).into_response();
    }
    let Ok(place) = shared.places.clone().try_acquire_owned() else {
        let text = format!("{MAX_CLIENTS} pages are connected: close one\n");
        return (StatusCode::SERVICE_UNAVAILABLE, text).into_response();
    };
    let upgrade = upgrade.max_message_size(MAX_MESSAGE).max_frame_size(MAX_MESSAGE);
    upgrade.on_upgrade(async move |mut socket| {
        let mut pulls = false;
        if let Err(why) = converse(&mut socket, &shared.session, &mut pulls).await {
            let close = CloseFrame { code: close_code::POLICY, reason: why.into() };
            let _ = timeout(PATIENCE, socket.send(Message::Close(Some(close)))).await;
        }
        if pulls {
            shared.session.command(Command::Release {});
        }
        drop(place);
    })
}

/// Talks with a page until it leaves; an error is why it is sent away.
async fn converse(socket: &mut WebSocket, session: &Session, pulls: &mut bool) -> Result<(), String> {
    let mut frames = session.frames();
    frames.mark_changed();
    let mut opened = 0;
    let (mut since, mut count) = (Instant::now(), 0);
    loop {
        tokio::select! {
            message = socket.recv() => {
                let text = match message {
                    Some(Ok(Message::Text(text))) => text,
                    Some(Ok(Message::Ping(_) | Message::Pong(_))) => continue,
                    Some(Ok(Message::Binary(_))) => return Err("text only".to_owned()),
                    Some(Ok(Message::Close(_))) | None => return Ok(()),
                    Some(Err(error)) => return Err(short(&error.to_string())),
                };
                if since.elapsed() >= Duration::from_secs(1) {
                    (since, count) = (Instant::now(), 0);
                }
                count += 1;
                if count > MAX_RATE {
                    return Err(format!("more than {MAX_RATE} messages within a second"));
                }
                let command = Command::parse(&text).map_err(|e| short(&e))?;
                *pulls = matches!(command, Command::Pull { .. }) || *pulls && command != Command::Release {};
                // Another page may have filled the queue: whose commands come at a bearable rate waits for room.
                let end = Instant::now() + PATIENCE;
                while !session.command(command.clone()) {
                    if Instant::now() >= end {
                        return Err("too many commands are waiting".to_owned());
                    }
                    sleep(Duration::from_millis(5)).await;
                }
            }
            changed = frames.changed() => {
                changed.map_err(|_| "the engine's thread has ended".to_owned())?;
                let Frame { opened: now, scene, state } = frames.borrow_and_update().clone();
                let news = if now == opened { None } else { Some(scene) };
                opened = now;
                for bytes in news.into_iter().chain([state]) {
                    let sent = timeout(PATIENCE, socket.send(Message::Binary(bytes))).await;
                    if !matches!(sent, Ok(Ok(()))) {
                        return Ok(());
                    }
                }
            }
        }
    }
}

/// A reason as it fits a closing message.
fn short(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(100).map(|c| if c.is_ascii() { c } else { '?' }).collect()
}
