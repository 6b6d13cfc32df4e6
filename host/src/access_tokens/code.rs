//! A code of a finished authorization for tokens (RFC 6749, section 4.1.3; RFC 7636, section 4.6).

use base::error::{Code, Error, Result, refuse};
use base::ids::Kind;
use base::scopes;
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};
use storage::Tx;
use storage::api_keys::{self, ApiKey};
use storage::authorizations::{self, PendingAuthorization};
use storage::locked::ConnectionLock;
use storage::token_grants::{self, TokenGrant};
use subtle::ConstantTimeEq;

use crate::access_tokens::refresh::{expiry, new_refresh_token};
use crate::access_tokens::{NewToken, TokenError, TokenResult};
use crate::app::App;
use crate::app::stored_response::IdempotentAttempt;

/// What a client sends. The verifier has the form that RFC 7636, section 4.1, gives it.
#[derive(Clone)]
pub struct CodeRequest {
    pub code: String,
    pub redirect_uri: String,
    pub verifier: String,
}

/// Exchanges a code, once. Whatever else the key's application does wrong with a code uses it up; used again, it revokes what it was
/// exchanged for.
pub async fn exchange(
    app: &App,
    parent: &ApiKey,
    request: CodeRequest,
    attempt: &IdempotentAttempt,
) -> Result<TokenResult> {
    if !request.code.starts_with("uc_ac_") {
        return Ok(Err(refused()));
    }
    let (held, app, parent, attempt) = (app.clone(), app.clone(), parent.clone(), attempt.clone());
    let exchanged = held
        .db
        .write(move |tx| Box::pin(async move { exchange_in(tx, &app, &parent, &request, &attempt).await }));
    let outcome = match exchanged.await {
        // Rolled back: the code stays good for whose it is.
        Err(e) if e.code() == Some(Code::AccessDenied) => Ok(Err(refused())),
        outcome => outcome,
    };
    held.keys.clear();
    outcome
}

fn refused() -> TokenError {
    TokenError::invalid_grant(
        "the code is unknown, expired or used, or it belongs to another client, redirect_uri or code_verifier",
    )
}

async fn exchange_in(
    tx: &mut Tx,
    app: &App,
    parent: &ApiKey,
    request: &CodeRequest,
    attempt: &IdempotentAttempt,
) -> Result<TokenResult> {
    let now = app.now();
    let hash = app.keyring.api_key_hash(&request.code);
    let Some(pending) = authorizations::use_code(tx, &hash, now).await? else { return Ok(Err(refused())) };
    if pending.tenant != parent.tenant {
        return Err(refuse(Code::AccessDenied, "the code belongs to another application"));
    }
    if pending.code_used_at.is_some() {
        if let Some(grant_id) = &pending.grant_id {
            tracing::warn!(grant_id, "a code was used again: what it was exchanged for is revoked");
            token_grants::revoke(tx, grant_id, "code_reused", now).await?;
        }
        return Ok(Err(refused()));
    }
    if !fits(&pending, parent, request, now) {
        return Ok(Err(refused()));
    }
    let connection_id = pending.outcome.as_ref().and_then(|outcome| outcome["connectionId"].as_str());
    let lock = match connection_id {
        Some(id) => ConnectionLock::take(tx, &parent.tenant, id).await?,
        None => None,
    };
    let Some(lock) = lock else { return Ok(Err(refused())) };
    if !api_keys::hold(tx, &parent.tenant, &parent.id).await? {
        return Ok(Err(TokenError::revoked()));
    }
    let held = |scope: &&String| scopes::holds(&parent.scopes, scope);
    let scopes: Vec<String> = lock.granted_scopes.iter().filter(held).cloned().collect();
    if scopes.is_empty() {
        let message = "this API key has none of the scopes that the user granted";
        return Ok(Err(TokenError::invalid_scope(message)));
    }
    let grant_id = app.new_id(Kind::TokenGrant);
    let refresh_token = new_refresh_token(app, &grant_id, 0);
    let grant = TokenGrant {
        id: grant_id,
        tenant: parent.tenant.clone(),
        connection_id: lock.id.clone(),
        api_key_id: parent.id.clone(),
        scopes: scopes.clone(),
        refresh_hash: app.keyring.api_key_hash(&refresh_token),
        generation: 0,
        created_at: now,
        last_used_at: now,
        expires_at: expiry(now, now),
        revoked_at: None,
    };
    token_grants::insert(tx, &grant).await?;
    authorizations::set_grant(tx, &pending.state_hash, &grant.id).await?;
    let new = NewToken::of(app, parent, scopes).granted(&grant.id, &grant.connection_id, refresh_token);
    Ok::<_, Error>(Ok(new.store(tx, app, attempt).await?))
}

/// Whether the request comes from whom the code was made for, in time.
fn fits(pending: &PendingAuthorization, parent: &ApiKey, request: &CodeRequest, now: i64) -> bool {
    let challenge = BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(&request.verifier));
    let expected = pending.code_challenge.as_deref().unwrap_or_default();
    let is_verified = bool::from(expected.as_bytes().ct_eq(challenge.as_bytes()));
    is_verified
        && pending.api_key_id == parent.id
        && pending.redirect_uri == request.redirect_uri
        && pending.code_expires_at.is_some_and(|at| now < at)
}
