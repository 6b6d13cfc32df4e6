//! The `tcp` import: connections to servers that do not speak HTTP. The host opens and authenticates a connection; the connector
//! uses it from then on, under the call's time and budgets, and may keep it for its next call.

mod decode;
mod idle;
mod line;
mod meter;
mod opening;
mod pool;
mod refusal;
mod server;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use sha2::{Digest, Sha256};
use wasmtime::component::Resource;

use crate::bindings::tcp::{self, BlobInfo, Err, Segment};
use crate::outbound::tcp::decode::{Decoder, DotStuffing};
use crate::outbound::tcp::line::Line;
use crate::outbound::tcp::meter::Allowance;
use crate::outbound::tcp::opening::ServerRoute;
use crate::outbound::tcp::pool::{IdleConnection, Key};
use crate::outbound::tcp::refusal::refused;
use crate::outbound::tcp::server::Protocol;
use crate::outbound::{CallEgress, CredentialsError, Login, LoginSecret};
use crate::state::State;

pub(crate) use pool::ConnectionPool;
pub use server::check_server;
pub(crate) use server::{BadServer, Server};

/// Connections that a call may open.
const LINES: u64 = 16;
/// Most bytes of one `read` (`wit/tcp.wit`).
const READ: u32 = 1 << 20;
/// Longest note, bytes; with a longer one the connection is not kept.
const NOTE: usize = 64 << 10;
/// Bytes read from a blob at a time.
const PIECE: usize = 64 << 10;

/// A connection that a guest holds. Dropped with the call, whatever its result: then the connection is returned to the pool, or
/// closed.
pub struct Session {
    /// None while the host works on it, and after a failure.
    line: Option<Line>,
    capabilities: Vec<String>,
    note: Option<String>,
    /// The note of the connector, if its last action was to keep the connection.
    kept: Option<String>,
    key: Key,
    pool: Arc<ConnectionPool>,
}

impl Drop for Session {
    fn drop(&mut self) {
        if let (Some(line), Some(note)) = (self.line.take(), self.kept.take()) {
            let capabilities = std::mem::take(&mut self.capabilities);
            self.pool.put(self.key.clone(), IdleConnection { line, capabilities, note });
        }
    }
}

impl CallEgress {
    async fn open_line(self: Arc<Self>, name: String, protocol: String) -> Result<Session, Err> {
        let protocol = Protocol::parse(&protocol)
            .ok_or_else(|| refused("invalid", "there are the protocols \"imap\" and \"smtp\""))?;
        let server = self.policy.server(&name).map_err(|why| refused("no-server", why))?;
        if self.meter.lines.fetch_add(1, Ordering::Relaxed) >= LINES {
            return Err(refused("unavailable", format!("a call may open {LINES} lines")));
        }
        let login = self.login().await?;
        let key = Key {
            tenant: self.tenant.clone(),
            connection: self.connection.clone(),
            connector: self.connector.clone(),
            server: server.clone(),
            protocol,
            login: fingerprint(&login),
        };
        let pool = self.shared.lines.clone();
        if let Some(IdleConnection { line, capabilities, note }) = pool.take(&key) {
            return Ok(Session { line: Some(line), capabilities, note: Some(note), kept: None, key, pool });
        }
        let (line, capabilities) = self.connect(&server, protocol, &login).await?;
        Ok(Session { line: Some(line), capabilities, note: None, kept: None, key, pool })
    }

    pub(super) async fn login(&self) -> Result<Login, Err> {
        let login = self.credentials.login().await.map_err(|error| {
            tracing::info!(connector = &*self.connector, "no usable credentials: {error}");
            match error {
                CredentialsError::Refused(_) => unopened_error(),
                CredentialsError::Unavailable { message, .. } => refused("unavailable", message),
            }
        })?;
        login.ok_or_else(unopened_error)
    }

    /// A new connection, authenticated, and the server's capabilities.
    async fn connect(
        &self,
        server: &Server,
        protocol: Protocol,
        login: &Login,
    ) -> Result<(Line, Vec<String>), Err> {
        let shared = &self.shared;
        let addresses = server.addresses(&shared.names, &self.tenant, &shared.allowed).await?;
        let connect_within = self.shared.connect_timeout.min(self.remaining());
        let limits = &self.shared.limits;
        let allowance = Allowance::Once(limits.handshake_bytes);
        let tls = self.shared.line_tls.clone();
        let way = ServerRoute { server, addresses: &addresses, tls, connect_within, allowance };
        let _waiting = self.meter.waiting();
        self.meter.sent.fetch_add(1, Ordering::Relaxed);
        let opening = async {
            match protocol {
                Protocol::Imap => opening::imap(&way, login).await,
                Protocol::Smtp => opening::smtp(&way, login).await,
            }
        };
        // One deadline for everything: a server that sends a little from time to time is as slow as one that sends nothing.
        let within = self.remaining().min(Duration::from_millis(limits.handshake_ms));
        let opened = tokio::time::timeout(within, opening).await;
        let (mut line, capabilities) =
            opened.map_err(|_| refused("timeout", "the server did not let us in in time"))??;
        line.allow(Allowance::Unlimited);
        Ok((line, capabilities))
    }

    /// How long one step on a connection may take.
    fn step(&self) -> Duration {
        self.remaining().min(Duration::from_millis(self.shared.limits.http_timeout_ms))
    }

    async fn read_line(&self, line: &mut Line, max: u32) -> Result<Vec<u8>, Err> {
        let _waiting = self.meter.waiting();
        let read = line.read(max.clamp(1, READ) as usize, self.step()).await?;
        let count = read.len() as u64;
        let sum = self.meter.received_bytes.fetch_add(count, Ordering::Relaxed) + count;
        match sum <= self.shared.limits.http_total_response_bytes {
            true => Ok(read),
            false => Err(refused("too-large", "the server sent more than a call may read")),
        }
    }

    async fn write_line(&self, line: &mut Line, segments: Vec<Segment>) -> Result<(), Err> {
        let _waiting = self.meter.waiting();
        self.meter.sent.fetch_add(1, Ordering::Relaxed);
        // Parts of one command are sent together: a server may wait for the rest of a command that arrived in pieces.
        let mut held = Vec::new();
        for segment in segments {
            match segment {
                Segment::Bytes(bytes) => {
                    self.charge(bytes.len() as u64)?;
                    held.extend_from_slice(&bytes);
                }
                Segment::Blob(id) => self.write_blob(line, &mut held, &id, None).await?,
                Segment::BlobDotStuffed(id) => {
                    self.write_blob(line, &mut held, &id, Some(DotStuffing::new())).await?;
                }
            }
        }
        line.write(&held, self.step()).await?;
        line.flush(self.step()).await
    }

    fn charge(&self, bytes: u64) -> Result<(), Err> {
        let sum = self.meter.sent_bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        match sum <= self.shared.limits.http_request_bytes {
            true => Ok(()),
            false => Err(refused("too-large", "a call may not send that much")),
        }
    }

    async fn write_blob(
        &self,
        line: &mut Line,
        held: &mut Vec<u8>,
        id: &str,
        mut dots: Option<DotStuffing>,
    ) -> Result<(), Err> {
        let blob = self.blobs.get(id).ok_or_else(|| refused("invalid", "there is no such blob"))?;
        self.charge(blob.size())?;
        let mut offset = 0;
        while offset < blob.size() {
            let piece =
                blob.read(offset, PIECE).map_err(|_| refused("unavailable", "a blob cannot be read"))?;
            offset += piece.len() as u64;
            match &mut dots {
                Some(dots) => held.extend_from_slice(&dots.stuff(&piece)),
                None => held.extend_from_slice(&piece),
            }
            if held.len() >= PIECE {
                line.write(held, self.step()).await?;
                held.clear();
            }
        }
        Ok(())
    }

    /// Counts bytes before they are decoded: bytes that a transfer encoding skips cost time like any other. Base64 with line ends
    /// is some 37 % longer than its content, quoted-printable at most three times as long.
    fn receives_coded(&self, bytes: u64) -> Result<(), Err> {
        let sum = self.meter.coded_bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        match sum <= self.shared.limits.blob_bytes.saturating_mul(3) {
            true => Ok(()),
            false => Err(refused("too-large", "the server sent more than a call may read")),
        }
    }

    async fn read_line_to_blob(
        &self,
        line: &mut Line,
        head: Vec<u8>,
        len: u64,
        decode: &str,
    ) -> Result<BlobInfo, Err> {
        let mut decoder = Decoder::parse(decode).ok_or_else(|| {
            refused("invalid", "decode: write \"raw\", \"base64\", \"quoted-printable\" or \"uuencode\"")
        })?;
        let _waiting = self.meter.waiting();
        let spent = || refused("too-large", "the content is larger than a call may hold");
        let mut writer = self.blobs.writer();
        writer.write(&decoder.decode(head)).ok_or_else(spent)?;
        let mut left = len;
        while left > 0 {
            let most = usize::try_from(left).unwrap_or(usize::MAX).min(PIECE);
            let piece = line.read(most, self.step()).await?;
            left -= piece.len() as u64;
            self.receives_coded(piece.len() as u64)?;
            writer.write(&decoder.decode(piece)).ok_or_else(spent)?;
        }
        writer.write(&decoder.finish()).ok_or_else(spent)?;
        let size = writer.size();
        let id = writer.finish(None).ok_or_else(|| refused("unavailable", "the content cannot be kept"))?;
        Ok(BlobInfo { id, size })
    }
}

fn unopened_error() -> Err {
    refused("auth-expired", "the connection has no user name with a password or an access token")
}

/// A fingerprint of the credentials, which distinguishes connections with old ones from those with new ones.
fn fingerprint(login: &Login) -> [u8; 32] {
    let (kind, secret) = match &login.secret {
        LoginSecret::Password(secret) => ("password", secret),
        LoginSecret::Token(secret) => ("token", secret),
    };
    let mut hash = Sha256::new();
    for part in [login.username.as_str(), kind, secret.as_str()] {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}

/// The connection was closed after an error.
fn closed_error() -> Err {
    refused("closed", "the line is no longer there")
}

impl State {
    /// The connection of a session, to be used. `worked` puts it back, unless there was an error.
    fn take_line(&mut self, session: &Resource<Session>) -> wasmtime::Result<Option<Line>> {
        self.host_calls.count()?;
        let session = self.table.get_mut(session)?;
        session.kept = None;
        Ok(session.line.take())
    }

    /// Waits for work on a connection, which is done off the guest's stack: TLS needs more stack than a fiber has.
    async fn worked<T: Send + 'static>(
        &mut self,
        session: &Resource<Session>,
        work: impl Future<Output = (Line, Result<T, Err>)> + Send + 'static,
    ) -> wasmtime::Result<Result<T, Err>> {
        self.cpu.pause();
        let done = self.egress.spawn(work).await;
        self.cpu.resume();
        let Some((line, result)) = done else {
            return Ok(Err(refused("unavailable", "the host gave up this line")));
        };
        // After an error the state of the protocol is unknown.
        if result.is_ok() {
            self.table.get_mut(session)?.line = Some(line);
        }
        Ok(result)
    }
}

impl tcp::Host for State {}

impl tcp::HostSession for State {
    async fn open(
        &mut self,
        server: String,
        protocol: String,
    ) -> wasmtime::Result<Result<Resource<Session>, Err>> {
        self.host_calls.count()?;
        self.cpu.pause();
        let egress = self.egress.clone();
        let opened = self.egress.spawn(async move { egress.open_line(server, protocol).await }).await;
        self.cpu.resume();
        match opened.unwrap_or_else(|| Err(refused("unavailable", "the host gave up this line"))) {
            Ok(session) => Ok(Ok(self.table.push(session)?)),
            Err(e) => Ok(Err(e)),
        }
    }

    async fn capabilities(&mut self, session: Resource<Session>) -> wasmtime::Result<Vec<String>> {
        self.host_calls.count()?;
        Ok(self.table.get(&session)?.capabilities.clone())
    }

    async fn note(&mut self, session: Resource<Session>) -> wasmtime::Result<Option<String>> {
        self.host_calls.count()?;
        Ok(self.table.get(&session)?.note.clone())
    }

    async fn read(&mut self, session: Resource<Session>, max: u32) -> wasmtime::Result<Result<Vec<u8>, Err>> {
        let Some(mut line) = self.take_line(&session)? else { return Ok(Err(closed_error())) };
        let egress = self.egress.clone();
        let work = async move {
            let read = egress.read_line(&mut line, max).await;
            (line, read)
        };
        self.worked(&session, work).await
    }

    async fn write(
        &mut self,
        session: Resource<Session>,
        segments: Vec<Segment>,
    ) -> wasmtime::Result<Result<(), Err>> {
        let Some(mut line) = self.take_line(&session)? else { return Ok(Err(closed_error())) };
        let egress = self.egress.clone();
        let work = async move {
            let written = egress.write_line(&mut line, segments).await;
            (line, written)
        };
        self.worked(&session, work).await
    }

    async fn read_to_blob(
        &mut self,
        session: Resource<Session>,
        head: Vec<u8>,
        len: u64,
        decode: String,
    ) -> wasmtime::Result<Result<BlobInfo, Err>> {
        let Some(mut line) = self.take_line(&session)? else { return Ok(Err(closed_error())) };
        let egress = self.egress.clone();
        let work = async move {
            let read = egress.read_line_to_blob(&mut line, head, len, &decode).await;
            (line, read)
        };
        self.worked(&session, work).await
    }

    async fn keep(&mut self, session: Resource<Session>, note: String) -> wasmtime::Result<()> {
        self.host_calls.count()?;
        let session = self.table.get_mut(&session)?;
        session.kept = Some(note).filter(|n| n.len() <= NOTE);
        Ok(())
    }

    async fn drop(&mut self, session: Resource<Session>) -> wasmtime::Result<()> {
        self.table.delete(session)?;
        Ok(())
    }
}
