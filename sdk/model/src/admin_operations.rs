//! Bodies of the operations by which an installation is run: jobs, hosts, the audit log, logged requests.

use std::collections::BTreeMap;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Instant;

pub use crate::admin_operators::{
    AdminCreatedOperator, AdminInvitationLink, AdminOperator, AdminOperatorPatch, AdminRole,
    NewAdminInvitation, NewAdminOperator,
};

/// A job in the background. Jobs that succeeded are removed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct AdminJob {
    /// The id of the job: its kind and what it works on, such as `deliver:wh_01JQ8Z6V9C4T7R2M5N8P3K1W0X`.
    pub id: String,
    /// The kind of work, such as `pull`, `send` or `deliver`.
    pub kind: String,
    /// The state of the job: `queued`, `running`, `failed` or `cancelled`.
    pub state: String,
    /// The time at which a queued job is due. Null for one that waits to be woken, and in other states.
    pub due_at: Option<Instant>,
    /// The time at which a running job is due again, because it was woken during the run; null otherwise.
    pub again_at: Option<Instant>,
    /// The number of attempts since the last success, including the present one.
    pub attempts: i64,
    /// The number of hosts that stopped while they ran the job, without progress in between.
    pub crashes: i64,
    /// The id of the organization that the work is for; null for work of the installation.
    pub organization_id: Option<String>,
    /// The id of the application that the work is for; null for work of the installation.
    pub application_id: Option<String>,
    /// The id of the connection that the job works on; null if there is none.
    pub connection_id: Option<String>,
    /// The id of the host that runs the job, or ran it last; null if it never ran.
    pub host_id: Option<String>,
    /// The machine and process of that host, or its id if they are no longer known; null if the job never ran.
    pub host: Option<String>,
    /// The error of the last attempt that failed; null if there is none.
    pub last_error: Option<AdminJobError>,
}

/// The error of a job.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct AdminJobError {
    /// A stable code of the error, such as `provider_unavailable`.
    pub code: String,
    /// A sentence for people, which may change.
    pub message: String,
    /// The time at which the attempt failed; null if it is unknown.
    pub at: Option<Instant>,
}

/// A host of the installation: a process that works on its database.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct AdminHost {
    /// The id of the host, which is new at each start.
    pub id: String,
    /// The machine and the process.
    pub name: String,
    /// The version of the program.
    pub version: String,
    /// The time at which the process started.
    pub started_at: Instant,
    /// The time from which other hosts take over the host's jobs, unless it renews its lease before.
    pub lease_until: Instant,
    /// Whether the lease is valid.
    pub is_alive: bool,
    /// Whether the host is the one that answers this request.
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

/// The state of the installation, as seen by the host that answers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct AdminHealth {
    /// The worst result of the checks: `ok`, `warn` or `fail`.
    pub status: String,
    /// The version of the program.
    pub version: String,
    /// All hosts, in the order in which they started.
    pub hosts: Vec<AdminHost>,
    /// The database and its connections.
    pub database: AdminDatabase,
    /// The checks, the same as those of `switchboard doctor`.
    pub checks: Vec<AdminCheck>,
    /// The number of jobs by class and state.
    pub jobs: Vec<AdminJobCount>,
    /// The reasons why connectors cannot be used, by the connectors' names.
    pub connector_problems: BTreeMap<String, String>,
}

/// The database of the installation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct AdminDatabase {
    /// The database engine: `sqlite` or `postgres`.
    pub engine: String,
    /// The size of the database in bytes; null if it is unknown.
    pub size_bytes: Option<i64>,
    /// The number of the last migration that was applied.
    pub schema_version: i64,
    /// The number of the last migration that this program knows.
    pub latest_version: i64,
    /// The connection pools of this host.
    pub pools: Vec<AdminPool>,
    /// The number of writes that wait at this host.
    pub queued_writes: i64,
    /// The number of writes that were repeated since the process started, because the database aborted them.
    pub write_retries: i64,
}

/// A connection pool to the database.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct AdminPool {
    /// The work that uses the pool: `reads`, `writes`, `jobs` or `lease`.
    pub lane: String,
    /// The most connections that the pool may have.
    pub limit: i64,
    /// The number of connections that are in use.
    pub in_use: i64,
    /// The number of requests that wait for a connection.
    pub waiting: i64,
}

/// A check of the installation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct AdminCheck {
    /// The part that was checked, such as `free_space` or `clock`.
    pub name: String,
    /// The result: `ok`, `warn` or `fail`.
    pub status: String,
    /// A stable code of the finding.
    pub code: String,
}

/// The number of jobs of one class in one state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct AdminJobCount {
    /// The class of the jobs, which share their limits.
    pub class: String,
    /// The state of the jobs: `queued`, `running`, `failed` or `cancelled`.
    pub state: String,
    /// The number of jobs.
    pub count: i64,
    /// The time at which the first of the jobs is or was due; null if none is due at a time.
    pub oldest_due_at: Option<Instant>,
}

/// An entry of the audit log.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct AdminAuditEntry {
    /// The id of the entry. Ids sort by time.
    pub id: String,
    /// The time of the act.
    pub at: Instant,
    /// The operator, key or command that acted.
    pub actor: AdminAuditActor,
    /// The id of the organization in which the act was done; null for acts on the installation itself.
    pub organization_id: Option<String>,
    /// The id of the application in which the act was done; null if it was in none.
    pub application_id: Option<String>,
    /// The kind of act, such as `key_created`.
    pub act: String,
    /// The id of the object of the act.
    pub target: String,
    /// The details of the act, such as names of changed fields. They differ by act and never hold a secret.
    pub details: Value,
}

/// The operator, key or command that did what an entry of the audit log says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct AdminAuditActor {
    /// The kind of actor: `operator`, `key` or `command`.
    pub kind: String,
    /// The id of the operator or key; `command` for the command line.
    pub id: String,
    /// The actor's name at that time.
    pub name: String,
    /// The address from which the request came; null for the command line.
    pub ip: Option<String>,
}

/// A request to the API, as the request log of its application shows it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct AdminLoggedRequest {
    /// The id of the request, which is also in the header `x-request-id` of the answer.
    pub id: String,
    /// The time at which the request arrived.
    pub at: Instant,
    /// The id of the API key that sent the request; for an access token, of the key that it was issued to.
    pub key_id: String,
    /// The HTTP method.
    pub method: String,
    /// The path of the operation with its `{parameters}`; empty if no operation has this path.
    pub route: String,
    /// The path of the request, without the query.
    pub path: String,
    /// The HTTP status of the answer.
    pub status: i64,
    /// The milliseconds until the answer began.
    pub ms: i64,
    /// The address from which the request came.
    pub ip: String,
    /// The code of the error in the answer; null if there was none.
    pub error_code: Option<String>,
    /// The field that the error names; null if there was none.
    pub error_param: Option<String>,
    /// The size of the request's body in bytes.
    pub bytes_in: i64,
    /// The size of the answer's body in bytes.
    pub bytes_out: i64,
    /// Whether the bodies were logged.
    pub has_bodies: bool,
}

/// A logged request, with its bodies if they were requested.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct AdminRequestDetail {
    /// The logged request.
    #[serde(flatten)]
    pub request: AdminLoggedRequest,
    /// The bodies; null without `include=bodies`, and if none were logged.
    pub bodies: Option<AdminRequestBodies>,
}

/// The bodies of a logged request, without secrets.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct AdminRequestBodies {
    /// Whether values were logged. Otherwise texts are replaced by their lengths.
    pub is_full: bool,
    /// The body of the request; null if it was not JSON, or too large.
    pub request: Option<Value>,
    /// The body of the answer; null if it was not JSON, or too large.
    pub response: Option<Value>,
}
