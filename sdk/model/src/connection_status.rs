//! The state of a connection and its reason.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
