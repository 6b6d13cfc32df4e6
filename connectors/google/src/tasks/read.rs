//! Reads of single tasks, and looks through whole lists.

use std::ops::ControlFlow;

use connector_sdk::http::Request;
use connector_sdk::{Context, Failure, Outcome, code};
use model::wire::{SourceRef, Sources};

use crate::api::ask;
use crate::roots;
use crate::tasks::native::{TaskPage, TaskRecord};
use crate::tasks::record::task_source;

/// Tasks of a page; Google's most.
pub const PAGE_SIZE: u32 = 100;
/// Pages that are looked through: as many as the tasks that a list can have without hidden ones.
const MAX_PAGES: usize = 200;

/// Returns a task as it is now.
pub fn get(context: &Context, args: &SourceRef) -> Outcome<Sources> {
    let task = read_task(context, &args.collection, &args.source)?;
    Ok(Sources { sources: vec![task_source(&task)?], ..Sources::default() })
}

/// Returns the task of this id. Google keeps deleted tasks for a while and answers them too: they fail with `not-found`.
pub fn read_task(context: &Context, list: &str, id: &str) -> Outcome<TaskRecord> {
    let request = Request::get(roots::tasks(&["lists", list, "tasks", id], &[])?);
    // Nothing but the ids differs from one such request to another.
    let task: TaskRecord =
        ask(context, request, "reading the task").map_err(|failure| match failure.code.as_str() {
            code::INVALID => failure.with_code(code::NOT_FOUND),
            _ => failure,
        })?;
    ensure_there(task)
}

/// Returns the task, and fails with `not-found` where it is deleted.
pub fn ensure_there(task: TaskRecord) -> Outcome<TaskRecord> {
    match task.deleted {
        true => Err(Failure::not_found("the task has been deleted")),
        false => Ok(task),
    }
}

/// Shows the tasks of a list page by page, until `visit` has seen enough. Fails for a list that is too long. `query`: which tasks, and
/// which members of them.
pub fn visit_pages(
    context: &Context,
    list: &str,
    query: &[(&str, &str)],
    mut visit: impl FnMut(TaskRecord) -> ControlFlow<()>,
) -> Outcome<()> {
    let size = PAGE_SIZE.to_string();
    let mut token: Option<String> = None;
    for _ in 0..MAX_PAGES {
        let mut query = [&[("maxResults", size.as_str())][..], query].concat();
        query.extend(token.as_deref().map(|token| ("pageToken", token)));
        let request = Request::get(roots::tasks(&["lists", list, "tasks"], &query)?);
        let page: TaskPage = ask(context, request, "listing the tasks")?;
        let records = page.items.iter();
        for task in records.filter_map(|record| serde_json::from_str::<TaskRecord>(record.get()).ok()) {
            if visit(task).is_break() {
                return Ok(());
            }
        }
        token = page.next_page_token.filter(|token| !token.is_empty());
        if token.is_none() {
            return Ok(());
        }
    }
    Err(Failure::unavailable("the task list is too long to be looked through"))
}
