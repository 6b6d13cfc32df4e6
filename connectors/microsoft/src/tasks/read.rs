//! Reads of tasks, one or many at once, with their steps and links.

use connector_sdk::http::Response;
use connector_sdk::rest::batch::{Part, PartOutcome};
use connector_sdk::{Context, Failure, Outcome};
use model::wire::{Source, SourceRef, Sources, SourcesGet};

use crate::api::{accepted, ask, object};
use crate::odata::batch;
use crate::odata::failures::is_gone;
use crate::tasks::native::TodoTask;
use crate::tasks::record::{deleted_source, task_source, unreadable_source};
use crate::tasks::roots::{mailbox_zone, task_request};

const READING: &str = "reading the tasks";

/// Tasks that were read at once.
#[derive(Debug, Default)]
pub struct TaskContent {
    pub sources: Vec<Source>,
    /// The tasks that are still to be read, because the provider asks for a wait.
    pub unread: Vec<String>,
    /// Why tasks are still to be read.
    pub wait: Option<Failure>,
}

/// Returns a task as it is now.
pub fn get(context: &Context, args: &SourceRef) -> Outcome<Sources> {
    let task = read_task(context, &args.collection, &args.source)?;
    let source = task_source(&task, &mailbox_zone(context))?;
    Ok(Sources { sources: vec![source], ..Sources::default() })
}

/// Returns many tasks as they are now, those that are gone as deleted.
pub fn get_many(context: &Context, args: &SourcesGet) -> Outcome<Sources> {
    let content = read_sources(context, &args.collection, &args.sources)?;
    match content.wait {
        Some(wait) => Err(wait),
        None => Ok(Sources { sources: content.sources, ..Sources::default() }),
    }
}

/// Reads a task with its steps and links.
pub fn read_task(context: &Context, list: &str, id: &str) -> Outcome<TodoTask> {
    ask(context, task_request(list, id)?, "reading the task")
}

/// Reads the tasks of these ids in batches. One that is gone is deleted; one that cannot be read has an error, and its neighbours are read
/// all the same.
pub fn read_sources(context: &Context, list: &str, ids: &[String]) -> Outcome<TaskContent> {
    let mut content = TaskContent::default();
    let mut parts = Vec::with_capacity(ids.len());
    for id in ids {
        match task_request(list, id) {
            Ok(request) => parts.push(Part::new(id.as_str(), request)),
            // What can be no id names no task.
            Err(_) => content.sources.push(deleted_source(id)),
        }
    }
    if parts.is_empty() {
        return Ok(content);
    }
    let mailbox = mailbox_zone(context);
    let outcome = batch::read(context, parts, batch::MAX_PARTS, READING)?;
    for (id, part) in outcome.parts {
        match part {
            PartOutcome::Answered(response) => {
                content.sources.push(source_of(context, &id, response, &mailbox)?);
            }
            PartOutcome::Missing => content.unread.push(id),
        }
    }
    content.wait = outcome.wait;
    Ok(content)
}

fn source_of(context: &Context, id: &str, response: Response, mailbox: &str) -> Outcome<Source> {
    let response = match accepted(context, response, READING) {
        Err(failure) if is_gone(&failure) => return Ok(deleted_source(id)),
        answer => answer?,
    };
    let source = object::<TodoTask>(&response).and_then(|task| task_source(&task, mailbox));
    Ok(match source {
        // The id as it was asked for names the source.
        Ok(source) => Source { external_id: id.to_owned(), ..source },
        Err(failure) => unreadable_source(id, failure.message),
    })
}
