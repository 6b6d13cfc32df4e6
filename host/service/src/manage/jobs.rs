//! Single jobs in the background: shown, run now, cancelled.

use base::error::{Code, Error, Result, not_found, refuse};
use storage::hosts::{self, Host};
use storage::jobs::{self, Job};
use storage::{Db, Tx, job_admin};

use crate::app::App;
use crate::app::stored_response::{IdempotentAttempt, StoredResponse};

/// A job, with the hosts of the installation, one of which may run it.
#[derive(Clone)]
pub struct HostedJob {
    pub job: Job,
    pub hosts: Vec<Host>,
}

impl HostedJob {
    /// The host that runs the job, as `host_name`.
    pub fn host(&self) -> &str {
        host_name(&self.job, &self.hosts)
    }
}

/// The job with this id. None: there is none, or it is done, and jobs that are done are removed.
pub async fn find(db: &Db, id: &str) -> Result<Option<HostedJob>> {
    let Some(job) = jobs::find(db.reader(), id).await? else { return Ok(None) };
    Ok(Some(HostedJob { job, hosts: hosts::list(db.reader()).await? }))
}

/// The host that runs a job, by its machine and process where the host is still known, else by its id.
pub fn host_name<'a>(job: &'a Job, hosts: &'a [Host]) -> &'a str {
    let owner = job.owner.as_deref().unwrap_or("-");
    hosts.iter().find(|host| host.id == owner).map_or(owner, |host| &host.name)
}

/// Makes a job due now.
///
/// # Errors
/// `not_found`; `invalid_state` while the job runs.
pub async fn retry(app: &App, id: &str, attempt: &IdempotentAttempt) -> Result<StoredResponse> {
    change(app, id, attempt, JobChange::Retry).await
}

/// Cancels a job that waits or has failed.
///
/// # Errors
/// `not_found`; `invalid_state` while the job runs, once it is cancelled, and for kinds that cannot be cancelled by themselves.
pub async fn cancel(app: &App, id: &str, attempt: &IdempotentAttempt) -> Result<StoredResponse> {
    change(app, id, attempt, JobChange::Cancel).await
}

#[derive(Clone, Copy)]
enum JobChange {
    Retry,
    Cancel,
}

async fn change(
    app: &App,
    id: &str,
    attempt: &IdempotentAttempt,
    change: JobChange,
) -> Result<StoredResponse> {
    let found = find(&app.db, id).await?.ok_or_else(|| not_found("job"))?;
    let answer = StoredResponse::no_content();
    let (attempt, keyed, kept, now) = (attempt.clone(), app.clone(), answer.clone(), app.now());
    app.db
        .write(move |tx| {
            Box::pin(async move {
                match change {
                    JobChange::Retry => retry_in(tx, &found, now).await?,
                    JobChange::Cancel => cancel_in(tx, &found, now).await?,
                }
                attempt.store(tx, &keyed.keyring, &kept, now).await?;
                Ok::<_, Error>(())
            })
        })
        .await?;
    Ok(answer)
}

/// Makes a job due now.
///
/// # Errors
/// `invalid_state` while the job runs.
pub async fn retry_in(tx: &mut Tx, found: &HostedJob, now: i64) -> Result<()> {
    if job_admin::retry(tx, &found.job.id, now).await? {
        return Ok(());
    }
    let id = &found.job.id;
    let message = match found.job.state.as_str() {
        "running" => format!("{id} runs on {}: it can be repeated when it has ended", found.host()),
        _ => moved_on(id),
    };
    Err(refuse(Code::InvalidState, message))
}

/// Cancels a job that waits or has failed.
///
/// # Errors
/// `invalid_state` while the job runs, once it is cancelled, and for kinds that cannot be cancelled by themselves.
pub async fn cancel_in(tx: &mut Tx, found: &HostedJob, now: i64) -> Result<()> {
    let Job { id, kind, state, .. } = &found.job;
    if let Some(reason) = cancel_refusal(kind) {
        let reason = reason.as_english();
        let message = format!("a job of the kind {kind} cannot be cancelled by itself: {reason}");
        return Err(refuse(Code::InvalidState, message));
    }
    if job_admin::cancel(tx, id, now).await? {
        return Ok(());
    }
    let message = match state.as_str() {
        "cancelled" => format!("{id} is cancelled already"),
        "running" => format!("{id} runs on {}: it ends by itself", found.host()),
        _ => moved_on(id),
    };
    Err(refuse(Code::InvalidState, message))
}

/// The message about a job that could be changed when it was read.
fn moved_on(id: &str) -> String {
    format!("{id} has just started to run, or is done: read it again")
}

/// The reason why jobs of a kind cannot be cancelled by themselves. Pages, the command line and the API have a sentence for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CancelRefusal {
    /// The message would be sent or lost: it is cancelled itself.
    Message,
    /// The copy would stay behind.
    Sync,
    /// The account's token would expire.
    TokenRefresh,
    /// The provider would still accept the tokens of a disconnected account.
    Revocation,
    /// The same of an account that nobody connected.
    Authorization,
    /// Webhooks of an API key that has ended would not be reported as disabled.
    WebhookKey,
    /// Events would be lost.
    Delivery,
    /// The calendar would differ from the booking.
    BookingEvent,
    /// The booking would never change its state.
    BookingState,
    /// Lost work on bookings would not be found.
    Reconciliation,
    /// Event types would keep a host whose account is disconnected.
    HostRemoval,
    /// Data would stay that must not be kept.
    Cleaning,
}

impl CancelRefusal {
    /// The reason in English, and another way where there is one, as the command line and the API word it.
    pub fn as_english(self) -> &'static str {
        match self {
            CancelRefusal::Message => "cancel the message with DELETE /v1/email/messages/{messageId}",
            CancelRefusal::Sync => "the copy would stay behind; disconnect the connection instead",
            CancelRefusal::TokenRefresh => {
                "the account's token would expire; disconnect the connection instead"
            }
            CancelRefusal::Revocation => {
                "the provider would still accept the tokens of a disconnected account"
            }
            CancelRefusal::Authorization => {
                "the provider would still accept the tokens of an account that nobody connected"
            }
            CancelRefusal::WebhookKey => {
                "webhooks of an API key that has ended would not be reported as disabled"
            }
            CancelRefusal::Delivery => {
                "events would be lost; pause or delete the webhook with PATCH or DELETE /v1/webhooks/{webhookId}"
            }
            CancelRefusal::BookingEvent => {
                "the calendar would differ from the booking; cancel the booking through the API"
            }
            CancelRefusal::BookingState => {
                "the booking would never change its state; cancel the booking through the API"
            }
            CancelRefusal::Reconciliation => {
                "it finds work on bookings that was lost, for the whole installation"
            }
            CancelRefusal::HostRemoval => "event types would keep a host whose account is disconnected",
            CancelRefusal::Cleaning => "it removes data that must not be kept",
        }
    }
}

/// The reason why a job of this kind cannot be cancelled by itself; none where it can be.
pub fn cancel_refusal(kind: &str) -> Option<CancelRefusal> {
    match kind {
        "send" => Some(CancelRefusal::Message),
        "pull" | "watch" => Some(CancelRefusal::Sync),
        "refresh" => Some(CancelRefusal::TokenRefresh),
        "revoke" => Some(CancelRefusal::Revocation),
        "authorization" => Some(CancelRefusal::Authorization),
        "webhook_key" => Some(CancelRefusal::WebhookKey),
        "fanout" | "deliver" | "replay" => Some(CancelRefusal::Delivery),
        "booking_event" => Some(CancelRefusal::BookingEvent),
        "booking_expire" | "booking_complete" | "booking_recheck" => Some(CancelRefusal::BookingState),
        "booking_reconcile" => Some(CancelRefusal::Reconciliation),
        "host_gone" => Some(CancelRefusal::HostRemoval),
        "clean" | "purge" => Some(CancelRefusal::Cleaning),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::KINDS;

    #[test]
    fn what_would_be_lost_is_not_cancelled() {
        for name in [
            "send",
            "pull",
            "watch",
            "refresh",
            "revoke",
            "authorization",
            "webhook_key",
            "fanout",
            "deliver",
            "replay",
            "booking_event",
            "booking_expire",
            "booking_complete",
            "booking_recheck",
            "booking_reconcile",
            "host_gone",
            "clean",
            "purge",
        ] {
            assert!(KINDS.iter().any(|kind| kind.name == name), "{name} is no kind");
            assert!(cancel_refusal(name).is_some(), "{name}");
        }
        assert_eq!(cancel_refusal("report"), None);
    }
}
