//! What the provider answered to a write becomes ours: sources, log lines and the answer to the client in one transaction.
//! While the provider worked, a pull may have stored what somebody else did right before or right after; which of the two
//! came last, only the provider knows. So it is asked again, rather than that either is put over the other.

use std::sync::Arc;

use base::error::{Code, Error, Result, not_found};
use model::wire::{Mutated, Source, SourceRef, Sources};
use serde::Serialize;
use serde_json::Value;
use storage::items::{self, Item};
use storage::locked::ConnectionLock;
use storage::{Tx, log};

use crate::app::App;
use crate::app::event_log::Origin;
use crate::app::stored_response::{IdempotentAttempt, StoredResponse};
use crate::connections::provider_call::{fetch, mutate};
use crate::connections::request_context::RequestContext;
use crate::local_copy::change::{CopyLocation, SupersededRecords};
use crate::local_copy::normalize::prepared;
use crate::local_copy::record::NormalizedRecord;
use crate::local_copy::superseded::note_superseded;
use crate::local_copy::upsert;
use crate::writes::etag::stale;
use crate::writes::open_collection::OpenCollection;
use crate::writes::response::{ResponseChange, shown, stored};

/// Times that the provider is asked again.
pub const READ_AGAIN: usize = 3;

/// A write that the provider has done.
pub struct ProviderWrite {
    pub mutated: Mutated,
    /// The log's last sequence before the provider was asked.
    pub as_of: i64,
}

impl ProviderWrite {
    /// There was nothing to be done at the provider.
    pub fn nothing(external_id: &str) -> ProviderWrite {
        let mutated = Mutated { item: Some(external_id.to_owned()), ..Mutated::default() };
        ProviderWrite { mutated, as_of: i64::MAX }
    }
}

/// Has the provider do it.
pub async fn done<A: Serialize + Sync>(
    app: &App,
    opened: &OpenCollection,
    asker: &RequestContext,
    attempt: &IdempotentAttempt,
    op: &'static str,
    args: &A,
) -> Result<ProviderWrite> {
    let as_of = log::last_sequence(app.db.resources(), &asker.tenant).await?;
    let op = (opened.kind.surface(), op);
    let mutated = mutate(app, &opened.connection, asker, attempt, op, args).await?;
    Ok(ProviderWrite { mutated, as_of })
}

/// What the client is told in the end.
#[derive(Clone)]
enum ResponseView {
    Gone {
        warnings: Arc<Vec<Value>>,
    },
    Item {
        external_id: String,
        change: Arc<ResponseChange>,
    },
    /// A part of it.
    Part {
        external_id: String,
        part: crate::writes::part_response::PartName,
        change: Arc<ResponseChange>,
    },
}

/// Stores what became of an item, and the answer that shows it.
pub async fn commit(
    app: &App,
    opened: &OpenCollection,
    asker: &RequestContext,
    mut done: ProviderWrite,
    mut change: ResponseChange,
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    for warning in std::mem::take(&mut done.mutated.warnings) {
        change.warnings.push(serde_json::to_value(warning)?);
    }
    let external_id = done.mutated.item.take().unwrap_or_default();
    let told = ResponseView::Item { external_id, change: Arc::new(change) };
    settle(app, opened, asker, done, told, attempt).await
}

/// Stores what became of an item, and the answer that shows one part of it.
pub async fn commit_part(
    app: &App,
    opened: &OpenCollection,
    asker: &RequestContext,
    mut done: ProviderWrite,
    (part, mut change): (crate::writes::part_response::PartName, ResponseChange),
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    for warning in std::mem::take(&mut done.mutated.warnings) {
        change.warnings.push(serde_json::to_value(warning)?);
    }
    let external_id = done.mutated.item.take().unwrap_or_default();
    let told = ResponseView::Part { external_id, part, change: Arc::new(change) };
    settle(app, opened, asker, done, told, attempt).await
}

/// Stores that an item is gone.
pub async fn commit_deletion(
    app: &App,
    opened: &OpenCollection,
    asker: &RequestContext,
    done: ProviderWrite,
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    settle(app, opened, asker, done, ResponseView::Gone { warnings: Arc::default() }, attempt).await
}

/// The same, and the client is told what the provider warned of: with 200, because 204 has no room for it.
// Contract silent: what a deletion answers, and how a warning of it is told.
pub async fn commit_warned_deletion(
    app: &App,
    opened: &OpenCollection,
    asker: &RequestContext,
    mut done: ProviderWrite,
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    let mut warnings = Vec::new();
    for warning in std::mem::take(&mut done.mutated.warnings) {
        warnings.push(serde_json::to_value(warning)?);
    }
    settle(app, opened, asker, done, ResponseView::Gone { warnings: Arc::new(warnings) }, attempt).await
}

async fn settle(
    app: &App,
    opened: &OpenCollection,
    asker: &RequestContext,
    done: ProviderWrite,
    told: ResponseView,
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    let mut as_of = done.as_of;
    let mut sources = prepared(opened.kind, done.mutated.sources);
    for round in 0..=READ_AGAIN {
        // In the end what others stored stands, and the next pull reads what this write left behind.
        let is_last = round == READ_AGAIN;
        let stored =
            store(app, opened, (std::mem::take(&mut sources), as_of, is_last), told.clone(), attempt);
        let superseded = match stored.await? {
            Ok(answer) => return Ok(answer),
            Err(superseded) => superseded,
        };
        as_of = log::last_sequence(app.db.reader(), &asker.tenant).await?;
        sources = read_again(app, opened, asker, &superseded.sources).await;
    }
    Err(anyhow::anyhow!("the last round answers whatever was superseded").into())
}

/// The sources as the provider has them now; those that it does not tell are left out, and come with the next pull.
async fn read_again(
    app: &App,
    opened: &OpenCollection,
    asker: &RequestContext,
    names: &[String],
) -> Vec<NormalizedRecord> {
    let mut found = Vec::new();
    for name in names {
        match read_source(app, opened, asker, name).await {
            Ok(sources) => found.extend(sources),
            Err(e) => tracing::warn!(error = %e, "the outcome of a write could not be read again"),
        }
    }
    prepared(opened.kind, found)
}

/// A source as the provider has it now; one that is gone says so.
async fn read_source(
    app: &App,
    opened: &OpenCollection,
    asker: &RequestContext,
    source_id: &str,
) -> Result<Vec<Source>> {
    let args = SourceRef {
        collection: opened.collection.external_id.clone(),
        source: source_id.to_owned(),
        time_zone: Some(opened.zone.clone()),
    };
    let op = (opened.kind.surface(), opened.kind.ops().get);
    let read: Result<Sources> = fetch(app, &opened.connection, asker, op, &args).await;
    match read {
        Ok(sources) => Ok(sources.sources),
        Err(e) if e.code() == Some(Code::NotFound) => Ok(vec![gone(source_id)]),
        Err(e) => Err(e),
    }
}

/// What a connector says of a source that is no longer there.
pub fn gone(source_id: &str) -> Source {
    Source { external_id: source_id.to_owned(), deleted: true, ..Source::default() }
}

/// The provider had another version: read it, so that the caller gets the etag that is true now.
pub async fn conflict(
    app: &App,
    asker: &RequestContext,
    opened: &OpenCollection,
    item: &Item,
    e: Error,
) -> Error {
    if e.code() != Some(Code::StaleEtag) {
        return e;
    }
    match reread(app, asker, opened, item).await {
        Ok(Some(etag)) => stale(&etag),
        Ok(None) => not_found(opened.kind.noun()),
        Err(failed) => {
            tracing::warn!(error = %failed, "the current version could not be read");
            e
        }
    }
}

/// Stores the version that the provider has of an item (or of its series), and returns its etag.
async fn reread(
    app: &App,
    asker: &RequestContext,
    opened: &OpenCollection,
    item: &Item,
) -> Result<Option<String>> {
    let as_of = log::last_sequence(app.db.reader(), &asker.tenant).await?;
    let sources = prepared(opened.kind, read_source(app, opened, asker, &item.source_id).await?);
    let place = CopyLocation { origin: Origin::Provider, ..opened.place() };
    let app = app.clone();
    // An instance that only its series knows has no row: its id goes on after the series'.
    let id = item.id.splitn(3, '_').take(2).collect::<Vec<_>>().join("_");
    app.clone()
        .db
        .write(move |tx| {
            Box::pin(async move {
                // Superseded by a pull: then that is the current version, or the next pull has it.
                let lock = crate::local_copy::change::lock(tx, &place).await?;
                let _ = upsert::apply_read(tx, &app, (&lock, &place), &sources, as_of).await?;
                let current = items::lock_item(tx, &lock, &id).await?;
                Ok::<_, Error>(current.filter(|i| i.deleted_at.is_none()).map(|i| i.etag.clone()))
            })
        })
        .await
}

/// Writes what the provider told after a write. Some: what is superseded and has to be asked for again; in the last round (`is_last`) it
/// is noted instead, to be read with the next pull.
pub(crate) async fn write_round(
    tx: &mut Tx,
    app: &App,
    (lock, place): (&ConnectionLock, &CopyLocation),
    (sources, as_of, is_last): (&[NormalizedRecord], i64, bool),
) -> Result<Option<SupersededRecords>> {
    let superseded = upsert::apply_read(tx, app, (lock, place), sources, as_of).await?.superseded;
    if superseded.is_empty() {
        return Ok(None);
    }
    if !is_last {
        return Ok(Some(superseded));
    }
    note_superseded(tx, app, place, &superseded).await?;
    Ok(None)
}

/// An error: superseded, as `write_round` says it.
async fn store(
    app: &App,
    opened: &OpenCollection,
    (sources, as_of, is_last): (Vec<NormalizedRecord>, i64, bool),
    told: ResponseView,
    attempt: &IdempotentAttempt,
) -> Result<Result<StoredResponse, SupersededRecords>> {
    let (app, place, attempt) = (app.clone(), opened.place(), attempt.clone());
    app.clone()
        .db
        .write(move |tx| {
            Box::pin(async move {
                let lock = crate::local_copy::change::lock(tx, &place).await?;
                let round = (&sources[..], as_of, is_last);
                if let Some(superseded) = write_round(tx, &app, (&lock, &place), round).await? {
                    return Ok(Err(superseded));
                }
                let answer = match told {
                    ResponseView::Gone { warnings } if warnings.is_empty() => StoredResponse::no_content(),
                    ResponseView::Gone { warnings } => StoredResponse::ok("{}").warned(&warnings),
                    ResponseView::Item { external_id, change } => {
                        shown(tx, &app, (&lock, &place), &external_id, &change).await?
                    }
                    ResponseView::Part { external_id, part, change } => {
                        let item = stored(tx, &app, (&lock, &place), &external_id, &change).await?;
                        crate::writes::part_response::part_shown(tx, &item, &part, &change).await?
                    }
                };
                attempt.store(tx, &app.keyring, &answer, app.now()).await?;
                Ok::<_, Error>(Ok(answer))
            })
        })
        .await
}
