//! Documents of folders, created, read, changed and deleted in the same way: contacts and tasks.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Path, State as AxumState};
use axum::http::StatusCode;
use axum::response::Response;

use crate::document::Document;
use crate::ops::Receipt;
use crate::patch::client_id;
use crate::problem::Problem;
use crate::receipts::{Change, exists, run, versioned};
use crate::record::Record;
use crate::resource::{Deletion, Resource};
use crate::sandbox::Caller;
use crate::state::{MAX_RECORDS_PER_ACCOUNT, json_len};
use crate::store::{find, folder, open_folder};
use crate::times::instant;

/// Bytes of one document as JSON.
const MAX_DOCUMENT_BYTES: usize = 1 << 20;

/// The folder and the id of a record in a path.
pub type RecordPath = (String, String);

/// The receipt of a change of a record.
pub fn receipt<B: Resource>(status: u16, folder: &str, record: Option<String>) -> Receipt {
    Receipt { status, kind: B::KIND, folder: folder.to_owned(), record, ..Receipt::default() }
}

/// Refuses a document that several changes have made too large.
pub fn check_size<B: Resource>(document: &Document<B>) -> Result<(), Problem> {
    match json_len(document) > MAX_DOCUMENT_BYTES {
        true => Err(Problem::full(format!("a {} takes at most 1 MiB, with all its parts", B::KIND.record()))),
        false => Ok(()),
    }
}

/// `GET …/{record}`
pub async fn get<B: Resource>(
    (AxumState(sandbox), Extension(login)): Caller,
    Path((of, id)): Path<RecordPath>,
) -> Result<Response, Problem> {
    let (shown, seq) = sandbox
        .read(|state| {
            let folder = folder::<Document<B>>(state, &login.mail, &of)?;
            let (record, seq) = find(folder, &id)?;
            Ok((record.show(folder, &login.mail, seq), seq))
        })
        .await?;
    Ok(versioned(StatusCode::OK, shown, Some(seq)))
}

/// `POST …/{records}`
pub async fn create<B: Resource>(
    (AxumState(sandbox), Extension(login)): Caller,
    Path(of): Path<String>,
    change: Change,
) -> Result<Response, Problem> {
    let fresh = sandbox.new_id()?;
    run(&sandbox, &login, change, |state, now_ms, body, _| {
        let folder = open_folder::<Document<B>>(state, &login.mail, &of)?;
        let id = client_id(body)?.unwrap_or(fresh);
        if let Some((_, slot)) = folder.record(&id) {
            return Err(exists(&format!("a {}", B::KIND.record()), &id, slot.seq));
        }
        if !state.has_room(&login.mail, 1) {
            return Err(Problem::full(format!("an account holds at most {MAX_RECORDS_PER_ACCOUNT} records")));
        }
        let resource = B::begin(body)?.patched(body, now_ms)?;
        resource.check_references(&id, folder)?;
        let record = Document::new(&id, resource, &instant(now_ms));
        check_size(&record)?;
        state.put(&login.mail, &of, now_ms, Arc::new(record));
        Ok(receipt::<B>(201, &of, Some(id)))
    })
    .await
}

/// `PATCH …/{record}`. A patch without effect makes no new version.
pub async fn update<B: Resource>(
    (AxumState(sandbox), Extension(login)): Caller,
    Path((of, id)): Path<RecordPath>,
    change: Change,
) -> Result<Response, Problem> {
    run(&sandbox, &login, change, |state, now_ms, patch, change| {
        let folder = open_folder::<Document<B>>(state, &login.mail, &of)?;
        let (old, seq) = find(folder, &id)?;
        change.check_etag(seq)?;
        check_built_in(&old.body)?;
        let body = old.body.patched(patch, now_ms)?;
        if body != old.body {
            body.check_references(&id, folder)?;
            let record = Document { body, updated_at: instant(now_ms), ..(*old).clone() };
            check_size(&record)?;
            state.put(&login.mail, &of, now_ms, Arc::new(record));
        }
        Ok(receipt::<B>(200, &of, Some(id.clone())))
    })
    .await
}

/// `DELETE …/{record}`. The answer's `others` changed with it, and the `dropped` ones were deleted with it.
pub async fn delete<B: Resource>(
    (AxumState(sandbox), Extension(login)): Caller,
    Path((of, id)): Path<RecordPath>,
    change: Change,
) -> Result<Response, Problem> {
    run(&sandbox, &login, change, |state, now_ms, _, change| {
        let (old, seq) = find(open_folder::<Document<B>>(state, &login.mail, &of)?, &id)?;
        change.check_etag(seq)?;
        check_built_in(&old.body)?;
        B::delete(state, &Deletion { mail: &login.mail, folder: &of, id: &id, now_ms })
    })
    .await
}

fn check_built_in<B: Resource>(body: &B) -> Result<(), Problem> {
    match body.is_built_in() {
        true => Err(Problem::forbidden("locked", format!("the {} is the provider's own", B::KIND.record()))),
        false => Ok(()),
    }
}
