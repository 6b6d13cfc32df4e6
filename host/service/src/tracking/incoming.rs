//! Incoming messages about messages that were sent from here: replies, delivery reports, complaints. A reply is counted in the transaction
//! that stores it. A report has to be read first, by a job (`tracking::reports_job`).

use base::error::Result;
use base::ids;
use mail::report::{DeliveryReport, ReportKind, ReportedRecipient, delivery_report};
use model::Instant;
use model::email::tracking::BounceKind;
use model::email::{DeliveryState, EmailMessage, MessageDelivery, RecipientDelivery, RecipientStatus};
use serde_json::json;
use storage::locked::ConnectionLock;
use storage::tracking::{Event, Record, Report};
use storage::{Tx, items, outbox, tracking as table};

use crate::app::App;
use crate::app::event_log::Origin;
use crate::app::resource_kind::ResourceKind;
use crate::connections;
use crate::connections::request_context::RequestContext;
use crate::local_copy::change::CopyLocation;
use crate::local_copy::mail::host_fields;
use crate::local_copy::transaction::CopyTransaction;

/// Largest report that is read, bytes.
const MAX_REPORT: u64 = 4 << 20;

/// Reads a message from the provider and parses its report. None: it is no report, or the message was deleted.
pub async fn read(app: &App, report: &Report) -> Result<Option<DeliveryReport>> {
    let reader = app.db.reader();
    let found =
        items::find(reader, &report.tenant, ResourceKind::EmailMessage.as_str(), &report.item_id).await?;
    let Some(item) = found else { return Ok(None) };
    let connection = connections::find(app, &report.tenant, &report.connection_id).await?;
    connections::usable(&connection)?;
    let asker = RequestContext::for_service(&report.tenant, &connection.id, "report".to_owned());
    let blob = crate::writes::provider_records::raw(app, &asker, &connection, &item).await?;
    let size = usize::try_from(blob.size().min(MAX_REPORT)).unwrap_or(0);
    let bytes = blob.read(0, size).map_err(anyhow::Error::from)?;
    Ok(delivery_report(&bytes))
}

/// Applies a report to the message with the id `id`, which was sent from here.
pub async fn apply_report(
    tx: &mut Tx,
    app: &App,
    lock: &ConnectionLock,
    id: &str,
    report: &DeliveryReport,
) -> Result<()> {
    let Some(row) = outbox::lock_outgoing(tx, lock, id).await? else { return Ok(()) };
    let Some(item) = items::lock_item(tx, lock, id).await? else { return Ok(()) };
    let message: EmailMessage = serde_json::from_str(&item.body)?;
    let mut delivery: MessageDelivery = message.delivery.unwrap_or_default();
    let record = table::of_message(&mut *tx, id).await?;
    let mut word = "updated";
    let waits = row.next_attempt_at.is_some();
    for reported in &report.recipients {
        let told = update_recipient(report, reported, &mut delivery.recipients, waits, app.clock.now());
        let Some(told) = told else { continue };
        // A recipient that was reached does not hide one that was not.
        if told.word != "updated" {
            word = told.word;
        }
        if let Some(record) = &record {
            log_update(tx, app, record, report, reported, &told).await?;
        }
    }
    delivery.state = state(&delivery);
    let recipients = serde_json::to_string(&delivery.recipients)?;
    outbox::set_recipients(
        tx,
        &row,
        (crate::tracking::delivery_state::word(delivery.state), &recipients),
        app.now(),
    )
    .await?;
    let place = CopyLocation {
        tenant: lock.tenant.clone(),
        connection_id: item.connection_id.clone(),
        kind: ResourceKind::EmailMessage,
        parent_id: String::new(),
        origin: Origin::System,
    };
    if item.deleted_at.is_none() {
        let mut copy = CopyTransaction { tx, app, lock, location: &place };
        host_fields::set(&mut copy, item, &[("delivery", json!(delivery))], word).await?;
    }
    Ok(())
}

/// The change that a report makes to one recipient.
struct RecipientUpdate {
    recipient: String,
    word: &'static str,
}

/// Sets the status of the reported recipient; none if it is unchanged. `waits`: the message is due for another attempt.
fn update_recipient(
    report: &DeliveryReport,
    reported: &ReportedRecipient,
    recipients: &mut [RecipientDelivery],
    waits: bool,
    now: Instant,
) -> Option<RecipientUpdate> {
    let names = [&reported.original_recipient, &reported.final_recipient];
    let same = |r: &&mut RecipientDelivery| {
        let folded = ::mail::address::folded(&r.email);
        names.iter().any(|n| n.as_deref().is_some_and(|n| ::mail::address::folded(n) == folded))
    };
    let only = recipients.len() == 1;
    let recipient = match recipients.iter_mut().find(|r| same(r)) {
        Some(found) => found,
        // Forwarded mail bounces from an address that is not among the recipients.
        None if only => recipients.first_mut()?,
        None => return None,
    };
    let (status, word) = match (report.kind, reported.bounce) {
        (ReportKind::Complaint, _) => (RecipientStatus::Complained, "complaint"),
        (_, Some(BounceKind::Hard)) => (RecipientStatus::Bounced, "bounced"),
        // The server that accepted it keeps trying; with the status deferred the recipient would get the message again from the next
        // attempt.
        (_, Some(BounceKind::Soft)) if waits => return None,
        (_, Some(BounceKind::Soft)) => (RecipientStatus::Deferred, "bounced"),
        (_, None) if matches!(reported.action.as_str(), "delivered" | "relayed" | "expanded") => {
            (RecipientStatus::Delivered, "updated")
        }
        _ => return None,
    };
    // One event for each final status: the same report can arrive twice.
    if recipient.status == status {
        return None;
    }
    recipient.status = status;
    recipient.enhanced_status = reported.status.clone().or(recipient.enhanced_status.take());
    recipient.smtp_reply = reported.diagnostic.clone().or(recipient.smtp_reply.take());
    recipient.at = Some(now);
    Some(RecipientUpdate { recipient: recipient.email.clone(), word })
}

fn state(delivery: &MessageDelivery) -> DeliveryState {
    let bounced = delivery.recipients.iter().filter(|r| r.status == RecipientStatus::Bounced).count();
    match bounced {
        0 => delivery.state,
        n if n == delivery.recipients.len() => DeliveryState::Bounced,
        _ => DeliveryState::PartiallyFailed,
    }
}

async fn log_update(
    tx: &mut Tx,
    app: &App,
    record: &Record,
    report: &DeliveryReport,
    reported: &ReportedRecipient,
    told: &RecipientUpdate,
) -> Result<()> {
    if told.word == "updated" {
        return Ok(());
    }
    let detail = json!({
        "recipient": told.recipient,
        "kind": reported.bounce,
        "enhancedStatus": reported.status,
        "diagnostic": reported.diagnostic,
        "feedbackType": report.feedback_type,
    });
    let event = Event {
        id: app.new_id(ids::Kind::Notification),
        kind: if told.word == "complaint" { "complaint" } else { "bounce" }.to_owned(),
        at: app.now(),
        link_index: None,
        ip: None,
        user_agent: None,
        classification: "unknown".to_owned(),
        reason: None,
        detail: Some(detail.to_string()),
    };
    table::add_event(tx, &record.id, &event).await?;
    Ok(())
}
