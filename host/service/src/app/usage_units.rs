//! Counts units of providers' quotas in memory and writes the counts once a minute: figures for the usage operation, never on a request's
//! path.

use std::collections::BTreeMap;
use std::sync::Mutex;

use anyhow::Result;
use base::tenant::Tenant;
use storage::Db;
use storage::provider_units::{self, UnitBucket, UnitCount};

/// Milliseconds between two writes. A write has a row for each connection that called its provider.
const WRITE_EVERY_MS: i64 = 60_000;
/// Counts in memory that cause an earlier write.
const WRITE_AT: usize = 10_000;
/// Most counts in memory. While the database is unavailable, units of further connections are not counted.
const MAX_PENDING: usize = 50_000;
/// Counts per transaction.
const COUNTS_PER_TRANSACTION: usize = 1_000;

/// Units used since the last write.
#[derive(Default)]
pub struct UnitCounters(Mutex<PendingUnits>);

#[derive(Default)]
struct PendingUnits {
    counts: BTreeMap<UnitBucket, (Tenant, i64)>,
    /// The time of the last write, ms since 1970.
    written_at: i64,
}

impl PendingUnits {
    fn add(&mut self, count: UnitCount) {
        let is_full = self.counts.len() >= MAX_PENDING;
        match self.counts.get_mut(&count.of) {
            Some((_, units)) => *units = units.saturating_add(count.units),
            None if is_full => {}
            None => drop(self.counts.insert(count.of, (count.tenant, count.units))),
        }
    }
}

impl UnitCounters {
    /// Counts the units that a call of a connection used on a day (`YYYY-MM-DD`), by bucket.
    pub fn add(&self, tenant: &Tenant, connection_id: &str, day: &str, units: &BTreeMap<String, u64>) {
        let Ok(mut pending) = self.0.lock() else { return };
        for (bucket, units) in units {
            let of = UnitBucket {
                connection_id: connection_id.to_owned(),
                day: day.to_owned(),
                bucket: bucket.clone(),
            };
            let units = i64::try_from(*units).unwrap_or(i64::MAX);
            pending.add(UnitCount { tenant: tenant.clone(), of, units });
        }
    }

    /// Returns the counts of an application that are not written yet.
    pub fn pending_of(&self, tenant: &Tenant) -> Vec<UnitCount> {
        let Ok(pending) = self.0.lock() else { return Vec::new() };
        let own = pending.counts.iter().filter(|(_, (owner, _))| owner == tenant);
        own.map(|(of, (_, units))| UnitCount { tenant: tenant.clone(), of: of.clone(), units: *units })
            .collect()
    }

    /// Whether a write is due at this time, ms since 1970; if so, the next one is due a minute later. A clock that was set back delays
    /// nothing.
    pub fn is_due(&self, now: i64) -> bool {
        let Ok(mut pending) = self.0.lock() else { return false };
        let age = now.saturating_sub(pending.written_at);
        let is_due = !(0..WRITE_EVERY_MS).contains(&age) || pending.counts.len() >= WRITE_AT;
        if is_due {
            pending.written_at = now;
        }
        is_due
    }

    /// Writes the counts. Those that cannot be written are added again.
    pub async fn flush(&self, db: &Db) -> Result<()> {
        let Ok(taken) = self.0.lock().map(|mut p| std::mem::take(&mut p.counts)) else { return Ok(()) };
        // Sorted, in the same order as on every other host.
        let counts = taken.into_iter().map(|(of, (tenant, units))| UnitCount { tenant, of, units });
        let mut rest: Vec<UnitCount> = counts.collect();
        while !rest.is_empty() {
            let some: Vec<UnitCount> = rest.drain(..rest.len().min(COUNTS_PER_TRANSACTION)).collect();
            let writing = some.clone();
            let written: Result<()> =
                db.write(move |tx| Box::pin(async move { provider_units::add(tx, &writing).await })).await;
            if let Err(e) = written {
                if let Ok(mut pending) = self.0.lock() {
                    some.into_iter().chain(rest).for_each(|count| pending.add(count));
                }
                return Err(e);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tenant(id: &str) -> Tenant {
        Tenant { organization_id: "org".to_owned(), application_id: id.to_owned() }
    }

    fn units(units: u64) -> BTreeMap<String, u64> {
        BTreeMap::from([("mail".to_owned(), units)])
    }

    #[test]
    fn units_of_one_bucket_and_day_add_up() {
        let counters = UnitCounters::default();
        for (connection, day, used) in
            [("a", "2026-03-01", 5), ("a", "2026-03-01", 20), ("a", "2026-03-02", 1)]
        {
            counters.add(&tenant("one"), connection, day, &units(used));
        }
        counters.add(&tenant("other"), "b", "2026-03-01", &units(7));
        let pending: Vec<i64> = counters.pending_of(&tenant("one")).iter().map(|count| count.units).collect();
        assert_eq!(pending, [25, 1]);
        assert!(counters.pending_of(&tenant("none")).is_empty());
    }

    #[test]
    fn memory_is_bounded_while_nothing_can_be_written() {
        let counters = UnitCounters::default();
        for number in 0..MAX_PENDING + 10 {
            counters.add(&tenant("one"), &format!("conn_{number:06}"), "2026-03-01", &units(1));
        }
        counters.add(&tenant("one"), "conn_000000", "2026-03-01", &units(1));
        let pending = counters.pending_of(&tenant("one"));
        assert_eq!((pending.len(), pending[0].units), (MAX_PENDING, 2));
    }

    #[test]
    fn they_are_written_once_a_minute_or_when_there_are_many() {
        let counters = UnitCounters::default();
        let start = 1_772_352_000_000;
        assert!(counters.is_due(start) && !counters.is_due(start + WRITE_EVERY_MS - 1));
        assert!(counters.is_due(start + WRITE_EVERY_MS));
        assert!(counters.is_due(start) && !counters.is_due(start), "the clock was set back");
        assert!(counters.is_due(start + WRITE_EVERY_MS));
        for number in 0..WRITE_AT {
            counters.add(&tenant("one"), &format!("conn_{number}"), "2026-03-01", &units(1));
        }
        assert!(counters.is_due(start + WRITE_EVERY_MS + 1));
    }
}
