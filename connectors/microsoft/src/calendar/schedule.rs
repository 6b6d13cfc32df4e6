//! Busy times of other people (`getSchedule`): of their default calendars, and of work and school accounts alone.

use connector_sdk::http::Request;
use connector_sdk::{Context, Failure, Outcome};
use model::Instant;
use model::calendar::{BusyInterval, ShowAs};
use model::calendar_query::Period;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::account::is_personal;
use crate::api::ask;
use crate::calendar::native::DateTimeTimeZone;
use crate::calendar::times::{UTC, instant_of};
use crate::odata::root::me;

/// The time that one query can cover, milliseconds: less than 62 days.
const MAX_RANGE_MS: i64 = 61 * 86_400_000;
/// Queries of one call.
const MAX_QUERIES: usize = 24;
/// Minutes of a digit of `availabilityView`.
const VIEW_STEP_MIN: i64 = 15;
const MINUTE_MS: i64 = 60_000;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ScheduleList {
    value: Vec<PersonSchedule>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct PersonSchedule {
    /// A digit for each step: 0 free, 1 tentative, 2 busy, 3 out of office, 4 working elsewhere.
    availability_view: Option<String>,
    /// The events; they may be missing where the person shows no more than busy or free.
    schedule_items: Option<Vec<ScheduleItem>>,
    error: Option<ScheduleError>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ScheduleItem {
    status: Option<String>,
    start: DateTimeTimeZone,
    end: DateTimeTimeZone,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ScheduleError {
    response_code: Option<String>,
}

/// Returns the busy times of a person by address. Fails where Graph does not tell them: nobody must look free for that.
pub fn busy_times(context: &Context, address: &str, range: Period) -> Outcome<Vec<BusyInterval>> {
    if is_personal(context) {
        return Err(Failure::unsupported(
            "busy times by address: personal accounts have none of other people",
        ));
    }
    let parts = parts_of(range);
    if parts.len() > MAX_QUERIES {
        return Err(Failure::invalid("this is too long a time for one query"));
    }
    let mut busy = Vec::new();
    for part in parts {
        let body = json!({
            "schedules": [address],
            "startTime": in_utc(part.start),
            "endTime": in_utc(part.end),
            "availabilityViewInterval": VIEW_STEP_MIN,
        });
        let request = Request::post(me(&["calendar", "getSchedule"], &[])?).json(&body);
        let list: ScheduleList = ask(context, request, "reading the busy times of a person")?;
        let schedule = list.value.into_iter().next();
        let schedule =
            schedule.ok_or_else(|| Failure::unavailable("the provider does not tell of this person"))?;
        busy.extend(times_of_schedule(&schedule, part)?);
    }
    Ok(busy)
}

/// Parts of a range that one query can cover.
fn parts_of(range: Period) -> Vec<Period> {
    let mut parts = Vec::new();
    let mut start = range.start;
    while start < range.end && parts.len() <= MAX_QUERIES {
        let end = Instant::from_millis(start.as_millis().saturating_add(MAX_RANGE_MS)).min(range.end);
        parts.push(Period { start, end });
        start = end;
    }
    parts
}

fn in_utc(at: Instant) -> Value {
    let text = at.timestamp().strftime("%Y-%m-%dT%H:%M:%S").to_string();
    json!({ "dateTime": text, "timeZone": UTC })
}

/// The items, and the busy steps of the view that none of them covers.
fn times_of_schedule(schedule: &PersonSchedule, range: Period) -> Outcome<Vec<BusyInterval>> {
    if let Some(error) = &schedule.error {
        return Err(schedule_failure(error));
    }
    if schedule.availability_view.is_none() && schedule.schedule_items.is_none() {
        return Err(Failure::unavailable("the provider does not tell of this person"));
    }
    let mut items = Vec::new();
    for item in schedule.schedule_items.iter().flatten() {
        let start = instant_of(&item.start, UTC)?;
        let end = instant_of(&item.end, UTC)?;
        items.push((start, end, show_as_of(item.status.as_deref())));
    }
    let mut busy: Vec<BusyInterval> =
        viewed(schedule.availability_view.as_deref().unwrap_or_default(), range)
            .into_iter()
            .filter(|step| !items.iter().any(|(start, end, _)| *start < step.end && step.start < *end))
            .collect();
    busy.extend(items.into_iter().filter_map(|(start, end, show_as)| {
        let show_as = show_as.filter(|_| start < end)?;
        Some(BusyInterval { start, end, show_as })
    }));
    Ok(busy)
}

/// The busy steps of a view.
fn viewed(view: &str, range: Period) -> Vec<BusyInterval> {
    let step = VIEW_STEP_MIN * MINUTE_MS;
    let at = |number: usize| {
        let passed = i64::try_from(number).unwrap_or(i64::MAX).saturating_mul(step);
        Instant::from_millis(range.start.as_millis().saturating_add(passed)).min(range.end)
    };
    let digits = view.chars().enumerate();
    let busy = digits.filter_map(|(number, digit)| {
        let show_as = match digit {
            '0' | '4' => return None,
            '1' => ShowAs::Tentative,
            '3' => ShowAs::Oof,
            _ => ShowAs::Busy,
        };
        Some(BusyInterval { start: at(number), end: at(number + 1), show_as })
    });
    busy.filter(|step| step.start < step.end).collect()
}

/// None for what leaves the time free.
fn show_as_of(status: Option<&str>) -> Option<ShowAs> {
    match status {
        Some("free" | "workingElsewhere") => None,
        Some("tentative") => Some(ShowAs::Tentative),
        Some("oof") => Some(ShowAs::Oof),
        _ => Some(ShowAs::Busy),
    }
}

fn schedule_failure(error: &ScheduleError) -> Failure {
    let reason: String = error.response_code.as_deref().unwrap_or_default().chars().take(60).collect();
    let failure = match reason.as_str() {
        "ErrorMailRecipientNotFound" | "ErrorInvalidSmtpAddress" | "ErrorNoFreeBusyAccess" => {
            Failure::not_found("the provider knows no such person, or does not show the busy times")
        }
        _ => Failure::unavailable("the provider could not read the busy times of this person"),
    };
    failure.with_detail(json!({ "providerReason": reason }))
}
