//! The state of the installation as answers have it.

use model::Instant;
use model::admin_operations::{AdminCheck, AdminDatabase, AdminHealth, AdminHost, AdminJobCount, AdminPool};
use service::manage::health::{DatabaseHealth, HealthCheck, HostHealth, InstallationHealth};
use storage::PoolUsage;
use storage::job_admin::Count;

/// A host of an answer.
pub fn host(found: &HostHealth) -> AdminHost {
    AdminHost {
        id: found.host.id.clone(),
        name: found.host.name.clone(),
        version: found.host.version.clone(),
        started_at: Instant::from_millis(found.host.started_at),
        lease_until: Instant::from_millis(found.host.lease_until),
        is_alive: found.is_alive,
        is_own: found.is_own,
    }
}

/// The answer about the whole installation.
pub fn installation(found: &InstallationHealth) -> AdminHealth {
    AdminHealth {
        status: found.status().as_str().to_owned(),
        version: found.version.to_owned(),
        hosts: found.hosts.iter().map(host).collect(),
        database: database(&found.database),
        checks: found.checks.iter().map(check).collect(),
        jobs: found.jobs.iter().map(job_count).collect(),
        connector_problems: found.connector_problems.clone(),
    }
}

fn database(found: &DatabaseHealth) -> AdminDatabase {
    AdminDatabase {
        engine: found.engine.to_owned(),
        size_bytes: found.size_bytes,
        schema_version: found.schema_version,
        latest_version: found.latest_version,
        pools: found.pools.iter().map(pool).collect(),
        queued_writes: count(found.queued_writes),
        write_retries: i64::try_from(found.write_retries).unwrap_or(i64::MAX),
    }
}

fn pool(found: &PoolUsage) -> AdminPool {
    AdminPool {
        lane: found.lane.to_owned(),
        limit: i64::from(found.most),
        in_use: i64::from(found.in_use),
        waiting: count(found.waiting),
    }
}

fn check(found: &HealthCheck) -> AdminCheck {
    AdminCheck {
        name: found.name.to_owned(),
        status: found.finding.status().as_str().to_owned(),
        code: found.finding.code().to_owned(),
    }
}

fn job_count(found: &Count) -> AdminJobCount {
    AdminJobCount {
        class: found.class.clone(),
        state: found.state.clone(),
        count: found.jobs,
        oldest_due_at: found.oldest_due_at.map(Instant::from_millis),
    }
}

fn count(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
