//! Storing a page although single records cannot be stored.

use std::panic::AssertUnwindSafe;

use base::error::{Error, Result};
use futures::FutureExt;

use crate::app::supervise::said;
use crate::local_copy::change::Upserted;
use crate::local_copy::record::NormalizedRecord;
use crate::local_copy::transaction::CopyTransaction;
use crate::local_copy::upsert::upsert;

/// Sources whose failures say that it is not them: so many, none of them for what is in it, and no other source could be written.
pub(crate) const HOPELESS: usize = 5;

/// Writes sources in halves, and a half that fails in halves again, each in a savepoint of its own, until what fails is one source:
/// that is quarantined with its error. Fails when nothing can be written, which is then no source's fault.
pub async fn upsert_isolated(
    copy: &mut CopyTransaction<'_, '_>,
    sources: &mut [NormalizedRecord],
    as_of: i64,
) -> Result<Upserted> {
    upsert_isolated_part(copy, sources, as_of, false).await
}

/// The same for a part of what a provider has told. `has_written`: a source of an earlier part could be written.
pub async fn upsert_isolated_part(
    copy: &mut CopyTransaction<'_, '_>,
    sources: &mut [NormalizedRecord],
    as_of: i64,
    mut has_written: bool,
) -> Result<Upserted> {
    let mut all = Upserted::default();
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
            Err(panic) => (anyhow::anyhow!("a panic while it was written: {}", said(panic)).into(), true),
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
        if failed >= HOPELESS && !has_written {
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
