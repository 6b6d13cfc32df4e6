//! Stores the records of a read, unless a later write superseded them.

use base::error::{Error, Result};
use model::wire::Source;
use storage::connections::Connection;
use storage::items::{self, Item};
use storage::log;

use crate::app::App;
use crate::app::event_log::Origin;
use crate::app::resource_kind::ResourceKind;
use crate::connections::request_context::RequestContext;
use crate::local_copy::isolate::upsert_isolated;
use crate::local_copy::mail::normalize::MessageSideData;
use crate::local_copy::normalize::prepared;
use crate::local_copy::record::NormalizedRecord;
use crate::local_copy::transaction::CopyTransaction;
use crate::writes::response::place;

/// Stores records that were read, if none was written in the meantime. If all of them are stored already, returns their rows, in the order
/// of the records.
pub async fn store(
    app: &App,
    connection: &Connection,
    sources: Vec<Source>,
    as_of: i64,
) -> Result<Option<Vec<Item>>> {
    let place = crate::local_copy::change::CopyLocation {
        origin: Origin::Provider,
        ..place(connection, ResourceKind::EmailMessage, "")
    };
    let (tenant, bytes) = (&connection.tenant.application_id, size(&sources));
    let mut sources = app.compute.run(tenant, bytes, || prepared(ResourceKind::EmailMessage, sources)).await;
    let names: Vec<String> = sources.iter().map(|source| source.source_id.clone()).collect();
    let stored = items::of_sources(app.db.reader(), &connection.tenant, &connection.id, &names).await?;
    sources.retain(|source| !is_as_stored(source, &stored));
    if sources.is_empty() {
        return Ok(Some(stored));
    }
    let app = app.clone();
    let db = app.db.clone();
    db.write(move |tx| {
        Box::pin(async move {
            // Superseded by a pull or a write: the stored row is as new, and the next pull decides.
            let lock = crate::local_copy::change::lock(tx, &place).await?;
            // The pull that reaches an unstorable record reports it; the others are stored.
            let mut copy = CopyTransaction { tx, app: &app, lock: &lock, location: &place };
            let _ = upsert_isolated(&mut copy, &mut sources, as_of).await?;
            Ok::<_, Error>(None)
        })
    })
    .await
}

/// Whether the last complete report of the record's only item was the same.
pub(crate) fn is_as_stored(source: &NormalizedRecord, stored: &[Item]) -> bool {
    let known = stored.iter().find(|item| item.source_id == source.source_id);
    let (Some(known), [fresh]) = (known, source.items.as_slice()) else { return false };
    let (was, is) = (
        MessageSideData::from_text(known.aside.as_deref()),
        MessageSideData::from_text(fresh.aside.as_deref()),
    );
    source.error.is_none()
        && source.previous_id.is_none()
        && known.external_id == fresh.external_id
        && known.provider_etag == source.provider_etag
        && known.provider_data == fresh.provider_data
        && is.told.is_some()
        && (was.told, was.hint) == (is.told, is.hint)
}

/// Returns the log's last sequence: records that are read later are newer.
pub async fn now(app: &App, asker: &RequestContext) -> Result<i64> {
    Ok(log::last_sequence(app.db.reader(), &asker.tenant).await?)
}

/// Returns the total size of the records' bodies, bytes.
pub(crate) fn size(sources: &[Source]) -> usize {
    sources.iter().flat_map(|source| &source.items).map(|item| item.body.as_str().len()).sum()
}
