//! Events: read one, insert, patch, update, delete and move.

use serde_json::{Map, Value, json};

use crate::google::call::{Call, MethodResult, find_calendar, merge, stored, stored_mut};
use crate::google::errors::ApiError;
use crate::google::state::{Calendar, CalendarKind, EventRecord, State};
use crate::google::times::{self, EventTime};
use crate::google::{check, conference, instances, render};

/// Members that Google alone writes.
const READ_ONLY: [&str; 11] = [
    "created",
    "creator",
    "etag",
    "hangoutLink",
    "htmlLink",
    "iCalUID",
    "id",
    "kind",
    "organizer",
    "recurringEventId",
    "updated",
];

/// Members of an event of another organizer that a guest's own copy has for itself.
const OWN_MEMBERS: [&str; 5] = ["attendees", "colorId", "extendedProperties", "reminders", "transparency"];

/// Members whose change is a new version of the event for its guests.
const VERSION_MEMBERS: [&str; 3] = ["start", "end", "recurrence"];

fn show(state: &State, call: &Call, calendar: &str, record: &EventRecord) -> MethodResult {
    let home = stored(state, calendar)?;
    let view = render::EventView::new(home, call, false);
    Ok(Some(view.show(record)))
}

/// `events.get`
pub fn get(state: &mut State, call: &Call) -> MethodResult {
    let access = call.calendar(state)?;
    let id = call.path("eventId");
    conference::count_read(state, &access.id, id)?;
    let record = instances::find_event(stored(state, &access.id)?, id).ok_or_else(ApiError::not_found)?;
    show(state, call, &access.id, &record)
}

/// `events.insert`
pub fn insert(state: &mut State, call: &Call) -> MethodResult {
    insert_event(state, call, false)
}

/// `events.import`
pub fn import(state: &mut State, call: &Call) -> MethodResult {
    if !call.body["iCalUID"].is_string() {
        return Err(ApiError::required("Missing iCal UID."));
    }
    insert_event(state, call, true)
}

fn insert_event(state: &mut State, call: &Call, imports: bool) -> MethodResult {
    let access = call.writable_calendar(state)?;
    let (changed, now) = (state.next_change(), times::stamp(state.clock.now_ms()));
    let id = match call.body["id"].as_str() {
        Some(id) => {
            check::check_id(id)?;
            id.to_owned()
        }
        None if imports => format!("_fakeimport{changed:06}"),
        None => format!("fake{changed:022}"),
    };
    if call.body["id"].is_string() && call.body["iCalUID"].is_string() {
        return Err(ApiError::invalid("Only one of id and iCalUID can be given."));
    }
    let home = stored(state, &access.id)?;
    // The id of a deleted event stays taken.
    if home.events.contains_key(&id) || instances::find_event(home, &id).is_some() {
        return Err(ApiError::duplicate());
    }
    let mut members = Map::new();
    let uid = call.body["iCalUID"].as_str().map_or_else(|| format!("{id}@google.com"), str::to_owned);
    let mut organizer = json!({ "email": access.id });
    if imports && call.body["organizer"]["email"].is_string() {
        organizer["email"] = call.body["organizer"]["email"].clone();
    }
    let defaults = [
        ("id", id.clone().into()),
        ("status", "confirmed".into()),
        ("created", now.clone().into()),
        ("updated", now.into()),
        ("creator", json!({ "email": call.user })),
        ("organizer", organizer),
        ("iCalUID", uid.into()),
        ("sequence", 0.into()),
        ("reminders", json!({ "useDefault": true })),
        ("eventType", "default".into()),
    ];
    members.extend(defaults.map(|(name, value)| (name.to_owned(), value)));
    let mut stored_value = Value::Object(members);
    merge(&mut stored_value, &writable(call));
    let members = stored_value.as_object().cloned().unwrap_or_default();
    let mut record = EventRecord { members, changed, pending_reads: None };
    conference::request(state, call, &access.id, &mut record)?;
    let home = stored(state, &access.id)?;
    check::check_event(home, &record)?;
    check_kind(home, &record)?;
    fill_in(home, &mut record);
    let answer = show(state, call, &access.id, &record);
    if state.traps.fires("etag_moves") {
        // Google goes on to change a fresh event by itself.
        record.changed = state.next_change();
    }
    stored_mut(state, &access.id)?.events.insert(id, record);
    state.channels.events_changed(&access.id);
    answer
}

/// The members of a request that a client may write, without those whose version parameter is not given.
fn writable(call: &Call) -> Value {
    let given = call.body.as_object().into_iter().flatten();
    let has_conference = call.parameter("conferenceDataVersion") == Some("1");
    let has_attachments = call.is_set("supportsAttachments");
    let kept = given.filter(|(name, value)| match name.as_str() {
        "conferenceData" => has_conference && !value["createRequest"].is_object(),
        "attachments" => has_attachments,
        "attendeesOmitted" => false,
        name => !READ_ONLY.contains(&name),
    });
    Value::Object(kept.map(|(name, value)| (name.clone(), value.clone())).collect())
}

fn check_kind(home: &Calendar, record: &EventRecord) -> Result<(), ApiError> {
    let kind = record.text("eventType").unwrap_or("default");
    let is_special = ["focusTime", "outOfOffice", "workingLocation"].contains(&kind);
    if is_special && home.kind != CalendarKind::Primary {
        return Err(ApiError::new(
            400,
            "eventTypeRestriction",
            "This type of event is for primary calendars alone.",
        ));
    }
    match kind {
        "fromGmail" => {
            Err(ApiError::new(400, "eventTypeRestriction", "Events from Gmail cannot be created."))
        }
        _ => Ok(()),
    }
}

/// Writes times as instants with a zone, and answers that attendees have not given.
fn fill_in(home: &Calendar, record: &mut EventRecord) {
    for name in ["start", "end"] {
        let Some(value) = record.members.get_mut(name) else { continue };
        if let Some(time) = EventTime::parse(value, home.zone()) {
            let zone = value["timeZone"].as_str().unwrap_or(&home.time_zone).to_owned();
            *value = time.to_value(Some(&zone));
        }
    }
    if let Some(Value::Array(attendees)) = record.members.get_mut("attendees") {
        for attendee in attendees {
            if !attendee["responseStatus"].is_string() {
                attendee["responseStatus"] = "needsAction".into();
            }
        }
    }
}

/// `events.patch`
pub fn patch(state: &mut State, call: &Call) -> MethodResult {
    change(state, call, false)
}

/// `events.update`
pub fn update(state: &mut State, call: &Call) -> MethodResult {
    change(state, call, true)
}

fn change(state: &mut State, call: &Call, replaces: bool) -> MethodResult {
    let access = call.writable_calendar(state)?;
    let id = call.path("eventId").to_owned();
    let home = stored(state, &access.id)?;
    let before = instances::find_event(home, &id).ok_or_else(ApiError::not_found)?;
    check_etag(call, &before)?;
    if call.body["status"] == "cancelled" {
        let answer = cancel(state, &access.id, before)?;
        return show(state, call, &access.id, &answer);
    }
    let given = call.body["sequence"].as_i64();
    let current = before.members.get("sequence").and_then(Value::as_i64).unwrap_or_default();
    if given.is_some_and(|given| given < current) {
        let message = "Invalid sequence value. The specified sequence number is below the current sequence number of the resource. \
                       Re-fetch the resource and use its sequence number on the following request.";
        return Err(ApiError::invalid(message));
    }
    let mut record = before.clone();
    if call.body["attendeesOmitted"] == true {
        answer_invitation(home, call, &mut record)?;
    } else {
        let is_own = organizer_is_here(home, &before)
            || record.members.get("guestsCanModify") == Some(&Value::Bool(true));
        let mut patch = writable(call);
        if let Some(patch) = patch.as_object_mut().filter(|_| !is_own) {
            // What else a guest changes is answered with success, and ignored.
            patch.retain(|name, _| OWN_MEMBERS.contains(&name.as_str()));
        }
        if replaces && is_own {
            let kept =
                [READ_ONLY.as_slice(), &["sequence", "status", "eventType", "originalStartTime"]].concat();
            record.members.retain(|name, _| kept.contains(&name.as_str()));
        }
        let mut members = Value::Object(record.members);
        merge(&mut members, &patch);
        record.members = members.as_object().cloned().unwrap_or_default();
        conference::request(state, call, &access.id, &mut record)?;
    }
    let home = stored(state, &access.id)?;
    if record.text("eventType") != before.text("eventType") {
        return Err(ApiError::new(400, "eventTypeRestriction", "The type of an event cannot be changed."));
    }
    check::check_event(home, &record)?;
    fill_in(home, &mut record);
    let is_new_version =
        VERSION_MEMBERS.iter().any(|name| record.members.get(*name) != before.members.get(*name));
    let sequence = given.unwrap_or(current).max(current) + i64::from(is_new_version);
    record.members.insert("sequence".to_owned(), sequence.into());
    let record = store(state, &access.id, &id, record)?;
    show(state, call, &access.id, &record)
}

/// Stores a changed event with its new etag.
fn store(
    state: &mut State,
    calendar: &str,
    id: &str,
    mut record: EventRecord,
) -> Result<EventRecord, ApiError> {
    record.changed = state.next_change();
    record.members.insert("updated".to_owned(), times::stamp(state.clock.now_ms()).into());
    stored_mut(state, calendar)?.events.insert(id.to_owned(), record.clone());
    state.channels.events_changed(calendar);
    Ok(record)
}

fn check_etag(call: &Call, record: &EventRecord) -> Result<(), ApiError> {
    match call.if_match() {
        Some(wanted) if wanted != "*" && wanted != record.etag() => Err(ApiError::condition_not_met()),
        _ => Ok(()),
    }
}

fn organizer_is_here(home: &Calendar, record: &EventRecord) -> bool {
    let organizer = record.members.get("organizer").and_then(|organizer| organizer["email"].as_str());
    organizer.is_none_or(|email| email == home.id || email == home.owner)
}

/// Takes over the answer of the calendar's own attendee; all others stay as they are.
fn answer_invitation(home: &Calendar, call: &Call, record: &mut EventRecord) -> Result<(), ApiError> {
    let none = || ApiError::invalid("The attendee is not among those of the event.");
    let Some(Value::Array(attendees)) = record.members.get_mut("attendees") else { return Err(none()) };
    for given in call.body["attendees"].as_array().into_iter().flatten() {
        let email = given["email"].as_str().unwrap_or_default();
        if email != home.owner && given["self"] != true {
            return Err(ApiError::forbidden("Only the own response can be changed with attendeesOmitted."));
        }
        let own = attendees.iter_mut().find(|attendee| attendee["email"] == email).ok_or_else(none)?;
        for name in ["responseStatus", "comment", "additionalGuests"] {
            if let Some(value) = given.get(name) {
                own[name] = value.clone();
            }
        }
    }
    Ok(())
}

/// `events.delete`
pub fn delete(state: &mut State, call: &Call) -> MethodResult {
    let access = call.writable_calendar(state)?;
    let home = stored(state, &access.id)?;
    let record = instances::find_event(home, call.path("eventId")).ok_or_else(ApiError::not_found)?;
    if record.is_cancelled() {
        return Err(ApiError::gone());
    }
    check_etag(call, &record)?;
    cancel(state, &access.id, record)?;
    Ok(None)
}

/// Cancels an event; exceptions of a series go with it, before it.
fn cancel(state: &mut State, calendar: &str, mut record: EventRecord) -> Result<EventRecord, ApiError> {
    let id = record.text("id").unwrap_or_default().to_owned();
    let home = stored(state, calendar)?;
    let exceptions: Vec<EventRecord> = home
        .events
        .values()
        .filter(|other| other.text("recurringEventId") == Some(id.as_str()) && !other.is_cancelled())
        .cloned()
        .collect();
    for mut exception in exceptions {
        exception.members.insert("status".to_owned(), "cancelled".into());
        let id = exception.text("id").unwrap_or_default().to_owned();
        store(state, calendar, &id, exception)?;
    }
    record.members.insert("status".to_owned(), "cancelled".into());
    store(state, calendar, &id, record)
}

/// `events.move`
pub fn move_event(state: &mut State, call: &Call) -> MethodResult {
    let access = call.writable_calendar(state)?;
    let target = find_calendar(state, &call.user, call.parameter("destination").unwrap_or_default())?;
    let id = call.path("eventId").to_owned();
    let record = stored(state, &access.id)?.events.get(&id).filter(|record| !record.is_cancelled());
    let mut moved = record.cloned().ok_or_else(ApiError::not_found)?;
    if moved.text("recurringEventId").is_some() {
        return Err(ApiError::new(400, "cannotChangeOrganizerOfInstance", "An instance cannot be moved."));
    }
    cancel(state, &access.id, moved.clone())?;
    moved.members.insert("organizer".to_owned(), json!({ "email": target.id }));
    let moved = store(state, &target.id, &id, moved)?;
    show(state, call, &target.id, &moved)
}
