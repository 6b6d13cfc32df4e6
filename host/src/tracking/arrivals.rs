//! Messages that come to the mailbox about messages that were sent from here: replies, delivery reports, complaints. A reply is counted in the
//! transaction that stores it. A report has to be read first, which is a job (`jobs/reports.rs`).

use ::mail::report::{DeliveryReport, ReportKind, ReportedRecipient, delivery_report};
use base::error::Result;
use base::ids;
use model::Instant;
use model::email::tracking::BounceKind;
use model::email::{DeliveryState, EmailMessage, MessageDelivery, RecipientDelivery, RecipientStatus};
use serde_json::json;
use storage::Tx;
use storage::items::{self, Item};
use storage::jobs::{self, NewJob};
use storage::locked::ConnectionLock;
use storage::outbox;
use storage::tracking::{self as table, Event, Record, Report};
use storage::wakes::JobClass;

use crate::app::App;
use crate::connections;
use crate::freshness::Reading;
use crate::log::Origin;
use crate::resources::apply::{Change, Changed, Place};
use crate::resources::mail::{attachments, own};
use crate::resources::{Asker, Kind};
use crate::tracking::hits::tell;

/// The kind of the jobs that read reports. Their key is the id of the message.
pub const REPORT_JOB: &str = "report";
/// Largest report that is read, bytes.
const MAX_REPORT: u64 = 4 << 20;

/// Looks at a message that was told just now, in the transaction that stores it.
pub async fn look(tx: &mut Tx, app: &App, place: &Place, changed: &Changed<'_>) -> Result<()> {
    let is_news = changed.change == Change::Created && place.origin == Origin::Provider;
    if !is_news || changed.kind != Kind::EmailMessage {
        return Ok(());
    }
    let item = &changed.item;
    let message: EmailMessage = serde_json::from_str(&item.body)?;
    if may_report(&message) {
        let report = Report {
            item_id: item.id.clone(),
            tenant: place.tenant.clone(),
            connection_id: item.connection_id.clone(),
            attempts: 0,
        };
        table::add_report(tx, &report, app.now()).await?;
        jobs::enqueue(tx, &report_job(&report, app.now()), app.now()).await?;
        return Ok(());
    }
    if !message.auto_reply {
        replied(tx, app, item, &message).await?;
    }
    Ok(())
}

/// The job that reads a message which may be a report.
fn report_job(report: &Report, now: i64) -> NewJob<'_> {
    NewJob {
        kind: REPORT_JOB,
        key: &report.item_id,
        class: JobClass::Upkeep,
        tenant: &report.tenant,
        connection_id: Some(&report.connection_id),
        target: "",
        due_at: Some(now),
        args: None,
    }
}

/// Whether it can be a report at all: by its parts, or by who says that it sent it.
fn may_report(message: &EmailMessage) -> bool {
    let types = [
        "message/delivery-status",
        "message/global-delivery-status",
        "message/feedback-report",
        "text/rfc822-headers",
        "message/global-headers",
    ];
    let is_server = |a: &model::email::EmailAddress| mail::report::may_report(a.name.as_deref(), &a.email);
    message.attachments.iter().any(|a| types.contains(&a.content_type.as_str()))
        || message.from.iter().chain(&message.sender).any(is_server)
}

/// Counts an answer to a message of ours.
async fn replied(tx: &mut Tx, app: &App, item: &Item, message: &EmailMessage) -> Result<()> {
    for id in message.in_reply_to.iter().take(5) {
        let Some(sent) = outbox::by_message_id(&mut *tx, &item.connection_id, id).await? else { continue };
        let Some(record) = table::of_message(&mut *tx, &sent.id).await? else { continue };
        if !record.replies || app.now() > record.expires_at {
            continue;
        }
        let event = Event {
            id: app.new_id(ids::Kind::Notification),
            kind: "reply".to_owned(),
            at: item.sort_at,
            link_index: None,
            ip: None,
            user_agent: None,
            classification: "human".to_owned(),
            reason: None,
            detail: Some(json!({ "messageId": item.id }).to_string()),
        };
        if table::add_event(tx, &record.id, &event).await? {
            tell(tx, app, &record, &event, json!({ "messageId": item.id })).await?;
        }
    }
    Ok(())
}

/// Asks the provider for a message and reads the report that it is. None: it is no report, or the message is gone.
pub async fn read(app: &App, report: &Report) -> Result<Option<DeliveryReport>> {
    let reader = app.db.reader();
    let found = items::find(reader, &report.tenant, Kind::EmailMessage.as_str(), &report.item_id).await?;
    let Some(item) = found else { return Ok(None) };
    let connection = connections::find(app, &report.tenant, &report.connection_id).await?;
    connections::usable(&connection)?;
    let asker = Asker {
        tenant: report.tenant.clone(),
        connection_ids: Vec::new(),
        request_id: "report".to_owned(),
        no_cache: false,
        reading: Reading::default(),
    };
    let blob = attachments::raw(app, &asker, &connection, &item).await?;
    let size = usize::try_from(blob.size().min(MAX_REPORT)).unwrap_or(0);
    let bytes = blob.read(0, size).map_err(anyhow::Error::from)?;
    Ok(delivery_report(&bytes))
}

/// Puts what is reported to the message with the id `id`, which was sent from here.
pub async fn keep(
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
        let told = told(report, reported, (delivery.recipients.as_mut_slice(), waits), app.clock.now());
        let Some(told) = told else { continue };
        // A recipient that it reached does not hide one that it did not reach.
        if told.word != "updated" {
            word = told.word;
        }
        if let Some(record) = &record {
            note(tx, app, record, report, reported, &told).await?;
        }
    }
    delivery.state = state(&delivery);
    let recipients = serde_json::to_string(&delivery.recipients)?;
    outbox::set_recipients(tx, &row, (crate::outbox::word(delivery.state), &recipients), app.now()).await?;
    let place = Place {
        tenant: lock.tenant.clone(),
        connection_id: item.connection_id.clone(),
        kind: Kind::EmailMessage,
        parent_id: String::new(),
        origin: Origin::System,
    };
    if item.deleted_at.is_none() {
        own::set(tx, app, &place, item, &[("delivery", json!(delivery))], word).await?;
    }
    Ok(())
}

/// What a report changed of one recipient.
struct Told {
    recipient: String,
    word: &'static str,
}

/// Sets the status of the recipient that is meant; none where that is no news. `waits`: the message is due for another attempt.
fn told(
    report: &DeliveryReport,
    reported: &ReportedRecipient,
    (recipients, waits): (&mut [RecipientDelivery], bool),
    now: Instant,
) -> Option<Told> {
    let names = [&reported.original_recipient, &reported.final_recipient];
    let same = |r: &&mut RecipientDelivery| {
        let folded = ::mail::address::folded(&r.email);
        names.iter().any(|n| n.as_deref().is_some_and(|n| ::mail::address::folded(n) == folded))
    };
    let only = recipients.len() == 1;
    let recipient = match recipients.iter_mut().find(|r| same(r)) {
        Some(found) => found,
        // Forwarded mail comes back from an address that nobody here knows.
        None if only => recipients.first_mut()?,
        None => return None,
    };
    let (status, word) = match (report.kind, reported.bounce) {
        (ReportKind::Complaint, _) => (RecipientStatus::Complained, "complaint"),
        (_, Some(BounceKind::Hard)) => (RecipientStatus::Bounced, "bounced"),
        // Who took it goes on trying; as deferred it would get the message from that attempt once more.
        (_, Some(BounceKind::Soft)) if waits => return None,
        (_, Some(BounceKind::Soft)) => (RecipientStatus::Deferred, "bounced"),
        (_, None) if matches!(reported.action.as_str(), "delivered" | "relayed" | "expanded") => {
            (RecipientStatus::Delivered, "updated")
        }
        _ => return None,
    };
    // One event for each final status: the same report can come twice.
    if recipient.status == status {
        return None;
    }
    recipient.status = status;
    recipient.enhanced_status = reported.status.clone().or(recipient.enhanced_status.take());
    recipient.smtp_reply = reported.diagnostic.clone().or(recipient.smtp_reply.take());
    recipient.at = Some(now);
    Some(Told { recipient: recipient.email.clone(), word })
}

fn state(delivery: &MessageDelivery) -> DeliveryState {
    let bounced = delivery.recipients.iter().filter(|r| r.status == RecipientStatus::Bounced).count();
    match bounced {
        0 => delivery.state,
        n if n == delivery.recipients.len() => DeliveryState::Bounced,
        _ => DeliveryState::PartiallyFailed,
    }
}

async fn note(
    tx: &mut Tx,
    app: &App,
    record: &Record,
    report: &DeliveryReport,
    reported: &ReportedRecipient,
    told: &Told,
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
