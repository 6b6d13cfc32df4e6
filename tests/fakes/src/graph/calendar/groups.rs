//! Groups of calendars.

use serde_json::{Value, json};

use crate::door::Reply;
use crate::graph::calendar::book::CalendarGroup;
use crate::graph::calendar::calendars;
use crate::graph::calendar::places;
use crate::graph::call::{GraphCall, PageSizes, json_reply};
use crate::graph::errors::{GraphError, GraphResult};
use crate::graph::facts;
use crate::graph::ids;
use crate::graph::state::GraphState;

fn shown(group: &CalendarGroup) -> Value {
    json!({
        "@odata.etag": ids::etag(group.changed),
        "id": group.id,
        "name": group.name,
        "classId": "0006f0b7-0000-0000-c000-000000000046",
        "changeKey": ids::change_key(group.changed),
    })
}

/// Carries out a call of `/me/calendarGroups`; `rest` is what is behind that segment.
///
/// # Errors
/// The path is unknown, or the call is refused.
pub fn answer(state: &mut GraphState, call: &GraphCall, rest: &[&str]) -> GraphResult {
    match (call.method.as_str(), rest) {
        ("GET", []) => list(state, call),
        ("POST", []) => create(state, call),
        ("GET", [id]) => entity(call, 200, find(state, call, id)?),
        ("PATCH", [id]) => rename(state, call, id),
        ("DELETE", [id]) => delete(state, call, id),
        ("GET", [id, "calendars"]) => calendars::list(state, call, Some(*id)),
        ("POST", [id, "calendars"]) => {
            find(state, call, id)?;
            calendars::create(state, call, Some(*id))
        }
        (_, rest) => Err(GraphError::no_route(rest.last().copied().unwrap_or("calendarGroups"))),
    }
}

fn find<'s>(state: &'s GraphState, call: &GraphCall, id: &str) -> Result<&'s CalendarGroup, GraphError> {
    places::book(state, call)?.groups.get(id).ok_or_else(GraphError::not_found)
}

fn entity(call: &GraphCall, status: u16, group: &CalendarGroup) -> GraphResult {
    let mut body = call.select(shown(group));
    body["@odata.context"] = call.context("calendarGroups/$entity").into();
    Ok(json_reply(status, &body))
}

fn list(state: &mut GraphState, call: &GraphCall) -> GraphResult {
    let items = places::book(state, call)?.groups.values().map(shown).collect();
    let usual = facts::number("calendar_pages", "calendars_usual");
    let sizes = PageSizes { usual, most: facts::number("calendar_pages", "most") };
    Ok(json_reply(200, &call.page("calendarGroups", items, sizes)?))
}

fn create(state: &mut GraphState, call: &GraphCall) -> GraphResult {
    let name = call.body["name"].as_str().filter(|name| !name.is_empty());
    let name = name.ok_or_else(|| GraphError::bad_request("The group of calendars has no name."))?;
    let id = places::book_mut(state, call)?.add_group(name, false);
    entity(call, 201, find(state, call, &id)?)
}

fn rename(state: &mut GraphState, call: &GraphCall, id: &str) -> GraphResult {
    let book = places::book_mut(state, call)?;
    let changed = book.next_change();
    let group = book.groups.get_mut(id).ok_or_else(GraphError::not_found)?;
    if let Some(name) = call.body["name"].as_str() {
        group.name = name.to_owned();
        group.changed = changed;
    }
    entity(call, 200, group)
}

fn delete(state: &mut GraphState, call: &GraphCall, id: &str) -> GraphResult {
    let book = places::book_mut(state, call)?;
    let is_default = book.groups.get(id).ok_or_else(GraphError::not_found)?.is_default;
    if is_default || book.calendars.values().any(|calendar| calendar.group == id) {
        let message = "The group of calendars is not empty, or is the default one.";
        return Err(GraphError::new(400, "ErrorCalendarGroupNotEmpty", message));
    }
    book.groups.remove(id);
    Ok(Reply::new(204))
}
