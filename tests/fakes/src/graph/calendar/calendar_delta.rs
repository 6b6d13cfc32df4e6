//! Deltas: of the events of a calendar, and of a view of it.

use std::collections::BTreeMap;

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use chrono::NaiveDateTime;
use serde_json::{Value, json};

use crate::graph::calendar::book::{CalendarBook, EventItem, EventKey, GraphCalendarKind};
use crate::graph::calendar::calendar_view::{self, ViewRange};
use crate::graph::calendar::instances::{self, EventType};
use crate::graph::calendar::places;
use crate::graph::calendar::show::EventReader;
use crate::graph::call::{GraphCall, json_reply};
use crate::graph::errors::{GraphError, GraphResult};
use crate::graph::facts;
use crate::graph::state::GraphState;

/// A walk through the changes of a calendar.
struct CalendarWalk {
    /// Changes behind this one belong to the round; 0 in the first one, which has no removals.
    base: u64,
    /// Changes behind this one are on the page.
    after: u64,
    /// The latest change when the round began.
    upper: u64,
    range: Option<ViewRange>,
}

impl CalendarWalk {
    fn to_token(&self, scope: &str) -> String {
        let range = self.range.map(|range| format!("{}|{}", range.from, range.to)).unwrap_or_default();
        let text = format!("{scope}|{}|{}|{}|{range}", self.base, self.after, self.upper);
        BASE64_URL_SAFE_NO_PAD.encode(text)
    }

    /// Parses what `to_token` writes; none where it is of another scope.
    fn parse(scope: &str, token: &str) -> Option<CalendarWalk> {
        let text = String::from_utf8(BASE64_URL_SAFE_NO_PAD.decode(token).ok()?).ok()?;
        let mut parts = text.strip_prefix(scope)?.strip_prefix('|')?.split('|');
        let mut number = || parts.next()?.parse::<u64>().ok();
        let (base, after, upper) = (number()?, number()?, number()?);
        let mut time = || NaiveDateTime::parse_from_str(parts.next()?, "%Y-%m-%d %H:%M:%S%.f").ok();
        let range = time().and_then(|from| Some(ViewRange { from, to: time()? }));
        Some(CalendarWalk { base, after, upper, range })
    }
}

/// `GET …/events/delta`: series and events that stand alone, with few members.
pub fn events(state: &mut GraphState, call: &GraphCall, calendar: &str) -> GraphResult {
    if state.traps.is_on("events_delta_refused") {
        return Err(GraphError::new(400, "ErrorInvalidRequest", "This change tracking is not supported."));
    }
    let is_range_needed = state.traps.is_on("events_delta_needs_range");
    let scope = format!("events:{calendar}");
    let walk = begin(state, call, &scope, calendar)?;
    if is_range_needed && walk.range.is_none() {
        calendar_view::needed_range(call)?;
    }
    let book = places::book(state, call)?;
    let reader = EventReader::new(book, call)?;
    let mut changes: BTreeMap<u64, Vec<Value>> = BTreeMap::new();
    for item in changed_items(book, calendar, &walk) {
        let is_in =
            walk.range.is_none_or(|range| !instances::in_range(item, range.from, range.to).is_empty());
        if is_in {
            changes.entry(item.changed).or_default().push(reader.brief(&instances::whole(item)));
        }
    }
    add_removals(book, calendar, &walk, &reader, &mut changes);
    Ok(json_reply(200, &page(call, &scope, walk, changes)))
}

/// `GET …/calendarView/delta`: events in the range in full, series with stubs of their occurrences. An event that changed and is not in the
/// range is a removal, and so is one that never was in it; a cancelled occurrence is none.
pub fn view(state: &mut GraphState, call: &GraphCall, calendar: &str) -> GraphResult {
    let scope = format!("view:{calendar}");
    let walk = begin(state, call, &scope, calendar)?;
    let range = match walk.range {
        Some(range) => range,
        None => calendar_view::needed_range(call)?,
    };
    let book = places::book(state, call)?;
    let reader = EventReader::new(book, call)?;
    let mut changes: BTreeMap<u64, Vec<Value>> = BTreeMap::new();
    for item in changed_items(book, calendar, &walk) {
        let shapes = instances::in_range(item, range.from, range.to);
        let listed = changes.entry(item.changed).or_default();
        if shapes.is_empty() {
            if walk.base > 0 {
                listed.push(removal(&reader, item.key()));
            }
            continue;
        }
        if item.series.is_some() {
            listed.push(in_full(&reader, &instances::whole(item)));
        }
        listed.extend(shapes.iter().map(|shape| match shape.kind {
            EventType::Occurrence => reader.stub(shape),
            _ => in_full(&reader, shape),
        }));
    }
    add_removals(book, calendar, &walk, &reader, &mut changes);
    Ok(json_reply(200, &page(call, &scope, walk, changes)))
}

fn in_full(reader: &EventReader<'_>, shape: &instances::EventShape<'_>) -> Value {
    let mut event = reader.show(shape);
    event["@odata.type"] = "#microsoft.graph.event".into();
    event
}

fn removal(reader: &EventReader<'_>, key: EventKey) -> Value {
    json!({
        "@odata.type": "#microsoft.graph.event",
        "id": reader.id(key),
        "@removed": { "reason": "deleted" },
    })
}

/// Begins a round, or goes on with one by its token.
fn begin(
    state: &mut GraphState,
    call: &GraphCall,
    scope: &str,
    calendar: &str,
) -> Result<CalendarWalk, GraphError> {
    for name in ["$select", "$expand", "$filter", "$orderby", "$search"] {
        if call.parameter(name).is_some() {
            let message = format!("The query parameter {name} is not supported by a delta of events.");
            return Err(GraphError::new(400, "ErrorInvalidUrlQuery", &message));
        }
    }
    let token = call.parameter("$deltatoken").or_else(|| call.parameter("$skiptoken")).map(str::to_owned);
    if token.is_some() && state.traps.fires("calendar_delta_expired") {
        return Err(expired());
    }
    let book = places::book(state, call)?;
    if !book.calendars.contains_key(calendar) {
        return Err(GraphError::not_found());
    }
    let Some(token) = token else {
        let range = ViewRange::read(call)?;
        return Ok(CalendarWalk { base: 0, after: 0, upper: book.latest(), range });
    };
    let mut walk = CalendarWalk::parse(scope, &token)
        .ok_or_else(|| GraphError::new(400, "SyncStateInvalid", "The sync state is invalid."))?;
    if walk.upper < book.oldest_token {
        return Err(expired());
    }
    if call.parameter("$deltatoken").is_some() {
        walk = CalendarWalk { base: walk.upper, after: walk.upper, upper: book.latest(), range: walk.range };
    }
    Ok(walk)
}

fn expired() -> GraphError {
    GraphError::new(
        410,
        "SyncStateNotFound",
        "The sync state generation is not found; a full sync is required.",
    )
    .inner("syncStateNotFound")
}

fn is_readable(book: &CalendarBook, calendar: &str) -> bool {
    book.calendars.get(calendar).is_some_and(|home| home.kind != GraphCalendarKind::Foreign)
}

/// The items of a calendar that changed within the page's part of the round.
fn changed_items<'b>(book: &'b CalendarBook, calendar: &str, walk: &CalendarWalk) -> Vec<&'b EventItem> {
    let is_readable = is_readable(book, calendar);
    let is_on_page = |item: &EventItem| {
        item.calendar == calendar && walk.after < item.changed && item.changed <= walk.upper
    };
    book.items.values().filter(|item| is_readable && is_on_page(item)).collect()
}

/// Adds the events that the calendar has no longer, in every round but the first.
fn add_removals(
    book: &CalendarBook,
    calendar: &str,
    walk: &CalendarWalk,
    reader: &EventReader<'_>,
    changes: &mut BTreeMap<u64, Vec<Value>>,
) {
    let is_back = |number: u64| book.items.get(&number).is_some_and(|item| item.calendar == calendar);
    let removals = book.removals.iter().filter(|removal| {
        removal.calendar == calendar && walk.after < removal.changed && removal.changed <= walk.upper
    });
    for gone in removals.filter(|gone| walk.base > 0 && !is_back(gone.key.number)) {
        changes.entry(gone.changed).or_default().push(removal(reader, gone.key));
    }
}

/// A page: whole changes until there are as many items as wanted.
fn page(call: &GraphCall, scope: &str, walk: CalendarWalk, changes: BTreeMap<u64, Vec<Value>>) -> Value {
    let size = call.delta_page(
        facts::number("calendar_pages", "delta_usual"),
        facts::number("calendar_pages", "delta_most"),
    );
    let mut value: Vec<Value> = Vec::new();
    let mut last = walk.after;
    let mut has_more = false;
    for (changed, items) in changes {
        if value.len() >= size {
            has_more = true;
            break;
        }
        value.extend(items);
        last = changed;
    }
    let link = match has_more {
        true => call.token_link("$skiptoken", &CalendarWalk { after: last, ..walk }.to_token(scope)),
        false => call.token_link("$deltatoken", &walk.to_token(scope)),
    };
    let name = if has_more { "@odata.nextLink" } else { "@odata.deltaLink" };
    let mut body = json!({ "@odata.context": call.context("events"), "value": value });
    body[name] = link.into();
    body
}

#[cfg(test)]
mod tests {
    use super::CalendarWalk;
    use crate::graph::calendar::calendar_view::ViewRange;
    use crate::graph::calendar::zones::parse_bound;

    #[test]
    fn a_token_has_the_walk_in_it() {
        let bound = |text: &str| parse_bound(text).expect("a time");
        let range = ViewRange { from: bound("2026-03-01"), to: bound("2026-04-01T12:30:00") };
        for range in [Some(range), None] {
            let token = CalendarWalk { base: 1, after: 2, upper: 3, range }.to_token("view");
            let walk = CalendarWalk::parse("view", &token).expect("a walk");
            assert_eq!((walk.base, walk.after, walk.upper, walk.range), (1, 2, 3, range));
            assert!(CalendarWalk::parse("events", &token).is_none());
        }
    }
}
