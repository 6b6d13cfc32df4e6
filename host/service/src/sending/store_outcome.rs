//! Stores the outcome of an attempt: the message, its draft, its log entries and the end of its job in one transaction.

use base::error::{Error, Result};
use model::Instant;
use model::email::draft::DraftStatus;
use model::email::{DeliveryState, EmailMessage, MessageDelivery, RecipientStatus, SendError};
use model::wire::Source;
use serde_json::{Value, json};
use storage::items::{self, Item};
use storage::jobs::{self, End, Job};
use storage::locked::ConnectionLock;
use storage::mail::{remove_places, set_latest};
use storage::outbox::OutboxMessage;
use storage::{Tx, outbox as table, tracking};

use crate::app::App;
use crate::app::event_log::Origin;
use crate::app::resource_kind::ResourceKind;
use crate::local_copy::change::{CopyLocation, SupersededRecords};
use crate::local_copy::mail::host_fields;
use crate::local_copy::mail::source_names::{OUTGOING, SENT};
use crate::local_copy::normalize::prepared;
use crate::local_copy::record::NormalizedRecord;
use crate::local_copy::superseded::note_superseded;
use crate::local_copy::transaction::CopyTransaction;
use crate::local_copy::upsert::upsert;
use crate::sending::outcome::{OutcomeRecord, SendOutcome, verdict};
use crate::tracking::delivery_state::word;

/// The next step for a message after its outcome was written.
enum SendFollowUp {
    /// No further step.
    Over,
    /// Another run at this time, in milliseconds since 1970; with the error, if there was one.
    Until(i64, Option<SendError>),
    /// Another run has the message; the outcome was not written.
    Lost,
}

/// Stores the outcome of an attempt, and ends the run of its job. `as_of`: the log's last sequence before the provider was asked. Returns
/// false, and stores nothing, if another run has the message.
pub async fn write_outcome(
    app: &App,
    row: &OutboxMessage,
    job: &Job,
    as_of: i64,
    outcome: SendOutcome,
) -> Result<bool> {
    let place = CopyLocation {
        tenant: row.tenant.clone(),
        connection_id: row.connection_id.clone(),
        kind: ResourceKind::EmailMessage,
        parent_id: String::new(),
        origin: Origin::System,
    };
    let (app, job) = (app.clone(), job.clone());
    let db = app.db.clone();
    db.write(move |tx| {
        Box::pin(async move {
            let now = app.now();
            match write(tx, &app, &place, &job, as_of, outcome).await? {
                SendFollowUp::Lost => return Ok(false),
                SendFollowUp::Over => jobs::complete(tx, &job, now).await?,
                SendFollowUp::Until(due_at, error) => {
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

async fn write(
    tx: &mut Tx,
    app: &App,
    place: &CopyLocation,
    job: &Job,
    as_of: i64,
    outcome: SendOutcome,
) -> Result<SendFollowUp> {
    // An account that was disconnected leaves nothing to store.
    let lock = ConnectionLock::take(tx, &place.tenant, &place.connection_id).await?;
    let Some(lock) = lock else { return Ok(SendFollowUp::Over) };
    let Some(row) = table::lock_outgoing(tx, &lock, job.key()).await? else { return Ok(SendFollowUp::Over) };
    // A report about the recipients that arrived during the hand-over stays.
    let verdict = verdict(app, &row, outcome)?;
    let is_over = verdict.next_attempt_at.is_none();
    let settled = OutboxMessage {
        state: word(verdict.state).to_owned(),
        recipients: serde_json::to_string(&verdict.recipients)?,
        options: serde_json::to_string(&verdict.options)?,
        next_attempt_at: verdict.next_attempt_at,
        handed_over_at: verdict.handed_over_at,
        accepted_at: verdict.accepted_at,
        attempts: verdict.attempts,
        updated_at: app.now(),
        ..OutboxMessage::clone(&row)
    };
    if !table::settle(tx, &row, &settled, job.fence).await? {
        // It was cancelled, or another run has it: its outcome counts.
        return Ok(SendFollowUp::Lost);
    }
    let kept = match verdict.next_attempt_at {
        Some(at) => SendFollowUp::Until(at, verdict.error.clone()),
        None => SendFollowUp::Over,
    };
    let is_sent = verdict.recipients.iter().any(|r| r.status == RecipientStatus::Accepted);
    if is_over {
        table::forget_contents(tx, &row.id).await?;
    }
    if is_sent {
        tracking::set_sent(tx, &row.id, app.now()).await?;
    }
    let mut copy = CopyTransaction { tx, app, lock: &lock, location: place };
    if let Some(draft_id) = &row.draft_id {
        keep_draft(&mut copy, draft_id, &verdict, is_over, is_sent).await?;
    }
    let sources = with_outbox_name(&row, verdict.sources);
    let superseded = upsert(&mut copy, &sources, as_of).await?.superseded;
    note_superseded(&mut copy, &superseded).await?;
    let item = items::lock_item(copy.tx, &lock, &row.id).await?;
    let Some(item) = item.filter(|item| item.deleted_at.is_none()) else { return Ok(kept) };
    let delivery = MessageDelivery {
        state: verdict.state,
        send_at: row.send_at.map(Instant::from_millis),
        attempts: verdict.attempts,
        recipients: verdict.recipients,
        error: verdict.error,
    };
    let fields = [("delivery", json!(delivery))];
    host_fields::set(&mut copy, item, &fields, event(verdict.state, is_over)).await?;
    Ok(kept)
}

/// Makes the next pull search for a draft in its mailbox.
pub async fn look_again(copy: &mut CopyTransaction<'_, '_>, draft: &Item) -> Result<()> {
    let drafts = SupersededRecords { sources: vec![draft.source_id.clone()], folders: false };
    note_superseded(copy, &drafts).await
}

/// Returns the event for the log.
fn event(state: DeliveryState, is_over: bool) -> &'static str {
    match state {
        DeliveryState::Sent | DeliveryState::PartiallyFailed if is_over => "sent",
        DeliveryState::Failed if is_over => "send_failed",
        _ => "updated",
    }
}

/// Returns the records. The copy of the message has its name in the outbox as the previous name, so that it keeps the message's id.
fn with_outbox_name(row: &OutboxMessage, mut sources: Vec<Source>) -> Vec<NormalizedRecord> {
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
    prepared(ResourceKind::EmailMessage, sources)
}

/// Keeps a draft that was sent, though no provider has it: it names the message that it became.
async fn keep_draft(
    copy: &mut CopyTransaction<'_, '_>,
    draft_id: &str,
    verdict: &OutcomeRecord,
    is_over: bool,
    is_sent: bool,
) -> Result<()> {
    let found = items::lock_item(copy.tx, copy.lock, draft_id).await?;
    let Some(draft) = found.filter(|d| d.deleted_at.is_none()) else { return Ok(()) };
    let status = match (is_sent, is_over) {
        (true, _) => DraftStatus::Sent,
        (false, true) => DraftStatus::Failed,
        (false, false) => DraftStatus::Sending,
    };
    let error = verdict.error.as_ref().map_or(Value::Null, |e| json!(e));
    let fields = [("status", json!(status)), ("sendError", error)];
    let draft = host_fields::set(copy, draft, &fields, "updated").await?;
    if is_sent {
        // A page that was read before the draft was sent still contains it.
        let left_at = (draft.sequence, copy.app.now());
        items::leave_source(copy.tx, &draft.connection_id, &draft.source_id, left_at).await?;
        items::set_source(copy.tx, &draft, &format!("{SENT}{}", draft.id)).await?;
        remove_places(copy.tx, &draft.connection_id, &[draft.id.as_str()]).await?;
        let thread: Vec<&str> = draft.series_id.as_deref().into_iter().collect();
        set_latest(copy.tx, &thread, copy.app.now()).await?;
    } else if is_over {
        // While it was being sent, pulls did not check whether the mailbox still has it.
        look_again(copy, &draft).await?;
    }
    Ok(())
}
