//! A booking as an iTIP message. It names what was sent before: the same object, of the same organizer, in a later revision. Pure.

use itip::{Attendee, Invite, Organizer};
use model::Instant;
use model::email::EmailAddress;
use model::scheduling::booking::{Booking, Party};
use storage::scheduling::mail::InvitationRow;

use crate::bookings::event_body;
use crate::bookings::notify::context::MessageContext;
use crate::bookings::notify::kind::MailRole;
use crate::bookings::notify::message_text::link_of_invitee;

/// What asks the calendars of these people to take the booking in as it is now.
pub fn request(facts: &MessageContext, role: MailRole, now: i64) -> Invite {
    let booking = &facts.booking;
    let (label, url) = link_of_invitee(facts);
    Invite {
        uid: booking.i_cal_uid.clone(),
        sequence: booking.sequence,
        location: event_body::place(booking),
        // The link is the invitee's alone: it changes the booking.
        description: (role == MailRole::Invitee).then(|| format!("{label}:\n{url}")),
        is_tentative: facts.is_pending(),
        ..invite(facts, now)
    }
}

/// What takes an invitation out of their calendars.
pub fn cancellation(facts: &MessageContext, sent: &InvitationRow, now: i64) -> Invite {
    // A revision of its own: it counts whenever the one before it was made.
    Invite { uid: sent.i_cal_uid.clone(), sequence: sent.sequence.saturating_add(1), ..invite(facts, now) }
}

/// What is kept of a request that is sent.
pub fn sent(facts: &MessageContext, role: MailRole, now: i64) -> InvitationRow {
    let before = facts.invitation.as_ref();
    let organizer = organizer(facts);
    // Who sends on behalf of the one who invited is not the organizer.
    let inviting = before.filter(|_| organizer.sent_by.is_some()).map(|sent| &sent.connection_id);
    let now = revised_at(facts, now);
    InvitationRow {
        booking_id: facts.row.id.clone(),
        role: role.as_str().to_owned(),
        tenant: facts.row.tenant.clone(),
        i_cal_uid: facts.booking.i_cal_uid.clone(),
        sequence: facts.booking.sequence,
        organizer_email: organizer.email,
        connection_id: inviting.unwrap_or(&facts.sender.connection.id).clone(),
        created_at: before.map_or(now, |sent| sent.created_at),
        updated_at: now,
    }
}

fn invite(facts: &MessageContext, now: i64) -> Invite {
    let booking = &facts.booking;
    let now = revised_at(facts, now);
    let has_accepted = is_invitees_choice(booking);
    let people = facts.recipients(MailRole::Invitee).into_iter().map(|person| attendee(person, has_accepted));
    let guests = facts.recipients(MailRole::Guests).into_iter().map(|person| attendee(person, false));
    Invite {
        stamp: Instant::from_millis(now),
        start: booking.start,
        end: booking.end,
        title: facts.title(MailRole::Invitee),
        organizer: organizer(facts),
        attendees: people.chain(guests).collect(),
        ..Invite::default()
    }
}

/// Whether the invitee chose the time. Otherwise the invitation asks for an answer.
// Contract silent: who chose a time to which an API key moved the booking. Nobody knows that it was the invitee.
fn is_invitees_choice(booking: &Booking) -> bool {
    matches!(booking.rescheduled_by, None | Some(Party::Invitee))
}

/// When this revision is made, in milliseconds since 1970. Of two with the same SEQUENCE the later one counts (RFC 5546, section 2.1.5): what
/// tells of the link to a conference changes no time and so has the SEQUENCE of what was sent before. DTSTAMP has whole seconds.
fn revised_at(facts: &MessageContext, now: i64) -> i64 {
    facts.invitation.as_ref().map_or(now, |sent| now.max(sent.updated_at.saturating_add(1_000)))
}

/// The address that sends, or the one that invited, on whose behalf it sends.
fn organizer(facts: &MessageContext) -> Organizer {
    let from = &facts.sender.from;
    let own = ::mail::address::wire(&from.email).into_owned();
    let before = facts.invitation.as_ref().map(|sent| sent.organizer_email.clone());
    match before.filter(|before| ::mail::address::folded(before) != ::mail::address::folded(&own)) {
        Some(before) => Organizer { name: None, email: before, sent_by: Some(own) },
        None => Organizer { name: from.name.clone(), email: own, sent_by: None },
    }
}

fn attendee(person: EmailAddress, has_accepted: bool) -> Attendee {
    Attendee { name: person.name, email: ::mail::address::wire(&person.email).into_owned(), has_accepted }
}
