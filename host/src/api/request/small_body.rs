//! Bodies of requests that no key stands for: small, read within a short time, and of all of them together few bytes are held.

use std::time::Duration;

use axum::body::Body;
use base::error::{Code, Refusal, Result, refuse};
use bytes::BytesMut;
use http_body_util::BodyExt;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Instant, timeout_at};

/// Bytes that all of them have at one moment. Parsed they are about ten times as much, one after the other.
const ROOM_BYTES: usize = 16 << 20;

static ROOM: Semaphore = Semaphore::const_new(ROOM_BYTES);

/// A body, which has its room until it is dropped.
#[derive(Debug)]
pub struct SmallBody {
    bytes: BytesMut,
    room: Option<SemaphorePermit<'static>>,
}

impl SmallBody {
    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// Reads a body of at most `max` bytes that arrives within this time. It takes room as it comes: whoever sends little, or nothing, holds
/// little.
pub async fn read(mut body: Body, max: usize, within: Duration) -> Result<SmallBody> {
    let deadline = Instant::now() + within;
    let mut read = SmallBody { bytes: BytesMut::new(), room: None };
    loop {
        let Ok(frame) = timeout_at(deadline, body.frame()).await else {
            let message = format!("the body did not arrive within {} ms", within.as_millis());
            return Err(refuse(Code::RequestTimeout, message));
        };
        let Some(frame) = frame else { return Ok(read) };
        let Ok(frame) = frame else {
            return Err(refuse(Code::InvalidRequest, "the body broke off before its end"));
        };
        let Some(data) = frame.data_ref() else { continue };
        if read.bytes.len() + data.len() > max {
            let message = format!("the body is larger than the {max} bytes that this operation takes");
            return Err(refuse(Code::PayloadTooLarge, message));
        }
        let wanted = u32::try_from(data.len()).unwrap_or(u32::MAX);
        let Ok(room) = ROOM.try_acquire_many(wanted) else {
            let message = "too many such requests are being read; try again";
            return Err(Refusal::new(Code::Overloaded, message).retry_after_s(1).into());
        };
        match &mut read.room {
            Some(held) => held.merge(room),
            None => read.room = Some(room),
        }
        read.bytes.extend_from_slice(data);
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use bytes::Bytes;
    use futures::{StreamExt, stream};

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test]
    async fn a_body_is_small_and_quick() {
        let parts = [Bytes::from_static(b"ab"), Bytes::from_static(b"c")].map(Ok::<_, Infallible>);
        let parts = stream::iter(parts);
        let body = read(Body::from_stream(parts), 3, SECOND).await.unwrap();
        assert_eq!(body.bytes(), b"abc");
        let code = |read: Result<SmallBody>| read.unwrap_err().code();
        assert_eq!(code(read(Body::from("abcd"), 3, SECOND).await), Some(Code::PayloadTooLarge));
        let stalled = stream::iter([Ok::<_, Infallible>(Bytes::from_static(b"a"))]).chain(stream::pending());
        let slow = read(Body::from_stream(stalled), 3, Duration::from_millis(10)).await;
        assert_eq!(code(slow), Some(Code::RequestTimeout));
        assert!(read(Body::empty(), 3, SECOND).await.unwrap().bytes().is_empty());
    }
}
