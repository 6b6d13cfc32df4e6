//! A calendar object resource (RFC 4791 section 4.1): one VCALENDAR with the VEVENTs or the VTODOs of one UID.

use std::collections::HashSet;

use ical::tree::cst::{IcalCst, IcalItem};
use jiff::Timestamp;
use model::Instant;

use crate::ical::lines::{
    component_name, components, components_mut, is_named, line, line_text, raw_line, set_line, text,
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

/// The component that is an event.
pub const EVENT: &str = "VEVENT";

/// The VEVENTs, in source order.
pub fn events<'c, 'a>(calendar: &'c IcalCst<'a>) -> Vec<&'c IcalCst<'a>> {
    components(calendar, EVENT).collect()
}

pub fn events_mut<'c, 'a>(calendar: &'c mut IcalCst<'a>) -> impl Iterator<Item = &'c mut IcalCst<'a>> {
    components_mut(calendar, EVENT)
}

/// Whether it overrides an instance of a series.
pub fn is_exception(event: &IcalCst) -> bool {
    line(event, "RECURRENCE-ID").is_some()
}

/// Removes the VEVENTs that pass.
pub fn remove_events(calendar: &mut IcalCst, is_gone: impl FnMut(&IcalCst) -> bool) {
    remove_components(calendar, EVENT, is_gone);
}

fn remove_components(calendar: &mut IcalCst, name: &str, mut is_gone: impl FnMut(&IcalCst) -> bool) {
    calendar.items.retain(|item| match item {
        IcalItem::Component(child) if is_named(child, name) => !is_gone(child),
        _ => true,
    });
}

/// Removes components of this name by their index among them.
pub fn remove_at(calendar: &mut IcalCst, name: &str, gone: &[usize]) {
    let gone: HashSet<usize> = gone.iter().copied().collect();
    let mut index = 0;
    remove_components(calendar, name, |_| {
        index += 1;
        gone.contains(&(index - 1))
    });
}

/// Puts a component before all others of this name.
pub fn put_first(calendar: &mut IcalCst, name: &str, at: usize) {
    let places: Vec<usize> = places(calendar, name).collect();
    if let (Some(first), Some(own)) = (places.first(), places.get(at)) {
        calendar.items.swap(*first, *own);
    }
}

/// Keeps one of several copies of a component, in the place of the first of them; its index among those of this name then.
pub fn keep_one(calendar: &mut IcalCst, name: &str, at: usize, copies: &[usize]) -> usize {
    let first = copies.iter().copied().min().map_or(at, |first| first.min(at));
    let places: Vec<usize> = places(calendar, name).collect();
    if let (Some(place), Some(own)) = (places.get(first), places.get(at)) {
        calendar.items.swap(*place, *own);
    }
    let gone: Vec<usize> = copies.iter().map(|copy| if *copy == first { at } else { *copy }).collect();
    remove_at(calendar, name, &gone);
    first
}

/// Returns the indices of the components of this name among the items.
pub fn places(calendar: &IcalCst, name: &str) -> impl Iterator<Item = usize> {
    let is_one = move |item: &IcalItem| matches!(item, IcalItem::Component(child) if is_named(child, name));
    calendar.items.iter().enumerate().filter(move |(_, item)| is_one(item)).map(|(place, _)| place)
}

/// The UID of the object's components of this name. Where there are several: the first that is not an exception's, which stays when
/// exceptions go, else the first.
pub fn uid(calendar: &IcalCst, name: &str) -> Option<String> {
    let mut all =
        components(calendar, name).filter_map(|component| Some((text(component, "UID")?, component)));
    let first = all.next()?;
    let is_main = |(_, component): &(String, &IcalCst)| !is_exception(component);
    if is_main(&first) {
        return Some(first.0);
    }
    Some(all.find(is_main).unwrap_or(first).0)
}

/// The text as it goes to the server.
pub fn print(calendar: &IcalCst) -> String {
    crlf(String::from_utf8_lossy(&calendar.to_bytes()).into_owned())
}

/// Writes the properties of every change of an event or a to-do: when it was made, and, where attendees must notice, the next SEQUENCE.
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
