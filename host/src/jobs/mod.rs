//! Work in the background. A row of the table `jobs` says that there is work (`storage::jobs`); a kind says how it is done (`kind`); the
//! runner claims what is due and gives each job its turn (`runner`, `turn`). Each host has a lease (`lease`): when a host is gone, another
//! one takes over what it ran within nine seconds.

pub mod booking_complete;
pub mod booking_event;
pub mod booking_expire;
pub mod booking_mail;
pub mod booking_recheck;
pub mod booking_reconcile;
pub mod booking_remind;
pub mod deliver;
mod fair;
pub mod fanout;
mod figures;
pub mod host_gone;
pub mod kind;
pub mod lease;
pub mod listen;
mod permits;
pub mod pull;
pub mod refresh;
pub mod renew;
pub mod replay;
pub mod reports;
pub mod revoke;
pub mod runner;
pub mod send;
mod turn;
pub mod upkeep;
pub mod watch;

use tokio::sync::watch::Receiver;

use crate::app::App;
use crate::jobs::kind::JobKind;

/// The kinds that a service runs.
pub const KINDS: &[JobKind] = &[
    reports::REPORT,
    refresh::REFRESH,
    revoke::REVOKE,
    send::SEND,
    fanout::FANOUT,
    deliver::DELIVER,
    replay::REPLAY,
    booking_event::BOOKING_EVENT,
    booking_mail::BOOKING_MAIL,
    booking_remind::BOOKING_REMIND,
    booking_expire::BOOKING_EXPIRE,
    booking_recheck::BOOKING_RECHECK,
    booking_complete::BOOKING_COMPLETE,
    booking_reconcile::BOOKING_RECONCILE,
    host_gone::HOST_GONE,
    pull::PULL,
    renew::RENEW,
    watch::WATCH,
    upkeep::CLEAN,
    upkeep::PURGE,
];

/// Runs jobs until `stop` says that the process ends; then gives back those that have not ended.
pub async fn run(app: App, stop: Receiver<bool>) {
    let looking = fanout::look(&app, stop.clone());
    let listening = watch::look(&app, stop.clone());
    let figures = figures::run(&app, stop.clone());
    let hearing = listen::run(&app, stop.clone());
    tokio::join!(runner::run(app.clone(), KINDS, stop), looking, listening, hearing, figures);
}
