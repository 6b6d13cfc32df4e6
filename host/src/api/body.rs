//! A request's body on its way in: no larger than its operation takes, no slower than its deadline, and held within budgets, one for
//! the service and one for each key. It is parsed and fingerprinted once, where that holds up nobody.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use base::error::{Code, Refusal, Result, refuse};
use bytes::{Bytes, BytesMut};
use compute::Compute;
use compute::named_semaphores::Shares;
use http::{HeaderMap, HeaderValue, header};
use http_body::Body as _;
use http_body_util::BodyExt;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::timeout;

use crate::api::received::{Form, Object, Received};
use crate::api::{fingerprint, form, json};

/// Largest body of an ordinary operation in bytes.
pub const MAX_BODY: usize = 2 << 20;
/// Largest body of an operation that takes files along.
pub const MAX_BODY_WITH_FILES: usize = 40 << 20;

/// Bytes of all bodies that are held at one moment. Reading one costs up to three times its bytes, so this and what the process has
/// anyway stay within 512 MiB.
const MAX_HELD: usize = 96 << 20;
/// Of those, bytes that are kept for small bodies: large ones cannot shut out ordinary requests.
const HELD_FOR_SMALL: usize = 16 << 20;
/// A body up to here is small, in bytes.
const SMALL: usize = 64 << 10;
/// Bytes of all large bodies of one key: one of the largest, or some tens of ordinary ones.
const MAX_HELD_OF_KEY: usize = 44 << 20;
/// How long a large body waits for the key's other ones to be done with.
const QUEUE: Duration = Duration::from_secs(30);
/// For a whole body: this, and a second for each `SLOWEST` bytes that it may have.
const DEADLINE: Duration = Duration::from_secs(30);
/// Bytes a second.
const SLOWEST: usize = 128 << 10;

/// What is held of bodies.
pub struct Bodies {
    held: Mutex<usize>,
    /// In KiB.
    keys: Shares,
    deadline: Duration,
    queue: Duration,
}

impl Default for Bodies {
    fn default() -> Self {
        Bodies::with(DEADLINE, QUEUE)
    }
}

impl Bodies {
    fn with(deadline: Duration, queue: Duration) -> Self {
        Bodies { held: Mutex::new(0), keys: Shares::new(MAX_HELD_OF_KEY >> 10), deadline, queue }
    }
}

/// A share of the budgets, given back when it is dropped: when the work with the body is done.
pub struct Held {
    bodies: Arc<Bodies>,
    bytes: usize,
    _of_key: Option<OwnedSemaphorePermit>,
}

impl Held {
    /// Takes `more` bytes, or refuses.
    fn grow(&mut self, more: usize) -> Result<()> {
        let after = self.bytes + more;
        let room = if after <= SMALL { MAX_HELD } else { MAX_HELD - HELD_FOR_SMALL };
        let Ok(mut held) = self.bodies.held.lock() else { return Ok(()) };
        if *held + more > room {
            let message = "more request bodies are being read than there is memory for; try again shortly";
            return Err(Refusal::new(Code::Overloaded, message).retry_after_s(1).into());
        }
        *held += more;
        self.bytes = after;
        Ok(())
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if let Ok(mut held) = self.bodies.held.lock() {
            *held = held.saturating_sub(self.bytes);
        }
    }
}

/// A request whose body was read.
pub struct Read {
    pub request: Request,
    /// Equal for bodies that mean the same: the order of names, their spelling and white space do not count. A large body is
    /// compared by its bytes.
    pub fingerprint: String,
    /// To be kept until the work with the body is done.
    pub held: Held,
}

/// Whose body it is: what is held counts for the key, work on it for the tenant.
#[derive(Clone, Copy)]
pub struct Whose<'a> {
    pub key_id: &'a str,
    pub application_id: &'a str,
}

/// Reads a body of at most `max` bytes. Nothing is parsed or kept before its size is known to be within that.
///
/// # Errors
/// `payload_too_large`; `request_timeout` where it comes too slowly; `rate_limited` where its key and `overloaded` where all
/// together have too much being read. What is wrong with its JSON is for the handler to say, if it wants JSON at all.
pub async fn read(
    bodies: &Arc<Bodies>,
    compute: &Compute,
    whose: Whose<'_>,
    max: usize,
    request: Request,
) -> Result<Read> {
    let (parts, body) = request.into_parts();
    let size = size(&parts.headers, &body, max)?;
    let of_key = if size > SMALL { Some(turn(bodies, whose.key_id, size).await?) } else { None };
    let mut held = Held { bodies: bodies.clone(), bytes: 0, _of_key: of_key };
    let deadline = bodies.deadline + Duration::from_secs((max / SLOWEST) as u64);
    let Ok(bytes) = timeout(deadline, collect(body, (size, max), &mut held)).await else {
        let message = format!("the body did not arrive within {} s", deadline.as_secs());
        return Err(refuse(Code::RequestTimeout, message));
    };
    let bytes = bytes?;
    let content_type = parts.headers.get(header::CONTENT_TYPE).cloned();
    let size = bytes.len();
    let work = move || digest(content_type.as_ref(), bytes);
    let (object, fingerprint, form) = compute.run(whose.application_id, size, work).await;
    let mut request = Request::from_parts(parts, Body::empty());
    request.extensions_mut().insert(Received::new(object));
    if let Some(form) = form {
        request.extensions_mut().insert(Form(Received::new(form)));
    }
    Ok(Read { request, fingerprint, held })
}

/// How many bytes the body has at most.
fn size(headers: &HeaderMap, body: &Body, max: usize) -> Result<usize> {
    let exact = body.size_hint().exact();
    let declared = exact.or_else(|| headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok());
    match declared {
        Some(bytes) if bytes > max as u64 => Err(too_large(max)),
        Some(bytes) => Ok(usize::try_from(bytes).unwrap_or(max)),
        None => Ok(max),
    }
}

fn too_large(max: usize) -> base::error::Error {
    refuse(
        Code::PayloadTooLarge,
        format!("the body is larger than the {max} bytes that this operation takes"),
    )
}

/// Waits until the key's other bodies leave room for one of so many bytes.
async fn turn(bodies: &Bodies, key: &str, bytes: usize) -> Result<OwnedSemaphorePermit> {
    let kib = u32::try_from(bytes.min(MAX_HELD_OF_KEY).div_ceil(1 << 10)).unwrap_or(u32::MAX);
    match timeout(bodies.queue, bodies.keys.of(key).acquire_many_owned(kib)).await {
        Ok(Ok(permit)) => Ok(permit),
        _ => {
            let message = "this API key sends more large bodies at once than are taken; send fewer at a time";
            Err(Refusal::new(Code::RateLimited, message).retry_after_s(5).into())
        }
    }
}

async fn collect(mut body: Body, (size, max): (usize, usize), held: &mut Held) -> Result<Bytes> {
    // What a client only claims to send costs no memory: pages are taken when they are written to.
    let mut bytes = BytesMut::with_capacity(size);
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else {
            return Err(refuse(Code::InvalidRequest, "the body broke off before its end"));
        };
        let Some(data) = frame.data_ref() else { continue };
        if bytes.len() + data.len() > max {
            return Err(too_large(max));
        }
        held.grow(data.len())?;
        bytes.extend_from_slice(data);
    }
    Ok(bytes.freeze())
}

/// The object in a body, its fingerprint, and the parameters of a small form. The bytes are gone afterwards.
fn digest(content_type: Option<&HeaderValue>, bytes: Bytes) -> (Object, String, Option<Object>) {
    let form = (bytes.len() <= SMALL && form::is_form(content_type)).then(|| form::object(&bytes));
    let object = json::object(content_type, &bytes);
    let fingerprint = match form.as_ref().unwrap_or(&object) {
        Ok(object) if bytes.len() <= SMALL => fingerprint::of_object(object),
        _ => fingerprint::of_bytes(&bytes),
    };
    (object, fingerprint, form)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use futures::stream;

    use super::*;

    async fn send_by(key_id: &str, bodies: &Arc<Bodies>, max: usize, body: Body) -> Result<Read> {
        let whose = Whose { key_id, application_id: "app" };
        read(bodies, &Compute::default(), whose, max, Request::new(body)).await
    }

    async fn send(bodies: &Arc<Bodies>, max: usize, body: Body) -> Result<Read> {
        send_by("key", bodies, max, body).await
    }

    fn chunked(chunks: usize, bytes: usize) -> Body {
        let chunk = Bytes::from(vec![b' '; bytes]);
        Body::from_stream(stream::iter((0..chunks).map(move |_| Ok::<_, Infallible>(chunk.clone()))))
    }

    fn code<T>(outcome: Result<T>) -> Option<Code> {
        outcome.err().and_then(|e| e.code())
    }

    #[tokio::test]
    async fn a_body_is_refused_by_its_operations_limit_whether_it_tells_its_size_or_not() {
        let bodies = Arc::<Bodies>::default();
        assert_eq!(code(send(&bodies, 10, Body::from("[1,2,3,4,5,6]")).await), Some(Code::PayloadTooLarge));
        assert_eq!(code(send(&bodies, 10, chunked(3, 4)).await), Some(Code::PayloadTooLarge));
        assert!(send(&bodies, 10, Body::from("{}")).await.is_ok());
        assert_eq!(*bodies.held.lock().unwrap(), 0, "everything was given back");
    }

    #[tokio::test]
    async fn a_body_has_a_deadline_for_all_of_it() {
        let bodies = Arc::new(Bodies::with(Duration::from_millis(20), QUEUE));
        // One byte after another, so that no single one is long in coming.
        let trickle = stream::unfold((), |()| async {
            tokio::time::sleep(Duration::from_millis(1)).await;
            Some((Ok::<_, Infallible>(Bytes::from_static(b" ")), ()))
        });
        let outcome = send(&bodies, 100_000, Body::from_stream(trickle)).await;
        assert_eq!(code(outcome), Some(Code::RequestTimeout));
    }

    #[tokio::test]
    async fn one_key_does_not_take_all_memory_and_all_of_them_leave_room_for_small_bodies() {
        let bodies = Arc::new(Bodies::with(DEADLINE, Duration::from_millis(10)));
        let large = || chunked(40, 1 << 20);
        let first = send(&bodies, MAX_BODY_WITH_FILES, large()).await.unwrap();
        let second = send(&bodies, MAX_BODY_WITH_FILES, large()).await;
        assert_eq!(code(second), Some(Code::RateLimited), "its other body is still held");
        let other = send_by("b", &bodies, MAX_BODY_WITH_FILES, large()).await.unwrap();
        let third = send_by("c", &bodies, MAX_BODY_WITH_FILES, large()).await;
        assert_eq!(code(third), Some(Code::Overloaded));
        assert!(send(&bodies, MAX_BODY, Body::from("{}")).await.is_ok());
        drop((first, other));
        assert!(send(&bodies, MAX_BODY_WITH_FILES, large()).await.is_ok());
    }
}
