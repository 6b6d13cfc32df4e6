//! Requests over a transport in place of the network, and the network in the role of that transport.

use async_trait::async_trait;
use http::{Request, Response};
use http_body_util::BodyExt;

use crate::bindings::http::Err;
use crate::outbound::exchange::{CheckedRequest, chunk};
use crate::outbound::transport::{AnswerBody, CarriedBody, Network, Transport, TransportError};
use crate::outbound::{CallEgress, Secret, refused};

/// The network for one request.
struct RequestNetwork<'a> {
    egress: &'a CallEgress,
    prepared: &'a CheckedRequest,
    secret: Option<&'a Secret>,
}

#[async_trait]
impl Network for RequestNetwork<'_> {
    async fn send(&self) -> Result<Response<CarriedBody>, TransportError> {
        let answer = self.egress.over_network(self.prepared, self.secret).await.map_err(TransportError)?;
        let (head, mut body) = answer.into_parts();
        let most = self.egress.shared.limits.http_total_response_bytes;
        let mut whole = Vec::new();
        while let Some(piece) = chunk(&mut body).await.map_err(TransportError)? {
            whole.extend_from_slice(&piece);
            if whole.len() as u64 > most {
                return Err(TransportError(refused("too-large", "the response is too large")));
            }
        }
        Ok(Response::from_parts(head, CarriedBody::whole(whole)))
    }
}

impl CallEgress {
    /// Sends by the transport that replaces the network.
    pub(super) async fn carried(
        &self,
        transport: &dyn Transport,
        prepared: &CheckedRequest,
        secret: Option<&Secret>,
    ) -> Result<Response<AnswerBody>, Err> {
        let (head, body) = prepared.request(secret)?.into_parts();
        let lost = |_| refused("unavailable", "the host lost a blob");
        let request = Request::from_parts(head, body.collect().await.map_err(lost)?.to_bytes());
        let answer = transport.send(request, &RequestNetwork { egress: self, prepared, secret }).await;
        Ok(answer.map_err(|TransportError(error)| error)?.map(CarriedBody::into_body))
    }
}
