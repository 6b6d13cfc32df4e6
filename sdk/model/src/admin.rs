//! Bodies of the operations by which an installation is administered: organizations, applications, and OAuth clients at providers.

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

/// An organization, which owns applications.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct AdminOrganization {
    /// The id of the organization.
    pub id: String,
    /// The name of the organization, which no other organization has.
    pub name: String,
    /// The time at which the organization was created.
    pub created_at: Instant,
    /// The version, with its quotes, as in the `ETag` header.
    pub etag: String,
}

/// An organization to create.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", schemars(extend("required" = ["name"])))]
pub struct NewAdminOrganization {
    /// The name of the organization, 1 to 100 characters, which no other organization may have.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = bounds::access::MAX_NAME), regex(pattern = r"\S")))]
    pub name: String,
}

/// A change of an organization. A field that is absent or null stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct AdminOrganizationPatch {
    /// The new name, 1 to 100 characters, which no other organization may have.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = bounds::access::MAX_NAME), regex(pattern = r"\S")))]
    pub name: Option<String>,
    /// The version that the change is based on, instead of the header `If-Match`. An outdated one answers 409 `stale_etag`.
    #[cfg_attr(feature = "schema", schemars(with = "Option<formats::Etag>"))]
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

/// An application, which has API keys and connections of its own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct AdminApplication {
    /// The id of the application.
    pub id: String,
    /// The id of the organization that owns the application.
    pub organization_id: String,
    /// The name of the application, which no other application of the organization has.
    pub name: String,
    /// The name of the application in the addresses of its booking pages; null if they have its id instead.
    pub handle: Option<String>,
    /// Whether the application is for tests: its keys begin with `uc_test_` and reach only the provider `sandbox`.
    pub test: bool,
    /// The addresses to which users may return after they connected an account, compared byte for byte.
    pub redirect_uris: Vec<String>,
    /// The parts of requests that the application's request log stores.
    pub request_log: RequestLogSetting,
    /// The version, with its quotes, as in the `ETag` header.
    pub etag: String,
}

/// An application to create.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", schemars(extend("required" = ["organizationId", "name"])))]
pub struct NewAdminApplication {
    /// The id of the organization that owns the application.
    #[cfg_attr(feature = "schema", schemars(with = "formats::Id"))]
    pub organization_id: String,
    /// The name of the application, 1 to 100 characters, which no other application of the organization may have.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = bounds::access::MAX_NAME), regex(pattern = r"\S")))]
    pub name: String,
    /// The name in the addresses of booking pages: 3 to 40 lower-case letters, digits and hyphens, which no other application may have.
    /// Absent: the addresses have the application's id.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = r"^[a-z0-9][a-z0-9-]{1,38}[a-z0-9]$")))]
    pub handle: Option<String>,
    /// The addresses to which users may return after they connected an account, at most 100: https, http on localhost, or a scheme that
    /// is a domain of your own reversed.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<formats::AbsoluteUrl>", length(max = bounds::access::MAX_REDIRECTS)))]
    pub redirect_uris: Vec<String>,
    /// The parts of requests that the application's request log stores. Absent: `on`.
    pub request_log: Option<RequestLogSetting>,
    /// Whether the application is for tests: its keys begin with `uc_test_` and reach only the provider `sandbox`. It cannot be changed
    /// later.
    pub test: bool,
}

/// A change of an application. A field that is absent stays as it is, and so does a field that is null, except `handle`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct AdminApplicationPatch {
    /// The new name, 1 to 100 characters, which no other application of the organization may have.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = bounds::access::MAX_NAME), regex(pattern = r"\S")))]
    pub name: Option<String>,
    /// The new name in the addresses of booking pages: 3 to 40 lower-case letters, digits and hyphens, which no other application may
    /// have. Null removes it.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = r"^[a-z0-9][a-z0-9-]{1,38}[a-z0-9]$")))]
    pub handle: Option<String>,
    /// The addresses to which users may return after they connected an account, at most 100. They replace all earlier ones.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Vec<formats::AbsoluteUrl>>", length(max = bounds::access::MAX_REDIRECTS)))]
    pub redirect_uris: Option<Vec<String>>,
    /// The parts of requests that the application's request log stores.
    pub request_log: Option<RequestLogSetting>,
    /// The version that the change is based on, instead of the header `If-Match`. An outdated one answers 409 `stale_etag`.
    #[cfg_attr(feature = "schema", schemars(with = "Option<formats::Etag>"))]
    pub etag: Option<String>,
}

/// A provider with OAuth, and the client that the application has registered there.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct AdminProvider {
    /// The id of the registration; null if the application has none at the provider.
    pub id: Option<String>,
    /// The id of the application that has the registration; null if there is none.
    pub application_id: Option<String>,
    /// The name of the provider's connector.
    pub provider: String,
    /// The client's id at the provider; null if there is no registration.
    pub client_id: Option<String>,
    /// Whether a client secret is stored. The secret itself is in no answer.
    pub has_secret: bool,
    /// The way in which the client authenticates at the provider: `post`, `basic` or `none`. Null: as the connector says.
    pub client_auth: Option<String>,
    /// The values of the settings that the connector leaves to administrators, by their names.
    pub settings: Map<String, Value>,
    /// The addresses that replace the connector's own, by their names.
    pub endpoints: Map<String, Value>,
    /// The provider's scopes by the scope of this service that they stand for; they replace the connector's own.
    pub scopes: Map<String, Value>,
    /// A number that goes up with every change of the registration; null if there is no registration.
    pub version: Option<i64>,
    /// Whether the registration is out of use, so that no account can be connected with it. Connections stay.
    pub disabled: bool,
    /// The address to enter at the provider, to which users return.
    pub callback_url: String,
    /// The version of the registration, with its quotes, as in the `ETag` header; null if there is no registration.
    pub etag: Option<String>,
}

/// A registration at a provider. It replaces the earlier one as a whole, except for the secret.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", schemars(extend("required" = ["clientId"])))]
pub struct NewAdminProvider {
    /// The client's id at the provider.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = bounds::access::MAX_CLIENT_ID)))]
    pub client_id: String,
    /// The client's secret, 1 to 4,096 bytes, which is stored encrypted and never shown. Absent: the stored one stays.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = bounds::access::MAX_CLIENT_SECRET)))]
    pub client_secret: Option<String>,
    /// The way in which the client authenticates at the provider: `post`, `basic`, or `none` for a client without a secret. Absent: as
    /// the connector says.
    #[cfg_attr(feature = "schema", schemars(extend("enum" = ["post", "basic", "none", null])))]
    pub client_auth: Option<String>,
    /// The values of the settings that the connector leaves to administrators, by their names.
    pub settings: Map<String, Value>,
    /// The addresses that replace the connector's own: `issuer`, `authorizeUrl`, `tokenUrl`, `revokeUrl`, `userinfoUrl`, `callbackUrl`,
    /// and `origins`, an object of servers by the origin of the provider that each replaces.
    pub endpoints: Map<String, Value>,
    /// The provider's scopes as lists, by the scope of this service that they stand for; they replace the connector's own.
    pub scopes: Map<String, Value>,
    /// Whether the registration is out of use, so that no account can be connected with it. Connections stay.
    pub disabled: bool,
    /// The version that is replaced, instead of the header `If-Match`. An outdated one answers 409 `stale_etag`.
    #[cfg_attr(feature = "schema", schemars(with = "Option<formats::Etag>"))]
    pub etag: Option<String>,
}

// Written by hand so that no log line can hold a secret.
impl fmt::Debug for NewAdminProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NewAdminProvider({})", self.client_id)
    }
}
