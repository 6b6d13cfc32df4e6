//! The row of one collection's or one surface's state.

use base::tenant::Tenant;

use crate::sync_states::rereads::ScopeKey;

/// One collection's (or, with an empty `scope_id`, one surface's) state.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SyncState {
    pub organization_id: String,
    pub application_id: String,
    pub connection_id: String,
    pub surface: String,
    pub scope_id: String,
    pub followed: bool,
    /// `idle`, `initial`, `syncing`, `caught_up`, `throttled`, `blocked` or `error`.
    pub status: String,
    pub epoch: i64,
    /// The connector's cursor; none: the next pull enumerates.
    pub cursor: Option<String>,
    pub started_at: Option<i64>,
    pub last_success_at: Option<i64>,
    pub last_attempt_at: Option<i64>,
    pub next_pull_at: Option<i64>,
    pub seen: i64,
    pub estimated: Option<i64>,
    pub backfill_since: Option<i64>,
    pub consecutive_errors: i64,
    /// JSON `{code, message, at, retryAt}`.
    pub last_error: Option<String>,
    pub provider_resets: i64,
    pub latest_sequence: i64,
    /// Below this sequence of the log no feed can be read: the application's, read with the state.
    pub floor_sequence: i64,
    /// The number of the log's last entry: the application's, read with the state.
    pub log_sequence: i64,
    /// The oldest time that the initial sync has reached, ms; none before and after it. Mail alone.
    pub covered_since: Option<i64>,
    /// Rises with every scan that begins or ends, and with every reset.
    pub generation: i64,
    /// The connector's cursor of the next page; set while a scan is in progress.
    pub scan_cursor: Option<String>,
    /// The log's last sequence when the scan in progress began.
    pub scan_since: Option<i64>,
    /// The next pull has to scan.
    pub rescan: bool,
    /// Time of the provider's last change or of the last requested pull, ms: the longer ago, the rarer pulls become.
    pub last_activity_at: Option<i64>,
    /// Whether the collection was gone after clients had got its items: items that the next complete scan reads are then reported
    /// as new.
    pub is_return: bool,
    /// The cursor at which the walk over differences in progress began; empty: it began without one.
    pub walk_start: Option<String>,
    /// JSON of a scan whose end would have deleted so much that everything is read a second time first
    /// (`0087_doubted_scans.sql`), and of syncs before it in which the provider failed requests (`failing`: {since, last}, ms
    /// since 1970).
    pub doubt: Option<String>,
}

impl SyncState {
    /// The key of the state: connection, surface and scope.
    pub fn key(&self) -> ScopeKey<'_> {
        ScopeKey { connection_id: &self.connection_id, surface: &self.surface, scope_id: &self.scope_id }
    }

    pub fn tenant(&self) -> Tenant {
        Tenant { organization_id: self.organization_id.clone(), application_id: self.application_id.clone() }
    }
}
