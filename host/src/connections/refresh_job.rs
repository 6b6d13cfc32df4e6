//! The kind `refresh`: renews the tokens of a connection before they are over (`connections::token_refresh`). There is one job for each
//! connection that was made by OAuth; it is enqueued with the tokens.

use base::error::Result;
use storage::connections;
use storage::wakes::JobClass;

use crate::connections::new_tokens;
use crate::connections::token_refresh::{self, Ahead};
use crate::job_runner::kind::{JobKind, Next, RetryDelay, Turn};

/// The kind.
pub const REFRESH: JobKind = JobKind {
    name: new_tokens::JOB,
    class: JobClass::Upkeep,
    deadline_ms: Some(90_000),
    // Failures are this host's own: those of the provider end a turn in order.
    max_attempts: None,
    retry: RetryDelay { first_ms: 30_000, longest_ms: 15 * 60_000 },
    run: |turn| Box::pin(run(turn)),
};

async fn run(turn: &Turn) -> Result<Next> {
    let (app, job) = (&turn.app, &turn.job);
    let Some(connection) = connections::find(app.db.reader(), &job.tenant, job.key()).await? else {
        return Ok(Next::Done);
    };
    Ok(match token_refresh::renew_ahead(app, &connection).await? {
        Ahead::At(due_at) => Next::At(due_at),
        Ahead::Held(until) => Next::PutOff(until),
        Ahead::Never => Next::Done,
    })
}
