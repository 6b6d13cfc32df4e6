//! The listening socket and its connections: limits of what a client may cost before its first request, and the shutdown of connections.
//! HTTP/1.1 only: TLS ends at a proxy, proxies speak HTTP/1.1 to their backends, and attacks on HTTP/2 servers (rapid reset, continuation
//! floods) are impossible here.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Result};
use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use compute::named_semaphores::Shares;
use http::Request;
use http_body::Body as _;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use ipnet::IpNet;
use service::app::metrics::Metrics;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio_io_timeout::TimeoutStream;
use tower::Service;
use tower_http::timeout::TimeoutBody;

use crate::api::response::refused_head::HeadGuard;
use crate::cli::refusal::failure;
use crate::web::rate_limit::site;

/// Most open connections; more wait in the system's queue.
const MAX_CONNECTIONS: usize = 10_000;
/// Most open connections of one address (`site`). Trusted proxies may have all: they bring many clients.
const MAX_CONNECTIONS_OF_ADDRESS: usize = 512;
/// File descriptors reserved for other uses: the database, connectors' connections, files.
const OTHER_FILES: usize = 512;
/// Time limit for the head of the first request.
const FIRST_HEAD_TIMEOUT: Duration = Duration::from_secs(10);
/// Time limit for the head of a later request, and for an idle connection: longer than the 60 s of usual load balancers, so that they close
/// first, and the service never closes while they send.
const HEAD_TIMEOUT: Duration = Duration::from_secs(75);
/// Longest pause inside a request's body.
const BODY_PAUSE: Duration = Duration::from_secs(30);
/// Longest time in which a client reads nothing of an answer.
const WRITE_PAUSE: Duration = Duration::from_secs(30);
/// Largest head of a request in bytes.
const HEAD_BYTES: usize = 64 << 10;

/// A bound socket.
pub struct Listener {
    socket: TcpListener,
    room: Arc<Semaphore>,
    max_connections: usize,
    of_address: Shares,
    first_head_timeout: Duration,
    write_pause: Duration,
    trusted_proxies: Vec<IpNet>,
    /// The public address of the service, to which errors link.
    public_address: Arc<str>,
}

impl Listener {
    /// Binds the address, which an error names. Proxies may have any number of connections.
    pub async fn bind(address: SocketAddr, trusted_proxies: &[IpNet]) -> Result<Listener> {
        let socket = TcpListener::bind(address).await.map_err(|e| {
            failure(
                format!("cannot listen on {address}: {e}"),
                "choose another address or port, or stop the process that uses this one",
            )
        })?;
        let max_connections = connections_allowed();
        Ok(Listener {
            socket,
            room: Arc::new(Semaphore::new(max_connections)),
            max_connections,
            of_address: Shares::new(MAX_CONNECTIONS_OF_ADDRESS),
            first_head_timeout: FIRST_HEAD_TIMEOUT,
            write_pause: WRITE_PAUSE,
            trusted_proxies: trusted_proxies.to_vec(),
            public_address: "".into(),
        })
    }

    /// Sets the public address of the service, to which the errors of requests that cannot be read link.
    pub fn set_public_address(&mut self, address: &str) {
        self.public_address = address.into();
    }

    /// The actual address.
    pub fn address(&self) -> Result<SocketAddr> {
        self.socket.local_addr().context("the listening socket has no address")
    }

    /// Serves until `stop`; then accepts no more connections, and returns when the open ones are done with their request. The caller limits
    /// the time of that.
    pub async fn serve(self, service: Router, metrics: Metrics, stop: watch::Receiver<bool>) {
        let Listener { socket, room, max_connections, of_address, trusted_proxies, public_address, .. } =
            self;
        let (first_head_timeout, write_pause) = (self.first_head_timeout, self.write_pause);
        let mut stopping = stop.clone();
        loop {
            let accepted = tokio::select! {
                accepted = accept(&socket, &room) => accepted,
                _ = stopping.wait_for(|stop| *stop) => break,
            };
            let (stream, peer, place) = match accepted {
                Ok(accepted) => accepted,
                Err(e) => {
                    // Usually out of file descriptors: this passes when connections end.
                    tracing::error!(error = %e, "cannot accept a connection");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                    continue;
                }
            };
            let is_proxy = trusted_proxies.iter().any(|n| n.contains(&peer.ip().to_canonical()));
            let own_place = match of_address.of(&site(peer.ip()).to_string()).try_acquire_owned() {
                Ok(own_place) => Some(own_place),
                Err(_) if is_proxy => None,
                Err(_) => {
                    // Closed without an answer, which would cost more than the connection.
                    metrics.refused_connections.inc();
                    continue;
                }
            };
            let (service, metrics, stop) = (service.clone(), metrics.clone(), stop.clone());
            let address = Arc::clone(&public_address);
            tokio::spawn(async move {
                let _own_place = own_place;
                metrics.connections.inc();
                let timeouts = Timeouts { first_head: first_head_timeout, write_pause };
                let served = connection(stream, peer, service, address, timeouts, stop).await;
                if let Err(e) = served {
                    metrics.broken_connections.inc();
                    tracing::debug!(%peer, error = %e, "connection closed");
                }
                metrics.connections.dec();
                drop(place);
            });
        }
        drop(socket);
        // All permits are free when the last connection is gone; only a closed semaphore can fail, and this one is never closed.
        let _ = room.acquire_many(u32::try_from(max_connections).unwrap_or(u32::MAX)).await;
    }
}

async fn accept(
    socket: &TcpListener,
    room: &Arc<Semaphore>,
) -> std::io::Result<(TcpStream, SocketAddr, OwnedSemaphorePermit)> {
    let place = room.clone().acquire_owned().await.map_err(std::io::Error::other)?;
    let (stream, peer) = socket.accept().await?;
    Ok((stream, peer, place))
}

/// The limits of one connection: until its first request begins, and without progress of an answer.
struct Timeouts {
    first_head: Duration,
    write_pause: Duration,
}

async fn connection(
    stream: TcpStream,
    peer: SocketAddr,
    service: Router,
    address: Arc<str>,
    timeouts: Timeouts,
    mut stop: watch::Receiver<bool>,
) -> Result<(), hyper::Error> {
    // Answers are written whole; waiting for more data only delays them.
    let _ = stream.set_nodelay(true);
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(timeouts.write_pause));
    let has_asked = Arc::new(AtomicBool::new(false));
    let asks = has_asked.clone();
    let service = service_fn(move |request: Request<Incoming>| {
        asks.store(true, Ordering::Relaxed);
        let mut service = service.clone();
        // `TimeoutBody` does not report that it is empty, and a request without a body would count as one of unknown size.
        let mut request = request.map(|body| match body.is_end_stream() {
            true => Body::empty(),
            false => Body::new(TimeoutBody::new(BODY_PAUSE, body)),
        });
        request.extensions_mut().insert(ConnectInfo(peer));
        async move { Ok::<_, Infallible>(service.call(request).await.unwrap_or_else(|never| match never {})) }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD_TIMEOUT).max_header_size(HEAD_BYTES);
    let guarded = HeadGuard::new(Box::pin(stream), has_asked.clone(), address);
    let connection = http.serve_connection(TokioIo::new(guarded), service);
    let mut connection = std::pin::pin!(connection);
    let first_head = async {
        tokio::time::sleep(timeouts.first_head).await;
        if has_asked.load(Ordering::Relaxed) {
            // A request has begun; from here on the other limits apply.
            std::future::pending::<()>().await;
        }
    };
    tokio::select! {
        done = connection.as_mut() => return done,
        () = first_head => return Ok(()),
        _ = stop.wait_for(|stop| *stop) => connection.as_mut().graceful_shutdown(),
    }
    connection.await
}

/// Raises this process's limit of open files as far as possible, and reserves some of them for other uses.
fn connections_allowed() -> usize {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    let limit = getrlimit(Resource::Nofile);
    // If the limit cannot be raised it stays as it is, and is taken into account below.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
    let files =
        getrlimit(Resource::Nofile).current.and_then(|n| usize::try_from(n).ok()).unwrap_or(usize::MAX);
    let allowed = files.saturating_sub(OTHER_FILES).max(files / 2).clamp(1, MAX_CONNECTIONS);
    if allowed < MAX_CONNECTIONS {
        tracing::warn!(
            files,
            connections = allowed,
            "the limit of open files allows fewer client connections"
        );
    }
    allowed
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use axum::routing::get;
    use bytes::Bytes;
    use futures::stream;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::sync::oneshot;

    use super::*;

    const ASK: &[u8] = b"GET / HTTP/1.1\r\nhost: x\r\n\r\n";

    /// A served listener, which is stopped on drop.
    async fn served(
        change: impl FnOnce(&mut Listener),
        proxies: &[IpNet],
    ) -> (SocketAddr, watch::Sender<bool>) {
        let mut listener = Listener::bind("127.0.0.1:0".parse().unwrap(), proxies).await.unwrap();
        change(&mut listener);
        let address = listener.address().unwrap();
        let (stop, stopping) = watch::channel(false);
        let service = Router::new().route("/", get(|| async { "ok" }));
        tokio::spawn(listener.serve(service, Metrics::default(), stopping));
        (address, stop)
    }

    /// Whether a request on this connection is answered.
    async fn is_answered(stream: &mut TcpStream) -> bool {
        let mut first = [0; 12];
        stream.write_all(ASK).await.is_ok()
            && stream.read_exact(&mut first).await.is_ok()
            && &first == b"HTTP/1.1 200"
    }

    #[tokio::test]
    async fn one_address_has_some_connections_and_not_all() {
        let (address, _stop) = served(|l| l.of_address = Shares::new(3), &[]).await;
        let mut open = Vec::new();
        for _ in 0..3 {
            open.push(TcpStream::connect(address).await.unwrap());
            assert!(is_answered(open.last_mut().unwrap()).await);
        }
        let mut fourth = TcpStream::connect(address).await.unwrap();
        assert!(!is_answered(&mut fourth).await, "it is closed");
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.2:0".parse().unwrap()).unwrap();
        let mut other = socket.connect(address).await.unwrap();
        assert!(is_answered(&mut other).await, "another address has its own");
        drop(open);
        // The server sees them end a moment later.
        while !is_answered(&mut TcpStream::connect(address).await.unwrap()).await {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn a_trusted_proxy_may_have_any_number() {
        let proxy = ["127.0.0.1/32".parse().unwrap()];
        let (address, _stop) = served(|l| l.of_address = Shares::new(1), &proxy).await;
        let mut open = Vec::new();
        for _ in 0..5 {
            open.push(TcpStream::connect(address).await.unwrap());
            assert!(is_answered(open.last_mut().unwrap()).await);
        }
    }

    #[tokio::test]
    async fn who_says_nothing_whole_is_not_waited_for() {
        let (address, _stop) = served(|l| l.first_head_timeout = Duration::from_millis(20), &[]).await;
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(b"GET / HTTP/1.1\r\nx: ").await.unwrap();
        let mut rest = Vec::new();
        // Ends, in order or by a reset: the server does not wait for the rest of the head.
        let _ = stream.read_to_end(&mut rest).await;
        assert!(rest.is_empty());
        // After its first request a connection may stay open for longer.
        let mut stream = TcpStream::connect(address).await.unwrap();
        assert!(is_answered(&mut stream).await);
        tokio::time::timeout(Duration::from_millis(60), stream.read_to_end(&mut rest)).await.ok();
        rest.clear();
        assert!(is_answered_after(&mut stream).await);
    }

    /// An answer that a client does not read ends, and releases everything that it holds.
    #[tokio::test]
    async fn who_takes_nothing_of_an_answer_is_not_waited_for() {
        let (held, released) = oneshot::channel::<()>();
        let held = Arc::new(Mutex::new(Some(held)));
        let endless = get(move || {
            let held = held.lock().unwrap().take();
            let pieces = stream::unfold(held, |held| async move {
                Some((Ok::<_, Infallible>(Bytes::from_static(&[b'x'; 64 << 10])), held))
            });
            async move { Body::from_stream(pieces) }
        });
        let mut listener = Listener::bind("127.0.0.1:0".parse().unwrap(), &[]).await.unwrap();
        listener.write_pause = Duration::from_millis(20);
        let address = listener.address().unwrap();
        let (_stop, stopping) = watch::channel(false);
        let service = Router::new().route("/", endless);
        tokio::spawn(listener.serve(service, Metrics::default(), stopping));
        let mut client = TcpStream::connect(address).await.unwrap();
        client.write_all(ASK).await.unwrap();
        let ended = tokio::time::timeout(Duration::from_secs(60), released).await;
        assert!(ended.unwrap().is_err(), "the answer was dropped");
    }

    /// As `is_answered`, for a connection whose earlier answer was only read in part.
    async fn is_answered_after(stream: &mut TcpStream) -> bool {
        let mut seen = Vec::new();
        stream.write_all(ASK).await.is_ok()
            && loop {
                let mut byte = [0];
                match stream.read_exact(&mut byte).await {
                    Ok(_) => seen.push(byte[0]),
                    Err(_) => break false,
                }
                if seen.ends_with(b"HTTP/1.1 200") {
                    break true;
                }
            }
    }
}
