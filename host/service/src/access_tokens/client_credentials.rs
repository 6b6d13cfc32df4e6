//! An access token for an API key alone (RFC 6749, section 4.4): the key with fewer rights and a short life, for a browser or a worker.

use base::error::{Error, Result};
use model::Instant;
use model::application::NewApiKey;
use storage::api_keys::{self, ApiKey};

use crate::access_tokens::{NewToken, TokenError, TokenResult};
use crate::app::App;
use crate::app::stored_response::IdempotentAttempt;

/// Issues a token of `parent` with the rights of `narrowed`. The caller has checked that the key has all of them.
pub async fn issue(
    app: &App,
    parent: &ApiKey,
    narrowed: NewApiKey,
    attempt: &IdempotentAttempt,
) -> Result<TokenResult> {
    let mut new = NewToken::for_parent(app, parent, narrowed.scopes);
    new.row.allowed_domains = narrowed.allowed_domains;
    new.row.allowed_ips = narrowed.allowed_ips;
    new.row.connection_ids = narrowed.connection_ids;
    new.row.expires_at = narrowed.expires_at.map(Instant::as_millis).or(new.row.expires_at);
    let (held, app, parent, attempt) = (app.clone(), app.clone(), parent.clone(), attempt.clone());
    let issued = held.db.write(move |tx| {
        Box::pin(async move {
            if !api_keys::hold(tx, &parent.tenant, &parent.id).await? {
                return Ok(Err(TokenError::revoked()));
            }
            Ok::<_, Error>(Ok(new.store(tx, &app, &attempt).await?))
        })
    });
    issued.await
}
