//! Reads request bodies that the operation did not read: a request that is refused by its head or size is answered before its body has
//! arrived. A connection that is closed with unread bytes is reset, and the answer may be lost (RFC 9112 section 9.6). So the rest is read
//! first, within bounds, and discarded.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use bytes::Bytes;
use http::header;
use http_body::{Body as _, Frame, SizeHint};
use http_body_util::BodyExt;
use tokio::sync::oneshot;

/// Most bytes that are read and discarded.
const MAX_DISCARDED_BYTES: usize = 64 << 20;
/// Longest time for that.
const LONGEST: Duration = Duration::from_secs(10);

/// The unread part of a request's body, if any, after its operation.
pub struct Rest(Option<oneshot::Receiver<Body>>);

/// Lends the body of a request to its handler.
pub fn lend(request: Request) -> (Request, Rest) {
    if request.body().is_end_stream() {
        return (request, Rest(None));
    }
    let (back, left) = oneshot::channel();
    let (parts, body) = request.into_parts();
    let waits_for_a_word = parts.headers.contains_key(header::EXPECT);
    let lent = LentBody { body, back: Some(back), is_asked_for: !waits_for_a_word };
    (Request::from_parts(parts, Body::new(lent)), Rest(Some(left)))
}

impl Rest {
    /// Returns when the client has sent its whole body, or more than the bounds allow.
    pub async fn take(self) {
        // The body did not come back: it was read to its end, was never sent, or is still being read.
        let Some(Ok(body)) = self.0.map(|mut left| left.try_recv()) else { return };
        // The result does not matter: the connection broke or the body is endless, and the answer would not help.
        let _ = tokio::time::timeout(LONGEST, thrown_away(body)).await;
    }
}

async fn thrown_away(mut body: Body) {
    let mut room = MAX_DISCARDED_BYTES;
    while let Some(Ok(frame)) = body.frame().await {
        match room.checked_sub(frame.data_ref().map_or(0, Bytes::len)) {
            Some(left) => room = left,
            None => return,
        }
    }
}

/// A request's body, which comes back if it is not read to its end.
struct LentBody {
    body: Body,
    back: Option<oneshot::Sender<Body>>,
    /// Whether the client sends the body. With `100 Continue` it waits until the body is read.
    is_asked_for: bool,
}

impl http_body::Body for LentBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        self.is_asked_for = true;
        let polled = Pin::new(&mut self.body).poll_frame(cx);
        if matches!(polled, Poll::Ready(None | Some(Err(_)))) {
            self.back = None;
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for LentBody {
    fn drop(&mut self) {
        if let Some(back) = self.back.take()
            && self.is_asked_for
            && !self.body.is_end_stream()
        {
            // The receiver may be gone.
            let _ = back.send(std::mem::take(&mut self.body));
        }
    }
}
