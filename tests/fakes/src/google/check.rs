//! The rules that an event of a request has to keep, each with the error that Google answers.

use serde_json::Value;

use crate::google::errors::ApiError;
use crate::google::facts;
use crate::google::instances;
use crate::google::state::{Calendar, EventRecord};
use crate::google::times::{self, EventTime};

type Check = Result<(), ApiError>;

/// Checks the id that a client chose.
///
/// # Errors
/// It is too short or too long, or has other characters than base32hex has.
pub fn check_id(id: &str) -> Check {
    let allowed = facts::text("event_ids", "characters");
    let lengths = facts::number("event_ids", "shortest")..=facts::number("event_ids", "longest");
    match lengths.contains(&id.len()) && id.chars().all(|c| allowed.contains(c)) {
        true => Ok(()),
        false => Err(ApiError::invalid("Invalid resource id value.")),
    }
}

/// Checks an event as it would be stored.
///
/// # Errors
/// The first rule that it breaks.
pub fn check_event(calendar: &Calendar, record: &EventRecord) -> Check {
    let member = |name: &str| record.members.get(name).unwrap_or(&Value::Null);
    check_times(calendar, record)?;
    for name in ["status", "transparency", "visibility", "eventType"] {
        if let Some(text) = member(name).as_str()
            && !facts::has("values", name, text)
        {
            return Err(ApiError::invalid(&format!("Invalid value for {name}: {text}")));
        }
    }
    for attendee in member("attendees").as_array().into_iter().flatten() {
        let email = attendee["email"].as_str().unwrap_or_default();
        if !email.contains('@') {
            return Err(ApiError::invalid("Invalid attendee email."));
        }
        if let Some(answer) = attendee["responseStatus"].as_str()
            && !facts::has("values", "responseStatus", answer)
        {
            return Err(ApiError::invalid(&format!("Invalid value for responseStatus: {answer}")));
        }
    }
    if let Some(color) = member("colorId").as_str()
        && !color
            .parse::<usize>()
            .is_ok_and(|color| (1..=facts::number("limits", "color_ids")).contains(&color))
    {
        return Err(ApiError::invalid("Invalid value for colorId."));
    }
    let overrides = member("reminders")["overrides"].as_array().map_or(0, Vec::len);
    if overrides > facts::number("limits", "reminders") {
        return Err(ApiError::invalid("Too many override reminders."));
    }
    if overrides > 0 && member("reminders")["useDefault"] == true {
        let message = "Cannot specify both default reminders and overrides at the same time.";
        return Err(ApiError::new(400, "cannotUseDefaultRemindersAndSpecifyOverride", message));
    }
    if member("attachments").as_array().map_or(0, Vec::len) > facts::number("limits", "attachments") {
        return Err(ApiError::invalid("Too many attachments."));
    }
    Ok(())
}

fn check_times(calendar: &Calendar, record: &EventRecord) -> Check {
    let zone = calendar.zone();
    let (start, end) = (check_time(record, "start", zone)?, check_time(record, "end", zone)?);
    match (start, end) {
        (EventTime::Day(start), EventTime::Day(end)) if start < end => {}
        (EventTime::At(start), EventTime::At(end)) if start <= end => {}
        (EventTime::Day(_), EventTime::Day(_)) | (EventTime::At(_), EventTime::At(_)) => {
            return Err(ApiError::new(400, "timeRangeEmpty", "The specified time range is empty."));
        }
        _ => {
            let message = "The start and end times must either both be date or dateTime.";
            return Err(ApiError::invalid(message));
        }
    }
    if !record.is_series() {
        return Ok(());
    }
    let has_zone = record.members.get("start").is_some_and(|start| start["timeZone"].is_string());
    if matches!(start, EventTime::At(_)) && !has_zone {
        return Err(ApiError::required("Missing time zone definition for start time."));
    }
    if record.text("recurringEventId").is_some() {
        return Err(ApiError::invalid("An instance of a recurring event cannot recur."));
    }
    instances::starts(record, zone, start.instant(zone))
        .map(|_| ())
        .map_err(|_| ApiError::invalid("Invalid recurrence rule."))
}

fn check_time(record: &EventRecord, name: &str, zone: chrono_tz::Tz) -> Result<EventTime, ApiError> {
    let Some(value) = record.members.get(name).filter(|value| value.is_object()) else {
        return Err(ApiError::required(&format!("Missing {name} time.")));
    };
    if value["date"].is_string() && value["dateTime"].is_string() {
        return Err(ApiError::invalid(&format!("Invalid {name} time.")));
    }
    if let Some(id) = value["timeZone"].as_str()
        && times::find_zone(id).is_none()
    {
        return Err(ApiError::invalid(&format!("Invalid time zone definition for {name} time.")));
    }
    let is_local = value["dateTime"].as_str().is_some_and(|text| times::parse_instant(text, None).is_none());
    if is_local && !value["timeZone"].is_string() {
        return Err(ApiError::required(&format!("Missing time zone definition for {name} time.")));
    }
    EventTime::parse(value, zone).ok_or_else(|| ApiError::required(&format!("Missing {name} time.")))
}
