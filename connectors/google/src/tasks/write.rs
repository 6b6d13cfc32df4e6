//! Writes of tasks.

use std::ops::ControlFlow;

use connector_sdk::http::Request;
use connector_sdk::{Context, Failure, Outcome, code};
use model::Instant;
use model::tasks::Task;
use model::wire::{ItemDelete, ItemWrite, Mutated, Warning};
use serde_json::{Map, Value, json};

use crate::api::{ask, execute};
use crate::calendar::patch::field_warning;
use crate::contacts::losses::accept_losses;
use crate::roots;
use crate::tasks::mapping::{day, millis, task_to};
use crate::tasks::native::TaskRecord;
use crate::tasks::order::{TaskPlace, move_task};
use crate::tasks::read::{ensure_there, read_task, visit_pages};
use crate::tasks::record::{deleted_source, task_source};

/// Milliseconds for which a second attempt looks back for what the first one made, where the host does not know when that was.
const EARLIER_MS: i64 = 3_600_000;
/// Milliseconds by which Google's clock may be behind the host's.
const CLOCK_SKEW_MS: i64 = 10_000;

/// Returns the time, Unix milliseconds, since which an earlier attempt may have made something.
pub fn first_attempt_at(context: &Context) -> i64 {
    match context.first_attempt_ms() {
        Some(at) => at.saturating_sub(CLOCK_SKEW_MS),
        None => context.now_ms().saturating_sub(EARLIER_MS),
    }
}

/// Makes a task. Google takes no id from the client: a second attempt looks for a task like this one.
pub fn create(context: &Context, args: &ItemWrite<Task>) -> Outcome<Mutated> {
    let (mut body, lost) = task_to(&args.body, &args.changed)?;
    let warnings = accept_losses(lost, args.strict)?;
    body.retain(|_, value| !value.is_null());
    body.insert("title".to_owned(), json!(args.body.title));
    let parent = args.body.parent_id.as_deref();
    let earlier = match context.attempt() {
        1 => None,
        _ => find_made(context, &args.collection, &body, parent)?,
    };
    let task = match earlier {
        Some(task) => task,
        None => {
            let place = TaskPlace::of_write(context, args)?;
            let url = roots::tasks(&["lists", &args.collection, "tasks"], &place.query())?;
            ask(context, Request::post(url).json(&body), "creating the task")?
        }
    };
    answer(task, warnings)
}

/// The task that an earlier attempt has made: the newest one since the first attempt that says the same. One with links is of another program.
fn find_made(
    context: &Context,
    list: &str,
    body: &Map<String, Value>,
    parent: Option<&str>,
) -> Outcome<Option<TaskRecord>> {
    let since = Instant::from_millis(first_attempt_at(context)).to_string();
    let query = [("showCompleted", "true"), ("showHidden", "true"), ("updatedMin", since.as_str())];
    let wanted = |name: &str| body.get(name).and_then(Value::as_str).unwrap_or_default();
    let mut newest: Option<TaskRecord> = None;
    visit_pages(context, list, &query, |task| {
        let is_alike = task.title.as_deref().unwrap_or_default().trim() == wanted("title").trim()
            && task.notes.as_deref().unwrap_or_default().trim() == wanted("notes").trim()
            && day(task.due.as_deref()) == day(body.get("due").and_then(Value::as_str))
            && task.is_completed() == (wanted("status") == "completed")
            && task.parent.as_deref().filter(|id| !id.is_empty()) == parent;
        let has_links = task.links.as_ref().and_then(Value::as_array).is_some_and(|links| !links.is_empty());
        let at = |task: &TaskRecord| millis(task.updated.as_deref());
        let is_newer = newest.as_ref().is_none_or(|newest| at(newest) < at(&task));
        if is_alike && is_newer && !has_links && !task.deleted {
            newest = Some(task);
        }
        ControlFlow::Continue(())
    })?;
    Ok(newest)
}

/// Changes a task: its fields, its place, or both.
pub fn update(context: &Context, args: &ItemWrite<Task>) -> Outcome<Mutated> {
    let (list, if_match) = (args.collection.as_str(), args.if_match.as_deref());
    let id = args.source.as_deref().ok_or_else(|| Failure::invalid("source is missing"))?;
    let has = |field: &str| args.changed.iter().any(|name| name == field);
    let (body, mut lost) = task_to(&args.body, &args.changed)?;
    let is_placed = has("parentId") || has("position");
    let mut task = None;
    if is_placed || if_match.is_some() || body.is_empty() {
        let before = read_task(context, list, id)?;
        // Google does not always change the etag with a task, and is not known to compare it: it is compared here as well.
        if if_match.is_some() && before.etag.as_deref() != if_match {
            return Err(Failure::conflict("the task has changed since it was read"));
        }
        task = Some(before);
    }
    let place = match &task {
        Some(before) if is_placed => new_place(context, args, before, &mut lost)?,
        _ => None,
    };
    let warnings = accept_losses(lost, args.strict)?;
    if !body.is_empty() {
        let url = roots::tasks(&["lists", list, "tasks", id], &[])?;
        let request = Request::patch(url).if_match(if_match).json(&body);
        task = Some(ask(context, request, "changing the task")?);
    }
    if let Some(place) = place {
        task = Some(move_task(context, list, id, &place)?);
    }
    answer(task.unwrap_or_default(), warnings)
}

/// The place that a task shall have; none where it has it already, and with a warning where it cannot have one.
fn new_place(
    context: &Context,
    args: &ItemWrite<Task>,
    before: &TaskRecord,
    lost: &mut Vec<Warning>,
) -> Outcome<Option<TaskPlace>> {
    let has = |field: &str| args.changed.iter().any(|name| name == field);
    let parent = |id: &Option<String>| id.clone().filter(|id| !id.is_empty());
    let is_reparented = has("parentId") && parent(&args.body.parent_id) != parent(&before.parent);
    let wanted = args.body.position.as_deref().filter(|position| !position.is_empty());
    let is_ordered = has("position") && wanted.is_some() && before.position.as_deref() != wanted;
    if !is_reparented && !is_ordered {
        return Ok(None);
    }
    if before.hidden {
        let field = if is_reparented { "parentId" } else { "position" };
        lost.push(field_warning(field, "Google does not move tasks that are completed and cleared"));
        return Ok(None);
    }
    let mut write = args.clone();
    if !has("parentId") {
        write.body.parent_id = before.parent.clone();
    }
    TaskPlace::of_write(context, &write).map(Some)
}

/// Deletes a task. One that is gone is as good as deleted. A task that was assigned in a document or a chat stays: the original would be
/// deleted with it.
pub fn delete(context: &Context, args: &ItemDelete) -> Outcome<Mutated> {
    let deleted = || Mutated { sources: vec![deleted_source(&args.source)], ..Mutated::default() };
    let task = match read_task(context, &args.collection, &args.source) {
        Err(failure) if failure.code == code::NOT_FOUND => return Ok(deleted()),
        task => task?,
    };
    if task.assignment_info.is_some() {
        let message =
            "the task was assigned in a document or a chat: remove it there, or the original is deleted";
        return Err(Failure::new(code::UNSUPPORTED, message));
    }
    if args.if_match.is_some() && task.etag != args.if_match {
        return Err(Failure::conflict("the task has changed since it was read"));
    }
    let url = roots::tasks(&["lists", &args.collection, "tasks", &args.source], &[])?;
    let request = Request::delete(url).if_match(args.if_match.as_deref());
    match execute(context, request, "deleting the task") {
        Err(failure) if failure.code != code::NOT_FOUND => Err(failure),
        _ => Ok(deleted()),
    }
}

fn answer(task: TaskRecord, warnings: Vec<Warning>) -> Outcome<Mutated> {
    let task = ensure_there(task)?;
    let source = task_source(&task)?;
    Ok(Mutated { item: Some(task.id), sources: vec![source], warnings, ..Mutated::default() })
}
