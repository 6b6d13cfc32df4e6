//! The listening socket and its connections: what a client may cost before a request of its exists, and how they all end.
//! HTTP/1.1 only: TLS ends at a proxy, proxies speak HTTP/1.1 to what is behind them, and what HTTP/2 lets a client do to a
//! server (rapid reset, continuation floods) cannot be done here.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio_io_timeout::TimeoutStream;
use tower::Service;
use tower_http::timeout::TimeoutBody;

use crate::metrics::Metrics;

/// Open connections at most; more wait in the system's queue.
const MAX_CONNECTIONS: usize = 10_000;
/// File descriptors that are not for clients: the database, connectors' connections, files.
const OTHER_FILES: usize = 512;
/// For a request's head to arrive, and for a kept connection to stay idle: longer than the 60 s of usual balancers, so that it is
/// they who close, and never we in the moment in which they send.
const HEAD_TIMEOUT: Duration = Duration::from_secs(75);
/// Longest pause inside a request's body.
const BODY_PAUSE: Duration = Duration::from_secs(30);
/// Longest time in which a client takes nothing of an answer.
const WRITE_PAUSE: Duration = Duration::from_secs(30);
/// Largest head of a request in bytes.
const HEAD_BYTES: usize = 64 << 10;

/// A bound socket.
pub struct Listener {
    socket: TcpListener,
    room: Arc<Semaphore>,
    max_connections: usize,
}

impl Listener {
    /// Binds the address. The error names it.
    pub async fn bind(address: SocketAddr) -> Result<Listener> {
        let socket =
            TcpListener::bind(address).await.with_context(|| format!("cannot listen on {address}"))?;
        let max_connections = connections_allowed();
        Ok(Listener { socket, room: Arc::new(Semaphore::new(max_connections)), max_connections })
    }

    /// The address that it really has.
    pub fn address(&self) -> Result<SocketAddr> {
        self.socket.local_addr().context("the listening socket has no address")
    }

    /// Serves until `stop` says so; then takes no more connections, and returns when those that are open are done with
    /// their request. How long that may take is the caller's to say.
    pub async fn serve(self, service: Router, metrics: Metrics, stop: watch::Receiver<bool>) {
        let Listener { socket, room, max_connections } = self;
        let mut stopping = stop.clone();
        loop {
            let accepted = tokio::select! {
                accepted = accept(&socket, &room) => accepted,
                _ = stopping.wait_for(|stop| *stop) => break,
            };
            let (stream, peer, place) = match accepted {
                Ok(accepted) => accepted,
                Err(e) => {
                    // Out of file descriptors, mostly: it passes when connections end.
                    tracing::error!(error = %e, "cannot accept a connection");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                    continue;
                }
            };
            let (service, metrics, stop) = (service.clone(), metrics.clone(), stop.clone());
            tokio::spawn(async move {
                metrics.connections.inc();
                if let Err(e) = connection(stream, peer, service, stop).await {
                    metrics.broken_connections.inc();
                    tracing::debug!(%peer, error = %e, "connection closed");
                }
                metrics.connections.dec();
                drop(place);
            });
        }
        drop(socket);
        // All room is free when the last connection is gone; only a closed semaphore can fail, and nobody closes it.
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

async fn connection(
    stream: TcpStream,
    peer: SocketAddr,
    service: Router,
    mut stop: watch::Receiver<bool>,
) -> Result<(), hyper::Error> {
    // Answers are written whole; waiting for more to send with them only delays them.
    let _ = stream.set_nodelay(true);
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(WRITE_PAUSE));
    let service = service_fn(move |request: Request<Incoming>| {
        let mut service = service.clone();
        let mut request = request.map(|body| Body::new(TimeoutBody::new(BODY_PAUSE, body)));
        request.extensions_mut().insert(ConnectInfo(peer));
        async move { Ok::<_, Infallible>(service.call(request).await.unwrap_or_else(|never| match never {})) }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD_TIMEOUT).max_header_size(HEAD_BYTES);
    let connection = http.serve_connection(TokioIo::new(Box::pin(stream)), service);
    let mut connection = std::pin::pin!(connection);
    tokio::select! {
        done = connection.as_mut() => return done,
        _ = stop.wait_for(|stop| *stop) => connection.as_mut().graceful_shutdown(),
    }
    connection.await
}

/// Raises this process' own limit of open files as far as it may, and leaves some of them for other things.
fn connections_allowed() -> usize {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    let limit = getrlimit(Resource::Nofile);
    // What cannot be raised stays as it is, and is counted with below.
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
