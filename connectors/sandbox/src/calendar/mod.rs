//! The calendar surface.

mod events;
mod freebusy;

use connector_sdk::{Answer, Calendar as CalendarSurface, Context, Failure, Outcome};
use model::Instant;
use model::calendar::{Calendar, Event};
use model::wire::calendar::{
    CalendarFeatures, EventConference, EventDelete, EventRespond, EventWrite, FreeBusyAnswer, FreeBusyRequest,
};
use model::wire::{
    ChangesRequest, CollectionDelete, CollectionWrite, Item, Mutated, Source, SourceRef, Sources,
};
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use crate::collections::{self, Collection};
use crate::connector::Sandbox;
use crate::items::{self, Record, deleted_source, parsed, survive, text};
use crate::native::Envelope;

/// The members of an event record beside those of the resource: its series and its changed instances; and the required members.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct EventParts {
    start: Option<Instant>,
    end: Option<Instant>,
    series_id: Option<String>,
    exceptions: Vec<Box<RawValue>>,
}

impl Collection for Calendar {
    const PATH: &'static str = "calendars";
    const NAME: &'static str = "calendar";
}

impl Record for Event {
    const PATH: [&'static str; 2] = ["calendars", "events"];
    const NAME: &'static str = "event";

    /// Converts a single event, or a series with its exceptions, to one source, because it has one etag. In a calendar whose exceptions are
    /// separate records each of them is a source too.
    fn source(record: &RawValue) -> Outcome<Source> {
        let envelope: Envelope = parsed(record, Self::NAME)?;
        if envelope.deleted {
            return Ok(Source { etag: envelope.etag, ..deleted_source(&envelope.id) });
        }
        let parts: EventParts = parsed(record, Self::NAME)?;
        let mut items = vec![event_item(record, &parts, parts.series_id.as_deref())?];
        for exception in &parts.exceptions {
            items.push(event_item(exception, &parsed(exception, Self::NAME)?, Some(&envelope.id))?);
        }
        Ok(Source { external_id: envelope.id, etag: envelope.etag, items, ..Source::default() })
    }
}

fn event_item(record: &RawValue, parts: &EventParts, series: Option<&str>) -> Outcome<Item> {
    let envelope: Envelope = parsed(record, Event::NAME)?;
    let event: Event = parsed(record, Event::NAME)?;
    survive(Event::NAME, &envelope.id, event.title.as_deref());
    if parts.start.is_none() || parts.end.is_none() {
        return Err(Failure::unavailable("the provider's event has no start or no end"));
    }
    Ok(Item {
        external_id: envelope.id,
        series_external_id: series.map(str::to_owned),
        body: text(&event)?,
        provider_data: Some(json!({ "createdAt": envelope.created_at, "updatedAt": envelope.updated_at })),
        ..Item::default()
    })
}

impl CalendarSurface for Sandbox {
    fn list_calendars(context: &Context, _: ChangesRequest) -> Outcome<Answer<Sources>> {
        collections::list::<Calendar>(context)
    }

    fn get_event(context: &Context, args: SourceRef) -> Outcome<Sources> {
        items::get::<Event>(context, &args.collection, &args.source)
    }

    fn free_busy(context: &Context, args: FreeBusyRequest) -> Outcome<FreeBusyAnswer> {
        freebusy::free_busy(context, &args)
    }

    fn features(_: &Context) -> Outcome<CalendarFeatures> {
        Ok(freebusy::features())
    }

    fn create_calendar(context: &Context, args: CollectionWrite<Calendar>) -> Outcome<Mutated> {
        collections::create::<Calendar>(context, &args)
    }

    fn update_calendar(context: &Context, args: CollectionWrite<Calendar>) -> Outcome<Mutated> {
        collections::update::<Calendar>(context, &args)
    }

    fn delete_calendar(context: &Context, args: CollectionDelete) -> Outcome<Mutated> {
        collections::delete::<Calendar>(context, &args)
    }

    fn create_event(context: &Context, args: EventWrite) -> Outcome<Mutated> {
        events::create(context, &args)
    }

    fn update_event(context: &Context, args: EventWrite) -> Outcome<Mutated> {
        events::update(context, &args)
    }

    fn delete_event(context: &Context, args: EventDelete) -> Outcome<Mutated> {
        events::delete(context, &args)
    }

    fn respond(context: &Context, args: EventRespond) -> Outcome<Mutated> {
        events::respond(context, &args)
    }

    fn conference(context: &Context, args: EventConference) -> Outcome<Mutated> {
        events::conference(context, &args)
    }

    fn changes(context: &Context, args: ChangesRequest) -> Outcome<Answer<Sources>> {
        items::changes::<Event>(context, &args)
    }
}
