//! Google's tasks and task lists as sources: one for each.

use connector_sdk::{Failure, Outcome};
use model::wire::{Item, ItemError, JsonText, Source};
use serde::Serialize;
use serde_json::json;
use serde_json::value::RawValue;

use crate::tasks::mapping::{list_from, task_data, task_from};
use crate::tasks::native::{TaskHead, TaskListEntry, TaskRecord};

/// Returns a source that is gone.
pub fn deleted_source(id: &str) -> Source {
    Source { external_id: id.to_owned(), deleted: true, ..Source::default() }
}

/// Returns the source of a task. Fails where the task has no id.
pub fn task_source(theirs: &TaskRecord) -> Outcome<Source> {
    if theirs.id.is_empty() {
        return Err(Failure::unavailable("the provider's task has no id"));
    }
    if theirs.deleted {
        return Ok(Source { etag: theirs.etag.clone(), ..deleted_source(&theirs.id) });
    }
    let item = Item {
        external_id: theirs.id.clone(),
        body: body(&task_from(theirs))?,
        provider_data: task_data(theirs),
        ..Item::default()
    };
    Ok(source(&theirs.id, theirs.etag.as_ref(), item))
}

/// Returns the source of a record of a page of tasks. One that cannot be read has an error, and its neighbours are read all the same.
pub fn listed_task(record: &RawValue) -> Source {
    // serde_json's own text quotes the unexpected value, which may be personal.
    let task = serde_json::from_str::<TaskRecord>(record.get())
        .map_err(|error| format!("the provider's task cannot be read at column {}", error.column()));
    let source = task.and_then(|task| task_source(&task).map_err(|failure| failure.message));
    source.unwrap_or_else(|message| {
        let error = Some(ItemError { code: "unreadable".to_owned(), message });
        Source { error, deleted: false, ..named_task(record) }
    })
}

/// Returns the name and the version of a record of a page of tasks, without its content.
pub fn named_task(record: &RawValue) -> Source {
    let TaskHead { id, etag, deleted, .. } = head_of(record);
    Source { external_id: id, etag, deleted, ..Source::default() }
}

/// Returns the name of a task, its version, and whether the task is there.
pub fn head_of(record: &RawValue) -> TaskHead {
    serde_json::from_str(record.get()).unwrap_or_default()
}

/// Returns the source of a task list. Fails where the list has no id.
pub fn list_source(theirs: &TaskListEntry, default_id: Option<&str>) -> Outcome<Source> {
    if theirs.id.is_empty() {
        return Err(Failure::unavailable("the provider's task list has no id"));
    }
    let updated = theirs.updated.as_ref();
    let item = Item {
        external_id: theirs.id.clone(),
        body: body(&list_from(theirs, default_id == Some(theirs.id.as_str())))?,
        provider_data: updated.map(|time| json!({ "updatedAt": time })),
        ..Item::default()
    };
    Ok(source(&theirs.id, theirs.etag.as_ref(), item))
}

fn source(id: &str, etag: Option<&String>, item: Item) -> Source {
    Source { external_id: id.to_owned(), etag: etag.cloned(), items: vec![item], ..Source::default() }
}

fn body(resource: &impl Serialize) -> Outcome<JsonText> {
    JsonText::of(resource)
        .map_err(|e| Failure::unavailable(format!("the item cannot be written as JSON: {e}")))
}
