//! A record of a provider, normalized and ready to be compared with what is stored.

use serde_json::Value;
use storage::items::Key;

use crate::app::resource_kind::ResourceKind;

/// A source, parsed and hashed before the transaction begins.
#[derive(Clone, Debug)]
pub struct NormalizedRecord {
    pub source_id: String,
    pub provider_etag: Option<String>,
    pub items: Vec<NormalizedItem>,
    /// It is there but unreadable: what was read of it earlier stays.
    pub error: Option<(String, String)>,
    /// What the provider called it until now.
    pub previous_id: Option<String>,
    /// It is gone.
    pub deleted: bool,
    /// When the provider last changed it, ms since 1970, as the connector says; see `version_time`.
    pub updated_at: Option<i64>,
    /// Whether it was read from a page of changes, which may be minutes behind other reads.
    pub is_from_feed: bool,
}

/// Milliseconds that a provider's clock may be ahead of this host's. A later time says nothing of the version.
const MAX_AHEAD_MS: i64 = 3_600_000;

impl NormalizedRecord {
    /// A readable source with these items, of which the provider says nothing else.
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

    /// A source that is no longer there.
    pub fn gone(source_id: &str) -> Self {
        NormalizedRecord { deleted: true, ..NormalizedRecord::with_items(source_id.to_owned(), Vec::new()) }
    }

    /// The provider's time of this version, ms since 1970; none where the provider gives none, or one that lies in the future of `now`.
    pub fn version_time(&self, now: i64) -> Option<i64> {
        self.updated_at.filter(|at| *at <= now.saturating_add(MAX_AHEAD_MS))
    }
}

/// An item of it.
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
    /// What is kept beside its version.
    pub aside: Option<String>,
    /// Only these fields are told of it; `content` is empty. Of messages alone.
    pub partial: Option<serde_json::Map<String, Value>>,
}

/// What is stored of its body.
#[derive(Clone, Debug, Default)]
pub struct NormalizedContent {
    /// JSON, without what is a column, and without the names in `refs`; with warnings as `warned` has them.
    pub body: String,
    pub is_series: bool,
    pub sort_at: i64,
    pub until_at: i64,
    pub sort_text: String,
    pub search_text: String,
    pub is_open: bool,
    /// Of messages: see `storage::mail::flag`.
    pub flags: i64,
    /// The items of the collection that it names, as the provider names them.
    pub refs: Vec<String>,
    pub keys: Vec<Key>,
    /// Of events: the revision (RFC 5545 section 3.8.7.4); of two that are one the higher counts.
    pub revision: i64,
    /// Of an exception: which instance of its series it is.
    pub instance: Option<i64>,
    /// Of events: the UID, and of an exception its recurrence id.
    pub i_cal_uid: Option<String>,
    pub recurrence_id: Option<String>,
}

/// Longest name of a source or an item in bytes: what fits into an entry of PostgreSQL's index, of a third of a page of 8 KiB, with room
/// for what else is in it.
pub(crate) const MAX_NAME: usize = 2_000;
