//! Event types: created, listed, changed and deleted, each with its slug and its idempotent answer in one transaction. The key that saves
//! one must be allowed to use its hosts, because from then on others book them.

use base::error::{Code, Error, Result, invalid, not_found, refuse};
use base::ids::{self, Kind};
use base::input::merge_patch;
use model::scheduling::event_type::EventType;
use serde_json::{Map, Value};
use storage::Tx;
use storage::scheduling::event_types as table;
use storage::scheduling::event_types::EventTypeRow;
use storage::scheduling::links::{self, LinkRow};

use crate::app::App;
use crate::app::event_log::{self, NewLogEntry, Origin};
use crate::app::stored_response::{IdempotentAttempt, StoredResponse};
use crate::bookings::{event_type_rights, hosts, input, rotation, rules, schedules, view};
use crate::connections::request_context::RequestContext;
use crate::connections::write_context::WriteContext;
use crate::sync::subscribe::Subscriptions;
use crate::writes::etag::ExpectedEtag;

/// Required fields of an event type.
const REQUIRED: [&str; 4] = ["slug", "title", "durationMinutes", "hosts"];
/// Attempts of a change that conflicts with other changes.
const MAX_ATTEMPTS: usize = 5;

/// An event type with its parsed body.
#[derive(Clone)]
pub struct StoredEventType {
    pub row: EventTypeRow,
    pub body: EventType,
}

impl StoredEventType {
    fn read(row: EventTypeRow) -> Result<StoredEventType> {
        let body = serde_json::from_str(&row.body)?;
        Ok(StoredEventType { row, body })
    }

    fn hosts(&self) -> Vec<String> {
        self.body.hosts.iter().map(|host| host.connection_id.clone()).collect()
    }
}

/// An event type whose accounts the key may all use; `not_found` otherwise.
// Contract silent: what a key that is bound to connections has of an event type that also acts on others. Nothing: a key that changes what
// an account does or sends must be allowed to use the account.
pub async fn find(app: &App, asker: &RequestContext, id: &str) -> Result<StoredEventType> {
    let found = read(app, asker, id).await?;
    if may_see(asker, &found) { Ok(found) } else { Err(not_found("event type")) }
}

/// An event type for booking: the key may use all of its hosts. The account that it sends mail from is not checked.
pub async fn find_to_book(app: &App, asker: &RequestContext, id: &str) -> Result<StoredEventType> {
    let found = read(app, asker, id).await?;
    let is_seen = asker.sees(found.body.hosts.iter().map(|host| &host.connection_id));
    if is_seen { Ok(found) } else { Err(not_found("event type")) }
}

async fn read(app: &App, asker: &RequestContext, id: &str) -> Result<StoredEventType> {
    if !ids::is_plausible(id) {
        return Err(not_found("event type"));
    }
    let row = table::find(app.db.reader(), &asker.tenant, id).await?;
    StoredEventType::read(row.ok_or_else(|| not_found("event type"))?)
}

fn etag(row: &EventTypeRow) -> Result<String> {
    view::etag(&(&row.id, row.version, &row.body, &row.metadata))
}

fn may_see(asker: &RequestContext, stored: &StoredEventType) -> bool {
    // One that has lost its last host stays invisible to keys that are bound to connections.
    asker.bound_to().is_none()
        || (!stored.body.hosts.is_empty() && asker.sees(view::accounts_of_event_type(&stored.body)))
}

/// At most `limit` event types that the key sees, by id, after an id.
pub async fn list(
    app: &App,
    asker: &RequestContext,
    after_id: &str,
    limit: usize,
) -> Result<Vec<StoredEventType>> {
    let rows_at_a_time = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut found = Vec::new();
    let mut after = after_id.to_owned();
    while found.len() < limit {
        let rows = table::list(app.db.reader(), &asker.tenant, &after, rows_at_a_time).await?;
        let is_last = rows.len() < limit;
        after = rows.last().map_or(after, |row| row.id.clone());
        for row in rows {
            let stored = StoredEventType::read(row)?;
            if may_see(asker, &stored) {
                found.push(stored);
            }
        }
        if is_last {
            break;
        }
    }
    found.truncate(limit);
    Ok(found)
}

/// Creates an event type.
pub async fn create(cx: &WriteContext, input: Map<String, Value>, strict: bool) -> Result<StoredResponse> {
    let WriteContext { app, request: asker, attempt } = cx;
    let absent = |field: &&str| matches!(input.get(*field), None | Some(Value::Null));
    if let Some(field) = REQUIRED.into_iter().find(absent) {
        return Err(input::missing(field));
    }
    let notifications = input.get("notifications").cloned();
    let write = merge_patch::over(&EventType::default(), &Value::Null, input, &[])?;
    let mut warnings = merge_patch::warnings(&write.unknown, strict)?;
    let mut body = write.body;
    rules::name_zones(&mut body);
    input::check(&body)?;
    event_type_rights::ensure_new(asker, notifications.as_ref(), &body)?;
    let hosts::HostCheck { begun, senders, time_zones } = hosts::check(app, asker, &mut body, &[]).await?;
    hosts::check_sender(app, asker, &body).await?;
    warnings.extend(event_type_rights::settle_mail(asker, &mut body, &senders)?);
    schedules::ensure_seen(app, asker, body.schedule_id.as_deref()).await?;
    warnings.extend(input::default_hours(&mut body, &time_zones));
    warnings.extend(input::never_open(&body));
    let now = app.now();
    let mut row = EventTypeRow {
        id: app.new_id(Kind::EventType),
        tenant: asker.tenant.clone(),
        body: serde_json::to_string(&body)?,
        schedule_id: body.schedule_id.clone(),
        metadata: serde_json::to_string(&write.metadata.unwrap_or_default())?,
        etag: String::new(),
        version: 1,
        rotation_since: now,
        deleted_at: None,
        created_at: now,
        updated_at: now,
    };
    row.etag = etag(&row)?;
    let new = StoredEventType { row, body };
    let (held, attempt) = (app.clone(), attempt.clone());
    app.db
        .write(move |tx| Box::pin(async move { insert(tx, &held, &new, &begun, &warnings, &attempt).await }))
        .await
}

async fn insert(
    tx: &mut Tx,
    app: &App,
    new: &StoredEventType,
    begun: &hosts::StartedSubscriptions,
    warnings: &[Value],
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    let following = Subscriptions::lock(tx, &new.row.tenant, &begun.calendars).await?;
    schedules::ensure_exists(tx, &new.row.tenant, new.row.schedule_id.as_deref()).await?;
    table::insert(tx, &new.row).await?;
    if begun.has_more {
        table::set_calendars_due(tx, &new.row.id, Some(new.row.updated_at)).await?;
    }
    table::set_hosts(tx, &new.row, &new.hosts()).await?;
    take_slug(tx, new).await?;
    let mut printed = view::event_type(&new.row, &new.body)?;
    log_change(tx, app, new, "created", None, Some(printed.to_string())).await?;
    following.write(tx, app, &new.row.tenant).await?;
    printed["warnings"] = Value::from(warnings);
    let answer = StoredResponse::created(printed.to_string())
        .etag(&new.row.etag)
        .header("location", format!("/v1/scheduling/event-types/{}", new.row.id));
    attempt.store(tx, &app.keyring, &answer, new.row.updated_at).await?;
    Ok(answer)
}

async fn take_slug(tx: &mut Tx, stored: &StoredEventType) -> Result<()> {
    let link = LinkRow {
        slug: stored.body.slug.clone(),
        tenant: stored.row.tenant.clone(),
        event_type_id: stored.row.id.clone(),
        is_primary: true,
        uses_left: None,
        expires_at: None,
        created_at: stored.row.updated_at,
    };
    if links::insert(tx, &link).await? {
        return Ok(());
    }
    let message = "slug: another event type of this application has it; choose another one";
    Err(invalid(Code::AlreadyExists, "slug", message))
}

/// Changes an event type. Existing bookings stay as they are.
pub async fn update(
    cx: &WriteContext,
    id: &str,
    input: Map<String, Value>,
    expected: ExpectedEtag,
    strict: bool,
) -> Result<StoredResponse> {
    let WriteContext { app, request: asker, attempt } = cx;
    for _ in 0..MAX_ATTEMPTS {
        let before = find(app, asker, id).await?;
        expected.check(&before.row.etag)?;
        let planned = plan(app, asker, before, input.clone(), strict).await?;
        let (held, attempt) = (app.clone(), attempt.clone());
        let written: Result<Option<StoredResponse>> =
            app.db.write(move |tx| Box::pin(async move { write(tx, &held, &planned, &attempt).await })).await;
        // None: it was changed in the meantime, so the change is planned again on the current row.
        if let Some(answer) = written? {
            return Ok(answer);
        }
    }
    Err(too_busy())
}

fn too_busy() -> Error {
    refuse(Code::Overloaded, "the event type is being changed all the time; try again")
}

/// A change that is not written yet.
#[derive(Clone)]
struct PlannedEventType {
    before: StoredEventType,
    after: StoredEventType,
    changed: Vec<String>,
    warnings: Vec<Value>,
    /// Calendars of its hosts to subscribe to.
    begun: hosts::StartedSubscriptions,
}

async fn plan(
    app: &App,
    asker: &RequestContext,
    before: StoredEventType,
    input: Map<String, Value>,
    strict: bool,
) -> Result<PlannedEventType> {
    let printed = view::event_type(&before.row, &before.body)?;
    let absent = |field: &&str| input.get(*field).is_some_and(Value::is_null);
    if let Some(field) = REQUIRED.into_iter().find(absent) {
        return Err(input::missing(field));
    }
    let write = merge_patch::over(&before.body, &printed, input, &[])?;
    let mut warnings = merge_patch::warnings(&write.unknown, strict)?;
    let mut after = StoredEventType { row: before.row.clone(), body: write.body };
    rules::name_zones(&mut after.body);
    input::check(&after.body)?;
    event_type_rights::ensure_change(asker, &before.body, &after.body)?;
    let mut begun = hosts::StartedSubscriptions::default();
    if event_type_rights::changes_accounts(&before.body, &after.body) {
        begun = hosts::check(app, asker, &mut after.body, &before.body.hosts).await?.begun;
    }
    if after.body.notifications.connection_id != before.body.notifications.connection_id {
        hosts::check_sender(app, asker, &after.body).await?;
    }
    if after.body.schedule_id != before.body.schedule_id {
        schedules::ensure_seen(app, asker, after.body.schedule_id.as_deref()).await?;
    }
    warnings.extend(input::never_open(&after.body));
    let mut changed = write.changed;
    if let Some(metadata) = write.metadata {
        after.row.metadata = serde_json::to_string(&metadata)?;
        if after.row.metadata != before.row.metadata {
            changed.push("metadata".to_owned());
        }
    }
    after.row.body = serde_json::to_string(&after.body)?;
    after.row.schedule_id.clone_from(&after.body.schedule_id);
    if rotation::weights(&after.body) != rotation::weights(&before.body) {
        after.row.rotation_since = app.now();
    }
    if after.row != before.row {
        after.row.version += 1;
        after.row.updated_at = app.now().max(before.row.updated_at + 1);
        after.row.etag = etag(&after.row)?;
    }
    Ok(PlannedEventType { before, after, changed, warnings, begun })
}

/// Writes a change and its answer; none if the event type was changed since the change was planned.
async fn write(
    tx: &mut Tx,
    app: &App,
    planned: &PlannedEventType,
    attempt: &IdempotentAttempt,
) -> Result<Option<StoredResponse>> {
    let PlannedEventType { before, after, changed, warnings, begun } = planned;
    let Some(found) = table::lock(tx, &before.row.tenant, &before.row.id).await? else {
        return Err(not_found("event type"));
    };
    if found.version != before.row.version {
        return Ok(None);
    }
    let following = Subscriptions::lock(tx, &after.row.tenant, &begun.calendars).await?;
    let mut printed = view::event_type(&after.row, &after.body)?;
    if after.row != before.row {
        if after.row.schedule_id != before.row.schedule_id {
            schedules::ensure_exists(tx, &after.row.tenant, after.row.schedule_id.as_deref()).await?;
        }
        table::update(tx, &after.row).await?;
        if after.body.hosts != before.body.hosts {
            table::set_hosts(tx, &after.row, &after.hosts()).await?;
        }
        if after.body.slug != before.body.slug {
            links::delete_primary(tx, &after.row.id).await?;
            take_slug(tx, after).await?;
        }
        log_change(tx, app, after, "updated", Some(changed.clone()), Some(printed.to_string())).await?;
    }
    if begun.has_more || (after.body.active && !before.body.active) {
        // Its hosts have more calendars than are subscribed to at once, or some from before subscriptions existed
        // (`bookings::calendar_subscriptions`).
        table::set_calendars_due(tx, &after.row.id, Some(after.row.updated_at)).await?;
    }
    following.write(tx, app, &after.row.tenant).await?;
    printed["warnings"] = Value::from(warnings.as_slice());
    let answer = StoredResponse::ok(printed.to_string()).etag(&after.row.etag);
    attempt.store(tx, &app.keyring, &answer, app.now()).await?;
    Ok(Some(answer))
}

/// Deletes an event type: it can no longer be booked, and its slug is free. Its bookings stay.
pub async fn delete(cx: &WriteContext, id: &str, expected: ExpectedEtag) -> Result<StoredResponse> {
    let WriteContext { app, request: asker, attempt } = cx;
    for _ in 0..MAX_ATTEMPTS {
        let before = find(app, asker, id).await?;
        expected.check(&before.row.etag)?;
        let (held, attempt) = (app.clone(), attempt.clone());
        let deleted: Result<Option<StoredResponse>> = app
            .db
            .write(move |tx| Box::pin(async move { remove(tx, &held, &before.row, &attempt).await }))
            .await;
        if let Some(answer) = deleted? {
            return Ok(answer);
        }
    }
    Err(too_busy())
}

async fn remove(
    tx: &mut Tx,
    app: &App,
    before: &EventTypeRow,
    attempt: &IdempotentAttempt,
) -> Result<Option<StoredResponse>> {
    let Some(mut row) = table::lock(tx, &before.tenant, &before.id).await? else {
        return Err(not_found("event type"));
    };
    if row.version != before.version {
        return Ok(None);
    }
    let now = app.now();
    row.version += 1;
    row.updated_at = now;
    row.deleted_at = Some(now);
    table::update(tx, &row).await?;
    table::set_hosts(tx, &row, &[]).await?;
    links::delete_all(tx, &row.id).await?;
    log_change(tx, app, &StoredEventType::read(row)?, "deleted", None, None).await?;
    let answer = StoredResponse::no_content();
    attempt.store(tx, &app.keyring, &answer, now).await?;
    Ok(Some(answer))
}

/// Logs the change: `created`, `updated` or `deleted`, with the changed fields and the resulting event type.
async fn log_change(
    tx: &mut Tx,
    app: &App,
    stored: &StoredEventType,
    change: &'static str,
    changed_fields: Option<Vec<String>>,
    resource: Option<String>,
) -> Result<()> {
    let StoredEventType { row, body } = stored;
    let note = NewLogEntry {
        connection_id: None,
        account_ids: Some(view::accounts_of_event_type(body).cloned().collect()),
        entry_type: format!("event_type.{change}"),
        change_type: change,
        resource_type: "event_type",
        resource_id: row.id.clone(),
        parent_id: String::new(),
        changed_fields,
        etag: resource.as_ref().map(|_| row.etag.clone()),
        origin: Origin::Api,
        resource,
    };
    event_log::append(tx, app, &row.tenant, vec![note]).await?;
    Ok(())
}
