//! Calendars, users' lists of calendars, colours and settings.

use serde_json::{Map, Value, json};

use crate::google::call::{Call, MethodResult, merge, stored, stored_mut};
use crate::google::errors::ApiError;
use crate::google::facts;
use crate::google::state::{Calendar, CalendarKind, ListEntry, State, User, etag};
use crate::google::times;
use crate::google::tokens::{self, PageToken, SyncToken};

/// The members of a list entry that a user sets.
const ENTRY_MEMBERS: [&str; 8] = [
    "backgroundColor",
    "colorId",
    "defaultReminders",
    "foregroundColor",
    "hidden",
    "notificationSettings",
    "selected",
    "summaryOverride",
];

/// Background and foreground of the colours 1 to 11 of events.
const EVENT_COLORS: [&str; 11] = [
    "#a4bdfc", "#7ae7bf", "#dbadff", "#ff887c", "#fbd75b", "#ffb878", "#46d6db", "#e1e1e1", "#5484ed",
    "#51b749", "#dc2127",
];

/// Background colours of calendars; the fake has fewer than Google.
const CALENDAR_COLORS: [&str; 14] = [
    "#ac725e", "#d06b64", "#f83a22", "#fa573c", "#ff7537", "#ffad46", "#42d692", "#16a765", "#7bd148",
    "#b3dc6c", "#fbe983", "#fad165", "#92e1c0", "#9fe1e7",
];

fn user<'s>(state: &'s State, call: &Call) -> Result<&'s User, ApiError> {
    state.users.get(&call.user).ok_or_else(ApiError::unauthenticated)
}

/// An entry of the list as it is answered.
fn entry_value(calendar: &Calendar, id: &str, entry: &ListEntry) -> Value {
    if entry.is_deleted {
        return json!({ "kind": "calendar#calendarListEntry", "etag": etag(entry.changed), "id": id, "deleted": true });
    }
    let mut value = json!({
        "kind": "calendar#calendarListEntry",
        "etag": etag(entry.changed.max(calendar.changed)),
        "id": id,
        "summary": calendar.summary,
        "timeZone": calendar.time_zone,
        "accessRole": entry.access_role,
        "conferenceProperties": { "allowedConferenceSolutionTypes": conference_types(calendar) },
    });
    for (name, text) in [("description", &calendar.description), ("location", &calendar.location)] {
        if let Some(text) = text {
            value[name] = text.clone().into();
        }
    }
    if calendar.kind == CalendarKind::Secondary {
        value["dataOwner"] = calendar.owner.clone().into();
    }
    if calendar.kind == CalendarKind::Primary && calendar.owner == calendar.id && entry.access_role == "owner"
    {
        value["primary"] = true.into();
    }
    for (name, member) in &entry.members {
        value[name.as_str()] = member.clone();
    }
    if value.get("backgroundColor").is_none() {
        let index = value["colorId"].as_str().and_then(|id| id.parse::<usize>().ok()).unwrap_or(14);
        value["backgroundColor"] =
            CALENDAR_COLORS.get(index.saturating_sub(1)).copied().unwrap_or("#9fe1e7").into();
        value["foregroundColor"] = "#000000".into();
    }
    value
}

fn conference_types(calendar: &Calendar) -> &'static [&'static str] {
    match calendar.kind {
        CalendarKind::Holidays | CalendarKind::Birthdays => &[],
        CalendarKind::Primary | CalendarKind::Secondary => &["hangoutsMeet"],
    }
}

/// `calendarList.list`
pub fn list_entries(state: &mut State, call: &Call) -> MethodResult {
    let reader = user(state, call)?;
    let sync = call.parameter("syncToken").map(SyncToken::parse).transpose()?;
    let parameters = tokens::fixed_parameters("calendarList", &call.query);
    if let Some(sync) = &sync {
        if call.parameter("minAccessRole").is_some() {
            return Err(tokens::restricted());
        }
        if sync.number < reader.valid_from {
            return Err(ApiError::sync_token_expired("fullSyncRequired"));
        }
        sync.check_parameters(&parameters)?;
    }
    let page = call.parameter("pageToken").map(PageToken::parse).transpose()?;
    let base = sync.as_ref().map_or(0, |sync| sync.number);
    let upper = page.as_ref().map_or(state.latest(), |page| page.upper);
    let after = page.map_or(base, |page| page.after);
    let shows = |entry: &ListEntry| {
        let is_hidden = entry.members.get("hidden") == Some(&Value::Bool(true));
        (!entry.is_deleted || sync.is_some() || call.is_set("showDeleted"))
            && (!is_hidden || sync.is_some() || call.is_set("showHidden"))
            && call.parameter("minAccessRole").is_none_or(|least| rank(&entry.access_role) >= rank(least))
    };
    let mut found: Vec<(u64, Value)> = reader
        .entries
        .iter()
        .filter_map(|(id, entry)| {
            let calendar = state.calendars.get(id)?;
            let changed = entry.changed.max(calendar.changed);
            let is_in = after < changed && changed <= upper && shows(entry);
            is_in.then(|| (changed, entry_value(calendar, id, entry)))
        })
        .collect();
    found.sort_by_key(|(changed, _)| *changed);
    let most = facts::number("pages", "calendar_list_most");
    let size = call.page_size(facts::number("pages", "calendar_list_usual"), most);
    let mut body = json!({ "kind": "calendar#calendarList", "etag": format!("\"p{upper:08}\"") });
    if found.len() > size {
        found.truncate(size);
        let after = found.last().map_or(after, |(changed, _)| *changed);
        body["nextPageToken"] = PageToken { upper, after, is_empty: false }.to_text().into();
    } else if call.parameter("minAccessRole").is_none() {
        body["nextSyncToken"] = SyncToken { number: upper, parameters }.to_text().into();
    }
    body["items"] = found.into_iter().map(|(_, value)| value).collect();
    Ok(Some(body))
}

fn rank(role: &str) -> usize {
    let roles = ["freeBusyReader", "reader", "writerWithoutPrivateAccess", "writer", "owner"];
    roles.iter().position(|one| *one == role).unwrap_or_default()
}

/// `calendarList.get`
pub fn get_entry(state: &mut State, call: &Call) -> MethodResult {
    let access = call.calendar(state)?;
    let calendar = stored(state, &access.id)?;
    let entry = user(state, call)?.entries.get(&access.id).ok_or_else(ApiError::not_found)?;
    Ok(Some(entry_value(calendar, &access.id, entry)))
}

/// `calendarList.insert`
pub fn insert_entry(state: &mut State, call: &Call) -> MethodResult {
    let id = call.body["id"].as_str().ok_or_else(|| ApiError::required("Missing calendar id."))?.to_owned();
    let calendar = state.calendars.get(&id).filter(|calendar| !calendar.is_deleted);
    let role = match calendar.ok_or_else(ApiError::not_found)? {
        calendar if calendar.owner == call.user => "owner",
        _ => "reader",
    };
    let is_new = user(state, call)?.entries.get(&id).is_none_or(|entry| entry.is_deleted);
    if is_new {
        state.subscribe(&call.user, &id, role);
    }
    change_entry(state, call, &id, false)
}

/// `calendarList.patch`
pub fn patch_entry(state: &mut State, call: &Call) -> MethodResult {
    let access = call.calendar(state)?;
    change_entry(state, call, &access.id, false)
}

/// `calendarList.update`
pub fn update_entry(state: &mut State, call: &Call) -> MethodResult {
    let access = call.calendar(state)?;
    change_entry(state, call, &access.id, true)
}

fn change_entry(state: &mut State, call: &Call, id: &str, replaces: bool) -> MethodResult {
    let changes_rgb = ["backgroundColor", "foregroundColor"].iter().any(|name| !call.body[*name].is_null());
    if changes_rgb && !call.is_set("colorRgbFormat") {
        return Err(ApiError::invalid("RGB colors need the parameter colorRgbFormat."));
    }
    if let Some(color) = call.body["colorId"].as_str()
        && !color.parse::<usize>().is_ok_and(|color| (1..=CALENDAR_COLORS.len()).contains(&color))
    {
        return Err(ApiError::invalid("Invalid value for colorId."));
    }
    let changed = state.next_change();
    let owner = state.users.get_mut(&call.user).ok_or_else(ApiError::unauthenticated)?;
    let entry = owner.entries.get_mut(id).ok_or_else(ApiError::not_found)?;
    if replaces {
        entry.members = Map::new();
    }
    // A palette colour and RGB colours take each other's place.
    if changes_rgb {
        entry.members.remove("colorId");
    } else if call.body["colorId"].is_string() {
        entry.members.remove("backgroundColor");
        entry.members.remove("foregroundColor");
    }
    let given = call.body.as_object().into_iter().flatten();
    let given = given.filter(|(name, _)| ENTRY_MEMBERS.contains(&name.as_str()));
    let patch = Value::Object(given.map(|(name, value)| (name.clone(), value.clone())).collect());
    let mut members = Value::Object(std::mem::take(&mut entry.members));
    merge(&mut members, &patch);
    entry.members = members.as_object().cloned().unwrap_or_default();
    entry.changed = changed;
    state.channels.list_changed(&call.user);
    let calendar = stored(state, id)?;
    let entry = user(state, call)?.entries.get(id).ok_or_else(ApiError::not_found)?;
    Ok(Some(entry_value(calendar, id, entry)))
}

/// `calendarList.delete`
pub fn delete_entry(state: &mut State, call: &Call) -> MethodResult {
    let access = call.calendar(state)?;
    if access.id == call.user {
        return Err(ApiError::new(
            403,
            "cannotUnsubscribeFromOwnPrimaryCalendar",
            "The primary calendar stays.",
        ));
    }
    unsubscribe(state, &call.user, &access.id);
    Ok(None)
}

fn unsubscribe(state: &mut State, user: &str, id: &str) {
    let changed = state.next_change();
    if let Some(entry) = state.users.get_mut(user).and_then(|user| user.entries.get_mut(id)) {
        entry.is_deleted = true;
        entry.changed = changed;
    }
    state.channels.list_changed(user);
}

fn calendar_value(calendar: &Calendar) -> Value {
    let mut value = json!({
        "kind": "calendar#calendar",
        "etag": etag(calendar.changed),
        "id": calendar.id,
        "summary": calendar.summary,
        "timeZone": calendar.time_zone,
        "conferenceProperties": { "allowedConferenceSolutionTypes": conference_types(calendar) },
    });
    for (name, text) in [("description", &calendar.description), ("location", &calendar.location)] {
        if let Some(text) = text {
            value[name] = text.clone().into();
        }
    }
    if calendar.kind == CalendarKind::Secondary {
        value["dataOwner"] = calendar.owner.clone().into();
    }
    value
}

/// `calendars.get`
pub fn get_calendar(state: &mut State, call: &Call) -> MethodResult {
    let access = call.calendar(state)?;
    Ok(Some(calendar_value(stored(state, &access.id)?)))
}

/// `calendars.insert`
pub fn insert_calendar(state: &mut State, call: &Call) -> MethodResult {
    let Some(summary) = call.body["summary"].as_str() else {
        return Err(ApiError::required("Missing calendar summary."));
    };
    let zone = call.body["timeZone"].as_str().unwrap_or("UTC");
    check_zone(zone)?;
    let id = format!("c_{:016x}@group.calendar.google.com", state.latest() + 1);
    state.add_calendar(&call.user, &id, summary, zone);
    change_calendar(state, call, &id)
}

/// `calendars.patch` and `calendars.update`
pub fn patch_calendar(state: &mut State, call: &Call) -> MethodResult {
    let access = owned_calendar(state, call)?;
    change_calendar(state, call, &access)
}

fn owned_calendar(state: &State, call: &Call) -> Result<String, ApiError> {
    let access = call.calendar(state)?;
    match access.role.as_str() {
        "owner" => Ok(access.id),
        _ => Err(ApiError::forbidden("Forbidden")),
    }
}

fn check_zone(zone: &str) -> Result<(), ApiError> {
    times::find_zone(zone).map(|_| ()).ok_or_else(|| ApiError::invalid("Invalid time zone definition."))
}

fn change_calendar(state: &mut State, call: &Call, id: &str) -> MethodResult {
    if let Some(zone) = call.body["timeZone"].as_str() {
        check_zone(zone)?;
    }
    let changed = state.next_change();
    let calendar = stored_mut(state, id)?;
    let text = |name: &str| call.body[name].as_str().map(str::to_owned);
    calendar.summary = text("summary").unwrap_or_else(|| calendar.summary.clone());
    calendar.time_zone = text("timeZone").unwrap_or_else(|| calendar.time_zone.clone());
    if call.body.get("description").is_some() {
        calendar.description = text("description");
    }
    if call.body.get("location").is_some() {
        calendar.location = text("location");
    }
    calendar.changed = changed;
    let value = calendar_value(calendar);
    state.channels.list_changed(&call.user);
    Ok(Some(value))
}

/// `calendars.delete`
pub fn delete_calendar(state: &mut State, call: &Call) -> MethodResult {
    let id = owned_calendar(state, call)?;
    let calendar = stored_mut(state, &id)?;
    if calendar.kind == CalendarKind::Primary {
        return Err(ApiError::invalid("Cannot delete primary calendar"));
    }
    if calendar.owner != call.user {
        return Err(ApiError::forbidden("Only the data owner can delete a calendar."));
    }
    calendar.is_deleted = true;
    let users: Vec<String> = state.users.keys().cloned().collect();
    for user in users {
        unsubscribe(state, &user, &id);
    }
    Ok(None)
}

/// `colors.get`
pub fn get_colors(state: &mut State, _: &Call) -> MethodResult {
    let palette = |colors: &[&str]| -> Value {
        let each = colors.iter().enumerate().map(|(index, color)| {
            ((index + 1).to_string(), json!({ "background": color, "foreground": "#1d1d1d" }))
        });
        Value::Object(each.collect())
    };
    Ok(Some(json!({
        "kind": "calendar#colors",
        "updated": times::stamp(state.clock.now_ms()),
        "calendar": palette(&CALENDAR_COLORS),
        "event": palette(&EVENT_COLORS),
    })))
}

fn setting_value(id: &str, value: &str) -> Value {
    json!({ "kind": "calendar#setting", "etag": "\"0\"", "id": id, "value": value })
}

/// `settings.get`
pub fn get_setting(state: &mut State, call: &Call) -> MethodResult {
    let id = call.path("setting");
    let value = user(state, call)?.settings.get(id).ok_or_else(ApiError::not_found)?;
    Ok(Some(setting_value(id, value)))
}

/// `settings.list`
pub fn list_settings(state: &mut State, call: &Call) -> MethodResult {
    let settings = &user(state, call)?.settings;
    let items: Vec<Value> = settings.iter().map(|(id, value)| setting_value(id, value)).collect();
    let parameters = tokens::fixed_parameters("settings", &call.query);
    let token = SyncToken { number: state.latest(), parameters }.to_text();
    Ok(Some(json!({ "kind": "calendar#settings", "etag": "\"0\"", "items": items, "nextSyncToken": token })))
}
