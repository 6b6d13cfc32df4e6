//! Work in the background. A row of the table `jobs` says that there is work (`storage::jobs`); a kind says how it is done (`kind`); the
//! runner claims what is due and gives each job its turn (`runner`, `turn`). Each host has a lease (`lease`): when a host is gone, another
//! one takes over what it ran within nine seconds.

pub mod flush_counters;
pub mod lease;
pub mod listen;
pub mod pull;
pub mod runner;
pub mod upkeep;

use tokio::sync::watch::Receiver;

use crate::app::App;
use crate::job_runner::kind::JobKind;

/// The kinds that a service runs.
pub const KINDS: &[JobKind] = &[
    crate::tracking::reports_job::REPORT,
    crate::connections::refresh_job::REFRESH,
    crate::connections::revoke_job::REVOKE,
    crate::sending::dispatch_job::SEND,
    crate::webhooks::fanout::FANOUT,
    crate::webhooks::delivery::DELIVER,
    crate::webhooks::replay::job::REPLAY,
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

/// Runs jobs until `stop` says that the process ends; then gives back those that have not ended.
pub async fn run(app: App, stop: Receiver<bool>) {
    let looking = crate::webhooks::fanout::look(&app, stop.clone());
    let listening = crate::sync::watch_job::look(&app, stop.clone());
    let figures = crate::jobs::flush_counters::run(&app, stop.clone());
    let hearing = listen::run(&app, stop.clone());
    tokio::join!(runner::run(app.clone(), KINDS, stop), looking, listening, hearing, figures);
}
