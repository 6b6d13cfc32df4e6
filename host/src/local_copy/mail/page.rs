//! What a page of mail changes, while it is compared with what is stored.

use std::collections::{BTreeSet, HashMap};

use storage::items::Item;
use storage::locked::{ConnectionLock, Locked};

use crate::app::App;
use crate::local_copy::change::{CopyLocation, ItemChange};
use crate::local_copy::mail::folder_ids::FolderIds;
use crate::local_copy::mail::threads::Threads;

/// What is changed while a page is looked at.
pub(crate) struct MailPage<'a, 'l> {
    pub(crate) app: &'a App,
    pub(crate) place: &'a CopyLocation,
    pub(crate) lock: &'l ConnectionLock,
    pub(crate) known: StoredMessages<'l>,
    pub(crate) names: FolderIds,
    pub(crate) threads: Threads,
    /// Rows of sources that the page says are gone, by fingerprint.
    pub(crate) leaving: HashMap<String, Vec<Locked<'l, Item>>>,
    pub(crate) changed: Vec<ItemChange<'l>>,
    /// The log's last sequence when the provider was asked.
    pub(crate) as_of: i64,
    /// What was left out because it was written here since then, by the provider's names.
    pub(crate) superseded: BTreeSet<String>,
    pub(crate) superseded_folders: bool,
}

/// What is stored of what a page may be about; asked for once.
pub(crate) struct StoredMessages<'l> {
    pub(crate) by_source: HashMap<String, Vec<Locked<'l, Item>>>,
    /// What went lately.
    pub(crate) by_fingerprint: HashMap<String, Vec<Locked<'l, Item>>>,
    /// What others call it that only we know, or only we change.
    pub(crate) by_uid: HashMap<String, Vec<Locked<'l, Item>>>,
}
