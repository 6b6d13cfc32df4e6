//! The account's calendars: listed, made, changed and deleted. A calendar has texts and a zone, which are its owner's; its entry in the
//! account's list has the account's own name and colour for it.

use connector_sdk::http::Request;
use connector_sdk::rest::cursor;
use connector_sdk::{Answer, Context, Failure, Outcome, code};
use model::calendar::Calendar;
use model::wire::{ChangesRequest, CollectionDelete, CollectionWrite, Mutated, Source, Sources, Warning};
use serde_json::{Map, Value, json};

use crate::api::{ask, execute};
use crate::calendar::native::{CalendarEntry, CalendarPage};
use crate::calendar::patch::{field_warning, reminder_to};
use crate::calendar::record::{calendar_source, deleted_source};
use crate::roots;

/// The version of the cursors.
const VERSION: &str = "g1";
/// Calendars of a page; Google's largest.
const PAGE_SIZE: u32 = 250;

const LIST: [&str; 3] = ["users", "me", "calendarList"];

/// Fields of the calendar itself, and their names at Google. Only its owner can change them.
const TEXTS: [(&str, &str); 4] =
    [("name", "summary"), ("description", "description"), ("timeZone", "timeZone"), ("location", "location")];

/// Returns a page of the account's calendars, hidden ones too; an enumeration.
pub fn list(context: &Context, args: &ChangesRequest) -> Outcome<Answer<Sources>> {
    let token: Option<String> =
        context.cursor.as_deref().map(|text| cursor::read(VERSION, text)).transpose()?;
    let limit = if args.limit == 0 { PAGE_SIZE } else { args.limit.min(PAGE_SIZE) }.to_string();
    let mut query = vec![("maxResults", limit.as_str()), ("showHidden", "true")];
    query.extend(token.as_deref().map(|token| ("pageToken", token)));
    let request = Request::get(roots::calendar(&LIST, &query)?);
    let page: CalendarPage = ask(context, request, "listing the calendars").map_err(|failure| {
        let is_of_token = token.is_some() && failure.code == code::INVALID;
        if is_of_token { failure.with_code(code::CURSOR_EXPIRED) } else { failure }
    })?;
    let sources = page.items.iter().filter(|entry| !entry.deleted).map(calendar_source);
    let sources: Vec<Source> = sources.collect::<Outcome<_>>()?;
    let cursor = page.next_page_token.map(|token| cursor::write(VERSION, &token)).transpose()?;
    let more = cursor.is_some();
    Ok(Answer { body: Sources { sources, enumeration: true, ..Sources::default() }, cursor, more })
}

/// Makes a calendar of the account's own.
// Google takes no id from the client, and a calendar has nothing to find it by: a repeated attempt after a lost answer makes a second one.
pub fn create(context: &Context, args: &CollectionWrite<Calendar>) -> Outcome<Mutated> {
    let mut texts = texts_of(&args.body, &args.changed);
    texts.retain(|_, value| !value.is_null());
    texts.insert("summary".to_owned(), json!(args.body.name));
    let (own, mut warnings) = own_of(&args.body, &args.changed);
    let request = Request::post(roots::calendar(&["calendars"], &[])?).json(&texts);
    let made: CalendarEntry = ask(context, request, "creating the calendar")?;
    let entry = match own.is_empty() {
        true => entry_of(context, &made.id),
        false => patch_entry(context, &made.id, None, &own),
    };
    let entry = entry.unwrap_or_else(|_| {
        if !own.is_empty() {
            warnings.push(field_warning(
                "color",
                "the calendar was created; its colour and reminders could not be set",
            ));
        }
        CalendarEntry { access_role: "owner".to_owned(), etag: None, ..made }
    });
    to_mutated(&entry, warnings)
}

/// Changes a calendar: its texts as its owner, the account's own name for it otherwise.
pub fn update(context: &Context, args: &CollectionWrite<Calendar>) -> Outcome<Mutated> {
    let id = args.source.as_deref().unwrap_or_default();
    let mut texts = texts_of(&args.body, &args.changed);
    let (mut own, mut warnings) = own_of(&args.body, &args.changed);
    if args.body.is_owned {
        if texts.contains_key("summary") {
            // Else the account's own name would still hide the new one.
            own.insert("summaryOverride".to_owned(), Value::Null);
        }
    } else {
        if let Some(name) = texts.remove("summary") {
            own.insert("summaryOverride".to_owned(), name);
        }
        for (field, _) in TEXTS.iter().filter(|(_, theirs)| texts.remove(*theirs).is_some()) {
            warnings.push(field_warning(field, "only the owner of a calendar can change this"));
        }
    }
    let mut if_match = args.if_match.as_deref();
    if !texts.is_empty() {
        // The version is the entry's, which a request for the calendar is not compared with.
        if let Some(wanted) = if_match.take()
            && entry_of(context, id)?.etag.as_deref() != Some(wanted)
        {
            return Err(Failure::conflict("the calendar has changed since it was read"));
        }
        let request = Request::patch(roots::calendar(&["calendars", id], &[])?).json(&texts);
        ask::<CalendarEntry>(context, request, "changing the calendar")?;
    }
    let entry = match own.is_empty() {
        true => entry_of(context, id)?,
        false => patch_entry(context, id, if_match, &own)?,
    };
    to_mutated(&entry, warnings)
}

/// Deletes a calendar that the account owns; another one leaves the account's list alone. One that is gone is as good as deleted.
pub fn delete(context: &Context, args: &CollectionDelete) -> Outcome<Mutated> {
    let deleted =
        |warnings| Mutated { sources: vec![deleted_source(&args.source)], warnings, ..Mutated::default() };
    let entry = match entry_of(context, &args.source) {
        Err(failure) if failure.code == code::NOT_FOUND => return Ok(deleted(Vec::new())),
        entry => entry?,
    };
    if entry.primary {
        return Err(Failure::unsupported("deleting the primary calendar"));
    }
    if args.if_match.is_some() && args.if_match != entry.etag {
        return Err(Failure::conflict("the calendar has changed since it was read"));
    }
    let is_own = match &entry.data_owner {
        Some(owner) => context.connection.addresses.iter().any(|address| address.eq_ignore_ascii_case(owner)),
        None => entry.access_role == "owner",
    };
    let path: &[&str] = if is_own { &["calendars"] } else { &LIST };
    let url = roots::calendar(&[path, &[args.source.as_str()]].concat(), &[])?;
    let warnings = if is_own { Vec::new() } else { vec![unsubscribed()] };
    match execute(context, Request::delete(url), "deleting the calendar") {
        Err(failure) if failure.code != code::NOT_FOUND => Err(failure),
        _ => Ok(deleted(warnings)),
    }
}

fn unsubscribed() -> Warning {
    Warning {
        code: "calendar_unsubscribed".to_owned(),
        message: "the calendar belongs to another account: it was removed from the account's list".to_owned(),
        target: None,
    }
}

/// The changed members of the calendar itself.
fn texts_of(ours: &Calendar, changed: &[String]) -> Map<String, Value> {
    let values = [json!(ours.name), json!(ours.description), json!(ours.time_zone), json!(ours.location)];
    let pairs = TEXTS.iter().zip(values).filter(|((field, _), _)| changed.iter().any(|name| name == field));
    pairs.map(|((_, theirs), value)| ((*theirs).to_owned(), value)).collect()
}

/// The changed members of the account's entry, and warnings about fields that Google does not have.
fn own_of(ours: &Calendar, changed: &[String]) -> (Map<String, Value>, Vec<Warning>) {
    let has = |field: &str| changed.iter().any(|name| name == field);
    let mut own = Map::new();
    if let Some(color) = ours.color.as_ref().filter(|_| has("color")) {
        own.insert("backgroundColor".to_owned(), json!(color));
        own.insert("foregroundColor".to_owned(), json!(readable_on(color)));
    }
    if has("defaultReminders") {
        let reminders: Vec<Value> = ours.default_reminders.iter().map(reminder_to).collect();
        own.insert("defaultReminders".to_owned(), Value::Array(reminders));
    }
    let lost = ["includeInAvailability", "conferenceTypes"].into_iter().filter(|field| has(field));
    let warnings =
        lost.map(|field| field_warning(field, "Google has no such setting of a calendar")).collect();
    (own, warnings)
}

/// Black or white, whichever can be read on this colour; Google wants both colours together.
fn readable_on(color: &str) -> &'static str {
    let channel =
        |at: usize| color.get(at..at + 2).and_then(|hex| u32::from_str_radix(hex, 16).ok()).unwrap_or(0);
    // Weights of luma (ITU-R BT.601), in thousandths.
    let luma = (299 * channel(1) + 587 * channel(3) + 114 * channel(5)) / 1000;
    if luma > 127 { "#000000" } else { "#ffffff" }
}

fn entry_of(context: &Context, id: &str) -> Outcome<CalendarEntry> {
    let request = Request::get(roots::calendar(&[&LIST[..], &[id]].concat(), &[])?);
    ask(context, request, "reading the calendar")
}

fn patch_entry(
    context: &Context,
    id: &str,
    if_match: Option<&str>,
    own: &Map<String, Value>,
) -> Outcome<CalendarEntry> {
    let url = roots::calendar(&[&LIST[..], &[id]].concat(), &[("colorRgbFormat", "true")])?;
    ask(context, Request::patch(url).if_match(if_match).json(own), "changing the calendar")
}

fn to_mutated(entry: &CalendarEntry, warnings: Vec<Warning>) -> Outcome<Mutated> {
    let source = calendar_source(entry)?;
    Ok(Mutated { item: Some(entry.id.clone()), sources: vec![source], warnings, ..Mutated::default() })
}
