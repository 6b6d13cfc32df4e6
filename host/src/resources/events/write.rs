//! Create, change, delete. The provider is asked first, with its own version of the event where the caller insisted on ours;
//! `settle` stores what it answers.

use model::calendar::{Calendar, Event, EventType};
use model::wire::calendar::{EventDelete, EventTarget, EventWrite, Notify, RecurrenceScope};
use model::wire::{Mutated, SourceRef, Sources};
use serde_json::{Map, Value};

use crate::answer::{Answer, Attempt};
use crate::app::App;
use crate::error::{Code, Error, Result, invalid, refuse};
use crate::log::Origin;
use crate::resources::apply::{self, Place};
use crate::resources::commit::{self, Change, prepared};
use crate::resources::events::aim::{Aim, aim, aimed};
use crate::resources::events::settle::{Done, commit, commit_deletion, done};
use crate::resources::events::{Named, input, named, times};
use crate::resources::{Asker, Expected, Kind, answer, calendars, fetch, mutate, patch, render, stale};
use crate::storage::connections::Connection;
use crate::storage::items::{self, Item};
use crate::storage::log;
use crate::sync::ensure_fresh;

/// How a write is to be done, beside what is written.
#[derive(Clone, Debug)]
pub struct Manner {
    pub expected: Expected,
    pub notify: Notify,
    pub scope: Option<RecurrenceScope>,
    pub strict: bool,
}

/// Where an event is written.
pub struct Opened {
    pub connection: Connection,
    pub calendar: Item,
    /// The calendar's zone, or the account's, or UTC.
    pub zone: String,
}

/// Opens a calendar for writing.
pub async fn open(app: &App, asker: &Asker, calendar_id: &str) -> Result<Opened> {
    let (connection, calendar) = calendars::open(app, asker, calendar_id, "calendar.write").await?;
    let body: Calendar = serde_json::from_str(&calendar.body)?;
    if body.read_only {
        return Err(refuse(
            Code::CapabilityNotSupported,
            "this calendar is read-only for the connected account",
        ));
    }
    let zone = body.time_zone.or_else(|| connection.time_zone.clone()).unwrap_or_else(|| "UTC".to_owned());
    Ok(Opened { connection, calendar, zone })
}

impl Opened {
    /// Where what the provider answers is written.
    pub fn place(&self) -> Place {
        commit::place(&self.connection, Kind::Event, &self.calendar.id)
    }
}

/// Makes an event.
pub async fn create(
    app: &App,
    asker: &Asker,
    calendar_id: &str,
    mut input: Map<String, Value>,
    manner: Manner,
    attempt: &Attempt,
) -> Result<Answer> {
    let opened = open(app, asker, calendar_id).await?;
    match input.remove("connectionId") {
        None | Some(Value::Null) => {}
        Some(Value::String(id)) if id == opened.connection.id => {}
        Some(_) => {
            let message = "connectionId is not the connection of this calendar; leave it out or correct it";
            return Err(invalid(Code::InvalidParameter, "connectionId", message));
        }
    }
    times::normalise(&mut input, None, &opened.zone)?;
    let mut write = patch::over(&Event::default(), &Value::Null, input, &[])?;
    input::check(&write.body)?;
    if !write.body.recurrence.is_empty() {
        write.body.event_type = EventType::Series;
    }
    write.body.busy = write.body.derived_busy();
    let warnings = patch::warnings(&write.unknown, manner.strict)?;
    let args = EventWrite {
        collection: opened.calendar.external_id.clone(),
        time_zone: Some(opened.zone.clone()),
        target: EventTarget::default(),
        event: write.body,
        changed: write.changed,
        notify: manner.notify,
    };
    let done = done(app, &opened, asker, attempt, "events.create", &args).await?;
    let change = Change { status: 201, metadata: write.metadata, warnings };
    commit(app, &opened, asker, done, change, attempt).await
}

/// Changes an event, an instance, or a series.
pub async fn update(
    app: &App,
    asker: &Asker,
    (calendar_id, event_id): (&str, &str),
    mut input: Map<String, Value>,
    manner: Manner,
    attempt: &Attempt,
) -> Result<Answer> {
    let opened = open(app, asker, calendar_id).await?;
    let _one = app.locks.lock(&lock_name(event_id)).await;
    ensure_fresh(app, &opened.connection, &calendars::scope(&opened.calendar)?, attempt.resumed).await?;
    let named = named(app, asker, calendar_id, event_id).await?;
    let aim = aim(app, asker, &named, manner.scope).await?;
    let printed: Value = serde_json::from_str(&render::item(&aim.versioned, &[], true))?;
    times::normalise(&mut input, Some(&aim.current), &opened.zone)?;
    let write = patch::over(&aim.current, &printed, input, &["iCalUid", "conference"])?;
    let warnings = patch::warnings(&write.unknown, manner.strict)?;
    let is_done = write.changed.is_empty();
    if !(attempt.resumed && is_done) {
        manner.expected.check(&aim.versioned.etag)?;
    }
    let change = Change { status: 200, metadata: write.metadata, warnings };
    if is_done {
        return unchanged(app, asker, &opened, aim, change, attempt).await;
    }
    let event = aimed(&aim, write.body, &write.changed)?;
    input::check(&event)?;
    let args = EventWrite {
        collection: opened.calendar.external_id.clone(),
        time_zone: Some(opened.zone.clone()),
        target: EventTarget { if_match: manner.expected.provider_etag(&aim.versioned), ..aim.target },
        event,
        changed: write.changed,
        notify: manner.notify,
    };
    match done(app, &opened, asker, attempt, "events.update", &args).await {
        Ok(done) => commit(app, &opened, asker, done, change, attempt).await,
        Err(e) => Err(conflict(app, asker, &opened, &named, e).await),
    }
}

/// Instances and their series change under one lock: they are one object at the provider.
fn lock_name(event_id: &str) -> String {
    let stem: Vec<&str> = event_id.splitn(3, '_').take(2).collect();
    format!("item:{}", stem.join("_"))
}

async fn unchanged(
    app: &App,
    asker: &Asker,
    opened: &Opened,
    aim: Aim,
    change: Change,
    attempt: &Attempt,
) -> Result<Answer> {
    let is_computed = aim.series.as_ref().is_some_and(|(s, _)| s.etag == aim.versioned.etag);
    if is_computed && change.metadata.is_some() {
        let message =
            "an occurrence has no metadata of its own; change the series' or change the instance first";
        return Err(invalid(Code::InvalidParameter, "metadata", message));
    }
    if is_computed {
        return Ok(answer(200, &aim.versioned, &change.warnings));
    }
    let done = Done::nothing(&aim.versioned.external_id);
    commit(app, opened, asker, done, change, attempt).await
}

/// The provider had another version: read it, so that the caller gets the etag that is true now.
async fn conflict(app: &App, asker: &Asker, opened: &Opened, named: &Named, e: Error) -> Error {
    if e.code() != Some(Code::StaleEtag) {
        return e;
    }
    match reread(app, asker, opened, named).await {
        Ok(Some(etag)) => stale(&etag),
        Ok(None) => refuse(Code::NotFound, "no such event"),
        Err(failed) => {
            tracing::warn!(error = %failed, "the current version could not be read");
            e
        }
    }
}

async fn reread(app: &App, asker: &Asker, opened: &Opened, named: &Named) -> Result<Option<String>> {
    let item = named.item();
    let args = SourceRef {
        collection: opened.calendar.external_id.clone(),
        source: item.source_id.clone(),
        time_zone: Some(opened.zone.clone()),
    };
    let as_of = log::last_sequence(app.db.reader(), &asker.tenant).await?;
    let read: Result<Sources> = fetch(app, &opened.connection, asker, "events.get", &args).await;
    let sources = match read {
        Ok(sources) => sources.sources,
        Err(e) if e.code() == Some(Code::NotFound) => {
            vec![model::wire::Source { external_id: item.source_id, deleted: true, ..Default::default() }]
        }
        Err(e) => return Err(e),
    };
    let prepared = prepared(Kind::Event, sources);
    let place = Place { origin: Origin::Provider, ..opened.place() };
    let (app, tenant) = (app.clone(), opened.connection.tenant.clone());
    let id = item.id.splitn(3, '_').take(2).collect::<Vec<_>>().join("_");
    app.clone()
        .db
        .write(move |tx| {
            Box::pin(async move {
                // Overtaken by a pull: then that is the current version, or the next pull has it.
                let _ = apply::apply_read(tx, &app, &place, &prepared, as_of).await?;
                let current = items::find_for_write(tx, &tenant, &id).await?;
                Ok::<_, Error>(current.filter(|i| i.deleted_at.is_none()).map(|i| i.etag))
            })
        })
        .await
}

/// Deletes an event, an instance (which leaves an exclusion in the series), or a series.
pub async fn delete(
    app: &App,
    asker: &Asker,
    (calendar_id, event_id): (&str, &str),
    manner: Manner,
    attempt: &Attempt,
) -> Result<Answer> {
    let opened = open(app, asker, calendar_id).await?;
    let _one = app.locks.lock(&lock_name(event_id)).await;
    ensure_fresh(app, &opened.connection, &calendars::scope(&opened.calendar)?, attempt.resumed).await?;
    let named = match named(app, asker, calendar_id, event_id).await {
        // An earlier attempt got as far as this.
        Err(e) if attempt.resumed && e.code() == Some(Code::NotFound) => return Ok(Answer::no_content()),
        other => other?,
    };
    let aim = aim(app, asker, &named, manner.scope).await?;
    manner.expected.check(&aim.versioned.etag)?;
    let args = EventDelete {
        collection: opened.calendar.external_id.clone(),
        time_zone: Some(opened.zone.clone()),
        target: EventTarget { if_match: manner.expected.provider_etag(&aim.versioned), ..aim.target },
        notify: manner.notify,
    };
    let as_of = log::last_sequence(app.db.reader(), &asker.tenant).await?;
    let deleted = mutate(app, &opened.connection, asker, attempt, "events.delete", &args).await;
    let mutated = match deleted {
        Ok(mutated) => mutated,
        Err(e) if e.code() == Some(Code::NotFound) => gone(&aim.versioned),
        Err(e) => return Err(conflict(app, asker, &opened, &named, e).await),
    };
    commit_deletion(app, &opened, asker, Done { mutated, as_of }, attempt).await
}

/// Somebody else deleted it first: that is what was asked for.
fn gone(item: &Item) -> Mutated {
    let source =
        model::wire::Source { external_id: item.source_id.clone(), deleted: true, ..Default::default() };
    Mutated { sources: vec![source], ..Mutated::default() }
}
