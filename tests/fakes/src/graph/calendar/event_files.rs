//! Attachments of events: lists, single ones with their bytes, and those that clients add and remove. Changed instances have those of their
//! series.

use serde_json::{Value, json};

use crate::door::Reply;
use crate::graph::calendar::book::{EventItem, EventKey};
use crate::graph::calendar::places;
use crate::graph::call::{GraphCall, json_reply};
use crate::graph::errors::{GraphError, GraphResult};
use crate::graph::ids;
use crate::graph::mail::{StoredAttachment, attachment_members, attachment_select, read_new_attachment};
use crate::graph::state::GraphState;

/// Answers calls below `attachments` of an event.
pub fn answer(state: &mut GraphState, call: &GraphCall, key: EventKey, rest: &[&str]) -> GraphResult {
    let now_ms = state.clock.now_ms();
    match (call.method.as_str(), rest) {
        ("GET", []) => list(call, find_item(state, call, key)?),
        ("GET", [id]) => {
            let item = find_item(state, call, key)?;
            let value = entity(call, item, find_file(item, id)?)?;
            Ok(json_reply(200, &value))
        }
        ("POST", []) => {
            let item = editable_item(state, call, key)?;
            let new = read_new_attachment(next_number(item), &call.body)?;
            let number = new.number;
            add(item, new);
            places::book_mut(state, call)?.touch(key.number, now_ms);
            let item = find_item(state, call, key)?;
            let one = item.files.iter().find(|one| one.number == number).ok_or_else(GraphError::not_found)?;
            Ok(json_reply(201, &entity(call, item, one)?))
        }
        ("DELETE", [id]) => {
            let item = editable_item(state, call, key)?;
            let number = find_file(item, id)?.number;
            item.files.retain(|one| one.number != number);
            let has_files = !item.files.is_empty();
            item.members.insert("hasAttachments".to_owned(), has_files.into());
            places::book_mut(state, call)?.touch(key.number, now_ms);
            Ok(Reply::new(204))
        }
        _ => Err(GraphError::no_route(rest.last().unwrap_or(&"attachments"))),
    }
}

/// Adds an attachment to an event.
pub fn add(item: &mut EventItem, new: StoredAttachment) {
    item.files.push(new);
    item.members.insert("hasAttachments".to_owned(), true.into());
}

/// The number that the next attachment of an event gets.
pub fn next_number(item: &EventItem) -> u64 {
    item.files.iter().map(|one| one.number).max().unwrap_or(0) + 1
}

fn find_item<'s>(
    state: &'s GraphState,
    call: &GraphCall,
    key: EventKey,
) -> Result<&'s EventItem, GraphError> {
    places::book(state, call)?.items.get(&key.number).ok_or_else(GraphError::not_found)
}

/// The item of an event whose calendar may be changed.
fn editable_item<'s>(
    state: &'s mut GraphState,
    call: &GraphCall,
    key: EventKey,
) -> Result<&'s mut EventItem, GraphError> {
    let calendar = places::calendar_of(state, call, key)?;
    places::check_editable(places::book(state, call)?, &calendar)?;
    places::book_mut(state, call)?.items.get_mut(&key.number).ok_or_else(GraphError::not_found)
}

fn list(call: &GraphCall, item: &EventItem) -> GraphResult {
    let select = attachment_select(call.parameter("$select"))?;
    let shown = |one: &StoredAttachment| {
        attachment_members(one, id_of(call, item, one), item.modified_ms, select.as_deref())
    };
    let all: Vec<Value> = item.files.iter().map(shown).collect();
    Ok(json_reply(200, &json!({ "@odata.context": call.context("events('id')/attachments"), "value": all })))
}

/// One attachment with its context.
fn entity(call: &GraphCall, item: &EventItem, one: &StoredAttachment) -> Result<Value, GraphError> {
    let select = attachment_select(call.parameter("$select"))?;
    let mut value = attachment_members(one, id_of(call, item, one), item.modified_ms, select.as_deref());
    value["@odata.context"] = call.context("events('id')/attachments/$entity").into();
    Ok(value)
}

fn id_of(call: &GraphCall, item: &EventItem, one: &StoredAttachment) -> String {
    call.id_of(&format!("event-file-{}-{}", item.number, one.number), item.place)
}

/// The attachment of an event that an id names.
fn find_file<'i>(item: &'i EventItem, id: &str) -> Result<&'i StoredAttachment, GraphError> {
    let id = ids::parse_item(id)?;
    let number =
        id.key.strip_prefix(&format!("event-file-{}-", item.number)).and_then(|text| text.parse().ok());
    let number: u64 = number.filter(|_| id.is_at(item.place)).ok_or_else(GraphError::not_found)?;
    item.files.iter().find(|one| one.number == number).ok_or_else(GraphError::not_found)
}
