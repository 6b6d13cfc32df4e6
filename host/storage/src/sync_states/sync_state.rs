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
    /// The number of the log's last line: the application's, read with the state.
    pub log_sequence: i64,
    /// The first reading has come back to here, ms; none before and after it. Mail alone.
    pub covered_since: Option<i64>,
    /// Rises with every scan that begins or ends, and with every reset.
    pub generation: i64,
    /// Of a scan that is under way: the connector's cursor of its next page.
    pub scan_cursor: Option<String>,
    /// Of a scan that is under way: the log's last sequence when it began.
    pub scan_since: Option<i64>,
    /// The next pull has to scan.
    pub rescan: bool,
    /// When the provider last had a change, or somebody last asked for a pull, ms: from there on pulls become rarer.
    pub last_activity_at: Option<i64>,
    /// The collection was gone after clients were told of its contents: what is read of them until all of it was read once is news.
    pub is_return: bool,
    /// The cursor that a walk over differences began with which is under way; empty: it began without one.
    pub walk_start: Option<String>,
    /// JSON of a scan whose end would have deleted so much that all is read a second time first (`0087_doubted_scans.sql`), and of readings
    /// before it of which the provider failed requests (`failing`: {since, last}, ms since 1970).
    pub doubt: Option<String>,
}

impl SyncState {
    /// What tells it apart from the other states.
    pub fn key(&self) -> ScopeKey<'_> {
        ScopeKey { connection_id: &self.connection_id, surface: &self.surface, scope_id: &self.scope_id }
    }

    pub fn tenant(&self) -> Tenant {
        Tenant { organization_id: self.organization_id.clone(), application_id: self.application_id.clone() }
    }
}
