//! The job kind `booking_event`: writes a meeting into a host's calendar, or deletes it there.

use base::error::Result;
use storage::scheduling::meeting_events::EVENT_JOB;
use storage::wakes::JobClass;

use crate::bookings::event_write::{self, EventWriteResult};
use crate::job_runner::kind::{JobEnd, JobKind, JobRun, RetryDelay};

/// The job kind. It counts and delays its failures itself when it stores them; `retry` is for runs that could store nothing.
pub const BOOKING_EVENT: JobKind = JobKind {
    name: EVENT_JOB,
    class: JobClass::Send,
    deadline_ms: Some(90_000),
    max_attempts: None,
    retry: RetryDelay { first_ms: 10_000, longest_ms: 6 * 3_600_000 },
    run: |turn| Box::pin(run(turn)),
};

async fn run(turn: &JobRun) -> Result<JobEnd> {
    Ok(match event_write::run(&turn.app, &turn.job).await? {
        EventWriteResult::Settled => JobEnd::Done,
        EventWriteResult::Waits(until) => JobEnd::PutOff(until),
        EventWriteResult::Ended => JobEnd::Committed,
    })
}
