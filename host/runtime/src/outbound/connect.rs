//! Connections of the HTTP clients: to checked addresses, with TLS for https, and over sockets that acknowledge at once.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use futures::future::BoxFuture;
use http::Uri;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder, MaybeHttpsStream};
use hyper_util::client::legacy::connect::{Connected, Connection, HttpConnector};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tower::{BoxError, Service};

use crate::outbound::address::Resolver;
use crate::outbound::kept::{CountGuard, KeptConnections};

/// A silent connection is probed this often, and closed after [`PROBES`] without an answer.
const PROBE: Duration = Duration::from_secs(15);
const PROBES: u32 = 3;
/// Time after which unacknowledged data closes the connection.
#[cfg(target_os = "linux")]
const UNACKNOWLEDGED: Duration = Duration::from_secs(30);

/// The versions of HTTP that a client offers to servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Versions {
    /// HTTP/1.1 and HTTP/2: over TLS the server chooses.
    All,
    Http1,
}

/// Makes connections of one client.
#[derive(Clone)]
pub(super) struct Connector {
    https: HttpsConnector<Tcp>,
    within: Duration,
}

impl Connector {
    /// `tls` names no protocols to agree on: `versions` does. `within` is for everything, TLS included.
    pub(super) fn new(
        tls: rustls::ClientConfig,
        resolver: Resolver,
        within: Duration,
        versions: Versions,
    ) -> Self {
        Connector::build((tls, resolver), within, versions, None)
    }

    /// The same for HTTP/1.1 alone. Connections beyond the bound of `kept` are closed after their first request.
    pub(super) fn bounded(
        tls: rustls::ClientConfig,
        resolver: Resolver,
        within: Duration,
        kept: KeptConnections,
    ) -> Self {
        Connector::build((tls, resolver), within, Versions::Http1, Some(kept))
    }

    fn build(
        (tls, resolver): (rustls::ClientConfig, Resolver),
        within: Duration,
        versions: Versions,
        kept: Option<KeptConnections>,
    ) -> Self {
        let mut tcp = HttpConnector::new_with_resolver(resolver);
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        // Divided among the addresses of a name, so that a silent one does not use up the whole time.
        tcp.set_connect_timeout(Some(within));
        tcp.set_keepalive(Some(PROBE));
        tcp.set_keepalive_interval(Some(PROBE));
        tcp.set_keepalive_retries(Some(PROBES));
        #[cfg(target_os = "linux")]
        tcp.set_tcp_user_timeout(Some(UNACKNOWLEDGED));
        let tcp = Tcp { connector: tcp, kept };
        let builder = HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http();
        let https = match versions {
            Versions::All => builder.enable_all_versions().wrap_connector(tcp),
            Versions::Http1 => builder.enable_http1().wrap_connector(tcp),
        };
        Connector { https, within }
    }
}

impl Service<Uri> for Connector {
    type Response = MaybeHttpsStream<Prompt>;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Self::Response, BoxError>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.https.poll_ready(cx)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let connecting = tokio::time::timeout(self.within, self.https.call(uri));
        Box::pin(async move {
            connecting.await.unwrap_or_else(|_| Err(io::Error::from(io::ErrorKind::TimedOut).into()))
        })
    }
}

/// The connections before TLS.
#[derive(Clone)]
pub(super) struct Tcp {
    connector: HttpConnector<Resolver>,
    /// None: the client's own bounds are enough.
    kept: Option<KeptConnections>,
}

impl Service<Uri> for Tcp {
    type Response = Prompt;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Prompt, BoxError>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.connector.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let (connecting, kept) = (self.connector.call(uri), self.kept.clone());
        Box::pin(async move {
            let socket = connecting.await?;
            let counted = kept.as_ref().and_then(KeptConnections::keep);
            Ok(Prompt { socket, is_kept: kept.is_none() || counted.is_some(), _counted: counted })
        })
    }
}

/// A socket that acknowledges received data at once.
pub(super) struct Prompt {
    socket: TokioIo<TcpStream>,
    /// Whether it may have further requests.
    is_kept: bool,
    _counted: Option<CountGuard>,
}

impl Prompt {
    fn inner(self: Pin<&mut Self>) -> Pin<&mut TokioIo<TcpStream>> {
        Pin::new(&mut self.get_mut().socket)
    }
}

impl Read for Prompt {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let read = self.as_mut().inner().poll_read(cx, buf);
        if read.is_ready() {
            acknowledge(self.socket.inner());
        }
        read
    }
}

impl Write for Prompt {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.inner().poll_write(cx, buf)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.inner().poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.inner().poll_shutdown(cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.inner().poll_write_vectored(cx, bufs)
    }
}

impl Connection for Prompt {
    fn connected(&self) -> Connected {
        let connected = self.socket.connected();
        if !self.is_kept {
            connected.poison();
        }
        connected
    }
}

/// Makes the system acknowledge received data at once, until it decides otherwise again (tcp(7), `TCP_QUICKACK`): a server that
/// holds back the end of its answer until the beginning is acknowledged (Nagle's algorithm, RFC 896) would wait 40 ms.
pub(super) fn acknowledge(socket: &TcpStream) {
    // A socket that does not support it is only slower.
    #[cfg(target_os = "linux")]
    let _ = socket.set_quickack(true);
    #[cfg(not(target_os = "linux"))]
    let _ = socket;
}
