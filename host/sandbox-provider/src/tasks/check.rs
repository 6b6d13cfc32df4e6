//! From a client's JSON to a checked list, task, checklist item or link. Pure: no code here depends on the state or HTTP.

use jiff::civil::{Date, Time};
use model::Instant;
use model::tasks::{ChecklistItem, Task, TaskLink, TaskList, TaskStatus};
use serde_json::{Map, Value};

use crate::patch::{MAX_LINE, MAX_TEXT, colour, few, merged, patched, text, title};
use crate::problem::Problem;
use crate::times::zone;

/// Entries of each list of a task.
pub const MAX_SMALL_LIST: usize = 100;

const ITEM_FIELDS: &[&str] = &["title", "checked", "position"];
const ITEM_OWN: &[&str] = &["id", "taskId", "checkedAt", "createdAt", "etag"];
const LINK_FIELDS: &[&str] = &["resourceType", "url", "title", "applicationName", "resourceId", "externalId"];
const LINK_OWN: &[&str] = &["id", "taskId", "createdAt"];

/// The list that `patch` makes of `base`, checked.
pub fn list(base: &TaskList, patch: &Map<String, Value>) -> Result<TaskList, Problem> {
    let list = merged(base, patch, &[])?;
    title("name", &list.name)?;
    colour("color", list.color.as_ref())?;
    Ok(list)
}

/// The task that `patch` makes of `base`, checked. Does not check whether the parent exists.
pub fn task(base: &Task, patch: &Map<String, Value>, now_ms: i64) -> Result<Task, Problem> {
    let mut task = merged(base, patch, &["taskListId"])?;
    title("title", &task.title)?;
    text("notes", task.notes.as_ref(), MAX_TEXT)?;
    text("position", task.position.as_ref(), MAX_LINE)?;
    if task.percent_complete.is_some_and(|percent| !(0..=100).contains(&percent)) {
        return Err(Problem::field("percentComplete", "percentComplete must be 0 to 100"));
    }
    if let Some(start) = &task.start_date {
        day("startDate", start)?;
    }
    due(&mut task, patch.get("dueTime").is_some_and(Value::is_string))?;
    repeat(&task.recurrence)?;
    few("categories", task.categories.len(), MAX_SMALL_LIST)?;
    few("assignees", task.assignees.len(), MAX_SMALL_LIST)?;
    match (base.status, task.status) {
        (TaskStatus::Completed, TaskStatus::Completed) => {}
        (_, TaskStatus::Completed) => task.completed_at = Some(Instant::from_millis(now_ms)),
        _ => task.completed_at = None,
    }
    Ok(task)
}

fn day(field: &str, value: &str) -> Result<(), Problem> {
    // Only the plain form: jiff reads more.
    match value.len() == 10 && value.parse::<Date>().is_ok() {
        true => Ok(()),
        false => Err(Problem::field(field, format!("{field} must be a date such as 2026-03-01"))),
    }
}

/// Checks the due date and time. Removing the date removes the time.
fn due(task: &mut Task, sends_time: bool) -> Result<(), Problem> {
    if let Some(name) = &task.time_zone {
        zone(name, "timeZone")?;
    }
    let Some(on) = &task.due_date else {
        if sends_time {
            return Err(Problem::field("dueTime", "a time without a day is never due"));
        }
        task.due_time = None;
        return Ok(());
    };
    day("dueDate", on)?;
    let is_time = |time: &String| time.len() == 5 && time.parse::<Time>().is_ok();
    match &task.due_time {
        Some(time) if !is_time(time) => {
            Err(Problem::field("dueTime", "dueTime must be a time such as 09:30"))
        }
        _ => Ok(()),
    }
}

/// Validates lines of days or of times; which of them they are matters only to code that expands them.
fn repeat(lines: &[String]) -> Result<(), Problem> {
    recurrence::validate(lines, true)
        .or_else(|_| recurrence::validate(lines, false))
        .map_err(|e| Problem::field("recurrence", e.to_string()))
}

/// The checklist item that `patch` makes of `base`, checked.
pub fn item(base: &ChecklistItem, patch: &Map<String, Value>, now_ms: i64) -> Result<ChecklistItem, Problem> {
    let mut item: ChecklistItem = patched(base, patch, ITEM_FIELDS, ITEM_OWN)?;
    title("title", &item.title)?;
    text("position", item.position.as_ref(), MAX_LINE)?;
    match (base.checked, item.checked) {
        (true, true) => {}
        (false, true) => item.checked_at = Some(Instant::from_millis(now_ms)),
        (_, false) => item.checked_at = None,
    }
    Ok(item)
}

/// The link that `patch` describes, checked.
pub fn link(base: &TaskLink, patch: &Map<String, Value>) -> Result<TaskLink, Problem> {
    let link: TaskLink = patched(base, patch, LINK_FIELDS, LINK_OWN)?;
    for (field, value) in [
        ("url", &link.url),
        ("title", &link.title),
        ("applicationName", &link.application_name),
        ("resourceId", &link.resource_id),
        ("externalId", &link.external_id),
    ] {
        text(field, value.as_ref(), MAX_LINE)?;
    }
    if link.url.is_none() && link.resource_id.is_none() && link.external_id.is_none() {
        return Err(Problem::field("url", "a link needs a url, a resourceId or an externalId"));
    }
    Ok(link)
}
