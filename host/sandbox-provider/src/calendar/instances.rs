//! `…/events/{event}/instances`: a series expanded, and changes of one instance or of all from a given one on.

use std::sync::Arc;

use axum::extract::{Path, Query, State as AxumState};
use axum::http::StatusCode;
use axum::response::Response;
use axum::{Extension, Json};
use jiff::tz::TimeZone;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::calendar::apart;
use crate::calendar::events::{self, check_guest, finish, store, touch};
use crate::calendar::series;
use crate::calendar::types::Event;
use crate::calendar::write::{self, View};
use crate::ops::Receipt;
use crate::patch::client_id;
use crate::problem::Problem;
use crate::receipts::{Change, exists, run, versioned};
use crate::sandbox::Caller;
use crate::state::State;
use crate::store::{folder, open_folder};
use crate::times::{instant, parse_instant};

/// The longest time range that is expanded at once.
const MAX_RANGE_MS: i64 = 400 * 24 * 3_600_000;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Range {
    from: String,
    to: String,
}

/// `GET …/instances?from&to`
pub async fn list(
    (AxumState(sandbox), Extension(login)): Caller,
    Path((calendar, id)): Path<(String, String)>,
    Query(range): Query<Range>,
) -> Result<Json<Value>, Problem> {
    let (from_ms, to_ms) = (parse_instant(&range.from, "from")?, parse_instant(&range.to, "to")?);
    if to_ms <= from_ms || to_ms - from_ms > MAX_RANGE_MS {
        return Err(Problem::field("to", "to must be after from, at most 400 days"));
    }
    let instances = sandbox
        .read(|state| {
            let folder = folder::<Event>(state, &login.mail, &calendar)?;
            let (event, seq) = apart::whole(folder, &id)?;
            let zone = folder.head.zone();
            let view = View { mail: &login.mail, calendar: &folder.head, seq };
            let instances = series::expand(&event, from_ms, to_ms, &zone)?;
            Ok(instances.iter().map(|(original, i)| view.instance(&event, original, i)).collect::<Vec<_>>())
        })
        .await?;
    Ok(Json(json!({ "instances": instances })))
}

/// `GET …/instances/{original}`
pub async fn get(
    (AxumState(sandbox), Extension(login)): Caller,
    Path((calendar, id, original)): Path<(String, String, String)>,
) -> Result<Response, Problem> {
    let (document, seq) = sandbox
        .read(|state| {
            let folder = folder::<Event>(state, &login.mail, &calendar)?;
            let (event, seq) = apart::whole(folder, &id)?;
            let zone = folder.head.zone();
            let original = series::original(&event, &original, &zone)?;
            let instance = series::instance(&event, &original, &zone)?;
            let view = View { mail: &login.mail, calendar: &folder.head, seq };
            Ok((view.instance(&event, &original, &instance), seq))
        })
        .await?;
    Ok(versioned(StatusCode::OK, document, Some(seq)))
}

/// The instances that a change applies to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Span {
    #[default]
    One,
    Following,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SpanQuery {
    #[serde(default)]
    span: Span,
}

/// A series, one of its instances, and its calendar.
struct InstanceTarget<'a> {
    mail: &'a str,
    calendar: &'a str,
    series: Arc<Event>,
    original: String,
    zone: TimeZone,
}

fn target<'a>(
    state: &State,
    mail: &'a str,
    path: &'a (String, String, String),
    change: &Change,
    span: Span,
) -> Result<InstanceTarget<'a>, Problem> {
    let (calendar, id, original) = path;
    let folder = open_folder::<Event>(state, mail, calendar)?;
    let (series, seq) = apart::whole(folder, id)?;
    let zone = folder.head.zone();
    let original = series::original(&series, original, &zone)?;
    let own = folder.record(&apart::id_of(id, &original)).filter(|_| span == Span::One);
    change.check_etag(own.map_or(seq, |(_, slot)| slot.seq))?;
    Ok(InstanceTarget { mail, calendar, series, original, zone })
}

/// `PATCH …/instances/{original}`. With `span=following` the answer's event is the new series, `others` has the old one.
pub async fn update(
    (AxumState(sandbox), Extension(login)): Caller,
    Path(path): Path<(String, String, String)>,
    Query(query): Query<SpanQuery>,
    change: Change,
) -> Result<Response, Problem> {
    let fresh = sandbox.new_id()?;
    run(&sandbox, &login, change, |state, now_ms, body, change| {
        let target = target(state, &login.mail, &path, change, query.span)?;
        check_guest(&target.series, &login.mail, body)?;
        let since = state.seq;
        let receipt = match query.span {
            Span::One => update_one(state, now_ms, &target, body),
            Span::Following => update_following(state, now_ms, &target, body, fresh),
        };
        Ok(apart::with_instance_records(state, &login.mail, since, receipt?))
    })
    .await
}

fn update_one(
    state: &mut State,
    now_ms: i64,
    target: &InstanceTarget<'_>,
    body: &Map<String, Value>,
) -> Result<Receipt, Problem> {
    if body.get("recurrence").and_then(Value::as_array).is_some_and(|lines| !lines.is_empty()) {
        return Err(Problem::field(
            "recurrence",
            "one instance cannot repeat: change the series, or use span=following",
        ));
    }
    let calendar = &folder::<Event>(state, target.mail, target.calendar)?.head;
    let base = series::instance(&target.series, &target.original, &target.zone)?;
    let mut changed = write::event(&base, body, calendar)?;
    if changed.is_all_day() != target.series.is_all_day() {
        return Err(Problem::field("allDay", "an instance is all-day exactly when its series is"));
    }
    changed.updated_at = instant(now_ms);
    let mut event = (*target.series).clone();
    event.overrides.insert(target.original.clone(), changed);
    finish(&mut event);
    series::check(&event, &target.zone)?;
    touch(&mut event, &target.series, now_ms);
    store(state, target.mail, target.calendar, now_ms, event);
    Ok(Receipt {
        status: 200,
        folder: target.calendar.to_owned(),
        record: Some(target.series.id.clone()),
        ..Receipt::default()
    })
}

fn update_following(
    state: &mut State,
    now_ms: i64,
    target: &InstanceTarget<'_>,
    body: &Map<String, Value>,
    fresh: String,
) -> Result<Receipt, Problem> {
    let (mail, calendar, old) = (target.mail, target.calendar, &target.series);
    let receipt = Receipt { status: 200, folder: calendar.to_owned(), ..Receipt::default() };
    if series::is_first(old, &target.original, &target.zone) {
        let dropped = events::replace(state, mail, calendar, now_ms, old, body)?;
        return Ok(Receipt { record: Some(old.id.clone()), dropped, ..receipt });
    }
    let folder = folder::<Event>(state, mail, calendar)?;
    let id = client_id(body)?.unwrap_or(fresh);
    if let Some((_, slot)) = folder.record(&id) {
        return Err(exists("an event", &id, slot.seq));
    }
    if !state.has_room(mail, 1) {
        return Err(Problem::full("the account is full"));
    }
    let (capped, rest) = series::split(old, &target.original, &target.zone)?;
    let rest_overrides = old.overrides.range(target.original.clone()..);
    let mut base = Event {
        overrides: rest_overrides.map(|(k, v)| (k.clone(), v.clone())).collect(),
        created_at: instant(now_ms),
        updated_at: instant(now_ms),
        ..(**old).clone()
    };
    base.set_times(series::plain_instance(old, &target.original, &target.zone)?.times());
    base.body.i_cal_uid = Some(format!("{id}@sandbox.test"));
    base.body.recurrence = rest;
    base.body.sequence = 0;
    let mut body = body.clone();
    // The new series is another event to other systems (RFC 5545 section 3.8.4.7).
    body.remove("iCalUid");
    let mut next = write::event(&base, &body, &folder.head)?;
    next.id = id.clone();
    finish(&mut next);
    series::check(&next, &target.zone)?;
    let dropped = series::carry(&mut next, &base, !body.contains_key("recurrence"), &target.zone);
    for changed in next.overrides.values_mut() {
        changed.body.i_cal_uid.clone_from(&next.body.i_cal_uid);
    }
    cap(state, now_ms, target, capped);
    store(state, mail, calendar, now_ms, next);
    Ok(Receipt { record: Some(id), others: vec![old.id.clone()], dropped, ..receipt })
}

/// Ends the old series before the instance.
fn cap(state: &mut State, now_ms: i64, target: &InstanceTarget<'_>, recurrence: Vec<String>) {
    let mut event = (*target.series).clone();
    event.body.recurrence = recurrence;
    event.overrides.retain(|original, _| *original < target.original);
    touch(&mut event, &target.series, now_ms);
    store(state, target.mail, target.calendar, now_ms, event);
}

/// `DELETE …/instances/{original}`. From the first instance on, the series is gone.
pub async fn delete(
    (AxumState(sandbox), Extension(login)): Caller,
    Path(path): Path<(String, String, String)>,
    Query(query): Query<SpanQuery>,
    change: Change,
) -> Result<Response, Problem> {
    run(&sandbox, &login, change, |state, now_ms, _, change| {
        let target = target(state, &login.mail, &path, change, query.span)?;
        let since = state.seq;
        let (mail, calendar, old) = (target.mail, target.calendar, &target.series);
        let receipt = Receipt { status: 200, folder: calendar.to_owned(), ..Receipt::default() };
        let is_all = query.span == Span::Following && series::is_first(old, &target.original, &target.zone);
        if is_all || series::is_only(old, &target.original, &target.zone) {
            events::remove(state, mail, calendar, now_ms, old);
            return Ok(Receipt { status: 204, ..receipt });
        }
        if query.span == Span::Following {
            let (capped, _) = series::split(old, &target.original, &target.zone)?;
            cap(state, now_ms, &target, capped);
        } else {
            let mut event = (**old).clone();
            event.overrides.remove(&target.original);
            event.body.recurrence = series::excluded(old, &target.original, &target.zone)?;
            touch(&mut event, old, now_ms);
            store(state, mail, calendar, now_ms, event);
        }
        Ok(apart::with_instance_records(
            state,
            mail,
            since,
            Receipt { record: Some(old.id.clone()), ..receipt },
        ))
    })
    .await
}
