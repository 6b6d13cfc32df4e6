//! Limits of a server's bytes during the host's own dialogue with it: counted at the socket, so that the bytes of a TLS handshake
//! count too.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::Instant;

/// The bytes that a read counts as at least: a server that sends single bytes costs the host a wake-up for each.
const READ_COSTS: usize = 64;
const MINUTE: Duration = Duration::from_secs(60);

/// The bytes that a server may send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Allowance {
    /// Anything: the connection is a connector's, and counted against its call.
    Unlimited,
    /// This number of bytes in all.
    Once(usize),
    /// This number of bytes in any minute.
    PerMinute(usize),
}

/// The server has sent more than it may. The error of a read, or of a TLS handshake, contains it.
#[derive(Debug)]
struct TooMuch;

impl std::fmt::Display for TooMuch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the server sent more than it may")
    }
}

impl std::error::Error for TooMuch {}

pub(crate) fn is_too_much(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<TooMuch>())
}

/// A socket that fails once the server has sent more than it may.
pub(crate) struct MeteredSocket {
    pub(crate) socket: TcpStream,
    allowance: Allowance,
    left: usize,
    /// When the allowance of a minute is renewed.
    until: Instant,
}

impl MeteredSocket {
    pub(crate) fn new(socket: TcpStream, allowance: Allowance) -> Self {
        let mut metered = MeteredSocket { socket, allowance, left: 0, until: Instant::now() };
        metered.allow(allowance);
        metered
    }

    pub(crate) fn allow(&mut self, allowance: Allowance) {
        self.allowance = allowance;
        self.until = Instant::now() + MINUTE;
        self.left = match allowance {
            Allowance::Unlimited => usize::MAX,
            Allowance::Once(bytes) | Allowance::PerMinute(bytes) => bytes,
        };
    }

    fn count(&mut self, bytes: usize) -> io::Result<()> {
        match self.allowance {
            Allowance::Unlimited => return Ok(()),
            Allowance::PerMinute(_) if Instant::now() >= self.until => self.allow(self.allowance),
            Allowance::Once(_) | Allowance::PerMinute(_) => {}
        }
        let cost = bytes.max(READ_COSTS);
        self.left = self.left.checked_sub(cost).ok_or_else(|| io::Error::other(TooMuch))?;
        Ok(())
    }
}

impl AsyncRead for MeteredSocket {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let metered = self.get_mut();
        let before = buffer.filled().len();
        match Pin::new(&mut metered.socket).poll_read(cx, buffer) {
            Poll::Ready(Ok(())) => Poll::Ready(metered.count(buffer.filled().len() - before)),
            other => other,
        }
    }
}

impl AsyncWrite for MeteredSocket {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().socket).poll_write(cx, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().socket).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().socket).poll_shutdown(cx)
    }
}
