//! The first tokens of a user's authorization: a grant of one connection, with an access token and a refresh token of it.

use base::error::Result;
use base::ids::Kind;
use storage::Tx;
use storage::api_keys::ApiKey;
use storage::token_grants::{self, TokenGrant};

use crate::access_tokens::NewToken;
use crate::access_tokens::refresh::{expiry, new_refresh_token};
use crate::app::App;
use crate::app::stored_response::{IdempotentAttempt, StoredResponse};

/// A grant with the answer that holds its first tokens.
pub struct IssuedGrant {
    pub grant_id: String,
    pub response: StoredResponse,
}

/// Gives the client of `parent` a grant of a connection with these scopes, and stores the response under the request's Idempotency-Key. The
/// caller has locked the key (`api_keys::hold`).
pub async fn issue(
    tx: &mut Tx,
    app: &App,
    parent: &ApiKey,
    connection_id: &str,
    scopes: Vec<String>,
    attempt: &IdempotentAttempt,
) -> Result<IssuedGrant> {
    let now = app.now();
    let grant_id = app.new_id(Kind::TokenGrant);
    let refresh_token = new_refresh_token(app, &grant_id, 0);
    let grant = TokenGrant {
        id: grant_id,
        tenant: parent.tenant.clone(),
        connection_id: connection_id.to_owned(),
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
    let new = NewToken::for_parent(app, parent, scopes).granted(&grant.id, connection_id, refresh_token);
    let response = new.store(tx, app, attempt).await?;
    Ok(IssuedGrant { grant_id: grant.id, response })
}
