//! Stores the provider's answer to a write: records, log entries and the response in one transaction. If a pull stored newer data in
//! between, reads the records again, at most three times, and overwrites neither.

use std::sync::Arc;

use base::error::{Error, Result};
use storage::{log, sync_states};

use crate::app::freshness::scope_name;
use crate::app::resource_kind::ResourceKind;
use crate::app::stored_response::StoredResponse;
use crate::connections::provider_call::ProviderWrite;
use crate::connections::write_context::WriteContext;
use crate::local_copy::change::{self, CopyLocation, SupersededRecords};
use crate::local_copy::normalize::prepared;
use crate::local_copy::record::NormalizedRecord;
use crate::local_copy::superseded::note_superseded;
use crate::local_copy::transaction::CopyTransaction;
use crate::local_copy::upsert;
use crate::writes::open_collection::WriteLocation;
use crate::writes::reread::read_again;
use crate::writes::view::ResponseView;

/// Most times that superseded records are read again.
const MAX_REREADS: usize = 3;

/// One attempt to store the records of a write.
#[derive(Clone)]
struct StoreRound {
    records: Vec<NormalizedRecord>,
    /// The log's last sequence before the provider was asked for them.
    as_of: i64,
    /// In the last round superseded records stay as they are stored, and the next pull reads them.
    is_last: bool,
}

/// The end of a round.
enum RoundEnd {
    Stored(StoredResponse),
    /// Superseded records to read again, and all records of the round. The other records were written.
    Superseded(SupersededRecords, Vec<NormalizedRecord>),
}

/// Stores a write and its response, which `view` renders from the stored rows.
pub async fn reconcile(
    cx: &WriteContext,
    location: WriteLocation<'_>,
    write: ProviderWrite,
    view: impl ResponseView + 'static,
) -> Result<StoredResponse> {
    let copy = location.copy();
    let view: Arc<dyn ResponseView> = Arc::new(view);
    let (mut records, mut as_of) = (prepared(location.kind, write.mutated.sources), write.as_of);
    for reread in 0..=MAX_REREADS {
        let round = StoreRound { records, as_of, is_last: reread == MAX_REREADS };
        let (superseded, before) = match store(cx, &copy, round, &view).await? {
            RoundEnd::Stored(response) => return Ok(response),
            RoundEnd::Superseded(superseded, before) => (superseded, before),
        };
        as_of = log::last_sequence(cx.app.db.reader(), &copy.tenant).await?;
        // Boxed, as it is rare: futures are moved.
        records = Box::pin(read_again(cx, location, before, &superseded)).await;
    }
    Err(anyhow::anyhow!("the last round answers whatever was superseded").into())
}

async fn store(
    cx: &WriteContext,
    location: &CopyLocation,
    round: StoreRound,
    view: &Arc<dyn ResponseView>,
) -> Result<RoundEnd> {
    let (cx, location, view) = (cx.clone(), location.clone(), view.clone());
    let db = cx.app.db.clone();
    db.write(move |tx| {
        Box::pin(async move {
            let lock = change::lock(tx, &location).await?;
            let mut copy = CopyTransaction { tx, app: &cx.app, lock: &lock, location: &location };
            let mut upserted = upsert::upsert(&mut copy, &round.records, round.as_of).await?;
            if location.kind == ResourceKind::Event && std::mem::take(&mut upserted.superseded.folders) {
                request_everything(&mut copy, &location.parent_id).await?;
            }
            if !upserted.superseded.is_empty() {
                if !round.is_last {
                    return Ok(RoundEnd::Superseded(upserted.superseded, round.records));
                }
                request_reread(&mut copy, &upserted.superseded).await?;
            }
            let response = view.render(&mut copy, &upserted).await?;
            cx.attempt.store(copy.tx, &cx.app.keyring, &response, cx.app.now()).await?;
            Ok::<_, Error>(RoundEnd::Stored(response))
        })
    })
    .await
}

/// Marks superseded records for the next pull: each by itself, collections with their list, which is out of step until then.
async fn request_reread(copy: &mut CopyTransaction<'_, '_>, superseded: &SupersededRecords) -> Result<()> {
    if !copy.location.kind.is_collection() {
        return note_superseded(copy, superseded).await;
    }
    request_everything(copy, "").await
}

/// Marks a scope for a complete read by the next pull, until which it is out of step.
async fn request_everything(copy: &mut CopyTransaction<'_, '_>, scope_id: &str) -> Result<()> {
    let surface = copy.location.kind.surface().as_str();
    if let Some(state) = sync_states::lock_state(copy.tx, copy.lock, (surface, scope_id)).await? {
        sync_states::forget_cursor(copy.tx, &state).await?;
    }
    let (app, name) = (copy.app.clone(), scope_name(&copy.location.connection_id, surface, scope_id));
    copy.tx.after_commit(move || app.freshness.forget(&name));
    Ok(())
}
