//! Cancels queued messages. Fails with `already_sent` once the provider may have the message.

use base::error::{Code, Error, Result, not_found, refuse};
use model::Instant;
use model::email::draft::DraftStatus;
use model::email::{DeliveryState, EmailMessage, MessageDelivery};
use serde_json::{Value, json};
use storage::connections::Connection;
use storage::items::{self, Item};
use storage::locked::{ConnectionLock, LockedRow};
use storage::{Tx, jobs, outbox as table};

use crate::app::App;
use crate::app::event_log::Origin;
use crate::app::resource_kind::ResourceKind;
use crate::app::stored_response::{IdempotentAttempt, StoredResponse};
use crate::local_copy::change::CopyLocation;
use crate::local_copy::mail::host_fields;
use crate::local_copy::mail::source_names::is_only_here;
use crate::local_copy::record::NormalizedRecord;
use crate::local_copy::transaction::CopyTransaction;
use crate::local_copy::upsert::upsert;
use crate::sending::SEND_JOB;
use crate::sending::outcome::OUTCOME_UNKNOWN;
use crate::sending::store_outcome::look_again;
use crate::writes::response::place;

/// Time after a scheduled message was sent in which a deletion without a version may be meant as a cancellation, ms: its caller may not
/// know yet that it was sent.
const LATE_CANCEL_MS: i64 = 10 * 60_000;

/// Deletes a message that no provider has. A queued one is cancelled: it is not sent, and its draft can be edited again. One that was never
/// sent is deleted. One that was sent leaves a record here, which is deleted with `permanent`.
///
/// Fails with `already_sent` if a recipient may have the message.
pub async fn cancel(
    app: &App,
    connection: &Connection,
    item: &Item,
    permanent: bool,
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    let place = CopyLocation { origin: Origin::Api, ..place(connection, ResourceKind::EmailMessage, "") };
    let (app, attempt, id) = (app.clone(), attempt.clone(), item.id.clone());
    let db = app.db.clone();
    db.write(move |tx| {
        Box::pin(async move {
            let lock = crate::local_copy::change::lock(tx, &place).await?;
            let item = items::lock_item(tx, &lock, &id).await?.filter(|item| item.deleted_at.is_none());
            let item = item.ok_or_else(|| not_found("message"))?;
            if !is_only_here(&item.source_id) {
                // It was sent after the caller had read it.
                return Err(already_sent());
            }
            let source_id = item.source_id.clone();
            let mut copy = CopyTransaction { tx, app: &app, lock: &lock, location: &place };
            match table::cancel(copy.tx, &lock, &id, app.now()).await? {
                Some(row) => {
                    table::forget_contents(copy.tx, &id).await?;
                    reopen(&mut copy, item, row.draft_id.as_deref()).await?;
                }
                None => {
                    let row = table::find(&mut *copy.tx, &place.tenant, &id).await?;
                    let is_under_way = row.is_some_and(|row| row.next_attempt_at.is_some());
                    check_record(&item, is_under_way, permanent)?;
                }
            }
            upsert(&mut copy, &[NormalizedRecord::gone(&source_id)], i64::MAX).await?;
            jobs::remove(copy.tx, &format!("{SEND_JOB}:{id}")).await?;
            let answer = StoredResponse::no_content();
            attempt.store(copy.tx, &app.keyring, &answer, app.now()).await?;
            Ok::<_, Error>(answer)
        })
    })
    .await
}

/// Cancels a message in the transaction of a newer one that supersedes it, if it was not handed over. Its job then finds nothing to do.
/// `lock` is that of its connection. False: the provider may have it, or it is not queued.
pub async fn withdraw(
    tx: &mut Tx,
    app: &App,
    lock: &ConnectionLock,
    place: &CopyLocation,
    id: &str,
) -> Result<bool> {
    let Some(row) = table::cancel(tx, lock, id, app.now()).await? else { return Ok(false) };
    table::forget_contents(tx, id).await?;
    let item = items::lock_item(tx, lock, id).await?.filter(|item| item.deleted_at.is_none());
    if let Some(item) = item {
        let source_id = item.source_id.clone();
        let mut copy = CopyTransaction { tx, app, lock, location: place };
        reopen(&mut copy, item, row.draft_id.as_deref()).await?;
        upsert(&mut copy, &[NormalizedRecord::gone(&source_id)], i64::MAX).await?;
    }
    Ok(true)
}

/// Fails with `already_sent` if the deletion of a copy among the sent messages would look like a cancellation: while some recipients still
/// wait for the message, and shortly after a scheduled message was sent, unless the caller knows of the copy (`knows_copy`): it names the
/// version that was sent, or deletes permanently.
pub fn check_late_cancel(item: &Item, knows_copy: bool, now: i64) -> Result<()> {
    let message: EmailMessage = serde_json::from_str(&item.body)?;
    let Some(delivery) = message.delivery else { return Ok(()) };
    if matches!(delivery.state, DeliveryState::Queued | DeliveryState::Sending) {
        return Err(already_sent());
    }
    let answered = delivery.recipients.iter().filter_map(|recipient| recipient.at);
    let sent_at = answered.map(Instant::as_millis).max().filter(|_| delivery.send_at.is_some());
    match sent_at {
        Some(at) if !knows_copy && now - at < LATE_CANCEL_MS => Err(refuse(
            Code::AlreadySent,
            "the message was sent and can no longer be taken back; to delete the copy among the sent messages give its etag, or permanent=true",
        )),
        _ => Ok(()),
    }
}

fn already_sent() -> Error {
    refuse(Code::AlreadySent, "the message was sent, or is being sent: it can no longer be taken back")
}

/// Refuses to delete the record of a message that cannot be cancelled and may have been sent.
fn check_record(item: &Item, is_under_way: bool, permanent: bool) -> Result<()> {
    if is_under_way {
        return Err(already_sent());
    }
    let message: EmailMessage = serde_json::from_str(&item.body)?;
    let delivery = message.delivery.unwrap_or_default();
    let is_unknown = delivery.error.is_some_and(|error| error.code == OUTCOME_UNKNOWN);
    if permanent || (delivery.state == DeliveryState::Failed && !is_unknown) {
        return Ok(());
    }
    Err(refuse(
        Code::AlreadySent,
        "the message was sent, or may have been, and can no longer be taken back; permanent=true deletes what is kept of it here",
    ))
}

/// Marks the message as cancelled, and makes its draft editable again.
async fn reopen<'l>(
    copy: &mut CopyTransaction<'_, 'l>,
    item: LockedRow<'l, Item>,
    draft_id: Option<&str>,
) -> Result<()> {
    let message: EmailMessage = serde_json::from_str(&item.body)?;
    let delivery =
        MessageDelivery { state: DeliveryState::Cancelled, ..message.delivery.unwrap_or_default() };
    host_fields::set(copy, item, &[("delivery", json!(delivery))], "updated").await?;
    let Some(draft_id) = draft_id else { return Ok(()) };
    let draft = items::lock_item(copy.tx, copy.lock, draft_id).await?;
    if let Some(draft) = draft.filter(|draft| draft.deleted_at.is_none()) {
        let fields = [("status", json!(DraftStatus::Draft)), ("sentMessageId", Value::Null)];
        let draft = host_fields::set(copy, draft, &fields, "updated").await?;
        look_again(copy, &draft).await?;
    }
    Ok(())
}
