//! A calendar object resource (RFC 4791 section 4.1): one VCALENDAR with the VEVENTs or the VTODOs of one UID.

use ical::tree::cst::{IcalCst, IcalItem};
use jiff::Timestamp;
use model::Instant;

use crate::ical::lines::{
    component_name, components, components_mut, line, line_text, raw_line, set_line, text,
};
use crate::ical::time::utc_line;
use crate::ical::tree;
use crate::ical::zones::definition;
use crate::text::crlf;

/// Reads a resource's text. Lines that are no content lines are kept as they are; a component without an end means that bytes are
/// missing.
pub fn parse(data: &str) -> Result<IcalCst<'_>, String> {
    tree::read(data)
}

/// An empty object for a new event or to-do.
pub fn empty() -> IcalCst<'static> {
    let mut calendar = IcalCst::v2();
    calendar.push_line(raw_line("PRODID", &[], "-//Switchboard//CalDAV//EN"));
    calendar
}

/// The VEVENTs, in source order.
pub fn events<'c, 'a>(calendar: &'c IcalCst<'a>) -> Vec<&'c IcalCst<'a>> {
    components(calendar, "VEVENT").collect()
}

/// The VEVENT that is not an exception: the single event or the series.
pub fn master<'c, 'a>(calendar: &'c IcalCst<'a>) -> Option<&'c IcalCst<'a>> {
    components(calendar, "VEVENT").find(|event| !is_exception(event))
}

pub fn master_mut<'c, 'a>(calendar: &'c mut IcalCst<'a>) -> Option<&'c mut IcalCst<'a>> {
    events_mut(calendar).find(|event| !is_exception(event))
}

pub fn events_mut<'c, 'a>(calendar: &'c mut IcalCst<'a>) -> impl Iterator<Item = &'c mut IcalCst<'a>> {
    components_mut(calendar, "VEVENT")
}

/// Whether it overrides an instance of a series.
pub fn is_exception(event: &IcalCst) -> bool {
    line(event, "RECURRENCE-ID").is_some()
}

/// Removes the VEVENTs that pass; how many went.
pub fn remove_events(calendar: &mut IcalCst, mut is_gone: impl FnMut(&IcalCst) -> bool) -> usize {
    let before = calendar.items.len();
    calendar.items.retain(|item| match item {
        IcalItem::Component(child) if component_name(child) == "VEVENT" => !is_gone(child),
        _ => true,
    });
    before - calendar.items.len()
}

/// The UID of the object's components of this name.
pub fn uid(calendar: &IcalCst, name: &str) -> Option<String> {
    components(calendar, name).find_map(|component| text(component, "UID"))
}

/// The text as it goes to the server.
pub fn print(calendar: &IcalCst) -> String {
    crlf(String::from_utf8_lossy(&calendar.to_bytes()).into_owned())
}

/// What every change of an event or a to-do writes: when it was made, and, where attendees must notice, the next SEQUENCE.
pub fn touch(event: &mut IcalCst, now: Instant, significant: bool) {
    set_line(event, utc_line("DTSTAMP", now));
    set_line(event, utc_line("LAST-MODIFIED", now));
    if significant {
        let sequence = sequence(event).saturating_add(1);
        set_line(event, raw_line("SEQUENCE", &[], &sequence.to_string()));
    }
}

pub fn sequence(event: &IcalCst) -> i64 {
    line(event, "SEQUENCE").and_then(|line| line.raw_value_str().trim().parse().ok()).unwrap_or(0)
}

/// Adds the VTIMEZONEs that are named and not there yet.
pub fn define_zones(calendar: &mut IcalCst, zones: &[(String, Timestamp)]) {
    for (name, at) in zones {
        let has = components(calendar, "VTIMEZONE")
            .any(|zone| line(zone, "TZID").is_some_and(|l| line_text(l) == *name));
        if has {
            continue;
        }
        let Some(zone) = definition(name, *at) else { continue };
        let user =
            |item: &IcalItem| matches!(item, IcalItem::Component(c) if component_name(c) != "VTIMEZONE");
        let at = calendar.items.iter().position(user).unwrap_or(calendar.items.len());
        calendar.items.insert(at, IcalItem::Component(Box::new(zone)));
    }
}
