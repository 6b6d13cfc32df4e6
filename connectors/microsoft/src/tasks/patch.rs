//! The model's tasks as Graph's: the members that the caller changed, and what Graph cannot keep of them. Pure.

use model::tasks::{NotesFormat, Task, TaskPriority};
use model::wire::Warning;
use serde_json::{Map, Value, json};

use crate::calendar::patch::field_warning;
use crate::tasks::days::{day_to, instant_to};
use crate::tasks::mapping::{PRIORITIES, STATES, percent_of};

/// The JSON of a task, and warnings about what Graph cannot keep.
#[derive(Debug, Default)]
pub struct WrittenTask {
    /// Null empties a member.
    pub body: Map<String, Value>,
    pub lost: Vec<Warning>,
}

/// Returns Graph's JSON of the fields that `changed` names, without the recurrence, which is not written. `mailbox`: the IANA name of the
/// mailbox's zone.
pub fn task_to(ours: &Task, changed: &[String], mailbox: &str) -> WrittenTask {
    let has = |field: &str| changed.iter().any(|name| name == field);
    let mut body = Map::new();
    let mut set = |member: &str, value: Value| body.insert(member.to_owned(), value);
    if has("title") {
        set("title", json!(ours.title));
    }
    if has("notes") || has("notesFormat") {
        let kind = if ours.notes_format == NotesFormat::Html { "html" } else { "text" };
        set("body", json!({ "content": ours.notes.as_deref().unwrap_or_default(), "contentType": kind }));
    }
    let state = STATES.iter().find(|(_, status)| *status == ours.status).map(|(name, _)| *name);
    if let Some(state) = state.filter(|_| has("status")) {
        set("status", json!(state));
    }
    if has("priority") {
        let wanted = ours.priority.unwrap_or(TaskPriority::Normal);
        let name = PRIORITIES.iter().find(|(_, priority)| *priority == wanted).map(|(name, _)| *name);
        set("importance", json!(name));
    }
    if has("dueDate") {
        set("dueDateTime", json!(ours.due_date.as_deref().map(|day| day_to(day, mailbox))));
    }
    if has("startDate") {
        set("startDateTime", json!(ours.start_date.as_deref().map(|day| day_to(day, mailbox))));
    }
    if has("reminderAt") {
        set("isReminderOn", json!(ours.reminder_at.is_some()));
        set("reminderDateTime", json!(ours.reminder_at.map(instant_to)));
    }
    if has("categories") {
        set("categories", json!(ours.categories));
    }
    WrittenTask { body, lost: losses(ours, &has) }
}

/// Warnings about changed fields that Graph does not have.
fn losses(ours: &Task, has: &dyn Fn(&str) -> bool) -> Vec<Warning> {
    let is_known = STATES.iter().any(|(_, status)| *status == ours.status);
    let is_said = ours.percent_complete.is_none() || ours.percent_complete == percent_of(ours.status);
    let lost = [
        ("status", !is_known),
        ("parentId", ours.parent_id.is_some()),
        ("dueTime", ours.due_time.is_some()),
        ("timeZone", ours.time_zone.is_some() && ours.due_time.is_some()),
        ("percentComplete", !is_said),
        ("assignees", !ours.assignees.is_empty()),
        ("position", ours.position.is_some()),
    ];
    let lost = lost.into_iter().filter(|(field, is_lost)| *is_lost && has(field));
    lost.map(|(field, _)| field_warning(field, "Microsoft To Do cannot keep this")).collect()
}
