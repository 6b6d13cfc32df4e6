//! Writes of tasks. Graph promises no `If-Match` for them: a version that the caller insists on is compared before.

use connector_sdk::http::Request;
use connector_sdk::{Context, Failure, Outcome, code};
use model::tasks::Task;
use model::wire::{ItemDelete, ItemWrite, Mutated, Warning};
use serde_json::json;

use crate::api::{ask, execute, object};
use crate::contacts::earlier::{created_since, first_attempt_at, is_since};
use crate::contacts::losses::accept_losses;
use crate::odata::batch;
use crate::odata::page::Page;
use crate::tasks::mapping::task_from;
use crate::tasks::native::TodoTask;
use crate::tasks::patch::{WrittenTask, task_to};
use crate::tasks::read::read_task;
use crate::tasks::record::{deleted_source, task_source};
use crate::tasks::roots::{mailbox_zone, task_request, tasks};

/// Tasks of a page in which that of an earlier attempt is looked for, and pages.
const PAGE_SIZE: &str = "100";
const MAX_PAGES: usize = 50;

/// Makes a task. A second attempt under the same key looks for the first one's.
pub fn create(context: &Context, args: &ItemWrite<Task>) -> Outcome<Mutated> {
    let mailbox = mailbox_zone(context);
    if !args.body.recurrence.is_empty() {
        return Err(recurrence_unsupported());
    }
    let WrittenTask { mut body, lost } = task_to(&args.body, &args.changed, &mailbox);
    let warnings = accept_losses(lost, args.strict)?;
    body.retain(|_, value| !value.is_null());
    body.insert("title".to_owned(), json!(args.body.title));
    let earlier = match context.attempt() {
        1 => None,
        _ => find_made(context, args, &mailbox)?,
    };
    let task: TodoTask = match earlier {
        Some(task) => task,
        None => {
            let request = Request::post(tasks(&args.collection, &[], &[])?).json(&body);
            ask(context, request, "creating the task")?
        }
    };
    answer(&task, &mailbox, warnings)
}

/// Graph takes the recurrence of no task: the day on which it begins is refused (microsoftgraph/microsoft-graph-toolkit#3182).
fn recurrence_unsupported() -> Failure {
    Failure::unsupported("changing the recurrence of tasks").with_detail(json!({ "field": "recurrence" }))
}

/// The newest task that an earlier attempt may have made: one that says the same.
fn find_made(context: &Context, args: &ItemWrite<Task>, mailbox: &str) -> Outcome<Option<TodoTask>> {
    let since = first_attempt_at(context);
    let filter = created_since(since);
    let doing = "looking for the task of an earlier attempt";
    let mut query = vec![("$filter", filter.as_str()), ("$top", PAGE_SIZE)];
    let mut page: Page<TodoTask> =
        match ask(context, Request::get(tasks(&args.collection, &[], &query)?), doing) {
            Err(failure) if failure.code == code::INVALID => {
                query.remove(0);
                ask(context, Request::get(tasks(&args.collection, &[], &query)?), doing)?
            }
            page => page?,
        };
    let mut newest: Option<TodoTask> = None;
    for _ in 0..MAX_PAGES {
        let next = page.next()?;
        let is_new = |task: &TodoTask| is_since(task.created_date_time.as_ref(), since);
        for task in page.value.into_iter().filter(is_new) {
            let is_newer =
                newest.as_ref().is_none_or(|newest| newest.created_date_time < task.created_date_time);
            if is_newer && is_alike(&task_from(&task, mailbox)?, &args.body) {
                newest = Some(task);
            }
        }
        let Some(next) = next else { return Ok(newest) };
        let (name, value) = next.parameter();
        let query = [&query[..], &[(name, value)]].concat();
        page = ask(context, Request::get(tasks(&args.collection, &[], &query)?), doing)?;
    }
    Ok(newest)
}

fn is_alike(one: &Task, wanted: &Task) -> bool {
    let notes = |task: &Task| task.notes.as_deref().unwrap_or_default().trim().to_owned();
    one.title.trim() == wanted.title.trim()
        && notes(one) == notes(wanted)
        && one.due_date == wanted.due_date
        && one.status == wanted.status
}

/// Changes a task, and reads it with its parts, which the answer to a change does not have.
pub fn update(context: &Context, args: &ItemWrite<Task>) -> Outcome<Mutated> {
    let (list, mailbox) = (args.collection.as_str(), mailbox_zone(context));
    let id = args.source.as_deref().ok_or_else(|| Failure::invalid("source is missing: name the task"))?;
    let changes_recurrence = args.changed.iter().any(|name| name == "recurrence");
    let WrittenTask { body, lost } = task_to(&args.body, &args.changed, &mailbox);
    let mut before = None;
    if args.if_match.is_some() || changes_recurrence || body.is_empty() {
        let task = read_task(context, list, id)?;
        ensure_version(&task, args.if_match.as_deref())?;
        if changes_recurrence && task_from(&task, &mailbox)?.recurrence != args.body.recurrence {
            return Err(recurrence_unsupported());
        }
        before = Some(task);
    }
    let warnings = accept_losses(lost, args.strict)?;
    let task = match before.filter(|_| body.is_empty()) {
        Some(task) => task,
        None => {
            let request = Request::patch(tasks(list, &[id], &[])?).json(&body);
            change(context, list, id, request, "changing the task")?.1
        }
    };
    answer(&task, &mailbox, warnings)
}

/// Fails with `conflict` where the caller insists on another version than this one.
pub fn ensure_version(task: &TodoTask, if_match: Option<&str>) -> Outcome<()> {
    match if_match {
        Some(wanted) if task.version().as_deref() != Some(wanted) => {
            Err(Failure::conflict("the task was changed meanwhile"))
        }
        _ => Ok(()),
    }
}

/// Sends a change of a task or of a part of it, and returns the text of its answer with the task as it is then: one batch.
pub fn change(
    context: &Context,
    list: &str,
    id: &str,
    request: Request,
    doing: &str,
) -> Outcome<(Vec<u8>, TodoTask)> {
    let mut answers = batch::change_in_turn(context, vec![request, task_request(list, id)?], doing)?;
    let changed = batch::taken(context, &mut answers, 0, doing)?;
    let task = match batch::taken(context, &mut answers, 1, doing) {
        Ok(response) => object(&response)?,
        // The change is made: only the look at it failed.
        Err(_) => read_task(context, list, id)?,
    };
    Ok((changed.body, task))
}

/// Deletes a task. One that is gone is as good as deleted.
pub fn delete(context: &Context, args: &ItemDelete) -> Outcome<Mutated> {
    let deleted = || Mutated { sources: vec![deleted_source(&args.source)], ..Mutated::default() };
    if args.if_match.is_some() {
        match read_task(context, &args.collection, &args.source) {
            Err(failure) if failure.code == code::NOT_FOUND => return Ok(deleted()),
            task => ensure_version(&task?, args.if_match.as_deref())?,
        }
    }
    let request = Request::delete(tasks(&args.collection, &[&args.source], &[])?);
    match execute(context, request, "deleting the task") {
        Err(failure) if failure.code != code::NOT_FOUND => Err(failure),
        _ => Ok(deleted()),
    }
}

/// The answer of a write: the task as it is now.
fn answer(task: &TodoTask, mailbox: &str, warnings: Vec<Warning>) -> Outcome<Mutated> {
    let source = task_source(task, mailbox)?;
    Ok(Mutated { item: Some(task.id.clone()), sources: vec![source], warnings, ..Mutated::default() })
}
