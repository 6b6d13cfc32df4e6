//! The common parts of both kinds of tests: a host with blobs around one that has none, and one account with its connection.

use std::cell::RefCell;

use connector_jmap::Jmap;
use connector_sdk::http::{BlobInfo, Http, Request, Response, Segment, SendError};
use connector_sdk::{Answer, Context, Email as _, Failure, Host, Level};
use model::wire::{ChangesRequest, Connection, Source, Sources};

/// 2026-03-01T00:00:00Z: the tests' now.
pub const NOW_MS: i64 = 1_772_323_200_000;

/// Adds blobs, and records the requests.
pub struct Blobs<H> {
    pub inner: H,
    blobs: RefCell<Vec<Vec<u8>>>,
    pub steps: RefCell<Vec<String>>,
    /// Method and URL of each request.
    pub requests: RefCell<Vec<String>>,
}

impl<H: Host> Blobs<H> {
    pub fn around(inner: H) -> Self {
        Blobs { inner, blobs: RefCell::default(), steps: RefCell::default(), requests: RefCell::default() }
    }

    pub fn blob(&self, content: &[u8]) -> String {
        let mut blobs = self.blobs.borrow_mut();
        blobs.push(content.to_vec());
        format!("blob{}", blobs.len())
    }

    pub fn content(&self, id: &str) -> Option<Vec<u8>> {
        let number: usize = id.strip_prefix("blob")?.parse().ok()?;
        self.blobs.borrow().get(number.checked_sub(1)?).cloned()
    }

    /// How many requests were made since this was asked last.
    pub fn round_trips(&self) -> usize {
        self.requests.borrow_mut().drain(..).count()
    }

    fn expanded(&self, mut request: Request) -> Request {
        self.requests.borrow_mut().push(format!("{} {}", request.method, request.url));
        let bytes = |segment: &Segment| match segment {
            Segment::Blob(id) => Segment::Bytes(self.content(id).unwrap_or_default()),
            other => other.clone(),
        };
        request.body = request.body.iter().map(bytes).collect();
        request
    }
}

impl<H: Host> Http for Blobs<H> {
    fn send(&self, request: Request) -> Result<Response, SendError> {
        self.inner.send(self.expanded(request))
    }

    fn send_to_blob(&self, request: Request, decode: &str, _: u64) -> Result<BlobInfo, SendError> {
        assert_eq!(decode, "raw");
        let response = self.inner.send(self.expanded(request))?;
        let content_type = response.header("content-type").map(str::to_owned);
        let size = u64::try_from(response.body.len()).ok();
        let id = self.blob(&response.body);
        Ok(BlobInfo { id, size, content_type, status: response.status, headers: response.headers })
    }
}

impl<H: Host> Host for Blobs<H> {
    fn now_ms(&self) -> i64 {
        NOW_MS
    }

    fn random_bytes(&self, len: u32) -> Vec<u8> {
        self.inner.random_bytes(len)
    }

    fn log(&self, level: Level, message: &str, fields: &[(&str, String)]) {
        self.inner.log(level, message, fields);
    }

    fn read_blob(&self, id: &str, offset: u64, len: u32) -> Option<Vec<u8>> {
        let content = self.content(id)?;
        let start = usize::try_from(offset).ok()?.min(content.len());
        Some(content.into_iter().skip(start).take(usize::try_from(len).ok()?).collect())
    }

    fn blob_size(&self, id: &str) -> Option<u64> {
        self.content(id).and_then(|content| u64::try_from(content.len()).ok())
    }

    fn reached(&self, step: &str) {
        self.steps.borrow_mut().push(step.into());
    }
}

/// One account.
pub struct Session<H> {
    pub host: Blobs<H>,
    pub connection: Connection,
}

impl<H: Host> Session<H> {
    pub fn cx(&self) -> Context<'_> {
        Context::new(&self.host, self.connection.clone())
    }

    pub fn changes(&self, cursor: Option<String>, limit: u32) -> Result<Answer<Sources>, Failure> {
        Jmap::changes(&self.cx().at(cursor), ChangesRequest { limit, ..ChangesRequest::default() })
    }
}

pub fn is_folder(source: &Source) -> bool {
    source.external_id.starts_with("F:")
}
