//! The exchange of a client's code (RFC 6749, section 4.1.3; RFC 7636, section 4.6): the waiting account becomes a connection, and the
//! client gets tokens for it.

use base::error::{Code, Result, refuse};
use base::scopes;
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};
use storage::api_keys::{self, ApiKey};
use storage::authorizations::{self, PendingAuthorization};
use storage::connections::Connection;
use storage::locked::ConnectionLock;
use storage::{Tx, token_grants};
use subtle::ConstantTimeEq;

use crate::access_tokens::{TokenError, TokenResult, user_grant};
use crate::app::App;
use crate::app::stored_response::IdempotentAttempt;
use crate::connections::authorization::authorized_account::{self, AuthorizedAccount, NewGrant};
use crate::connections::authorization::unredeemed;

/// A client's request. The verifier has the form of RFC 7636, section 4.1.
#[derive(Clone)]
pub struct CodeRequest {
    pub code: String,
    pub redirect_uri: String,
    pub verifier: String,
}

/// The connection of an exchanged code, and the scopes of its tokens.
struct ExchangedConnection {
    id: String,
    scopes: Vec<String>,
}

/// Exchanges a code, once. A wrong request by the key's application also uses the code up, and drops the waiting account; a repeated
/// exchange revokes the tokens of the first one.
pub async fn exchange(
    app: &App,
    parent: &ApiKey,
    request: CodeRequest,
    attempt: &IdempotentAttempt,
) -> Result<TokenResult> {
    if !request.code.starts_with("uc_ac_") {
        return Ok(Err(refused_error()));
    }
    let (held, app, parent, attempt) = (app.clone(), app.clone(), parent.clone(), attempt.clone());
    let exchanged = held
        .db
        .write(move |tx| Box::pin(async move { exchange_in(tx, &app, &parent, &request, &attempt).await }));
    let outcome = match exchanged.await {
        // Rolled back: the code stays valid for its owner.
        Err(e) if e.code() == Some(Code::AccessDenied) => Ok(Err(refused_error())),
        // Contract silent: the client was told the id of a new connection, so that the code connects no other one.
        Err(e) if e.code() == Some(Code::AlreadyExists) => Ok(Err(TokenError::invalid_grant(
            "another sign-in has connected this account meanwhile: use that connection, or start the authorization again",
        ))),
        outcome => outcome,
    };
    held.keys.clear();
    held.opened.clear();
    outcome
}

fn refused_error() -> TokenError {
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
    let Some(pending) = authorizations::use_code(tx, &hash, now).await? else {
        return Ok(Err(refused_error()));
    };
    if pending.tenant != parent.tenant {
        return Err(refuse(Code::AccessDenied, "the code belongs to another application"));
    }
    if pending.code_used_at.is_some() {
        if let Some(grant_id) = &pending.grant_id {
            tracing::warn!(grant_id, "a code was used again: what it was exchanged for is revoked");
            token_grants::revoke(tx, grant_id, "code_reused", now).await?;
        }
        return Ok(Err(refused_error()));
    }
    let connected = match fits(&pending, parent, request, now) {
        true => connect(tx, app, parent, &pending).await?,
        false => Err(refused_error()),
    };
    let connected = match connected {
        Ok(connected) => connected,
        Err(e) => {
            unredeemed::drop_account(tx, app, &pending).await?;
            return Ok(Err(e));
        }
    };
    let issued = user_grant::issue(tx, app, parent, &connected.id, connected.scopes, attempt).await?;
    authorizations::set_grant(tx, &pending.state_hash, &issued.grant_id).await?;
    Ok(Ok(issued.response))
}

/// Connects the account that waits for the code. After an error nothing is written.
async fn connect(
    tx: &mut Tx,
    app: &App,
    parent: &ApiKey,
    pending: &PendingAuthorization,
) -> Result<Result<ExchangedConnection, TokenError>> {
    if !api_keys::hold(tx, &parent.tenant, &parent.id).await? {
        return Ok(Err(TokenError::revoked()));
    }
    let Some(account) = AuthorizedAccount::open(app, pending)? else {
        let lock = match connected_before(pending) {
            Some(id) => ConnectionLock::take(tx, &parent.tenant, id).await?,
            None => None,
        };
        return Ok(lock.ok_or_else(refused_error).and_then(|lock| allowed_scopes(parent, &lock)));
    };
    let new = NewGrant::from_account(app, pending, account)?;
    let Ok(lock) = authorized_account::lock(tx, pending, &new).await? else {
        return Ok(Err(refused_error()));
    };
    let allowed = match allowed_scopes(parent, &new.connection) {
        Ok(allowed) => allowed,
        Err(e) => return Ok(Err(e)),
    };
    authorizations::release_account(tx, &pending.state_hash).await?;
    authorized_account::write(tx, app, pending, lock, new).await?;
    Ok(Ok(allowed))
}

/// Returns the connection of an authorization that a host of the previous version has ended: that version connected at the user's return.
fn connected_before(pending: &PendingAuthorization) -> Option<&str> {
    let outcome = pending.outcome.as_ref().filter(|outcome| outcome["status"] == "active")?;
    outcome["connectionId"].as_str()
}

/// Returns the scopes that the user granted and the client's key has.
fn allowed_scopes(parent: &ApiKey, connection: &Connection) -> Result<ExchangedConnection, TokenError> {
    let is_held = |scope: &&String| scopes::holds(&parent.scopes, scope);
    let scopes: Vec<String> = connection.granted_scopes.iter().filter(is_held).cloned().collect();
    if scopes.is_empty() {
        let message = "this API key has none of the scopes that the user granted";
        return Err(TokenError::invalid_scope(message));
    }
    Ok(ExchangedConnection { id: connection.id.clone(), scopes })
}

/// Whether the request comes from the client that the code was issued to, in time.
fn fits(pending: &PendingAuthorization, parent: &ApiKey, request: &CodeRequest, now: i64) -> bool {
    let challenge = BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(&request.verifier));
    let expected = pending.code_challenge.as_deref().unwrap_or_default();
    let is_verified = bool::from(expected.as_bytes().ct_eq(challenge.as_bytes()));
    is_verified
        && pending.api_key_id == parent.id
        && pending.redirect_uri == request.redirect_uri
        && pending.code_expires_at.is_some_and(|at| now < at)
}
