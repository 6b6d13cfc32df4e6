//! Locations in the local copy, changes of items there, and records that a later write superseded.

use base::error::{Result, not_found};
use base::tenant::Tenant;
use sha2::{Digest, Sha256};
use storage::Tx;
use storage::items::{Item, Key};
use storage::locked::{ConnectionLock, LockedRow};

use crate::app::event_log::Origin;
use crate::app::resource_kind::ResourceKind;
use crate::local_copy::record::NormalizedRecord;

/// The place in the local copy at which records are written.
#[derive(Clone, Debug)]
pub struct CopyLocation {
    pub tenant: Tenant,
    pub connection_id: String,
    /// The kind of the records there; of several kinds, the one that they are named after.
    pub kind: ResourceKind,
    /// The collection; empty for records directly in the connection.
    pub parent_id: String,
    pub origin: Origin,
}

impl CopyLocation {
    /// Whether the records come from reading the provider, and not from a write of ours.
    pub(crate) fn is_read(&self) -> bool {
        matches!(self.origin, Origin::Provider | Origin::Backfill)
    }

    /// Returns the location inside a collection at this one.
    pub fn contents_of(&self, collection_id: &str) -> CopyLocation {
        CopyLocation { kind: self.kind.contents(), parent_id: collection_id.to_owned(), ..self.clone() }
    }
}

/// The kind of change of one item.
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
    pub before: Option<LockedRow<'l, Item>>,
    /// The row in the table, if it was already written so that other changes find it.
    pub stored: Option<LockedRow<'l, Item>>,
    /// The items that it refers to, by the provider's names.
    pub refs: Vec<String>,
    pub keys: Vec<Key>,
    /// The folders and labels that a message is in.
    pub places: Vec<String>,
}

/// The outcome of writing records.
#[derive(Debug, Default)]
pub struct UpsertResult {
    /// The first and the last sequence of the log that the changes got, if anything changed.
    pub first_sequence: Option<i64>,
    pub last_sequence: Option<i64>,
    /// Live rows as they are in the table: those of the records, changed or unchanged, and those of others that changed with them.
    pub items: Vec<Item>,
    pub superseded: SupersededRecords,
}

impl UpsertResult {
    /// Adds the outcome of a later write in the same transaction.
    pub(crate) fn extend(&mut self, later: UpsertResult) {
        self.first_sequence = self.first_sequence.or(later.first_sequence);
        self.last_sequence = later.last_sequence.or(self.last_sequence);
        self.items.extend(later.items);
        self.superseded.extend(later.superseded);
    }
}

/// Locks the connection. Must be called before its stored rows are read: decisions about them must still hold when they are written. Fails
/// if the account was disconnected.
pub async fn lock(tx: &mut Tx, place: &CopyLocation) -> Result<ConnectionLock> {
    let lock = ConnectionLock::take(tx, &place.tenant, &place.connection_id).await?;
    lock.ok_or_else(|| not_found("connection"))
}

/// Returns the version of an item: changes with every visible change, and only with these.
pub fn etag(item: &Item) -> String {
    let text = format!("{}\n{}\n{}\n{}", item.id, item.sequence, item.hash, item.metadata);
    format!("\"{}\"", hex::encode(&Sha256::digest(text)[..8]))
}

/// A row with changes that no client sees: its names or its version at the provider, or its side data.
#[derive(Clone, Debug)]
pub struct UnloggedChange<'l> {
    pub before: LockedRow<'l, Item>,
    pub item: Item,
}

/// The changes that records make here.
#[derive(Debug, Default)]
pub struct Differences<'l> {
    pub changed: Vec<ItemChange<'l>>,
    pub quiet: Vec<UnloggedChange<'l>>,
    /// Live rows that stay unchanged, because the records have the same content.
    pub unchanged: Vec<Item>,
    pub superseded: SupersededRecords,
}

impl<'l> Differences<'l> {
    /// Whether a row that these changes replace was written after `as_of`.
    pub fn is_superseded(&self, as_of: i64) -> bool {
        let before = self.changed.iter().filter_map(|c| c.before.as_ref());
        before.chain(self.quiet.iter().map(|q| &q.before)).any(|b| b.sequence > as_of)
    }

    /// Whether `record`, read from a feed, is an older version at the provider than a row that these changes replace: feeds may be minutes
    /// behind, and return an item as it was before a write of ours. Deletions are never late. `now`: ms since 1970.
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

/// Time after a deletion in which a feed may still return the deleted version, ms. After it the item counts as restored.
const MAX_FEED_DELAY_MS: i64 = 3_600_000;

/// Whether a row has a later version of its record than the one of this time. A deletion by a client is later than the deleted version.
fn is_newer(stored: &Item, at: i64, now: i64) -> bool {
    let Some(known) = stored.provider_updated_at else { return false };
    match stored.deleted_at {
        None => known > at,
        Some(deleted_at) => known >= at && now.saturating_sub(deleted_at) < MAX_FEED_DELAY_MS,
    }
}

/// Records that were left out because the stored row was written after the provider was asked, or is a later version: only another read of
/// the provider shows which of the two is newer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SupersededRecords {
    /// The provider's names of records that can be read again one by one.
    pub sources: Vec<String>,
    /// Whether others come only with a full read: folders, labels, exceptions of a series that has very many.
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
