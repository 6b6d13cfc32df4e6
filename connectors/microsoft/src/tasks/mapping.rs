//! Graph's task lists and tasks as the model's. Pure.

use connector_sdk::Outcome;
use jiff::civil::Date;
use model::Instant;
use model::tasks::{
    ChecklistItem, LinkedType, NotesFormat, Task, TaskLink, TaskList, TaskListRole, TaskPriority, TaskStatus,
};
use serde_json::{Map, Value, json};

use crate::calendar::patterned::{PatternedRecurrence, SeriesStart, rule_from};
use crate::odata::stamp::stamp;
use crate::tasks::days::{day_from, instant_from};
use crate::tasks::native::{TodoLink, TodoList, TodoStep, TodoTask};

/// Graph's names of states.
pub const STATES: [(&str, TaskStatus); 5] = [
    ("notStarted", TaskStatus::NeedsAction),
    ("inProgress", TaskStatus::InProgress),
    ("completed", TaskStatus::Completed),
    ("waitingOnOthers", TaskStatus::Waiting),
    ("deferred", TaskStatus::Deferred),
];
/// Graph's names of priorities.
pub const PRIORITIES: [(&str, TaskPriority); 3] =
    [("low", TaskPriority::Low), ("normal", TaskPriority::Normal), ("high", TaskPriority::High)];
/// The begin of the external id of a link to a resource here; behind it are the type and the id of the resource.
const OWN_LINK: &str = "switchboard";

/// Returns the task list.
pub fn list_from(theirs: &TodoList) -> TaskList {
    let role = match (theirs.is_default(), theirs.is_flagged_mail()) {
        (true, _) => Some(TaskListRole::Default),
        (false, true) => Some(TaskListRole::Flagged),
        (false, false) => None,
    };
    TaskList {
        name: theirs.display_name.clone().unwrap_or_default(),
        role,
        is_owner: theirs.is_owner.unwrap_or(true),
        is_shared: theirs.is_shared.unwrap_or_default(),
        read_only: theirs.is_flagged_mail(),
        ..TaskList::default()
    }
}

/// Returns the task. `mailbox`: the IANA name of the mailbox's zone. Fails with `unavailable` for a time that is none.
pub fn task_from(theirs: &TodoTask, mailbox: &str) -> Outcome<Task> {
    let status = STATES.iter().find(|(name, _)| theirs.status.as_deref() == Some(*name));
    let status = status.map_or(TaskStatus::NeedsAction, |(_, status)| *status);
    let is_completed = status == TaskStatus::Completed;
    let due = day_from(theirs.due_date_time.as_ref(), mailbox)?;
    let (notes, notes_format) = notes_from(theirs);
    let has_reminder = theirs.is_reminder_on.unwrap_or(theirs.reminder_date_time.is_some());
    let reminder_at = match has_reminder {
        true => instant_from(theirs.reminder_date_time.as_ref(), mailbox)?,
        false => None,
    };
    let completed_at = match is_completed {
        true => instant_from(theirs.completed_date_time.as_ref(), mailbox)?,
        false => None,
    };
    Ok(Task {
        title: theirs.title.clone().unwrap_or_default(),
        notes,
        notes_format,
        status,
        priority: priority_from(theirs.importance.as_deref()),
        percent_complete: percent_of(status),
        start_date: day_from(theirs.start_date_time.as_ref(), mailbox)?.map(|day| day.to_string()),
        due_date: due.map(|day| day.to_string()),
        completed_at,
        reminder_at,
        recurrence: recurrence_from(theirs, due, mailbox),
        categories: theirs.categories.clone().unwrap_or_default(),
        has_attachments: theirs.has_attachments.unwrap_or_default(),
        checklist_items: theirs.checklist_items.iter().flatten().map(step_from).collect(),
        links: theirs.linked_resources.iter().flatten().map(link_from).collect(),
        ..Task::default()
    })
}

fn priority_from(theirs: Option<&str>) -> Option<TaskPriority> {
    PRIORITIES.iter().find(|(name, _)| theirs == Some(*name)).map(|(_, priority)| *priority)
}

/// Returns the part of a task that is done, as far as its state says so.
pub fn percent_of(status: TaskStatus) -> Option<i64> {
    (status == TaskStatus::Completed).then_some(100)
}

fn notes_from(theirs: &TodoTask) -> (Option<String>, NotesFormat) {
    let content = theirs.body.as_ref().and_then(|body| body.content.clone());
    let Some(content) = content.filter(|content| !content.trim().is_empty()) else {
        return (None, NotesFormat::Text);
    };
    let kind = theirs.body.as_ref().and_then(|body| body.content_type.as_deref());
    let is_html = kind.is_some_and(|kind| kind.eq_ignore_ascii_case("html"));
    (Some(content), if is_html { NotesFormat::Html } else { NotesFormat::Text })
}

/// The lines of the recurrence; none where it is none that has a rule, which stands among the provider's data then.
fn recurrence_from(theirs: &TodoTask, due: Option<Date>, mailbox: &str) -> Vec<String> {
    let Some(recurrence) = pattern_of(theirs) else { return Vec::new() };
    let Some(first) = due.or(recurrence.range.start_date) else { return Vec::new() };
    let start = SeriesStart {
        local: first.to_datetime(jiff::civil::Time::midnight()),
        is_all_day: true,
        zone: mailbox.to_owned(),
    };
    rule_from(&recurrence, &start).unwrap_or_default()
}

fn pattern_of(theirs: &TodoTask) -> Option<PatternedRecurrence> {
    let recurrence = theirs.recurrence.clone().filter(|recurrence| !recurrence.is_null())?;
    serde_json::from_value(recurrence).ok()
}

/// A step without a time of creation has that of the begin of time, which is never a later one.
fn step_from(theirs: &TodoStep) -> ChecklistItem {
    let checked = theirs.is_checked.unwrap_or_default();
    ChecklistItem {
        id: theirs.id.clone(),
        title: theirs.display_name.clone().unwrap_or_default(),
        checked,
        checked_at: instant(theirs.checked_date_time.as_ref()).filter(|_| checked),
        created_at: instant(theirs.created_date_time.as_ref()).unwrap_or_default(),
        ..ChecklistItem::default()
    }
}

fn instant(text: Option<&String>) -> Option<Instant> {
    text.and_then(|text| stamp(text).ok().flatten())
}

fn link_from(theirs: &TodoLink) -> TaskLink {
    let present = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
    let external_id = present(&theirs.external_id);
    let own = external_id.as_deref().and_then(own_link);
    let (resource_type, resource_id) = match own {
        Some((kind, id)) => (kind, Some(id)),
        None => (LinkedType::Url, None),
    };
    TaskLink {
        id: theirs.id.clone(),
        url: present(&theirs.web_url),
        title: present(&theirs.display_name),
        application_name: present(&theirs.application_name),
        external_id: external_id.filter(|_| resource_id.is_none()),
        resource_type,
        resource_id,
        ..TaskLink::default()
    }
}

/// The resource here that an external id of a link names.
fn own_link(external_id: &str) -> Option<(LinkedType, String)> {
    let rest = external_id.strip_prefix(OWN_LINK)?.strip_prefix(':')?;
    let (kind, id) = rest.split_once(':')?;
    let kind: LinkedType = serde_json::from_value(json!(kind)).ok()?;
    (!id.is_empty()).then(|| (kind, id.to_owned()))
}

/// Returns the external id of a link: that of a resource here, or the one that the caller gives.
pub fn external_id_of(ours: &TaskLink) -> Option<String> {
    match &ours.resource_id {
        Some(id) => {
            let kind = json!(ours.resource_type);
            Some(format!("{OWN_LINK}:{}:{id}", kind.as_str().unwrap_or_default()))
        }
        None => ours.external_id.clone().filter(|id| !id.is_empty()),
    }
}

/// Returns members of a task that the model has no field for; none where there are none.
pub fn task_data(theirs: &TodoTask, task: &Task) -> Option<Value> {
    let mut data = Map::new();
    data.extend(theirs.last_modified_date_time.as_ref().map(|time| ("updatedAt".to_owned(), json!(time))));
    let recurrence = theirs.recurrence.as_ref().filter(|value| !value.is_null());
    let unread = recurrence.filter(|_| task.recurrence.is_empty());
    data.extend(unread.map(|value| ("recurrence".to_owned(), value.clone())));
    (!data.is_empty()).then_some(Value::Object(data))
}
