//! The request log of an application: what it keeps, and what it has. Entries are there about a second after their requests.

use base::error::{Code, Result, invalid, not_found};
use base::ids::Kind;
use base::tenant::Tenant;
use serde_json::json;
use storage::api_keys::Application;
use storage::request_log::{
    self, NEWEST, RequestEntry, RequestFilter, RequestLogMode, StatusClass, sealed_bodies,
};
use storage::{Tx, audit_log, organizations};

use crate::app::App;
use crate::app::request_log::bodies;
use crate::app::stored_response::{IdempotentAttempt, StoredResponse};
use crate::manage::acting::Target;
use crate::manage::actor::{Act, Actor};

pub use crate::app::request_log::bodies::RequestBodies;

/// Minutes for which full bodies can be kept.
pub const FULL_MINUTES: [i64; 3] = [15, 60, 240];

const MINUTE_MS: i64 = 60_000;

/// Requests of an application, newest first, before an id; at most `limit`.
pub async fn list(
    app: &App,
    tenant: &Tenant,
    filter: &RequestFilter,
    before_id: Option<&str>,
    limit: i64,
) -> Result<Vec<RequestEntry>> {
    let before = before_id.unwrap_or(NEWEST);
    Ok(request_log::list(app.db.reader(), tenant, filter, before, limit).await?)
}

/// A request of an application.
pub async fn find(app: &App, tenant: &Tenant, id: &str) -> Result<Option<RequestEntry>> {
    Ok(request_log::find(app.db.reader(), tenant, id).await?)
}

/// The last requests of an application that failed, newest first.
pub async fn recent_errors(app: &App, tenant: &Tenant, limit: i64) -> Result<Vec<RequestEntry>> {
    let filter = RequestFilter { status: Some(StatusClass::Error), key_id: None };
    list(app, tenant, &filter, None, limit).await
}

/// The last requests with a key, newest first.
pub async fn recent_of_key(
    app: &App,
    tenant: &Tenant,
    key_id: &str,
    limit: i64,
) -> Result<Vec<RequestEntry>> {
    let filter = RequestFilter { status: None, key_id: Some(key_id.to_owned()) };
    list(app, tenant, &filter, None, limit).await
}

/// Sets what the log of an application keeps. Off also ends the time in which full bodies are kept. Entries that are there stay until they are
/// old enough.
///
/// # Errors
/// `not_found`.
pub async fn set_mode(
    app: &App,
    tenant: &Tenant,
    mode: RequestLogMode,
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    let change = LogChange { mode: Some(mode), full_until: (mode == RequestLogMode::Off).then_some(None) };
    change.store(app, tenant, attempt).await
}

/// Keeps full bodies of an application's requests for so many minutes from now on; 0 ends that.
///
/// # Errors
/// `not_found`; `invalid_parameter` of `minutes`; `invalid_state` while the log is off.
pub async fn set_full_bodies(
    app: &App,
    tenant: &Tenant,
    minutes: i64,
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    if minutes != 0 && !FULL_MINUTES.contains(&minutes) {
        let message = "minutes must be 0, 15, 60 or 240";
        return Err(invalid(Code::InvalidParameter, "minutes", message));
    }
    let until = (minutes > 0).then(|| app.now() + minutes * MINUTE_MS);
    let change = LogChange { mode: None, full_until: Some(until) };
    change.store(app, tenant, attempt).await
}

/// A change of what a log keeps; none: as it is.
#[derive(Clone, Copy)]
struct LogChange {
    mode: Option<RequestLogMode>,
    full_until: Option<Option<i64>>,
}

impl LogChange {
    async fn store(self, app: &App, tenant: &Tenant, attempt: &IdempotentAttempt) -> Result<StoredResponse> {
        let (of, keyed, attempt, at) = (tenant.clone(), app.clone(), attempt.clone(), app.now());
        let stored: Result<(StoredResponse, Application)> = app
            .db
            .write(move |tx| {
                Box::pin(async move {
                    let (changed, is_same) = self.change(tx, &of).await?;
                    let attempt = if is_same { attempt.without_entry() } else { attempt };
                    let answer = StoredResponse::ok(render_application(&changed).to_string());
                    attempt.store(tx, &keyed.keyring, &answer, at).await?;
                    Ok((answer, changed))
                })
            })
            .await;
        let (answer, changed) = stored?;
        let id = &tenant.application_id;
        app.request_log.set_mode(id, changed.request_log, changed.full_bodies_until);
        Ok(answer)
    }

    /// Returns the application after the change, and whether it was the same before.
    async fn change(self, tx: &mut Tx, of: &Tenant) -> Result<(Application, bool)> {
        // Two owners at once: the second one changes what the first one left.
        organizations::lock_application(tx, &of.application_id).await?;
        let found = organizations::find_application(&mut *tx, &of.application_id).await?;
        let found = found.filter(|found| found.tenant == *of).ok_or_else(|| not_found("application"))?;
        let mode = self.mode.unwrap_or(found.request_log);
        let full_until = self.full_until.unwrap_or(found.full_bodies_until);
        if mode == RequestLogMode::Off && full_until.is_some() {
            let message = "the request log is off: turn it on to keep bodies";
            return Err(invalid(Code::InvalidState, "minutes", message));
        }
        request_log::set_mode(tx, of, mode, full_until).await?;
        let is_same = mode == found.request_log && full_until == found.full_bodies_until;
        Ok((Application { request_log: mode, full_bodies_until: full_until, ..found }, is_same))
    }
}

fn render_application(application: &Application) -> serde_json::Value {
    json!({
        "id": application.tenant.application_id,
        "requestLog": application.request_log.as_str(),
        "fullBodiesUntil": application.full_bodies_until,
    })
}

/// The bodies of a request, for one who may see content; that they were seen is written to the audit log first. None: there are none, or none
/// any more.
///
/// # Errors
/// `not_found` without the right; those of the database.
pub async fn see_bodies(
    app: &App,
    actor: &Actor,
    tenant: &Tenant,
    id: &str,
) -> Result<Option<RequestBodies>> {
    actor.check(Act::SeeContent, &tenant.organization_id, app.now())?;
    let Some(sealed) = sealed_bodies(app.db.reader(), tenant, id).await? else { return Ok(None) };
    let found = bodies::open(&app.keyring, &tenant.application_id, id, &sealed)?;
    let target = Target::application(tenant, id).details(json!({ "isFull": found.is_full }));
    let entry = target.entry(actor, "request_bodies_seen", app.new_id(Kind::AuditEntry), app.now());
    let noted: Result<()> =
        app.db.write(move |tx| Box::pin(async move { Ok(audit_log::insert(tx, &entry).await?) })).await;
    noted?;
    Ok(Some(found))
}
