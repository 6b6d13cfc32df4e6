//! Provider: a connector of the installation, with all that a client needs to connect accounts.

use std::collections::BTreeMap;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::sync::Surface;

/// A provider whose accounts can be connected, as its connector's manifest describes it.
// Contract silent: it has no list of providers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Provider {
    /// The name of the provider, as connections and paths have it, such as `google`.
    pub name: String,
    /// The name for people, such as `Google`.
    pub title: String,
    /// One or two sentences for people; empty if the manifest has none.
    pub description: String,
    /// The version of the connector.
    pub version: String,
    /// The parts of an account that the connector can use. An account may lack some of them.
    pub surfaces: Vec<Surface>,
    /// The parts of an account whose changes the provider can announce; the others are polled. Servers may lack it: read the capabilities of
    /// the connection.
    pub push_surfaces: Vec<Surface>,
    /// The ways in which accounts are connected, best first. Empty: the provider asks for no authentication, and takes any credentials.
    pub auth_kinds: Vec<ProviderAuthKind>,
    /// Whether users can connect accounts by OAuth now: the operator has registered your application at the provider.
    pub oauth_registered: bool,
    /// The scopes that a connection of the provider can have.
    pub scopes: Vec<String>,
    /// The scopes that the connector asks the provider for, by the scope of this service that needs them; empty without OAuth. An operator
    /// can replace them.
    pub provider_scopes: BTreeMap<String, Vec<String>>,
    /// The JSON Schema of `settings` of `POST /v1/connections`. A property without `type` takes any JSON value, usually a text of at most
    /// 2,048 bytes.
    pub settings: Map<String, Value>,
    /// The JSON Schema of `credentials` of `POST /v1/connections`; null if accounts can only be connected by OAuth.
    pub credentials: Option<Map<String, Value>>,
    /// The test accounts; null for every provider but the sandbox of this server.
    pub sandbox: Option<SandboxGuide>,
}

/// A way in which accounts are connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ProviderAuthKind {
    /// A user name and a password, by `POST /v1/connections`.
    Basic,
    /// An access token that the user has, by `POST /v1/connections`.
    Bearer,
    /// OAuth 2.0, by `POST /v1/auth/connectors/{provider}/authorize`.
    Oauth,
}

/// The test accounts of the sandbox.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct SandboxGuide {
    /// The password of every account.
    pub password: String,
    /// The accounts that have data from the beginning. Any other name in the same domain is an account too.
    pub accounts: Vec<SandboxAddress>,
    /// The addresses with an effect of their own, to try out failures and answers.
    pub special_addresses: Vec<SandboxAddress>,
}

/// An address of the sandbox.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct SandboxAddress {
    /// The email address.
    pub email: String,
    /// A sentence about the account, or about the effect of the address.
    pub description: String,
}
