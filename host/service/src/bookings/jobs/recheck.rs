//! The job kind `booking_recheck`: checks whether a host has moved or deleted the event of a meeting, and whether its conference has a
//! link.

use base::error::Result;
use storage::scheduling::meeting_events::RECHECK_JOB;
use storage::wakes::JobClass;

use crate::bookings::host_changes::{self, HostChangeResult};
use crate::job_runner::kind::{JobEnd, JobKind, JobRun, RetryDelay};

/// The job kind; the key is the meeting's id and the connection's, separated by a colon.
pub const BOOKING_RECHECK: JobKind = JobKind {
    name: RECHECK_JOB,
    class: JobClass::Send,
    deadline_ms: Some(90_000),
    max_attempts: None,
    retry: RetryDelay { first_ms: 1_000, longest_ms: 10 * 60_000 },
    run: |turn| Box::pin(run(turn)),
};

async fn run(turn: &JobRun) -> Result<JobEnd> {
    Ok(match host_changes::follow(&turn.app, &turn.job).await? {
        HostChangeResult::Done => JobEnd::Done,
        HostChangeResult::Later(at) => JobEnd::At(at),
    })
}
