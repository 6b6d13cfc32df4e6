//! Validation of event types; errors name their field.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use base::error::{Code, Error, Result, invalid};
use base::input::errors::host_name;
use base::input::validate::{self, MAX_LINE, MAX_TEXT, fault};
use model::bounds::{DAY_MINUTES, YEAR_MINUTES, scheduling as bounds};
use model::scheduling::event_type::{
    Assignment, BookingReminder, EventType, Host, HostRole, MeetingPlace, MeetingPlaceKind, Question,
    QuestionKind, RoundRobinStrategy,
};
use model::scheduling::{Schedule, WeeklyHours};
use scheduling::hours::Zone;
use serde_json::{Value, json};

use crate::bookings::rules;

/// Minutes of a meeting: at most a day, as of everything that reserves time (`storage::scheduling::reserved_times`).
const DURATION: RangeInclusive<i64> = bounds::MIN_DURATION..=bounds::MAX_DURATION;

/// Whether this is a valid slug of an event type.
pub fn is_slug(text: &str) -> bool {
    let is_known = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    !text.is_empty() && text.len() <= bounds::MAX_SLUG && text.bytes().all(is_known)
}

/// The error for a missing required field.
pub fn missing(field: &str) -> Error {
    invalid(Code::MissingField, field, format!("{field} is required"))
}

/// Checks an event type.
pub fn check(e: &EventType) -> Result<()> {
    if e.slug.is_empty() {
        return Err(missing("slug"));
    }
    if !is_slug(&e.slug) {
        return Err(fault("slug", "must be 1 to 64 characters out of a to z, 0 to 9 and -"));
    }
    if e.title.trim().is_empty() {
        return Err(missing("title"));
    }
    line("title", &e.title)?;
    validate::text("description", e.description.as_deref(), MAX_TEXT)?;
    if let Some(color) = &e.color {
        validate::color(color)?;
    }
    times(e)?;
    reminders(&e.notifications.reminders)?;
    hours_and_seats(e)?;
    hosts(&e.hosts)?;
    assignment(e)?;
    places(&e.locations)?;
    // Also parses the schedule, the window and the limits.
    rules::for_event_type(e, e.duration_minutes)?;
    questions(&e.questions)?;
    appearance(e)
}

fn times(e: &EventType) -> Result<()> {
    within("durationMinutes", e.duration_minutes, DURATION)?;
    validate::length("durationOptions", e.duration_options.len(), bounds::MAX_DURATIONS)?;
    for (i, minutes) in e.duration_options.iter().enumerate() {
        within(&format!("durationOptions[{i}]"), *minutes, DURATION)?;
    }
    if let Some(minutes) = e.slot_interval_minutes {
        within("slotIntervalMinutes", minutes, DURATION)?;
    }
    within("slotOffsetMinutes", e.slot_offset_minutes, 0..=DAY_MINUTES)?;
    within("bufferBeforeMinutes", e.buffer_before_minutes, 0..=DAY_MINUTES)?;
    within("bufferAfterMinutes", e.buffer_after_minutes, 0..=DAY_MINUTES)?;
    within("minNoticeMinutes", e.min_notice_minutes, 0..=YEAR_MINUTES)?;
    if let Some(minutes) = e.confirmation_expires_minutes {
        within("confirmationExpiresMinutes", minutes, 1..=YEAR_MINUTES)?;
    }
    within("cancellation.minNoticeMinutes", e.cancellation.min_notice_minutes, 0..=YEAR_MINUTES)?;
    within("reschedule.minNoticeMinutes", e.reschedule.min_notice_minutes, 0..=YEAR_MINUTES)?;
    match e.reschedule.max_count {
        Some(count) => within("reschedule.maxCount", count, 0..=bounds::MAX_RESCHEDULES),
        None => Ok(()),
    }
}

fn reminders(reminders: &[BookingReminder]) -> Result<()> {
    validate::length("notifications.reminders", reminders.len(), bounds::MAX_REMINDERS)?;
    for (i, reminder) in reminders.iter().enumerate() {
        let field = format!("notifications.reminders[{i}].minutesBefore");
        within(&field, reminder.minutes_before, 1..=YEAR_MINUTES)?;
    }
    Ok(())
}

/// Refuses hours that are given twice, and an impossible number of seats.
fn hours_and_seats(e: &EventType) -> Result<()> {
    if e.schedule.is_some() && e.schedule_id.is_some() {
        let message = "scheduleId and schedule both say when the event type is open; set one of them to null";
        return Err(invalid(Code::ConflictingFields, "scheduleId", message));
    }
    match e.seats_per_slot {
        Some(seats) => within("seatsPerSlot", seats, 1..=bounds::MAX_SEATS),
        None => Ok(()),
    }
}

fn hosts(hosts: &[Host]) -> Result<()> {
    if hosts.is_empty() {
        return Err(missing("hosts"));
    }
    validate::length("hosts", hosts.len(), bounds::MAX_HOSTS)?;
    let mut known = BTreeSet::new();
    for (i, host) in hosts.iter().enumerate() {
        let field = |name: &str| format!("hosts[{i}].{name}");
        if host.connection_id.is_empty() {
            return Err(missing(&field("connectionId")));
        }
        if !known.insert(&host.connection_id) {
            return Err(fault(&field("connectionId"), "is there twice; an account is one host"));
        }
        let conflicts = &host.conflict_calendar_ids;
        validate::length(&field("conflictCalendarIds"), conflicts.len(), bounds::MAX_CALENDARS)?;
        each_once(&field("conflictCalendarIds"), conflicts)?;
        within(&field("weight"), host.weight, 0..=bounds::MAX_WEIGHT)?;
        within(&field("priority"), host.priority, -bounds::MAX_PRIORITY..=bounds::MAX_PRIORITY)?;
        rules::plan(&field("schedule"), host.schedule.as_ref())?;
        if let Some(name) = &host.display_name {
            line(&field("displayName"), name)?;
        }
        if let Some(url) = &host.avatar_url {
            validate::url(&field("avatarUrl"), url, &["https"], "an https URL")?;
        }
    }
    Ok(())
}

/// Refuses hosts none of whom would ever be in a meeting.
fn assignment(e: &EventType) -> Result<()> {
    let has = |role: HostRole| e.hosts.iter().any(|host| host.role == role);
    let of_role = |message: &str| Err(fault("hosts[0].role", message));
    match e.assignment {
        Assignment::Fixed if !has(HostRole::Required) => {
            of_role("must be required for one host at least: with the assignment fixed those meet")
        }
        Assignment::Collective if e.hosts.iter().all(|host| host.role == HostRole::Optional) => {
            of_role("must not be optional for all hosts: at least one host has to attend")
        }
        Assignment::RoundRobin | Assignment::Priority if !has(HostRole::Rotation) => {
            of_role("must be rotation for one host at least: with this assignment one of those is chosen")
        }
        Assignment::RoundRobin | Assignment::Priority
            if e.round_robin_strategy == RoundRobinStrategy::Weighted
                && e.hosts.iter().all(|host| host.role != HostRole::Rotation || host.weight == 0) =>
        {
            let message =
                "must be 1 or more for one host of the rotation at least: those with 0 are never chosen";
            Err(fault("hosts[0].weight", message))
        }
        _ => Ok(()),
    }
}

fn places(places: &[MeetingPlace]) -> Result<()> {
    validate::length("locations", places.len(), bounds::MAX_PLACES)?;
    for (i, place) in places.iter().enumerate() {
        let by_provider = matches!(
            place.kind,
            MeetingPlaceKind::GoogleMeet | MeetingPlaceKind::Teams | MeetingPlaceKind::Zoom
        );
        let field = format!("locations[{i}].value");
        match &place.value {
            // Other conferences are created by the calendar of the meeting.
            None if place.kind == MeetingPlaceKind::Zoom => {
                let field = format!("locations[{i}].type");
                let message = format!("{field}: no calendar makes Zoom meetings; give the link in value");
                return Err(invalid(Code::CapabilityNotSupported, field, message));
            }
            Some(url) if by_provider || place.kind == MeetingPlaceKind::Link => {
                validate::url(&field, url, &["http", "https"], "an http or https URL")?;
                validate::text(&field, Some(url), MAX_LINE)?;
            }
            Some(text) => line(&field, text)?,
            None => {}
        }
    }
    Ok(())
}

fn questions(questions: &[Question]) -> Result<()> {
    validate::length("questions", questions.len(), bounds::MAX_QUESTIONS)?;
    let mut keys = BTreeSet::new();
    for (i, question) in questions.iter().enumerate() {
        let field = |name: &str| format!("questions[{i}].{name}");
        let key = &question.key;
        if key.is_empty() {
            return Err(missing(&field("key")));
        }
        if key.len() > bounds::MAX_KEY
            || !key.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b))
        {
            return Err(fault(&field("key"), "must be 1 to 64 letters, digits, _ and -"));
        }
        if !keys.insert(key) {
            return Err(fault(&field("key"), "is there twice"));
        }
        if question.label.trim().is_empty() {
            return Err(missing(&field("label")));
        }
        validate::text(&field("label"), Some(&question.label), bounds::MAX_LABEL)?;
        validate::length(&field("options"), question.options.len(), bounds::MAX_OPTIONS)?;
        let chooses = matches!(question.kind, QuestionKind::Select | QuestionKind::Multiselect);
        if chooses == question.options.is_empty() {
            return match chooses {
                true => Err(missing(&field("options"))),
                false => Err(fault(&field("options"), "are those of select and multiselect alone")),
            };
        }
        each_once(&field("options"), &question.options)?;
        for (j, option) in question.options.iter().enumerate() {
            validate::text(&format!("questions[{i}].options[{j}]"), Some(option), bounds::MAX_LABEL)?;
        }
    }
    Ok(())
}

/// Checks texts and addresses that people see.
fn appearance(e: &EventType) -> Result<()> {
    if let Some(template) = &e.title_template {
        line("titleTemplate", template)?;
    }
    if let Some(url) = &e.success_redirect_url {
        validate::url("successRedirectUrl", url, &["https"], "an https URL")?;
    }
    if let Some(url) = &e.link.logo_url {
        validate::url("link.logoUrl", url, &["https"], "an https URL")?;
    }
    validate::length("link.embedDomains", e.link.embed_domains.len(), bounds::MAX_DOMAINS)?;
    for (i, domain) in e.link.embed_domains.iter().enumerate() {
        if host_name(domain).is_none() {
            return Err(fault(&format!("link.embedDomains[{i}]"), "must be a host name such as example.org"));
        }
    }
    Ok(())
}

/// Gives a new event type without hours those of a working week, in the first known time zone of its hosts. `time_zones` are those of the
/// hosts, in their order. Returns a warning if none is known.
// Contract silent: the hours of an event type that says nothing of them. A change can take them away again.
pub fn default_hours(body: &mut EventType, time_zones: &[Option<String>]) -> Option<Value> {
    if has_hours(body) {
        return None;
    }
    let mut open = body.hosts.iter().zip(time_zones).filter(|(host, _)| host.role != HostRole::Optional);
    let known = open.find_map(|(_, zone)| zone.as_deref().and_then(Zone::named));
    let message =
        "the opening hours are in UTC, because no host's account says its time zone: set schedule.timeZone";
    let warning = known.is_none().then(|| {
        let field = "schedule.timeZone";
        json!({ "code": "default_time_zone", "message": message, "target": field, "field": field })
    });
    let hours = WeeklyHours { days: (1..=5).collect(), start: "09:00".to_owned(), end: "17:00".to_owned() };
    body.schedule = Some(Schedule {
        time_zone: known.unwrap_or_else(Zone::utc).name,
        weekly: vec![hours],
        overrides: Vec::new(),
    });
    warning
}

fn has_hours(body: &EventType) -> bool {
    let has_own = body.schedule.is_some() || body.schedule_id.is_some();
    has_own || body.hosts.iter().all(|host| host.schedule.is_some())
}

/// Whether the event type has hours in which it can be booked. A shared schedule can change at any time, and counts as such.
fn is_ever_open(body: &EventType) -> bool {
    let opens = |schedule: &Schedule| {
        let has_days = schedule.weekly.iter().any(|hours| !hours.days.is_empty());
        has_days || schedule.overrides.iter().any(|date| date.available)
    };
    match &body.schedule {
        Some(schedule) => opens(schedule),
        None => {
            let mut hosts = body.hosts.iter().filter_map(|host| host.schedule.as_ref());
            body.schedule_id.is_some() || (has_hours(body) && hosts.any(opens))
        }
    }
}

/// Returns a warning if an event type can never have slots.
pub fn never_open(body: &EventType) -> Option<Value> {
    let message =
        "no opening hours: set schedule.weekly, schedule.overrides or scheduleId, or nothing can be booked";
    (!is_ever_open(body)).then(
        || json!({ "code": "never_open", "message": message, "target": "schedule", "field": "schedule" }),
    )
}

/// Checks a text of one line.
pub fn line(field: &str, text: &str) -> Result<()> {
    validate::text(field, Some(text), MAX_LINE)?;
    match text.chars().any(|c| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')) {
        true => Err(fault(field, "must be one line, without control characters")),
        false => Ok(()),
    }
}

fn within(field: &str, value: i64, range: RangeInclusive<i64>) -> Result<()> {
    match range.contains(&value) {
        true => Ok(()),
        false => Err(fault(field, &format!("must be from {} to {}", range.start(), range.end()))),
    }
}

fn each_once(field: &str, texts: &[String]) -> Result<()> {
    let mut seen = BTreeSet::new();
    match texts.iter().position(|text| !seen.insert(text)) {
        Some(n) => Err(fault(&format!("{field}[{n}]"), "is there twice")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use model::scheduling::DateOverride;

    use super::*;

    fn of_zones(zones: &[Option<&str>]) -> (EventType, Option<Value>) {
        let host = |n: usize| Host { connection_id: format!("conn_{n}"), ..Host::default() };
        let mut body = EventType { hosts: (0..zones.len()).map(host).collect(), ..EventType::default() };
        let zones: Vec<Option<String>> = zones.iter().map(|zone| zone.map(str::to_owned)).collect();
        let warning = default_hours(&mut body, &zones);
        (body, warning)
    }

    #[test]
    fn an_event_type_without_hours_is_open_on_working_days() {
        let (body, warning) = of_zones(&[Some("no/zone"), Some("Europe/Berlin"), Some("Asia/Tokyo")]);
        let schedule = body.schedule.unwrap();
        assert_eq!((schedule.time_zone.as_str(), warning), ("Europe/Berlin", None));
        let [hours] = &schedule.weekly[..] else { panic!("one row") };
        assert_eq!((hours.days.as_slice(), hours.start.as_str()), ([1, 2, 3, 4, 5].as_slice(), "09:00"));
        assert_eq!(hours.end, "17:00");
        let (body, warning) = of_zones(&[None]);
        assert_eq!(body.schedule.unwrap().time_zone, "UTC");
        assert_eq!(warning.unwrap()["code"], "default_time_zone");
    }

    #[test]
    fn hours_that_are_given_stay() {
        let schedule = Schedule { time_zone: "Asia/Tokyo".to_owned(), ..Schedule::default() };
        let host = Host { schedule: Some(schedule.clone()), ..Host::default() };
        for body in [
            EventType { schedule: Some(schedule), hosts: vec![Host::default()], ..EventType::default() },
            EventType {
                schedule_id: Some("sch_1".to_owned()),
                hosts: vec![Host::default()],
                ..EventType::default()
            },
            EventType { hosts: vec![host], ..EventType::default() },
        ] {
            let mut filled = body.clone();
            assert_eq!(default_hours(&mut filled, &[Some("UTC".to_owned())]), None);
            assert_eq!(filled, body);
            assert_eq!(never_open(&body).is_none(), body.schedule_id.is_some());
        }
    }

    #[test]
    fn a_schedule_without_hours_is_never_open() {
        let (mut body, _) = of_zones(&[None]);
        assert_eq!(never_open(&body), None);
        let hours = body.schedule.take().unwrap();
        assert_eq!(never_open(&body).unwrap()["code"], "never_open");
        body.hosts[0].schedule = Some(hours.clone());
        assert_eq!(never_open(&body), None);
        let closed = DateOverride { date: "2026-03-10".to_owned(), ..DateOverride::default() };
        let open = DateOverride { available: true, ..closed.clone() };
        for (overrides, is_open) in
            [(vec![], false), (vec![closed.clone()], false), (vec![closed, open], true)]
        {
            body.schedule = Some(Schedule { weekly: Vec::new(), overrides, ..hours.clone() });
            assert_eq!(never_open(&body).is_none(), is_open);
        }
    }
}
