//! The account's calendars: listed, made, changed and deleted. Calendars that other people share with the account are left out: Graph lists
//! them, and answers no events of them, without an error.

use connector_sdk::http::Request;
use connector_sdk::{Answer, Context, Failure, Outcome, code};
use model::calendar::Calendar;
use model::wire::{ChangesRequest, CollectionDelete, CollectionWrite, Mutated, Sources, Warning};
use serde_json::{Map, Value, json};

use crate::api::{ask, execute};
use crate::calendar::colors::color_to;
use crate::calendar::info::MailboxInfo;
use crate::calendar::native::{CalendarEntry, CalendarPage};
use crate::calendar::patch::field_warning;
use crate::calendar::record::{calendar_source, deleted_source};
use crate::calendar::roots::calendars;

/// Calendars of a page.
const PAGE_SIZE: usize = 100;
/// Pages of the list.
const MAX_PAGES: usize = 20;

/// Returns the account's own calendars; an enumeration.
pub fn list(context: &Context, args: &ChangesRequest) -> Outcome<Answer<Sources>> {
    let mailbox = MailboxInfo::of_call(context, args.time_zone.as_deref());
    let entries = read_all(context)?;
    let own = OwnCalendars::new(&entries, &mailbox);
    let sources = entries.iter().filter(|entry| own.contains(entry));
    let sources = sources.map(|entry| calendar_source(entry, &mailbox)).collect::<Outcome<_>>()?;
    Ok(Answer::whole(Sources { sources, enumeration: true, ..Sources::default() }))
}

fn read_all(context: &Context) -> Outcome<Vec<CalendarEntry>> {
    let mut entries: Vec<CalendarEntry> = Vec::new();
    let top = PAGE_SIZE.to_string();
    for _ in 0..MAX_PAGES {
        let skip = entries.len().to_string();
        let mut query = vec![("$top", top.as_str())];
        if !entries.is_empty() {
            query.push(("$skip", skip.as_str()));
        }
        let request = Request::get(calendars(&[], &query)?);
        let page: CalendarPage = ask(context, request, "listing the calendars")?;
        let is_last = page.next_link.is_none() || page.value.is_empty();
        entries.extend(page.value);
        if is_last {
            return Ok(entries);
        }
    }
    Err(Failure::unavailable("the account has too many calendars to list them all"))
}

/// The addresses under which the account owns calendars.
struct OwnCalendars<'a> {
    mailbox: &'a MailboxInfo,
    /// The owner of the default calendar, who is the account: of personal accounts that is an address of no other use.
    owner: Option<&'a str>,
}

impl<'a> OwnCalendars<'a> {
    fn new(entries: &'a [CalendarEntry], mailbox: &'a MailboxInfo) -> Self {
        let default = entries.iter().find(|entry| entry.is_default_calendar == Some(true));
        OwnCalendars { mailbox, owner: default.and_then(owner_of) }
    }

    fn contains(&self, entry: &CalendarEntry) -> bool {
        let Some(owner) = owner_of(entry) else { return true };
        let is_default = entry.is_default_calendar == Some(true);
        is_default
            || self.mailbox.is_self(owner)
            || self.owner.is_some_and(|own| own.eq_ignore_ascii_case(owner))
    }
}

fn owner_of(entry: &CalendarEntry) -> Option<&str> {
    let address = entry.owner.as_ref().and_then(|owner| owner.address.as_deref());
    address.filter(|address| !address.is_empty())
}

/// Makes a calendar. One with the same name is that of an earlier attempt, where there was one: names are taken once.
pub fn create(context: &Context, args: &CollectionWrite<Calendar>) -> Outcome<Mutated> {
    let (mut body, warnings) = body_of(&args.body, &args.changed);
    body.insert("name".to_owned(), json!(args.body.name));
    let request = Request::post(calendars(&[], &[])?).json(&body);
    let made: CalendarEntry = match ask(context, request, "creating the calendar") {
        Err(failure) if failure.code == code::ALREADY_EXISTS && context.attempt() > 1 => {
            let named = |entry: &CalendarEntry| entry.name.as_deref() == Some(args.body.name.as_str());
            read_all(context)?.into_iter().find(named).ok_or(failure)?
        }
        made => made?,
    };
    to_mutated(context, &made, warnings)
}

/// Changes the name and the colour of a calendar.
pub fn update(context: &Context, args: &CollectionWrite<Calendar>) -> Outcome<Mutated> {
    let id = args.source.as_deref().unwrap_or_default();
    let (body, warnings) = body_of(&args.body, &args.changed);
    let entry = read_entry(context, id)?;
    ensure_version(&entry, args.if_match.as_deref())?;
    if body.is_empty() {
        return to_mutated(context, &entry, warnings);
    }
    let request = Request::patch(calendars(&[id], &[])?).json(&body);
    let changed: CalendarEntry = ask(context, request, "changing the calendar")?;
    to_mutated(context, &changed, warnings)
}

/// Deletes a calendar. One that is gone is as good as deleted.
pub fn delete(context: &Context, args: &CollectionDelete) -> Outcome<Mutated> {
    let deleted = || Mutated { sources: vec![deleted_source(&args.source)], ..Mutated::default() };
    let entry = match read_entry(context, &args.source) {
        Err(failure) if failure.code == code::NOT_FOUND => return Ok(deleted()),
        entry => entry?,
    };
    if entry.is_default_calendar == Some(true) {
        return Err(Failure::unsupported("deleting the default calendar"));
    }
    ensure_version(&entry, args.if_match.as_deref())?;
    match execute(context, Request::delete(calendars(&[&args.source], &[])?), "deleting the calendar") {
        Err(failure) if failure.code != code::NOT_FOUND => Err(failure),
        _ => Ok(deleted()),
    }
}

fn ensure_version(entry: &CalendarEntry, wanted: Option<&str>) -> Outcome<()> {
    match wanted {
        Some(wanted) if entry.version().as_deref() != Some(wanted) => {
            Err(Failure::conflict("the calendar was changed meanwhile"))
        }
        _ => Ok(()),
    }
}

/// The changed members of a calendar, and warnings about fields that Outlook does not have.
fn body_of(ours: &Calendar, changed: &[String]) -> (Map<String, Value>, Vec<Warning>) {
    let has = |field: &str| changed.iter().any(|name| name == field);
    let (mut body, mut warnings) = (Map::new(), Vec::new());
    if has("name") {
        body.insert("name".to_owned(), json!(ours.name));
    }
    if has("color") {
        let nearest = ours.color.as_deref().and_then(color_to);
        body.insert("color".to_owned(), json!(nearest.map_or("auto", |(name, _)| name)));
        if ours.color.is_some() && nearest.is_none_or(|(_, is_exact)| !is_exact) {
            warnings.push(field_warning("color", "Outlook has a few colours: the nearest one is used"));
        }
    }
    let lost = [
        ("description", ours.description.is_some()),
        ("location", ours.location.is_some()),
        ("timeZone", ours.time_zone.is_some()),
        ("defaultReminders", !ours.default_reminders.is_empty()),
        ("includeInAvailability", true),
        ("conferenceTypes", true),
    ];
    let lost = lost.into_iter().filter(|(field, is_lost)| *is_lost && has(field));
    warnings.extend(lost.map(|(field, _)| field_warning(field, "Outlook has no such setting of a calendar")));
    (body, warnings)
}

fn read_entry(context: &Context, id: &str) -> Outcome<CalendarEntry> {
    ask(context, Request::get(calendars(&[id], &[])?), "reading the calendar")
}

fn to_mutated(context: &Context, entry: &CalendarEntry, warnings: Vec<Warning>) -> Outcome<Mutated> {
    let source = calendar_source(entry, &MailboxInfo::of_call(context, None))?;
    Ok(Mutated { item: Some(entry.id.clone()), sources: vec![source], warnings, ..Mutated::default() })
}
