//! The settings of PostgreSQL's connections, checked.

use anyhow::{Result, ensure};
use storage::PoolLimits;

/// Most connections of each kind that can be set.
const MAX_CONNECTIONS: u32 = 1_000;
/// The longest wait that can be set, ms.
const MAX_WAIT_MS: u64 = 600_000;

/// The given settings with the prefix `database_`. None: the default.
pub struct PoolSettings {
    pub read_connections: Option<u32>,
    pub write_connections: Option<u32>,
    pub job_connections: Option<u32>,
    pub acquire_timeout_ms: Option<u64>,
    pub lock_timeout_ms: Option<u64>,
    pub statement_timeout_ms: Option<u64>,
}

impl PoolSettings {
    /// The limits, with defaults for settings that are not given. The error names the setting.
    pub fn resolved(&self) -> Result<PoolLimits> {
        let default = PoolLimits::default();
        Ok(PoolLimits {
            reads: connections("read", self.read_connections, default.reads)?,
            writes: connections("write", self.write_connections, default.writes)?,
            jobs: connections("job", self.job_connections, default.jobs)?,
            acquire_ms: wait_ms("acquire", self.acquire_timeout_ms, default.acquire_ms)?,
            lock_ms: wait_ms("lock", self.lock_timeout_ms, default.lock_ms)?,
            statement_ms: wait_ms("statement", self.statement_timeout_ms, default.statement_ms)?,
            idle_ms: default.idle_ms,
        })
    }
}

fn connections(of: &str, given: Option<u32>, default: u32) -> Result<u32> {
    let number = given.unwrap_or(default);
    let fits = (1..=MAX_CONNECTIONS).contains(&number);
    ensure!(fits, "database_{of}_connections must be 1 to {MAX_CONNECTIONS}");
    Ok(number)
}

/// PostgreSQL interprets 0 as "without a limit", which a wait must not be.
fn wait_ms(of: &str, given: Option<u64>, default: u64) -> Result<u64> {
    let ms = given.unwrap_or(default);
    ensure!((1..=MAX_WAIT_MS).contains(&ms), "database_{of}_timeout_ms must be 1 to {MAX_WAIT_MS}");
    Ok(ms)
}
