//! Schedules that several event types share: created, listed, changed and deleted. Changes take effect at once in the event types that use
//! them.

use base::error::{Code, Error, Result, not_found, refuse};
use base::ids::{self, Kind};
use base::input::merge_patch;
use base::input::validate::{self, fault};
use base::tenant::Tenant;
use model::Instant;
use model::resource::Resource;
use model::scheduling::SharedSchedule;
use model::scheduling::event_type::EventType;
use scheduling::week_plan::WeekPlan;
use serde_json::{Map, Value};
use storage::Tx;
use storage::scheduling::schedules as table;
use storage::scheduling::schedules::ScheduleRow;
use storage::sql::On;

use crate::app::App;
use crate::app::stored_response::{IdempotentAttempt, StoredResponse};
use crate::bookings::{input, rules, view};
use crate::connections::request_context::RequestContext;
use crate::connections::write_context::WriteContext;
use crate::writes::etag::ExpectedEtag;

/// Required fields of a schedule.
const REQUIRED: [&str; 2] = ["name", "timeZone"];

/// A schedule with its parsed body.
#[derive(Clone)]
pub struct StoredSchedule {
    pub row: ScheduleRow,
    pub body: SharedSchedule,
}

impl StoredSchedule {
    fn read(row: ScheduleRow) -> Result<StoredSchedule> {
        let body = SharedSchedule::named(row.name.clone(), serde_json::from_str(&row.body)?);
        Ok(StoredSchedule { row, body })
    }

    /// The schedule with all its fields.
    pub fn view(&self) -> Result<Value> {
        let row = &self.row;
        Ok(serde_json::to_value(Resource {
            id: row.id.clone(),
            etag: row.etag.clone(),
            created_at: Instant::from_millis(row.created_at),
            updated_at: Instant::from_millis(row.updated_at),
            metadata: serde_json::from_str(&row.metadata)?,
            body: self.body.clone(),
            ..Resource::default()
        })?)
    }

    /// Writes the body into the row, with a new etag.
    fn put(&mut self) -> Result<()> {
        self.row.name.clone_from(&self.body.name);
        self.row.body = serde_json::to_string(&self.body.schedule())?;
        let row = &self.row;
        self.row.etag = view::etag(&(&row.id, row.updated_at, &row.name, &row.body, &row.metadata))?;
        Ok(())
    }
}

/// A schedule that the key sees.
pub async fn find(app: &App, asker: &RequestContext, id: &str) -> Result<StoredSchedule> {
    let none = || not_found("schedule");
    if !ids::is_plausible(id) {
        return Err(none());
    }
    let row = table::find(app.db.reader(), &asker.tenant, id).await?;
    filter_seen(app, asker, row.into_iter().collect()).await?.pop().ok_or_else(none)
}

/// The schedules among these rows that the key sees.
// Contract silent: whose a schedule is. It is of the key that made it: one that is bound to connections sees its own, those of keys that
// are bound to some of the same connections, and those by which event types of its own hosts are open.
async fn filter_seen(
    app: &App,
    asker: &RequestContext,
    mut rows: Vec<ScheduleRow>,
) -> Result<Vec<StoredSchedule>> {
    if let Some(bound_to) = asker.bound_to() {
        let ids: Vec<String> = rows.iter().map(|row| row.id.clone()).collect();
        let uses = table::uses(app.db.reader(), &ids, bound_to).await?;
        let is_made_for = |row: &ScheduleRow| {
            !row.bound_to.is_empty() && row.bound_to.iter().all(|id| bound_to.contains(id))
        };
        rows.retain(|row| is_made_for(row) || uses.get(&row.id).is_some_and(|uses| uses.own > 0));
    }
    rows.into_iter().map(StoredSchedule::read).collect()
}

/// Fails if the key does not see the schedule of an event type.
pub async fn ensure_seen(app: &App, asker: &RequestContext, id: Option<&str>) -> Result<()> {
    let Some(id) = id else { return Ok(()) };
    match find(app, asker, id).await {
        Ok(_) => Ok(()),
        Err(e) if e.code() == Some(Code::NotFound) => Err(unknown()),
        Err(e) => Err(e),
    }
}

fn unknown() -> Error {
    fault("scheduleId", "must be the id of a schedule of this application")
}

/// Refuses to change a schedule, locked in this transaction, whose event types have hosts that the key may not use. `bound_to` are the
/// connections of the key; none: those of the whole application.
///
/// # Errors
/// 403 `forbidden`.
async fn ensure_own(tx: &mut Tx, id: &str, bound_to: Option<&[String]>) -> Result<()> {
    let Some(bound_to) = bound_to else { return Ok(()) };
    let uses = table::uses(&mut *tx, &[id.to_owned()], bound_to).await?;
    if uses.get(id).is_none_or(|uses| uses.others == 0) {
        return Ok(());
    }
    let message = "event types of connections that this API key may not use share this schedule; give your event types another one";
    Err(refuse(Code::Forbidden, message))
}

/// At most `limit` schedules that the key sees, by id, after an id.
pub async fn list(
    app: &App,
    asker: &RequestContext,
    after_id: &str,
    limit: usize,
) -> Result<Vec<StoredSchedule>> {
    let rows_at_a_time = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut found = Vec::new();
    let mut after = after_id.to_owned();
    while found.len() < limit {
        let rows = table::list(app.db.reader(), &asker.tenant, &after, rows_at_a_time).await?;
        let is_last = rows.len() < limit;
        after = rows.last().map_or(after, |row| row.id.clone());
        found.extend(filter_seen(app, asker, rows).await?);
        if is_last {
            break;
        }
    }
    found.truncate(limit);
    Ok(found)
}

fn check(body: &SharedSchedule) -> Result<()> {
    if body.name.trim().is_empty() {
        return Err(input::missing("name"));
    }
    input::line("name", &body.name)?;
    WeekPlan::read(&body.schedule()).map_err(|e| rules::of_field(e.field.clone(), &e))?;
    Ok(())
}

/// Creates a schedule.
pub async fn create(
    cx: &WriteContext,
    mut input: Map<String, Value>,
    strict: bool,
) -> Result<StoredResponse> {
    let WriteContext { app, request: asker, attempt } = cx;
    let absent = |field: &&str| matches!(input.get(*field), None | Some(Value::Null));
    if let Some(field) = REQUIRED.into_iter().find(absent) {
        return Err(input::missing(field));
    }
    validate::canonical_zone(&mut input, "timeZone");
    let write = merge_patch::over(&SharedSchedule::default(), &Value::Null, input, &[])?;
    let warnings = merge_patch::warnings(&write.unknown, strict)?;
    check(&write.body)?;
    let now = app.now();
    let row = ScheduleRow {
        id: app.new_id(Kind::Schedule),
        tenant: asker.tenant.clone(),
        name: String::new(),
        body: String::new(),
        metadata: serde_json::to_string(&write.metadata.unwrap_or_default())?,
        bound_to: asker.bound_to().unwrap_or_default().to_vec(),
        etag: String::new(),
        deleted_at: None,
        created_at: now,
        updated_at: now,
    };
    let mut new = StoredSchedule { row, body: write.body };
    new.put()?;
    let (held, attempt) = (app.clone(), attempt.clone());
    app.db.write(move |tx| Box::pin(async move { insert(tx, &held, &new, &warnings, &attempt).await })).await
}

async fn insert(
    tx: &mut Tx,
    app: &App,
    new: &StoredSchedule,
    warnings: &[Value],
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    table::insert(tx, &new.row).await?;
    let mut printed = new.view()?;
    printed["warnings"] = Value::from(warnings);
    let answer = StoredResponse::created(printed.to_string())
        .etag(&new.row.etag)
        .header("location", format!("/v1/scheduling/schedules/{}", new.row.id));
    attempt.store(tx, &app.keyring, &answer, new.row.updated_at).await?;
    Ok(answer)
}

/// A requested change of a schedule.
#[derive(Clone)]
struct ScheduleChange {
    tenant: Tenant,
    id: String,
    /// The connections of the key; none: those of the whole application.
    bound_to: Option<Vec<String>>,
    input: Map<String, Value>,
    expected: ExpectedEtag,
    strict: bool,
}

/// Changes a schedule, and with it the hours of the event types that use it. Existing bookings stay as they are.
///
/// # Errors
/// 403 `forbidden` if these have hosts that the key may not use.
pub async fn update(
    cx: &WriteContext,
    id: &str,
    input: Map<String, Value>,
    expected: ExpectedEtag,
    strict: bool,
) -> Result<StoredResponse> {
    let WriteContext { app, request: asker, attempt } = cx;
    find(app, asker, id).await?;
    let change = ScheduleChange {
        tenant: asker.tenant.clone(),
        id: id.to_owned(),
        bound_to: asker.bound_to().map(<[String]>::to_vec),
        input,
        expected,
        strict,
    };
    let (held, attempt) = (app.clone(), attempt.clone());
    app.db.write(move |tx| Box::pin(async move { write(tx, &held, change, &attempt).await })).await
}

async fn write(
    tx: &mut Tx,
    app: &App,
    mut change: ScheduleChange,
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    let row = table::lock(tx, &change.tenant, &change.id).await?;
    let before = StoredSchedule::read(row.ok_or_else(|| not_found("schedule"))?)?;
    ensure_own(tx, &change.id, change.bound_to.as_deref()).await?;
    change.expected.check(&before.row.etag)?;
    let absent = |field: &&str| change.input.get(*field).is_some_and(Value::is_null);
    if let Some(field) = REQUIRED.into_iter().find(absent) {
        return Err(input::missing(field));
    }
    validate::canonical_zone(&mut change.input, "timeZone");
    let write = merge_patch::over(&before.body, &before.view()?, change.input, &[])?;
    let warnings = merge_patch::warnings(&write.unknown, change.strict)?;
    check(&write.body)?;
    let mut after = StoredSchedule { row: before.row.clone(), body: write.body };
    if let Some(metadata) = write.metadata {
        after.row.metadata = serde_json::to_string(&metadata)?;
    }
    let now = app.now();
    if after.body != before.body || after.row.metadata != before.row.metadata {
        after.row.updated_at = now.max(before.row.updated_at + 1);
        after.put()?;
        table::update(tx, &after.row).await?;
    }
    let mut printed = after.view()?;
    printed["warnings"] = Value::from(warnings);
    let answer = StoredResponse::ok(printed.to_string()).etag(&after.row.etag);
    attempt.store(tx, &app.keyring, &answer, now).await?;
    Ok(answer)
}

/// Deletes a schedule that no event type uses.
///
/// # Errors
/// 409 `invalid_state` for one in use, 403 `forbidden` if its event types have hosts that the key may not use.
pub async fn delete(cx: &WriteContext, id: &str, expected: ExpectedEtag) -> Result<StoredResponse> {
    let WriteContext { app, request: asker, attempt } = cx;
    find(app, asker, id).await?;
    let deletion = ScheduleDeletion {
        tenant: asker.tenant.clone(),
        id: id.to_owned(),
        bound_to: asker.bound_to().map(<[String]>::to_vec),
        expected,
    };
    let (held, attempt) = (app.clone(), attempt.clone());
    app.db.write(move |tx| Box::pin(async move { remove(tx, &held, &deletion, &attempt).await })).await
}

/// A requested deletion of a schedule.
#[derive(Clone)]
struct ScheduleDeletion {
    tenant: Tenant,
    id: String,
    /// As in `ScheduleChange`.
    bound_to: Option<Vec<String>>,
    expected: ExpectedEtag,
}

async fn remove(
    tx: &mut Tx,
    app: &App,
    deletion: &ScheduleDeletion,
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    let ScheduleDeletion { tenant, id, bound_to, expected } = deletion;
    let mut row = table::lock(tx, tenant, id).await?.ok_or_else(|| not_found("schedule"))?;
    ensure_own(tx, id, bound_to.as_deref()).await?;
    expected.check(&row.etag)?;
    if let Some(event_type_id) = table::used_by(tx, id).await? {
        // Contract silent: the code. A schedule is no container, so not `not_empty`.
        let message = format!("the event type {event_type_id} uses this schedule; give it another one first");
        return Err(refuse(Code::InvalidState, message));
    }
    let now = app.now();
    row.updated_at = now.max(row.updated_at + 1);
    row.deleted_at = Some(now);
    table::update(tx, &row).await?;
    let answer = StoredResponse::no_content();
    attempt.store(tx, &app.keyring, &answer, now).await?;
    Ok(answer)
}

/// Fails if the schedule does not exist. In the transaction that writes the event type: the schedule cannot be deleted before that ends.
pub async fn ensure_exists(tx: &mut Tx, tenant: &Tenant, id: Option<&str>) -> Result<()> {
    let Some(id) = id else { return Ok(()) };
    match table::lock(tx, tenant, id).await? {
        Some(_) => Ok(()),
        None => Err(unknown()),
    }
}

/// Copies the hours of an event type's shared schedule into its own `schedule`. Returns the etag of the shared one; none if it uses none.
pub async fn resolve(
    on: impl Into<On<'_>>,
    tenant: &Tenant,
    event_type: &mut EventType,
) -> Result<Option<String>> {
    let Some(id) = &event_type.schedule_id else { return Ok(None) };
    let Some(row) = table::find(on, tenant, id).await? else { return Ok(None) };
    event_type.schedule = Some(serde_json::from_str(&row.body)?);
    Ok(Some(row.etag))
}

/// Whether a schedule that `resolve` has read is unchanged.
pub async fn is_current(tx: &mut Tx, tenant: &Tenant, id: &str, etag: Option<&str>) -> Result<bool> {
    let row = table::find(tx, tenant, id).await?;
    Ok(row.as_ref().map(|row| row.etag.as_str()) == etag)
}
