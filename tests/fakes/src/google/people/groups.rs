//! Groups of contacts and their members.

use serde_json::{Value, json};

use crate::google::call::{Call, MethodResult};
use crate::google::errors::ApiError;
use crate::google::people::book::{self, AddressBook, ChangeStamp, FeedRecord, GroupContent};
use crate::google::people::facts::PEOPLE;
use crate::google::people::feed::{FeedOrder, FeedRules, FeedWalk};
use crate::google::people::masks::FieldSet;
use crate::google::people::{contacts, errors, render};
use crate::google::state::State;

const GROUPS: FeedRules = FeedRules { name: "groups", usual: "groups_usual", is_weekly: false };

fn mask(text: Option<&str>, parameter: &str) -> Result<FieldSet, ApiError> {
    let mask = FieldSet::optional(text, parameter, "group")?;
    Ok(mask.unwrap_or_else(|| FieldSet::all("group_usual")))
}

/// `contactGroups.list`
pub fn list(state: &mut State, call: &Call) -> MethodResult {
    let mask = mask(call.parameter("groupFields"), "groupFields")?;
    let walk = FeedWalk::begin(state, call, GROUPS)?;
    let book: &AddressBook = state.people.entry(call.user.clone()).or_default();
    let batch = walk.page(book.groups.values(), FeedOrder::Name, |group| group.name.to_lowercase());
    let shown = batch.items.iter().map(|(record, version)| render::show_group(book, record, version, &mask));
    let shown: Vec<Value> = shown.collect();
    let mut body = json!({ "totalItems": batch.total });
    if !shown.is_empty() {
        body["contactGroups"] = shown.into();
    }
    if let Some(token) = batch.next_page {
        body["nextPageToken"] = token.into();
    }
    if let Some(token) = batch.next_sync {
        body["nextSyncToken"] = token.into();
    }
    Ok(Some(body))
}

/// `contactGroups.get`
pub fn get(state: &mut State, call: &Call) -> MethodResult {
    let mask = mask(call.parameter("groupFields"), "groupFields")?;
    let book: &AddressBook = state.people.entry(call.user.clone()).or_default();
    show_with_members(book, call.path("resourceName"), call, &mask).map(Some)
}

fn show_with_members(
    book: &AddressBook,
    name: &str,
    call: &Call,
    mask: &FieldSet,
) -> Result<Value, ApiError> {
    let record = book.group(name)?;
    let mut shown = render::show_group(book, record, record.latest(), mask);
    let most = call.parameter("maxMembers").and_then(|text| text.parse::<usize>().ok()).unwrap_or(0);
    let members: Vec<&str> = book.members(&record.id).into_iter().take(most).collect();
    if !members.is_empty() {
        shown["memberResourceNames"] = json!(members);
    }
    Ok(shown)
}

/// `contactGroups.batchGet`
pub fn get_batch(state: &mut State, call: &Call) -> MethodResult {
    let mask = mask(call.parameter("groupFields"), "groupFields")?;
    let book: &AddressBook = state.people.entry(call.user.clone()).or_default();
    let names =
        call.query.iter().filter(|(name, _)| name == "resourceNames").map(|(_, value)| value.as_str());
    let responses = names.map(|name| match show_with_members(book, name, call, &mask) {
        Ok(group) => json!({ "requestedResourceName": name, "contactGroup": group, "status": {} }),
        Err(error) => {
            json!({ "requestedResourceName": name, "status": { "code": 5, "message": error.message } })
        }
    });
    let responses: Vec<Value> = responses.collect();
    match (1..=PEOPLE.number("limits", "batch_get")).contains(&responses.len()) {
        true => Ok(Some(json!({ "responses": responses }))),
        false => Err(errors::invalid("From 1 to 200 resource names can be read at once.")),
    }
}

/// Checks the name of a group; `id` is the group that has it already.
fn check_name(book: &AddressBook, name: &str, id: Option<&str>) -> Result<(), ApiError> {
    if name.trim().is_empty() {
        return Err(errors::invalid("contactGroup.name is required."));
    }
    let mut others = book.groups.values().filter(|group| Some(group.id.as_str()) != id);
    let is_taken = others.any(|group| {
        let version = group.latest();
        !version.is_deleted && version.content.name == name
    });
    match is_taken {
        true => Err(errors::already_exists("Contact group name already exists.")),
        false => Ok(()),
    }
}

fn client_data(group: &Value) -> Vec<Value> {
    group["clientData"].as_array().cloned().unwrap_or_default()
}

/// `contactGroups.create`
pub fn create(state: &mut State, call: &Call) -> MethodResult {
    let mask = mask(call.body["readGroupFields"].as_str(), "readGroupFields")?;
    let given = &call.body["contactGroup"];
    let name = given["name"].as_str().unwrap_or_default();
    contacts::check_busy(state)?;
    let stamp = contacts::stamp(state);
    let book = state.people.entry(call.user.clone()).or_default();
    check_name(book, name, None)?;
    let id = insert(book, stamp, name, client_data(given));
    let record = book.group(&format!("contactGroups/{id}"))?;
    Ok(Some(render::show_group(book, record, record.latest(), &mask)))
}

/// Stores a new group of the user's; its id.
pub fn insert(book: &mut AddressBook, stamp: ChangeStamp, name: &str, client_data: Vec<Value>) -> String {
    let id = format!("{:x}", 0x10_0000_0000_u64 + stamp.number);
    let content = GroupContent {
        name: name.to_owned(),
        formatted_name: name.to_owned(),
        is_system: false,
        client_data,
    };
    book.groups.insert(id.clone(), FeedRecord::new(&id, stamp, content));
    id
}

/// The record of a group of the user's own.
fn own_group<'b>(
    book: &'b mut AddressBook,
    name: &str,
) -> Result<&'b mut FeedRecord<GroupContent>, ApiError> {
    let id = book.group(name)?.id.clone();
    let record = book.groups.get_mut(&id).ok_or_else(errors::not_found)?;
    match record.latest().content.is_system {
        true => Err(errors::invalid("System contact groups cannot be changed.")),
        false => Ok(record),
    }
}

/// `contactGroups.update`
pub fn update(state: &mut State, call: &Call) -> MethodResult {
    let mask = mask(call.body["readGroupFields"].as_str(), "readGroupFields")?;
    let fields =
        FieldSet::optional(call.body["updateGroupFields"].as_str(), "updateGroupFields", "group_update")?;
    let given = &call.body["contactGroup"];
    contacts::check_busy(state)?;
    let stamp = contacts::stamp(state);
    let book = state.people.entry(call.user.clone()).or_default();
    let resource_name = call.path("resourceName");
    let record = own_group(book, resource_name)?;
    if given["etag"].as_str().is_some_and(|etag| etag != render::group_etag(record.latest())) {
        return Err(errors::etag_differs(400, "contactGroup"));
    }
    let mut content = record.latest().content.clone();
    let id = record.id.clone();
    if fields.as_ref().is_none_or(|fields| fields.has("name")) {
        let name = given["name"].as_str().unwrap_or_default();
        check_name(book, name, Some(&id))?;
        name.clone_into(&mut content.name);
        name.clone_into(&mut content.formatted_name);
    }
    if fields.as_ref().is_some_and(|fields| fields.has("clientData")) {
        content.client_data = client_data(given);
    }
    own_group(book, resource_name)?.put(stamp, content);
    let record = book.group(resource_name)?;
    Ok(Some(render::show_group(book, record, record.latest(), &mask)))
}

/// `contactGroups.delete`
pub fn delete(state: &mut State, call: &Call) -> MethodResult {
    contacts::check_busy(state)?;
    let stamp = contacts::stamp(state);
    let book = state.people.entry(call.user.clone()).or_default();
    let record = own_group(book, call.path("resourceName"))?;
    record.delete(stamp);
    let id = record.id.clone();
    let members: Vec<String> = book.members(&id).into_iter().map(str::to_owned).collect();
    for member in members {
        let stamp = contacts::stamp(state);
        let book = state.people.entry(call.user.clone()).or_default();
        match call.is_set("deleteContacts") {
            true => book.person_mut(&member)?.delete(stamp),
            false => {
                change_membership(book, &member, MembershipChange { group: &id, joins: false }, stamp)?;
            }
        }
    }
    Ok(Some(json!({})))
}

/// The change of one membership.
#[derive(Clone, Copy)]
struct MembershipChange<'a> {
    group: &'a str,
    joins: bool,
}

/// Adds a person to a group or removes it; whether that could be done. The last membership cannot be removed, unless its group is gone:
/// then the person stays in `myContacts`.
fn change_membership(
    book: &mut AddressBook,
    person: &str,
    change: MembershipChange<'_>,
    stamp: ChangeStamp,
) -> Result<bool, ApiError> {
    let MembershipChange { group: id, joins } = change;
    let is_gone = book.groups.get(id).is_none_or(|group| group.latest().is_deleted);
    let record = book.person_mut(person)?;
    let mut content = record.latest().content.clone();
    let before: Vec<String> = content.groups().into_iter().map(str::to_owned).collect();
    let mut after: Vec<&str> = before.iter().map(String::as_str).filter(|one| *one != id).collect();
    if joins {
        after.push(id);
    }
    if after.is_empty() && !is_gone {
        return Ok(false);
    }
    if after.is_empty() {
        after.push("myContacts");
    }
    if before.len() != after.len() || !before.iter().all(|one| after.contains(&one.as_str())) {
        let memberships: Vec<Value> = after.into_iter().map(book::membership).collect();
        content.fields.insert("memberships".to_owned(), memberships.into());
        record.put(stamp, content);
    }
    Ok(true)
}

/// `contactGroups.members.modify`
pub fn modify_members(state: &mut State, call: &Call) -> MethodResult {
    let names = |member: &str| -> Vec<String> {
        let all = call.body[member].as_array().into_iter().flatten();
        all.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let (added, removed) = (names("resourceNamesToAdd"), names("resourceNamesToRemove"));
    if added.len() + removed.len() > PEOPLE.number("limits", "modified_members") {
        return Err(errors::invalid("At most 1000 members can be changed at once."));
    }
    contacts::check_busy(state)?;
    let book = state.people.entry(call.user.clone()).or_default();
    let group = book.group(call.path("resourceName"))?;
    let id = group.id.clone();
    if group.latest().content.is_system && !PEOPLE.has("groups", "joinable", &id) && !added.is_empty() {
        return Err(errors::invalid(&format!("Contacts cannot be added to contactGroups/{id}.")));
    }
    let (mut missing, mut stuck) = (Vec::new(), Vec::new());
    let wanted = added.iter().map(|name| (name, true)).chain(removed.iter().map(|name| (name, false)));
    for (name, joins) in wanted {
        let stamp = contacts::stamp(state);
        let book = state.people.entry(call.user.clone()).or_default();
        match change_membership(book, name, MembershipChange { group: &id, joins }, stamp) {
            Ok(true) => {}
            Ok(false) => stuck.push(name.clone()),
            Err(_) => missing.push(name.clone()),
        }
    }
    let mut body = json!({});
    if !missing.is_empty() {
        body["notFoundResourceNames"] = missing.into();
    }
    if !stuck.is_empty() {
        body["canNotRemoveLastContactGroupResourceNames"] = stuck.into();
    }
    Ok(Some(body))
}
