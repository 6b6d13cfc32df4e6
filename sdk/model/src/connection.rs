//! Connection, and the bodies that create one: with credentials or OAuth.

use std::fmt;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::Instant;
use crate::resource::Metadata;
use crate::sync::{Surface, SyncStatus};

/// One account that a user connected.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Connection {
    /// The id, opaque.
    pub id: String,
    /// Name of the provider, as connectors declare it.
    pub provider: String,
    /// The version of the connector.
    pub connector_version: String,
    /// The state of the connection.
    pub status: ConnectionStatus,
    /// The reason for the status, where it is known.
    pub status_reason: Option<StatusReason>,
    /// The time of the last change of the status.
    pub status_changed_at: Option<Instant>,
    /// The account's name.
    pub display_name: Option<String>,
    /// Lower case.
    pub email: Option<String>,
    /// The provider's id of the account.
    pub external_account_id: Option<String>,
    /// Surfaces that the account has.
    pub surfaces: Vec<Surface>,
    /// `<surface>.<access>`, such as `calendar.write`.
    pub requested_scopes: Vec<String>,
    /// The scopes that the user granted.
    pub granted_scopes: Vec<String>,
    /// Requested and not granted.
    pub missing_scopes: Vec<String>,
    /// The granted scopes in the provider's own names.
    pub provider_scopes: Vec<String>,
    /// IANA name.
    pub time_zone: Option<String>,
    /// Servers that get the credentials beside those that were given: origins `https://host[:port]` that the provider named when the
    /// account was connected, each in the domain of a given server or known to belong to it.
    pub discovered_origins: Vec<String>,
    /// The expiry of the access token; the tokens themselves are never shown.
    pub token_expires_at: Option<Instant>,
    /// The time of the last token refresh.
    pub last_refresh_at: Option<Instant>,
    /// The error of the last token refresh.
    pub last_refresh_error: Option<RefreshError>,
    /// The sync state of each surface.
    pub sync: Vec<SurfaceSync>,
    /// The caller's own keys, such as its user id, given when the connection was started.
    pub tags: Metadata,
    /// Your own notes, never sent to a provider.
    pub metadata: Metadata,
    /// The version, with its quotes, as in the `ETag` header.
    pub etag: String,
    /// The time of creation.
    pub created_at: Instant,
    /// The time of the last change.
    pub updated_at: Instant,
}

/// The state of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ConnectionStatus {
    /// The account is not connected yet.
    #[default]
    Pending,
    /// The connection works.
    Active,
    /// The provider has failed for 15 minutes; one success ends it.
    Degraded,
    /// The user must authorize again.
    ReauthRequired,
    /// The connection was revoked.
    Revoked,
}

/// The reason for a connection's status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum StatusReason {
    /// The token expired and could not be refreshed.
    #[default]
    TokenExpired,
    /// The user or the provider revoked the token.
    TokenRevoked,
    /// The user has not consented to a scope.
    ConsentMissing,
    /// An administrator blocked the application.
    AdminBlocked,
    /// The provider fails.
    ProviderOutage,
    /// The provider refuses the credentials.
    CredentialsInvalid,
    /// The user or the application ended the connection.
    DisabledByUser,
}

/// The error of a token refresh.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct RefreshError {
    /// A stable code: branch on this.
    pub code: String,
    /// A sentence for people.
    pub message: String,
    /// The time.
    pub at: Instant,
}

/// The sync state of one surface.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct SurfaceSync {
    /// The surface.
    pub surface: Surface,
    /// The state of the sync.
    pub status: SyncStatus,
    /// The time of the last success.
    pub last_success_at: Option<Instant>,
    /// Seconds since the copy was last known to be complete.
    pub lag_seconds: Option<i64>,
}

/// Connects an account by credentials that the caller has. They are tried before anything is stored.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", schemars(extend("required" = ["provider", "credentials", "scopes"])))]
pub struct NewConnection {
    /// The provider's name.
    pub provider: String,
    /// Settings that the connector needs beside credentials, such as `serverUrl`.
    pub settings: Map<String, Value>,
    /// The account's credentials.
    pub credentials: Credentials,
    /// `<surface>.<access>`.
    pub scopes: Vec<String>,
    /// Your own keys, such as a user id, given when the connection was started.
    pub tags: Metadata,
    /// Your own notes, never sent to a provider.
    pub metadata: Metadata,
}

/// The credentials of the account: a refresh token, an access token, or a user name and password. Written, never read back.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", schemars(extend("writeOnly" = true)))]
pub struct Credentials {
    /// The refresh token, a secret.
    pub refresh_token: Option<String>,
    /// The access token, a secret.
    pub access_token: Option<String>,
    /// The expiry of the access token.
    pub expires_at: Option<Instant>,
    /// The user name.
    pub username: Option<String>,
    /// The password, a secret.
    pub password: Option<String>,
    /// The server that the mailbox is read from.
    pub imap: Option<MailServer>,
    /// The server that mail is sent through.
    pub smtp: Option<MailServer>,
}

// Written by hand so that no log line can hold a secret.
impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credentials(..)")
    }
}

/// A mail server.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct MailServer {
    /// The host name.
    pub host: String,
    /// The TCP port.
    pub port: u16,
    /// The encryption of the connection.
    pub tls: MailTls,
}

/// The encryption of a connection to a mail server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum MailTls {
    /// From the first byte (RFC 8314).
    #[default]
    Implicit,
    /// After an upgrade, which the server must offer.
    StartTls,
    /// Not at all: only to addresses that the operator allows.
    None,
}

/// Starts an OAuth authorization.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", schemars(extend("required" = ["scopes", "redirectUri"])))]
pub struct NewAuthorization {
    /// `<surface>.<access>`, such as `email.read`.
    pub scopes: Vec<String>,
    /// The address that the user returns to; one of the application's registered addresses, exactly. Also accepted as `redirect_uri`.
    pub redirect_uri: String,
    /// Passed back on return.
    pub state: Option<String>,
    /// The account that the provider's page should offer, such as an email address.
    pub login_hint: Option<String>,
    /// Authorizes this connection again: the same account must come back.
    pub connection_id: Option<String>,
    /// The `prompt` parameter of the provider's page (OpenID Connect Core 3.1.2.1).
    pub prompt: Option<String>,
    /// The caller's PKCE challenge (RFC 7636). The user then returns with a `code`, and the account is connected when you exchange it.
    pub code_challenge: Option<String>,
    /// `S256`.
    pub code_challenge_method: Option<String>,
    /// Your own keys, such as a user id, given when the connection was started.
    pub tags: Metadata,
}

/// The address to send the user to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Authorization {
    /// The provider's page, or a page on the way to it.
    pub authorization_url: String,
    /// The `state` of the authorization.
    pub state: String,
    /// Ten minutes from now.
    pub expires_at: Instant,
}

/// The callback's answer when JSON is asked for; else it redirects to the caller's address.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct AuthorizationResult {
    /// The connection's id.
    pub connection_id: String,
    /// `active`, or `pending` until you exchange `code`: the connection does not exist before.
    pub status: ConnectionStatus,
    /// Requested and not granted.
    pub missing_scopes: Vec<String>,
    /// The caller's own `state`, as it was given.
    pub state: Option<String>,
    /// Only with `codeChallenge`. Exchange it once, within 60 seconds, for tokens at `/v1/oauth/token`: this connects the account.
    pub code: Option<String>,
}

// Written by hand so that no log line can hold a secret.
impl fmt::Debug for AuthorizationResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AuthorizationResult({})", self.connection_id)
    }
}

/// Token request (RFC 6749), as a form or as JSON.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(default)]
#[cfg_attr(feature = "schema", schemars(extend("required" = ["grant_type"])))]
pub struct TokenRequest {
    /// `authorization_code`, `refresh_token` or `client_credentials`.
    pub grant_type: String,
    /// The authorization code, for `authorization_code`.
    pub code: Option<String>,
    /// The address that the code was sent to.
    pub redirect_uri: Option<String>,
    /// The PKCE verifier (RFC 7636).
    pub code_verifier: Option<String>,
    /// The refresh token, for `refresh_token`.
    pub refresh_token: Option<String>,
    /// Scopes with spaces between them. Absent: all that there are.
    pub scope: Option<String>,
    /// For `client_credentials`: only these connections, at most 20; in a form with spaces between them.
    pub connection_ids: Vec<String>,
    /// For `client_credentials`: only from these exact host names; in a form with spaces between them.
    pub allowed_domains: Vec<String>,
    /// For `client_credentials`: 60 to 3600 seconds. Absent: 900.
    pub expires_in: Option<i64>,
}

// Written by hand so that no log line can hold a secret.
impl fmt::Debug for TokenRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TokenRequest({})", self.grant_type)
    }
}

/// Error of the token endpoint (RFC 6749, section 5.2).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(default)]
pub struct OAuthError {
    /// Branch on this: `invalid_request`, `invalid_client`, `invalid_grant`, `unauthorized_client`, `unsupported_grant_type` or
    /// `invalid_scope`; for what the RFC has no word for, a code of the error envelope, such as `rate_limited`.
    pub error: String,
    /// A description for people.
    pub error_description: String,
}

/// Token answer (RFC 6749).
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(default)]
pub struct Token {
    /// The access token, a secret.
    pub access_token: String,
    /// `Bearer`.
    pub token_type: String,
    /// Seconds.
    pub expires_in: i64,
    /// The refresh token, a secret.
    pub refresh_token: Option<String>,
    /// The granted scopes with spaces between them.
    pub scope: String,
}

// Written by hand so that no log line can hold a secret.
impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}
