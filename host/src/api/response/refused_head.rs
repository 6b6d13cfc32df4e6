//! Answers to requests whose head cannot be read. The HTTP library answers these itself, with a status and nothing else, before any code of
//! the service runs; this stream puts the envelope and a request id in place of that answer.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};

use base::clock::{Clock, Entropy};
use base::error::{Code, Refusal};
use http::StatusCode;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::api::response::doc_links::linking_to;
use crate::api::response::error::envelope;
use crate::web::request_id;

/// A client's connection. Only the answer to the first request is looked at: the bytes of later ones may be a file that a client has made
/// look like such an answer.
pub struct HeadGuard<S> {
    stream: S,
    /// Set by the service when it gets the first request: from then on all bytes are answers of its own.
    has_asked: Arc<AtomicBool>,
    /// The public address of the service, to which errors link.
    address: Arc<str>,
    /// The answer that takes the place of the library's, and how much of it was written.
    answer: Vec<u8>,
    written: usize,
}

impl<S> HeadGuard<S> {
    /// Guards a connection on which no request was read yet.
    pub fn new(stream: S, has_asked: Arc<AtomicBool>, address: Arc<str>) -> Self {
        HeadGuard { stream, has_asked, address, answer: Vec::new(), written: 0 }
    }

    /// Whether these bytes are an answer of the library, which is replaced then.
    fn replaces(&mut self, bytes: &[u8]) -> bool {
        if self.has_asked.load(Ordering::Relaxed) || !self.answer.is_empty() {
            return false;
        }
        let Some(status) = status_of(bytes) else { return false };
        let id = request_id::new(&Clock::system(), &Entropy::system());
        tracing::info!(request_id = %id, status = status.as_u16(), "the head of a request cannot be read");
        self.answer = linking_to(&self.address, || answer(status, &id));
        true
    }
}

impl<S: AsyncWrite + Unpin> HeadGuard<S> {
    fn poll_answer(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while let Some(rest) = self.answer.get(self.written..).filter(|rest| !rest.is_empty()) {
            match ready!(Pin::new(&mut self.stream).poll_write(cx, rest))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                count => self.written += count,
            }
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for HeadGuard<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for HeadGuard<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if self.replaces(bytes) {
            return Poll::Ready(Ok(bytes.len()));
        }
        ready!(self.poll_answer(cx))?;
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if let [one] = slices
            && self.replaces(one)
        {
            return Poll::Ready(Ok(one.len()));
        }
        ready!(self.poll_answer(cx))?;
        Pin::new(&mut self.stream).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_answer(cx))?;
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_answer(cx))?;
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

/// The status of an answer of the library to a head that it cannot read; none for other bytes.
fn status_of(bytes: &[u8]) -> Option<StatusCode> {
    let status = StatusCode::from_bytes(bytes.strip_prefix(b"HTTP/1.1 ")?.get(..3)?).ok()?;
    let is_refused = matches!(
        status,
        StatusCode::BAD_REQUEST | StatusCode::URI_TOO_LONG | StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE
    );
    (is_refused && bytes.ends_with(b"\r\n\r\n")).then_some(status)
}

fn answer(status: StatusCode, request_id: &str) -> Vec<u8> {
    let message = match status {
        StatusCode::BAD_REQUEST => {
            "the request line and headers are not HTTP/1.1: look for control characters, such as a line break at the end of an API key"
        }
        _ => {
            "the request line and headers are longer than the 64 KiB that they may have; send long values in a body"
        }
    };
    let body = envelope(&Refusal::new(Code::InvalidRequest, message), request_id).to_string();
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nx-request-id: {request_id}\r\n\
         x-content-type-options: nosniff\r\ncache-control: private, no-store\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use axum::body::Body;
    use http::{Request, Response};
    use hyper::body::Incoming;
    use hyper::server::conn::http1;
    use hyper::service::service_fn;
    use hyper_util::rt::TokioIo;
    use serde_json::Value;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    /// Everything that a server says to these bytes, which answers each request that it can read with 400 and nothing else.
    async fn said_to(sent: &[u8]) -> String {
        let (mut client, server) = tokio::io::duplex(1 << 20);
        let has_asked = Arc::new(AtomicBool::new(false));
        let asks = has_asked.clone();
        let service = service_fn(move |_: Request<Incoming>| {
            asks.store(true, Ordering::Relaxed);
            let mut response = Response::new(Body::empty());
            *response.status_mut() = StatusCode::BAD_REQUEST;
            async move { Ok::<_, Infallible>(response) }
        });
        let mut http = http1::Builder::new();
        let io = TokioIo::new(HeadGuard::new(server, has_asked, "https://api.example.com".into()));
        let serving = http.max_header_size(64 << 10).serve_connection(io, service);
        client.write_all(sent).await.expect("it is taken");
        client.shutdown().await.expect("it is taken");
        let mut said = Vec::new();
        let (_, read) = tokio::join!(serving, client.read_to_end(&mut said));
        read.expect("an answer");
        String::from_utf8(said).expect("a text")
    }

    #[tokio::test]
    async fn a_head_that_cannot_be_read_gets_the_envelope() {
        let long = format!("GET /{} HTTP/1.1\r\nhost: x\r\n\r\n", "x".repeat(70_000));
        for (sent, status) in [
            ("GET / HTTP/1.1\r\nx-api-key: a\u{1}b\r\n\r\n", "HTTP/1.1 400 "),
            ("GET / HTTP/1.1\r\nbad header: x\r\n\r\n", "HTTP/1.1 400 "),
            ("nonsense\r\n\r\n", "HTTP/1.1 400 "),
            (long.as_str(), "HTTP/1.1 4"),
        ] {
            let said = said_to(sent.as_bytes()).await;
            let (head, body) = said.split_once("\r\n\r\n").expect("a head");
            assert!(head.starts_with(status), "{said}");
            let body: Value = serde_json::from_str(body).expect("JSON");
            assert_eq!(body["error"]["code"], "invalid_request", "{said}");
            assert_eq!(body["error"]["doc_url"], "https://api.example.com/docs/errors/invalid_request");
            let id = body["error"]["request_id"].as_str().expect("an id");
            assert!(head.contains(&format!("x-request-id: {id}\r\n")), "{said}");
            assert!(head.contains(&format!("content-length: {}\r\n", body.to_string().len())), "{said}");
        }
    }

    #[tokio::test]
    async fn the_answers_of_the_service_stay_as_they_are() {
        let said = said_to(b"GET / HTTP/1.1\r\nhost: x\r\n\r\nGET / HTTP/1.1\r\nx: \x01\r\n\r\n").await;
        assert_eq!((said.matches("HTTP/1.1 400 ").count(), said.contains("error")), (2, false), "{said}");
    }
}
