//! Create, change, delete. The provider is called first, with its own version of the event if the caller requires ours; `reconcile` stores
//! its answer.

use base::error::{Code, Result, invalid};
use base::input::merge_patch;
use model::calendar::{Event, EventType};
use model::resource::Body;
use model::wire::calendar::{EventDelete, EventTarget, EventWrite, Notify, RecurrenceScope};
use serde_json::{Map, Value};

use crate::app::resource_kind::ResourceKind;
use crate::app::stored_response::StoredResponse;
use crate::connections::provider_call::{ProviderChange, ProviderWrite, call_deletion, call_provider};
use crate::connections::write_context::WriteContext;
use crate::local_copy::render;
use crate::resources::collection_items::own_connection;
use crate::resources::collections::open_to_write;
use crate::resources::events::open::{EventPath, EventToWrite};
use crate::resources::events::target::{WriteTarget, aim, aimed};
use crate::resources::events::{input, times};
use crate::writes::conflict::conflict;
use crate::writes::etag::ExpectedEtag;
use crate::writes::item_response::answer;
use crate::writes::open_collection::OpenCollection;
use crate::writes::reconcile::reconcile;
use crate::writes::response::{GoneView, ItemView, ResponseChange};

/// Options of an event write.
#[derive(Clone, Debug)]
pub struct EventWriteOptions {
    pub expected: ExpectedEtag,
    pub notify: Notify,
    pub scope: Option<RecurrenceScope>,
    /// Refuses unknown fields, and a `notify` that the provider cannot do.
    pub strict: bool,
}

/// Makes an event.
pub async fn create(
    cx: &WriteContext,
    calendar_id: &str,
    mut input: Map<String, Value>,
    manner: EventWriteOptions,
) -> Result<StoredResponse> {
    let opened = open_to_write(cx, ResourceKind::Calendar, calendar_id).await?;
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
    let call = ProviderChange::new(opened.kind.surface(), "events.create", &args);
    let mut done = call_provider(cx, &opened.account, call).await?;
    let change = ResponseChange { status: 201, metadata: write.metadata, warnings };
    let view = ItemView::new(&mut done, change)?;
    reconcile(cx, opened.location(), done, view).await
}

/// Changes an event, an instance, or a series.
pub async fn update(
    cx: &WriteContext,
    path: EventPath<'_>,
    mut input: Map<String, Value>,
    manner: EventWriteOptions,
) -> Result<StoredResponse> {
    let _one = cx.app.locks.lock(&path.lock_name()).await;
    let mut target = EventToWrite::open(cx, path).await?;
    let named = target.current(cx).await?;
    let opened = &target.opened;
    let aim = aim(&cx.app, &cx.request, &named, manner.scope).await?;
    let printed: Value = serde_json::from_str(&render::item(&aim.versioned, &[], true))?;
    times::normalise(&mut input, Some(&aim.current), &opened.zone)?;
    let write = merge_patch::over(&aim.current, &printed, input, Event::CREATE_ONLY)?;
    let warnings = merge_patch::warnings(&write.unknown, manner.strict)?;
    let is_done = write.changed.is_empty();
    if !(cx.attempt.resumed && is_done) {
        manner.expected.check(&aim.versioned.etag)?;
    }
    let change = ResponseChange { status: 200, metadata: write.metadata, warnings };
    if is_done {
        return respond_unchanged(cx, opened, aim, change).await;
    }
    let event = aimed(&aim, write.body, &write.changed)?;
    input::valid(&event, &write.changed, &aim.current)?;
    let args = EventWrite {
        collection: opened.collection.external_id.clone(),
        time_zone: Some(opened.zone.clone()),
        target: aim.expecting(&manner.expected),
        event,
        changed: write.changed,
        notify: manner.notify,
        strict: manner.strict,
    };
    let call = ProviderChange::new(opened.kind.surface(), "events.update", &args);
    let mut done = match call_provider(cx, &opened.account, call).await {
        Ok(done) => done,
        Err(e) => return Err(conflict(cx, opened, &aim.conflicting(), e).await),
    };
    let view = ItemView::new(&mut done, change)?;
    reconcile(cx, opened.location(), done, view).await
}

async fn respond_unchanged(
    cx: &WriteContext,
    opened: &OpenCollection,
    aim: WriteTarget,
    change: ResponseChange,
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
    let view = ItemView::from_item(&aim.versioned, change);
    reconcile(cx, opened.location(), ProviderWrite::nothing(), view).await
}

/// Deletes an event, an instance (which leaves an exclusion in the series), or a series.
pub async fn delete(
    cx: &WriteContext,
    path: EventPath<'_>,
    manner: EventWriteOptions,
) -> Result<StoredResponse> {
    let _one = cx.app.locks.lock(&path.lock_name()).await;
    let mut target = EventToWrite::open(cx, path).await?;
    let named = match target.current(cx).await {
        // An earlier attempt has deleted the event.
        Err(e) if cx.attempt.resumed && e.code() == Some(Code::NotFound) => {
            return Ok(StoredResponse::no_content());
        }
        other => other?,
    };
    let opened = &target.opened;
    let aim = aim(&cx.app, &cx.request, &named, manner.scope).await?;
    manner.expected.check(&aim.versioned.etag)?;
    let args = EventDelete {
        collection: opened.collection.external_id.clone(),
        time_zone: Some(opened.zone.clone()),
        target: aim.expecting(&manner.expected),
        notify: manner.notify,
        strict: manner.strict,
    };
    let call = ProviderChange::new(opened.kind.surface(), "events.delete", &args);
    let changed = aim.conflicting();
    let mut done = match call_deletion(cx, &opened.account, call, &changed.source_id).await {
        Ok(done) => done,
        Err(e) => return Err(conflict(cx, opened, &changed, e).await),
    };
    let view = GoneView { warnings: done.take_warnings()? };
    reconcile(cx, opened.location(), done, view).await
}
