//! HTTP/1.1 on the loopback interface: reads requests, writes answers, and breaks connections where a fault says so.

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::sync::Arc;

use bytes::Bytes;
use futures::stream;
use http::{HeaderMap, Request, Response};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, Limited, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::task::{JoinHandle, JoinSet};

/// Bytes that the body of a request has at most.
const MAX_BODY_BYTES: usize = 64 * 1024 * 1024;

/// A request.
#[derive(Clone, Debug)]
pub struct Ask {
    pub method: String,
    /// Percent-decoded.
    pub path: String,
    /// The segments of the path, each percent-decoded by itself.
    pub segments: Vec<String>,
    pub query: Vec<(String, String)>,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Ask {
    /// A request for this path, which is percent-encoded, with this query.
    pub fn new(method: &str, path: &str, query: &str, headers: HeaderMap, body: Bytes) -> Ask {
        let segments: Vec<String> = path.split('/').skip(1).map(percent_decoded).collect();
        Ask {
            method: method.to_owned(),
            path: format!("/{}", segments.join("/")),
            segments,
            query: pairs(query.as_bytes()),
            headers,
            body,
        }
    }

    /// A header as text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// The first parameter of the query with this name.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        first_named(&self.query, name)
    }
}

/// The first value with this name.
pub fn first_named<'a>(pairs: &'a [(String, String)], name: &str) -> Option<&'a str> {
    pairs.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
}

/// How an answer is delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    Whole,
    /// Half of the body, then the connection closes.
    Cut,
    /// The connection closes without a byte.
    Kill,
}

/// An answer.
#[derive(Clone, Debug)]
pub struct Reply {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Bytes,
    pub delivery: Delivery,
}

impl Reply {
    /// An answer without a body.
    pub fn new(status: u16) -> Reply {
        Reply { status, headers: Vec::new(), body: Bytes::new(), delivery: Delivery::Whole }
    }

    /// An answer of JSON.
    pub fn json(status: u16, body: &serde_json::Value) -> Reply {
        Reply::new(status).header("content-type", "application/json; charset=UTF-8").body(body.to_string())
    }

    /// The same answer with one more header.
    pub fn header(mut self, name: &str, value: &str) -> Reply {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The same answer with this body.
    pub fn body(mut self, body: impl Into<Bytes>) -> Reply {
        self.body = body.into();
        self
    }
}

/// A provider that answers requests.
pub trait Provider: Send + Sync + 'static {
    fn answer(self: Arc<Self>, ask: Ask) -> impl Future<Output = Reply> + Send;
}

/// Serves a provider until the task is aborted; its connections end with it.
pub fn serve<P: Provider>(listener: TcpListener, provider: Arc<P>) -> JoinHandle<()> {
    tokio::spawn(async move {
        let mut connections = JoinSet::new();
        loop {
            tokio::select! {
                accepted = listener.accept() => {
                    let Ok((stream, _)) = accepted else { continue };
                    let provider = Arc::clone(&provider);
                    // Without it an answer of several segments can wait for an acknowledgement.
                    let _ = stream.set_nodelay(true);
                    connections.spawn(async move {
                        let service = service_fn(move |request| answer(Arc::clone(&provider), request));
                        // A client that goes away, and a fault that closes the connection, end it alike.
                        let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
                    });
                }
                Some(_) = connections.join_next() => {}
            }
        }
    })
}

type ReplyBody = UnsyncBoxBody<Bytes, io::Error>;

async fn answer<P: Provider>(
    provider: Arc<P>,
    request: Request<Incoming>,
) -> Result<Response<ReplyBody>, io::Error> {
    let (head, body) = request.into_parts();
    let reply = match Limited::new(body, MAX_BODY_BYTES).collect().await {
        Ok(body) => {
            let (method, uri) = (head.method.as_str(), &head.uri);
            let query = uri.query().unwrap_or_default();
            provider.answer(Ask::new(method, uri.path(), query, head.headers, body.to_bytes())).await
        }
        Err(_) => Reply::new(413),
    };
    write(reply)
}

fn write(reply: Reply) -> Result<Response<ReplyBody>, io::Error> {
    let cut = || io::Error::new(io::ErrorKind::ConnectionAborted, "a fault closes the connection");
    let mut response = Response::builder().status(reply.status);
    for (name, value) in &reply.headers {
        response = response.header(name, value);
    }
    let body = match reply.delivery {
        Delivery::Kill => return Err(cut()),
        Delivery::Whole => Full::new(reply.body).map_err(|never: Infallible| match never {}).boxed_unsync(),
        Delivery::Cut => {
            response = response.header("content-length", reply.body.len().max(2));
            let half = reply.body.slice(..reply.body.len() / 2);
            StreamBody::new(stream::iter([Ok(Frame::data(half)), Err(cut())])).boxed_unsync()
        }
    };
    response.body(body).map_err(io::Error::other)
}

/// The pairs of a query or of a form.
pub fn pairs(text: &[u8]) -> Vec<(String, String)> {
    url::form_urlencoded::parse(text).into_owned().collect()
}

fn percent_decoded(segment: &str) -> String {
    let bytes = segment.as_bytes();
    let digit = |at: usize| bytes.get(at).and_then(|byte| char::from(*byte).to_digit(16));
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match (byte, digit(at + 1), digit(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                decoded.push(u8::try_from(high * 16 + low).unwrap_or_default());
                at += 3;
            }
            _ => {
                decoded.push(*byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}
