//! Answers to invitations.

use connector_sdk::http::Request;
use connector_sdk::{Context, Failure, Outcome};
use model::calendar::ResponseStatus;
use model::wire::Mutated;
use model::wire::calendar::{EventRespond, Notify, RecurrenceScope};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::api::{ask, object, send};
use crate::calendar::events::answer_of;
use crate::calendar::info::CalendarInfo;
use crate::calendar::native::{Event, EventAttendee};
use crate::calendar::patch::response_to;
use crate::calendar::scope::{EventScope, write_query};
use crate::roots;

/// Answers an invitation as the account, for one instance or for all. The account may be invited under an alias: Google marks its entry.
pub fn respond(context: &Context, args: &EventRespond) -> Outcome<Mutated> {
    if args.target.scope == RecurrenceScope::ThisAndFollowing {
        return Err(Failure::unsupported("answering an invitation from one instance on"));
    }
    if args.response == ResponseStatus::NeedsAction {
        return Err(Failure::invalid("response must be accepted, declined or tentative"));
    }
    let scope = EventScope::new(&args.collection, &args.target)?;
    let answered = scope.with_id(context, |id| answer(context, args, &scope, id))?;
    answer_of(&answered, &CalendarInfo::of_call(context, args.time_zone.as_deref()), Vec::new())
}

/// Patches the account's own entry alone. Where Google did not take that, or took the others away with it, all entries are written, in the
/// version that the answer has.
fn answer(context: &Context, args: &EventRespond, scope: &EventScope, id: &str) -> Outcome<Event> {
    let url = roots::events(scope.calendar, &[id], &[])?;
    let response = send(context, Request::get(url), "reading the event")?;
    let (raw, before): (RawAttendees, Event) = (object(&response)?, object(&response)?);
    let own = own_entry(&before)?;
    let word = response_to(args.response);
    let mut entry = raw.entry_of(own).cloned().unwrap_or_default();
    entry.insert("email".to_owned(), json!(own.email));
    entry.insert("responseStatus".to_owned(), json!(word));
    if let Some(comment) = &args.comment {
        entry.insert("comment".to_owned(), json!(comment));
    }
    let notify = if args.notify_organizer { Notify::All } else { Notify::None };
    let patch = |body: &Value, etag: Option<&str>| -> Outcome<Event> {
        let url = roots::events(scope.calendar, &[id], &write_query(notify))?;
        ask(context, Request::patch(url).if_match(etag).json(body), "answering the invitation")
    };
    let body = json!({ "attendeesOmitted": true, "attendees": [entry] });
    let answered = patch(&body, scope.precondition())?;
    if before.attendees_omitted || is_kept(&answered, &before, word) {
        return Ok(with_guests_of(answered, before));
    }
    let all = raw.attendees.iter().map(|other| if is_own(other) { &entry } else { other });
    let all: Vec<&Map<String, Value>> = all.collect();
    patch(&json!({ "attendees": all }), answered.etag.as_deref())
}

/// The attendees with all of their members, to be sent back.
#[derive(Default, Deserialize)]
#[serde(default)]
struct RawAttendees {
    attendees: Vec<Map<String, Value>>,
}

impl RawAttendees {
    fn entry_of(&self, own: &EventAttendee) -> Option<&Map<String, Value>> {
        self.attendees
            .iter()
            .find(|entry| entry.get("email").and_then(Value::as_str) == Some(own.email.as_str()))
    }
}

fn is_own(entry: &Map<String, Value>) -> bool {
    entry.get("self") == Some(&Value::Bool(true))
}

fn own_entry(event: &Event) -> Outcome<&EventAttendee> {
    if event.is_deleted() {
        return Err(Failure::not_found("the event has been deleted"));
    }
    let own = event.self_attendee().ok_or_else(|| {
        Failure::conflict("the account is not an attendee of this event")
            .with_detail(json!({ "reason": "not_an_attendee" }))
    })?;
    if own.organizer {
        return Err(Failure::conflict("the organizer cannot answer the own invitation")
            .with_detail(json!({ "reason": "organizer_cannot_rsvp" })));
    }
    Ok(own)
}

/// Whether the account has answered so, and all other guests are still there or just not shown.
fn is_kept(answered: &Event, before: &Event, word: &str) -> bool {
    let is_answered =
        answered.self_attendee().is_some_and(|own| own.response_status.as_deref() == Some(word));
    is_answered && (answered.attendees_omitted || answered.attendees.len() >= before.attendees.len())
}

/// The answer with the guests that it does not show.
fn with_guests_of(mut answered: Event, before: Event) -> Event {
    if answered.attendees_omitted && !before.attendees_omitted {
        let own = answered.self_attendee().cloned();
        let guests = before.attendees.into_iter();
        let current = |guest: EventAttendee| own.clone().filter(|_| guest.is_self).unwrap_or(guest);
        answered.attendees = guests.map(current).collect();
        answered.attendees_omitted = false;
    }
    answered
}
