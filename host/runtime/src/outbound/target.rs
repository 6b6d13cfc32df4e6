//! The server that a permitted request is sent to.

use std::net::SocketAddr;

use crate::http_url;
use crate::outbound::CallEgress;
use crate::outbound::policy::{Permit, Refusal};
use crate::outbound::redirect::RedirectTarget;

impl CallEgress {
    /// The target of a permitted request that is not sent to its own host: the fake provider of a connector in development, or
    /// the server that the operator put in the place of the host. None: the request is sent to its own host.
    pub(super) fn target(&self, permit: &Permit) -> Result<Option<RedirectTarget>, Refusal> {
        if let Some(redirect) = &self.shared.redirect
            && let Some(target) = self.policy.redirected(redirect, &self.connector, permit)?
        {
            return Ok(Some(target));
        }
        let Some(server) = self.policy.replacement(permit) else { return Ok(None) };
        if let Some(address) = http_url::literal(server) {
            let port = server.port_or_known_default().unwrap_or_default();
            if !self.shared.permits_literal(&self.connector, SocketAddr::new(address, port)) {
                let message = "the operator does not allow requests to this address".to_owned();
                return Err(Refusal::Denied(message));
            }
        }
        let target = RedirectTarget::new(server, &permit.url)
            .ok_or(Refusal::Invalid("url: it has characters that are not for URLs"))?;
        // The connector requested https.
        Ok(Some(target.confidential()))
    }
}
