//! `/sandbox/v1/lists/{list}/todos`: create, read, change and delete todos.

use std::collections::HashMap;
use std::sync::Arc;

use axum::Extension;
use axum::extract::{Path, State as AxumState};
use axum::http::StatusCode;
use axum::response::Response;

use crate::kind::Kind;
use crate::ops::Receipt;
use crate::patch::client_id;
use crate::problem::Problem;
use crate::receipts::{Change, exists, run, versioned};
use crate::record::{Folder, Record};
use crate::sandbox::Caller;
use crate::state::MAX_RECORDS_PER_ACCOUNT;
use crate::store::{find, folder, open_folder};
use crate::tasks::types::Todo;
use crate::tasks::write;
use crate::times::instant;

/// The receipt of a change of a todo.
pub fn receipt(status: u16, list: &str, todo: Option<String>) -> Receipt {
    Receipt { status, kind: Kind::Todo, folder: list.to_owned(), record: todo, ..Receipt::default() }
}

/// `GET …/todos/{todo}`
pub async fn get(
    (AxumState(sandbox), Extension(login)): Caller,
    Path((list, id)): Path<(String, String)>,
) -> Result<Response, Problem> {
    let (document, seq) = sandbox
        .read(|state| {
            let folder = folder::<Todo>(state, &login.mail, &list)?;
            let (todo, seq) = find(folder, &id)?;
            Ok((todo.show(folder, &login.mail, seq), seq))
        })
        .await?;
    Ok(versioned(StatusCode::OK, document, Some(seq)))
}

/// Refuses a parent that does not exist, or that is below the todo itself.
fn check_parent(list: &Folder<Todo>, todo: &Todo) -> Result<(), Problem> {
    let refused = |message: String| Problem {
        field: Some("parent".to_owned()),
        ..Problem::new(StatusCode::BAD_REQUEST, "notAParent", message)
    };
    let mut above = todo.parent.as_ref();
    while let Some(id) = above {
        if *id == todo.id {
            return Err(refused("a todo cannot be below itself".to_owned()));
        }
        let (parent, _) =
            list.record(id).ok_or_else(|| refused(format!("there is no todo {id:?} in this list")))?;
        above = parent.parent.as_ref();
    }
    Ok(())
}

/// `POST …/todos`
pub async fn create(
    (AxumState(sandbox), Extension(login)): Caller,
    Path(list): Path<String>,
    change: Change,
) -> Result<Response, Problem> {
    let fresh = sandbox.new_id()?;
    run(&sandbox, &login, change, |state, now_ms, body, _| {
        let folder = open_folder::<Todo>(state, &login.mail, &list)?;
        let id = client_id(body)?.unwrap_or(fresh);
        if let Some((_, slot)) = folder.record(&id) {
            return Err(exists("a todo", &id, slot.seq));
        }
        if !state.has_room(&login.mail, 1) {
            return Err(Problem::full(format!("an account holds at most {MAX_RECORDS_PER_ACCOUNT} records")));
        }
        let now = instant(now_ms);
        let base = Todo { id: id.clone(), created_at: now.clone(), updated_at: now, ..Todo::default() };
        let todo = write::todo(&base, body, now_ms)?;
        check_parent(folder, &todo)?;
        state.put(&login.mail, &list, now_ms, Arc::new(todo));
        Ok(receipt(201, &list, Some(id)))
    })
    .await
}

/// `PATCH …/todos/{todo}`. A patch without effect makes no new version.
pub async fn update(
    (AxumState(sandbox), Extension(login)): Caller,
    Path((list, id)): Path<(String, String)>,
    change: Change,
) -> Result<Response, Problem> {
    run(&sandbox, &login, change, |state, now_ms, body, change| {
        let folder = open_folder::<Todo>(state, &login.mail, &list)?;
        let (old, seq) = find(folder, &id)?;
        change.check_etag(seq)?;
        let todo = write::todo(&old, body, now_ms)?;
        if todo != *old {
            check_parent(folder, &todo)?;
            let todo = Todo { updated_at: instant(now_ms), ..todo };
            state.put(&login.mail, &list, now_ms, Arc::new(todo));
        }
        Ok(receipt(200, &list, Some(id.clone())))
    })
    .await
}

/// `DELETE …/todos/{todo}`, with everything below it: their ids are the answer's `dropped`.
pub async fn delete(
    (AxumState(sandbox), Extension(login)): Caller,
    Path((list, id)): Path<(String, String)>,
    change: Change,
) -> Result<Response, Problem> {
    run(&sandbox, &login, change, |state, now_ms, _, change| {
        let folder = open_folder::<Todo>(state, &login.mail, &list)?;
        let (_, seq) = find(folder, &id)?;
        change.check_etag(seq)?;
        let dropped = below(folder, &id);
        for gone in std::iter::once(&id).chain(&dropped) {
            state.remove::<Todo>(&login.mail, &list, now_ms, gone);
        }
        Ok(Receipt { dropped, ..receipt(200, &list, None) })
    })
    .await
}

/// Children, their children, and so on.
fn below(list: &Folder<Todo>, id: &str) -> Vec<String> {
    let mut children: HashMap<&str, Vec<&str>> = HashMap::new();
    for todo in list.live() {
        if let Some(parent) = &todo.parent {
            children.entry(parent).or_default().push(&todo.id);
        }
    }
    let mut found: Vec<&str> = children.get(id).cloned().unwrap_or_default();
    let mut at = 0;
    while let Some(next) = found.get(at) {
        let more = children.get(next).cloned().unwrap_or_default();
        found.extend(more);
        at += 1;
    }
    found.into_iter().map(str::to_owned).collect()
}
