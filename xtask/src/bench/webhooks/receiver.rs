//! The endpoint of all sides: an HTTP/1.1 server that answers 204 and records the notifications. It is implemented here, because a
//! general server costs more than the measured programs.

use std::collections::HashSet;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};

use crate::bench::webhooks::clock;

/// Longest request that is read, bytes. A notification has at most 256 KiB.
const MAX_REQUEST: usize = 1 << 20;
const ANSWER: &[u8] = b"HTTP/1.1 204 No Content\r\n\r\n";

/// A running endpoint; it ends when it is dropped.
pub struct Receiver {
    pub address: SocketAddr,
    shared: Arc<ReceiverState>,
    _runtime: Runtime,
}

#[derive(Default)]
struct ReceiverState {
    seen: Mutex<Receipts>,
    /// Signalled when all expected notifications have arrived.
    is_whole: Condvar,
}

impl ReceiverState {
    fn seen(&self) -> MutexGuard<'_, Receipts> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The part of a notification that is recorded beside its arrival.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RecordedPart {
    #[default]
    Nothing,
    /// The bodies that the endpoint with the number 0 receives.
    Body,
    /// The delay: from its `x-began-ms`, else from the `timestamp` of its body.
    Delay,
}

/// The notifications received since the last `begin`.
#[derive(Default)]
pub struct Receipts {
    noted: RecordedPart,
    wanted: usize,
    /// Hashes of paths and ids.
    ids: HashSet<u64>,
    /// Notifications that arrived more than once.
    pub repeats: usize,
    /// The time of the last new notification.
    pub last: Option<Instant>,
    pub bodies: Vec<Vec<u8>>,
    pub delays_ms: Vec<f64>,
}

impl Receipts {
    /// Returns the number of different notifications.
    pub fn count(&self) -> usize {
        self.ids.len()
    }

    /// Returns the delay in milliseconds below which this share (0 to 1) of notifications stays.
    pub fn quantile_ms(&mut self, share: f64) -> f64 {
        self.delays_ms.sort_unstable_by(f64::total_cmp);
        let last = self.delays_ms.len().saturating_sub(1);
        self.delays_ms.get((last as f64 * share) as usize).copied().unwrap_or(f64::NAN)
    }

    fn take(&mut self, request: Request<'_>) {
        let mut hasher = DefaultHasher::new();
        (request.path, request.id).hash(&mut hasher);
        if !self.ids.insert(hasher.finish()) {
            self.repeats += 1;
            return;
        }
        self.last = Some(Instant::now());
        match self.noted {
            RecordedPart::Nothing => {}
            RecordedPart::Body if request.path == "/0" => self.bodies.push(request.body.to_vec()),
            RecordedPart::Body => {}
            RecordedPart::Delay => {
                let now = clock::now_ms();
                self.delays_ms.extend(request.began_ms().map(|began| (now - began).max(0.0)));
            }
        }
    }
}

impl Receiver {
    /// Starts one on a free port.
    pub fn start() -> Result<Receiver> {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let bound = runtime.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)));
        let listener = bound.context("no free port on 127.0.0.1")?;
        let (address, shared) = (listener.local_addr()?, Arc::<ReceiverState>::default());
        runtime.spawn(accept(listener, shared.clone()));
        Ok(Receiver { address, shared, _runtime: runtime })
    }

    /// Returns the URL of an endpoint here, a different one for each number.
    pub fn url(&self, number: usize) -> String {
        format!("http://{}/{number}", self.address)
    }

    /// Forgets the notifications so far, and expects this number from now on.
    pub fn begin(&self, wanted: usize, noted: RecordedPart) {
        *self.shared.seen() = Receipts { noted, wanted, ..Receipts::default() };
    }

    /// Waits until all of them have arrived, and returns them. Fails after `limit`.
    pub fn wait(&self, limit: Duration) -> Result<Receipts> {
        let is_short = |seen: &mut Receipts| seen.count() < seen.wanted;
        let waited = self.shared.is_whole.wait_timeout_while(self.shared.seen(), limit, is_short);
        let (mut seen, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let (count, wanted) = (seen.count(), seen.wanted);
        ensure!(count >= wanted, "{count} of {wanted} notifications arrived within {} s", limit.as_secs());
        Ok(std::mem::take(&mut *seen))
    }

    /// Returns the notifications so far, complete or not.
    pub fn end(&self) -> Receipts {
        std::mem::take(&mut *self.shared.seen())
    }
}

async fn accept(listener: TcpListener, shared: Arc<ReceiverState>) {
    while let Ok((stream, _)) = listener.accept().await {
        let shared = shared.clone();
        tokio::spawn(async move {
            if let Err(error) = serve(stream, &shared).await {
                // A server that is stopped cuts its connections.
                eprintln!("    a connection to the endpoint ends: {error:#}");
            }
        });
    }
}

async fn serve(mut stream: TcpStream, shared: &ReceiverState) -> Result<()> {
    stream.set_nodelay(true)?;
    let mut buffer = Vec::with_capacity(64 << 10);
    loop {
        let Some((head, length)) = next(&mut stream, &mut buffer).await? else { return Ok(()) };
        let (whole, end) = (head + length, head.saturating_sub(4));
        let text = std::str::from_utf8(buffer.get(..end).unwrap_or_default())?;
        let body = buffer.get(head..whole).unwrap_or_default();
        let is_whole = {
            let mut seen = shared.seen();
            seen.take(Request::parse(text, body).context("a request that is none")?);
            seen.count() >= seen.wanted
        };
        if is_whole {
            shared.is_whole.notify_all();
        }
        buffer.drain(..whole);
        stream.write_all(ANSWER).await?;
    }
}

/// Reads until the buffer begins with a whole request; returns the length of its head and of its body. None: the connection was closed.
async fn next(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> Result<Option<(usize, usize)>> {
    loop {
        if let Some(end) = buffer.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(buffer.get(..end).unwrap_or_default()).to_ascii_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
            let length: usize = length.context("a request has no content-length")?.trim().parse()?;
            if buffer.len() >= end + 4 + length {
                return Ok(Some((end + 4, length)));
            }
        }
        ensure!(buffer.len() < MAX_REQUEST, "a request is too long");
        if stream.read_buf(buffer).await? == 0 {
            return Ok(None);
        }
    }
}

struct Request<'r> {
    path: &'r str,
    /// The header `webhook-id`.
    id: &'r str,
    head: &'r str,
    body: &'r [u8],
}

impl<'r> Request<'r> {
    fn parse(head: &'r str, body: &'r [u8]) -> Option<Request<'r>> {
        let path = head.split(' ').nth(1)?;
        Some(Request { path, id: header(head, "webhook-id")?, head, body })
    }

    fn began_ms(&self) -> Option<f64> {
        if let Some(began) = header(self.head, "x-began-ms") {
            return began.parse().ok();
        }
        let (_, rest) = std::str::from_utf8(self.body).ok()?.split_once("\"timestamp\":\"")?;
        clock::timestamp_ms(rest.split_once('"')?.0)
    }
}

fn header<'r>(head: &'r str, name: &str) -> Option<&'r str> {
    let mut lines = head.lines().filter_map(|line| line.split_once(':'));
    lines.find_map(|(found, value)| found.eq_ignore_ascii_case(name).then(|| value.trim()))
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpStream;

    use super::*;

    fn send(stream: &mut TcpStream, id: &str) {
        let body = r#"{"id":"ev_1","timestamp":"1970-01-01T00:00:00Z"}"#;
        let head = format!(
            "POST /0 HTTP/1.1\r\nhost: x\r\nWebhook-Id: {id}\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all((head + body).as_bytes()).unwrap();
        let mut answer = vec![0; ANSWER.len()];
        stream.read_exact(&mut answer).unwrap();
        assert_eq!(answer, ANSWER);
    }

    #[test]
    fn what_comes_again_counts_once() {
        let receiver = Receiver::start().unwrap();
        receiver.begin(2, RecordedPart::Delay);
        let mut stream = TcpStream::connect(receiver.address).unwrap();
        for id in ["a", "a", "b"] {
            send(&mut stream, id);
        }
        let seen = receiver.wait(Duration::from_secs(10)).unwrap();
        assert_eq!((seen.count(), seen.repeats, seen.delays_ms.len()), (2, 1, 2));
        assert!(seen.last.is_some() && seen.delays_ms.iter().all(|ms| *ms > 1_700_000_000_000.0));
        receiver.begin(1, RecordedPart::Body);
        assert!(receiver.wait(Duration::from_millis(1)).is_err());
        send(&mut stream, "a");
        assert_eq!(receiver.shared.seen().bodies.len(), 1);
    }
}
