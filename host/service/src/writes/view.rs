//! `ResponseView`: the response of a write, rendered from the local copy after the write.

use async_trait::async_trait;
use base::error::Result;

use crate::app::stored_response::StoredResponse;
use crate::local_copy::change::UpsertResult;
use crate::local_copy::transaction::CopyTransaction;

/// The response of a write. It is rendered in the write's transaction, and may store the record's host fields.
#[async_trait]
pub trait ResponseView: Send + Sync {
    /// Renders the response from the rows in `upserted`, or else from the stored ones.
    async fn render(
        &self,
        copy: &mut CopyTransaction<'_, '_>,
        upserted: &UpsertResult,
    ) -> Result<StoredResponse>;
}
