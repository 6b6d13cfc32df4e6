//! One connection: a socket, encrypted or not, with its timeouts and its meter.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::bindings::tcp::Err;
use crate::outbound::connect::acknowledge;
use crate::outbound::tcp::meter::{Allowance, MeteredSocket, is_too_much};
use crate::outbound::tcp::refusal::refused;
use crate::outbound::tcp::server::Server;

/// Bytes read from the socket at a time.
const PIECE: usize = 64 << 10;

/// The socket of a connection.
pub(crate) enum Stream {
    Plain(MeteredSocket),
    Tls(Box<TlsStream<MeteredSocket>>),
}

/// A connection to a server.
pub(crate) struct Line {
    stream: Stream,
    /// Bytes that were read from the socket and not returned yet.
    ahead: Vec<u8>,
}

impl Line {
    /// Connects to the first address that answers. The server may send at most as much as `allowance`.
    pub(crate) async fn connect(
        addresses: &[SocketAddr],
        within: Duration,
        allowance: Allowance,
    ) -> Result<Line, Err> {
        let attempt = async {
            for address in addresses {
                if let Ok(stream) = TcpStream::connect(address).await {
                    return Some(stream);
                }
            }
            None
        };
        match timeout(within, attempt).await {
            Ok(Some(stream)) => {
                // Commands are small and wait for their answers: Nagle's algorithm would delay each by 40 ms.
                let _ = stream.set_nodelay(true);
                Ok(Line { stream: Stream::Plain(MeteredSocket::new(stream, allowance)), ahead: Vec::new() })
            }
            Ok(None) => Err(refused("connect", "no connection could be made")),
            Err(_) => Err(refused("timeout", "no connection could be made in time")),
        }
    }

    /// Encrypts from here on. Earlier plaintext of the server is not part of the TLS stream.
    pub(crate) async fn encrypt(
        self,
        server: &Server,
        tls: Arc<rustls::ClientConfig>,
        within: Duration,
    ) -> Result<Line, Err> {
        let Stream::Plain(stream) = self.stream else {
            return Err(refused("invalid", "the line is encrypted already"));
        };
        if !self.ahead.is_empty() {
            return Err(refused("tls", "the server sent something before the encryption began"));
        }
        let name = ServerName::try_from(server.host.clone())
            .map_err(|_| refused("tls", "the host is no name that a certificate can be for"))?;
        let stream = match timeout(within, TlsConnector::from(tls).connect(name, stream)).await {
            Ok(Ok(stream)) => stream,
            Ok(Err(e)) if is_too_much(&e) => return Err(too_much()),
            Ok(Err(e)) => return Err(refused("tls", why_not(&e))),
            Err(_) => return Err(refused("timeout", "the TLS handshake took too long")),
        };
        Ok(Line { stream: Stream::Tls(Box::new(stream)), ahead: Vec::new() })
    }

    /// Some bytes, at most `max`.
    pub(crate) async fn read(&mut self, max: usize, within: Duration) -> Result<Vec<u8>, Err> {
        if self.ahead.is_empty() {
            self.fill(within).await?;
        }
        if self.ahead.len() <= max {
            return Ok(std::mem::take(&mut self.ahead));
        }
        let rest = self.ahead.split_off(max);
        Ok(std::mem::replace(&mut self.ahead, rest))
    }

    async fn fill(&mut self, within: Duration) -> Result<(), Err> {
        let mut piece = Vec::with_capacity(PIECE);
        acknowledge(self.socket());
        match timeout(within, self.stream.read_buf(&mut piece)).await {
            Ok(Ok(0)) => Err(closed_error()),
            Ok(Ok(_)) => {
                self.ahead = piece;
                Ok(())
            }
            Ok(Err(e)) if is_too_much(&e) => Err(too_much()),
            Ok(Err(_)) => Err(closed_error()),
            Err(_) => Err(refused("timeout", "the server did not answer in time")),
        }
    }

    fn socket(&self) -> &TcpStream {
        match &self.stream {
            Stream::Plain(metered) => &metered.socket,
            Stream::Tls(stream) => &stream.get_ref().0.socket,
        }
    }

    /// Sets a new allowance of bytes from the server, whatever it sent before. Bytes that were read ahead are not counted again.
    pub(crate) fn allow(&mut self, allowance: Allowance) {
        let metered = match &mut self.stream {
            Stream::Plain(metered) => metered,
            Stream::Tls(stream) => stream.get_mut().0,
        };
        metered.allow(allowance);
    }

    pub(crate) async fn write(&mut self, bytes: &[u8], within: Duration) -> Result<(), Err> {
        match timeout(within, self.stream.write_all(bytes)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(closed_error()),
            Err(_) => Err(refused("timeout", "the server did not accept data in time")),
        }
    }

    pub(crate) async fn flush(&mut self, within: Duration) -> Result<(), Err> {
        match timeout(within, self.stream.flush()).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(closed_error()),
            Err(_) => Err(refused("timeout", "the server did not accept data in time")),
        }
    }

    /// Whether the server has not closed the connection, as far as is known without a command.
    pub(crate) fn is_open(&self) -> bool {
        let mut byte = [0];
        let mut buffer = ReadBuf::new(&mut byte);
        let mut cx = Context::from_waker(std::task::Waker::noop());
        match self.socket().poll_peek(&mut cx, &mut buffer) {
            Poll::Pending => true,
            // A server may send something by itself (new mail): the connector reads it.
            Poll::Ready(Ok(n)) => n > 0,
            Poll::Ready(Err(_)) => false,
        }
    }

    pub(crate) fn is_encrypted(&self) -> bool {
        matches!(self.stream, Stream::Tls(_))
    }

    /// The local address of the connection, for a client's greeting.
    pub(crate) fn local_address(&self) -> Option<SocketAddr> {
        self.socket().local_addr().ok()
    }
}

fn closed_error() -> Err {
    refused("closed", "the server ended the connection")
}

fn too_much() -> Err {
    refused("too-large", "the server sends more than there is to be said")
}

/// The error of a TLS handshake; names the fault of the certificate, where that is the cause.
fn why_not(e: &io::Error) -> String {
    let tls = e.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    match tls {
        Some(rustls::Error::InvalidCertificate(why)) => format!("the certificate is not valid: {why}"),
        Some(_) => "the TLS handshake failed".to_owned(),
        None => "the TLS handshake failed: is it TLS that the port speaks?".to_owned(),
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Plain(socket) => Pin::new(socket).poll_read(cx, buffer),
            Stream::Tls(stream) => Pin::new(stream).poll_read(cx, buffer),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Stream::Plain(socket) => Pin::new(socket).poll_write(cx, bytes),
            Stream::Tls(stream) => Pin::new(stream).poll_write(cx, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Plain(socket) => Pin::new(socket).poll_flush(cx),
            Stream::Tls(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Plain(socket) => Pin::new(socket).poll_shutdown(cx),
            Stream::Tls(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}
