//! Calendars: listing, making, changing, deleting.

use connector_sdk::{Answer, Context, Failure, Outcome};
use model::calendar::{AccessRole, Calendar, IncludeInAvailability};
use model::wire::{ChangesRequest, CollectionDelete, CollectionWrite, Mutated, Source, Sources, Warning};
use url::Url;

use crate::calendar::CalendarSession;
use crate::collection::changed::FieldSet;
use crate::collection::make::{Properties, Rights, collection_source, default_of};
use crate::ical::colors;
use crate::ical::lines::{self, line, line_text};
use crate::ical::resource::{empty, parse, print};
use crate::ical::zones::{Definitions, ZoneCache, definition};
use crate::webdav::components::{self, holds};
use crate::webdav::multistatus::Member;
use crate::webdav::xml::{APPLE, CALDAV, DAV, escape};
use crate::webdav::{Name, qualified};

/// Properties that are requested of a calendar.
const NAMES: [Name; 10] = [
    (DAV, "resourcetype"),
    (DAV, "displayname"),
    (DAV, "owner"),
    (DAV, "current-user-privilege-set"),
    (CALDAV, "calendar-description"),
    components::SET,
    (CALDAV, "calendar-timezone"),
    (CALDAV, "calendar-timezone-id"),
    (CALDAV, "schedule-calendar-transp"),
    (APPLE, "calendar-color"),
];

pub fn list(cx: &Context, _: ChangesRequest) -> Outcome<Answer<Sources>> {
    let session = CalendarSession::new(cx, None)?;
    let listed = session.listed(&NAMES)?;
    let found: Vec<_> = listed.iter().filter_map(|(home, member)| session.calendar(home, member)).collect();
    let default = session.default_calendar();
    // A server need not name a default; one calendar has to be the default of a write that names none.
    let primary =
        default.filter(|id| found.iter().any(|(found, _)| found == id)).or_else(|| first_usable(&found));
    let sources = found
        .into_iter()
        .map(|(id, mut calendar)| {
            calendar.is_primary = primary.as_ref() == Some(&id);
            collection_source(id, &calendar, None)
        })
        .collect::<Outcome<Vec<Source>>>()?;
    Ok(Answer::whole(Sources { sources, enumeration: true, ..Sources::default() }))
}

fn first_usable(found: &[(String, Calendar)]) -> Option<String> {
    let writable = found.iter().filter(|(_, calendar)| calendar.is_owned && !calendar.read_only);
    default_of(writable.map(|(id, _)| id.as_str()), &["default", "calendar", "personal", "home"])
}

pub fn create(cx: &Context, args: CollectionWrite<Calendar>) -> Outcome<Mutated> {
    let session = CalendarSession::new(cx, None)?;
    let properties = properties(&args.body, &FieldSet(&args.changed));
    let (url, warnings) = session.make(&components::only("VEVENT"), &args.body.name, &properties)?;
    session.read_mutated(&url, warnings)
}

pub fn update(cx: &Context, args: CollectionWrite<Calendar>) -> Outcome<Mutated> {
    let session = CalendarSession::new(cx, None)?;
    let id = args.source.as_deref().ok_or_else(|| Failure::invalid("source is missing"))?;
    let url = session.client.url(id)?;
    session.patch(&url, &properties(&args.body, &FieldSet(&args.changed)))?;
    session.read_mutated(&url, Vec::new())
}

pub fn delete(cx: &Context, args: CollectionDelete) -> Outcome<Mutated> {
    CalendarSession::new(cx, None)?.remove(args)
}

fn properties(calendar: &Calendar, changed: &FieldSet) -> Properties {
    let mut all = Properties::default();
    let mut text = |field: &str, name: Name, value: Option<&str>| {
        if changed.has(field) {
            all.text(name, value);
        }
    };
    text("name", (DAV, "displayname"), Some(&calendar.name));
    text("description", (CALDAV, "calendar-description"), calendar.description.as_deref());
    text("color", (APPLE, "calendar-color"), calendar.color.as_deref());
    let zone = calendar.time_zone.as_deref().and_then(zone_object);
    text("timeZone", (CALDAV, "calendar-timezone"), zone.as_deref());
    if changed.has("includeInAvailability") {
        let word = if calendar.include_in_availability == IncludeInAvailability::None {
            "transparent"
        } else {
            "opaque"
        };
        let name = qualified((CALDAV, "schedule-calendar-transp"));
        all.set.push_str(&format!("<{name}><C:{}/></{name}>", escape(word)));
    }
    all
}

/// `calendar-timezone` (RFC 4791 section 5.2.2): an object with one VTIMEZONE.
fn zone_object(name: &str) -> Option<String> {
    let zone = recurrence::zone(name).ok()?;
    let mut calendar = empty();
    calendar
        .push_component(definition(zone.iana_name()?, jiff::Timestamp::from_second(1_767_225_600).ok()?)?);
    Some(print(&calendar))
}

impl CalendarSession<'_> {
    fn read_calendar(&self, url: &Url) -> Outcome<(String, Calendar)> {
        let member = self.client.propfind(url, "0", &NAMES, "reading a calendar")?.single();
        self.calendar(url, &member).ok_or_else(|| Failure::not_found("there is no calendar with this id"))
    }

    fn read_mutated(&self, url: &Url, warnings: Vec<Warning>) -> Outcome<Mutated> {
        let (id, mut calendar) = self.read_calendar(url)?;
        calendar.is_primary = self.default_calendar().as_ref() == Some(&id);
        Ok(Mutated {
            item: Some(id.clone()),
            sources: vec![collection_source(id, &calendar, None)?],
            warnings,
            ..Mutated::default()
        })
    }

    /// `schedule-default-calendar-URL` (RFC 6638 section 9.2) of the inbox.
    fn default_calendar(&self) -> Option<String> {
        self.inbox_href(&[(CALDAV, "schedule-default-calendar-URL")])
    }

    /// A member of a home as a calendar; none where it is something else, or holds no events.
    fn calendar(&self, at: &Url, member: &Member) -> Option<(String, Calendar)> {
        if !self.is_collection(member) || !holds(member, "VEVENT") {
            return None;
        }
        let id = self.client.id_of(at, &member.href)?;
        let role = role(self.rights(at, member));
        let transparent = member
            .property(CALDAV, "schedule-calendar-transp")
            .is_some_and(|transparency| transparency.child(CALDAV, "transparent").is_some());
        let calendar = Calendar {
            name: member.text(DAV, "displayname").unwrap_or(CalendarSession::folder(&id)).to_owned(),
            description: member.text(CALDAV, "calendar-description").map(str::to_owned),
            time_zone: time_zone(member),
            color: member.text(APPLE, "calendar-color").and_then(colors::hex),
            is_owned: role == AccessRole::Owner,
            read_only: matches!(role, AccessRole::Reader | AccessRole::FreeBusyReader),
            access_role: role,
            include_in_availability: if transparent {
                IncludeInAvailability::None
            } else {
                IncludeInAvailability::All
            },
            ..Calendar::default()
        };
        Some((id, calendar))
    }
}

fn role(rights: Rights) -> AccessRole {
    match (rights.write, rights.read) {
        (true, _) if rights.owned => AccessRole::Owner,
        (true, _) => AccessRole::Writer,
        (false, true) => AccessRole::Reader,
        (false, false) => AccessRole::FreeBusyReader,
    }
}

/// The calendar's zone: by name (RFC 7809) or from its VTIMEZONE.
fn time_zone(member: &Member) -> Option<String> {
    if let Some(zone) =
        member.text(CALDAV, "calendar-timezone-id").and_then(|name| recurrence::zone(name).ok())
    {
        return zone.iana_name().map(str::to_owned);
    }
    let data = &member.property(CALDAV, "calendar-timezone")?.text;
    let calendar = parse(data.trim_start()).ok()?;
    let tzid = lines::components(&calendar, "VTIMEZONE")
        .next()
        .and_then(|zone| line(zone, "TZID"))
        .map(line_text)?;
    let zone = ZoneCache::default().zone(&calendar, &Definitions::default(), &tzid, 2026);
    zone.is_iana().then(|| zone.name.clone())
}
