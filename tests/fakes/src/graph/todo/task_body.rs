//! Bodies of requests that write tasks: days instead of times, completion, and recurrence.

use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime};
use chrono_tz::Tz;
use serde_json::{Map, Value, json};

use crate::graph::calendar::{find_zone, normalized_recurrence, parse_bound, to_local, to_utc};
use crate::graph::errors::GraphError;
use crate::graph::todo::invalid;
use crate::graph::todo::store::TodoTask;

/// Members that null removes.
const OPTIONAL: [&str; 5] =
    ["completedDateTime", "dueDateTime", "recurrence", "reminderDateTime", "startDateTime"];

/// The circumstances in which a task is written.
#[derive(Clone, Copy, Debug)]
pub struct TaskContext {
    pub now_ms: i64,
    /// The zone of times that name none.
    pub zone: Tz,
    /// Whether a recurrence is stored: Graph refuses it, and Microsoft's own clients write it.
    pub takes_recurrence: bool,
}

/// Writes the members of a body into a task.
///
/// # Errors
/// A time or a recurrence is none that To Do takes: 400.
pub fn write(task: &mut TodoTask, body: &Value, how: TaskContext) -> Result<(), GraphError> {
    let Some(given) = body.as_object() else { return Ok(()) };
    for (name, value) in given {
        let stored = match name.as_str() {
            optional if value.is_null() && OPTIONAL.contains(&optional) => {
                task.members.remove(optional);
                continue;
            }
            "dueDateTime" => day(value, how.zone)?,
            "completedDateTime" => day(value, Tz::UTC)?,
            "startDateTime" | "reminderDateTime" => instant(value, how.zone)?,
            "recurrence" => recurrence(value, how)?,
            "body" => {
                task.body_modified_ms = how.now_ms;
                let kind = value["contentType"].as_str().unwrap_or("text");
                json!({ "content": value["content"].as_str().unwrap_or_default(), "contentType": kind })
            }
            "categories" | "importance" | "isReminderOn" | "status" | "title" if !value.is_null() => {
                value.clone()
            }
            _ => continue,
        };
        task.members.insert(name.clone(), stored);
    }
    put_followers(&mut task.members, given, how)
}

/// Writes the members that follow from others.
fn put_followers(
    members: &mut Map<String, Value>,
    given: &Map<String, Value>,
    how: TaskContext,
) -> Result<(), GraphError> {
    let is_completed = members.get("status").is_some_and(|status| status == "completed");
    if !is_completed {
        members.remove("completedDateTime");
    } else if !members.contains_key("completedDateTime") {
        let now = DateTime::from_timestamp_millis(how.now_ms).unwrap_or_default().naive_utc();
        members.insert("completedDateTime".to_owned(), shown(now.date().and_time(NaiveTime::MIN)));
    }
    let has_reminder = given.get("reminderDateTime").is_some_and(|time| !time.is_null());
    if has_reminder && !given.contains_key("isReminderOn") {
        members.insert("isReminderOn".to_owned(), true.into());
    }
    if members.contains_key("dueDateTime") || !members.contains_key("recurrence") {
        return Ok(());
    }
    if given.get("recurrence").is_some_and(|recurrence| !recurrence.is_null()) {
        return Err(invalid("A recurring task needs a dueDateTime."));
    }
    members.remove("recurrence");
    Ok(())
}

/// A time in UTC as To Do answers it.
fn shown(utc: NaiveDateTime) -> Value {
    json!({ "dateTime": utc.format("%Y-%m-%dT%H:%M:%S.0000000").to_string(), "timeZone": "UTC" })
}

/// The zone that a time names, or the other one.
fn zone_of(time: &Value, other: Tz) -> Result<Tz, GraphError> {
    match time["timeZone"].as_str() {
        None => Ok(other),
        Some(name) => {
            find_zone(name).ok_or_else(|| invalid(&format!("The time zone '{name}' is not supported.")))
        }
    }
}

fn unreadable(time: &Value) -> GraphError {
    invalid(&format!("Error converting value {} to type 'Edm.DateTimeOffset'.", time["dateTime"]))
}

/// The time on the clocks of its zone.
fn local_time(time: &Value, zone: Tz) -> Result<NaiveDateTime, GraphError> {
    let text = time["dateTime"].as_str().unwrap_or_default();
    match DateTime::parse_from_rfc3339(text) {
        Ok(at) => Ok(to_local(at.naive_utc(), zone)),
        Err(_) => parse_bound(text).ok_or_else(|| unreadable(time)),
    }
}

/// A day: the time is cut to midnight of the zone that it names, and answered in UTC, which can be the day before.
fn day(time: &Value, other: Tz) -> Result<Value, GraphError> {
    let zone = zone_of(time, other)?;
    let midnight = local_time(time, zone)?.date().and_time(NaiveTime::MIN);
    Ok(shown(to_utc(midnight, zone)))
}

/// A real time, answered in UTC.
fn instant(time: &Value, other: Tz) -> Result<Value, GraphError> {
    let zone = zone_of(time, other)?;
    Ok(shown(to_utc(local_time(time, zone)?, zone)))
}

/// The recurrence as it is answered.
fn recurrence(value: &Value, how: TaskContext) -> Result<Value, GraphError> {
    let start = &value["range"]["startDate"];
    if !how.takes_recurrence {
        let message = format!(
            "Error converting value {start} to type 'Microsoft.OData.Edm.Date'. Path 'recurrence.range.startDate'."
        );
        return Err(invalid(&message));
    }
    let start = start
        .as_str()
        .and_then(|text| text.parse::<NaiveDate>().ok())
        .ok_or_else(|| invalid("The range has no startDate."))?;
    normalized_recurrence(value, start, "UTC")
}

#[cfg(test)]
mod tests {
    use chrono_tz::Tz;
    use serde_json::{Value, json};

    use super::{TaskContext, write};
    use crate::clock::START_MS;
    use crate::graph::todo::store::TodoTask;

    fn how() -> TaskContext {
        TaskContext { now_ms: START_MS, zone: Tz::UTC, takes_recurrence: false }
    }

    fn task(body: &Value) -> TodoTask {
        let mut task = TodoTask::new(1, 1, START_MS);
        write(&mut task, body, how()).expect("a task");
        task
    }

    #[test]
    fn due_is_midnight_of_its_zone_in_utc() {
        for (text, zone, expected) in [
            ("2026-03-05T17:30:00", "W. Europe Standard Time", "2026-03-04T23:00:00.0000000"),
            ("2026-03-05", "UTC", "2026-03-05T00:00:00.0000000"),
            ("2026-03-05T09:00:00.0000000", "America/New_York", "2026-03-05T05:00:00.0000000"),
            ("2026-03-05T23:30:00Z", "Tokyo Standard Time", "2026-03-05T15:00:00.0000000"),
        ] {
            let task = task(&json!({ "dueDateTime": { "dateTime": text, "timeZone": zone } }));
            assert_eq!(task.members["dueDateTime"], json!({ "dateTime": expected, "timeZone": "UTC" }));
        }
        let wrong = json!({ "dueDateTime": { "dateTime": "soon", "timeZone": "UTC" } });
        assert_eq!(write(&mut task(&json!({})), &wrong, how()).expect_err("no time").status, 400);
    }

    #[test]
    fn reminder_keeps_its_time() {
        let time = json!({ "dateTime": "2026-03-05T09:15:00", "timeZone": "W. Europe Standard Time" });
        let task = task(&json!({ "reminderDateTime": time }));
        assert_eq!(task.members["reminderDateTime"]["dateTime"], "2026-03-05T08:15:00.0000000");
        assert_eq!(task.members["isReminderOn"], true);
    }

    #[test]
    fn completion_is_midnight_of_utc_and_ends_with_the_status() {
        let mut task = task(&json!({ "status": "completed" }));
        assert_eq!(task.members["completedDateTime"]["dateTime"], "2026-03-01T00:00:00.0000000");
        write(&mut task, &json!({ "status": "inProgress" }), how()).expect("a change");
        assert!(!task.members.contains_key("completedDateTime"));
    }

    #[test]
    fn recurrence_is_refused_unless_another_client_writes_it() {
        let body = json!({
            "dueDateTime": { "dateTime": "2026-03-05", "timeZone": "UTC" },
            "recurrence": {
                "pattern": { "type": "daily", "interval": 1 },
                "range": { "type": "noEnd", "startDate": "2026-03-05" },
            },
        });
        let mut task = TodoTask::new(1, 1, START_MS);
        let error = write(&mut task, &body, how()).expect_err("refused");
        assert!(error.message.contains("Edm.Date"), "{}", error.message);
        let other = TaskContext { takes_recurrence: true, ..how() };
        write(&mut task, &body, other).expect("stored");
        assert_eq!(task.members["recurrence"]["range"]["endDate"], "0001-01-01");
        let alone = json!({ "recurrence": body["recurrence"] });
        assert!(write(&mut TodoTask::new(2, 1, START_MS), &alone, other).is_err(), "no due date");
        write(&mut task, &json!({ "dueDateTime": null }), how()).expect("removed");
        assert!(!task.members.contains_key("dueDateTime") && !task.members.contains_key("recurrence"));
    }
}
