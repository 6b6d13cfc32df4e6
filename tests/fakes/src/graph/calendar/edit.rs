//! Changes of events in the store: create, patch of an item, patch of an occurrence. Notes and mails are left to the callers.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{Days, NaiveDate, NaiveDateTime};
use serde_json::{Map, Value, json};

use crate::graph::calendar::body_text;
use crate::graph::calendar::book::{CalendarBook, EventItem, EventKey, EventSeries, SeriesException};
use crate::graph::calendar::event_body;
use crate::graph::calendar::instances;
use crate::graph::calendar::patterns;
use crate::graph::calendar::span::EventSpan;
use crate::graph::calendar::zones;
use crate::graph::errors::GraphError;

/// Days after its start in which the occurrences of a series are compared with its length.
const COMPARED_DAYS: u64 = 800;

/// Stores a new event. Returns its number.
///
/// # Errors
/// A member of the body is refused.
pub fn create(book: &mut CalendarBook, calendar: &str, body: &Value, now_ms: i64) -> Result<u64, GraphError> {
    let mut members = event_body::defaults(book);
    event_body::apply(&mut members, body)?;
    let is_all_day = body["isAllDay"] == true;
    let span = EventSpan::parse(&body["start"], &body["end"], is_all_day)?;
    let series = match &body["recurrence"] {
        Value::Null => None,
        recurrence => Some(series(recurrence, &span)?),
    };
    let number = book.next_change();
    let mut item = EventItem {
        number,
        calendar: calendar.to_owned(),
        uid: format!("040000008200E00074C5B7101A82E00800000000{number:032X}"),
        members,
        span,
        series,
        files: Vec::new(),
        created_ms: now_ms,
        modified_ms: now_ms,
        changed: number,
        transaction_id: body["transactionId"].as_str().map(str::to_owned),
        place: 0,
        pending_join_reads: 0,
    };
    if body["isOnlineMeeting"] == true && !book.is_personal {
        add_meeting(&mut item, body);
    }
    book.items.insert(number, item);
    Ok(number)
}

/// A series with this recurrence and no exceptions.
fn series(recurrence: &Value, span: &EventSpan) -> Result<EventSeries, GraphError> {
    let zone = recurrence["range"]["recurrenceTimeZone"].as_str().filter(|zone| !zone.is_empty());
    let zone = zone.unwrap_or(&span.start_zone);
    let known = zones::find_zone(zone).or_else(|| zones::find_zone(&span.start_zone));
    let start = match (span.is_all_day, known) {
        (false, Some(known)) => zones::to_local(span.start, known),
        _ => span.local_start(),
    };
    let recurrence = patterns::normalized(recurrence, start.date(), zone)?;
    let until = start.date().checked_add_days(Days::new(COMPARED_DAYS)).unwrap_or_else(|| start.date());
    let days = patterns::days(&recurrence, until);
    if days.is_empty() {
        return Err(GraphError::new(400, "ErrorRecurrenceHasNoOccurrence", "The series has no occurrence."));
    }
    let length = span.end - span.start;
    if days.windows(2).any(|pair| matches!(pair, [one, next] if *next - *one < length)) {
        let message = "The duration of an occurrence is longer than the time to the next one.";
        return Err(GraphError::new(400, "ErrorOccurrenceTimeSpanTooBig", message));
    }
    Ok(EventSeries {
        recurrence,
        zone: zone.to_owned(),
        exceptions: BTreeMap::new(),
        cancelled: BTreeSet::new(),
    })
}

/// Makes an event a Teams meeting; its link is not in the answer of the request itself.
fn add_meeting(item: &mut EventItem, body: &Value) {
    let url =
        format!("https://teams.microsoft.com/l/meetup-join/19%3ameeting_{:08}%40thread.v2/0", item.number);
    let provider = body["onlineMeetingProvider"].as_str().filter(|name| *name != "unknown");
    let html = body_text::with_join_block(item.text("body"), &url);
    item.members.insert("isOnlineMeeting".to_owned(), true.into());
    item.members.insert("onlineMeetingProvider".to_owned(), provider.unwrap_or("teamsForBusiness").into());
    item.members.insert("onlineMeeting".to_owned(), json!({ "joinUrl": url }));
    item.members.insert("body".to_owned(), html.into());
    item.pending_join_reads = 1;
}

/// Takes the link off a meeting whose body has lost the block that joins it.
fn drop_lost_meeting(item: &mut EventItem, body: &Value) {
    let is_kept = body.get("body").is_none() || body_text::has_join_block(item.text("body"));
    if item.members.get("isOnlineMeeting") == Some(&Value::Bool(true)) && !is_kept {
        item.members.insert("isOnlineMeeting".to_owned(), false.into());
        item.members.insert("onlineMeetingProvider".to_owned(), "unknown".into());
        item.members.insert("onlineMeeting".to_owned(), Value::Null);
    }
}

/// Changes an event, or an occurrence, which becomes an exception.
///
/// # Errors
/// There is no such event, or a member of the body is refused.
pub fn patch(book: &mut CalendarBook, key: EventKey, body: &Value, now_ms: i64) -> Result<(), GraphError> {
    let is_personal = book.is_personal;
    let item = book.items.get_mut(&key.number).ok_or_else(GraphError::not_found)?;
    if body.get("transactionId").is_some() {
        let message = "The property 'transactionId' can be set when an event is created alone.";
        return Err(GraphError::new(400, "ErrorInvalidRequest", message));
    }
    match key.date {
        None => {
            let changed = patched_item(item, body)?;
            *item = changed;
            if body["isOnlineMeeting"] == true
                && !is_personal
                && item.members.get("isOnlineMeeting") == Some(&Value::Bool(false))
            {
                add_meeting(item, body);
            } else {
                drop_lost_meeting(item, body);
            }
        }
        Some(date) => patch_occurrence(item, date, body)?,
    }
    book.touch(key.number, now_ms);
    Ok(())
}

fn patched_item(item: &EventItem, body: &Value) -> Result<EventItem, GraphError> {
    let mut changed = item.clone();
    event_body::apply(&mut changed.members, body)?;
    changed.span = patched_span(&item.span, body)?;
    changed.series = match (body.get("recurrence"), &item.series) {
        (Some(Value::Null), _) | (None, None) => None,
        (Some(recurrence), before) => {
            let mut next = series(recurrence, &changed.span)?;
            if let Some(before) = before
                && before.recurrence["pattern"] == next.recurrence["pattern"]
                && item.span == changed.span
            {
                keep_inside(&mut next, before);
            }
            Some(next)
        }
        (None, Some(before)) if item.span == changed.span => Some(before.clone()),
        // Another start: the rule goes on from there, and exceptions are lost.
        (None, Some(before)) => {
            let mut recurrence = before.recurrence.clone();
            let range = &mut recurrence["range"];
            range["startDate"] = changed.span.local_start().date().to_string().into();
            range["recurrenceTimeZone"] = changed.span.start_zone.clone().into();
            Some(series(&recurrence, &changed.span)?)
        }
    };
    Ok(changed)
}

/// Keeps the exceptions and cancelled occurrences that another range still has.
fn keep_inside(next: &mut EventSeries, before: &EventSeries) {
    let last = before.exceptions.keys().chain(&before.cancelled).max().copied();
    let Some(last) = last else { return };
    let days = patterns::days(&next.recurrence, last);
    let exceptions = before.exceptions.iter().filter(|(day, _)| days.contains(day));
    next.exceptions = exceptions.map(|(day, exception)| (*day, exception.clone())).collect();
    next.cancelled = before.cancelled.iter().filter(|day| days.contains(day)).copied().collect();
}

/// Start and end behind a change; those that the change does not name stay.
fn patched_span(before: &EventSpan, body: &Value) -> Result<EventSpan, GraphError> {
    let is_changed = ["start", "end", "isAllDay"].iter().any(|name| body.get(*name).is_some());
    if !is_changed {
        return Ok(before.clone());
    }
    let stays = |at: NaiveDateTime, zone: &str| {
        let known = zones::find_zone(zone).unwrap_or(chrono_tz::UTC);
        let local = if before.is_all_day { at } else { zones::to_local(at, known) };
        json!({ "dateTime": local.format("%Y-%m-%dT%H:%M:%S").to_string(), "timeZone": zone })
    };
    let given = |name: &str| body.get(name).filter(|value| !value.is_null()).cloned();
    let start = given("start").unwrap_or_else(|| stays(before.start, &before.start_zone));
    let end = given("end").unwrap_or_else(|| stays(before.end, &before.end_zone));
    let is_all_day = body["isAllDay"].as_bool().unwrap_or(before.is_all_day);
    EventSpan::parse(&start, &end, is_all_day)
}

fn patch_occurrence(item: &mut EventItem, date: NaiveDate, body: &Value) -> Result<(), GraphError> {
    if body.get("recurrence").is_some_and(|recurrence| !recurrence.is_null()) {
        let message = "An occurrence of a series has no recurrence.";
        return Err(GraphError::new(400, "ErrorInvalidRequest", message));
    }
    let series = item.series.as_ref().ok_or_else(GraphError::not_found)?;
    if !instances::dates(series, date).contains(&date) {
        return Err(GraphError::not_found());
    }
    let original = instances::original_start(item, series, date);
    let (before, own) = match series.exceptions.get(&date) {
        Some(exception) => (exception.span.clone(), exception.members.clone()),
        None => (item.span.at(original), Map::new()),
    };
    let span = patched_span(&before, body)?;
    if instances::crosses_boundary(item, date, &span) {
        let message = "Modified occurrence is crossing or overlapping adjacent occurrence.";
        return Err(GraphError::new(400, "ErrorOccurrenceCrossingBoundary", message));
    }
    let mut all = item.members.clone();
    all.extend(own.clone());
    event_body::apply(&mut all, body)?;
    // A member that the exception had before stays its own, even where the series has the same value now.
    all.retain(|name, value| own.contains_key(name) || item.members.get(name) != Some(&*value));
    if let Some(series) = item.series.as_mut() {
        series.exceptions.insert(date, SeriesException { members: all, span });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{create, patch};
    use crate::graph::calendar::book::{CalendarBook, EventKey};

    fn time(text: &str) -> Value {
        json!({ "dateTime": text, "timeZone": "UTC" })
    }

    fn daily() -> Value {
        json!({
            "subject": "Daily", "start": time("2026-03-02T09:00:00"), "end": time("2026-03-02T10:00:00"),
            "recurrence": {
                "pattern": { "type": "daily", "interval": 1 },
                "range": { "type": "noEnd", "startDate": "2026-03-02" },
            },
        })
    }

    /// A mailbox with a series whose second occurrence is an exception and whose third is cancelled.
    fn series() -> (CalendarBook, u64) {
        let mut book = CalendarBook::new("a@work.test", "A", "UTC", false);
        let calendar = book.default_calendar();
        let number = create(&mut book, &calendar, &daily(), 0).expect("an event");
        let second = EventKey { number, date: "2026-03-03".parse().ok() };
        patch(&mut book, second, &json!({ "subject": "Late" }), 0).expect("a change");
        book.remove_occurrence(number, "2026-03-04".parse().expect("a date"), 0);
        (book, number)
    }

    fn kept(book: &CalendarBook, number: u64) -> (usize, usize) {
        let series = book.items[&number].series.as_ref().expect("a series");
        (series.exceptions.len(), series.cancelled.len())
    }

    #[test]
    fn another_rule_or_start_drops_exceptions() {
        let (mut book, number) = series();
        let change = json!({ "subject": "Renamed" });
        patch(&mut book, EventKey::item(number), &change, 0).expect("a change");
        assert_eq!(kept(&book, number), (1, 1));
        let (mut book, number) = series();
        let change = json!({ "start": time("2026-03-02T11:00:00"), "end": time("2026-03-02T12:00:00") });
        patch(&mut book, EventKey::item(number), &change, 0).expect("a change");
        assert_eq!(kept(&book, number), (0, 0));
        let (mut book, number) = series();
        let mut recurrence = daily()["recurrence"].clone();
        recurrence["pattern"]["interval"] = 2.into();
        patch(&mut book, EventKey::item(number), &json!({ "recurrence": recurrence }), 0).expect("a change");
        assert_eq!(kept(&book, number), (0, 0));
    }

    #[test]
    fn another_end_keeps_the_exceptions_before_it() {
        let (mut book, number) = series();
        let mut recurrence = daily()["recurrence"].clone();
        recurrence["range"] =
            json!({ "type": "endDate", "startDate": "2026-03-02", "endDate": "2026-03-03" });
        patch(&mut book, EventKey::item(number), &json!({ "recurrence": recurrence }), 0).expect("a change");
        assert_eq!(kept(&book, number), (1, 0));
    }

    #[test]
    fn exception_has_the_members_that_differ_alone() {
        let (mut book, number) = series();
        let change = json!({ "subject": "Renamed", "importance": "high" });
        patch(&mut book, EventKey::item(number), &change, 0).expect("a change");
        let date = "2026-03-03".parse().ok();
        let shape = crate::graph::calendar::instances::find(&book, EventKey { number, date }).expect("there");
        assert_eq!(
            (&shape.members["subject"], &shape.members["importance"]),
            (&json!("Late"), &json!("high"))
        );
    }

    #[test]
    fn meeting_loses_its_link_with_the_block_in_its_body() {
        let mut book = CalendarBook::new("a@work.test", "A", "UTC", false);
        let calendar = book.default_calendar();
        let event = json!({
            "subject": "Call", "isOnlineMeeting": true,
            "start": time("2026-03-02T09:00:00"), "end": time("2026-03-02T10:00:00"),
        });
        let number = create(&mut book, &calendar, &event, 0).expect("an event");
        let key = EventKey::item(number);
        let kept = book.items[&number].text("body").to_owned();
        let html = |content: &str| json!({ "body": { "contentType": "html", "content": content } });
        patch(&mut book, key, &html(&kept.replace("Join", "Please join")), 0).expect("a change");
        assert_eq!(book.items[&number].members["isOnlineMeeting"], true);
        patch(&mut book, key, &html("<p>Agenda</p>"), 0).expect("a change");
        assert_eq!(book.items[&number].members["onlineMeeting"], Value::Null);
    }

    #[test]
    fn refused_changes_change_nothing() {
        let (mut book, number) = series();
        let before = book.items[&number].changed;
        let occurrence = EventKey { number, date: "2026-03-05".parse().ok() };
        let over = json!({ "start": time("2026-03-06T09:00:00"), "end": time("2026-03-06T10:00:00") });
        let error = patch(&mut book, occurrence, &over, 0).expect_err("refused");
        assert_eq!(error.code, "ErrorOccurrenceCrossingBoundary");
        let error = patch(&mut book, EventKey::item(number), &json!({ "transactionId": "x" }), 0);
        assert_eq!(error.expect_err("refused").status, 400);
        let error = patch(&mut book, EventKey { number, date: "2026-03-04".parse().ok() }, &json!({}), 0);
        assert_eq!(error.expect_err("cancelled").status, 404);
        let long = json!({ "end": time("2026-03-04T10:00:00") });
        let error = patch(&mut book, EventKey::item(number), &long, 0).expect_err("refused");
        assert_eq!(error.code, "ErrorOccurrenceTimeSpanTooBig");
        assert_eq!(book.items[&number].changed, before);
    }
}
