//! Marking records that a write superseded, for the next pull to read again.

use base::error::Result;
use storage::{Tx, sync_states as table};

use crate::app::App;
use crate::local_copy::change::{CopyLocation, SupersededRecords};

/// Notes what was left out, to be read again. Collections come whole with every pull.
pub async fn note_superseded(
    tx: &mut Tx,
    app: &App,
    place: &CopyLocation,
    superseded: &SupersededRecords,
) -> Result<()> {
    if place.kind.is_collection() {
        return Ok(());
    }
    let surface = place.kind.surface().as_str();
    let of = table::ScopeKey { connection_id: &place.connection_id, surface, scope_id: &place.parent_id };
    Ok(table::add_rereads(tx, of, &superseded.sources, app.now()).await?)
}
