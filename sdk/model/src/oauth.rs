//! OAuth: the authorization of an account, and the token endpoint of this service.

use std::fmt;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Instant;
#[cfg(feature = "schema")]
use crate::bounds;
use crate::connection_status::ConnectionStatus;
#[cfg(feature = "schema")]
use crate::formats;
use crate::resource::Metadata;

/// Scopes that can be requested for a connection.
pub const ACCOUNT_SCOPES: [&str; 10] = [
    "email.read",
    "email.write",
    "email.send",
    "calendar.read",
    "calendar.write",
    "calendar.freebusy",
    "contacts.read",
    "contacts.write",
    "tasks.read",
    "tasks.write",
];

/// An OAuth authorization to start.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", schemars(extend("required" = ["scopes", "redirectUri"])))]
pub struct NewAuthorization {
    /// The scopes that the connection is to have, `<surface>.<access>`, such as `email.read`: at least one.
    #[cfg_attr(feature = "schema", schemars(length(min = 1), transform = formats::OneOf(&ACCOUNT_SCOPES)))]
    pub scopes: Vec<String>,
    /// The address to which the user returns; exactly one of the application's registered addresses. Also accepted as `redirect_uri`.
    #[cfg_attr(feature = "schema", schemars(with = "formats::AbsoluteUrl"))]
    pub redirect_uri: String,
    /// A text of at most 1,024 bytes that is passed back on return. Null: nothing is passed back.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::connection::MAX_STATE), regex(pattern = r"^[ -~]*$")))]
    pub state: Option<String>,
    /// The account that the provider's page should suggest, such as an email address, at most 1,024 bytes. Null: none.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::connection::MAX_HINT)))]
    pub login_hint: Option<String>,
    /// The id of a connection to authorize again, for which the user must return with the same account. Null: a new connection.
    #[cfg_attr(feature = "schema", schemars(with = "Option<formats::Id>"))]
    pub connection_id: Option<String>,
    /// The `prompt` parameter of the provider's page (OpenID Connect Core 3.1.2.1). Null: the connector's default.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::MAX_LABEL)))]
    pub prompt: Option<String>,
    /// Your PKCE challenge (RFC 7636), 43 characters. The user then returns with a `code`, and the account is connected when you
    /// exchange it. Null: the account is connected when the user returns.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = r"^[A-Za-z0-9_-]{43}$")))]
    pub code_challenge: Option<String>,
    /// The method of `codeChallenge`: `S256`.
    #[cfg_attr(feature = "schema", schemars(extend("enum" = ["S256", null])))]
    pub code_challenge_method: Option<String>,
    /// Your own keys and values, such as a user id, which stay with the connection.
    #[cfg_attr(feature = "schema", schemars(with = "formats::Notes"))]
    pub tags: Metadata,
}

/// A started authorization: the address to send the user to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Authorization {
    /// The address to send the user to: the provider's page, or a page on the way to it.
    pub authorization_url: String,
    /// The `state` of this service at the provider, which identifies the authorization. It is not your own `state`.
    pub state: String,
    /// The time at which the authorization expires, ten minutes after its start.
    pub expires_at: Instant,
}

/// The answer of the callback to a caller that accepts JSON; browsers are redirected to your address instead.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct AuthorizationResult {
    /// The id of the connection.
    pub connection_id: String,
    /// The state of the connection: `active`, or `pending` until you exchange `code`, before which the connection does not exist.
    pub status: ConnectionStatus,
    /// The scopes that were requested and not granted.
    pub missing_scopes: Vec<String>,
    /// Your own `state`, as you gave it; null if you gave none.
    pub state: Option<String>,
    /// A code to exchange for tokens at `/v1/oauth/token`, once and within 60 seconds, which connects the account. Null without
    /// `codeChallenge`.
    pub code: Option<String>,
}

// Written by hand so that no log line can hold a secret.
impl fmt::Debug for AuthorizationResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AuthorizationResult({})", self.connection_id)
    }
}

/// A token request (RFC 6749), as a form or as JSON.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(default)]
#[cfg_attr(feature = "schema", schemars(extend("required" = ["grant_type"])))]
pub struct TokenRequest {
    /// The kind of request: `authorization_code`, `refresh_token` or `client_credentials`.
    #[cfg_attr(feature = "schema", schemars(extend("enum" = ["authorization_code", "refresh_token", "client_credentials"])))]
    pub grant_type: String,
    /// The code with which the user returned. Required for `authorization_code`.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::access::MAX_TOKEN_PARAMETER)))]
    pub code: Option<String>,
    /// The address to which the user returned. Required for `authorization_code`.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::access::MAX_TOKEN_PARAMETER)))]
    pub redirect_uri: Option<String>,
    /// The PKCE verifier (RFC 7636), 43 to 128 characters. Required for `authorization_code`.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = r"^([A-Za-z0-9._~-]{43,128})?$")))]
    pub code_verifier: Option<String>,
    /// The refresh token. Required for `refresh_token`.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::access::MAX_TOKEN_PARAMETER)))]
    pub refresh_token: Option<String>,
    /// The scopes of the token, separated by spaces, at most 100. Absent: every scope that it can have.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::access::MAX_TOKEN_PARAMETER)))]
    pub scope: Option<String>,
    /// The only connections that the token can use, at most 20; in a form separated by spaces. For `client_credentials`. Empty: those
    /// of the key.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::access::MAX_CONNECTIONS), inner(length(max = bounds::access::MAX_TOKEN_PARAMETER))))]
    pub connection_ids: Vec<String>,
    /// The only host names that the token can be used from, exact and at most 100; in a form separated by spaces. For
    /// `client_credentials`. Empty: those of the key.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::access::MAX_DOMAINS), inner(length(max = bounds::access::MAX_TOKEN_PARAMETER))))]
    pub allowed_domains: Vec<String>,
    /// The lifetime of the token in seconds, 60 to 3,600. For `client_credentials`. Absent: 900.
    #[cfg_attr(feature = "schema", schemars(range(min = bounds::access::MIN_TOKEN_LIFE_S, max = bounds::access::MAX_TOKEN_LIFE_S)))]
    pub expires_in: Option<i64>,
}

// Written by hand so that no log line can hold a secret.
impl fmt::Debug for TokenRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TokenRequest({})", self.grant_type)
    }
}

/// An error of the token endpoint (RFC 6749, section 5.2).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(default)]
pub struct OAuthError {
    /// The code to branch on: `invalid_request`, `invalid_client`, `invalid_grant`, `unauthorized_client`, `unsupported_grant_type` or
    /// `invalid_scope`. If the RFC has no word for the error, a code of the error envelope, such as `rate_limited`.
    pub error: String,
    /// A sentence for people, which may change.
    pub error_description: String,
}

/// The answer to a token request (RFC 6749).
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(default)]
pub struct Token {
    /// The access token, a secret.
    pub access_token: String,
    /// The type of the token: `Bearer`.
    pub token_type: String,
    /// The seconds until the access token expires.
    pub expires_in: i64,
    /// The refresh token, a secret; absent for `client_credentials`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refresh_token: Option<String>,
    /// The scopes of the token, separated by spaces.
    pub scope: String,
}

// Written by hand so that no log line can hold a secret.
impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}
