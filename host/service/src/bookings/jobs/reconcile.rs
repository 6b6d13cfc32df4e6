//! The job kind `booking_reconcile`: every hour, finds overdue work of bookings, and subscribes to hosts' calendars that are due.

use base::error::Result;
use base::tenant::Tenant;
use storage::Tx;
use storage::jobs::{self, NewJob};
use storage::wakes::JobClass;

use crate::bookings::{calendar_subscriptions, reconcile};
use crate::job_runner::kind::{JobEnd, JobKind, JobRun, RetryDelay};

/// Interval, ms.
const EVERY_MS: i64 = 3_600_000;
/// Time until it continues after a run that left work, ms.
const GOES_ON_MS: i64 = 1_000;

/// The job kind. There is one job of it.
pub const BOOKING_RECONCILE: JobKind = JobKind {
    name: "booking_reconcile",
    class: JobClass::Upkeep,
    deadline_ms: Some(60_000),
    max_attempts: None,
    retry: RetryDelay { first_ms: 60_000, longest_ms: EVERY_MS },
    run: |turn| Box::pin(run(turn)),
};

/// Enqueues the job if there is none.
pub async fn ensure(tx: &mut Tx, installation: &Tenant, now: i64) -> anyhow::Result<()> {
    let job = NewJob {
        kind: BOOKING_RECONCILE.name,
        key: "all",
        class: BOOKING_RECONCILE.class,
        tenant: installation,
        connection_id: None,
        target: "",
        due_at: Some(now),
        args: None,
    };
    jobs::ensure(tx, &job, now).await
}

async fn run(turn: &JobRun) -> Result<JobEnd> {
    reconcile::run(&turn.app).await?;
    let is_over = calendar_subscriptions::catch_up(&turn.app).await?;
    let now = turn.app.now();
    Ok(if is_over { JobEnd::At(now + EVERY_MS) } else { JobEnd::Part(now + GOES_ON_MS) })
}
