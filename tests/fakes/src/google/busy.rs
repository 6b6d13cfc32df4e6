//! `freebusy.query`: times at which calendars are busy.

use chrono::{DateTime, Duration, SecondsFormat, Utc};
use serde_json::{Map, Value, json};

use crate::google::call::{Call, MethodResult};
use crate::google::errors::ApiError;
use crate::google::facts;
use crate::google::instances;
use crate::google::state::{Calendar, CalendarKind, EventRecord, State};
use crate::google::times::{self, EventTime};

/// `freebusy.query`
pub fn query(state: &mut State, call: &Call) -> MethodResult {
    let instant = |name: &str| {
        let text = call.body[name]
            .as_str()
            .ok_or_else(|| ApiError::required(&format!("Missing {name} parameter.")))?;
        times::parse_instant(text, None)
            .ok_or_else(|| ApiError::invalid(&format!("Invalid {name} parameter.")))
    };
    let (from, to) = (instant("timeMin")?, instant("timeMax")?);
    if from >= to {
        return Err(ApiError::new(400, "timeRangeEmpty", "The specified time range is empty."));
    }
    let days = i64::try_from(facts::number("limits", "free_busy_days")).unwrap_or_default();
    if to - from > Duration::days(days) {
        return Err(ApiError::new(400, "timeRangeTooLong", "The requested time range is too long."));
    }
    let zone = call.body["timeZone"].as_str().map_or(Some(chrono_tz::UTC), times::find_zone);
    let zone = zone.ok_or_else(|| ApiError::invalid("Invalid time zone definition."))?;
    let asked: Vec<&str> =
        call.body["items"].as_array().into_iter().flatten().filter_map(|item| item["id"].as_str()).collect();
    let most = facts::number("limits", "free_busy_calendars");
    let mut calendars = Map::new();
    for (index, id) in asked.iter().enumerate() {
        let error =
            |reason: &str| json!({ "errors": [{ "domain": "global", "reason": reason }], "busy": [] });
        let value = match readable(state, call, id) {
            _ if index >= most => error("tooManyCalendarsRequested"),
            None => error("notFound"),
            Some(calendar) => {
                let periods = busy_periods(calendar, from, to);
                let periods = periods.into_iter().map(|(start, end)| {
                    json!({ "start": times::written(start, zone), "end": times::written(end, zone) })
                });
                json!({ "busy": periods.collect::<Value>() })
            }
        };
        calendars.insert((*id).to_owned(), value);
    }
    let stamp = |at: DateTime<Utc>| at.to_rfc3339_opts(SecondsFormat::Millis, true);
    Ok(Some(json!({
        "kind": "calendar#freeBusy",
        "timeMin": stamp(from),
        "timeMax": stamp(to),
        "calendars": calendars,
    })))
}

/// The calendar with this id, where the user may see its free and busy times: one of the user's list, or the primary calendar of a
/// colleague.
fn readable<'s>(state: &'s State, call: &Call, id: &str) -> Option<&'s Calendar> {
    let id = if id == "primary" { call.user.as_str() } else { id };
    let calendar = state.calendars.get(id).filter(|calendar| !calendar.is_deleted)?;
    let entry = state.users.get(&call.user)?.entries.get(id);
    let is_listed = entry.is_some_and(|entry| !entry.is_deleted);
    let domain = |address: &str| address.rsplit_once('@').map(|(_, domain)| domain.to_owned());
    let is_colleague = calendar.kind == CalendarKind::Primary && domain(id) == domain(&call.user);
    (is_listed || is_colleague).then_some(calendar)
}

/// The busy periods of a calendar in a range, joined where they touch.
fn busy_periods(
    calendar: &Calendar,
    from: DateTime<Utc>,
    to: DateTime<Utc>,
) -> Vec<(DateTime<Utc>, DateTime<Utc>)> {
    let zone = calendar.zone();
    let mut records = Vec::new();
    for record in calendar.events.values().filter(|record| !record.is_cancelled()) {
        if record.is_series() {
            records.extend(instances::expand(calendar, record.text("id").unwrap_or_default(), to));
        } else if record.text("recurringEventId").is_none() {
            records.push(record.clone());
        }
    }
    let time = |record: &EventRecord, name: &str| {
        record.members.get(name).and_then(|value| EventTime::parse(value, zone)).map(|at| at.instant(zone))
    };
    let mut periods: Vec<(DateTime<Utc>, DateTime<Utc>)> = records
        .iter()
        .filter(|record| is_busy(calendar, record))
        .filter_map(|record| Some((time(record, "start")?.max(from), time(record, "end")?.min(to))))
        .filter(|(start, end)| start < end)
        .collect();
    periods.sort();
    let mut joined: Vec<(DateTime<Utc>, DateTime<Utc>)> = Vec::new();
    for (start, end) in periods {
        match joined.last_mut() {
            Some((_, last)) if start <= *last => *last = end.max(*last),
            _ => joined.push((start, end)),
        }
    }
    joined
}

fn is_busy(calendar: &Calendar, record: &EventRecord) -> bool {
    let mut attendees = record.members.get("attendees").and_then(Value::as_array).into_iter().flatten();
    let is_declined =
        attendees.any(|one| one["email"] == calendar.owner.as_str() && one["responseStatus"] == "declined");
    !record.is_cancelled() && !is_declined && record.text("transparency") != Some("transparent")
}
