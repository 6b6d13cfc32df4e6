//! Stored messages that concern messages sent from here: a reply is counted, a report gets a job that reads it.

use base::error::Result;
use base::ids;
use model::email::EmailMessage;
use serde_json::{Value, json};
use storage::items::Item;
use storage::jobs::{self, NewJob};
use storage::tracking::{Event, Record, Report};
use storage::wakes::JobClass;
use storage::{Tx, outbox, tracking as table};

use crate::app::App;
use crate::app::event_log::{self, NewLogEntry, Origin};
use crate::app::resource_kind::ResourceKind;
use crate::local_copy::change::{ChangeKind, ItemChange};
use crate::local_copy::transaction::CopyTransaction;

/// The kind of the jobs that read reports; the key of a job is the id of the message.
pub const REPORT_JOB: &str = "report";

/// Most messages of ours that one message counts as a reply to.
const MAX_ANSWERED: usize = 5;

/// A message that names a Message-ID as answered.
struct IncomingReply<'w> {
    item: &'w Item,
    answered: String,
}

/// Processes the messages that were just stored, in the same transaction.
pub async fn process_messages(copy: &mut CopyTransaction<'_, '_>, written: &[ItemChange<'_>]) -> Result<()> {
    if copy.location.origin != Origin::Provider {
        return Ok(());
    }
    let is_new =
        |one: &&ItemChange<'_>| one.change == ChangeKind::Created && one.kind == ResourceKind::EmailMessage;
    let (mut replies, mut reports) = (Vec::new(), Vec::new());
    for one in written.iter().filter(is_new) {
        let item = &one.item;
        let message: EmailMessage = serde_json::from_str(&item.body)?;
        if may_report(&message) {
            reports.push(Report {
                item_id: item.id.clone(),
                tenant: copy.location.tenant.clone(),
                connection_id: item.connection_id.clone(),
                attempts: 0,
            });
        } else if !message.auto_reply {
            let answered = message.in_reply_to.into_iter().take(MAX_ANSWERED);
            replies.extend(answered.map(|answered| IncomingReply { item, answered }));
        }
    }
    count_replies(copy, &replies).await?;
    // After the log, because it enqueues jobs: see `LockRank`.
    let now = copy.app.now();
    table::add_reports(copy.tx, &reports, now).await?;
    let jobs: Vec<NewJob<'_>> = reports.iter().map(|report| report_job(report, now)).collect();
    Ok(jobs::enqueue_all(copy.tx, &jobs, now).await?)
}

/// Returns the job that reads a message which may be a report.
pub(crate) fn report_job(report: &Report, now: i64) -> NewJob<'_> {
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

/// Whether a message can be a report: by its parts, or by its sender.
pub(crate) fn may_report(message: &EmailMessage) -> bool {
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

/// Counts replies to messages of ours.
async fn count_replies(copy: &mut CopyTransaction<'_, '_>, replies: &[IncomingReply<'_>]) -> Result<()> {
    let (app, location) = (copy.app, copy.location);
    let answered: Vec<&str> = replies.iter().map(|reply| reply.answered.as_str()).collect();
    if answered.is_empty() {
        return Ok(());
    }
    let sent = outbox::by_message_ids(&mut *copy.tx, &location.connection_id, &answered).await?;
    if sent.is_empty() {
        return Ok(());
    }
    let ids: Vec<&str> = sent.values().map(String::as_str).collect();
    let records = table::of_messages(&mut *copy.tx, &ids).await?;
    let mut entries = Vec::new();
    for IncomingReply { item, answered } in replies {
        let record = sent.get(answered).and_then(|id| records.get(id));
        let Some(record) = record.filter(|r| r.replies && app.now() <= r.expires_at) else { continue };
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
        // One after the other: few messages of a page are replies to tracked ones.
        if table::add_event(copy.tx, &record.id, &event).await? {
            entries.extend(log_entry(record, &event, json!({ "messageId": item.id })));
        }
    }
    if !entries.is_empty() {
        event_log::append(copy.tx, app, &location.tenant, entries).await?;
    }
    Ok(())
}

/// Logs an event of a sent message.
pub async fn log_event(tx: &mut Tx, app: &App, record: &Record, event: &Event, more: Value) -> Result<()> {
    if let Some(entry) = log_entry(record, event, more) {
        event_log::append(tx, app, &record.tenant, vec![entry]).await?;
    }
    Ok(())
}

/// Returns the log entry of an event; none for kinds that are not logged.
fn log_entry(record: &Record, event: &Event, more: Value) -> Option<NewLogEntry> {
    let word = match event.kind.as_str() {
        "open" => "opened",
        "click" => "link_clicked",
        "reply" => "replied",
        "bounce" => "bounced",
        "complaint" => "complaint",
        _ => return None,
    };
    let mut told = json!({
        "trackingId": record.id,
        "messageId": record.message_id,
        "label": record.label,
        "event": {
            "id": event.id, "type": event.kind, "at": model::Instant::from_millis(event.at),
            "linkIndex": event.link_index, "ip": event.ip, "userAgent": event.user_agent,
            "classification": event.classification, "reason": event.reason,
        },
    });
    if let (Some(told), Value::Object(more)) = (told["event"].as_object_mut(), more) {
        told.extend(more);
    }
    Some(NewLogEntry {
        connection_id: Some(record.connection_id.clone()),
        account_ids: None,
        entry_type: format!("email.message.{word}"),
        change_type: "state",
        resource_type: "email.tracking",
        resource_id: record.id.clone(),
        parent_id: String::new(),
        changed_fields: None,
        etag: None,
        origin: Origin::System,
        resource: Some(told.to_string()),
    })
}
