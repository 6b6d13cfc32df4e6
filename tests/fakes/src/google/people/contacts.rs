//! Contacts: read, create, change and delete them.

use serde_json::{Map, Value, json};

use crate::google::call::{Call, MethodResult};
use crate::google::errors::ApiError;
use crate::google::people::book::{
    self, ChangeStamp, FeedRecord, FeedVersion, PersonContent, ProfileContent,
};
use crate::google::people::facts::PEOPLE;
use crate::google::people::masks::{FieldSet, SourceSet};
use crate::google::people::render::{self, PersonView};
use crate::google::people::{checks, errors};
use crate::google::state::State;

/// The number and the time of a new change.
pub fn stamp(state: &mut State) -> ChangeStamp {
    ChangeStamp { number: state.next_change(), at_ms: state.clock.now_ms() }
}

/// The error of a write that begins while another one is under way.
///
/// # Errors
/// The trap is on: 409.
pub fn check_busy(state: &mut State) -> Result<(), ApiError> {
    match state.traps.fires("people_busy") {
        true => Err(errors::aborted()),
        false => Ok(()),
    }
}

/// `people.get`
pub fn get(state: &mut State, call: &Call) -> MethodResult {
    let mask = FieldSet::required(call.parameter("personFields"), "personFields", "person")?;
    if state.traps.fires("critical_reads") {
        return Err(errors::quota("Critical read requests (contact and profile reads)"));
    }
    let sources = SourceSet::from_call(call, SourceSet::BOTH);
    find(state, call, call.path("resourceName"), &PersonView::single(&mask, sources)).map(Some)
}

/// `people.getBatchGet`
pub fn get_batch(state: &mut State, call: &Call) -> MethodResult {
    let mask = FieldSet::required(call.parameter("personFields"), "personFields", "person")?;
    let names: Vec<&str> = call
        .query
        .iter()
        .filter(|(name, _)| name == "resourceNames")
        .map(|(_, value)| value.as_str())
        .collect();
    let most = PEOPLE.number("limits", "batch_get");
    if names.is_empty() || names.len() > most {
        return Err(errors::invalid(&format!("From 1 to {most} resource names can be read at once.")));
    }
    let sources = SourceSet::from_call(call, SourceSet::BOTH);
    let view = PersonView::single(&mask, sources);
    let responses = names.into_iter().map(|name| match find(state, call, name, &view) {
        Ok(person) => {
            json!({ "requestedResourceName": name, "person": person, "httpStatusCode": 200, "status": {} })
        }
        Err(error) => json!({ "requestedResourceName": name, "httpStatusCode": error.status,
            "status": { "code": 5, "message": error.message } }),
    });
    let responses: Vec<Value> = responses.collect();
    Ok(Some(json!({ "responses": responses })))
}

fn find(state: &State, call: &Call, name: &str, view: &PersonView<'_>) -> Result<Value, ApiError> {
    if name == "people/me" {
        return own_profile(state, call, view);
    }
    let book = state.people.get(&call.user).ok_or_else(errors::not_found)?;
    let record = book.person(name)?;
    Ok(view.show(&record.id, record.latest()))
}

/// The profile of the user who calls.
fn own_profile(state: &State, call: &Call, view: &PersonView<'_>) -> Result<Value, ApiError> {
    let user = state.users.get(&call.user).ok_or_else(errors::not_found)?;
    let mut fields = Map::new();
    let (given, family) = user.name.rsplit_once(' ').unwrap_or((user.name.as_str(), ""));
    fields.insert("names".to_owned(), json!([{ "givenName": given, "familyName": family }]));
    fields.insert("emailAddresses".to_owned(), json!([{ "value": user.email }]));
    let profile = ProfileContent { id: user.sub.clone(), fields };
    let content = PersonContent {
        resource_name: format!("people/{}", user.sub),
        profile: Some(profile),
        ..PersonContent::default()
    };
    let version = FeedVersion { changed: 0, at_ms: state.clock.now_ms(), is_deleted: false, content };
    let sources = SourceSet { has_contact: false, ..view.sources };
    Ok(PersonView::single(view.mask, sources).show(&user.sub, &version))
}

/// `people.createContact`
pub fn create(state: &mut State, call: &Call) -> MethodResult {
    let mask = FieldSet::optional(call.parameter("personFields"), "personFields", "person")?;
    let mask = mask.unwrap_or_else(|| FieldSet::all("person"));
    let sources = SourceSet::from_call(call, SourceSet::BOTH);
    checks::check_person(&call.body)?;
    check_busy(state)?;
    let stamp = stamp(state);
    let book = state.people.entry(call.user.clone()).or_default();
    let mut fields = Map::new();
    for field in PEOPLE.list("masks", "update") {
        let values = checks::stored_values(field, &call.body[field]);
        if !values.is_empty() {
            fields.insert(field.to_owned(), values.into());
        }
    }
    let memberships = match call.body["memberships"].as_array().is_some_and(|all| !all.is_empty()) {
        true => checks::memberships(book, &call.body["memberships"], &[])?,
        false => vec![book::membership("myContacts")],
    };
    fields.insert("memberships".to_owned(), memberships.into());
    let record = new_person(stamp, fields);
    let answer = PersonView::single(&mask, sources).show(&record.id, record.latest());
    let id = record.id.clone();
    book.people.insert(id.clone(), record);
    move_etag(state, &call.user, &id);
    Ok(Some(answer))
}

/// A new contact with these fields.
pub fn new_person(stamp: ChangeStamp, fields: Map<String, Value>) -> FeedRecord<PersonContent> {
    let number = 4_000_000_000_000_000_000 + stamp.number;
    let content =
        PersonContent { resource_name: format!("people/c{number}"), fields, ..PersonContent::default() };
    FeedRecord::new(&format!("{number:x}"), stamp, content)
}

/// Changes a fresh person once more, as Google does by itself, where the trap is on.
fn move_etag(state: &mut State, user: &str, id: &str) {
    if state.traps.fires("etag_moves") {
        touch(state, user, id);
    }
}

/// Gives a person another version with the same content.
fn touch(state: &mut State, user: &str, id: &str) {
    let stamp = stamp(state);
    let record = state.people.get_mut(user).and_then(|book| book.people.get_mut(id));
    if let Some(record) = record {
        let content = record.latest().content.clone();
        record.put(stamp, content);
    }
}

/// `people.updateContact`
pub fn update(state: &mut State, call: &Call) -> MethodResult {
    let changed = FieldSet::required(call.parameter("updatePersonFields"), "updatePersonFields", "update")?;
    let mask = FieldSet::optional(call.parameter("personFields"), "personFields", "person")?;
    let mask = mask.unwrap_or_else(|| FieldSet::all("person"));
    let sources = SourceSet::from_call(call, SourceSet::BOTH);
    checks::check_person(&call.body)?;
    check_busy(state)?;
    if state.traps.fires("person_moves") {
        let book = state.people.entry(call.user.clone()).or_default();
        let id = book.person(call.path("resourceName"))?.id.clone();
        touch(state, &call.user, &id);
    }
    let code = if state.traps.is_on("person_etag_403") { 403 } else { 400 };
    let stamp = stamp(state);
    let book = state.people.entry(call.user.clone()).or_default();
    let record = book.person(call.path("resourceName"))?;
    if let Err(error) = check_etag(record, &call.body, code) {
        // The answer takes the other code once.
        state.traps.fires("person_etag_403");
        return Err(error);
    }
    let id = record.id.clone();
    let mut content = record.latest().content.clone();
    for field in changed.iter() {
        let values = match field {
            "memberships" => checks::memberships(book, &call.body[field], &content.groups())?,
            _ => checks::stored_values(field, &call.body[field]),
        };
        match values.is_empty() {
            true => content.fields.remove(field),
            false => content.fields.insert(field.to_owned(), values.into()),
        };
    }
    let record = book.person_mut(call.path("resourceName"))?;
    record.put(stamp, content);
    let answer = PersonView::single(&mask, sources).show(&id, record.latest());
    move_etag(state, &call.user, &id);
    Ok(Some(answer))
}

/// Checks the version that an update is based on: the etag of the source CONTACT, or the person's own where the request names no source.
fn check_etag(record: &FeedRecord<PersonContent>, body: &Value, code: u16) -> Result<(), ApiError> {
    let missing = || {
        let message = "Request must set person.etag or person.metadata.sources.etag for the source that is being updated.";
        errors::invalid(message)
    };
    let version = record.latest();
    let mut sources = body["metadata"]["sources"].as_array().into_iter().flatten();
    let (given, wanted) = match sources.find(|source| source["type"] == "CONTACT") {
        Some(source) => {
            if source["id"].as_str().is_some_and(|id| id != record.id) {
                return Err(errors::invalid("The source of the request is none of this person's."));
            }
            (source["etag"].as_str(), render::source_etag(version))
        }
        None => (body["etag"].as_str(), render::person_etag(version)),
    };
    match given {
        None => Err(missing()),
        Some(given) if given == wanted => Ok(()),
        Some(_) => Err(errors::etag_differs(code, "person")),
    }
}

/// `people.deleteContact`
pub fn delete(state: &mut State, call: &Call) -> MethodResult {
    check_busy(state)?;
    let stamp = stamp(state);
    let book = state.people.entry(call.user.clone()).or_default();
    book.person_mut(call.path("resourceName"))?.delete(stamp);
    Ok(Some(json!({})))
}
