//! Marks records that a write superseded, for the next pull to read again.

use base::error::Result;
use storage::sync_states as table;

use crate::local_copy::change::SupersededRecords;
use crate::local_copy::transaction::CopyTransaction;

/// Marks the records that were left out, for reading them again. Collections come whole with every pull.
pub async fn note_superseded(
    copy: &mut CopyTransaction<'_, '_>,
    superseded: &SupersededRecords,
) -> Result<()> {
    let location = copy.location;
    if location.kind.is_collection() || superseded.sources.is_empty() {
        return Ok(());
    }
    let surface = location.kind.surface().as_str();
    let of =
        table::ScopeKey { connection_id: &location.connection_id, surface, scope_id: &location.parent_id };
    Ok(table::add_rereads(copy.tx, of, &superseded.sources, copy.app.now()).await?)
}
