//! `/sandbox/v1/calendars/{calendar}/events` and below: create, read, change and delete whole events and series.

use axum::Extension;
use axum::extract::{Path, State as AxumState};
use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Map, Value};

use crate::calendar::apart;
use crate::calendar::invitations::{answer_by_magic, spread, withdraw};
use crate::calendar::series;
use crate::calendar::types::{Event, Person, Video};
use crate::calendar::write::{self, View, complete_video, may_edit};
use crate::faults::PendingVideo;
use crate::ops::Receipt;
use crate::patch::client_id;
use crate::problem::Problem;
use crate::receipts::{Change, exists, run, versioned};
use crate::sandbox::Caller;
use crate::state::{MAX_RECORDS_PER_ACCOUNT, State};
use crate::store::{find, folder, open_folder};
use crate::times::{instant, stored_zone};

/// Fields that a guest may change in its own copy of another account's event.
const PERSONAL_FIELDS: &[&str] = &["colour", "availability", "privacy", "category", "alerts"];

/// Refuses a guest's change of the host's fields.
pub fn check_guest(event: &Event, mail: &str, body: &Map<String, Value>) -> Result<(), Problem> {
    let is_personal = body.keys().all(|name| PERSONAL_FIELDS.contains(&name.as_str()));
    if may_edit(event, mail) || is_personal {
        return Ok(());
    }
    Err(Problem::forbidden(
        "notHost",
        "only the host may change this: a guest changes colour, availability, privacy and alerts",
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
        let named = if folder.head.apart { apart::parse_original(body)? } else { None };
        let id = match &named {
            Some((series, original)) => apart::id_of(series, &original.local),
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
        let (series, original) = named.unzip();
        let base = Event {
            uid: format!("{}@sandbox.test", series.as_ref().unwrap_or(&id)),
            series,
            original,
            host: me.clone(),
            author: me,
            created_at: now.clone(),
            updated_at: now,
            ..Event::default()
        };
        let mut event = write::event(&base, body, &folder.head)?;
        event.id = id.clone();
        finish(&mut event);
        let zone = stored_zone(&folder.head.zone);
        series::check(&event, &zone)?;
        let local = event.original.as_ref().map(|original| original.local.as_str());
        let time = local.and_then(|local| series::original_ms(&event, local, &zone)).map(instant);
        if let Some(original) = &mut event.original {
            original.time = original.time.take().or(time);
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
    let zone = stored_zone(&folder.head.zone);
    let mut event = write::event(old, body, &folder.head)?;
    finish(&mut event);
    series::check(&event, &zone)?;
    let dropped = if event.when != old.when || event.repeat != old.repeat {
        series::carry(&mut event, old, !body.contains_key("repeat"), &zone)
    } else {
        Vec::new()
    };
    touch(&mut event, old, now_ms);
    let gone: Vec<String> = removed_guests(old, &event);
    store(state, mail, calendar, now_ms, event);
    withdraw(state, mail, now_ms, &old.uid, &gone);
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

/// Deletes an event: from all guests' calendars too, when the account hosts it.
pub fn remove(state: &mut State, mail: &str, calendar: &str, now_ms: i64, old: &Event) {
    state.remove::<Event>(mail, calendar, now_ms, &old.id);
    apart::erase(state, mail, calendar, now_ms, &old.id);
    if is_host(old, mail) && old.series.is_none() {
        let guests: Vec<String> = old.guests.iter().map(|g| g.mail.clone()).collect();
        withdraw(state, mail, now_ms, &old.uid, &guests);
    }
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
        let wanted: Video = serde_json::from_value(Value::Object(body.clone()))
            .map_err(|e| Problem::field("service", e.to_string()))?;
        if !folder.head.video_services.contains(&wanted.service) || wanted.service.address().is_none() {
            return Err(Problem::field(
                "service",
                "meetings can be made with sandboxMeet, and with meet and teams where they are among the calendar's videoServices",
            ));
        }
        let receipt =
            Receipt { status: 200, folder: calendar.clone(), record: Some(id.clone()), ..Receipt::default() };
        let zone = stored_zone(&folder.head.zone);
        let mut event = (*old).clone();
        let original = body.get("original").and_then(Value::as_str);
        let target = match original {
            None => &mut event,
            Some(text) => {
                let original = series::original(&old, text, &zone)?;
                let instance = series::instance(&old, &original, &zone)?;
                event.overrides.entry(original).or_insert(instance)
            }
        };
        if target.video.is_some() {
            return Ok(receipt);
        }
        target.video = Some(Video {
            service: wanted.service,
            request_id: wanted.request_id,
            pending: pending.is_some(),
            ..Video::default()
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

/// Completes a stored event: adds the data of its meetings, and the answers of guests that answer automatically.
pub fn finish(event: &mut Event) {
    let id = event.id.clone();
    for (original, changed) in &mut event.overrides {
        if let Some(video) = &mut changed.video {
            complete_video(video, &format!("{id}{original}"));
        }
        answer_by_magic(&mut changed.guests);
    }
    if let Some(video) = &mut event.video {
        complete_video(video, &id);
    }
    answer_by_magic(&mut event.guests);
}

/// Sets the time of a change, and counts it when it matters to guests (RFC 5545 section 3.8.7.4).
pub fn touch(event: &mut Event, old: &Event, now_ms: i64) {
    event.updated_at = instant(now_ms);
    let matters = event.when != old.when
        || event.repeat != old.repeat
        || event.place != old.place
        || event.state != old.state
        || event.overrides.keys().ne(old.overrides.keys());
    event.revision += i64::from(matters);
}

/// Stores an event and updates the other accounts' copies.
pub fn store(state: &mut State, mail: &str, calendar: &str, now_ms: i64, event: Event) {
    apart::store_event(state, mail, calendar, now_ms, event.clone());
    if may_edit(&event, mail) && !event.guests.is_empty() && event.series.is_none() {
        spread(state, mail, now_ms, &event);
    }
}

fn is_host(event: &Event, mail: &str) -> bool {
    event.host.as_ref().is_none_or(|h| h.mail.as_deref() == Some(mail))
}

fn removed_guests(old: &Event, new: &Event) -> Vec<String> {
    let is_gone = |mail: &String| !new.guests.iter().any(|g| g.mail == *mail);
    old.guests.iter().map(|g| g.mail.clone()).filter(is_gone).collect()
}

fn person(state: &State, mail: &str) -> Person {
    let label = state.account(mail).map(|a| a.name.clone());
    Person { mail: Some(mail.to_owned()), label }
}
