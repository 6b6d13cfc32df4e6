//! Instances of recurring events. The rules are expanded by the crate `rrule`, which the product does not use.

use chrono::{DateTime, Duration, NaiveDate, NaiveDateTime, NaiveTime, Utc};
use chrono_tz::Tz;
use rrule::RRuleSet;
use serde_json::{Map, Value};

use crate::google::state::{Calendar, EventRecord};
use crate::google::times::{self, EventTime};

/// Instances of a series that are looked at, from its start.
const MAX_INSTANCES: u16 = 2_000;
/// Days after the present up to which instances of a series without an end are listed.
const HORIZON_DAYS: i64 = 730;

/// The last instant whose instances are listed where a request names none.
pub fn horizon(now_ms: i64) -> DateTime<Utc> {
    times::from_ms(now_ms) + Duration::days(HORIZON_DAYS)
}

/// The starts of a series up to `until`, in order, without those that its EXDATEs exclude.
///
/// # Errors
/// A line of `recurrence` is no rule that RFC 5545 has.
pub fn starts(
    series: &EventRecord,
    calendar_zone: Tz,
    until: DateTime<Utc>,
) -> Result<Vec<EventTime>, String> {
    let start = series.members.get("start").unwrap_or(&Value::Null);
    let first = EventTime::parse(start, calendar_zone).ok_or("the series has no start")?;
    let zone = start["timeZone"].as_str().and_then(times::find_zone).unwrap_or(calendar_zone);
    let is_day = matches!(first, EventTime::Day(_));
    let lines = series.members.get("recurrence").and_then(Value::as_array).into_iter().flatten();
    let mut text = Vec::new();
    for line in lines.filter_map(Value::as_str) {
        text.extend(normalized(line, is_day, zone)?);
    }
    let zone = if is_day { chrono_tz::UTC } else { zone };
    let rrule_zone = rrule::Tz::Tz(zone);
    let from = first.instant(zone);
    let rules = RRuleSet::new(from.with_timezone(&rrule_zone));
    let rules = rules.set_from_string(&text.join("\n")).map_err(|error| error.to_string())?;
    // One who asks for an instance names its start, which `before` includes. Days are midnights in UTC here, up to 14 hours after those of
    // the calendar's zone.
    let margin = if is_day { Duration::days(1) } else { Duration::seconds(1) };
    let rules = rules.before((until + margin).with_timezone(&rrule_zone));
    let found = rules.all(MAX_INSTANCES).dates.into_iter().map(|at| match is_day {
        true => EventTime::Day(at.with_timezone(&Utc).date_naive()),
        false => EventTime::At(at.with_timezone(&Utc)),
    });
    Ok(found.filter(|at| at.instant(calendar_zone) <= until).collect())
}

/// A line of `recurrence` as the crate takes it: times in UTC. None where the line says nothing about this kind of start.
fn normalized(line: &str, is_day: bool, zone: Tz) -> Result<Option<String>, String> {
    let (head, value) = line.split_once(':').ok_or_else(|| format!("{line} has no value"))?;
    let mut parameters = head.split(';');
    let name = parameters.next().unwrap_or_default().to_ascii_uppercase();
    match name.as_str() {
        "RRULE" | "EXRULE" => {
            let parts: Result<Vec<String>, String> =
                value.split(';').map(|part| rule_part(part, is_day, zone)).collect();
            Ok(Some(format!("{name}:{}", parts?.join(";"))))
        }
        "RDATE" | "EXDATE" => {
            let own = parameters.filter_map(|parameter| parameter.split_once('='));
            let mut own = own
                .filter(|(name, _)| name.eq_ignore_ascii_case("TZID"))
                .filter_map(|(_, id)| times::find_zone(id));
            let zone = own.next().unwrap_or(zone);
            let dates = value.split(',').filter_map(|date| utc(date, is_day, zone)).collect::<Vec<_>>();
            Ok((!dates.is_empty()).then(|| format!("{name}:{}", dates.join(","))))
        }
        _ => Err(format!("{name} is no line of a recurrence")),
    }
}

fn rule_part(part: &str, is_day: bool, zone: Tz) -> Result<String, String> {
    let Some((_, until)) = part.split_once('=').filter(|(name, _)| name.eq_ignore_ascii_case("UNTIL")) else {
        return Ok(part.to_owned());
    };
    let is_date = until.len() == 8;
    let until = match (is_day, is_date) {
        // A day as the end of a rule with times: its last second.
        (false, true) => utc(&format!("{until}T235959"), false, zone),
        _ => utc(until, is_day, zone),
    };
    until.map(|until| format!("UNTIL={until}")).ok_or_else(|| format!("{part} is no time"))
}

/// A date or a time of RFC 5545 as one in UTC; a day as its midnight. None where it has not the kind of the start.
fn utc(text: &str, is_day: bool, zone: Tz) -> Option<String> {
    let at = match text.len() {
        8 if is_day => NaiveDate::parse_from_str(text, "%Y%m%d").ok()?.and_time(NaiveTime::MIN).and_utc(),
        15 | 16 if is_day => {
            NaiveDate::parse_from_str(text.get(..8)?, "%Y%m%d").ok()?.and_time(NaiveTime::MIN).and_utc()
        }
        15 => times::in_zone(NaiveDateTime::parse_from_str(text, "%Y%m%dT%H%M%S").ok()?, zone),
        16 => NaiveDateTime::parse_from_str(text, "%Y%m%dT%H%M%SZ").ok()?.and_utc(),
        _ => return None,
    };
    Some(at.format("%Y%m%dT%H%M%SZ").to_string())
}

/// The id of an instance.
pub fn instance_id(series: &str, original: EventTime) -> String {
    format!("{series}_{}", original.suffix())
}

/// The id of the series and the original start in an instance's id.
pub fn split_id(id: &str) -> Option<(&str, EventTime)> {
    let (series, suffix) = id.rsplit_once('_')?;
    Some((series, EventTime::from_suffix(suffix)?))
}

/// An instance of a series as an event of its own, as it is without an exception.
pub fn generate(calendar: &Calendar, series: &EventRecord, original: EventTime) -> EventRecord {
    let zone = calendar.zone();
    let mut members: Map<String, Value> = series.members.clone();
    members.remove("recurrence");
    let series_id = series.text("id").unwrap_or_default();
    let time = |name: &str| series.members.get(name).and_then(|value| EventTime::parse(value, zone));
    let zone_of = |name: &str| series.members.get(name).and_then(|value| value["timeZone"].as_str());
    members.insert("id".to_owned(), instance_id(series_id, original).into());
    members.insert("recurringEventId".to_owned(), series_id.into());
    members.insert("originalStartTime".to_owned(), original.to_value(zone_of("start")));
    members.insert("start".to_owned(), original.to_value(zone_of("start")));
    if let (Some(start), Some(end)) = (time("start"), time("end")) {
        members.insert("end".to_owned(), end.shifted(start, original).to_value(zone_of("end")));
    }
    EventRecord { members, changed: series.changed, pending_reads: None }
}

/// The instances of a series up to `until`, exceptions in the place of what they replace, cancelled ones included; by original start.
pub fn expand(calendar: &Calendar, series_id: &str, until: DateTime<Utc>) -> Vec<EventRecord> {
    let Some(series) = calendar.events.get(series_id) else { return Vec::new() };
    let zone = calendar.zone();
    // A rule that cannot be parsed has no instances but its exceptions.
    let starts = starts(series, zone, until).unwrap_or_default();
    let mut all: Vec<(EventTime, EventRecord)> = starts
        .into_iter()
        .filter(|at| !calendar.events.contains_key(&instance_id(series_id, *at)))
        .map(|at| (at, generate(calendar, series, at)))
        .collect();
    let exceptions =
        calendar.events.values().filter(|record| record.text("recurringEventId") == Some(series_id));
    all.extend(exceptions.filter_map(|record| {
        let original =
            record.members.get("originalStartTime").and_then(|value| EventTime::parse(value, zone))?;
        Some((original, record.clone()))
    }));
    all.sort_by_key(|(at, _)| at.instant(zone));
    all.into_iter().map(|(_, record)| record).collect()
}

/// The event with this id: a stored one, or an instance that its series has and that is no exception yet.
pub fn find_event(calendar: &Calendar, id: &str) -> Option<EventRecord> {
    if let Some(record) = calendar.events.get(id) {
        return Some(record.clone());
    }
    let (series_id, original) = split_id(id)?;
    let series =
        calendar.events.get(series_id).filter(|series| series.is_series() && !series.is_cancelled())?;
    let zone = calendar.zone();
    let is_instance = starts(series, zone, original.instant(zone)).ok()?.last() == Some(&original);
    is_instance.then(|| generate(calendar, series, original))
}
