//! Bodies of the operations on operators, who may sign in to the administration panel, and on invitations.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Instant;
#[cfg(feature = "schema")]
use crate::bounds;
#[cfg(feature = "schema")]
use crate::formats;

/// An operator: a person who may sign in to the administration panel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct AdminOperator {
    /// The id of the operator.
    pub id: String,
    /// The email address that the operator signs in with.
    pub email: String,
    /// The name that others see.
    pub name: String,
    /// Whether the operator may do everything, in every organization.
    pub is_admin: bool,
    /// Whether a password is set. Without one the operator cannot sign in with a password.
    pub has_password: bool,
    /// Whether a second factor is set up.
    pub has_second_factor: bool,
    /// The operator's roles in organizations.
    pub roles: Vec<AdminRole>,
    /// The time at which the operator last signed in; null if they never did.
    pub last_sign_in_at: Option<Instant>,
    /// The address from which the operator last signed in; null if they never did.
    pub last_sign_in_ip: Option<String>,
    /// The time at which the operator was disabled, since when they cannot sign in; null if they are not disabled.
    pub disabled_at: Option<Instant>,
    /// The time at which the operator was created.
    pub created_at: Instant,
    /// The version, with its quotes, as in the `ETag` header. Signing in does not change it.
    pub etag: String,
}

/// The role of an operator in an organization.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", schemars(extend("required" = ["organizationId", "role"])))]
pub struct AdminRole {
    /// The id of the organization.
    #[cfg_attr(feature = "schema", schemars(with = "formats::Id"))]
    pub organization_id: String,
    /// The role: `owner`, `developer` or `viewer`.
    #[cfg_attr(feature = "schema", schemars(extend("enum" = ["owner", "developer", "viewer"])))]
    pub role: String,
}

/// An operator to create.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", schemars(extend("required" = ["email", "name"])))]
pub struct NewAdminOperator {
    /// The email address that the operator signs in with, which no other operator may have.
    #[cfg_attr(feature = "schema", schemars(with = "formats::Email"))]
    pub email: String,
    /// The name that others see, at most 200 characters.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = bounds::access::MAX_OPERATOR_NAME)))]
    pub name: String,
    /// Whether the operator may do everything, in every organization.
    pub is_admin: bool,
    /// The operator's roles in organizations, at most 100. Required unless `isAdmin` is true.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::access::MAX_ROLES)))]
    pub roles: Vec<AdminRole>,
}

/// An operator who was just created, with the link by which they set a password. No other answer shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct AdminCreatedOperator {
    /// The operator.
    #[serde(flatten)]
    pub operator: AdminOperator,
    /// The link, which works once. No email is sent: give it to the operator yourself.
    pub url: String,
    /// The time at which the link stops working.
    pub expires_at: Instant,
}

/// A change of an operator. A field that is absent or null stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct AdminOperatorPatch {
    /// The new name that others see, at most 200 characters.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = bounds::access::MAX_OPERATOR_NAME)))]
    pub name: Option<String>,
    /// Whether the operator may do everything, in every organization.
    pub is_admin: Option<bool>,
    /// Whether the operator is disabled: their sessions end, and they cannot sign in.
    pub disabled: Option<bool>,
    /// The operator's roles in organizations, at most 100. They replace all earlier ones.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::access::MAX_ROLES)))]
    pub roles: Option<Vec<AdminRole>>,
    /// The version that the change is based on, instead of the header `If-Match`. An outdated one answers 409 `stale_etag`.
    #[cfg_attr(feature = "schema", schemars(with = "Option<formats::Etag>"))]
    pub etag: Option<String>,
}

/// An invitation to create.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", schemars(extend("required" = ["email"])))]
pub struct NewAdminInvitation {
    /// The email address of the invited person.
    #[cfg_attr(feature = "schema", schemars(with = "formats::Email"))]
    pub email: String,
    /// Whether the invited person may then do everything, in every organization.
    pub is_admin: bool,
    /// The invited person's roles in organizations, at most 100. Required unless `isAdmin` is true.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::access::MAX_ROLES)))]
    pub roles: Vec<AdminRole>,
}

/// The link of an invitation that was just created. No other answer shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct AdminInvitationLink {
    /// The id of the invitation.
    pub id: String,
    /// The link, which works once. No email is sent: give it to the invited person yourself.
    pub url: String,
    /// The time at which the link stops working.
    pub expires_at: Instant,
}
