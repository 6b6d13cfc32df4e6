//! Online meetings of Teams, made for events. Graph never takes one back.

use connector_sdk::http::Request;
use connector_sdk::{Context, Failure, Outcome};
use model::calendar::{ConferenceProvider, Event};
use model::wire::calendar::{EventConference, RecurrenceScope};
use model::wire::{Mutated, Warning};
use serde_json::{Map, Value, json};

use crate::account::is_personal;
use crate::api::ask;
use crate::calendar::answer::{answer_of, answer_of_instance, following_unsupported};
use crate::calendar::conference::is_pending;
use crate::calendar::files::with_files;
use crate::calendar::info::MailboxInfo;
use crate::calendar::native;
use crate::calendar::patch::field_warning;
use crate::calendar::read::read_event;
use crate::calendar::roots::events;
use crate::calendar::scope::EventScope;

/// Reads of an event whose meeting has no link yet; a later one comes with the calendar's changes.
const MAX_READS: usize = 3;

/// Puts a meeting of Teams into a new event, where the caller wants one, and returns the warning that it cannot be. The service is left to
/// the calendar's default.
pub fn put_conference(context: &Context, event: &Event, body: &mut Map<String, Value>) -> Option<Warning> {
    let conference = event.conference.as_ref()?;
    let is_teams = conference.provider == ConferenceProvider::Teams && conference.join_url.is_none();
    if !is_teams {
        return Some(field_warning("conference", "Outlook adds meetings of Teams alone"));
    }
    if is_personal(context) {
        return Some(field_warning("conference", "personal accounts have no meetings of Teams"));
    }
    body.insert("isOnlineMeeting".to_owned(), json!(true));
    None
}

/// Returns an event with the link to its meeting, which comes a little later than the event.
pub fn with_link(context: &Context, calendar: &str, event: native::Event) -> Outcome<native::Event> {
    let mut event = event;
    for _ in 0..MAX_READS {
        if !is_pending(&event) {
            break;
        }
        event = read_event(context, calendar, &event.id)?;
    }
    Ok(event)
}

/// Adds a meeting of Teams to an event. Nothing else of it is sent, so that its body keeps the link.
pub fn conference(context: &Context, args: &EventConference) -> Outcome<Mutated> {
    if !matches!(args.provider, None | Some(ConferenceProvider::Teams)) {
        return Err(Failure::unsupported("this conference provider: Outlook makes meetings of Teams alone"));
    }
    if is_personal(context) {
        return Err(Failure::unsupported("conferences: personal accounts have no meetings of Teams"));
    }
    if args.target.scope == RecurrenceScope::ThisAndFollowing {
        return Err(following_unsupported("adding a conference from one instance on"));
    }
    let mailbox = MailboxInfo::of_call(context, args.time_zone.as_deref());
    let scope = EventScope::new(&args.collection, &args.target)?;
    let id = scope.written_id(context)?;
    let url = events(scope.calendar, &[&id], &[])?;
    let body = json!({ "isOnlineMeeting": true });
    let event: native::Event = scope.insisting(context, &id, scope.precondition(), |etag| {
        ask(context, Request::patch(&url).if_match(etag).json(&body), "adding the conference")
    })?;
    let event = with_files(context, scope.calendar, with_link(context, scope.calendar, event)?)?;
    if scope.instance.is_some() {
        let series = read_event(context, scope.calendar, scope.source)?;
        return answer_of_instance(&series, &event, &mailbox, Vec::new());
    }
    let whole = match event.is_series() {
        true => read_event(context, scope.calendar, scope.source)?,
        false => event,
    };
    answer_of(&whole, &mailbox, Vec::new())
}
