//! The people of events: organizer and attendees.

use model::calendar::{Attendee, AttendeeKind, AttendeeRole, Person, ResponseStatus};
use serde_json::{Value, json};

use crate::calendar::info::MailboxInfo;
use crate::calendar::native;

/// Returns the model's word for an attendee's answer. An organizer takes part.
pub fn response_from(response: Option<&str>) -> ResponseStatus {
    match response {
        Some("accepted" | "organizer") => ResponseStatus::Accepted,
        Some("declined") => ResponseStatus::Declined,
        Some("tentativelyAccepted") => ResponseStatus::Tentative,
        _ => ResponseStatus::NeedsAction,
    }
}

/// Returns the organizer of an event that has attendees, or that the account was invited to.
pub fn organizer_from(theirs: &native::Event) -> Option<Person> {
    let organizer = theirs.organizer.as_ref()?.email_address.as_ref()?;
    let is_invitation = !theirs.guests().is_empty() || !theirs.is_organizer();
    is_invitation.then(|| Person {
        email: present(organizer.address.as_ref()),
        name: present(organizer.name.as_ref()),
        is_self: theirs.is_organizer(),
    })
}

/// Returns the attendees who have an address.
pub fn attendees_from(theirs: &native::Event, mailbox: &MailboxInfo) -> Vec<Attendee> {
    let organizer = theirs.organizer.as_ref().and_then(|organizer| organizer.email_address.as_ref());
    let organizer = organizer.and_then(|organizer| organizer.address.as_deref()).unwrap_or_default();
    let guests = theirs.guests().iter();
    guests.filter_map(|guest| attendee_from(guest, organizer, mailbox)).collect()
}

fn attendee_from(theirs: &native::EventAttendee, organizer: &str, mailbox: &MailboxInfo) -> Option<Attendee> {
    let person = theirs.email_address.as_ref()?;
    let email = present(person.address.as_ref())?;
    let kind = theirs.kind.as_deref();
    Some(Attendee {
        name: present(person.name.as_ref()),
        response_status: response_from(theirs.status.as_ref().and_then(|status| status.response.as_deref())),
        role: if kind == Some("optional") { AttendeeRole::Optional } else { AttendeeRole::Required },
        kind: if kind == Some("resource") { AttendeeKind::Resource } else { AttendeeKind::Individual },
        comment: None,
        is_self: mailbox.is_self(&email),
        organizer: email.eq_ignore_ascii_case(organizer),
        email,
    })
}

/// Returns the account's answer to an invitation; none where it is not invited.
pub fn own_response(theirs: &native::Event, attendees: &[Attendee]) -> Option<ResponseStatus> {
    let own = attendees.iter().find(|attendee| attendee.is_self);
    if theirs.is_organizer() {
        return own.map(|own| own.response_status);
    }
    let response = theirs.response_status.as_ref().and_then(|status| status.response.as_deref());
    match response {
        // Its entry among the attendees may know more; an event without attendees was published, and nobody is asked.
        None | Some("none" | "notResponded") => own
            .map(|own| own.response_status)
            .or((!attendees.is_empty()).then_some(ResponseStatus::NeedsAction)),
        response => Some(response_from(response)),
    }
}

/// Returns Graph's JSON of an attendee. The answer is the attendee's own, and is not written.
pub fn attendee_to(ours: &Attendee) -> Value {
    let kind = match (ours.kind, ours.role) {
        (AttendeeKind::Resource | AttendeeKind::Room, _) => "resource",
        (_, AttendeeRole::Optional | AttendeeRole::NonParticipant) => "optional",
        _ => "required",
    };
    let mut person = json!({ "address": ours.email });
    if let Some(name) = &ours.name {
        person["name"] = json!(name);
    }
    json!({ "type": kind, "emailAddress": person })
}

/// Whether Graph can say of an attendee all that is given.
pub fn is_kept(ours: &Attendee) -> bool {
    matches!(ours.role, AttendeeRole::Required | AttendeeRole::Optional) && ours.kind != AttendeeKind::Group
}

/// Whether two lists have the same people in the same roles: then there is nothing to write, and nobody gets mail.
pub fn are_same(ours: &[Attendee], theirs: &[Attendee]) -> bool {
    let key = |one: &Attendee| {
        let is_resource = matches!(one.kind, AttendeeKind::Resource | AttendeeKind::Room);
        (one.email.to_ascii_lowercase(), one.role == AttendeeRole::Optional, is_resource)
    };
    let sorted = |all: &[Attendee]| {
        let mut keys: Vec<_> = all.iter().map(key).collect();
        keys.sort();
        keys
    };
    sorted(ours) == sorted(theirs)
}

/// A text that is not empty.
pub fn present(text: Option<&String>) -> Option<String> {
    text.filter(|text| !text.trim().is_empty()).cloned()
}
