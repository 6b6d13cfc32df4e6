//! Stores a page even if single records cannot be stored.

use std::panic::AssertUnwindSafe;

use base::error::{Error, Result};
use futures::FutureExt;

use crate::app::supervise::panic_message;
use crate::local_copy::change::UpsertResult;
use crate::local_copy::record::NormalizedRecord;
use crate::local_copy::transaction::CopyTransaction;
use crate::local_copy::upsert::upsert;

/// Records that failed, without one that could be written, from which on the cause is not the records.
pub(crate) const MAX_FAILED_RECORDS: usize = 5;

/// Writes records in halves, and a half that fails in halves again, each in its own savepoint, until a single record fails: it is
/// quarantined with its error. Fails if no record can be written, since the records are then not the cause.
pub async fn upsert_isolated(
    copy: &mut CopyTransaction<'_, '_>,
    sources: &mut [NormalizedRecord],
    as_of: i64,
) -> Result<UpsertResult> {
    upsert_isolated_part(copy, sources, as_of, false).await
}

/// Same as `upsert_isolated` for a part of a page. `has_written`: a record of an earlier part could be written.
pub async fn upsert_isolated_part(
    copy: &mut CopyTransaction<'_, '_>,
    sources: &mut [NormalizedRecord],
    as_of: i64,
    mut has_written: bool,
) -> Result<UpsertResult> {
    let mut all = UpsertResult::default();
    let mut failed = 0;
    let whole = 0..sources.len();
    let mut waiting = vec![whole];
    while let Some(range) = waiting.pop().filter(|range| !range.is_empty()) {
        copy.tx.batch("savepoint source").await?;
        let some = &sources[range.clone()];
        let tried = AssertUnwindSafe(upsert(copy, some, as_of)).catch_unwind().await;
        let (error, is_of_the_data) = match tried {
            Ok(Ok(upserted)) => {
                copy.tx.batch("release savepoint source").await?;
                all.extend(upserted);
                has_written |= some.iter().any(|source| source.error.is_none());
                continue;
            }
            Ok(Err(e)) => {
                let is_of_the_data = matches!(&e, Error::Internal(e) if storage::is_of_the_data(e));
                (e, is_of_the_data)
            }
            Err(panic) => {
                (anyhow::anyhow!("a panic while it was written: {}", panic_message(panic)).into(), true)
            }
        };
        copy.tx.batch("rollback to savepoint source").await?;
        copy.tx.batch("release savepoint source").await?;
        if error.code().is_some() {
            return Err(error);
        }
        if range.len() > 1 {
            let middle = range.start + range.len() / 2;
            waiting.extend([middle..range.end, range.start..middle]);
            continue;
        }
        failed += usize::from(!is_of_the_data);
        if failed >= MAX_FAILED_RECORDS && !has_written {
            return Err(error);
        }
        let source = &mut sources[range.start];
        tracing::error!(connection = %copy.location.connection_id, source = %source.source_id, error = %error,
            "an item cannot be stored and is quarantined");
        source.items.clear();
        source.error = Some(("not_storable".to_owned(), "the item cannot be stored".to_owned()));
    }
    Ok(all)
}
