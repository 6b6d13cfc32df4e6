//! The job kind `send`: hands one message over to its provider, or searches for it there if the outcome of an earlier attempt is unknown.
//! The message is stored together with its job, and its final outcome deletes the job, each in one transaction.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ::mail::address::wire;
use async_trait::async_trait;
use base::error::{Error, Result};
use model::email::{EmailAddress, EmailMessage, RecipientDelivery};
use model::wire::email::{MessageFind, MessageSend, MessageUpdate, Sent};
use model::wire::{Mutated, Sources};
use runtime::{self, Blobs, Progress, Surface, Verb};
use storage::connections::Connection;
use storage::items::Item;
use storage::jobs::{self, Job, LostLease};
use storage::lane::Lane;
use storage::outbox::OutboxMessage;
use storage::wakes::JobClass;
use storage::{connections as connection_table, items, log, outbox as table};

use crate::app::App;
use crate::app::resource_kind::ResourceKind;
use crate::connections::call::{self, CallOptions, Op, Reply};
use crate::connections::call_target::CallTarget;
use crate::connections::provider_call::failed;
use crate::connections::{self, throttle};
use crate::job_runner::kind::{JobEnd, JobKind, RetryDelay};
use crate::local_copy::mail::draft_state::is_gone;
use crate::local_copy::mail::source_names::is_only_here;
use crate::local_copy::mail::threads;
use crate::sending::outcome::{self, SendOutcome};
use crate::sending::{SEND_JOB, SendOptions, is_open, store_outcome};
use crate::writes::provider_records::reference;

/// The step after which the provider may have the message (`wit/tcp.wit`, `progress`).
const HANDED_OVER: &str = "handed-over";
/// The step at which the provider has accepted it.
const ACCEPTED: &str = "accepted";
/// Waits between attempts to write the outcome of a message, ms.
const WRITE_AGAIN_AFTER_MS: [u64; 3] = [100, 1_000, 5_000];
/// Delay before a message that another run or a client has just changed is read again, ms.
const LOOK_AGAIN_MS: i64 = 5_000;

/// Attempts after which a message fails if none of them ended (they took too long, or their hosts crashed): more than the retry schedule
/// has, and fewer than the hosts that a job may lose (`lost_jobs::MAX_CRASHES`).
const MOST_ATTEMPTS: i64 = 18;

/// The job kind. The provider's responses have a retry schedule of their own; `retry` is for runs that could write nothing.
pub const SEND: JobKind = JobKind {
    name: SEND_JOB,
    class: JobClass::Send,
    // A call of a connector takes at most a minute, after a short wait for capacity.
    deadline_ms: Some(120_000),
    max_attempts: None,
    retry: RetryDelay { first_ms: 5_000, longest_ms: 10 * 60_000 },
    run: |turn| Box::pin(run(&turn.app, &turn.job, &turn.must_finish)),
};

/// Processes the message of a job. `must_finish` is set while the provider may have the message and the outcome is not written.
async fn run(app: &App, job: &Job, must_finish: &Arc<AtomicBool>) -> Result<JobEnd> {
    let Some(row) = table::find(app.db.reader(), &job.tenant, job.key()).await? else {
        return Ok(JobEnd::Done);
    };
    match row.next_attempt_at {
        None => return Ok(JobEnd::Done),
        Some(at) if at > app.now() => return Ok(JobEnd::PutOff(at)),
        Some(_) => {}
    }
    let found = connection_table::find(app.db.reader(), &row.tenant, &row.connection_id).await?;
    // The rows of a disconnected account are deleted elsewhere.
    let Some(connection) = found else { return Ok(JobEnd::Done) };
    if let Some(until) = throttle::until(app, &row.tenant, &row.connection_id, Surface::Email).await? {
        // During the provider's Retry-After the message waits, without an attempt.
        return Ok(JobEnd::PutOff(until));
    }
    let Some(row) = begin(app, job).await? else { return Ok(JobEnd::PutOff(app.now() + LOOK_AGAIN_MS)) };
    let as_of = log::last_sequence(app.db.reader(), &row.tenant).await?;
    let outcome = match row.handed_over_at {
        None if row.attempts > MOST_ATTEMPTS => {
            let message = "every attempt to send the message was interrupted".into();
            Some(SendOutcome::Failed { code: "internal_error".into(), message })
        }
        None => {
            let (app_of_mark, job) = (app.clone(), job.clone());
            let (must_finish, lane) = (must_finish.clone(), Lane::current());
            let mark = Mark { app: app_of_mark, job, must_finish, lane };
            attempt(app, &connection, &row, mark).await?
        }
        Some(_) if row.is_accepted() => Some(SendOutcome::Accepted),
        Some(_) => Some(search_sent_copy(app, &connection, &row).await?),
    };
    let Some(outcome) = outcome else { return Ok(JobEnd::PutOff(app.now() + LOOK_AGAIN_MS)) };
    let is_taken = matches!(&outcome, SendOutcome::Told(sent) if sent.recipients.iter().any(|r| r.accepted));
    let is_kept = store_with_retries(app, &row, job, as_of, outcome).await?;
    must_finish.store(false, Ordering::Release);
    if !is_kept {
        return Ok(JobEnd::PutOff(app.now() + LOOK_AGAIN_MS));
    }
    if is_taken && let Err(e) = mark_original(app, &row).await {
        tracing::warn!(message_id = %row.id, error = %e, "the message that was answered could not be marked");
    }
    Ok(JobEnd::Committed)
}

async fn begin(app: &App, job: &Job) -> Result<Option<OutboxMessage>> {
    let (job, now) = (job.clone(), app.now());
    app.db
        .write(move |tx| {
            Box::pin(async move {
                let row = table::begin(tx, job.key(), job.fence, now).await?;
                // A run that was replaced while its host was suspended must not take the message from the next one.
                jobs::check_fence(tx, &job, None, now).await?;
                Ok(row)
            })
        })
        .await
}

/// Writes the outcome of an attempt, and retries while the database fails, because the outcome could not be determined later.
async fn store_with_retries(
    app: &App,
    row: &OutboxMessage,
    job: &Job,
    as_of: i64,
    outcome: SendOutcome,
) -> Result<bool> {
    for wait in WRITE_AGAIN_AFTER_MS {
        match store_outcome::write_outcome(app, row, job, as_of, outcome.clone()).await {
            Err(Error::Internal(e)) if e.is::<LostLease>() => return Err(Error::Internal(e)),
            Err(e) => {
                tracing::warn!(message_id = %row.id, error = %e, "the outcome of a message cannot be stored yet")
            }
            kept => return kept,
        }
        tokio::time::sleep(Duration::from_millis(wait)).await;
    }
    store_outcome::write_outcome(app, row, job, as_of, outcome).await
}

/// Marks the message that was answered or forwarded, as mail programs do. A convenience that is not retried.
async fn mark_original(app: &App, row: &OutboxMessage) -> Result<()> {
    let options: SendOptions = serde_json::from_str(&row.options)?;
    let Some(id) = &options.original else { return Ok(()) };
    let kind = ResourceKind::EmailMessage.as_str();
    let Some(item) = items::find(app.db.reader(), &row.tenant, kind, id).await? else { return Ok(()) };
    let connection = connections::find(app, &row.tenant, &row.connection_id).await?;
    if connections::granted(&connection, "email.write").is_err() || is_only_here(&item.source_id) {
        return Ok(());
    }
    let args = MessageUpdate {
        message: reference(&item),
        answered: (!options.is_forward).then_some(true),
        forwarded: options.is_forward.then_some(true),
        ..MessageUpdate::default()
    };
    let op = Op { surface: Surface::Email, verb: Verb::Mutate, name: "messages.update" };
    let call_options = CallOptions {
        idempotency_key: Some(format!("{}/original", row.id)),
        // A round in which a recipient was accepted has marked it already.
        earlier_attempts: options.rounds.into(),
        background: true,
        ..CallOptions::default()
    };
    let target = CallTarget::for_connection(app, &connection)?;
    let as_of = log::last_sequence(app.db.reader(), &row.tenant).await?;
    let reply: Result<Reply<Mutated>, runtime::Error> =
        call::run(app, &target, op, &args, call_options).await;
    match reply {
        Ok(reply) => {
            crate::writes::store_read::store(app, &connection, reply.body.sources, as_of).await.map(|_| ())
        }
        Err(e) => Err(failed(app, &connection, &e).await),
    }
}

/// Records in the database how far the hand-over has come.
struct Mark {
    app: App,
    job: Job,
    must_finish: Arc<AtomicBool>,
    /// The lane of the run, since a call may run on threads without it.
    lane: Lane,
}

impl Mark {
    /// Records that the provider is about to get the message. Fails if it must not.
    async fn handed_over(&self) -> anyhow::Result<()> {
        // Set first, so that a stop that comes now waits.
        self.must_finish.store(true, Ordering::Release);
        let (id, fence, now) = (self.job.key().to_owned(), self.job.fence, self.app.now());
        let noted: anyhow::Result<bool> = self
            .app
            .db
            .write(move |tx| Box::pin(async move { table::handed_over(tx, &id, fence, now).await }))
            .await;
        let is_ours = matches!(noted, Ok(true));
        self.must_finish.store(is_ours, Ordering::Release);
        anyhow::ensure!(noted?, "the message was cancelled, or another attempt has it");
        Ok(())
    }

    /// Records that the provider has accepted the message. A failure to record that does not stop the call.
    async fn accepted(&self) {
        let (id, fence, now) = (self.job.key().to_owned(), self.job.fence, self.app.now());
        let noted: anyhow::Result<bool> = self
            .app
            .db
            .write(move |tx| Box::pin(async move { table::accepted(tx, &id, fence, now).await }))
            .await;
        if let Err(e) = noted {
            tracing::warn!(job = %self.job.id, error = %format!("{e:#}"), "the acceptance of a message cannot be stored yet");
        }
    }
}

#[async_trait]
impl Progress for Mark {
    async fn reached(&self, step: &str) -> anyhow::Result<()> {
        let lane = self.lane.clone();
        match step {
            HANDED_OVER => lane.scope(self.handed_over()).await,
            ACCEPTED => {
                lane.scope(self.accepted()).await;
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

/// Hands the message over. None: it was cancelled, or another attempt has it.
async fn attempt(
    app: &App,
    connection: &Connection,
    row: &OutboxMessage,
    mark: Mark,
) -> Result<Option<SendOutcome>> {
    let target = match target(app, connection) {
        Ok(target) => target,
        Err(outcome) => return Ok(Some(outcome)),
    };
    let options: SendOptions = serde_json::from_str(&row.options)?;
    let recipients: Vec<RecipientDelivery> = serde_json::from_str(&row.recipients)?;
    let open = recipients.iter().filter(|recipient| is_open(recipient));
    let to: Vec<String> = open.map(|recipient| wire(&recipient.email).into_owned()).collect();
    if to.is_empty() {
        // A report arrived after the last attempt: no recipient waits for the message any more.
        return Ok(Some(SendOutcome::Told(Box::default())));
    }
    let blobs = Blobs::default();
    let message = table::pieces(app.db.reader(), &row.id).await?.concat();
    if message.is_empty() {
        // Either it has just been cancelled, which `write_outcome` detects, or its content is lost.
        let (code, message) = ("empty_message".into(), "the message has no content and was not sent".into());
        return Ok(Some(SendOutcome::Failed { code, message }));
    }
    let Some(blob) = blobs.create(message.as_bytes(), mime()) else {
        let message = "there is no room for the message now".into();
        return Ok(Some(SendOutcome::Later { code: "overloaded".into(), message, retry_after_ms: None }));
    };
    let sent_blob = sent_copy(app, row, &options, &message, &blobs).await?;
    let draft = find_draft(app, row).await?;
    let answered = options.original.as_deref().filter(|_| !options.is_forward);
    let thread = threads::find_joined(app, &row.tenant, answered, draft.as_ref()).await?;
    let args = MessageSend {
        blob,
        internet_message_id: row.internet_message_id.clone(),
        from: EmailAddress { email: wire(&options.from.email).into_owned(), name: options.from.name },
        recipients: to,
        save_to_sent: options.save_to_sent,
        sent_blob,
        draft: draft.as_ref().map(reference),
        thread,
    };
    drop(message);
    // A provider that knows the key would only repeat its earlier result for these recipients.
    let key = match options.rounds {
        0 => row.id.clone(),
        rounds => format!("{}/{rounds}", row.id),
    };
    let fence = mark.job.fence.to_string();
    let call_options = CallOptions {
        idempotency_key: Some(key),
        // The current attempt is counted already.
        earlier_attempts: (row.attempts - options.attempts_of_earlier_rounds - 1).max(0),
        background: true,
        blobs,
        progress: Some(Arc::new(mark)),
        ..CallOptions::default()
    };
    let op = Op { surface: Surface::Email, verb: Verb::Mutate, name: "messages.send" };
    let reply: Result<Reply<Sent>, runtime::Error> = call::run(app, &target, op, &args, call_options).await;
    match reply {
        Ok(reply) => {
            connections::state::record_outcome(app, connection, Ok(())).await;
            Ok(Some(SendOutcome::Told(Box::new(reply.body))))
        }
        Err(e) if throttle::is_held(&e) => Ok(Some(SendOutcome::Held { retry_after_ms: e.retry_after_ms })),
        Err(e) => not_told(app, connection, row, &fence, &e).await,
    }
}

/// Returns the target for a call of the connection's provider, or the outcome for the message if it cannot be called now.
fn target<'a>(app: &App, connection: &'a Connection) -> Result<CallTarget<'a>, SendOutcome> {
    let usable = connections::usable(connection);
    usable.and_then(|()| CallTarget::for_connection(app, connection)).map_err(|e| {
        let message = match e.code() {
            Some(_) => e.to_string(),
            None => {
                tracing::error!(connection = %connection.id, error = %e, "the credentials of an account cannot be used");
                "the account cannot be used now".to_owned()
            }
        };
        SendOutcome::Later { code: "connection_inactive".into(), message, retry_after_ms: None }
    })
}

/// Returns the outcome of a failed call. None: another run has the message, so the call's failure is not the provider's.
async fn not_told(
    app: &App,
    connection: &Connection,
    row: &OutboxMessage,
    fence: &str,
    e: &runtime::Error,
) -> Result<Option<SendOutcome>> {
    let now = table::find(app.db.reader(), &row.tenant, &row.id).await?;
    let Some(now) = now.filter(|now| now.claimed_by.as_deref() == Some(fence)) else { return Ok(None) };
    let error = failed(app, connection, e).await;
    Ok(Some(match now.is_accepted() {
        true => SendOutcome::Accepted,
        false => outcome::of_error(e, &error, now.handed_over_at.is_some()),
    }))
}

/// Returns the draft of the message, if the provider still has it.
async fn find_draft(app: &App, row: &OutboxMessage) -> Result<Option<Item>> {
    let Some(id) = &row.draft_id else { return Ok(None) };
    let draft = items::find(app.db.reader(), &row.tenant, ResourceKind::EmailDraft.as_str(), id).await?;
    Ok(draft.filter(|draft| !is_gone(draft)))
}

fn mime() -> Option<String> {
    Some("message/rfc822".to_owned())
}

/// Returns the blob of the sender's own copy, if it differs from the message.
async fn sent_copy(
    app: &App,
    row: &OutboxMessage,
    options: &SendOptions,
    message: &str,
    blobs: &Blobs,
) -> Result<Option<String>> {
    if !options.save_to_sent {
        return Ok(None);
    }
    let copy = table::pieces(app.db.reader(), &table::copy_of(&row.id)).await?.concat();
    if !copy.is_empty() {
        return Ok(blobs.create(copy.as_bytes(), mime()));
    }
    let Some((at, field)) = &options.bcc else { return Ok(None) };
    let (head, rest) = message.split_at_checked(*at).unwrap_or((message, ""));
    Ok(blobs.create([head, field, rest].concat().as_bytes(), mime()))
}

/// Searches for a message that an earlier attempt may have handed over.
async fn search_sent_copy(app: &App, connection: &Connection, row: &OutboxMessage) -> Result<SendOutcome> {
    let kept: SendOptions = serde_json::from_str(&row.options)?;
    if !kept.save_to_sent {
        // Copies of earlier attempts would be found too.
        return Ok(SendOutcome::NotFound { message: "no copy of it was to be kept".into() });
    }
    let args = MessageFind { internet_message_id: row.internet_message_id.clone() };
    let op = Op { surface: Surface::Email, verb: Verb::Fetch, name: "messages.find" };
    let target = match CallTarget::for_connection(app, connection) {
        Ok(target) => target,
        Err(e) => return Ok(SendOutcome::NotFound { message: e.to_string() }),
    };
    let options = CallOptions { background: true, ..CallOptions::default() };
    let reply: Result<Reply<Sources>, runtime::Error> = call::run(app, &target, op, &args, options).await;
    Ok(match reply {
        Ok(reply) => {
            let is_sent = |source: &model::wire::Source| {
                source.items.iter().any(|item| item.body.read::<EmailMessage>().is_ok_and(|m| !m.draft))
            };
            let sources: Vec<_> = reply.body.sources.into_iter().filter(is_sent).collect();
            match sources.is_empty() {
                true => {
                    SendOutcome::NotFound { message: "the message is not among those that were sent".into() }
                }
                false => SendOutcome::Found(sources),
            }
        }
        Err(e) if throttle::is_held(&e) => SendOutcome::Held { retry_after_ms: e.retry_after_ms },
        Err(e) => SendOutcome::NotFound { message: e.message },
    })
}
