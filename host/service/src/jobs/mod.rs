//! The jobs of a service: their kinds, the jobs that must always exist, and the loops that run beside the runner (`job_runner`). A row of
//! the table `jobs` is pending work (`storage::jobs`).

pub mod pull;
pub mod upkeep;

use std::time::Duration;

use base::error::is_outage;
use tokio::sync::watch::Receiver;

use crate::app::App;
use crate::app::request_log::writing;
use crate::app::supervise::guarded;
use crate::job_runner::kind::JobKind;
use crate::job_runner::lease::EnsureJobs;
use crate::job_runner::{listen, runner};

/// Interval of the flush of in-memory state.
const FLUSH_EVERY: Duration = Duration::from_secs(1);

/// The kinds that a service runs.
pub const KINDS: &[JobKind] = &[
    crate::tracking::reports_job::REPORT,
    crate::connections::token_refresh::REFRESH,
    crate::connections::revocation::REVOKE,
    crate::connections::authorization::EXPIRE_CODE,
    crate::sending::dispatch::SEND,
    crate::webhooks::fanout::FANOUT,
    crate::webhooks::delivery::DELIVER,
    crate::webhooks::replay::walk::REPLAY,
    crate::webhooks::ending::END,
    crate::bookings::event_write::BOOKING_EVENT,
    crate::bookings::notify::send::BOOKING_MAIL,
    crate::bookings::notify::remind::BOOKING_REMIND,
    crate::bookings::timed_transitions::BOOKING_EXPIRE,
    crate::bookings::host_changes::BOOKING_RECHECK,
    crate::bookings::timed_transitions::BOOKING_COMPLETE,
    crate::bookings::reconcile::BOOKING_RECONCILE,
    crate::bookings::host_removed::HOST_GONE,
    pull::PULL,
    crate::push::renew_job::RENEW,
    crate::sync::watch_job::WATCH,
    upkeep::CLEAN,
    upkeep::PURGE,
];

/// Functions that enqueue the jobs that every installation has, if they are missing.
pub const REQUIRED_JOBS: &[EnsureJobs] = &[|tx, now| Box::pin(upkeep::ensure(tx, now))];

/// Runs jobs until `stop` announces the end of the process; then releases those that have not ended.
pub async fn run(app: App, stop: Receiver<bool>) {
    let looking = crate::webhooks::fanout::match_events(&app, stop.clone());
    let listening = crate::sync::watch_job::end_lost_streams(&app, stop.clone());
    let figures = flush_counters(&app, stop.clone());
    let hearing = listen::run(&app, stop.clone());
    tokio::join!(runner::run(app.clone(), KINDS, REQUIRED_JOBS, stop), looking, listening, hearing, figures);
}

/// Writes counts of usage and logged requests, and forgets cached merge suggestions that are no longer paged through, until `stop`
/// announces the end of the process.
async fn flush_counters(app: &App, mut stop: Receiver<bool>) {
    while !*stop.borrow() {
        // Counts that cannot be written now are written later.
        if let Err(e) = guarded(&app.metrics, "usage", app.usage.flush_due(&app.db, app.now())).await
            && !is_outage(&e)
        {
            tracing::warn!(error = %format!("{e:#}"), "usage figures cannot be written");
        }
        if let Err(e) = guarded(&app.metrics, "request_log", writing::flush(app)).await
            && !is_outage(&e)
        {
            tracing::warn!(error = %format!("{e:#}"), "the request log cannot be written");
        }
        app.rankings.forget_old(app.now());
        tokio::select! {
            () = tokio::time::sleep(FLUSH_EVERY) => {}
            // An error: the sender of the stop signal is gone.
            changed = stop.changed() => if changed.is_err() { return },
        }
    }
}
