//! Busy times, as Google computes them.

use std::collections::BTreeMap;

use connector_sdk::http::Request;
use connector_sdk::{Context, Failure, Outcome};
use model::Instant;
use model::calendar::{BusyInterval, ShowAs};
use model::wire::calendar::{FreeBusyAnswer, FreeBusyRequest};
use serde::Deserialize;
use serde_json::json;

use crate::api::{accepted, object};
use crate::roots;

/// Calendars of one query.
const MAX_CALENDARS: usize = 50;
/// The time that one query can cover: Google refuses more than about 90 days.
const MAX_RANGE_MS: i64 = 89 * 86_400_000;
/// Queries that are under way at once.
const CONCURRENT: u8 = 4;
/// Queries of one call; the host asks for 92 days at most.
const MAX_QUERIES: usize = 64;

/// The answer of a query, by the calendars' ids as they were asked.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct BusyCalendars {
    calendars: BTreeMap<String, BusyCalendar>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct BusyCalendar {
    busy: Vec<BusyPeriod>,
    errors: Vec<BusyError>,
}

#[derive(Debug, Deserialize)]
struct BusyPeriod {
    start: Instant,
    end: Instant,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct BusyError {
    reason: String,
}

/// Returns the busy times of the account's calendars, or of another person by address. A calendar that is missing from the answer makes
/// the query fail: it must not look free.
pub fn free_busy(context: &Context, args: &FreeBusyRequest) -> Outcome<FreeBusyAnswer> {
    let ids: Vec<&str> = args.email.iter().chain(&args.collections).map(String::as_str).collect();
    if args.end <= args.start {
        return Err(Failure::invalid("end must be after start"));
    }
    if ids.is_empty() {
        return Err(Failure::invalid("collections is empty: name the calendars, or an email"));
    }
    let url = roots::calendar(&["freeBusy"], &[])?;
    let (mut requests, mut asked) = (Vec::new(), Vec::new());
    for part in ranges(args.start, args.end) {
        for some in ids.chunks(MAX_CALENDARS) {
            let items: Vec<_> = some.iter().map(|id| json!({ "id": id })).collect();
            let body = json!({ "timeMin": part.start, "timeMax": part.end, "items": items });
            requests.push(Request::post(&url).json(&body));
            asked.push(some);
        }
    }
    if requests.len() > MAX_QUERIES {
        return Err(Failure::invalid("this is too long a time, or too many calendars, for one query"));
    }
    let mut busy = Vec::new();
    for (response, some) in context.send_many(requests, CONCURRENT).into_iter().zip(asked) {
        let response = accepted(context, response?, "reading free and busy times")?;
        let answer: BusyCalendars = object(&response)?;
        for id in some {
            busy.extend(periods_of(&answer, id)?);
        }
    }
    Ok(FreeBusyAnswer { busy })
}

fn periods_of(answer: &BusyCalendars, id: &str) -> Outcome<Vec<BusyInterval>> {
    let Some(calendar) = answer.calendars.get(id) else {
        return Err(Failure::unavailable("the provider left one of the calendars out of its answer"));
    };
    if let Some(error) = calendar.errors.first() {
        let failure = match error.reason.as_str() {
            "notFound" => {
                Failure::not_found("the provider knows no such calendar or person, or does not show it")
            }
            _ => Failure::unavailable("the provider could not read the busy times of a calendar"),
        };
        return Err(failure.with_detail(json!({ "providerReason": error.reason })));
    }
    let interval =
        |period: &BusyPeriod| BusyInterval { start: period.start, end: period.end, show_as: ShowAs::Busy };
    Ok(calendar.busy.iter().map(interval).collect())
}

/// Parts of a range that one query can cover.
fn ranges(start: Instant, end: Instant) -> Vec<BusyPeriod> {
    let mut parts = Vec::new();
    let mut from = start;
    while from < end && parts.len() <= MAX_QUERIES {
        let to = Instant::from_millis(from.as_millis().saturating_add(MAX_RANGE_MS)).min(end);
        parts.push(BusyPeriod { start: from, end: to });
        from = to;
    }
    parts
}
