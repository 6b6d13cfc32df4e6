//! Bodies of the operations by which an installation is administered: organizations, applications, and OAuth clients at providers.

use std::fmt;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::Instant;

/// An organization, which owns applications.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct AdminOrganization {
    /// The organization's id.
    pub id: String,
    /// No other organization has it.
    pub name: String,
    /// The time of creation.
    pub created_at: Instant,
    /// The version, with its quotes, as in the `ETag` header.
    pub etag: String,
}

/// An organization to make.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", schemars(extend("required" = ["name"])))]
pub struct NewAdminOrganization {
    /// 1 to 100 characters, which no other organization has as its name.
    pub name: String,
}

/// A change of an organization.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct AdminOrganizationPatch {
    /// 1 to 100 characters, which no other organization has as its name.
    pub name: Option<String>,
    /// The version that the change is based on, instead of `If-Match`; a stale one gives 409 `stale_etag`.
    pub etag: Option<String>,
}

/// The parts of requests that an application's request log stores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum RequestLogSetting {
    /// No requests.
    Off,
    /// Requests without their bodies.
    #[default]
    On,
    /// Requests, and the shapes of their bodies: names of fields, types and lengths.
    Shapes,
}

/// An application, which has API keys and accounts of its own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct AdminApplication {
    /// The application's id.
    pub id: String,
    /// The organization's id.
    pub organization_id: String,
    /// No other application of the organization has it.
    pub name: String,
    /// The application's name in the addresses of its booking pages. Null: they have its id.
    pub handle: Option<String>,
    /// Addresses to which users may return after they connected an account, byte for byte.
    pub redirect_uris: Vec<String>,
    /// Whether requests of the application are logged.
    pub request_log: RequestLogSetting,
    /// The version, with its quotes, as in the `ETag` header.
    pub etag: String,
}

/// An application to make.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", schemars(extend("required" = ["organizationId", "name"])))]
pub struct NewAdminApplication {
    /// The organization's id.
    pub organization_id: String,
    /// 1 to 100 characters, which no other application of the organization has as its name.
    pub name: String,
    /// 3 to 40 lower-case letters, digits and `-` that no other application has. Absent: booking pages have the application's id in their
    /// addresses.
    pub handle: Option<String>,
    /// At most 100: https, http on this machine, or a scheme that is a domain of your own reversed.
    pub redirect_uris: Vec<String>,
    /// Absent: `on`.
    pub request_log: Option<RequestLogSetting>,
}

/// A change of an application.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct AdminApplicationPatch {
    /// 1 to 100 characters, which no other application of the organization has as its name.
    pub name: Option<String>,
    /// 3 to 40 lower-case letters, digits and `-` that no other application has; `null` takes it away.
    pub handle: Option<String>,
    /// Replaces all addresses.
    pub redirect_uris: Option<Vec<String>>,
    /// Whether requests of the application are logged; absent: unchanged.
    pub request_log: Option<RequestLogSetting>,
    /// The version that the change is based on, instead of `If-Match`; a stale one gives 409 `stale_etag`.
    pub etag: Option<String>,
}

/// A provider with OAuth, and the client that the application has registered there.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct AdminProvider {
    /// Null where the application has no registration at the provider.
    pub id: Option<String>,
    /// The application that has the registration.
    pub application_id: Option<String>,
    /// The name of the provider's connector.
    pub provider: String,
    /// The client's id at the provider. Null without a registration.
    pub client_id: Option<String>,
    /// Whether a secret is stored. The secret itself is in no answer.
    pub has_secret: bool,
    /// `post`, `basic` or `none`. Null: as the connector says.
    pub client_auth: Option<String>,
    /// Values of the settings that the connector leaves to administrators, by their names.
    pub settings: Map<String, Value>,
    /// Addresses in the place of the connector's own, by their names.
    pub endpoints: Map<String, Value>,
    /// The provider's scopes for scopes of this service, in the place of the connector's own.
    pub scopes: Map<String, Value>,
    /// Counted up with every change. Null without a registration.
    pub version: Option<i64>,
    /// The registration is out of use; connections stay.
    pub disabled: bool,
    /// The address to enter at the provider, to which users return.
    pub callback_url: String,
    /// The version of the registration, with its quotes, as in the `ETag` header. Null without a registration.
    pub etag: Option<String>,
}

/// A registration at a provider as it shall be. What is absent is taken away, but for the secret.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", schemars(extend("required" = ["clientId"])))]
pub struct NewAdminProvider {
    /// The client's id at the provider.
    pub client_id: String,
    /// The client's secret, 1 to 4,096 bytes, which is sealed and never shown. Absent: the stored one stays.
    pub client_secret: Option<String>,
    /// How the client authenticates at the provider: `post`, `basic`, or `none` for a client without a secret. Absent: as the connector says.
    pub client_auth: Option<String>,
    /// Values of the settings that the connector leaves to administrators, by their names.
    pub settings: Map<String, Value>,
    /// Addresses in the place of the connector's own: `issuer`, `authorizeUrl`, `tokenUrl`, `revokeUrl`, `userinfoUrl`, `callbackUrl`, and
    /// `origins`, an object of servers by the origin of the provider that each replaces.
    pub endpoints: Map<String, Value>,
    /// Lists of the provider's scopes by the scope of this service that they stand for, in the place of the connector's own.
    pub scopes: Map<String, Value>,
    /// Takes the registration out of use; connections stay.
    pub disabled: bool,
    /// The version that is replaced, instead of `If-Match`; a stale one gives 409 `stale_etag`.
    pub etag: Option<String>,
}

// Written by hand so that no log line can hold a secret.
impl fmt::Debug for NewAdminProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NewAdminProvider({})", self.client_id)
    }
}
