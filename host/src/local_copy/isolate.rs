//! Storing a page although single records cannot be stored.

use std::panic::AssertUnwindSafe;

use base::error::{Error, Result};
use futures::FutureExt;
use storage::Tx;
use storage::locked::ConnectionLock;

use crate::app::App;
use crate::app::supervise::said;
use crate::local_copy::change::{CopyLocation, Upserted};
use crate::local_copy::record::NormalizedRecord;
use crate::local_copy::upsert;

/// Sources whose failures say that it is not them: so many, none of them for what is in it, and no other source could be written.
pub(crate) const HOPELESS: usize = 5;

/// Writes sources in halves, and a half that fails in halves again, each in a savepoint of its own, until what fails is one source:
/// that is quarantined with its error. Fails when nothing can be written, which is then no source's fault.
pub async fn apply_isolated(
    tx: &mut Tx,
    app: &App,
    at: (&ConnectionLock, &CopyLocation),
    sources: &mut [NormalizedRecord],
    as_of: i64,
) -> Result<Upserted> {
    let mut all = Upserted::default();
    let (mut written, mut failed) = (0, 0);
    let whole = 0..sources.len();
    let mut waiting = vec![whole];
    while let Some(range) = waiting.pop().filter(|range| !range.is_empty()) {
        tx.batch("savepoint source").await?;
        let some = &sources[range.clone()];
        let tried = AssertUnwindSafe(upsert::apply_read(tx, app, at, some, as_of)).catch_unwind().await;
        let (error, is_of_the_data) = match tried {
            Ok(Ok(applied)) => {
                tx.batch("release savepoint source").await?;
                all.last = applied.last.or(all.last);
                all.superseded.sources.extend(applied.superseded.sources);
                all.superseded.folders |= applied.superseded.folders;
                written += some.iter().filter(|source| source.error.is_none()).count();
                continue;
            }
            Ok(Err(e)) => {
                let is_of_the_data = matches!(&e, Error::Internal(e) if storage::is_of_the_data(e));
                (e, is_of_the_data)
            }
            Err(panic) => (anyhow::anyhow!("a panic while it was written: {}", said(panic)).into(), true),
        };
        tx.batch("rollback to savepoint source").await?;
        tx.batch("release savepoint source").await?;
        if error.code().is_some() {
            return Err(error);
        }
        if range.len() > 1 {
            let middle = range.start + range.len() / 2;
            waiting.extend([middle..range.end, range.start..middle]);
            continue;
        }
        failed += usize::from(!is_of_the_data);
        if failed >= HOPELESS && written == 0 {
            return Err(error);
        }
        let source = &mut sources[range.start];
        tracing::error!(connection = %at.1.connection_id, source = %source.source_id, error = %error,
            "an item cannot be stored and is quarantined");
        source.items.clear();
        source.error = Some(("not_storable".to_owned(), "the item cannot be stored".to_owned()));
    }
    Ok(all)
}
