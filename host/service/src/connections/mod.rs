//! Connected accounts: create by credentials, list, read, delete, refresh. Credentials are checked against the provider before anything is
//! stored, sealed at once, and never returned.

pub mod account;
pub mod authorization;
pub mod call;
pub mod call_target;
pub mod check;
pub mod credentials;
mod duplicates;
pub mod new_tokens;
pub mod oauth;
pub mod operator_values;
pub mod provider_call;
pub mod provider_units;
pub mod refresh;
pub mod refusal;
pub mod replacement;
pub mod request_context;
pub mod revocation;
pub mod settings;
pub mod state;
pub mod stored;
pub mod throttle;
mod token_life;
pub mod token_refresh;
pub mod view;
pub mod watch_calls;
pub mod watch_expiry;
pub mod watch_reach;
pub mod write_context;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use base::error::{Code, Error, Result, invalid, not_found, refuse};
use base::ids::Kind;
use base::input::validate;
use base::tenant::Tenant;
use model::Instant;
use model::bounds::MAX_LINE;
use model::connection::ACCOUNT_SCOPES;
use runtime::LoadedConnector;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use storage::connections::Connection;
use storage::locked::ConnectionLock;
use storage::scheduling::meeting_events::EVENT_JOB;
use storage::{Tx, connections as table, job_claims, organizations, sync_states};

use crate::app::event_log::{self, NewLogEntry};
use crate::app::stored_response::{IdempotentAttempt, StoredResponse};
use crate::app::{App, SANDBOX};
use crate::connections::check::CheckedAccount;
use crate::connections::credentials::GivenCredentials;
use crate::connections::operator_values::OperatorValues;
use crate::connections::settings::{connector, sandbox_url};

/// Body of `POST /v1/connections`.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NewConnection {
    pub provider: String,
    pub settings: Map<String, Value>,
    pub credentials: GivenCredentials,
    pub scopes: Vec<String>,
    pub display_name: Option<String>,
    pub tags: BTreeMap<String, String>,
    pub metadata: BTreeMap<String, String>,
}

/// Scopes that can be requested for a connection.
pub const GRANTABLE: [&str; 10] = ACCOUNT_SCOPES;

/// Returns a live connection of the tenant that the key may use; fails with "no such connection" for any other.
pub async fn find(app: &App, tenant: &Tenant, id: &str) -> Result<Connection> {
    if !base::ids::is_plausible(id) {
        return Err(not_found("connection"));
    }
    table::find(app.db.resources(), tenant, id).await?.ok_or_else(|| not_found("connection"))
}

/// Same as `find`, with the last sequence of the application's log.
pub async fn find_with_sequence(app: &App, tenant: &Tenant, id: &str) -> Result<(Connection, i64)> {
    if !base::ids::is_plausible(id) {
        return Err(not_found("connection"));
    }
    let found = table::find_with_sequence(app.db.resources(), tenant, id).await?;
    found.ok_or_else(|| not_found("connection"))
}

/// The live connections of the tenant among these ids, by their ids.
pub async fn find_all(app: &App, tenant: &Tenant, ids: &[String]) -> Result<HashMap<String, Connection>> {
    let plausible: Vec<String> = ids.iter().filter(|id| base::ids::is_plausible(id)).cloned().collect();
    let found = table::of_ids(app.db.reader(), tenant, &plausible).await?;
    Ok(found.into_iter().map(|connection| (connection.id.clone(), connection)).collect())
}

/// Refuses a connection that cannot be used now.
pub fn usable(connection: &Connection) -> Result<()> {
    match connection.status.as_str() {
        "active" | "degraded" => Ok(()),
        "reauth_required" => Err(refuse(
            Code::ReauthRequired,
            "the provider no longer accepts this connection's credentials; connect the account again",
        )),
        status => Err(refuse(Code::ConnectionInactive, format!("this connection is {status}"))),
    }
}

/// Refuses a connection whose account did not grant the scope.
pub fn granted(connection: &Connection, scope: &str) -> Result<()> {
    if base::scopes::holds(&connection.granted_scopes, scope) {
        return Ok(());
    }
    Err(refuse(Code::ScopeNotGranted, format!("this connection was not granted the scope {scope}")))
}

/// How an account is connected.
#[derive(Clone, Debug, Default)]
pub struct ConnectOptions {
    /// Whether the account may have another connection of the application already.
    pub allow_duplicate: bool,
    /// Warnings about the request, for its answer.
    pub warnings: Vec<Value>,
}

/// Refuses a provider that the application may not use: a test application has the sandbox of this server alone.
///
/// # Errors
/// 403 `test_key`, and errors of the database.
pub async fn ensure_provider_allowed(app: &App, tenant: &Tenant, provider: &str) -> Result<()> {
    let id = &tenant.application_id;
    let is_own_sandbox = sandbox_url(app, provider).is_some();
    if is_own_sandbox || !organizations::is_test_application(app.db.reader(), id).await? {
        return Ok(());
    }
    let message = match provider {
        SANDBOX => {
            "a test application reaches the sandbox of its server alone: start the server with --sandbox"
                .to_owned()
        }
        _ => format!(
            "a test application reaches the provider {SANDBOX} alone: use another application, whose keys begin with uc_live_"
        ),
    };
    Err(invalid(Code::TestKey, "provider", message))
}

/// Connects an account by credentials.
pub async fn create(
    app: &App,
    tenant: &Tenant,
    mut new: NewConnection,
    options: ConnectOptions,
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    let connector = connector(app, &new.provider)?;
    ensure_provider_allowed(app, tenant, &new.provider).await?;
    check_scopes(&new.scopes)?;
    validate::text("displayName", new.display_name.as_deref(), MAX_LINE)?;
    base::input::metadata::check("metadata", &new.metadata)?;
    base::input::metadata::check("tags", &new.tags)?;
    new.credentials.take_servers(&connector, &mut new.settings)?;
    operator_values::refuse_given(&connector, &new.settings)?;
    OperatorValues::load(app, tenant, &new.provider).await?.put_into(&mut new.settings);
    let settings = settings::checked(app, &connector, std::mem::take(&mut new.settings))?;
    new.credentials.check(&connector)?;
    settings::refuse_exposed(app, tenant, &connector, &settings).await?;
    let id = app.new_id(Kind::Connection);
    let checked = check::run(app, tenant, &connector, &id, &settings, &new.credentials).await?;
    let connection = assembled(app, tenant, id, &connector, new, checked)?;
    save_new(app, connection, (!options.allow_duplicate).then_some(connector), &options.warnings, attempt)
        .await
}

fn check_scopes(scopes: &[String]) -> Result<()> {
    if scopes.is_empty() {
        let message = "scopes is required, for example [\"calendar.read\", \"calendar.write\"]";
        return Err(invalid(Code::MissingField, "scopes", message));
    }
    match scopes.iter().position(|s| !GRANTABLE.contains(&s.as_str())) {
        None => Ok(()),
        Some(i) => {
            let message =
                format!("{:?} is not a scope of an account; there are: {}", scopes[i], GRANTABLE.join(", "));
            Err(invalid(Code::InvalidParameter, format!("scopes[{i}]"), message))
        }
    }
}

/// Returns the row of a connection whose account was checked; its settings are those that the check returned.
fn assembled(
    app: &App,
    tenant: &Tenant,
    id: String,
    connector: &LoadedConnector,
    new: NewConnection,
    CheckedAccount { account, settings }: CheckedAccount,
) -> Result<Connection> {
    let now = app.now();
    let has = check::surfaces(connector);
    let surfaces: Vec<String> = match account.surfaces.is_empty() {
        true => has,
        false => account.surfaces.iter().filter(|s| has.contains(s)).cloned().collect(),
    };
    let of_surface = |s: &&String| surfaces.iter().any(|f| s.split('.').next() == Some(f.as_str()));
    let granted_scopes: Vec<String> = new.scopes.iter().filter(of_surface).cloned().collect();
    let mut addresses: Vec<String> =
        account.email.iter().chain(&account.aliases).map(|a| a.to_lowercase()).collect();
    addresses.dedup();
    let place = credentials::place(&id, tenant);
    Ok(Connection {
        tenant: tenant.clone(),
        provider: connector.manifest.name.clone(),
        connector_version: connector.manifest.version.clone(),
        status: "active".into(),
        status_reason: None,
        status_changed_at: now,
        display_name: new.display_name.or(account.display_name),
        email: account.email.map(|e| e.to_lowercase()),
        external_account_id: account.external_account_id,
        username: new.credentials.username.clone(),
        addresses,
        surfaces,
        requested_scopes: new.scopes,
        granted_scopes,
        provider_scopes: account.provider_scopes,
        time_zone: account.time_zone,
        settings,
        credentials: app.keyring.seal(&place, serde_json::to_string(&new.credentials)?.as_bytes())?,
        credentials_version: 1,
        token_expires_at: new.credentials.expires_at.map(Instant::as_millis),
        last_refresh_at: Some(now),
        last_refresh_error: None,
        failing_since: None,
        tags: new.tags,
        metadata: new.metadata,
        etag: String::new(),
        created_at: now,
        updated_at: now,
        id,
    })
}

/// Writes a new connection and its log entry in one transaction. With a connector, the account must not have another connection.
async fn save_new(
    app: &App,
    mut connection: Connection,
    unique_of: Option<Arc<LoadedConnector>>,
    warnings: &[Value],
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    connection.etag = view::etag(&connection);
    let body = view::json(app, &connection, &[]).to_string();
    let answer = StoredResponse::json(201, body.clone()).warned(warnings).etag(&connection.etag);
    let (app, kept, attempt) = (app.clone(), answer.clone(), attempt.about(&connection.id));
    let db = app.db.clone();
    db.write(move |tx| {
        Box::pin(async move {
            insert(tx, &app, &connection, body).await?;
            if let Some(connector) = &unique_of {
                duplicates::refuse(tx, &app, &connector.manifest, &connection).await?;
            }
            attempt.store(tx, &app.keyring, &kept, app.now()).await?;
            Ok::<_, Error>(())
        })
    })
    .await?;
    Ok(answer)
}

/// Writes a new connection, `body` as JSON, and logs it.
async fn insert(tx: &mut Tx, app: &App, connection: &Connection, body: String) -> Result<()> {
    table::insert(tx, connection).await?;
    let note = NewLogEntry::of_connection(connection, "created", Some(body));
    event_log::append(tx, app, &connection.tenant, vec![note]).await?;
    Ok(())
}

/// Writes a connection whose provider has just accepted its credentials: it becomes active, its failures are reset, and failed jobs are
/// retried at once. Logs the change.
async fn update_active(tx: &mut Tx, app: &App, lock: &ConnectionLock, mut fresh: Connection) -> Result<()> {
    let change = if fresh.status == "active" { "updated" } else { "recovered" };
    fresh.last_refresh_at = Some(app.now());
    fresh.last_refresh_error = None;
    fresh.failing_since = None;
    state::set_status(app, &mut fresh, "active", None);
    fresh.updated_at = app.now();
    fresh.etag = view::etag(&fresh);
    table::update(tx, lock, &fresh).await?;
    sync_states::forget_attempts(tx, &fresh.id).await?;
    let states = sync_states::of_connection(&mut *tx, &fresh.id).await?;
    let body = view::json(app, &fresh, &states).to_string();
    let note = NewLogEntry::of_connection(&fresh, change, Some(body));
    event_log::append(tx, app, &fresh.tenant, vec![note]).await?;
    // Running jobs with the old credentials must not write any more.
    job_claims::evict_of_connection(tx, lock, app.now()).await?;
    // Events of bookings that could not be written or deleted while the account was unusable.
    job_claims::hurry_of_connection(tx, lock, EVENT_JOB, app.now()).await?;
    Ok(())
}
