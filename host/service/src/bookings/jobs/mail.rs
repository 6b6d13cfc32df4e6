//! The job kind `booking_mail`: puts a message about a booking into the outbox (`bookings::notify`).

use base::error::Result;
use storage::wakes::JobClass;

use crate::bookings::notify::queue::{self, MAIL_JOB};
use crate::bookings::notify::send::{self, MailJobResult};
use crate::job_runner::kind::{JobEnd, JobKind, JobRun, RetryDelay};

/// The job kind; for the key see `bookings::notify::kind`. A message that could not be written for a day is given up: by then it is no
/// longer useful.
pub const BOOKING_MAIL: JobKind = JobKind {
    name: MAIL_JOB,
    class: JobClass::Send,
    deadline_ms: Some(60_000),
    max_attempts: Some(20),
    retry: RetryDelay { first_ms: 2_000, longest_ms: 2 * 3_600_000 },
    run: |turn| Box::pin(run(turn)),
};

async fn run(turn: &JobRun) -> Result<JobEnd> {
    Ok(match send::run(&turn.app, &turn.job).await? {
        MailJobResult::Nothing => {
            queue::end(&turn.app, &turn.job).await?;
            JobEnd::Committed
        }
        MailJobResult::Later(at) => JobEnd::PutOff(at),
        MailJobResult::Committed => JobEnd::Committed,
    })
}
