//! Stores the failure of a pull, and the time of the next attempt.

use base::error::Result;
use serde_json::json;
use storage::jobs::Job;
use storage::sync_states::SyncState;

use crate::app::App;
use crate::connections::throttle;
use crate::sync::save;

/// Stores the failure in the state, with the time of the next attempt: later with each failure, and not before the provider's Retry-After.
/// `job`: the job that the pull is a run of.
pub async fn note_failure(
    app: &App,
    state: &mut SyncState,
    e: &runtime::Error,
    job: Option<&Job>,
) -> Result<()> {
    let now = app.now();
    // No request was sent: this is no further failure, and the wait is known.
    let is_held = throttle::is_held(e);
    state.consecutive_errors += i64::from(!is_held);
    state.status = match e.code {
        runtime::Code::RateLimited => "throttled",
        runtime::Code::AuthExpired | runtime::Code::Forbidden => "blocked",
        _ => "error",
    }
    .to_owned();
    let asked = e
        .retry_after_ms
        .and_then(|ms| i64::try_from(ms).ok())
        .unwrap_or(0)
        .min(crate::app::throttle_limit::LONGEST_MS);
    let wait = if is_held { asked } else { backoff_ms(state.consecutive_errors).max(asked) };
    let retry_at = now + wait;
    state.next_pull_at = Some(retry_at);
    let at = |ms| model::Instant::from_millis(ms);
    state.last_error = Some(
        json!({ "code": e.code.as_str(), "message": e.message, "at": at(now), "retryAt": at(retry_at) })
            .to_string(),
    );
    save(app, state, job).await
}

/// Returns the delay after failures, ms: 15 s, doubled each time, at most 30 minutes.
fn backoff_ms(errors: i64) -> i64 {
    (15_000_i64 << errors.clamp(1, 8).saturating_sub(1)).min(30 * 60_000)
}
