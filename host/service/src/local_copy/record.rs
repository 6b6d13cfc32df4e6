//! A record of a provider, normalized and ready to be compared with what is stored.

use serde_json::Value;
use storage::items::Key;

use crate::app::resource_kind::ResourceKind;

/// A record, parsed and hashed before the transaction begins.
#[derive(Clone, Debug)]
pub struct NormalizedRecord {
    pub source_id: String,
    pub provider_etag: Option<String>,
    pub items: Vec<NormalizedItem>,
    /// The error of a record that exists but is unreadable: its stored items stay.
    pub error: Option<(String, String)>,
    /// The provider's previous name of it.
    pub previous_id: Option<String>,
    /// Whether it was deleted.
    pub deleted: bool,
    /// Time of the provider's last change, ms since 1970, as the connector reports it; see `version_time`.
    pub updated_at: Option<i64>,
    /// Whether it was read from a page of changes, which may be minutes behind other reads.
    pub is_from_feed: bool,
}

/// Time that a provider's clock may be ahead of this host's, ms. A later time is ignored.
const MAX_AHEAD_MS: i64 = 3_600_000;

impl NormalizedRecord {
    /// Creates a readable record with these items and no other data.
    pub fn with_items(source_id: String, items: Vec<NormalizedItem>) -> Self {
        NormalizedRecord {
            source_id,
            provider_etag: None,
            items,
            error: None,
            previous_id: None,
            deleted: false,
            updated_at: None,
            is_from_feed: false,
        }
    }

    /// Creates a record that no longer exists.
    pub fn gone(source_id: &str) -> Self {
        NormalizedRecord { deleted: true, ..NormalizedRecord::with_items(source_id.to_owned(), Vec::new()) }
    }

    /// Returns the provider's time of this version, ms since 1970; none if the provider gives none, or one that is in the future of `now`.
    pub fn version_time(&self, now: i64) -> Option<i64> {
        self.updated_at.filter(|at| *at <= now.saturating_add(MAX_AHEAD_MS))
    }
}

/// An item of a record.
#[derive(Clone, Debug)]
pub struct NormalizedItem {
    pub kind: ResourceKind,
    pub external_id: String,
    pub uid: Option<String>,
    pub series_external_id: Option<String>,
    pub hash: String,
    pub provider_data: Option<String>,
    pub content: NormalizedContent,
    pub fingerprint: Option<String>,
    /// The side data, stored outside the item's version.
    pub aside: Option<String>,
    /// The only reported fields of a message; `content` is then empty.
    pub partial: Option<serde_json::Map<String, Value>>,
}

/// The stored columns of an item's content.
#[derive(Clone, Debug, Default)]
pub struct NormalizedContent {
    /// JSON, without columns and without the names in `refs`; with warnings as `warned` stores them.
    pub body: String,
    pub is_series: bool,
    pub sort_at: i64,
    pub until_at: i64,
    pub sort_text: String,
    pub search_text: String,
    pub is_open: bool,
    /// The flags of a message: see `storage::mail::flag`.
    pub flags: i64,
    /// The items of the collection that it refers to, by the provider's names.
    pub refs: Vec<String>,
    pub keys: Vec<Key>,
    /// The revision of an event (RFC 5545 section 3.8.7.4); of two records of one item the higher one counts.
    pub revision: i64,
    /// The instance of its series that an exception replaces.
    pub instance: Option<i64>,
    /// The UID of an event; `recurrence_id` is that of an exception.
    pub i_cal_uid: Option<String>,
    pub recurrence_id: Option<String>,
}

/// Longest name of a record or an item, bytes: it has to fit into an index entry of PostgreSQL, a third of a page of 8 KiB, with room for
/// the other columns.
pub(crate) const MAX_NAME: usize = 2_000;
