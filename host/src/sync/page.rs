//! One page of what a provider has, written with its log lines, the state and the cursor in one transaction.

use std::collections::HashSet;

use crate::app::App;
use crate::error::Result;
use crate::resources::apply::{self, Overtaken, Place};
use crate::resources::mail::is_only_here;
use crate::resources::prepare::Prepared;
use crate::storage::items;
use crate::storage::sync_states::{self as table, SyncState};
use crate::sync::unreadable;

/// An answer of the connector, as it is written.
pub struct Page {
    pub sources: Vec<Prepared>,
    /// The build of the connector that read them.
    pub connector: Option<String>,
    /// The log's last sequence when the provider was asked for it.
    pub as_of: i64,
    /// The enumeration that it belongs to.
    pub enumeration: Option<Enumeration>,
    /// Everything from here on has been told, ms.
    pub covered_since: Option<i64>,
    pub cursor: Option<String>,
    pub more: bool,
}

/// What an enumeration named so far.
#[derive(Clone)]
pub struct Enumeration {
    pub seen: HashSet<String>,
    /// The log's last sequence when it began.
    pub as_of: i64,
}

impl Page {
    /// Everything that the provider has, where an enumeration ends here.
    fn whole(&self) -> Option<&Enumeration> {
        self.enumeration.as_ref().filter(|_| !self.more)
    }
}

/// Returns the state as it was written; nothing is when the page is older than what is stored.
pub async fn write_page(
    tx: &mut crate::storage::Tx,
    app: App,
    place: Place,
    page: Page,
    mut state: SyncState,
) -> Result<Result<SyncState, Overtaken>> {
    let mut last = match apply::apply_read(tx, &app, &place, &page.sources, page.as_of).await? {
        Ok(last) => last,
        Err(overtaken) => return Ok(Err(overtaken)),
    };
    let whole = page.whole();
    unreadable::keep(tx, &state, &page.sources, page.connector.as_deref(), whole.map(|w| &w.seen), app.now())
        .await?;
    if let Some(whole) = whole {
        let live =
            items::live_sources(tx, &place.connection_id, place.kind.family(), &place.parent_id).await?;
        let mut gone: Vec<String> =
            live.into_iter().filter(|id| !whole.seen.contains(id) && !is_only_here(id)).collect();
        let (removed, spared) = apply::remove_sources(tx, &app, &place, &gone, whole.as_of).await?;
        last = removed.or(last);
        if !spared.is_empty() {
            // Written here while the provider was read: whether it is there, the next enumeration will show.
            state.cursor = None;
            gone.retain(|id| !spared.contains(id));
        }
        if place.kind.is_collection() {
            last = remove_contents(tx, &app, &place, &gone).await?.or(last);
        }
    }
    if let Some(last) = last {
        state.latest_sequence = last;
    }
    table::upsert(tx, &state).await?;
    Ok(Ok(state))
}

/// What was in collections that are gone.
async fn remove_contents(
    tx: &mut crate::storage::Tx,
    app: &App,
    place: &Place,
    gone: &[String],
) -> Result<Option<i64>> {
    let mut last = None;
    for source_id in gone {
        let collections =
            items::of_source(tx, &place.connection_id, place.kind.family(), "", source_id).await?;
        for collection in collections {
            last = remove_contents_of(tx, app, place, &collection.id).await?.or(last);
        }
    }
    Ok(last)
}

/// Makes tombstones of everything in a collection, which lies in `place`.
pub async fn remove_contents_of(
    tx: &mut crate::storage::Tx,
    app: &App,
    place: &Place,
    collection_id: &str,
) -> Result<Option<i64>> {
    let kind = place.kind.contents();
    let inside = Place { kind, parent_id: collection_id.to_owned(), ..place.clone() };
    let sources = items::live_sources(tx, &place.connection_id, kind.family(), collection_id).await?;
    Ok(apply::remove_sources(tx, app, &inside, &sources, i64::MAX).await?.0)
}
