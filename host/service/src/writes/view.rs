//! `ResponseView`: the response of a write, made of what the write left in the local copy.

use async_trait::async_trait;
use base::error::Result;

use crate::app::stored_response::StoredResponse;
use crate::local_copy::change::Upserted;
use crate::local_copy::transaction::CopyTransaction;

/// The response of a write. It is made in the write's transaction, and may store what only the host knows of the record.
#[async_trait]
pub trait ResponseView: Send + Sync {
    /// The response, of the rows that `upserted` has, or else of those that are stored.
    async fn render(&self, copy: &mut CopyTransaction<'_, '_>, upserted: &Upserted)
    -> Result<StoredResponse>;
}
