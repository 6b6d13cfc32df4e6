//! The exchange of a refresh token for the next tokens (RFC 6749, section 6). Each works once: if an older one is used again, two parties
//! have it, and the whole grant is revoked (RFC 9700, section 4.14.2).

use base::error::{Error, Result};
use base::scopes::holds;
use storage::api_keys::{self, ApiKey};
use storage::{Tx, token_grants};

use crate::access_tokens::{NewToken, TokenError, TokenResult};
use crate::app::App;
use crate::app::stored_response::IdempotentAttempt;

const PREFIX: &str = "uc_rt_";
/// Prefix of the signed text, which distinguishes it from everything else that this service signs.
const PURPOSE: &str = "refresh";

const DAY_MS: i64 = 86_400_000;
/// Time without use after which a grant ends, and its longest life, in milliseconds.
const IDLE_MS: i64 = 30 * DAY_MS;
const AGE_MS: i64 = 90 * DAY_MS;

/// A client's refresh request.
pub struct RefreshRequest {
    pub token: String,
    /// The scopes of the new access token; empty: all granted ones.
    pub scopes: Vec<String>,
}

/// Returns the end of a grant that was made at `created_at` and is used at `now` (ms since 1970).
pub(crate) fn expiry(created_at: i64, now: i64) -> i64 {
    (now + IDLE_MS).min(created_at + AGE_MS)
}

/// Returns a refresh token with its grant and generation, signed: a forged one is refused without a query of the database.
pub(crate) fn new_refresh_token(app: &App, grant_id: &str, generation: i64) -> String {
    let random = hex::encode(app.entropy.bytes::<16>());
    let text = format!("{PURPOSE}:{grant_id}:{generation}:{random}");
    format!("{PREFIX}{}", app.keyring.signed(text.as_bytes()))
}

/// The part of a refresh token that names its grant.
#[derive(Clone)]
struct RefreshClaims {
    grant_id: String,
    generation: i64,
}

fn read(app: &App, token: &str) -> Option<RefreshClaims> {
    let text = String::from_utf8(app.keyring.verified(token.strip_prefix(PREFIX)?)?).ok()?;
    let parts: Vec<&str> = text.split(':').collect();
    let [PURPOSE, grant_id, generation, _] = parts[..] else { return None };
    Some(RefreshClaims { grant_id: grant_id.to_owned(), generation: generation.parse().ok()? })
}

/// Issues the next tokens. The previous access token stays valid until it expires.
pub async fn refresh(
    app: &App,
    parent: &ApiKey,
    request: RefreshRequest,
    attempt: &IdempotentAttempt,
) -> Result<TokenResult> {
    let Some(claims) = read(app, &request.token) else { return Ok(Err(refused_error())) };
    let (held, app, parent, attempt) = (app.clone(), app.clone(), parent.clone(), attempt.clone());
    let refreshed = held.db.write(move |tx| {
        Box::pin(async move { refresh_in(tx, &app, &parent, &claims, request.scopes, &attempt).await })
    });
    let outcome = refreshed.await;
    held.keys.clear();
    outcome
}

fn refused_error() -> TokenError {
    TokenError::invalid_grant("the refresh token is unknown, expired, used or revoked, or of another client")
}

async fn refresh_in(
    tx: &mut Tx,
    app: &App,
    parent: &ApiKey,
    claims: &RefreshClaims,
    wanted: Vec<String>,
    attempt: &IdempotentAttempt,
) -> Result<TokenResult> {
    let (grant_id, generation, now) = (claims.grant_id.as_str(), claims.generation, app.now());
    if !api_keys::hold(tx, &parent.tenant, &parent.id).await? {
        return Ok(Err(TokenError::revoked()));
    }
    let found = token_grants::find(&mut *tx, &parent.tenant, grant_id).await?;
    let Some(grant) = found.filter(|grant| grant.api_key_id == parent.id) else {
        return Ok(Err(refused_error()));
    };
    if grant.revoked_at.is_some() || grant.expires_at <= now {
        return Ok(Err(refused_error()));
    }
    if let Some(wider) = wanted.iter().find(|scope| !holds(&grant.scopes, scope)) {
        let message = format!("the scope {wider:?} was not granted; granted: {}", grant.scopes.join(" "));
        return Ok(Err(TokenError::invalid_scope(message)));
    }
    let next = new_refresh_token(app, grant_id, generation + 1);
    let hash = app.keyring.api_key_hash(&next);
    let is_newest = generation == grant.generation;
    if !is_newest || !token_grants::rotate(tx, &grant, &hash, now, expiry(grant.created_at, now)).await? {
        tracing::warn!(
            grant_id,
            generation,
            "a refresh token was used again: all tokens of its grant are revoked"
        );
        token_grants::revoke(tx, grant_id, "refresh_token_reused", now).await?;
        return Ok(Err(refused_error()));
    }
    let scopes = if wanted.is_empty() { grant.scopes.clone() } else { wanted };
    let new = NewToken::for_parent(app, parent, scopes).granted(grant_id, &grant.connection_id, next);
    Ok::<_, Error>(Ok(new.store(tx, app, attempt).await?))
}
