//! The position of a time range in the log, and the check that the log still covers it.

use anyhow::Result;
use base::error::{self, Code, invalid};
use base::tenant::Tenant;
use model::Instant;
use storage::log;
use storage::sql::Reader;
use storage::webhooks::replay_lines;

use crate::webhooks::replay::selection::Period;

/// Shortest time for which log entries are kept, ms.
const KEPT_MS: i64 = 30 * 24 * 3_600_000;
/// Largest assumed difference between the clocks of hosts, ms: entry times rise with sequence numbers up to this.
const SKEW_MS: i64 = 60_000;

/// Refuses a range that begins before the oldest kept event: its first events would be missing.
pub async fn check_kept(reader: &Reader, tenant: &Tenant, from: i64, now: i64) -> error::Result<()> {
    let floor = log::floor(reader, tenant).await?;
    if floor == 0 {
        // No entry was deleted yet.
        return Ok(());
    }
    let first = replay_lines::first_after(reader, tenant, floor).await?;
    let always = now - KEPT_MS;
    let oldest = first.map_or(always, |first| first.at.min(always));
    if from >= oldest {
        return Ok(());
    }
    let oldest = Instant::from_millis(oldest);
    let message = format!("from must be {oldest} or later: earlier events are not kept any more");
    Err(invalid(Code::InvalidTimeRange, "from", message))
}

/// The sequence numbers that enclose the entries of a range: after the first, up to the second. They include a few entries around the
/// range, and no entries that are written later.
pub async fn bounds(reader: &Reader, tenant: &Tenant, period: Period) -> Result<(i64, i64)> {
    let floor = log::floor(reader, tenant).await?;
    let last = log::last_sequence(reader, tenant).await?;
    let first_at = period.from.saturating_sub(SKEW_MS);
    let after = number_before(reader, tenant, floor, last, first_at).await?;
    let end_at = period.to.saturating_add(SKEW_MS);
    let last = match period.to {
        i64::MAX => last,
        _ => number_before(reader, tenant, after, last, end_at).await?,
    };
    Ok((after, last))
}

/// The sequence number up to which entries are older than `at`, between `low` and `high`. A binary search, because the log has no index by
/// time within an application.
async fn number_before(reader: &Reader, tenant: &Tenant, mut low: i64, high: i64, at: i64) -> Result<i64> {
    let mut above = high;
    while low < above {
        let middle = low + (above - low) / 2;
        match replay_lines::first_after(reader, tenant, middle).await? {
            Some(found) if found.at < at => low = found.line.sequence,
            _ => above = middle,
        }
    }
    Ok(low.min(high))
}
