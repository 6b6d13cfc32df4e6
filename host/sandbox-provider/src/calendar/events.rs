//! `/sandbox/v1/calendars/{calendar}/events` and below: create, read, change and delete whole events and series.

use axum::Extension;
use axum::extract::{Path, State as AxumState};
use axum::http::StatusCode;
use axum::response::Response;
use model::Instant;
use model::calendar::{Conference, ConferenceProvider, ConferenceStatus, Event as EventBody, Person};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::calendar::apart;
use crate::calendar::invitations::{answer_by_magic, spread, withdraw};
use crate::calendar::series;
use crate::calendar::types::{Event, meeting_address};
use crate::calendar::write::{self, View, complete_conference, may_edit};
use crate::faults::PendingVideo;
use crate::ops::Receipt;
use crate::patch::{client_id, read};
use crate::problem::Problem;
use crate::receipts::{Change, exists, run, versioned};
use crate::sandbox::Caller;
use crate::state::{MAX_RECORDS_PER_ACCOUNT, State};
use crate::store::{find, folder, open_folder};
use crate::times::instant;

/// Fields that an attendee may change in its own copy of another account's event.
const PERSONAL_FIELDS: &[&str] = &["color", "showAs", "visibility", "eventKind", "reminders"];

/// Refuses an attendee's change of the organizer's fields.
pub fn check_guest(event: &Event, mail: &str, body: &Map<String, Value>) -> Result<(), Problem> {
    let is_personal = body.keys().all(|name| PERSONAL_FIELDS.contains(&name.as_str()));
    if may_edit(event, mail) || is_personal {
        return Ok(());
    }
    Err(Problem::forbidden(
        "notHost",
        "only the organizer may change this: an attendee changes color, showAs, visibility and reminders",
    ))
}

/// `GET …/events/{event}`
pub async fn get(
    (AxumState(sandbox), Extension(login)): Caller,
    Path((calendar, id)): Path<(String, String)>,
) -> Result<Response, Problem> {
    let (document, seq) = sandbox
        .read(|state| {
            let folder = folder::<Event>(state, &login.mail, &calendar)?;
            let (event, seq) = find(folder, &id)?;
            Ok((View { mail: &login.mail, calendar: &folder.head, seq }.event(&event), seq))
        })
        .await?;
    Ok(versioned(StatusCode::OK, document, Some(seq)))
}

/// `POST …/events`
pub async fn create(
    (AxumState(sandbox), Extension(login)): Caller,
    Path(calendar): Path<String>,
    change: Change,
) -> Result<Response, Problem> {
    let fresh = sandbox.new_id()?;
    run(&sandbox, &login, change, |state, now_ms, body, _| {
        let folder = open_folder::<Event>(state, &login.mail, &calendar)?;
        let named = if folder.head.apart { apart::parse_name(body)? } else { None };
        let id = match &named {
            Some(named) => apart::id_of(&named.series, &named.original),
            None => client_id(body)?.unwrap_or(fresh),
        };
        if let Some((_, slot)) = folder.record(&id) {
            return Err(exists("an event", &id, slot.seq));
        }
        if !state.has_room(&login.mail, 1) {
            return Err(Problem::full(format!("an account holds at most {MAX_RECORDS_PER_ACCOUNT} records")));
        }
        let me = Some(person(state, &login.mail));
        let now = instant(now_ms);
        let series = named.as_ref().map(|named| named.series.clone());
        let body_base = EventBody {
            i_cal_uid: Some(format!("{}@sandbox.test", series.as_ref().unwrap_or(&id))),
            recurrence_id: named.as_ref().map(|named| named.original.clone()),
            original_start: named.and_then(|named| named.start),
            organizer: me.clone(),
            creator: me,
            ..EventBody::default()
        };
        let base =
            Event { body: body_base, series, created_at: now.clone(), updated_at: now, ..Event::default() };
        let mut event = write::event(&base, body, &folder.head)?;
        event.id = id.clone();
        finish(&mut event);
        let zone = folder.head.zone();
        series::check(&event, &zone)?;
        if let (Some(original), None) = (&event.body.recurrence_id, event.body.original_start) {
            let start_ms = series::original_ms(&event, original, &zone);
            event.body.original_start = start_ms.map(Instant::from_millis);
        }
        store(state, &login.mail, &calendar, now_ms, event);
        Ok(Receipt { status: 201, folder: calendar.clone(), record: Some(id), ..Receipt::default() })
    })
    .await
}

/// `PATCH …/events/{event}`: the single event, or all of a series.
pub async fn update(
    (AxumState(sandbox), Extension(login)): Caller,
    Path((calendar, id)): Path<(String, String)>,
    change: Change,
) -> Result<Response, Problem> {
    run(&sandbox, &login, change, |state, now_ms, body, change| {
        let folder = open_folder::<Event>(state, &login.mail, &calendar)?;
        let (old, seq) = apart::whole(folder, &id)?;
        change.check_etag(seq)?;
        check_guest(&old, &login.mail, body)?;
        let since = state.seq;
        let dropped = replace(state, &login.mail, &calendar, now_ms, &old, body)?;
        let (folder, record) = (calendar.clone(), Some(id.clone()));
        let receipt = Receipt { status: 200, folder, record, dropped, ..Receipt::default() };
        Ok(apart::with_instance_records(state, &login.mail, since, receipt))
    })
    .await
}

/// Changes a whole event or series. Returns the original starts of the instances that no longer fit the new rule.
pub fn replace(
    state: &mut State,
    mail: &str,
    calendar: &str,
    now_ms: i64,
    old: &Event,
    body: &Map<String, Value>,
) -> Result<Vec<String>, Problem> {
    let folder = folder::<Event>(state, mail, calendar)?;
    let zone = folder.head.zone();
    let mut event = write::event(old, body, &folder.head)?;
    finish(&mut event);
    series::check(&event, &zone)?;
    let dropped = if event.times() != old.times() || event.body.recurrence != old.body.recurrence {
        series::carry(&mut event, old, !body.contains_key("recurrence"), &zone)
    } else {
        Vec::new()
    };
    touch(&mut event, old, now_ms);
    let gone = removed_attendees(old, &event);
    store(state, mail, calendar, now_ms, event);
    withdraw(state, mail, now_ms, old.uid(), &gone);
    Ok(dropped)
}

/// `DELETE …/events/{event}`
pub async fn delete(
    (AxumState(sandbox), Extension(login)): Caller,
    Path((calendar, id)): Path<(String, String)>,
    change: Change,
) -> Result<Response, Problem> {
    run(&sandbox, &login, change, |state, now_ms, _, change| {
        let folder = open_folder::<Event>(state, &login.mail, &calendar)?;
        let (old, seq) = find(folder, &id)?;
        change.check_etag(seq)?;
        remove(state, &login.mail, &calendar, now_ms, &old);
        Ok(Receipt { status: 204, folder: calendar.clone(), ..Receipt::default() })
    })
    .await
}

/// Deletes an event: from all attendees' calendars too, when the account organizes it.
pub fn remove(state: &mut State, mail: &str, calendar: &str, now_ms: i64, old: &Event) {
    state.remove::<Event>(mail, calendar, now_ms, &old.id);
    apart::erase(state, mail, calendar, now_ms, &old.id);
    if old.is_organized_by(mail) && old.series.is_none() {
        withdraw(state, mail, now_ms, old.uid(), &old.attendees());
    }
}

/// Body of `POST …/video`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct MeetingRequest {
    provider: ConferenceProvider,
    create_request_id: Option<String>,
    /// Original local start of the instance that gets the meeting; none: the event, or the whole series.
    recurrence_id: Option<String>,
}

/// `POST …/events/{event}/video`: the existing meeting, or a new one.
pub async fn video(
    (AxumState(sandbox), Extension(login)): Caller,
    Path((calendar, id)): Path<(String, String)>,
    pending: Option<Extension<PendingVideo>>,
    change: Change,
) -> Result<Response, Problem> {
    run(&sandbox, &login, change, |state, now_ms, body, change| {
        let folder = open_folder::<Event>(state, &login.mail, &calendar)?;
        let (old, seq) = apart::whole(folder, &id)?;
        change.check_etag(seq)?;
        check_guest(&old, &login.mail, body)?;
        let wanted: MeetingRequest = read(Value::Object(body.clone()))?;
        let types = &folder.head.body.conference_types;
        if !types.contains(&wanted.provider) || meeting_address(wanted.provider).is_none() {
            return Err(Problem::field(
                "provider",
                "meetings can be made with other, and with googleMeet and teams where they are among the calendar's conferenceTypes",
            ));
        }
        let receipt =
            Receipt { status: 200, folder: calendar.clone(), record: Some(id.clone()), ..Receipt::default() };
        let zone = folder.head.zone();
        let mut event = (*old).clone();
        let target = match &wanted.recurrence_id {
            None => &mut event,
            Some(text) => {
                let original = series::original(&old, text, &zone)?;
                let instance = series::instance(&old, &original, &zone)?;
                event.overrides.entry(original).or_insert(instance)
            }
        };
        if target.body.conference.is_some() {
            return Ok(receipt);
        }
        target.body.conference = Some(Conference {
            provider: wanted.provider,
            create_request_id: wanted.create_request_id,
            status: if pending.is_some() { ConferenceStatus::Pending } else { ConferenceStatus::Ready },
            ..Conference::default()
        });
        finish(&mut event);
        series::check(&event, &zone)?;
        touch(&mut event, &old, now_ms);
        let since = state.seq;
        store(state, &login.mail, &calendar, now_ms, event);
        Ok(apart::with_instance_records(state, &login.mail, since, receipt))
    })
    .await
}

/// Completes a stored event: adds the data of its meetings, and the answers of attendees that answer automatically.
pub fn finish(event: &mut Event) {
    let id = event.id.clone();
    for (original, changed) in &mut event.overrides {
        if let Some(conference) = &mut changed.body.conference {
            complete_conference(conference, &format!("{id}{original}"));
        }
        answer_by_magic(&mut changed.body.attendees);
    }
    if let Some(conference) = &mut event.body.conference {
        complete_conference(conference, &id);
    }
    answer_by_magic(&mut event.body.attendees);
}

/// Sets the time of a change, and counts it when it matters to attendees (RFC 5545 section 3.8.7.4).
pub fn touch(event: &mut Event, old: &Event, now_ms: i64) {
    event.updated_at = instant(now_ms);
    let matters = event.times() != old.times()
        || event.body.recurrence != old.body.recurrence
        || event.body.location != old.body.location
        || event.body.status != old.body.status
        || event.overrides.keys().ne(old.overrides.keys());
    event.body.sequence += i64::from(matters);
}

/// Stores an event and updates the other accounts' copies.
pub fn store(state: &mut State, mail: &str, calendar: &str, now_ms: i64, event: Event) {
    apart::store_event(state, mail, calendar, now_ms, event.clone());
    if may_edit(&event, mail) && !event.body.attendees.is_empty() && event.series.is_none() {
        spread(state, mail, now_ms, &event);
    }
}

fn removed_attendees(old: &Event, new: &Event) -> Vec<String> {
    let left = new.attendees();
    old.attendees().into_iter().filter(|email| !left.contains(email)).collect()
}

fn person(state: &State, mail: &str) -> Person {
    let name = state.account(mail).map(|account| account.name.clone());
    Person { email: Some(mail.to_owned()), name, is_self: false }
}
