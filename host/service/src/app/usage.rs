//! Counts requests in memory and writes the counts every few seconds: figures for the usage operation, never on a request's path.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::Mutex;

use anyhow::Result;
use base::tenant::Tenant;
use model::Instant;
use storage::Db;
use storage::api_keys::{self, ApiKey};
use storage::usage::{self, Bucket};

use crate::app::usage_units::UnitCounters;

const DAY_MS: i64 = 86_400_000;

/// The counts since the last flush.
#[derive(Default)]
pub struct Counters {
    requests: Mutex<PendingCounts>,
    /// Units of providers' quotas.
    pub units: UnitCounters,
}

/// By key id, or by application id for requests without a key.
type PendingCounts = HashMap<String, OfKey>;

struct OfKey {
    tenant: Tenant,
    /// The key's id, and time (ms since 1970) and address of its last request.
    key: Option<(String, i64, IpAddr)>,
    requests: Vec<(RequestKind, i64)>,
}

impl OfKey {
    fn count(&mut self, kind: RequestKind, more: i64) {
        match self.requests.iter_mut().find(|(k, _)| *k == kind) {
            Some((_, n)) => *n += more,
            None => self.requests.push((kind, more)),
        }
    }
}

/// The kind of a counted request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestKind {
    pub surface: &'static str,
    /// `success`, `clientError`, `serverError` or `rateLimited`; of requests to providers `providerCall`, or `providerThrottled` where
    /// the provider asked to slow down.
    pub outcome: &'static str,
    /// Days since 1970-01-01, UTC.
    pub day: i64,
}

impl RequestKind {
    /// Returns the kind of a request at this time, in milliseconds since 1970.
    pub fn at(ms: i64, surface: &'static str, outcome: &'static str) -> RequestKind {
        RequestKind { surface, outcome, day: ms.div_euclid(DAY_MS) }
    }
}

impl Counters {
    /// Counts one request of a key. A request of an access token counts for the key that the token was issued to.
    pub fn add(&self, key: &ApiKey, ip: IpAddr, at: i64, kind: RequestKind) {
        let Ok(mut pending) = self.requests.lock() else { return };
        let id = key.budget_id();
        if !pending.contains_key(id) {
            let fresh = OfKey { tenant: key.tenant.clone(), key: None, requests: Vec::new() };
            pending.insert(id.to_owned(), fresh);
        }
        let Some(of_key) = pending.get_mut(id) else { return };
        match &mut of_key.key {
            Some(key) => (key.1, key.2) = (at, ip),
            None => of_key.key = Some((id.to_owned(), at, ip)),
        }
        of_key.count(kind, 1);
    }

    /// Counts a connector's requests to a provider.
    pub fn add_provider(&self, tenant: &Tenant, kind: RequestKind, requests: i64) {
        let Ok(mut pending) = self.requests.lock() else { return };
        let fresh = || OfKey { tenant: tenant.clone(), key: None, requests: Vec::new() };
        pending.entry(tenant.application_id.clone()).or_insert_with(fresh).count(kind, requests);
    }

    /// Counts a call of an assistant's tool. `at`: ms since 1970.
    pub fn add_mcp_call(&self, tenant: &Tenant, at: i64) {
        self.add_provider(tenant, RequestKind::at(at, "mcp", usage::MCP_CALL), 1);
    }

    /// Counts units of a provider's quota that a call of a connection used, by bucket of the connector's limits. `at`: ms since 1970.
    pub fn add_units(&self, tenant: &Tenant, connection_id: &str, at: i64, units: &BTreeMap<String, u64>) {
        if !units.is_empty() && !connection_id.is_empty() {
            self.units.add(tenant, connection_id, &day(at), units);
        }
    }

    /// Returns the counts that are not written yet, for reports that include the last seconds.
    pub fn pending(&self) -> Vec<(Bucket, i64)> {
        self.requests.lock().map_or_else(|_| Vec::new(), |pending| buckets(&pending))
    }

    /// Writes the due counts: requests each time, units once a minute. Counts that cannot be written stay for the next time.
    pub async fn flush_due(&self, db: &Db, now: i64) -> Result<()> {
        self.flush_requests(db).await?;
        match self.units.is_due(now) {
            true => self.units.flush(db).await,
            false => Ok(()),
        }
    }

    /// Writes all counts.
    pub async fn flush(&self, db: &Db) -> Result<()> {
        self.flush_requests(db).await?;
        self.units.flush(db).await
    }

    async fn flush_requests(&self, db: &Db) -> Result<()> {
        let Ok(taken) = self.requests.lock().map(|mut p| std::mem::take(&mut *p)) else { return Ok(()) };
        if taken.is_empty() {
            return Ok(());
        }
        // Sorted, in the same order as on every other host.
        let mut counts = buckets(&taken);
        counts.sort_unstable();
        let mut uses: Vec<(String, i64, IpAddr)> = taken.values().filter_map(|k| k.key.clone()).collect();
        uses.sort_unstable();
        let written: Result<()> = db
            .write(move |tx| {
                Box::pin(async move {
                    for (bucket, n) in &counts {
                        usage::add(tx, bucket, *n).await?;
                    }
                    for (key, at, ip) in &uses {
                        api_keys::note_use(tx, key, *at, &ip.to_string()).await?;
                    }
                    Ok(())
                })
            })
            .await;
        if written.is_err() {
            self.count_again(taken);
        }
        written
    }

    fn count_again(&self, taken: PendingCounts) {
        let Ok(mut pending) = self.requests.lock() else { return };
        for (id, old) in taken {
            let Some(of_key) = pending.get_mut(&id) else {
                pending.insert(id, old);
                continue;
            };
            for (kind, n) in old.requests {
                of_key.count(kind, n);
            }
        }
    }
}

/// Returns the day of a time (ms since 1970) that usage counts by: `YYYY-MM-DD`, UTC.
pub fn day(ms: i64) -> String {
    Instant::from_millis(ms).timestamp().strftime("%Y-%m-%d").to_string()
}

fn buckets(pending: &PendingCounts) -> Vec<(Bucket, i64)> {
    let of_key = |of_key: &OfKey| {
        let id = of_key.key.as_ref().map_or(String::new(), |key| key.0.clone());
        let tenant = of_key.tenant.clone();
        let bucket = move |(kind, n): &(RequestKind, i64)| {
            let bucket = Bucket {
                tenant: tenant.clone(),
                key_id: id.clone(),
                day: day(kind.day * DAY_MS),
                surface: kind.surface.to_owned(),
                outcome: kind.outcome.to_owned(),
            };
            (bucket, *n)
        };
        of_key.requests.iter().map(bucket).collect::<Vec<_>>()
    };
    pending.values().flat_map(of_key).collect()
}
