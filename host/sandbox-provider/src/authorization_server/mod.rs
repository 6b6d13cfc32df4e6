//! The provider's authorization server (RFC 6749), like those of real providers: metadata, a consent page, codes with PKCE,
//! refresh tokens that rotate, and revocation. The crate's documentation lists the accounts and their special behaviour here.

mod authorize;
pub mod clients;
pub mod consent;
pub mod grants;
pub mod login;
mod metadata;
mod oauth_error;
mod origin;
mod page;
mod params;
pub mod revoke;
pub mod scopes;
mod token;

#[cfg(test)]
mod tests;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::routing::{get, post};

use crate::sandbox::Sandbox;

/// The largest request body, in bytes.
const MAX_BODY_BYTES: usize = 64 << 10;

/// The paths that need no account login.
pub fn routes(sandbox: Sandbox) -> Router {
    Router::new()
        .route("/.well-known/oauth-authorization-server/sandbox", get(metadata::metadata))
        .route("/sandbox/oauth/authorize", get(authorize::ask).post(authorize::decide))
        .route(token::PATH, post(token::token))
        .route(revoke::PATH, post(revoke::revoke))
        .route("/sandbox/oauth/clients", post(clients::register))
        .layer(DefaultBodyLimit::max(MAX_BODY_BYTES))
        .with_state(sandbox)
}
