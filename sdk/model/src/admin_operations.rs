//! Bodies of the operations by which an installation is run: jobs, hosts, the audit log, operators, logged requests.

use std::collections::BTreeMap;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Instant;

/// A job in the background. Jobs that are done are removed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct AdminJob {
    /// The kind and what the job works on, such as `deliver:wh_01JQ8Z6V9C4T7R2M5N8P3K1W0X`.
    pub id: String,
    /// The work, such as `pull`, `send` or `deliver`.
    pub kind: String,
    /// `queued`, `running`, `failed` or `cancelled`.
    pub state: String,
    /// When a queued job is due. Null for one that waits to be woken, and in other states.
    pub due_at: Option<Instant>,
    /// When a running job is due again, because it was woken during the run.
    pub again_at: Option<Instant>,
    /// Attempts since the last success, the present one included.
    pub attempts: i64,
    /// Hosts that stopped while they ran the job, without progress in between.
    pub crashes: i64,
    /// The organization whose work it is. Null for work of the installation.
    pub organization_id: Option<String>,
    /// The application whose work it is. Null for work of the installation.
    pub application_id: Option<String>,
    /// The connection that the job works on.
    pub connection_id: Option<String>,
    /// The host that runs the job, or ran it last.
    pub host_id: Option<String>,
    /// The host's machine and process, or its id where it is not known any more.
    pub host: Option<String>,
    /// The error of the last attempt that failed.
    pub last_error: Option<AdminJobError>,
}

/// The error of a job.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct AdminJobError {
    /// A code, such as `provider_unavailable`.
    pub code: String,
    /// A sentence for people.
    pub message: String,
    /// When the attempt failed.
    pub at: Option<Instant>,
}

/// A process that works on the database.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct AdminHost {
    /// New at each start.
    pub id: String,
    /// The machine and the process.
    pub name: String,
    /// The version of the program.
    pub version: String,
    /// When the process started.
    pub started_at: Instant,
    /// The time from which other hosts take over its jobs, unless it renews its lease before.
    pub lease_until: Instant,
    /// Whether the lease is valid.
    pub is_alive: bool,
    /// Whether it is the process that answers this request.
    pub is_own: bool,
}

/// The hosts of the installation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct AdminHosts {
    /// All hosts, in the order in which they started.
    pub hosts: Vec<AdminHost>,
}

/// The state of the installation, as the host sees it that answers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct AdminHealth {
    /// The worst of the checks: `ok`, `warn` or `fail`.
    pub status: String,
    /// The version of the program.
    pub version: String,
    /// All hosts, in the order in which they started.
    pub hosts: Vec<AdminHost>,
    /// The database and its connections.
    pub database: AdminDatabase,
    /// Checks as those of `switchboard doctor`.
    pub checks: Vec<AdminCheck>,
    /// Jobs by class and state.
    pub jobs: Vec<AdminJobCount>,
    /// Connectors that cannot be used, by name, with the reason.
    pub connector_problems: BTreeMap<String, String>,
}

/// The database of the installation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct AdminDatabase {
    /// `sqlite` or `postgres`.
    pub engine: String,
    /// Bytes that the database takes, where that is known.
    pub size_bytes: Option<i64>,
    /// The number of the last migration that was applied.
    pub schema_version: i64,
    /// The number of the last migration that this program knows.
    pub latest_version: i64,
    /// The pools of connections of this host.
    pub pools: Vec<AdminPool>,
    /// Writes that wait for their turn at this host.
    pub queued_writes: i64,
    /// Writes that were run again since the process started, because the database gave them up.
    pub write_retries: i64,
}

/// A pool of connections to the database.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct AdminPool {
    /// The work that uses it: `reads`, `writes`, `jobs` or `lease`.
    pub lane: String,
    /// Connections that the pool may have.
    pub limit: i64,
    /// Connections that are in use.
    pub in_use: i64,
    /// Requests that wait for a connection.
    pub waiting: i64,
}

/// A check of the installation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct AdminCheck {
    /// The part that was checked, such as `free_space` or `clock`.
    pub name: String,
    /// `ok`, `warn` or `fail`.
    pub status: String,
    /// The finding.
    pub code: String,
}

/// The jobs of one class in one state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct AdminJobCount {
    /// The class, whose jobs share their limits.
    pub class: String,
    /// `queued`, `running`, `failed` or `cancelled`.
    pub state: String,
    /// The number of jobs.
    pub count: i64,
    /// When the first of them is due, or was.
    pub oldest_due_at: Option<Instant>,
}

/// An entry of the audit log.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct AdminAuditEntry {
    /// The entry's id, which sorts by time.
    pub id: String,
    /// When it was done.
    pub at: Instant,
    /// The one who did it.
    pub actor: AdminAuditActor,
    /// The organization that it was done in. Null for acts on the installation itself.
    pub organization_id: Option<String>,
    /// The application that it was done in.
    pub application_id: Option<String>,
    /// A word, such as `key_created`.
    pub act: String,
    /// The id of what it was done to.
    pub target: String,
    /// Names of what was changed, never a secret. It differs by act.
    pub details: Value,
}

/// The one who did what an entry of the audit log says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct AdminAuditActor {
    /// `operator`, `key` or `command`.
    pub kind: String,
    /// The operator's or the key's id; `command` for the command line.
    pub id: String,
    /// The name at that time.
    pub name: String,
    /// The address that the request came from.
    pub ip: Option<String>,
}

/// A person who may sign in to the administration panel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct AdminOperator {
    /// The operator's id.
    pub id: String,
    /// The address that the operator signs in with.
    pub email: String,
    /// The name that others see.
    pub name: String,
    /// Whether the operator may do everything, in every organization.
    pub is_admin: bool,
    /// Whether a password is set. Without one the operator cannot sign in with a password.
    pub has_password: bool,
    /// Whether a second factor is set up.
    pub has_second_factor: bool,
    /// The roles in organizations.
    pub roles: Vec<AdminRole>,
    /// When the operator signed in last.
    pub last_sign_in_at: Option<Instant>,
    /// The address from which that was.
    pub last_sign_in_ip: Option<String>,
    /// When the operator was disabled: since then they cannot sign in.
    pub disabled_at: Option<Instant>,
    /// When the operator was created.
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
    /// The organization's id.
    pub organization_id: String,
    /// `owner`, `developer` or `viewer`.
    pub role: String,
}

/// An operator to create.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", schemars(extend("required" = ["email", "name"])))]
pub struct NewAdminOperator {
    /// The address that the operator signs in with. No other operator has it.
    pub email: String,
    /// The name that others see, at most 200 characters.
    pub name: String,
    /// Whether the operator may do everything, in every organization.
    pub is_admin: bool,
    /// Roles in organizations, at most 100. Required unless `isAdmin` is true.
    pub roles: Vec<AdminRole>,
}

/// An operator who was just created, with the link by which they set a password: the only answer that shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct AdminCreatedOperator {
    /// The operator.
    #[serde(flatten)]
    pub operator: AdminOperator,
    /// The link. It works once. No mail is sent: give it to the operator yourself.
    pub url: String,
    /// When the link stops working.
    pub expires_at: Instant,
}

/// Changes of an operator; a field that is absent or null stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct AdminOperatorPatch {
    /// Another name, at most 200 characters.
    pub name: Option<String>,
    /// Whether the operator may do everything, in every organization.
    pub is_admin: Option<bool>,
    /// Whether the operator is disabled: their sessions end, and they cannot sign in.
    pub disabled: Option<bool>,
    /// All roles in organizations, at most 100: one that is not in the list is taken away.
    pub roles: Option<Vec<AdminRole>>,
    /// The version that the change is based on, instead of `If-Match`; a stale one gives 409 `stale_etag`.
    pub etag: Option<String>,
}

/// An invitation to create.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", schemars(extend("required" = ["email"])))]
pub struct NewAdminInvitation {
    /// The address of the one who is invited.
    pub email: String,
    /// Whether they may then do everything, in every organization.
    pub is_admin: bool,
    /// Roles in organizations, at most 100. Required unless `isAdmin` is true.
    pub roles: Vec<AdminRole>,
}

/// The link of an invitation that was just created: the only answer that shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct AdminInvitationLink {
    /// The invitation's id.
    pub id: String,
    /// The link. It works once. No mail is sent: give it to the invited person yourself.
    pub url: String,
    /// When the link stops working.
    pub expires_at: Instant,
}

/// A request to the API, as the request log of its application keeps it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct AdminLoggedRequest {
    /// The request's id, as the header `x-request-id` of its answer has it.
    pub id: String,
    /// When the request came.
    pub at: Instant,
    /// The API key that sent it; of an access token, the key that the token was given to.
    pub key_id: String,
    /// The HTTP method.
    pub method: String,
    /// The path of the operation, with its `{parameters}`; empty where the path is that of no operation.
    pub route: String,
    /// The path that was asked for, without the query.
    pub path: String,
    /// The HTTP status of the answer.
    pub status: i64,
    /// Milliseconds until the answer began.
    pub ms: i64,
    /// The address that the request came from.
    pub ip: String,
    /// The code of the error in the answer.
    pub error_code: Option<String>,
    /// The field that the error names.
    pub error_param: Option<String>,
    /// Bytes of the request's body.
    pub bytes_in: i64,
    /// Bytes of the answer's body.
    pub bytes_out: i64,
    /// Whether the bodies were logged.
    pub has_bodies: bool,
}

/// A logged request, with its bodies where they were asked for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct AdminRequestDetail {
    /// The logged request.
    #[serde(flatten)]
    pub request: AdminLoggedRequest,
    /// The bodies. Null without `include=bodies`, and where none were logged.
    pub bodies: Option<AdminRequestBodies>,
}

/// The bodies of a logged request, without what is never logged.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct AdminRequestBodies {
    /// Whether values were logged. Otherwise texts are replaced by their lengths.
    pub is_full: bool,
    /// The request's body. Null where it was no JSON, or too large.
    pub request: Option<Value>,
    /// The answer's body. Null where it was no JSON, or too large.
    pub response: Option<Value>,
}
