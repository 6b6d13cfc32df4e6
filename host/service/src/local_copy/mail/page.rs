//! The changes of a page of mail while it is compared with the stored rows.

use std::collections::{BTreeSet, HashMap};

use storage::items::Item;
use storage::locked::{ConnectionLock, LockedRow};

use crate::app::App;
use crate::app::resource_kind::ResourceKind;
use crate::local_copy::change::{CopyLocation, ItemChange};
use crate::local_copy::mail::folder_ids::FolderIds;
use crate::local_copy::mail::threads::Threads;

/// The state of a page's comparison.
pub(crate) struct MailPage<'a, 'l> {
    pub(crate) app: &'a App,
    pub(crate) place: &'a CopyLocation,
    pub(crate) lock: &'l ConnectionLock,
    pub(crate) known: StoredMessages<'l>,
    pub(crate) folders: StoredFolders<'l>,
    pub(crate) names: FolderIds,
    pub(crate) threads: Threads,
    /// Rows of records that the page deletes, by fingerprint.
    pub(crate) leaving: HashMap<String, Vec<LockedRow<'l, Item>>>,
    pub(crate) changed: PageChanges<'l>,
    /// The log's last sequence when the provider was asked.
    pub(crate) as_of: i64,
    /// Records that were left out because they were written here since then, by the provider's names.
    pub(crate) superseded: BTreeSet<String>,
    pub(crate) superseded_folders: bool,
}

/// The stored rows that a page may affect; read once.
pub(crate) struct StoredMessages<'l> {
    pub(crate) by_source: HashMap<String, Vec<LockedRow<'l, Item>>>,
    /// Recently deleted messages.
    pub(crate) by_fingerprint: HashMap<String, Vec<LockedRow<'l, Item>>>,
    /// Messages by their Message-ID that only this host has, or that it has just changed.
    pub(crate) by_uid: HashMap<String, Vec<LockedRow<'l, Item>>>,
}

/// Rows of folders and labels, tombstones included, by kind and the provider's id.
pub(crate) type StoredFolders<'l> = HashMap<(ResourceKind, String), LockedRow<'l, Item>>;

/// The changes of a page, in their order.
#[derive(Default)]
pub(crate) struct PageChanges<'l> {
    /// A slot is empty if a later change of the same item replaced its change.
    changes: Vec<Option<ItemChange<'l>>>,
    /// The slot of the first change of each item, by the item's id.
    by_item: HashMap<String, usize>,
}

impl<'l> PageChanges<'l> {
    /// Whether an item changes.
    pub(crate) fn contains(&self, id: &str) -> bool {
        self.by_item.contains_key(id)
    }

    /// The first change of an item.
    pub(crate) fn find_mut(&mut self, id: &str) -> Option<&mut ItemChange<'l>> {
        self.changes.get_mut(*self.by_item.get(id)?)?.as_mut()
    }

    /// Adds a change after all others.
    pub(crate) fn add(&mut self, change: ItemChange<'l>) {
        self.by_item.entry(change.item.id.clone()).or_insert(self.changes.len());
        self.changes.push(Some(change));
    }

    /// Removes the first change of an item and returns it.
    pub(crate) fn take(&mut self, id: &str) -> Option<ItemChange<'l>> {
        let at = self.by_item.remove(id)?;
        self.changes.get_mut(at)?.take()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &ItemChange<'l>> {
        self.changes.iter().flatten()
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut ItemChange<'l>> {
        self.changes.iter_mut().flatten()
    }

    pub(crate) fn into_changes(self) -> impl Iterator<Item = ItemChange<'l>> {
        self.changes.into_iter().flatten()
    }
}
