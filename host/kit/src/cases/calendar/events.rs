//! Events as the kit writes them.

use model::wire::calendar::{EventDelete, EventWrite};
use model::wire::{Item, Mutated, Source};
use runtime::Surface;
use serde_json::{Value, json};

use crate::bench::{Bench, Outcome, failed};
use crate::surface_bench::{Collection, ItemChange, ItemKind, main_item, merged, supported, whole_args};

/// The zone of the kit's events. Its clocks go forward on 29 March 2026 at 2:00 local time.
pub const ZONE: &str = "Europe/Berlin";

/// The operations on events.
pub static EVENTS: ItemKind = ItemKind {
    surface: Surface::Calendar,
    item: "event",
    collection: "calendar",
    list_op: "calendars.list",
    changes_op: "events",
    get_op: "events.get",
    create_op: "events.create",
    update_op: "events.update",
    delete_op: "events.delete",
    name: "title",
    other: "description",
    body: event,
    write,
    delete,
};

fn event(title: &str) -> Value {
    json!({
        "title": title,
        "description": "first line\nsecond line, with ünïcödé",
        "location": "Room 1",
        "start": "2026-03-10T09:00:00.000Z",
        "end": "2026-03-10T10:00:00.000Z",
        "timeZone": ZONE,
    })
}

fn write(calendar: &Collection, change: ItemChange) -> Value {
    whole_args::<EventWrite>(json!({
        "collection": calendar.id,
        "timeZone": calendar.body["timeZone"],
        "target": { "source": change.source, "ifMatch": change.if_match },
        "event": change.body,
        "changed": change.changed,
        "notify": "none",
        "strict": false,
    }))
}

fn delete(calendar: &Collection, id: &str) -> Value {
    whole_args::<EventDelete>(json!({
        "collection": calendar.id,
        "timeZone": calendar.body["timeZone"],
        "target": { "source": id },
        "notify": "none",
        "strict": false,
    }))
}

/// A series from `start` on, an hour each time.
pub fn series(title: &str, start: &str, end: &str, recurrence: &[&str]) -> Value {
    let times = json!({ "start": start, "end": end, "timeZone": ZONE, "recurrence": recurrence });
    merged(&event(title), &times)
}

/// A series with its changed instances: those in its source, and, where this one is not among them, those that are sources of their own.
pub async fn read_series(
    bench: &mut Bench,
    calendar: &Collection,
    id: &str,
    instance: &Instance,
) -> Outcome<Source> {
    let mut source = bench.read_item(&EVENTS, calendar, id).await?;
    let Some(name) = main_item(&source).map(|item| item.external_id.clone()) else { return Ok(source) };
    if instance.find_exception(&source).is_some() {
        return Ok(source);
    }
    let pages = bench.items(&EVENTS, calendar, 0, None).await?;
    let others = pages.iter().flat_map(|page| &page.sources.sources).filter(|other| other.external_id != id);
    let names_it = |item: &&Item| item.series_external_id.as_deref() == Some(name.as_str());
    source.items.extend(others.flat_map(|other| &other.items).filter(names_it).cloned());
    Ok(source)
}

/// An instance of a series.
pub struct Instance {
    /// Its original local start, in the zone of the series.
    pub local: &'static str,
    /// The same as an instant.
    pub start: &'static str,
    pub end: &'static str,
}

impl Instance {
    /// The arguments of a write that is for this instance, or for this and all later ones.
    pub fn target(&self, mut args: Value, scope: &str) -> Value {
        args["target"]["recurrenceId"] = json!(self.local);
        args["target"]["originalStart"] = json!(self.start);
        args["target"]["scope"] = json!(scope);
        args
    }

    /// The item of a source that is this instance, changed.
    pub fn find_exception<'a>(&self, source: &'a Source) -> Option<(&'a Item, Value)> {
        let read = |item: &'a Item| Some((item, item.body.read::<Value>().ok()?));
        source.items.iter().filter_map(read).find(|(_, event)| event["recurrenceId"] == self.local)
    }

    /// Returns the exception of this instance; a source without it ends the case.
    pub fn exception<'a>(&self, source: &'a Source) -> Outcome<(&'a Item, Value)> {
        match self.find_exception(source) {
            Some(found) => Ok(found),
            None => failed(
                format!("the instance {} was changed, and the calendar has no exception for it", self.local),
                "each changed instance is an item with recurrenceId (original local start, YYYY-MM-DDTHH:MM:SS in the series' zone) and seriesExternalId, in the source of its series or in one of its own",
            ),
        }
    }

    /// Changes these fields of this instance, with the scope `this`.
    pub async fn change(
        &self,
        bench: &mut Bench,
        calendar: &Collection,
        source: &Source,
        fields: &Value,
        key: &str,
    ) -> Outcome<Mutated> {
        let own = json!({
            "type": "exception",
            "start": self.start,
            "end": self.end,
            "recurrenceId": self.local,
            "originalStart": self.start,
            "recurrence": [],
        });
        let mut change = ItemChange::update(source, fields);
        change.body = merged(&merged(&change.body, &own), fields);
        let args = self.target(write(calendar, change), "this");
        let changed = bench.calls.mutate(EVENTS.surface, EVENTS.update_op, &args, key).await;
        supported(changed, "a change of one instance")
    }
}
