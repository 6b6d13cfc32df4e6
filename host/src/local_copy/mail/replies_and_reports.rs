//! Messages that are stored and are about messages that were sent from here: a reply is counted, a report gets a job that reads it.

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
use crate::local_copy::change::{ChangeKind, CopyLocation, ItemChange};

/// The kind of the jobs that read reports. Their key is the id of the message.
pub const REPORT_JOB: &str = "report";

/// Looks at a message that was told just now, in the transaction that stores it.
pub async fn look(tx: &mut Tx, app: &App, place: &CopyLocation, changed: &ItemChange<'_>) -> Result<()> {
    let is_news = changed.change == ChangeKind::Created && place.origin == Origin::Provider;
    if !is_news || changed.kind != ResourceKind::EmailMessage {
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

/// Whether it can be a report at all: by its parts, or by who says that it sent it.
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

/// Counts an answer to a message of ours.
pub(crate) async fn replied(tx: &mut Tx, app: &App, item: &Item, message: &EmailMessage) -> Result<()> {
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

/// Tells of what happened to a message, in the log.
pub async fn tell(tx: &mut Tx, app: &App, record: &Record, event: &Event, more: Value) -> Result<()> {
    let word = match event.kind.as_str() {
        "open" => "opened",
        "click" => "link_clicked",
        "reply" => "replied",
        "bounce" => "bounced",
        "complaint" => "complaint",
        _ => return Ok(()),
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
    let note = NewLogEntry {
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
    };
    event_log::append(tx, app, &record.tenant, vec![note]).await?;
    Ok(())
}
