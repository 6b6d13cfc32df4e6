//! The error of a write that the provider refused because it has another version.

use base::error::{Code, Error, Result, not_found};
use storage::items::{self, Item};

use crate::app::event_log::Origin;
use crate::connections::write_context::WriteContext;
use crate::local_copy::change::{self, CopyLocation};
use crate::local_copy::normalize::prepared;
use crate::local_copy::transaction::CopyTransaction;
use crate::local_copy::upsert;
use crate::writes::etag::stale;
use crate::writes::open_collection::OpenCollection;
use crate::writes::reread::read_source;
use crate::writes::store_read;

/// Returns the error of a write of an item. After a version conflict it reads the provider's version, so that the caller gets the current
/// etag.
pub async fn conflict(cx: &WriteContext, opened: &OpenCollection, item: &Item, e: Error) -> Error {
    if e.code() != Some(Code::StaleEtag) {
        return e;
    }
    match reread(cx, opened, item).await {
        Ok(Some(etag)) => stale(&etag),
        Ok(None) => not_found(opened.kind.noun()),
        Err(failed) => {
            tracing::warn!(error = %failed, "the current version could not be read");
            e
        }
    }
}

/// Stores the provider's version of an item (or of its series), and returns its etag.
async fn reread(cx: &WriteContext, opened: &OpenCollection, item: &Item) -> Result<Option<String>> {
    let as_of = store_read::now(&cx.app, &cx.request).await?;
    let records = prepared(opened.kind, read_source(cx, opened, &item.source_id).await?);
    let location = CopyLocation { origin: Origin::Provider, ..opened.location().copy() };
    // An instance without an exception has no row: its id is the series' id with a suffix.
    let id = item.id.splitn(3, '_').take(2).collect::<Vec<_>>().join("_");
    let app = cx.app.clone();
    let db = app.db.clone();
    db.write(move |tx| {
        Box::pin(async move {
            let lock = change::lock(tx, &location).await?;
            let mut copy = CopyTransaction { tx, app: &app, lock: &lock, location: &location };
            // Superseded by a pull: then that is the current version, or the next pull reads it.
            let _ = upsert::upsert(&mut copy, &records, as_of).await?;
            let current = items::lock_item(copy.tx, &lock, &id).await?;
            Ok::<_, Error>(current.filter(|i| i.deleted_at.is_none()).map(|i| i.etag.clone()))
        })
    })
    .await
}
