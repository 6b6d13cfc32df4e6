//! The time fields of an event as clients send them: instants with any offset, or dates for all-day events. They are normalized before any
//! other code reads them.

use base::error::{Code, Result, invalid};
use base::input::validate::{self, date, zone};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use model::Instant;
use model::bounds::event::MAX_DAYS;
use model::calendar::Event;
use serde_json::{Map, Value};

/// Length of the longest event.
const MAX_LENGTH_MS: i64 = MAX_DAYS * 86_400_000;

fn text<'a>(input: &'a Map<String, Value>, field: &str) -> Result<Option<&'a str>> {
    match input.get(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(invalid(Code::InvalidParameter, field, format!("{field} must be a string"))),
    }
}

fn instant(field: &str, text: &str) -> Result<Instant> {
    let instant: Instant =
        text.parse().map_err(|e| invalid(Code::InvalidParameter, field, format!("{field}: {e}")))?;
    validate::year_of(field, instant)?;
    Ok(instant)
}

/// Rewrites `start`, `end`, `startDate`, `endDate`, `allDay` and `timeZone` of `input` into the model's form. `current` is
/// the event before a patch; `default_zone` the calendar's, which an event without a zone gets.
pub fn normalise(input: &mut Map<String, Value>, current: Option<&Event>, default_zone: &str) -> Result<()> {
    for field in ["timeZone", "endTimeZone"] {
        validate::canonical_zone(input, field);
        if let Some(name) = text(input, field)? {
            zone(field, name)?;
        }
    }
    let is_cleared = input.contains_key("timeZone") || current.is_none();
    if is_cleared && text(input, "timeZone")?.is_none() {
        input.insert("timeZone".into(), Value::from(default_zone));
    }
    let named = ["start", "end", "startDate", "endDate", "allDay"];
    if current.is_some() && !named.iter().any(|f| input.contains_key(*f)) {
        return Ok(());
    }
    let all_day = match input.get("allDay") {
        Some(Value::Bool(b)) => *b,
        None | Some(Value::Null) => {
            let dated =
                text(input, "startDate")?.is_some() || text(input, "start")?.is_some_and(|t| t.len() == 10);
            dated || (current.is_some_and(|e| e.all_day) && text(input, "start")?.is_none())
        }
        Some(_) => return Err(invalid(Code::InvalidParameter, "allDay", "allDay must be true or false")),
    };
    if all_day { all_day_times(input, current, default_zone) } else { normalize_times(input, current) }
}

fn all_day_times(input: &mut Map<String, Value>, current: Option<&Event>, default_zone: &str) -> Result<()> {
    let zone_name = match text(input, "timeZone")? {
        Some(name) => name.to_owned(),
        None => current.map_or(default_zone, |e| e.time_zone.as_str()).to_owned(),
    };
    let tz = zone("timeZone", &zone_name)?;
    let start = match day(input, "startDate", "start", &tz)? {
        Some(day) => day,
        None => match current.and_then(|e| e.start_date.as_deref()) {
            Some(text) => date("startDate", text)?,
            None => {
                return Err(invalid(
                    Code::MissingField,
                    "startDate",
                    "startDate is required for an all-day event",
                ));
            }
        },
    };
    let end = match day(input, "endDate", "end", &tz)? {
        Some(day) => day,
        None => match current.and_then(|e| e.end_date.as_deref()) {
            Some(text) if current.is_some_and(|e| e.all_day) => date("endDate", text)?,
            _ => start
                .tomorrow()
                .map_err(|_| invalid(Code::InvalidParameter, "startDate", "startDate is too late"))?,
        },
    };
    if end <= start {
        let message = "endDate must be after startDate: it is the day after the last";
        return Err(invalid(Code::InvalidTimeRange, "endDate", message));
    }
    let (from, to) = (midnight(start, &tz)?, midnight(end, &tz)?);
    check_length(from, to)?;
    input.insert("allDay".into(), Value::Bool(true));
    input.insert("startDate".into(), Value::from(start.to_string()));
    input.insert("endDate".into(), Value::from(end.to_string()));
    input.insert("start".into(), Value::from(from.to_string()));
    input.insert("end".into(), Value::from(to.to_string()));
    Ok(())
}

/// A day given as a date, or as the instant of its local midnight.
fn day(input: &Map<String, Value>, dated: &str, timed: &str, tz: &TimeZone) -> Result<Option<Date>> {
    if let Some(value) = text(input, dated)? {
        return date(dated, value).map(Some);
    }
    let Some(value) = text(input, timed)? else { return Ok(None) };
    if value.len() == 10 {
        return date(timed, value).map(Some);
    }
    let local = instant(timed, value)?.timestamp().to_zoned(tz.clone());
    let day = local.date();
    if midnight(day, tz)?.timestamp() == local.timestamp() {
        return Ok(Some(day));
    }
    let message = format!("{timed} of an all-day event must be a date, or midnight in the event's time zone");
    Err(invalid(Code::InvalidParameter, timed, message))
}

/// The first instant of a local day, also where midnight does not exist.
pub fn midnight(day: Date, tz: &TimeZone) -> Result<Instant> {
    let zoned = day.to_zoned(tz.clone()).map_err(|e| anyhow::anyhow!("midnight of {day}: {e}"))?;
    Ok(Instant::from(zoned.timestamp()))
}

fn normalize_times(input: &mut Map<String, Value>, current: Option<&Event>) -> Result<()> {
    let mut both = [Instant::default(); 2];
    for (slot, field) in both.iter_mut().zip(["start", "end"]) {
        *slot = match (text(input, field)?, current) {
            (Some(value), _) if value.len() == 10 => {
                let message = format!(
                    "{field} must be an instant such as 2026-03-01T09:00:00Z; dates are for allDay events"
                );
                return Err(invalid(Code::InvalidParameter, field, message));
            }
            (Some(value), _) => instant(field, value)?,
            (None, Some(event)) if !event.all_day => {
                if field == "start" {
                    event.start
                } else {
                    event.end
                }
            }
            (None, _) => return Err(invalid(Code::MissingField, field, format!("{field} is required"))),
        };
    }
    let [start, end] = both;
    if end < start {
        return Err(invalid(Code::InvalidTimeRange, "end", "end must not be before start"));
    }
    check_length(start, end)?;
    input.insert("allDay".into(), Value::Bool(false));
    input.insert("startDate".into(), Value::Null);
    input.insert("endDate".into(), Value::Null);
    input.insert("start".into(), Value::from(start.to_string()));
    input.insert("end".into(), Value::from(end.to_string()));
    Ok(())
}

fn check_length(start: Instant, end: Instant) -> Result<()> {
    if end.as_millis() - start.as_millis() > MAX_LENGTH_MS {
        return Err(invalid(Code::RangeTooLarge, "end", "an event may last at most 400 days"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn normal(input: Value) -> Result<Value> {
        let Value::Object(mut map) = input else { unreachable!() };
        normalise(&mut map, None, "Europe/Berlin")?;
        Ok(Value::Object(map))
    }

    #[test]
    fn an_all_day_event_takes_dates_in_either_pair_of_fields() {
        let a = normal(json!({ "allDay": true, "start": "2026-03-29", "end": "2026-03-30" })).unwrap();
        let b = normal(json!({ "startDate": "2026-03-29" })).unwrap();
        assert_eq!(a, b);
        assert_eq!(a["start"], "2026-03-28T23:00:00.000Z");
        // The day on which daylight saving time begins has 23 hours.
        assert_eq!(a["end"], "2026-03-29T22:00:00.000Z");
    }

    #[test]
    fn an_event_without_a_zone_has_that_of_the_calendar() {
        let current = Event { time_zone: "Asia/Tokyo".to_owned(), ..Event::default() };
        for (input, zone) in [
            (json!({ "timeZone": null }), json!("Europe/Berlin")),
            (json!({ "timeZone": "asia/kolkata" }), json!("Asia/Kolkata")),
            (json!({ "title": "A" }), json!(null)),
        ] {
            let Value::Object(mut map) = input else { unreachable!() };
            normalise(&mut map, Some(&current), "Europe/Berlin").unwrap();
            assert_eq!(map.get("timeZone").cloned().unwrap_or_default(), zone);
        }
    }

    #[test]
    fn an_instant_for_an_all_day_event_must_be_local_midnight() {
        assert!(normal(json!({ "allDay": true, "start": "2026-03-28T23:00:00Z" })).is_ok());
        let err = normal(json!({ "allDay": true, "start": "2026-03-29T00:00:00Z" })).unwrap_err();
        assert_eq!(err.code(), Some(Code::InvalidParameter));
    }

    #[test]
    fn end_before_start_and_dates_that_do_not_exist_are_refused() {
        let err =
            normal(json!({ "start": "2026-03-01T10:00:00Z", "end": "2026-03-01T09:00:00Z" })).unwrap_err();
        assert_eq!(err.code(), Some(Code::InvalidTimeRange));
        assert!(normal(json!({ "startDate": "2026-02-30" })).is_err());
        assert!(normal(json!({ "start": "2026-03-01T10:00:00", "end": "2026-03-01T11:00:00Z" })).is_err());
    }
}
