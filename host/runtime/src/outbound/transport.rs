//! A transport for requests in place of the network: a test of a connector plays its provider here, or injects faults. It is
//! below the policy, the budgets and the credentials, and above names, TLS and connections: the rules for requests, and the
//! limits and cleaning of answers are the same with it.

use std::error::Error;
use std::io;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use futures::StreamExt;
use http::{Request, Response};
use http_body::Frame;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, StreamBody};

use crate::bindings::http::Err;
use crate::outbound::refused;

/// The body of an answer, whatever its source.
pub(super) type AnswerBody = UnsyncBoxBody<Bytes, Box<dyn Error + Send + Sync>>;

/// Carries one permitted request, with its credentials, in place of the network.
#[async_trait]
pub trait Transport: Send + Sync {
    /// The answer. `network` sends the request the way it would go without this transport; it may be used any number of times.
    async fn send(
        &self,
        request: Request<Bytes>,
        network: &dyn Network,
    ) -> Result<Response<CarriedBody>, TransportError>;
}

/// The network, for one request.
#[async_trait]
pub trait Network: Send + Sync {
    /// Sends the request, and reads the whole answer within the host's limits.
    async fn send(&self) -> Result<Response<CarriedBody>, TransportError>;
}

/// A body as it arrives: pieces, each after a delay, and how it ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CarriedBody {
    pub pieces: Vec<(Duration, Bytes)>,
    /// The connection breaks after the last piece.
    pub is_cut: bool,
}

impl CarriedBody {
    /// All of it at once.
    pub fn whole(body: impl Into<Bytes>) -> Self {
        CarriedBody { pieces: vec![(Duration::ZERO, body.into())], is_cut: false }
    }

    /// The bytes of all pieces.
    pub fn bytes(&self) -> Vec<u8> {
        self.pieces.iter().flat_map(|(_, piece)| piece.iter().copied()).collect()
    }

    pub(super) fn into_body(self) -> AnswerBody {
        let end = self.is_cut.then(|| Err(io::Error::from(io::ErrorKind::ConnectionReset).into()));
        let pieces = futures::stream::iter(self.pieces).then(|(wait, piece)| async move {
            if !wait.is_zero() {
                tokio::time::sleep(wait).await;
            }
            Ok(Frame::data(piece))
        });
        StreamBody::new(pieces.chain(futures::stream::iter(end))).boxed_unsync()
    }
}

/// Why there is no answer.
#[derive(Debug)]
pub struct TransportError(pub(super) Err);

impl TransportError {
    /// No connection could be made: the provider has not seen the request.
    pub fn unreachable() -> Self {
        TransportError(refused("connect", "the provider could not be reached"))
    }

    /// The connection broke before the answer: whether the provider processed the request is unknown.
    pub fn broken() -> Self {
        TransportError(refused("unavailable", "the provider's answer could not be read"))
    }

    /// The answer did not come in time: whether the provider processed the request is unknown.
    pub fn timed_out() -> Self {
        TransportError(refused("timeout", "the provider did not answer in time"))
    }

    /// Whether no connection could be made.
    pub fn is_unreachable(&self) -> bool {
        self.0.code == "connect"
    }

    /// Whether the answer did not come in time.
    pub fn is_late(&self) -> bool {
        self.0.code == "timeout"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_body_comes_in_pieces_and_may_be_cut() {
        let pieces = vec![(Duration::ZERO, Bytes::from("ab")), (Duration::from_millis(1), Bytes::from("c"))];
        let carried = CarriedBody { pieces, is_cut: true };
        assert_eq!(carried.bytes(), b"abc");
        let mut body = carried.into_body();
        let mut read = Vec::new();
        let error = loop {
            match body.frame().await.expect("an error ends it") {
                Ok(frame) => read.extend_from_slice(&frame.into_data().expect("data")),
                Err(error) => break error,
            }
        };
        assert_eq!(read, b"abc");
        assert!(error.to_string().contains("reset"), "{error}");
        let whole = CarriedBody::whole("abc").into_body().collect().await.expect("it ends well");
        assert_eq!(whole.to_bytes(), "abc");
    }
}
