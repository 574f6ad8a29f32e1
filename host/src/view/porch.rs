//! Connections before they are let in: few at a time, each for a short time, and each at a bearable rate.
//!
//! A connection is here until its request is answered, or has become a page's. While the porch is full, whoever comes
//! pushes out whoever has been there longest: a browser needs milliseconds, and who waits without saying anything does
//! not keep others from coming. Pages have places elsewhere, and notice nothing.

use super::{protocol::MAX_MESSAGE, talk::MAX_RATE};
use axum::{Router, serve::Listener};
use hyper::server::conn::http1;
use hyper_util::{rt::TokioIo, service::TowerToHyperService};
use std::{
    collections::VecDeque,
    io,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{TcpListener, TcpStream},
    task::AbortHandle,
    time::{Instant, Sleep, sleep_until, timeout},
};

/// Connections that wait to be let in.
pub(super) const PORCH: usize = 64;
/// From the first byte of a request to the last of its answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// Bytes of a request's head.
const HEAD: usize = 16 << 10;
/// Bytes that are read from a connection within a second: what a page may send, with what WebSocket adds to it.
const BYTES: usize = MAX_RATE as usize * (MAX_MESSAGE + 16);

/// Serves for ever.
pub(super) async fn serve(mut listener: TcpListener, routes: Router) {
    let mut waiting: VecDeque<AbortHandle> = VecDeque::new();
    loop {
        // Waits a moment where the system has no more descriptors.
        let (stream, _) = Listener::accept(&mut listener).await;
        waiting.retain(|connection| !connection.is_finished());
        if waiting.len() >= PORCH
            && let Some(oldest) = waiting.pop_front()
        {
            oldest.abort();
        }
        let service = TowerToHyperService::new(routes.clone());
        let connection = async move {
            let _ = stream.set_nodelay(true);
            let mut http = http1::Builder::new();
            let http = http.header_read_timeout(None).max_buf_size(HEAD);
            let served = http.serve_connection(TokioIo::new(Metered::new(stream)), service).with_upgrades();
            let _ = timeout(PATIENCE, served).await;
        };
        waiting.push_back(tokio::spawn(connection).abort_handle());
    }
}

/// A stream that is read no faster than a page may send: who sends more waits, and takes nobody's time.
struct Metered {
    stream: TcpStream,
    left: usize,
    second: Pin<Box<Sleep>>,
}

impl Metered {
    fn new(stream: TcpStream) -> Self {
        Self { stream, left: BYTES, second: Box::pin(sleep_until(Instant::now() + Duration::from_secs(1))) }
    }
}

impl AsyncRead for Metered {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.left == 0 {
            ready!(self.second.as_mut().poll(context));
        }
        let now = Instant::now();
        if now >= self.second.deadline() {
            self.left = BYTES;
            self.second.as_mut().reset(now + Duration::from_secs(1));
        }
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(context, buffer))?;
        self.left = self.left.saturating_sub(buffer.filled().len() - before);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Metered {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
