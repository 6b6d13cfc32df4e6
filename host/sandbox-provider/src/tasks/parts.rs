//! `…/todos/{todo}/steps` and `…/links`: the parts of a task. They have their own ids and the task's etag; the response is the
//! task, and the id of the changed part.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Path, State as AxumState};
use axum::response::Response;
use model::Instant;
use model::tasks::{ChecklistItem, Task, TaskLink};
use serde_json::{Map, Value};

use crate::document::Document;
use crate::ops::Receipt;
use crate::patch::{client_id, few};
use crate::problem::Problem;
use crate::receipts::{Change, exists, run};
use crate::records::{RecordPath, check_size, receipt};
use crate::sandbox::Caller;
use crate::store::{find, open_folder};
use crate::tasks::Todo;
use crate::tasks::check::{self, MAX_SMALL_LIST};
use crate::times::instant;

/// The part that a request is about: list, todo and id.
type OfPart = (String, String, String);

/// The input of an edit: the todo, the body, and the time.
struct Edit<'a> {
    task: &'a mut Task,
    body: &'a Map<String, Value>,
    now_ms: i64,
    /// The todo's version.
    seq: u64,
}

/// Runs a change of one todo's parts. `act` makes the change and returns the part's id.
async fn edit(
    (AxumState(sandbox), Extension(login)): Caller,
    (list, id): RecordPath,
    change: Change,
    status: u16,
    act: impl FnOnce(Edit<'_>) -> Result<Option<String>, Problem>,
) -> Result<Response, Problem> {
    run(&sandbox, &login, change, |state, now_ms, body, change| {
        let folder = open_folder::<Todo>(state, &login.mail, &list)?;
        let (old, seq) = find(folder, &id)?;
        change.check_etag(seq)?;
        let mut task = old.body.clone();
        let part = act(Edit { task: &mut task, body, now_ms, seq })?;
        if task != old.body {
            let todo = Document { body: task, updated_at: instant(now_ms), ..(*old).clone() };
            check_size(&todo)?;
            state.put(&login.mail, &list, now_ms, Arc::new(todo));
        }
        Ok(Receipt { part, ..receipt::<Task>(status, &list, Some(id.clone())) })
    })
    .await
}

/// `POST …/steps`
pub async fn add_step(
    caller: Caller,
    Path(todo): Path<RecordPath>,
    change: Change,
) -> Result<Response, Problem> {
    let fresh = caller.0.0.new_id()?;
    edit(caller, todo, change, 201, |edit| {
        let id = client_id(edit.body)?.unwrap_or(fresh);
        if edit.task.checklist_items.iter().any(|step| step.id == id) {
            return Err(exists("a step", &id, edit.seq));
        }
        few("steps", edit.task.checklist_items.len() + 1, MAX_SMALL_LIST)?;
        let base = ChecklistItem {
            id: id.clone(),
            created_at: Instant::from_millis(edit.now_ms),
            ..ChecklistItem::default()
        };
        edit.task.checklist_items.push(check::item(&base, edit.body, edit.now_ms)?);
        Ok(Some(id))
    })
    .await
}

/// `PATCH …/steps/{step}`
pub async fn update_step(
    caller: Caller,
    Path((list, todo, id)): Path<OfPart>,
    change: Change,
) -> Result<Response, Problem> {
    edit(caller, (list, todo), change, 200, |edit| {
        let step = edit.task.checklist_items.iter_mut().find(|step| step.id == id);
        let step = step.ok_or_else(|| Problem::not_found("step", &id))?;
        *step = check::item(step, edit.body, edit.now_ms)?;
        Ok(Some(id))
    })
    .await
}

/// `DELETE …/steps/{step}`
pub async fn delete_step(
    caller: Caller,
    Path((list, todo, id)): Path<OfPart>,
    change: Change,
) -> Result<Response, Problem> {
    edit(caller, (list, todo), change, 200, |edit| {
        let at = edit.task.checklist_items.iter().position(|step| step.id == id);
        edit.task.checklist_items.remove(at.ok_or_else(|| Problem::not_found("step", &id))?);
        Ok(None)
    })
    .await
}

/// `POST …/links`
pub async fn add_link(
    caller: Caller,
    Path(todo): Path<RecordPath>,
    change: Change,
) -> Result<Response, Problem> {
    let fresh = caller.0.0.new_id()?;
    edit(caller, todo, change, 201, |edit| {
        let id = client_id(edit.body)?.unwrap_or(fresh);
        if edit.task.links.iter().any(|link| link.id == id) {
            return Err(exists("a link", &id, edit.seq));
        }
        few("links", edit.task.links.len() + 1, MAX_SMALL_LIST)?;
        let base =
            TaskLink { id: id.clone(), created_at: Instant::from_millis(edit.now_ms), ..TaskLink::default() };
        edit.task.links.push(check::link(&base, edit.body)?);
        Ok(Some(id))
    })
    .await
}

/// `DELETE …/links/{link}`
pub async fn delete_link(
    caller: Caller,
    Path((list, todo, id)): Path<OfPart>,
    change: Change,
) -> Result<Response, Problem> {
    edit(caller, (list, todo), change, 200, |edit| {
        let at = edit.task.links.iter().position(|link| link.id == id);
        edit.task.links.remove(at.ok_or_else(|| Problem::not_found("link", &id))?);
        Ok(None)
    })
    .await
}
