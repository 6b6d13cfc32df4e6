//! Bodies of requests without a key: small, with a short time limit, and with a small memory budget for all of them together, of which an
//! address has a share.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use base::error::{Code, Error, Refusal, Result, refuse};
use bytes::BytesMut;
use compute::named_semaphores::Shares;
use http_body_util::BodyExt;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};

use crate::web::rate_limit::site;

/// Memory for such bodies, in bytes.
pub struct BodyRoom {
    all: Arc<Semaphore>,
    of_address: Shares,
}

/// A body, which holds its share of the memory budget until it is dropped.
#[derive(Debug)]
pub struct SmallBody {
    bytes: BytesMut,
    _room: RoomShare,
}

impl SmallBody {
    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// The memory that one body holds: in the total, and in its address's share.
#[derive(Debug)]
struct RoomShare {
    semaphores: [Arc<Semaphore>; 2],
    permits: [Option<OwnedSemaphorePermit>; 2],
}

impl RoomShare {
    /// Reserves `more` bytes, or fails.
    fn grow(&mut self, more: usize) -> Result<()> {
        let more = u32::try_from(more).unwrap_or(u32::MAX);
        for (semaphore, held) in self.semaphores.iter().zip(&mut self.permits) {
            let Ok(permit) = semaphore.clone().try_acquire_many_owned(more) else {
                return Err(overloaded_error());
            };
            match held {
                Some(held) => held.merge(permit),
                None => *held = Some(permit),
            }
        }
        Ok(())
    }
}

fn overloaded_error() -> Error {
    let message = "too many such requests are being read; try again";
    Refusal::new(Code::Overloaded, message).retry_after_s(1).into()
}

impl BodyRoom {
    /// A budget of so many bytes at a time, and of so many for one address. Parsed they take about ten times as much, one after the other.
    pub fn new(bytes: usize, bytes_of_address: usize) -> BodyRoom {
        BodyRoom { all: Arc::new(Semaphore::new(bytes)), of_address: Shares::new(bytes_of_address) }
    }

    /// Reads a body of at most `max` bytes that arrives from `ip` within this time. Memory is reserved as bytes arrive: a client that sends
    /// little holds little.
    pub async fn read(&self, mut body: Body, ip: IpAddr, max: usize, within: Duration) -> Result<SmallBody> {
        let deadline = Instant::now() + within;
        let semaphores = [self.of_address.of(&site(ip).to_string()), self.all.clone()];
        let mut room = RoomShare { semaphores, permits: [None, None] };
        let mut bytes = BytesMut::new();
        loop {
            let Ok(frame) = timeout_at(deadline, body.frame()).await else {
                let message = format!("the body did not arrive within {} ms", within.as_millis());
                return Err(refuse(Code::RequestTimeout, message));
            };
            let Some(frame) = frame else { return Ok(SmallBody { bytes, _room: room }) };
            let Ok(frame) = frame else {
                return Err(refuse(Code::InvalidRequest, "the body broke off before its end"));
            };
            let Some(data) = frame.data_ref() else { continue };
            if bytes.len() + data.len() > max {
                let message = format!("the body is larger than the {max} bytes that this operation takes");
                return Err(refuse(Code::PayloadTooLarge, message));
            }
            room.grow(data.len())?;
            bytes.extend_from_slice(data);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use bytes::Bytes;
    use futures::{StreamExt, stream};

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn room() -> BodyRoom {
        BodyRoom::new(10, 4)
    }

    async fn read(room: &BodyRoom, from: &str, body: Body, within: Duration) -> Result<SmallBody> {
        room.read(body, from.parse().unwrap(), 3, within).await
    }

    fn code(read: Result<SmallBody>) -> Option<Code> {
        read.unwrap_err().code()
    }

    /// A body that begins with these bytes and then stalls without an end.
    fn stalled(begun: &'static [u8]) -> Body {
        let begun = stream::iter([Ok::<_, Infallible>(Bytes::from_static(begun))]);
        Body::from_stream(begun.chain(stream::pending()))
    }

    #[tokio::test]
    async fn a_body_is_small_and_quick() {
        let room = room();
        let parts = [Bytes::from_static(b"ab"), Bytes::from_static(b"c")].map(Ok::<_, Infallible>);
        let parts = Body::from_stream(stream::iter(parts));
        assert_eq!(read(&room, "192.0.2.1", parts, SECOND).await.unwrap().bytes(), b"abc");
        let large = read(&room, "192.0.2.1", Body::from("abcd"), SECOND).await;
        assert_eq!(code(large), Some(Code::PayloadTooLarge));
        let slow = read(&room, "192.0.2.1", stalled(b"a"), Duration::from_millis(10)).await;
        assert_eq!(code(slow), Some(Code::RequestTimeout));
        assert!(read(&room, "192.0.2.1", Body::empty(), SECOND).await.unwrap().bytes().is_empty());
        assert_eq!(room.all.available_permits(), 10, "everything was given back");
    }

    #[tokio::test]
    async fn an_address_has_a_share_of_the_room() {
        let room = room();
        let mut held = vec![read(&room, "2001:db8::1", Body::from("abc"), SECOND).await.unwrap()];
        let more = read(&room, "2001:db8:0:7::2", Body::from("ab"), SECOND).await;
        assert_eq!(code(more), Some(Code::Overloaded), "the network is one address");
        assert_eq!(room.all.available_permits(), 7, "it took nothing of the others");
        for ip in ["192.0.2.1", "192.0.2.2"] {
            held.push(read(&room, ip, Body::from("abc"), SECOND).await.unwrap());
        }
        assert_eq!(code(read(&room, "192.0.2.3", Body::from("ab"), SECOND).await), Some(Code::Overloaded));
        drop(held);
        assert!(read(&room, "192.0.2.3", Body::from("ab"), SECOND).await.is_ok());
    }

    /// Bodies that never arrive hold no memory, however many there are.
    #[tokio::test]
    async fn bodies_that_do_not_come_hold_no_room() {
        let room = room();
        let silent = (0..1_000).map(|_| read(&room, "192.0.2.1", stalled(b""), SECOND));
        let mut silent: Vec<_> = silent.map(Box::pin).collect();
        for waiting in &mut silent {
            assert!(futures::poll!(waiting.as_mut()).is_pending());
        }
        assert_eq!(read(&room, "192.0.2.1", Body::from("abc"), SECOND).await.unwrap().bytes(), b"abc");
    }
}
