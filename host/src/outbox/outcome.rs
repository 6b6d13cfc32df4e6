//! What became of an attempt, kept with the message, its draft, its log lines and the end of its job in one transaction.

use base::error::{Error, Result};
use model::Instant;
use model::email::draft::{DraftStatus, SendError};
use model::email::{DeliveryState, EmailMessage, MessageDelivery, RecipientDelivery, RecipientStatus};
use model::wire::Source;
use model::wire::email::{RecipientOutcome, Sent};
use serde_json::{Value, json};
use storage::Tx;
use storage::items::{self, Item};
use storage::jobs::{self, End, Job};
use storage::locked::ConnectionLock;
use storage::mail::remove_places;
use storage::outbox::{self as table, Outgoing};
use storage::tracking;

use crate::app::App;
use crate::log::Origin;
use crate::outbox::{Options, is_open, state_of, word};
use crate::resources::Kind;
use crate::resources::apply::{self, Place};
use crate::resources::differences::Superseded;
use crate::resources::mail::{OUTGOING, SENT, own};
use crate::resources::prepare::{Prepared, prepared};
use crate::sync::page::note_superseded;

/// After how long a message that was not taken is tried again, seconds; after the last it is given up. A day in all.
const RETRY_AFTER_S: [i64; 10] = [15, 60, 300, 900, 1_800, 3_600, 7_200, 14_400, 21_600, 36_000];
/// After how long a message that may have been handed over is looked for again, seconds. Sent folders take their time.
const LOOK_AFTER_S: [i64; 4] = [5, 30, 120, 600];

/// The longest that a message waits because the provider said so.
const LONGEST_WAIT_MS: i64 = 3_600_000;
/// The shortest that it waits where the provider was not asked at all, ms.
const SHORTEST_HOLD_MS: i64 = 1_000;
/// The error of a message of which nobody knows whether its provider has it.
pub const OUTCOME_UNKNOWN: &str = "outcome_unknown";

/// How an attempt ended.
#[derive(Clone)]
pub enum Outcome {
    /// The provider said what becomes of each recipient.
    Told(Box<Sent>),
    /// It had been handed over: here it is.
    Found(Vec<Source>),
    /// It had been handed over, and the provider had said that it takes it. Which recipients it named is lost: all that waited for it count.
    Accepted,
    /// It may have been handed over, and is not to be found so far.
    NotFound { message: String },
    /// It was not handed over, and may be later.
    Later { code: String, message: String, retry_after_ms: Option<u64> },
    /// The provider was not asked, because it wants to be left alone for a while: that is no attempt.
    Held { retry_after_ms: Option<u64> },
    /// It will never be.
    Failed { code: String, message: String },
}

/// What a failed call means for the message.
pub fn of_error(e: &runtime::Error, error: &Error, is_handed_over: bool) -> Outcome {
    use runtime::Code;

    let code = error.code().map_or("internal_error", |c| c.as_str()).to_owned();
    let message = e.message.clone();
    if is_handed_over && !is_refusal(e) {
        return Outcome::NotFound { message };
    }
    match e.code {
        Code::Invalid | Code::Forbidden | Code::Unsupported | Code::UnsupportedSurface | Code::Conflict => {
            Outcome::Failed { code, message }
        }
        _ => Outcome::Later { code, message, retry_after_ms: e.retry_after_ms },
    }
}

/// The provider got it and said no: the connector says so, or it is in the status. A gateway in between knows less (502, 504), and a
/// server that broke (500) or gave up waiting (408) may have gone on.
fn is_refusal(e: &runtime::Error) -> bool {
    e.is_handed_over() == Some(false) || matches!(e.provider_status, Some(400..=407 | 409..=499 | 503))
}

/// What is to be kept.
struct Verdict {
    state: DeliveryState,
    recipients: Vec<RecipientDelivery>,
    error: Option<SendError>,
    next_attempt_at: Option<i64>,
    handed_over_at: Option<i64>,
    accepted_at: Option<i64>,
    sources: Vec<Source>,
    options: Options,
    attempts: i64,
}

/// What a message needs after its outcome was written.
enum Kept {
    /// Nothing any more.
    Over,
    /// Another turn then, in milliseconds since 1970; after the error, if there was one.
    Until(i64, Option<SendError>),
    /// Nothing was written: the turn no longer has the message.
    Lost,
}

/// Keeps what became of an attempt, and ends the turn of its job. `as_of`: the log's last sequence before the provider was asked. Returns
/// false, and nothing is kept, when the turn no longer has the message.
pub async fn keep(app: &App, row: &Outgoing, (job, as_of): (&Job, i64), outcome: Outcome) -> Result<bool> {
    let place = Place {
        tenant: row.tenant.clone(),
        connection_id: row.connection_id.clone(),
        kind: Kind::EmailMessage,
        parent_id: String::new(),
        origin: Origin::System,
    };
    let (app, job) = (app.clone(), job.clone());
    let db = app.db.clone();
    db.write(move |tx| {
        Box::pin(async move {
            let now = app.now();
            match write(tx, &app, &place, (&job, as_of), outcome).await? {
                Kept::Lost => return Ok(false),
                Kept::Over => jobs::complete(tx, &job, now).await?,
                Kept::Until(due_at, error) => {
                    let last_error = error.map(|e| jobs::error((&e.code, &e.message), now));
                    let end = End { due_at: Some(due_at), last_error, ..End::default() };
                    jobs::reschedule(tx, &job, &end, now).await?;
                }
            }
            Ok::<_, Error>(true)
        })
    })
    .await
}

fn verdict(app: &App, row: &Outgoing, outcome: Outcome) -> Result<Verdict> {
    let now = app.clock.now();
    let recipients: Vec<RecipientDelivery> = serde_json::from_str(&row.recipients)?;
    let options: Options = serde_json::from_str(&row.options)?;
    let error = |code: &str, message: &str| SendError {
        code: code.to_owned(),
        message: message.to_owned(),
        at: Some(now),
    };
    let mut verdict = Verdict {
        state: DeliveryState::Queued,
        recipients,
        error: None,
        next_attempt_at: None,
        handed_over_at: row.handed_over_at,
        accepted_at: row.accepted_at,
        sources: Vec::new(),
        options,
        attempts: row.attempts,
    };
    match outcome {
        Outcome::Told(sent) => told(app, row, &mut verdict, *sent),
        Outcome::Found(sources) => {
            taken(&mut verdict, now);
            verdict.sources = sources;
        }
        Outcome::Accepted => taken(&mut verdict, now),
        Outcome::NotFound { message } => match look_after_s(&verdict.options) {
            Some(seconds) => {
                verdict.options.looks += 1;
                verdict.state = DeliveryState::Sending;
                verdict.handed_over_at = row.handed_over_at.or(Some(app.now()));
                verdict.next_attempt_at = Some(app.now() + seconds * 1_000);
            }
            None => {
                verdict.state = state_of(&verdict.recipients, true);
                let why = format!(
                    "the connection broke while the message was handed over, and it is not to be found: it may have been delivered ({message})"
                );
                verdict.error = Some(error(OUTCOME_UNKNOWN, &why));
            }
        },
        Outcome::Held { retry_after_ms } => {
            verdict.next_attempt_at = Some(app.now() + wait_ms(retry_after_ms).max(SHORTEST_HOLD_MS));
            match row.handed_over_at {
                Some(_) => verdict.state = DeliveryState::Sending,
                None => verdict.attempts -= 1,
            }
        }
        Outcome::Later { code, message, retry_after_ms } => {
            verdict.error = Some(error(&code, &message));
            // The provider did not take it, whatever was noted when it was about to get it.
            verdict.handed_over_at = None;
            verdict.next_attempt_at =
                retry_at(app, row).map(|at| at.max(app.now() + wait_ms(retry_after_ms)));
            if verdict.next_attempt_at.is_none() {
                verdict.state = state_of(&verdict.recipients, true);
            }
        }
        Outcome::Failed { code, message } => {
            verdict.error = Some(error(&code, &message));
            verdict.handed_over_at = None;
            verdict.state = state_of(&verdict.recipients, true);
        }
    }
    Ok(verdict)
}

/// It is with the provider: so it is for everybody who still waited for it.
fn taken(verdict: &mut Verdict, now: Instant) {
    for recipient in verdict.recipients.iter_mut().filter(|r| is_open(r)) {
        (recipient.status, recipient.at) = (RecipientStatus::Accepted, Some(now));
    }
    verdict.state = state_of(&verdict.recipients, true);
}

/// When a message is looked for the next time, in seconds. None: never, also because there is no copy of this attempt to be found.
fn look_after_s(options: &Options) -> Option<i64> {
    LOOK_AFTER_S.get(options.looks as usize).filter(|_| options.save_to_sent).copied()
}

/// How long the provider wants to be left alone.
fn wait_ms(retry_after_ms: Option<u64>) -> i64 {
    retry_after_ms.and_then(|ms| i64::try_from(ms).ok()).unwrap_or(0).min(LONGEST_WAIT_MS)
}

fn retry_at(app: &App, row: &Outgoing) -> Option<i64> {
    let number = usize::try_from(row.attempts - 1).unwrap_or(0);
    RETRY_AFTER_S.get(number).map(|seconds| app.now() + seconds * 1_000)
}

/// What the provider said of each recipient.
fn told(app: &App, row: &Outgoing, verdict: &mut Verdict, sent: Sent) {
    let now = app.clock.now();
    // Connectors name recipients as they were asked with.
    let of = |email: &str| {
        let asked = ::mail::address::wire(email);
        sent.recipients.iter().find(|r| r.email.eq_ignore_ascii_case(&asked))
    };
    for recipient in &mut verdict.recipients {
        let is_open = is_open(recipient);
        let Some(outcome) = of(&recipient.email).filter(|_| is_open) else { continue };
        recipient.status = status(outcome);
        recipient.smtp_reply.clone_from(&outcome.reply);
        recipient.enhanced_status.clone_from(&outcome.enhanced_status);
        recipient.at = Some(now);
    }
    let waits = verdict.recipients.iter().any(|r| r.status == RecipientStatus::Deferred);
    // What is taken by some is handed over; the rest can be tried again.
    verdict.handed_over_at = None;
    verdict.options.rounds += 1;
    if waits {
        verdict.next_attempt_at = retry_at(app, row);
    }
    if verdict.next_attempt_at.is_none() {
        for recipient in &mut verdict.recipients {
            if recipient.status == RecipientStatus::Deferred {
                recipient.status = RecipientStatus::Bounced;
            }
        }
    }
    verdict.state = state_of(&verdict.recipients, verdict.next_attempt_at.is_none());
    if sent.recipients.iter().any(|r| r.accepted) {
        // There is a copy, or there shall be none.
        verdict.options.save_to_sent = false;
        verdict.accepted_at = verdict.accepted_at.max(Some(app.now()));
    }
    verdict.sources = sent.sources;
}

fn status(outcome: &RecipientOutcome) -> RecipientStatus {
    match (outcome.accepted, outcome.temporary) {
        (true, _) => RecipientStatus::Accepted,
        (false, true) => RecipientStatus::Deferred,
        (false, false) => RecipientStatus::Bounced,
    }
}

async fn write(
    tx: &mut Tx,
    app: &App,
    place: &Place,
    (job, as_of): (&Job, i64),
    outcome: Outcome,
) -> Result<Kept> {
    // An account that was disconnected meanwhile leaves nothing to be kept.
    let lock = ConnectionLock::take(tx, &place.tenant, &place.connection_id).await?;
    let Some(lock) = lock else { return Ok(Kept::Over) };
    let Some(row) = table::lock_outgoing(tx, &lock, job.key()).await? else { return Ok(Kept::Over) };
    // What a report said of the recipients while the message was handed over stays.
    let verdict = verdict(app, &row, outcome)?;
    let is_over = verdict.next_attempt_at.is_none();
    let settled = Outgoing {
        state: word(verdict.state).to_owned(),
        recipients: serde_json::to_string(&verdict.recipients)?,
        options: serde_json::to_string(&verdict.options)?,
        next_attempt_at: verdict.next_attempt_at,
        handed_over_at: verdict.handed_over_at,
        accepted_at: verdict.accepted_at,
        attempts: verdict.attempts,
        updated_at: app.now(),
        ..Outgoing::clone(&row)
    };
    if !table::settle(tx, &row, &settled, job.fence).await? {
        // It was taken back, or another turn has it: what that one finds counts.
        return Ok(Kept::Lost);
    }
    let kept = match verdict.next_attempt_at {
        Some(at) => Kept::Until(at, verdict.error.clone()),
        None => Kept::Over,
    };
    let is_sent = verdict.recipients.iter().any(|r| r.status == RecipientStatus::Accepted);
    if is_over {
        table::forget_contents(tx, &row.id).await?;
    }
    if is_sent {
        tracking::set_sent(tx, &row.id, app.now()).await?;
    }
    if let Some(draft_id) = &row.draft_id {
        keep_draft(tx, app, (&lock, place), draft_id, (&verdict, is_over, is_sent)).await?;
    }
    let sources = named(&row, verdict.sources);
    let superseded = apply::apply_read(tx, app, (&lock, place), &sources, as_of).await?.superseded;
    note_superseded(tx, app, place, &superseded).await?;
    let item = items::lock_item(tx, &lock, &row.id).await?;
    let Some(item) = item.filter(|item| item.deleted_at.is_none()) else { return Ok(kept) };
    let delivery = MessageDelivery {
        state: verdict.state,
        send_at: row.send_at.map(Instant::from_millis),
        attempts: verdict.attempts,
        recipients: verdict.recipients,
        error: verdict.error,
    };
    own::set(tx, app, place, item, &[("delivery", json!(delivery))], event(verdict.state, is_over)).await?;
    Ok(kept)
}

/// Has the next pull look for a draft in its mailbox.
pub async fn look_again(tx: &mut Tx, app: &App, place: &Place, draft: &Item) -> Result<()> {
    let drafts = Superseded { sources: vec![draft.source_id.clone()], folders: false };
    note_superseded(tx, app, place, &drafts).await
}

/// How the change is told.
fn event(state: DeliveryState, is_over: bool) -> &'static str {
    match state {
        DeliveryState::Sent | DeliveryState::PartiallyFailed if is_over => "sent",
        DeliveryState::Failed if is_over => "send_failed",
        _ => "updated",
    }
}

/// The copy of the message is the message.
fn named(row: &Outgoing, mut sources: Vec<Source>) -> Vec<Prepared> {
    let of_ours = |source: &Source| {
        source.items.iter().any(|item| {
            let message = item.body.read::<EmailMessage>();
            message.is_ok_and(|m| m.internet_message_id.as_deref() == Some(row.internet_message_id.as_str()))
        })
    };
    let first = sources.iter().position(|s| !s.items.is_empty());
    let at = sources.iter().position(of_ours).or(first);
    if let Some(source) = at.and_then(|at| sources.get_mut(at)) {
        source.previous_id = Some(format!("{OUTGOING}{}", row.internet_message_id));
    }
    prepared(Kind::EmailMessage, sources)
}

/// A draft that was sent is kept, though no provider has it: it says which message it became.
async fn keep_draft(
    tx: &mut Tx,
    app: &App,
    (lock, place): (&ConnectionLock, &Place),
    draft_id: &str,
    (verdict, is_over, is_sent): (&Verdict, bool, bool),
) -> Result<()> {
    let found = items::lock_item(tx, lock, draft_id).await?;
    let Some(draft) = found.filter(|d| d.deleted_at.is_none()) else { return Ok(()) };
    let status = match (is_sent, is_over) {
        (true, _) => DraftStatus::Sent,
        (false, true) => DraftStatus::Failed,
        (false, false) => DraftStatus::Sending,
    };
    let error = verdict.error.as_ref().map_or(Value::Null, |e| json!(e));
    let draft =
        own::set(tx, app, place, draft, &[("status", json!(status)), ("sendError", error)], "updated")
            .await?;
    if is_sent {
        // A page that was read before it was sent still has it.
        items::leave_source(tx, &draft.connection_id, &draft.source_id, (draft.sequence, app.now())).await?;
        items::set_source(tx, &draft, &format!("{SENT}{}", draft.id)).await?;
        remove_places(tx, &draft).await?;
    } else if is_over {
        // While it was being sent nobody looked whether the mailbox still has it.
        look_again(tx, app, place, &draft).await?;
    }
    Ok(())
}
