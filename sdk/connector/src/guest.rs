//! The connector inside the sandbox: the imports as a [`Host`], and the exports of every surface.

use std::marker::PhantomData;
use std::sync::Once;

use crate::bindings::imports::switchboard::connector as wit;
use crate::bindings::{calendar, contacts, email, lifecycle, tasks, watch};
use crate::context::{Host, Level};
use crate::dispatch;
use crate::error::{Failure, Outcome};
use crate::http::{BlobInfo, Http, Request, Response, Segment, SendError};
use crate::surface;
use crate::tcp::{self, Line, TcpError};

/// The host, reached through the component's imports. Calling one outside the sandbox panics.
struct Imports;

impl From<Request> for wit::http::Req {
    fn from(r: Request) -> Self {
        let segment = |segment| match segment {
            Segment::Bytes(bytes) => wit::http::Segment::Bytes(bytes),
            Segment::Blob(id) => wit::http::Segment::Blob(id),
            Segment::BlobBase64(id) => wit::http::Segment::BlobBase64(id),
            Segment::BlobBase64Url(id) => wit::http::Segment::BlobBase64url(id),
        };
        let header = |(name, value): (String, String)| wit::http::Header { name, value: value.into_bytes() };
        wit::http::Req {
            method: r.method,
            url: r.url,
            headers: r.headers.into_iter().map(header).collect(),
            body: r.body.into_iter().map(segment).collect(),
            auth: r.auth,
            timeout_ms: r.timeout_ms,
            max_bytes: r.max_bytes,
            extra: r.extra,
        }
    }
}

/// Header values are bytes; those that are not UTF-8 are of no use to a connector and are replaced where they are not.
fn headers(headers: Vec<wit::http::Header>) -> Vec<(String, String)> {
    headers.into_iter().map(|h| (h.name, String::from_utf8_lossy(&h.value).into_owned())).collect()
}

fn response(r: wit::http::Res) -> Response {
    Response {
        status: r.status,
        headers: headers(r.headers),
        body: r.body,
        truncated: r.truncated,
        extra: r.extra,
    }
}

fn send_error(e: wit::http::Err) -> SendError {
    SendError { code: e.code, message: e.message, retry_after_ms: e.retry_after_ms }
}

impl Http for Imports {
    fn send(&self, request: Request) -> Result<Response, SendError> {
        wit::http::send(&request.into()).map(response).map_err(send_error)
    }

    fn send_many(&self, requests: Vec<Request>, max_concurrent: u8) -> Vec<Result<Response, SendError>> {
        let requests: Vec<_> = requests.into_iter().map(wit::http::Req::from).collect();
        let answers = wit::http::send_many(&requests, max_concurrent);
        answers.into_iter().map(|answer| answer.map(response).map_err(send_error)).collect()
    }

    fn send_to_blob(&self, request: Request, decode: &str, max_bytes: u64) -> Result<BlobInfo, SendError> {
        let info = wit::http::send_to_blob(&request.into(), decode, max_bytes).map_err(send_error)?;
        Ok(BlobInfo {
            id: info.id,
            size: info.size,
            content_type: info.content_type,
            status: info.status,
            headers: headers(info.headers),
        })
    }
}

impl Host for Imports {
    fn now_ms(&self) -> i64 {
        wit::clock::now_ms()
    }

    fn random_bytes(&self, len: u32) -> Vec<u8> {
        wit::random::bytes(len)
    }

    fn log(&self, level: Level, message: &str, fields: &[(&str, String)]) {
        let fields: Vec<_> = fields.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        wit::log::log(level.as_str(), message, &fields);
    }

    fn read_blob(&self, id: &str, offset: u64, len: u32) -> Option<Vec<u8>> {
        wit::blob::read(id, offset, len)
    }

    fn create_blob(&self, content: &[u8], content_type: Option<&str>) -> Option<String> {
        wit::blob::create(content, content_type)
    }

    fn blob_size(&self, id: &str) -> Option<u64> {
        wit::blob::size(id)
    }

    fn open_line(&self, server: &str, protocol: &str) -> Result<Box<dyn Line>, TcpError> {
        let session = wit::tcp::Session::open(server, protocol).map_err(tcp_error)?;
        Ok(Box::new(session))
    }

    fn reached(&self, step: &str) {
        wit::progress::reached(step);
    }
}

fn tcp_error(e: wit::tcp::Err) -> TcpError {
    TcpError { code: e.code, message: e.message }
}

impl Line for wit::tcp::Session {
    fn capabilities(&self) -> Vec<String> {
        wit::tcp::Session::capabilities(self)
    }

    fn note(&self) -> Option<String> {
        wit::tcp::Session::note(self)
    }

    fn read(&mut self, max: u32) -> Result<Vec<u8>, TcpError> {
        wit::tcp::Session::read(self, max).map_err(tcp_error)
    }

    fn write(&mut self, segments: Vec<tcp::TcpSegment>) -> Result<(), TcpError> {
        let segment = |segment| match segment {
            tcp::TcpSegment::Bytes(bytes) => wit::tcp::Segment::Bytes(bytes),
            tcp::TcpSegment::Blob(id) => wit::tcp::Segment::Blob(id),
            tcp::TcpSegment::BlobDotStuffed(id) => wit::tcp::Segment::BlobDotStuffed(id),
        };
        let segments: Vec<_> = segments.into_iter().map(segment).collect();
        wit::tcp::Session::write(self, &segments).map_err(tcp_error)
    }

    fn read_to_blob(&mut self, head: &[u8], len: u64, decode: &str) -> Result<tcp::TcpBlob, TcpError> {
        let info = wit::tcp::Session::read_to_blob(self, head, len, decode).map_err(tcp_error)?;
        Ok(tcp::TcpBlob { id: info.id, size: info.size })
    }

    fn keep(&mut self, note: &str) {
        wit::tcp::Session::keep(self, note);
    }
}

/// Logs the message of a panic, because the trap that follows carries none.
fn install_panic_hook() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        std::panic::set_hook(Box::new(|info| {
            let place = info.location().map(ToString::to_string).unwrap_or_default();
            let payload = info.payload();
            let text = payload.downcast_ref::<&str>().copied();
            let text =
                text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("panic");
            Imports.log(Level::Error, &format!("panic: {text}"), &[("at", place)]);
        }));
    });
}

/// Runs one exported function: converts the request, runs the operation, and converts the response or failure.
fn enter(
    request: wit::types::Request,
    verb: impl FnOnce(&dyn Host, dispatch::CallRequest) -> Outcome<dispatch::CallResponse>,
) -> Result<wit::types::Response, wit::types::Failure> {
    install_panic_hook();
    let request = dispatch::CallRequest {
        op: request.op,
        body: request.body,
        cursor: request.cursor,
        idempotency_key: request.idempotency_key,
        deadline_ms: request.deadline_ms,
        extra: request.extra,
    };
    match verb(&Imports, request) {
        Ok(r) => Ok(wit::types::Response { body: r.body, cursor: r.cursor, more: r.more, extra: r.extra }),
        Err(failure) => Err(failure.into()),
    }
}

impl From<Failure> for wit::types::Failure {
    fn from(f: Failure) -> Self {
        wit::types::Failure {
            code: f.code,
            message: f.message,
            retry_after_ms: f.retry_after_ms,
            http_status: f.http_status,
            detail: f.detail.map(|detail| detail.to_string()),
        }
    }
}

/// Implements the guest traits of wit-bindgen for a connector type.
pub struct Guest<C>(PhantomData<C>);

macro_rules! surface_guest {
    ($bindings:ident, $bound:path, $dispatch:path) => {
        impl<C: $bound> $bindings::exports::switchboard::connector::$bindings::Guest for Guest<C> {
            fn fetch(r: wit::types::Request) -> Result<wit::types::Response, wit::types::Failure> {
                use $dispatch as verbs;
                enter(r, verbs::fetch::<C>)
            }

            fn mutate(r: wit::types::Request) -> Result<wit::types::Response, wit::types::Failure> {
                use $dispatch as verbs;
                enter(r, verbs::mutate::<C>)
            }

            fn changes(r: wit::types::Request) -> Result<wit::types::Response, wit::types::Failure> {
                use $dispatch as verbs;
                enter(r, verbs::changes::<C>)
            }
        }
    };
}

surface_guest!(calendar, surface::Calendar, crate::surface::calendar);
surface_guest!(email, surface::Email, crate::surface::email);
surface_guest!(contacts, surface::Contacts, crate::surface::contacts);
surface_guest!(tasks, surface::Tasks, crate::surface::tasks);

impl<C: surface::Lifecycle> lifecycle::exports::switchboard::connector::lifecycle::Guest for Guest<C> {
    fn check(r: wit::types::Request) -> Result<wit::types::Response, wit::types::Failure> {
        enter(r, surface::check::<C>)
    }
}

impl<C: surface::Watch> watch::exports::switchboard::connector::watch::Guest for Guest<C> {
    fn mutate(r: wit::types::Request) -> Result<wit::types::Response, wit::types::Failure> {
        enter(r, surface::watch::mutate::<C>)
    }
}
