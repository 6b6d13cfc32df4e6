//! Access tokens of our clients (RFC 6749): for a user's authorization (`user_grant`), for a refresh token (`refresh`), and for the API key
//! alone (`client_credentials`). A token is stored as an API key of another kind; `created_by` is the key that it was issued to.

pub mod client_credentials;
pub mod refresh;
pub mod user_grant;

use anyhow::Result;
use base::ids::Kind;
use base::keyring;
use serde_json::json;
use storage::Tx;
use storage::api_keys::{self, ApiKey, KeyKind};

use crate::app::App;
use crate::app::stored_response::{IdempotentAttempt, StoredResponse};

/// Seconds of the life of an access token if the request names no number.
pub const LIFE_S: i64 = 900;

/// A refusal in the terms of RFC 6749, section 5.2.
#[derive(Clone, Debug)]
pub struct TokenError {
    /// The error code of the RFC.
    pub error: &'static str,
    /// One sentence for the client's developer. Never a secret.
    pub description: String,
}

impl TokenError {
    pub fn new(error: &'static str, description: impl Into<String>) -> Self {
        TokenError { error, description: description.into() }
    }

    pub fn invalid_request(description: impl Into<String>) -> Self {
        TokenError::new("invalid_request", description)
    }

    pub fn invalid_grant(description: impl Into<String>) -> Self {
        TokenError::new("invalid_grant", description)
    }

    pub fn invalid_scope(description: impl Into<String>) -> Self {
        TokenError::new("invalid_scope", description)
    }

    /// Returns the error for a key that was revoked while the request was running.
    pub fn revoked() -> Self {
        TokenError::new("invalid_client", "this API key was revoked")
    }
}

/// The result of a token request: a response, or a refusal that is committed together with its changes.
pub type TokenResult = std::result::Result<StoredResponse, TokenError>;

/// A token that is not stored yet.
#[derive(Clone)]
struct NewToken {
    made: keyring::NewApiKey,
    row: ApiKey,
    refresh_token: Option<String>,
}

impl NewToken {
    /// Creates a token of `parent`, with the key's properties where none are given.
    fn for_parent(app: &App, parent: &ApiKey, scopes: Vec<String>) -> NewToken {
        let made = app.keyring.new_access_token();
        let now = app.now();
        let last = now + LIFE_S * 1_000;
        let row = ApiKey {
            id: app.new_id(Kind::ApiKey),
            name: "access token".to_owned(),
            prefix: made.prefix.clone(),
            last4: made.last4.clone(),
            scopes,
            expires_at: Some(parent.expires_at.map_or(last, |at| at.min(last))),
            last_used_at: None,
            last_used_ip: None,
            created_by: Some(parent.id.clone()),
            created_at: now,
            kind: KeyKind::AccessToken,
            grant_id: None,
            ..parent.clone()
        };
        NewToken { made, row, refresh_token: None }
    }

    /// Limits the token to a user's authorization and its connection.
    fn granted(mut self, grant_id: &str, connection_id: &str, refresh_token: String) -> NewToken {
        self.row.grant_id = Some(grant_id.to_owned());
        self.row.connection_ids = vec![connection_id.to_owned()];
        self.refresh_token = Some(refresh_token);
        self
    }

    /// Stores the token, and the answer under the request's Idempotency-Key.
    async fn store(self, tx: &mut Tx, app: &App, attempt: &IdempotentAttempt) -> Result<StoredResponse> {
        api_keys::insert(tx, &self.row, &self.made.hash).await?;
        let lasts = self.row.expires_at.map_or(0, |at| at - self.row.created_at);
        let mut body = json!({
            "access_token": self.made.key,
            "token_type": "Bearer",
            "expires_in": lasts / 1_000,
            "scope": self.row.scopes.join(" "),
        });
        if let Some(token) = self.refresh_token {
            body["refresh_token"] = json!(token);
        }
        let answer = StoredResponse::ok(body.to_string());
        attempt.store(tx, &app.keyring, &answer, app.now()).await?;
        Ok(answer)
    }
}
