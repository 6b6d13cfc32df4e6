//! Effects of one account's event on others: invitations appear on the attendees' main calendars, changes follow, and answers
//! come back to the organizer. No mail is sent; people without an account here see nothing.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Path, State as AxumState};
use axum::http::StatusCode;
use axum::response::Response;
use model::calendar::{Attendee, ResponseStatus, ShowAs};
use serde::Deserialize;
use serde_json::Value;

use crate::auth::DOMAIN;
use crate::calendar::types::Event;
use crate::calendar::{apart, series};
use crate::ops::Receipt;
use crate::problem::Problem;
use crate::receipts::{Change, run};
use crate::sandbox::Caller;
use crate::state::State;
use crate::store::open_folder;
use crate::times::instant;

/// Attendees that answer automatically: `accepts@sandbox.test` and the like.
pub fn answer_by_magic(attendees: &mut [Attendee]) {
    for attendee in attendees.iter_mut().filter(|a| a.response_status == ResponseStatus::NeedsAction) {
        attendee.response_status = match attendee.email.strip_suffix(DOMAIN) {
            Some("accepts") => ResponseStatus::Accepted,
            Some("declines") => ResponseStatus::Declined,
            Some("hesitates") => ResponseStatus::Tentative,
            _ => ResponseStatus::NeedsAction,
        };
    }
}

/// The calendar and the copy of an event in an account.
fn copy_of(state: &State, mail: &str, uid: &str) -> Option<(String, Arc<Event>)> {
    let account = state.account(mail)?;
    account.calendars.iter().find_map(|(calendar, folder)| {
        let event = folder.live().find(|e| e.uid() == uid && e.series.is_none())?;
        Some((calendar.clone(), event.clone()))
    })
}

/// Updates the other accounts' copies to the version that `from` has just stored.
pub fn spread(state: &mut State, from: &str, now_ms: i64, event: &Event) {
    let organizer = event.body.organizer.as_ref().and_then(|person| person.email.clone());
    let mut people: Vec<String> = organizer.clone().into_iter().chain(event.attendees()).collect();
    people.sort();
    people.dedup();
    for mail in people.iter().filter(|m| *m != from) {
        match copy_of(state, mail, event.uid()) {
            Some((calendar, copy)) => {
                let shared = shared_copy(event, &copy, mail);
                apart::store_event(state, mail, &calendar, now_ms, shared);
            }
            None if organizer.as_ref() == Some(mail) => {}
            None => {
                let Some(main) = state.account(mail).and_then(|a| a.main()) else { continue };
                let calendar = main.head.id.clone();
                // The id is the organizer's, so that a repetition finds it; another event may have it already.
                if main.records.contains_key(&event.id) || !state.has_room(mail, 1) {
                    continue;
                }
                let fresh = Event { id: event.id.clone(), ..Event::default() };
                apart::store_event(state, mail, &calendar, now_ms, shared_copy(event, &fresh, mail));
            }
        }
    }
}

/// The event in another account's calendar: everything but that account's personal fields.
fn shared_copy(event: &Event, own: &Event, mail: &str) -> Event {
    let mut copy = Event { id: own.id.clone(), ..event.clone() };
    copy.body.color.clone_from(&own.body.color);
    copy.body.show_as = own.body.show_as;
    copy.body.visibility = own.body.visibility;
    copy.body.event_kind = own.body.event_kind;
    copy.body.reminders.clone_from(&own.body.reminders);
    let is_declined = |a: &Attendee| a.email == mail && a.response_status == ResponseStatus::Declined;
    if event.body.attendees.iter().any(is_declined) {
        copy.body.show_as = ShowAs::Free;
    }
    copy
}

/// Removes the event from these people's calendars.
pub fn withdraw(state: &mut State, from: &str, now_ms: i64, uid: &str, people: &[String]) {
    for mail in people.iter().filter(|m| *m != from) {
        if let Some((calendar, copy)) = copy_of(state, mail, uid) {
            state.remove::<Event>(mail, &calendar, now_ms, &copy.id);
            apart::erase(state, mail, &calendar, now_ms, &copy.id);
        }
    }
}

/// Body of `POST …/answer`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct Reply {
    response: ResponseStatus,
    comment: Option<String>,
    /// Original local start of the instance that the reply is for; none: the event, or the whole series.
    recurrence_id: Option<String>,
    /// With `recurrenceId`: only `one` is possible.
    span: Option<String>,
    /// False: the organizer's copy stays as it is.
    notify_organizer: Option<bool>,
}

/// `POST …/events/{event}/answer`
pub async fn answer(
    (AxumState(sandbox), Extension(login)): Caller,
    Path((calendar, id)): Path<(String, String)>,
    change: Change,
) -> Result<Response, Problem> {
    run(&sandbox, &login, change, |state, now_ms, body, change| {
        let reply: Reply = serde_path_to_error::deserialize(Value::Object(body.clone()))
            .map_err(|e| Problem::field(&e.path().to_string(), e.into_inner().to_string()))?;
        let folder = open_folder::<Event>(state, &login.mail, &calendar)?;
        let (old, seq) = apart::whole(folder, &id)?;
        change.check_etag(seq)?;
        if old.body.organizer.is_some() && old.is_organized_by(&login.mail) {
            return Err(Problem::conflict("hostCannotAnswer", "the account organizes this event"));
        }
        if reply.span.as_deref().is_some_and(|s| s != "one") {
            return Err(Problem::field("span", "an answer is for one instance or for the whole series"));
        }
        let zone = folder.head.zone();
        let mut event = (*old).clone();
        match &reply.recurrence_id {
            Some(text) => {
                let original = series::original(&old, text, &zone)?;
                let instance = series::instance(&old, &original, &zone)?;
                let target = event.overrides.entry(original).or_insert(instance);
                record_reply(target, &login.mail, &reply)?;
            }
            None => {
                record_reply(&mut event, &login.mail, &reply)?;
                for changed in event.overrides.values_mut() {
                    // An attendee may be invited to the series but not to this instance.
                    let _ = record_reply(changed, &login.mail, &reply);
                }
            }
        }
        series::check(&event, &zone)?;
        event.updated_at = instant(now_ms);
        let since = state.seq;
        apart::store_event(state, &login.mail, &calendar, now_ms, event.clone());
        if reply.notify_organizer != Some(false) {
            spread(state, &login.mail, now_ms, &event);
        }
        let (folder, record) = (calendar.clone(), Some(id.clone()));
        let receipt = Receipt { status: 200, folder, record, ..Receipt::default() };
        Ok(apart::with_instance_records(state, &login.mail, since, receipt))
    })
    .await
}

/// Writes the reply into the account's entry of the attendees. A no frees the time, any other reply blocks it again.
fn record_reply(event: &mut Event, mail: &str, reply: &Reply) -> Result<(), Problem> {
    let Some(attendee) = event.body.attendees.iter_mut().find(|a| a.email == mail) else {
        return Err(Problem::new(
            StatusCode::CONFLICT,
            "notInvited",
            "the account is not an attendee of this event",
        ));
    };
    let was = std::mem::replace(&mut attendee.response_status, reply.response);
    if reply.comment.is_some() {
        attendee.comment.clone_from(&reply.comment);
    }
    if reply.response == ResponseStatus::Declined {
        event.body.show_as = ShowAs::Free;
    } else if was == ResponseStatus::Declined {
        event.body.show_as = ShowAs::Busy;
    }
    Ok(())
}
