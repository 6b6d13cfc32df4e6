//! Task lists and tasks as Google answers them.

use serde_json::{Map, Value, json};

use crate::google::task_lists::book::{TaskListRecord, TaskRecord};
use crate::google::times;

/// Milliseconds from which the place of a hidden task counts down: the task that was completed last comes first.
const FAR_MS: i64 = 9_999_999_999_999;

/// The etag of something that changed last with this number.
pub fn etag(changed: u64) -> String {
    format!("\"LTEwMDAw{changed:08x}\"")
}

pub fn show_list(list: &TaskListRecord) -> Value {
    json!({
        "kind": "tasks#taskList",
        "id": list.id,
        "etag": etag(list.changed),
        "title": list.title,
        "updated": times::stamp(list.updated_ms),
        "selfLink": format!("https://www.googleapis.com/tasks/v1/users/@me/lists/{}", list.id),
    })
}

pub fn show_task(list: &TaskListRecord, task: &TaskRecord) -> Value {
    let mut shown: Map<String, Value> = task.members.clone();
    let link = format!("https://www.googleapis.com/tasks/v1/lists/{}/tasks/{}", list.id, task.id);
    let members = [
        ("kind", "tasks#task".into()),
        ("id", task.id.clone().into()),
        ("etag", etag(task.changed).into()),
        ("updated", times::stamp(task.updated_ms).into()),
        ("selfLink", link.into()),
        ("position", position(list, task).into()),
        ("webViewLink", format!("https://tasks.google.com/task/{}?sa=6", task.id).into()),
    ];
    shown.extend(members.map(|(name, value): (&str, Value)| (name.to_owned(), value)));
    shown.entry("title".to_owned()).or_insert_with(|| "".into());
    shown.entry("status".to_owned()).or_insert_with(|| "needsAction".into());
    shown.entry("links".to_owned()).or_insert_with(|| json!([]));
    if let Some(parent) = &task.parent {
        shown.insert("parent".to_owned(), parent.clone().into());
    }
    if let Some(assignment) = &task.assignment {
        shown.insert("assignmentInfo".to_owned(), assignment.clone());
    }
    for (name, is_set) in [("deleted", task.is_deleted), ("hidden", task.is_hidden)] {
        if is_set {
            shown.insert(name.to_owned(), true.into());
        }
    }
    Value::Object(shown)
}

/// The place beneath the parent, which moves with those of the siblings.
fn position(list: &TaskListRecord, task: &TaskRecord) -> String {
    let place = list.siblings(task.parent.as_deref()).iter().position(|id| *id == task.id);
    match place {
        Some(place) => format!("{place:020}"),
        None => format!("{:020}", FAR_MS.saturating_sub(task.updated_ms)),
    }
}
