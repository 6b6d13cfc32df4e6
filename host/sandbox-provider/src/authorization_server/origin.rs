//! The provider's own address.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::header::HOST;
use axum::http::request::Parts;
use axum::http::uri::Authority;

use crate::sandbox::Sandbox;

/// Scheme, host and port under which the provider is served: as configured, else as the request names it.
pub struct Origin(pub String);

impl Origin {
    /// The issuer identifier (RFC 8414, section 2).
    pub fn issuer(&self) -> String {
        format!("{}/sandbox", self.0)
    }
}

impl FromRequestParts<Sandbox> for Origin {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, sandbox: &Sandbox) -> Result<Self, Infallible> {
        if let Some(address) = &sandbox.0.address {
            return Ok(Origin(address.clone()));
        }
        let named = parts.headers.get(HOST).and_then(|value| value.to_str().ok());
        let named = named.and_then(|host| host.parse::<Authority>().ok());
        // HTTP/2 names it in the address of the request.
        let authority = named.or_else(|| parts.uri.authority().cloned());
        let authority = authority.filter(|authority| !authority.as_str().contains('@'));
        let host = authority.as_ref().map_or("localhost", Authority::as_str);
        Ok(Origin(format!("http://{host}")))
    }
}
