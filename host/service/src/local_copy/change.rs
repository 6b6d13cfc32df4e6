//! Where records are stored, what changes there, and what a later write superseded.

use base::error::{Result, not_found};
use base::tenant::Tenant;
use sha2::{Digest, Sha256};
use storage::Tx;
use storage::items::{Item, Key};
use storage::locked::{ConnectionLock, Locked};

use crate::app::event_log::Origin;
use crate::app::resource_kind::ResourceKind;
use crate::local_copy::record::NormalizedRecord;

/// Where sources are written.
#[derive(Clone, Debug)]
pub struct CopyLocation {
    pub tenant: Tenant,
    pub connection_id: String,
    /// What lies there; where several kinds do, the one that they are named after.
    pub kind: ResourceKind,
    /// The collection; empty for what lives directly in the connection.
    pub parent_id: String,
    pub origin: Origin,
}

impl CopyLocation {
    /// Whether what is written there was read from the provider, and is no write of ours.
    pub(crate) fn is_read(&self) -> bool {
        matches!(self.origin, Origin::Provider | Origin::Backfill)
    }

    /// The inside of a collection that lies there.
    pub fn contents_of(&self, collection_id: &str) -> CopyLocation {
        CopyLocation { kind: self.kind.contents(), parent_id: collection_id.to_owned(), ..self.clone() }
    }
}

/// What one item went through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    Created,
    Updated,
    Deleted,
}

/// An item that is about to be written.
#[derive(Clone, Debug)]
pub struct ItemChange<'l> {
    pub kind: ResourceKind,
    pub item: Item,
    pub change: ChangeKind,
    /// The row that it replaces.
    pub before: Option<Locked<'l, Item>>,
    /// The row as it stands in the table, where it was written once already so that others find it.
    pub stored: Option<Locked<'l, Item>>,
    /// Whom it names, as the provider names them.
    pub refs: Vec<String>,
    pub keys: Vec<Key>,
    /// Of a message: the folders and labels that it is in.
    pub places: Vec<String>,
}

/// The outcome of writing records.
#[derive(Debug, Default)]
pub struct Upserted {
    /// The first and the last sequence of the log that changes were given, if anything changed.
    pub first_sequence: Option<i64>,
    pub last_sequence: Option<i64>,
    /// Live rows as they stand in the table: those of the records, written or as they were, and those of others that changed with them.
    pub items: Vec<Item>,
    pub superseded: SupersededRecords,
}

impl Upserted {
    /// Adds what was written after it in the same transaction.
    pub(crate) fn extend(&mut self, later: Upserted) {
        self.first_sequence = self.first_sequence.or(later.first_sequence);
        self.last_sequence = later.last_sequence.or(self.last_sequence);
        self.items.extend(later.items);
        self.superseded.extend(later.superseded);
    }
}

/// Locks the connection, before the first look at what is stored of it: what is decided on that must still be so when it is written.
/// Fails when the account was disconnected meanwhile.
pub async fn lock(tx: &mut Tx, place: &CopyLocation) -> Result<ConnectionLock> {
    let lock = ConnectionLock::take(tx, &place.tenant, &place.connection_id).await?;
    lock.ok_or_else(|| not_found("connection"))
}

/// The version of an item: changes with every visible change, and with nothing else.
pub fn etag(item: &Item) -> String {
    let text = format!("{}\n{}\n{}\n{}", item.id, item.sequence, item.hash, item.metadata);
    format!("\"{}\"", hex::encode(&Sha256::digest(text)[..8]))
}

/// A row of which only what nobody sees is another: its names or its version at the provider, what is kept beside it.
#[derive(Clone, Debug)]
pub struct UnloggedChange<'l> {
    pub before: Locked<'l, Item>,
    pub item: Item,
}

/// What sources change here.
#[derive(Debug, Default)]
pub struct Differences<'l> {
    pub changed: Vec<ItemChange<'l>>,
    pub quiet: Vec<UnloggedChange<'l>>,
    /// Live rows that stay as they are, because the records say the same of them.
    pub unchanged: Vec<Item>,
    pub superseded: SupersededRecords,
}

impl<'l> Differences<'l> {
    /// Whether a row that these replace was written after `as_of`.
    pub fn is_superseded(&self, as_of: i64) -> bool {
        let before = self.changed.iter().filter_map(|c| c.before.as_ref());
        before.chain(self.quiet.iter().map(|q| &q.before)).any(|b| b.sequence > as_of)
    }

    /// Whether `record`, of a feed, is an older version at the provider than a row that these replace: feeds may be minutes behind, and
    /// tell of an item as it was before a write of ours. Deletions are never late. `now`: ms since 1970.
    pub fn is_late(&self, record: &NormalizedRecord, now: i64) -> bool {
        let Some(at) = record.version_time(now).filter(|_| record.is_from_feed && !record.deleted) else {
            return false;
        };
        let before = self.changed.iter().filter_map(|c| c.before.as_ref());
        before.chain(self.quiet.iter().map(|q| &q.before)).any(|stored| is_newer(stored, at, now))
    }

    pub fn extend(&mut self, other: Differences<'l>) {
        self.changed.extend(other.changed);
        self.quiet.extend(other.quiet);
        self.unchanged.extend(other.unchanged);
    }
}

/// Milliseconds after a deletion in which a feed may still tell the version that was deleted. Later it is an item that has come back.
const MAX_FEED_DELAY_MS: i64 = 3_600_000;

/// Whether a row has a later version of its record than the one of this time. A deletion by a client is later than what was deleted.
fn is_newer(stored: &Item, at: i64, now: i64) -> bool {
    let Some(known) = stored.provider_updated_at else { return false };
    match stored.deleted_at {
        None => known > at,
        Some(deleted_at) => known >= at && now.saturating_sub(deleted_at) < MAX_FEED_DELAY_MS,
    }
}

/// Sources that were left out because what is stored of them was written after the provider was asked, or is a later version: which of the
/// two is newer, only another look at the provider tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SupersededRecords {
    /// The provider's names of what can be read again one by one.
    pub sources: Vec<String>,
    /// Among the rest is what comes only with everything else: folders, labels, exceptions of a series that has very many.
    pub folders: bool,
}

impl SupersededRecords {
    pub fn is_empty(&self) -> bool {
        self.sources.is_empty() && !self.folders
    }

    pub(crate) fn extend(&mut self, other: SupersededRecords) {
        self.sources.extend(other.sources);
        self.folders |= other.folders;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_newer_than_an_earlier_version_of_its_record() {
        let row =
            |provider_updated_at, deleted_at| Item { provider_updated_at, deleted_at, ..Item::default() };
        assert!(is_newer(&row(Some(5), None), 4, 0));
        assert!(!is_newer(&row(Some(5), None), 5, 0), "the same version");
        assert!(!is_newer(&row(Some(5), None), 6, 0));
        assert!(!is_newer(&row(None, None), i64::MIN, 0), "nothing is known of it");
        assert!(is_newer(&row(Some(5), Some(5)), 5, 5), "a client has deleted it");
        assert!(!is_newer(&row(Some(5), Some(5)), 6, 6), "it is there again");
        assert!(!is_newer(&row(Some(5), Some(5)), 5, 5 + MAX_FEED_DELAY_MS), "no feed is so late");
    }

    #[test]
    fn a_time_far_in_the_future_says_nothing() {
        let record = |updated_at| NormalizedRecord { updated_at, ..NormalizedRecord::gone("a") };
        assert_eq!(
            record(Some(60_000)).version_time(0),
            Some(60_000),
            "the provider's clock is a minute ahead"
        );
        assert_eq!(record(Some(86_400_000)).version_time(0), None);
        assert_eq!(record(Some(i64::MAX)).version_time(i64::MAX), Some(i64::MAX));
        assert_eq!(record(None).version_time(0), None);
    }
}
