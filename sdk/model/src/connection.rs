//! Connection, and the body that creates one with credentials.

use std::fmt;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::Instant;
#[cfg(feature = "schema")]
use crate::bounds;
#[cfg(feature = "schema")]
use crate::formats;
use crate::resource::Metadata;
use crate::sync::{Surface, SyncStatus};

pub use crate::connection_status::{ConnectionStatus, StatusReason};
pub use crate::oauth::{
    ACCOUNT_SCOPES, Authorization, AuthorizationResult, NewAuthorization, OAuthError, Token, TokenRequest,
};

/// One account that a user connected.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Connection {
    /// The id of the connection.
    pub id: String,
    /// The name of the provider, as its connector declares it, such as `google`.
    pub provider: String,
    /// The version of the connector.
    pub connector_version: String,
    /// The state of the connection.
    pub status: ConnectionStatus,
    /// The reason for the status; null if there is none, or if it is unknown.
    pub status_reason: Option<StatusReason>,
    /// The time at which the status last changed.
    pub status_changed_at: Option<Instant>,
    /// The name of the account at the provider; null if the provider states none.
    pub display_name: Option<String>,
    /// The email address of the account, in lower case; null if the provider states none.
    pub email: Option<String>,
    /// The provider's id of the account; null if there is none.
    pub external_account_id: Option<String>,
    /// The parts of the account that the connection can use.
    pub surfaces: Vec<Surface>,
    /// The scopes that were requested when the account was connected, `<surface>.<access>`, such as `calendar.write`.
    pub requested_scopes: Vec<String>,
    /// The scopes that the user granted.
    pub granted_scopes: Vec<String>,
    /// The scopes that were requested and not granted.
    pub missing_scopes: Vec<String>,
    /// The granted scopes in the provider's own names; empty for accounts that were not connected by OAuth.
    pub provider_scopes: Vec<String>,
    /// The account's time zone, an IANA name such as `Europe/Berlin`; null if the provider states none.
    pub time_zone: Option<String>,
    /// The settings of the account that may be shown: `serverUrl`, if it is the user's own; empty otherwise.
    // Contract silent: it is an additional field.
    pub settings: Map<String, Value>,
    /// The servers that get the credentials in addition to those that were given: origins `https://host[:port]` that the provider named
    /// when the account was connected, each in the domain of a given server or known to belong to it.
    pub discovered_origins: Vec<String>,
    /// The time at which the access token expires; null if it does not, or if there is none. Tokens themselves are never shown.
    pub token_expires_at: Option<Instant>,
    /// The time of the last token refresh; null if there was none.
    pub last_refresh_at: Option<Instant>,
    /// The error of the last token refresh; null if it succeeded, or if there was none.
    pub last_refresh_error: Option<RefreshError>,
    /// The state of the sync, one entry for each of `surfaces`.
    pub sync: Vec<SurfaceSync>,
    /// Your own keys and values, such as a user id, set when the account was connected.
    pub tags: Metadata,
    /// Your own notes, never sent to a provider.
    pub metadata: Metadata,
    /// The version, with its quotes, as in the `ETag` header.
    pub etag: String,
    /// The time at which the connection was created.
    pub created_at: Instant,
    /// The time of the last change.
    pub updated_at: Instant,
}

/// The error of a token refresh.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct RefreshError {
    /// A stable code of the error, to branch on.
    pub code: String,
    /// A sentence for people, which may change.
    pub message: String,
    /// The time at which the refresh failed.
    pub at: Instant,
}

/// The sync state of one surface.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct SurfaceSync {
    /// The part of the account.
    pub surface: Surface,
    /// The state of its sync: the worst one, if several collections are synced.
    pub status: SyncStatus,
    /// The time of the last successful sync, of the collection for which it is longest ago; null before the first.
    pub last_success_at: Option<Instant>,
    /// The seconds since `lastSuccessAt`; null before the first successful sync.
    pub lag_seconds: Option<i64>,
}

/// Connects an account by credentials that you have. They are tried at the provider before anything is stored.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", schemars(extend("required" = ["provider", "credentials", "scopes"])))]
pub struct NewConnection {
    /// The name of the provider, as its connector declares it, such as `caldav`.
    #[cfg_attr(feature = "schema", schemars(with = "formats::ProviderName"))]
    pub provider: String,
    /// The settings that the connector needs in addition to credentials, by their names, such as `serverUrl`.
    pub settings: Map<String, Value>,
    /// The credentials of the account.
    pub credentials: Credentials,
    /// The scopes that the connection is to have, `<surface>.<access>`, such as `calendar.write`: at least one.
    #[cfg_attr(feature = "schema", schemars(length(min = 1), transform = formats::OneOf(&ACCOUNT_SCOPES)))]
    pub scopes: Vec<String>,
    /// The name of the account, at most 1,024 characters. Null: the name that the provider states.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::MAX_LINE)))]
    pub display_name: Option<String>,
    /// Your own keys and values, such as a user id, which stay with the connection.
    #[cfg_attr(feature = "schema", schemars(with = "formats::Notes"))]
    pub tags: Metadata,
    /// Your own notes, never sent to a provider.
    #[cfg_attr(feature = "schema", schemars(with = "formats::Notes"))]
    pub metadata: Metadata,
}

/// The credentials of the account: user name and password, or an access token. They can be written and never read.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", schemars(extend("writeOnly" = true)))]
pub struct Credentials {
    /// Not accepted (400 `capability_not_supported`): connect the account by OAuth instead.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::connection::MAX_SECRET)))]
    pub refresh_token: Option<String>,
    /// An access token, a secret of at most 8,192 bytes. Not together with a password.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = bounds::connection::MAX_SECRET)))]
    pub access_token: Option<String>,
    /// The time at which the access token expires. Null: unknown.
    pub expires_at: Option<Instant>,
    /// The user name, at most 2,048 bytes, without a colon. Required with a password.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = bounds::connection::MAX_USERNAME)))]
    pub username: Option<String>,
    /// The password, a secret of at most 8,192 bytes.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = bounds::connection::MAX_SECRET)))]
    pub password: Option<String>,
    /// The server from which mail is read. Required if the connector asks for it, and refused otherwise.
    pub imap: Option<MailServer>,
    /// The server through which mail is sent. Required if the connector asks for it, and refused otherwise.
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
    /// The host name, such as `imap.example.org`.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = bounds::MAX_LABEL)))]
    pub host: String,
    /// The TCP port, such as 993.
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
    /// No encryption, which is accepted only for addresses that the operator allows.
    None,
}
