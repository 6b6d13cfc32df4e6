//! Calendars, address books and task lists themselves: listed, created, changed and deleted in the same way. Their records are
//! elsewhere.

use std::sync::Arc;

use axum::extract::{Path, Query, State as AxumState};
use axum::http::StatusCode;
use axum::response::Response;
use axum::{Extension, Json};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::ops::{Op, Receipt};
use crate::patch::client_id;
use crate::problem::Problem;
use crate::receipts::{Change, exists, run, versioned};
use crate::record::{Account, Folder, Head, Record};
use crate::sandbox::Caller;
use crate::state::{MAX_FOLDERS, State};
use crate::store::{folder, open_folder};
use crate::times::instant;

/// Records whose folders clients create and change.
pub trait Collection: Record {
    /// The defaults of a new folder, before the client's fields are applied.
    fn begin(id: String, account: &Account, now: String) -> Self::Head;

    /// The folder that `patch` makes of `base`, checked; `now` is the time of the change.
    fn patched(base: &Self::Head, patch: &Map<String, Value>, now: &str) -> Result<Self::Head, Problem>;

    /// Why the folder cannot be deleted.
    fn check_delete(folder: &Folder<Self>, is_forced: bool) -> Result<(), Problem>;

    /// The records whose appearance changes when `old` becomes `new`.
    fn moved(folder: &Folder<Self>, new: &Self::Head) -> Vec<Arc<Self>> {
        let _ = (folder, new);
        Vec::new()
    }
}

/// `GET /sandbox/v1/{folders}`: all of them, the main one first.
pub async fn list<R: Collection>(
    (AxumState(sandbox), Extension(login)): Caller,
) -> Result<Json<Value>, Problem> {
    let shown = sandbox
        .read(|state| {
            let mut folders: Vec<&Folder<R>> =
                state.account(&login.mail).map(|a| R::folders(a).values().collect()).unwrap_or_default();
            folders.sort_by_key(|f| !f.head.is_main());
            Ok(folders.into_iter().map(R::show_folder).collect::<Vec<_>>())
        })
        .await?;
    Ok(Json(json!({ R::KIND.folders(): shown })))
}

/// `GET /sandbox/v1/{folders}/{folder}`
pub async fn get<R: Collection>(
    (AxumState(sandbox), Extension(login)): Caller,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    let (shown, seq) = sandbox
        .read(|state| {
            let folder = folder::<R>(state, &login.mail, &id)?;
            Ok((R::show_folder(folder), folder.seq))
        })
        .await?;
    Ok(versioned(StatusCode::OK, shown, Some(seq)))
}

fn receipt<R: Record>(status: u16, folder: String) -> Receipt {
    Receipt { status, kind: R::KIND, folder, is_folder: true, ..Receipt::default() }
}

/// `POST /sandbox/v1/{folders}`
pub async fn create<R: Collection>(
    (AxumState(sandbox), Extension(login)): Caller,
    change: Change,
) -> Result<Response, Problem> {
    let fresh = sandbox.new_id()?;
    run(&sandbox, &login, change, |state, now_ms, body, _| {
        let id = client_id(body)?.unwrap_or(fresh);
        let account = state.account(&login.mail).ok_or_else(|| Problem::not_found("account", &login.mail))?;
        let (folders, kind) = (R::folders(account), R::KIND);
        if let Some(folder) = folders.get(&id) {
            return Err(exists(&format!("a {}", kind.folder()), &id, folder.seq));
        }
        if folders.len() >= MAX_FOLDERS {
            return Err(Problem::full(format!("an account has at most {MAX_FOLDERS} {}", kind.folders())));
        }
        let now = instant(now_ms);
        let head = R::patched(&R::begin(id.clone(), account, now.clone()), body, &now)?;
        state.put_head::<R>(&login.mail, head);
        Ok(receipt::<R>(201, id))
    })
    .await
}

/// `PATCH /sandbox/v1/{folders}/{folder}`
pub async fn update<R: Collection>(
    (AxumState(sandbox), Extension(login)): Caller,
    Path(id): Path<String>,
    change: Change,
) -> Result<Response, Problem> {
    run(&sandbox, &login, change, |state, now_ms, body, change| {
        change.check_etag(folder::<R>(state, &login.mail, &id)?.seq)?;
        let old = open_folder::<R>(state, &login.mail, &id)?;
        let head = R::patched(&old.head, body, &instant(now_ms))?;
        let moved = R::moved(old, &head);
        state.put_head::<R>(&login.mail, head);
        for record in moved {
            state.put(&login.mail, &id, now_ms, record);
        }
        Ok(receipt::<R>(200, id.clone()))
    })
    .await
}

/// The query string of a deletion.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct FolderDeleteQuery {
    /// Though it is not empty.
    force: bool,
}

/// `DELETE /sandbox/v1/{folders}/{folder}`, with its records.
pub async fn delete<R: Collection>(
    (AxumState(sandbox), Extension(login)): Caller,
    Path(id): Path<String>,
    Query(query): Query<FolderDeleteQuery>,
    change: Change,
) -> Result<Response, Problem> {
    run(&sandbox, &login, change, |state: &mut State, _, _, change| {
        let old = folder::<R>(state, &login.mail, &id)?;
        change.check_etag(old.seq)?;
        R::check_delete(old, query.force)?;
        state.commit(Op::DropFolder { kind: R::KIND, mail: login.mail.clone(), id: id.clone() });
        Ok(receipt::<R>(204, id.clone()))
    })
    .await
}
