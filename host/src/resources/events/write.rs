//! Create, change, delete. The provider is asked first, with its own version of the event where the caller insisted on ours;
//! `settle` stores what it answers.

use base::error::{Code, Result, invalid};
use base::input::merge_patch;
use model::calendar::{Event, EventType};
use model::wire::Mutated;
use model::wire::calendar::{EventDelete, EventTarget, EventWrite, Notify, RecurrenceScope};
use serde_json::{Map, Value};
use storage::log;

use crate::app::App;
use crate::app::resource_kind::ResourceKind;
use crate::app::stored_response::{IdempotentAttempt, StoredResponse};
use crate::connections::provider_call::mutate;
use crate::connections::request_context::RequestContext;
use crate::local_copy::render;
use crate::resources::collection_items::own_connection;
use crate::resources::collections::open_to_write;
use crate::resources::events::target::{WriteTarget, aim, aimed};
use crate::resources::events::{input, named, times};
use crate::sync::ensure_fresh;
use crate::writes::etag::ExpectedEtag;
use crate::writes::item_response::answer;
use crate::writes::open_collection::OpenCollection;
use crate::writes::reconcile::{ProviderWrite, commit, commit_warned_deletion, conflict, done, gone};
use crate::writes::response::ResponseChange;

/// How a write is to be done, beside what is written.
#[derive(Clone, Debug)]
pub struct EventWriteOptions {
    pub expected: ExpectedEtag,
    pub notify: Notify,
    pub scope: Option<RecurrenceScope>,
    /// What nobody knows is refused, and what the provider cannot do about `notify`.
    pub strict: bool,
}

/// Makes an event.
pub async fn create(
    app: &App,
    asker: &RequestContext,
    calendar_id: &str,
    mut input: Map<String, Value>,
    manner: EventWriteOptions,
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    let opened = open_to_write(app, asker, (ResourceKind::Calendar, calendar_id)).await?;
    own_connection(&mut input, &opened)?;
    times::normalise(&mut input, None, &opened.zone)?;
    let mut write = merge_patch::over(&Event::default(), &Value::Null, input, &[])?;
    input::valid(&write.body, &write.changed, &Event::default())?;
    if !write.body.recurrence.is_empty() {
        write.body.event_type = EventType::Series;
    }
    write.body.busy = write.body.derived_busy();
    let warnings = merge_patch::warnings(&write.unknown, manner.strict)?;
    let args = EventWrite {
        collection: opened.collection.external_id.clone(),
        time_zone: Some(opened.zone.clone()),
        target: EventTarget::default(),
        event: write.body,
        changed: write.changed,
        notify: manner.notify,
        strict: manner.strict,
    };
    let done = done(app, &opened, asker, attempt, "events.create", &args).await?;
    let change = ResponseChange { status: 201, metadata: write.metadata, warnings };
    commit(app, &opened, asker, done, change, attempt).await
}

/// Changes an event, an instance, or a series.
pub async fn update(
    app: &App,
    asker: &RequestContext,
    (calendar_id, event_id): (&str, &str),
    mut input: Map<String, Value>,
    manner: EventWriteOptions,
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    let opened = open_to_write(app, asker, (ResourceKind::Calendar, calendar_id)).await?;
    let _one = app.locks.lock(&lock_name(event_id)).await;
    ensure_fresh(app, &opened.connection, &crate::sync::scope::scope(&opened.collection)?, attempt.resumed)
        .await?;
    let named = named(app, asker, calendar_id, event_id).await?;
    let aim = aim(app, asker, &named, manner.scope).await?;
    let printed: Value = serde_json::from_str(&render::item(&aim.versioned, &[], true))?;
    times::normalise(&mut input, Some(&aim.current), &opened.zone)?;
    let write = merge_patch::over(&aim.current, &printed, input, &["iCalUid", "conference"])?;
    let warnings = merge_patch::warnings(&write.unknown, manner.strict)?;
    let is_done = write.changed.is_empty();
    if !(attempt.resumed && is_done) {
        manner.expected.check(&aim.versioned.etag)?;
    }
    let change = ResponseChange { status: 200, metadata: write.metadata, warnings };
    if is_done {
        return unchanged(app, asker, &opened, aim, change, attempt).await;
    }
    let event = aimed(&aim, write.body, &write.changed)?;
    input::valid(&event, &write.changed, &aim.current)?;
    let args = EventWrite {
        collection: opened.collection.external_id.clone(),
        time_zone: Some(opened.zone.clone()),
        target: EventTarget { if_match: manner.expected.provider_etag(&aim.versioned), ..aim.target },
        event,
        changed: write.changed,
        notify: manner.notify,
        strict: manner.strict,
    };
    match done(app, &opened, asker, attempt, "events.update", &args).await {
        Ok(done) => commit(app, &opened, asker, done, change, attempt).await,
        Err(e) => Err(conflict(app, asker, &opened, &named.item(), e).await),
    }
}

/// Instances and their series change under one lock: they are one object at the provider.
fn lock_name(event_id: &str) -> String {
    let stem: Vec<&str> = event_id.splitn(3, '_').take(2).collect();
    format!("item:{}", stem.join("_"))
}

async fn unchanged(
    app: &App,
    asker: &RequestContext,
    opened: &OpenCollection,
    aim: WriteTarget,
    change: ResponseChange,
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    let is_computed = aim.series.as_ref().is_some_and(|(s, _)| s.etag == aim.versioned.etag);
    if is_computed && change.metadata.is_some() {
        let message =
            "an occurrence has no metadata of its own; change the series' or change the instance first";
        return Err(invalid(Code::InvalidParameter, "metadata", message));
    }
    if is_computed {
        return Ok(answer(200, &aim.versioned, &change.warnings));
    }
    let done = ProviderWrite::nothing(&aim.versioned.external_id);
    commit(app, opened, asker, done, change, attempt).await
}

/// Deletes an event, an instance (which leaves an exclusion in the series), or a series.
pub async fn delete(
    app: &App,
    asker: &RequestContext,
    (calendar_id, event_id): (&str, &str),
    manner: EventWriteOptions,
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    let opened = open_to_write(app, asker, (ResourceKind::Calendar, calendar_id)).await?;
    let _one = app.locks.lock(&lock_name(event_id)).await;
    ensure_fresh(app, &opened.connection, &crate::sync::scope::scope(&opened.collection)?, attempt.resumed)
        .await?;
    let named = match named(app, asker, calendar_id, event_id).await {
        // An earlier attempt got as far as this.
        Err(e) if attempt.resumed && e.code() == Some(Code::NotFound) => {
            return Ok(StoredResponse::no_content());
        }
        other => other?,
    };
    let aim = aim(app, asker, &named, manner.scope).await?;
    manner.expected.check(&aim.versioned.etag)?;
    let args = EventDelete {
        collection: opened.collection.external_id.clone(),
        time_zone: Some(opened.zone.clone()),
        target: EventTarget { if_match: manner.expected.provider_etag(&aim.versioned), ..aim.target },
        notify: manner.notify,
        strict: manner.strict,
    };
    let as_of = log::last_sequence(app.db.reader(), &asker.tenant).await?;
    let deleted =
        mutate(app, &opened.connection, asker, attempt, (opened.kind.surface(), "events.delete"), &args)
            .await;
    let mutated = match deleted {
        Ok(mutated) => mutated,
        // Somebody else deleted it first: that is what was asked for.
        Err(e) if e.code() == Some(Code::NotFound) => {
            Mutated { sources: vec![gone(&aim.versioned.source_id)], ..Mutated::default() }
        }
        Err(e) => return Err(conflict(app, asker, &opened, &named.item(), e).await),
    };
    commit_warned_deletion(app, &opened, asker, ProviderWrite { mutated, as_of }, attempt).await
}
