//! The page over HTTP and its WebSocket, behind one door.
//!
//! Every request needs the token, which is the first part of its path: so the page's parts and its WebSocket, which the
//! page names relative to itself, have it too. Only pages from this very server may connect: the browser says where a
//! page comes from (`Origin`), and on loopback the name it used (`Host`) must be one of ours, so that no other site can
//! reach the engine through the browser.
//!
//! A page that is let in has a place of its own ([`super::talk`]); what waits outside cannot take it ([`super::porch`]).

use super::{
    porch,
    session::Session,
    talk::{self, MAX_CLIENTS},
};
use anyhow::Context;
use axum::{
    Router,
    extract::{Request, State, WebSocketUpgrade},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::get,
};
use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};
use tokio::{net::TcpListener, sync::Semaphore};

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
    token: String,
}

struct Shared {
    session: Session,
    places: Arc<Semaphore>,
    /// Pages there have been.
    pages: AtomicU64,
    address: SocketAddr,
    token: String,
}

impl Server {
    /// Listens, and makes a token that every visitor needs.
    pub async fn listen(address: SocketAddr) -> anyhow::Result<Self> {
        let token = token()?;
        let listener = TcpListener::bind(address).await.with_context(|| format!("listening on {address}"))?;
        let address = listener.local_addr()?;
        Ok(Self { listener, address, token })
    }

    /// Where to look.
    pub fn url(&self) -> String {
        format!("http://{}/{}/", self.address, self.token)
    }

    /// Serves until `end` comes.
    pub async fn serve(self, session: Session, end: impl Future<Output = ()>) {
        let Self { listener, address, token } = self;
        let places = Arc::new(Semaphore::new(MAX_CLIENTS));
        let shared = Arc::new(Shared { session, places, pages: AtomicU64::new(0), address, token });
        let mut routes = Router::new()
            .route("/{token}/", get(|| async { part("text/html; charset=utf-8", PAGE) }))
            .route("/{token}/ws", get(connect));
        for (path, kind, content) in PARTS {
            let path = format!("/{{token}}{path}");
            routes = routes.route(&path, get(move || async move { part(kind, content) }));
        }
        let routes = routes
            .fallback(async || (StatusCode::NOT_FOUND, "nothing is here\n"))
            .layer(middleware::from_fn_with_state(shared.clone(), admit))
            .with_state(shared.clone());
        tokio::select! {
            () = porch::serve(listener, routes) => {}
            () = end => {}
        }
        shared.session.end();
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

/// The door: whatever is asked for, it is nobody's who may not come in.
async fn admit(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    let mut response = match shared.refusal(request.headers(), request.uri().path()) {
        None => next.run(request).await,
        Some(why) => (StatusCode::FORBIDDEN, why).into_response(),
    };
    if response.status() != StatusCode::SWITCHING_PROTOCOLS {
        // One request each: who has been answered makes room for others.
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

impl Shared {
    /// Why a request is refused, if it is.
    fn refusal(&self, headers: &HeaderMap, path: &str) -> Option<&'static str> {
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
        let Some(host) = text(header::HOST) else { return Some("no Host\n") };
        if let Some(origin) = headers.get(header::ORIGIN)
            && origin.to_str().ok().and_then(|origin| origin.strip_prefix("http://")) != Some(host)
        {
            return Some("pages from elsewhere may not connect\n");
        }
        let port = self.address.port();
        if self.address.ip().is_loopback()
            && host != self.address.to_string()
            && host != format!("localhost:{port}")
        {
            return Some("not a name of this server\n");
        }
        let given = path.strip_prefix('/').and_then(|path| path.split('/').next()).unwrap_or_default();
        (!same(given, &self.token)).then_some("the address needs the token that nendo printed\n")
    }
}

/// Whether two texts are the same, in a time that does not tell where they differ.
fn same(a: &str, b: &str) -> bool {
    a.len() == b.len() && a.bytes().zip(b.bytes()).fold(0, |differ, (a, b)| differ | (a ^ b)) == 0
}

async fn connect(State(shared): State<Arc<Shared>>, upgrade: WebSocketUpgrade) -> Response {
    let Ok(place) = shared.places.clone().try_acquire_owned() else {
        let text = format!("{MAX_CLIENTS} pages are connected: close one\n");
        return (StatusCode::SERVICE_UNAVAILABLE, text).into_response();
    };
    let page = shared.pages.fetch_add(1, Ordering::Relaxed);
    talk::limited(upgrade).on_upgrade(async move |socket| {
        talk::talk(socket, &shared.session, page).await;
        drop(place);
    })
}
