//! Parts of tasks with calls of their own: checklist items, linked resources, and attachments, which can be read alone.

use serde_json::{Value, json};

use crate::door::Reply;
use crate::graph::call::{GraphCall, PageSizes, json_reply};
use crate::graph::errors::{GraphError, GraphResult};
use crate::graph::facts;
use crate::graph::state::GraphState;
use crate::graph::times::stamp;
use crate::graph::todo::store::{TodoAttachment, TodoStore, TodoTask};
use crate::graph::todo::task_json::{attachment_value, whole_attachment};
use crate::graph::todo::{note_task, store, store_mut};

/// A kind of part that clients write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskPart {
    ChecklistItem,
    LinkedResource,
}

impl TaskPart {
    /// The name of the collection.
    fn name(self) -> &'static str {
        match self {
            TaskPart::ChecklistItem => "checklistItems",
            TaskPart::LinkedResource => "linkedResources",
        }
    }

    fn of(self, task: &TodoTask) -> &Vec<Value> {
        match self {
            TaskPart::ChecklistItem => &task.checklist,
            TaskPart::LinkedResource => &task.links,
        }
    }

    fn of_mut(self, task: &mut TodoTask) -> &mut Vec<Value> {
        match self {
            TaskPart::ChecklistItem => &mut task.checklist,
            TaskPart::LinkedResource => &mut task.links,
        }
    }

    /// Writes the members of a body.
    fn write(self, value: &mut Value, body: &Value, now_ms: i64) {
        let names: &[&str] = match self {
            TaskPart::ChecklistItem => &["displayName", "isChecked"],
            TaskPart::LinkedResource => &["applicationName", "displayName", "externalId", "webUrl"],
        };
        for name in names.iter().filter(|name| body.get(**name).is_some()) {
            value[*name] = body[*name].clone();
        }
        if self == TaskPart::LinkedResource {
            return;
        }
        match (value["isChecked"] == true, value.as_object_mut()) {
            (true, Some(members)) => {
                members.entry("checkedDateTime").or_insert_with(|| stamp(now_ms).into());
            }
            (_, Some(members)) => {
                members.remove("checkedDateTime");
            }
            (_, None) => {}
        }
    }
}

/// Adds a part to a task. Returns it as it is answered; none where there is no such task.
pub fn add(store: &mut TodoStore, task: u64, part: TaskPart, body: &Value, now_ms: i64) -> Option<Value> {
    let number = store.log.next_change();
    let mut value = match part {
        TaskPart::ChecklistItem => {
            json!({ "displayName": "", "isChecked": false, "createdDateTime": stamp(now_ms) })
        }
        TaskPart::LinkedResource => json!({}),
    };
    value["id"] = format!("51d8a471-2e9d-4f53-9937-{number:012x}").into();
    part.write(&mut value, body, now_ms);
    part.of_mut(store.tasks.get_mut(&task)?).push(value.clone());
    Some(value)
}

/// Removes a part of a task. Returns whether it was there.
pub fn remove(store: &mut TodoStore, task: u64, part: TaskPart, id: &str) -> bool {
    let Some(task) = store.tasks.get_mut(&task) else { return false };
    let parts = part.of_mut(task);
    let before = parts.len();
    parts.retain(|one| one["id"] != id);
    parts.len() < before
}

/// Answers a call below `checklistItems` or `linkedResources`.
pub fn answer(
    state: &mut GraphState,
    call: &GraphCall,
    number: u64,
    part: TaskPart,
    rest: &[&str],
) -> GraphResult {
    let now_ms = state.clock.now_ms();
    let task = store(state, call)?.tasks.get(&number).ok_or_else(GraphError::not_found)?;
    match (call.method.as_str(), rest) {
        ("GET", []) => Ok(json_reply(200, &page(call, part.name(), part.of(task).clone())?)),
        ("POST", []) => {
            let added = add(store_mut(state, call)?, number, part, &call.body, now_ms);
            record(state, &call.user, number);
            entity(call, part, added.as_ref(), 201)
        }
        ("GET", [id]) => entity(call, part, part.of(task).iter().find(|one| one["id"] == *id), 200),
        ("PATCH", [id]) => {
            let task = store_mut(state, call)?.tasks.get_mut(&number).ok_or_else(GraphError::not_found)?;
            let mut parts = part.of_mut(task).iter_mut();
            let value = parts.find(|one| one["id"] == *id).ok_or_else(GraphError::not_found)?;
            part.write(value, &call.body, now_ms);
            let value = value.clone();
            record(state, &call.user, number);
            entity(call, part, Some(&value), 200)
        }
        ("DELETE", [id]) => {
            if !remove(store_mut(state, call)?, number, part, id) {
                return Err(GraphError::not_found());
            }
            record(state, &call.user, number);
            Ok(Reply::new(204))
        }
        _ => Err(GraphError::no_route(part.name())),
    }
}

/// Records that the parts of a task have changed; deltas say nothing of it where a trap is on.
pub fn record(state: &mut GraphState, user: &str, task: u64) {
    if state.traps.is_on("todo_parts_silent") {
        return;
    }
    let now_ms = state.clock.now_ms();
    if let Some(store) = state.todo.get_mut(user) {
        store.touch(task, now_ms);
    }
    note_task(state, user, "updated", task);
}

fn page(call: &GraphCall, name: &str, values: Vec<Value>) -> Result<Value, GraphError> {
    let sizes = PageSizes {
        usual: facts::number("todo_pages", "parts_usual"),
        most: facts::number("todo_pages", "most"),
    };
    call.page(&format!("todo/lists('id')/tasks('id')/{name}"), values, sizes)
}

fn entity(call: &GraphCall, part: TaskPart, value: Option<&Value>, status: u16) -> GraphResult {
    let mut body = call.select(value.cloned().ok_or_else(GraphError::not_found)?);
    let name = part.name();
    body["@odata.context"] = call.context(&format!("todo/lists('id')/tasks('id')/{name}/$entity")).into();
    Ok(json_reply(status, &body))
}

fn find_attachment<'t>(task: &'t TodoTask, id: &str) -> Result<&'t TodoAttachment, GraphError> {
    task.attachments.iter().find(|attachment| attachment.id == id).ok_or_else(GraphError::not_found)
}

/// Answers a call that reads attachments.
pub fn attachments(store: &TodoStore, call: &GraphCall, number: u64, rest: &[&str]) -> GraphResult {
    let task = store.tasks.get(&number).ok_or_else(GraphError::not_found)?;
    match rest {
        [] => {
            let values = task.attachments.iter().map(attachment_value).collect();
            Ok(json_reply(200, &page(call, "attachments", values)?))
        }
        [id] => Ok(json_reply(200, &call.select(whole_attachment(find_attachment(task, id)?)))),
        [id, "$value"] => {
            let attachment = find_attachment(task, id)?;
            let kind = attachment.content_type.as_str();
            Ok(Reply::new(200).header("content-type", kind).body(attachment.bytes.clone()))
        }
        _ => Err(GraphError::no_route("attachments")),
    }
}
