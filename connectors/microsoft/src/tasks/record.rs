//! Graph's task lists and tasks as sources: one for each.

use connector_sdk::{Failure, Outcome};
use model::wire::{Item, ItemError, JsonText, Source};
use serde::Serialize;

use crate::tasks::mapping::{list_from, task_data, task_from};
use crate::tasks::native::{TodoList, TodoTask};

/// Returns a source that is gone.
pub fn deleted_source(id: &str) -> Source {
    Source { external_id: id.to_owned(), deleted: true, ..Source::default() }
}

/// Returns the source of a task that cannot be read.
pub fn unreadable_source(id: &str, message: String) -> Source {
    let error = Some(ItemError { code: "unreadable".to_owned(), message });
    Source { external_id: id.to_owned(), error, ..Source::default() }
}

/// Returns the source of a task. `mailbox`: the IANA name of the mailbox's zone. Fails where the task has no id.
pub fn task_source(theirs: &TodoTask, mailbox: &str) -> Outcome<Source> {
    if theirs.id.is_empty() {
        return Err(Failure::unavailable("the provider's task has no id"));
    }
    let task = task_from(theirs, mailbox)?;
    let item = Item {
        external_id: theirs.id.clone(),
        body: body(&task)?,
        provider_data: task_data(theirs, &task),
        ..Item::default()
    };
    Ok(source(&theirs.id, theirs.version(), item))
}

/// Returns the source of a task list. Fails where the list has no id.
pub fn list_source(theirs: &TodoList) -> Outcome<Source> {
    if theirs.id.is_empty() {
        return Err(Failure::unavailable("the provider's task list has no id"));
    }
    let item = Item { external_id: theirs.id.clone(), body: body(&list_from(theirs))?, ..Item::default() };
    Ok(source(&theirs.id, theirs.etag.clone(), item))
}

fn source(id: &str, etag: Option<String>, item: Item) -> Source {
    Source { external_id: id.to_owned(), etag, items: vec![item], ..Source::default() }
}

fn body(resource: &impl Serialize) -> Outcome<JsonText> {
    JsonText::of(resource)
        .map_err(|error| Failure::unavailable(format!("the item cannot be written as JSON: {error}")))
}
