//! The kind `booking_remind`: some time before a booking begins, people and clients are reminded of it.

use base::error::Result;
use storage::wakes::JobClass;

use crate::bookings::notify::remind::{self, Outcome};
use crate::bookings::notify::reminder::REMIND_JOB;
use crate::job_runner::kind::{JobKind, Next, RetryDelay, Turn};

/// The kind; the key is the booking's id, its sequence and the minutes before its start.
pub const BOOKING_REMIND: JobKind = JobKind {
    name: REMIND_JOB,
    class: JobClass::Send,
    deadline_ms: Some(30_000),
    max_attempts: None,
    retry: RetryDelay { first_ms: 1_000, longest_ms: 10 * 60_000 },
    run: |turn| Box::pin(run(turn)),
};

async fn run(turn: &Turn) -> Result<Next> {
    Ok(match remind::run(&turn.app, &turn.job).await? {
        Outcome::Later(at) => Next::At(at),
        Outcome::Committed => Next::Committed,
    })
}
