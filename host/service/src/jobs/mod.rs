//! The jobs of a service: their kinds, the jobs that must always exist, and the loops that run beside the runner (`job_runner`). A row of
//! the table `jobs` is pending work (`storage::jobs`).

pub mod flush_counters;
pub mod pull;
pub mod upkeep;

use tokio::sync::watch::Receiver;

use crate::app::App;
use crate::job_runner::kind::JobKind;
use crate::job_runner::lease::EnsureJobs;
use crate::job_runner::{listen, runner};

/// The kinds that a service runs.
pub const KINDS: &[JobKind] = &[
    crate::tracking::reports_job::REPORT,
    crate::connections::refresh_job::REFRESH,
    crate::connections::revoke_job::REVOKE,
    crate::connections::authorization::EXPIRE_CODE,
    crate::sending::dispatch_job::SEND,
    crate::webhooks::fanout::FANOUT,
    crate::webhooks::delivery::DELIVER,
    crate::webhooks::replay::job::REPLAY,
    crate::webhooks::ending::END,
    crate::bookings::jobs::event::BOOKING_EVENT,
    crate::bookings::jobs::mail::BOOKING_MAIL,
    crate::bookings::jobs::remind::BOOKING_REMIND,
    crate::bookings::jobs::expire::BOOKING_EXPIRE,
    crate::bookings::jobs::recheck::BOOKING_RECHECK,
    crate::bookings::jobs::complete::BOOKING_COMPLETE,
    crate::bookings::jobs::reconcile::BOOKING_RECONCILE,
    crate::bookings::jobs::host_removed::HOST_GONE,
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
    let figures = crate::jobs::flush_counters::run(&app, stop.clone());
    let hearing = listen::run(&app, stop.clone());
    tokio::join!(runner::run(app.clone(), KINDS, REQUIRED_JOBS, stop), looking, listening, hearing, figures);
}
