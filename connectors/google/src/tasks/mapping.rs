//! Google's tasks and task lists as the model's, and back. Pure.

use connector_sdk::{Failure, Outcome};
use model::Instant;
use model::tasks::{NotesFormat, Task, TaskList, TaskListRole, TaskStatus};
use model::wire::Warning;
use serde_json::{Map, Value, json};

use crate::calendar::patch::field_warning;
use crate::tasks::native::{TaskListEntry, TaskRecord};

/// Characters of a title.
const MAX_TITLE: usize = 1_024;
/// Characters of notes.
const MAX_NOTES: usize = 8_192;

/// Returns the task list. `is_default`: it is the account's default one.
pub fn list_from(theirs: &TaskListEntry, is_default: bool) -> TaskList {
    TaskList {
        name: theirs.title.clone().unwrap_or_default(),
        role: is_default.then_some(TaskListRole::Default),
        is_owner: true,
        ..TaskList::default()
    }
}

/// Returns the task.
pub fn task_from(theirs: &TaskRecord) -> Task {
    let is_completed = theirs.is_completed();
    Task {
        parent_id: text(theirs.parent.as_ref()),
        title: theirs.title.clone().unwrap_or_default(),
        notes: text(theirs.notes.as_ref()),
        status: if is_completed { TaskStatus::Completed } else { TaskStatus::NeedsAction },
        percent_complete: percent_of(is_completed),
        due_date: day(theirs.due.as_deref()),
        completed_at: theirs.completed.as_deref().and_then(|at| at.parse().ok()).filter(|_| is_completed),
        position: text(theirs.position.as_ref()),
        web_url: text(theirs.web_view_link.as_ref()),
        ..Task::default()
    }
}

/// The part of a task that is done: Google knows tasks that are completed, and others.
fn percent_of(is_completed: bool) -> Option<i64> {
    is_completed.then_some(100)
}

/// A text; an empty one is none.
fn text(text: Option<&String>) -> Option<String> {
    text.filter(|text| !text.is_empty()).cloned()
}

/// Returns the day of a timestamp, without its time; none for a text that has no day.
pub fn day(due: Option<&str>) -> Option<String> {
    let day = due?.get(..10)?;
    let fits = |at: usize, byte: u8| match at {
        4 | 7 => byte == b'-',
        _ => byte.is_ascii_digit(),
    };
    day.bytes().enumerate().all(|(at, byte)| fits(at, byte)).then(|| day.to_owned())
}

/// Returns members of a task that the model has no field for; none where there are none.
pub fn task_data(theirs: &TaskRecord) -> Option<Value> {
    let mut data = Map::new();
    data.extend(theirs.updated.as_ref().map(|time| ("updatedAt".to_owned(), json!(time))));
    data.extend(theirs.hidden.then(|| ("hidden".to_owned(), json!(true))));
    let members = [("links", &theirs.links), ("assignmentInfo", &theirs.assignment_info)];
    let is_empty = |value: &Value| value.is_null() || *value == json!([]);
    for (name, value) in members {
        data.extend(value.clone().filter(|value| !is_empty(value)).map(|value| (name.to_owned(), value)));
    }
    (!data.is_empty()).then_some(Value::Object(data))
}

/// Returns Google's JSON of the changed fields, in which null empties a member, and warnings about fields that Google does not have. The
/// place of a task is not among them: Google changes it by a separate request. Fails where a text is too long for Google.
pub fn task_to(ours: &Task, changed: &[String]) -> Outcome<(Map<String, Value>, Vec<Warning>)> {
    let has = |field: &str| changed.iter().any(|name| name == field);
    let mut body = Map::new();
    if has("title") {
        ensure_fits("title", &ours.title, MAX_TITLE)?;
        body.insert("title".to_owned(), json!(ours.title));
    }
    if has("notes") {
        ensure_fits("notes", ours.notes.as_deref().unwrap_or_default(), MAX_NOTES)?;
        body.insert("notes".to_owned(), json!(ours.notes));
    }
    if has("dueDate") {
        let due = ours.due_date.as_ref().map(|day| format!("{day}T00:00:00.000Z"));
        body.insert("due".to_owned(), json!(due));
    }
    if has("status") {
        let is_completed = ours.status == TaskStatus::Completed;
        body.insert("status".to_owned(), json!(if is_completed { "completed" } else { "needsAction" }));
        if !is_completed {
            body.insert("completed".to_owned(), Value::Null);
        }
    }
    Ok((body, losses(ours, &has)))
}

fn ensure_fits(field: &str, text: &str, most: usize) -> Outcome<()> {
    if text.chars().count() <= most {
        return Ok(());
    }
    let failure = Failure::invalid(format!("{field} has more than {most} characters, Google's limit"));
    Err(failure.with_detail(json!({ "field": field })))
}

/// Warnings about changed fields that Google does not have.
fn losses(ours: &Task, has: &dyn Fn(&str) -> bool) -> Vec<Warning> {
    let is_plain = matches!(ours.status, TaskStatus::NeedsAction | TaskStatus::Completed);
    let percent = percent_of(ours.status == TaskStatus::Completed);
    let lost = [
        ("status", !is_plain),
        ("startDate", ours.start_date.is_some()),
        ("dueTime", ours.due_time.is_some()),
        ("timeZone", ours.time_zone.is_some() && ours.due_time.is_some()),
        ("priority", ours.priority.is_some()),
        ("percentComplete", ours.percent_complete.is_some() && ours.percent_complete != percent),
        ("recurrence", !ours.recurrence.is_empty()),
        ("categories", !ours.categories.is_empty()),
        ("assignees", !ours.assignees.is_empty()),
        ("reminderAt", ours.reminder_at.is_some()),
        ("notesFormat", ours.notes_format == NotesFormat::Html),
    ];
    let lost = lost.into_iter().filter(|(field, is_lost)| *is_lost && has(field));
    lost.map(|(field, _)| field_warning(field, "Google Tasks cannot keep this")).collect()
}

/// Returns the time of a text in milliseconds since 1970; none for what is no time.
pub fn millis(time: Option<&str>) -> Option<i64> {
    time?.parse::<Instant>().ok().map(Instant::as_millis)
}
