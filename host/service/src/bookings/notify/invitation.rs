//! A booking as an iTIP message. It refers to earlier ones: the same object, of the same organizer, in a later revision. Pure.

use itip::{Attendee, Invite, Organizer};
use model::Instant;
use model::email::EmailAddress;
use model::scheduling::booking::{Booking, Party};
use storage::scheduling::mail::InvitationRow;

use crate::bookings::event_body;
use crate::bookings::notify::context::MessageContext;
use crate::bookings::notify::kind::MailRole;
use crate::bookings::notify::message_text::link_of_invitee;

/// The iTIP REQUEST with the booking as it is now.
pub fn request(facts: &MessageContext, role: MailRole, now: i64) -> Invite {
    let booking = &facts.booking;
    let (label, url) = link_of_invitee(facts);
    Invite {
        uid: booking.i_cal_uid.clone(),
        sequence: booking.sequence,
        location: event_body::place(booking),
        // Only for the invitee, because the link changes the booking.
        description: (role == MailRole::Invitee).then(|| format!("{label}:\n{url}")),
        is_tentative: facts.is_pending(),
        ..invite(facts, now)
    }
}

/// The iTIP CANCEL of an invitation.
pub fn cancellation(facts: &MessageContext, sent: &InvitationRow, now: i64) -> Invite {
    // A separate revision: it counts whenever the previous one was made.
    Invite { uid: sent.i_cal_uid.clone(), sequence: sent.sequence.saturating_add(1), ..invite(facts, now) }
}

/// The stored form of a request that is sent.
pub fn invitation_row(facts: &MessageContext, role: MailRole, now: i64) -> InvitationRow {
    let before = facts.invitation.as_ref();
    let organizer = organizer(facts);
    // An account that sends on behalf of the inviting one is not the organizer.
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

/// Whether the invitee chose the time. Otherwise the invitation asks for a response.
// Contract silent: who chose a time to which an API key moved the booking. It is unknown whether the invitee did.
fn is_invitees_choice(booking: &Booking) -> bool {
    matches!(booking.rescheduled_by, None | Some(Party::Invitee))
}

/// The time of this revision, Unix ms. Of two with the same SEQUENCE the later one counts (RFC 5546, section 2.1.5): a message about the
/// link to a conference changes no time and so has the SEQUENCE of the one before. DTSTAMP has whole seconds.
fn revised_at(facts: &MessageContext, now: i64) -> i64 {
    facts.invitation.as_ref().map_or(now, |sent| now.max(sent.updated_at.saturating_add(1_000)))
}

/// The sending address, or the inviting one on whose behalf it sends.
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
