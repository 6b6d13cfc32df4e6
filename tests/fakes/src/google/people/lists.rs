//! Lists of contacts and of other contacts.

use serde_json::{Value, json};

use crate::google::call::{Call, MethodResult};
use crate::google::people::book::{AddressBook, PersonContent};
use crate::google::people::errors;
use crate::google::people::feed::{FeedBatch, FeedOrder, FeedRules, FeedWalk};
use crate::google::people::masks::{FieldSet, SourceSet};
use crate::google::people::render::PersonView;
use crate::google::state::State;

const CONNECTIONS: FeedRules = FeedRules { name: "connections", usual: "connections_usual", is_weekly: true };
const OTHERS: FeedRules = FeedRules { name: "others", usual: "others_usual", is_weekly: true };

/// `people.connections.list`
pub fn list_connections(state: &mut State, call: &Call) -> MethodResult {
    if call.path("resourceName") != "people/me" {
        return Err(errors::invalid("Only the connections of people/me can be listed."));
    }
    let mask = FieldSet::required(call.parameter("personFields"), "personFields", "person")?;
    let sources = SourceSet::from_call(call, SourceSet::BOTH);
    let walk = FeedWalk::begin(state, call, CONNECTIONS)?;
    let order = match call.parameter("sortOrder") {
        Some("LAST_MODIFIED_DESCENDING") => FeedOrder::NewestFirst,
        Some("FIRST_NAME_ASCENDING" | "LAST_NAME_ASCENDING") => FeedOrder::Name,
        _ => FeedOrder::OldestFirst,
    };
    let is_last_first = call.parameter("sortOrder") == Some("LAST_NAME_ASCENDING");
    let name = |content: &PersonContent| sort_name(content, is_last_first);
    let book = state.people.entry(call.user.clone()).or_default();
    let batch = walk.page(book.people.values(), order, name);
    let is_delta = call.parameter("syncToken").is_some();
    let view = PersonView { mask: &mask, sources, is_list: true, is_delta, source: "CONTACT" };
    let mut body = page(&batch, "connections", &view);
    if !is_delta {
        body["totalItems"] = batch.total.into();
        body["totalPeople"] = batch.total.into();
    }
    Ok(Some(body))
}

/// `otherContacts.list`
pub fn list_others(state: &mut State, call: &Call) -> MethodResult {
    let sources = SourceSet::from_call(call, SourceSet::CONTACT);
    if sources.has_profile && !sources.has_contact {
        let message = "READ_SOURCE_TYPE_PROFILE cannot be read without READ_SOURCE_TYPE_CONTACT.";
        return Err(errors::invalid(message));
    }
    let allowed = if sources.has_profile { "person" } else { "other" };
    let mask = FieldSet::required(call.parameter("readMask"), "readMask", allowed)?;
    let walk = FeedWalk::begin(state, call, OTHERS)?;
    let book: &AddressBook = state.people.entry(call.user.clone()).or_default();
    let batch = walk.page(book.others.values(), FeedOrder::OldestFirst, |_| String::new());
    let is_delta = call.parameter("syncToken").is_some();
    let view = PersonView { mask: &mask, sources, is_list: true, is_delta, source: "OTHER_CONTACT" };
    let mut body = page(&batch, "otherContacts", &view);
    if !is_delta {
        body["totalSize"] = batch.total.into();
    }
    Ok(Some(body))
}

/// The body of a page. An empty list is left out, as all defaults are.
fn page(batch: &FeedBatch<'_, PersonContent>, member: &str, view: &PersonView<'_>) -> Value {
    let people: Vec<Value> =
        batch.items.iter().map(|(record, version)| view.show(&record.id, version)).collect();
    let mut body = json!({});
    if !people.is_empty() {
        body[member] = people.into();
    }
    if let Some(token) = &batch.next_page {
        body["nextPageToken"] = token.clone().into();
    }
    if let Some(token) = &batch.next_sync {
        body["nextSyncToken"] = token.clone().into();
    }
    body
}

fn sort_name(content: &PersonContent, is_last_first: bool) -> String {
    let name = content.fields.get("names").map(|names| &names[0]);
    let part = |member: &str| name.and_then(|name| name[member].as_str()).unwrap_or_default().to_lowercase();
    match is_last_first {
        true => format!("{} {}", part("familyName"), part("givenName")),
        false => format!("{} {}", part("givenName"), part("familyName")),
    }
}
