//! Invitations to meetings that calendars understand: iTIP messages (RFC 5546) as iCalendar text (RFC 5545), for mail (RFC 6047); and the
//! same meetings as files for people who add them to a calendar without being invited.
//!
//! All times are UTC, so no message needs a `VTIMEZONE`. The same input gives the same text: it uses neither randomness nor the
//! clock. All texts are taken to be hostile: none of them can end a line, a parameter or a property, and invisible characters are left out.

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

/// A file with which its reader adds the meeting to a calendar, or updates it there. It is no message: it names neither the
/// organizer nor anybody else, and no calendar answers it. One that has the invitation to the meeting finds the same event by its UID.
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

/// `method`: without it the text is no iTIP message; mail names the method in its Content-Type as well.
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
