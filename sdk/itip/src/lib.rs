//! Invitations to meetings that calendars understand: iTIP messages (RFC 5546) as iCalendar text (RFC 5545), for mail (RFC 6047); and the
//! same meetings as files for people who add them to a calendar without being invited.
//!
//! All times are UTC, so no message needs a `VTIMEZONE`. The output depends on the input alone, not on randomness or the clock. All input
//! texts are treated as hostile: none can end a line, a parameter or a property, and invisible characters are removed.

#![deny(missing_docs)]

mod clean;
mod invite;
mod object;
mod people;

pub use crate::invite::{Attendee, Invite, Organizer};
use crate::object::{date_time, integer, text};
use ical::component::{IcalComponent, IcalComponentKind};
use ical::ical::Ical;
use ical::version::IcalVersion;

/// A message that puts the meeting into the calendars of its attendees, or changes it there (RFC 5546 section 3.2.2).
pub fn request(invite: &Invite) -> String {
    message("REQUEST", status(invite), invite)
}

/// A message that takes the meeting out of the calendars of its attendees (RFC 5546 section 3.2.5).
pub fn cancel(invite: &Invite) -> String {
    message("CANCEL", "CANCELLED", invite)
}

/// A file that its reader imports to add the meeting to a calendar, or to update it there. It has no METHOD, organizer or attendees, so
/// calendars do not reply to it. A calendar that has the invitation recognizes the event by its UID.
pub fn entry(invite: &Invite) -> String {
    calendar(None, event(status(invite), invite))
}

fn status(invite: &Invite) -> &'static str {
    if invite.is_tentative { "TENTATIVE" } else { "CONFIRMED" }
}

fn message(method: &str, status: &str, invite: &Invite) -> String {
    let mut event = event(status, invite);
    event.props.push(people::organizer(&invite.organizer));
    event.props.extend(invite.attendees.iter().map(people::attendee));
    calendar(Some(method), event)
}

/// The calendar object with one event. Without `method` it is not an iTIP message. The Content-Type of the mail repeats the method.
fn calendar(method: Option<&str>, event: IcalComponent<'static>) -> String {
    let props = [("PRODID", "-//Switchboard//Bookings//EN"), ("CALSCALE", "GREGORIAN")];
    let props = props.into_iter().chain(method.map(|method| ("METHOD", method)));
    let calendar = Ical {
        version: IcalVersion::V2_0,
        props: props.map(|(name, value)| text(name, value)).collect(),
        components: vec![event],
    };
    calendar.to_string()
}

fn event(status: &str, invite: &Invite) -> IcalComponent<'static> {
    let mut props = vec![
        text("UID", &invite.uid),
        date_time("DTSTAMP", invite.stamp),
        date_time("DTSTART", invite.start),
        date_time("DTEND", invite.end),
        integer("SEQUENCE", invite.sequence),
        text("STATUS", status),
        text("TRANSP", "OPAQUE"),
        text("SUMMARY", &invite.title),
    ];
    props.extend(invite.location.as_deref().map(|location| text("LOCATION", location)));
    props.extend(invite.description.as_deref().map(|description| text("DESCRIPTION", description)));
    IcalComponent { name: IcalComponentKind::VEvent.into(), props, components: Vec::new() }
}
