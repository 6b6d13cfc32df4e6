//! Adds messages to the outbox.

use ::mail::read::message as read_message;
use base::error::{Code, Error, Result, invalid, not_found};
use model::Instant;
use model::email::draft::{DraftStatus, ReplyMode};
use model::email::{
    DeliveryState, EmailMessage, MessageDelivery, RecipientDelivery, RecipientStatus, TrackingSettings,
};
use model::resource::Metadata;
use serde_json::{Value, json};
use storage::connections::Connection;
use storage::items::{self, Item};
use storage::locked::{ConnectionLock, LockedRow};
use storage::outbox::OutboxMessage;
use storage::tracking::Record;
use storage::{Tx, jobs, outbox as table, tracking as tracking_table};

use crate::app::App;
use crate::app::event_log::Origin;
use crate::app::resource_kind::ResourceKind;
use crate::app::stored_response::{IdempotentAttempt, StoredResponse};
use crate::local_copy::change::CopyLocation;
use crate::local_copy::mail::host_fields;
use crate::local_copy::mail::normalize::{content, hash};
use crate::local_copy::mail::source_names::OUTGOING;
use crate::local_copy::record::{NormalizedItem, NormalizedRecord};
use crate::local_copy::render;
use crate::local_copy::transaction::CopyTransaction;
use crate::local_copy::upsert::{set_metadata, upsert};
use crate::sending::message::OutgoingMessage;
use crate::sending::{SendOptions, send_job, target};
use crate::tracking;
use crate::writes::etag::stale;
use crate::writes::response::place;

/// The options of sending a message.
#[derive(Clone, Default)]
pub struct Submission {
    pub send_at: Option<Instant>,
    pub save_to_sent: bool,
    pub metadata: Metadata,
    /// The draft of the message.
    pub draft: Option<Item>,
    pub tracking: Option<TrackingSettings>,
    /// The message that the draft answers or forwards.
    pub answers: Option<String>,
    pub is_forward: bool,
    pub warnings: Vec<Value>,
}

/// Stores a message for sending, and the response: 202 with the stored message.
pub async fn submit(
    app: &App,
    connection: &Connection,
    composed: OutgoingMessage,
    submission: Submission,
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    let ready = prepare(app, connection, composed, submission, Origin::Api).await?;
    store(app, ready, attempt).await
}

/// A message that is ready to be stored for sending.
#[derive(Clone)]
pub struct PreparedSubmission {
    place: CopyLocation,
    written: OutboxRows,
    submission: Submission,
}

impl PreparedSubmission {
    /// Returns the location of its message.
    pub fn place(&self) -> &CopyLocation {
        &self.place
    }
}

/// Renders a message, before the transaction that stores it. `origin` is the cause of sending, for the log.
///
/// # Errors
/// `missing_field` for a message without recipients.
pub async fn prepare(
    app: &App,
    connection: &Connection,
    mut composed: OutgoingMessage,
    mut submission: Submission,
    origin: Origin,
) -> Result<PreparedSubmission> {
    let recipients = composed.recipients();
    if recipients.is_empty() {
        return Err(invalid(Code::MissingField, "to", "to, cc or bcc must name a recipient"));
    }
    let later = submission.send_at.filter(|at| at.as_millis() > app.now());
    let delivery = MessageDelivery {
        state: DeliveryState::Queued,
        send_at: later,
        recipients: recipients.iter().map(|email| queued_recipient(email)).collect(),
        ..MessageDelivery::default()
    };
    let message_id = composed.outgoing.message_id.clone();
    let original = composed.original.take();
    let from = composed.outgoing.from.first().cloned().unwrap_or_default();
    let size = composed.built.bytes.len();
    let render = || render_forms(app, composed, &mut submission, &delivery);
    let rendered = app.compute.run(&connection.tenant.application_id, size, render).await?;
    let options = SendOptions {
        from,
        save_to_sent: submission.save_to_sent,
        bcc: rendered.bcc,
        looks: 0,
        rounds: 0,
        attempts_of_earlier_rounds: 0,
        original: original.as_ref().map(|o| o.item.id.clone()).or(submission.answers.clone()),
        is_forward: submission.is_forward || original.is_some_and(|o| o.mode == ReplyMode::Forward),
    };
    let row = OutboxMessage {
        id: String::new(),
        tenant: connection.tenant.clone(),
        connection_id: connection.id.clone(),
        draft_id: submission.draft.as_ref().map(|d| d.id.clone()),
        state: "queued".to_owned(),
        internet_message_id: message_id.clone(),
        options: serde_json::to_string(&options)?,
        recipients: serde_json::to_string(&delivery.recipients)?,
        send_at: later.map(Instant::as_millis),
        next_attempt_at: Some(later.map_or(app.now(), Instant::as_millis)),
        attempts: 0,
        handed_over_at: None,
        accepted_at: None,
        claimed_by: None,
        claimed_until: None,
        created_at: app.now(),
        updated_at: app.now(),
    };
    let source = normalize_copy(&message_id, rendered.shown)?;
    let record = rendered.tracked.map(|t| t.record(app, connection));
    let target = target(connection);
    let written = OutboxRows { row, message: rendered.message, copy: rendered.copy, source, record, target };
    let place = CopyLocation { origin, ..place(connection, ResourceKind::EmailMessage, "") };
    Ok(PreparedSubmission { place, written, submission })
}

/// A message in the forms in which it is sent, stored and shown.
struct RenderedMessage {
    message: String,
    /// The sender's own copy, if it differs by more than its Bcc.
    copy: Option<String>,
    /// The offset of the Bcc field in the sender's copy, and the field.
    bcc: Option<(usize, String)>,
    shown: EmailMessage,
    tracked: Option<TrackedHtml>,
}

/// Renders a message. Wherever possible, only one copy of a large message is in memory at a time.
fn render_forms(
    app: &App,
    mut composed: OutgoingMessage,
    submission: &mut Submission,
    delivery: &MessageDelivery,
) -> Result<RenderedMessage> {
    let tracked_message = track_html(app, &composed, submission)?;
    let (tracked, sent) = match tracked_message {
        Some((tracked, sent)) => (Some(tracked), sent),
        None => (None, None),
    };
    composed.outgoing.attachments = Vec::new();
    let with_bcc = match composed.outgoing.bcc.is_empty() {
        true => None,
        false => Some(composed.built.with_bcc()),
    };
    let own = with_bcc.as_deref().unwrap_or(&composed.built.bytes);
    let mut shown = preview(app, own, &composed, delivery)?;
    shown.tracking = tracked.as_ref().map(|t: &TrackedHtml| t.settings.clone());
    let (message, copy, bcc) = match (sent, with_bcc) {
        // The sender's own copy is not tracked: opening it is no open.
        (Some(sent), own) => (sent, Some(own.unwrap_or(composed.built.bytes)), None),
        (None, Some(with_bcc)) => {
            let bcc = bcc(&composed.built.bytes, &with_bcc);
            (composed.built.bytes, None, bcc)
        }
        (None, None) => (composed.built.bytes, None, None),
    };
    Ok(RenderedMessage { message: text(message)?, copy: copy.map(text).transpose()?, bcc, shown, tracked })
}

/// The rows to store for a message.
#[derive(Clone)]
struct OutboxRows {
    row: OutboxMessage,
    message: String,
    copy: Option<String>,
    source: NormalizedRecord,
    record: Option<Record>,
    /// The server that the message goes to, for its job.
    target: String,
}

fn text(bytes: Vec<u8>) -> Result<String> {
    Ok(String::from_utf8(bytes).map_err(|_| anyhow::anyhow!("a message that was built is text"))?)
}

/// The tracking of a message.
struct TrackedHtml {
    settings: TrackingSettings,
    urls: Vec<String>,
}

impl TrackedHtml {
    fn record(self, app: &App, connection: &Connection) -> Record {
        Record {
            id: self.settings.tracking_id.clone().unwrap_or_default(),
            tenant: connection.tenant.clone(),
            connection_id: connection.id.clone(),
            message_id: String::new(),
            label: self.settings.label,
            opens: self.settings.opens,
            links: self.settings.links,
            replies: self.settings.replies,
            urls: json!(self.urls).to_string(),
            sent_at: None,
            expires_at: app.now() + tracking::LIFETIME_MS,
            created_at: app.now(),
        }
    }
}

/// Makes a message trackable as far as possible, with a warning otherwise. Returns the bytes with our links and image; none for a message
/// without HTML.
fn track_html(
    app: &App,
    composed: &OutgoingMessage,
    submission: &mut Submission,
) -> Result<Option<(TrackedHtml, Option<Vec<u8>>)>> {
    let Some(mut settings) = submission.tracking.take() else { return Ok(None) };
    for (name, wanted) in [("opens", &mut settings.opens), ("links", &mut settings.links)] {
        if *wanted && !app.config.can_track() {
            *wanted = false;
            submission.warnings.push(json!({
                "code": "field_not_supported",
                "message": format!("{name} are not tracked: this service has no public address"),
                "target": format!("tracking.{name}"),
            }));
        }
    }
    if !(settings.opens || settings.links || settings.replies) {
        return Ok(None);
    }
    let is_unsubscribe = |name: &str| name.eq_ignore_ascii_case("list-unsubscribe");
    let headers = composed.outgoing.headers.iter().filter(|h| is_unsubscribe(&h.name));
    let untouched: Vec<String> = headers
        .flat_map(|h| h.value.split(','))
        .map(|u| u.trim().trim_start_matches('<').trim_end_matches('>').to_owned())
        .collect();
    let html = composed.outgoing.html.as_deref();
    let tracked = tracking::track(app, &settings, html, &untouched)?;
    settings.tracking_id = Some(tracked.id);
    let bytes = match tracked.html {
        None => None,
        Some(html) => {
            let outgoing = ::mail::build::Outgoing { html: Some(html), ..composed.outgoing.clone() };
            let built = ::mail::build::build(&outgoing);
            Some(built.map_err(|e| anyhow::anyhow!("{}: {}", e.field, e.message))?.bytes)
        }
    };
    Ok(Some((TrackedHtml { settings, urls: tracked.urls }, bytes)))
}

fn queued_recipient(email: &str) -> RecipientDelivery {
    RecipientDelivery {
        email: email.to_owned(),
        status: RecipientStatus::Queued,
        ..RecipientDelivery::default()
    }
}

/// Returns the difference between the copy with Bcc and the sent message: offset and text.
fn bcc(bytes: &[u8], with_bcc: &[u8]) -> Option<(usize, String)> {
    let at = bytes.iter().zip(with_bcc).position(|(a, b)| a != b)?;
    // The fields may begin alike: the insertion begins at the start of its line.
    let line = bytes[..at].iter().rposition(|b| *b == b'\n').map_or(0, |p| p + 1);
    let length = with_bcc.len().checked_sub(bytes.len())?;
    let field = String::from_utf8(with_bcc.get(line..line + length)?.to_vec()).ok()?;
    Some((line, field))
}

/// Returns the message as it is shown until the provider has a copy of it.
fn preview(
    app: &App,
    raw: &[u8],
    composed: &OutgoingMessage,
    delivery: &MessageDelivery,
) -> Result<EmailMessage> {
    let read = read_message(raw)
        .map_err(|e| anyhow::anyhow!("a message that was built cannot be read: {}", e.message))?;
    Ok(EmailMessage {
        received_at: app.clock.now(),
        sent_at: read.message.sent_at,
        importance: composed.outgoing.importance,
        delivery: Some(delivery.clone()),
        draft: false,
        unread: false,
        size: i64::try_from(raw.len()).unwrap_or(i64::MAX),
        ..read.message
    })
}

fn normalize_copy(message_id: &str, message: EmailMessage) -> Result<NormalizedRecord> {
    let source_id = format!("{OUTGOING}{message_id}");
    let content = content(message)?;
    let item = NormalizedItem {
        kind: ResourceKind::EmailMessage,
        external_id: source_id.clone(),
        uid: Some(message_id.to_owned()),
        series_external_id: None,
        hash: hash(&content.body),
        provider_data: None,
        content,
        fingerprint: None,
        aside: None,
        partial: None,
    };
    Ok(NormalizedRecord::with_items(source_id, vec![item]))
}

async fn store(app: &App, ready: PreparedSubmission, attempt: &IdempotentAttempt) -> Result<StoredResponse> {
    let warnings = ready.submission.warnings.clone();
    let (app, attempt) = (app.clone(), attempt.clone());
    let db = app.db.clone();
    db.write(move |tx| {
        Box::pin(async move {
            let lock = crate::local_copy::change::lock(tx, &ready.place).await?;
            let item = submit_in(tx, &app, &lock, ready).await?;
            let text = render::item(&item, &warnings, false);
            let answer = StoredResponse::accepted(text)
                .etag(&item.etag)
                .header("location", ResourceKind::EmailMessage.path(&item));
            attempt.store(tx, &app.keyring, &answer, app.now()).await?;
            Ok::<_, Error>(answer)
        })
    })
    .await
}

/// Stores a message for sending, in the transaction of its cause; `lock` is that of its connection. Returns the stored message.
pub async fn submit_in<'l>(
    tx: &mut Tx,
    app: &App,
    lock: &'l ConnectionLock,
    ready: PreparedSubmission,
) -> Result<LockedRow<'l, Item>> {
    let PreparedSubmission { place, written, submission } = ready;
    let OutboxRows { row, message, copy: sent_copy, source, record, target } = written;
    let mut copy = CopyTransaction { tx, app, lock, location: &place };
    let upserted = upsert(&mut copy, std::slice::from_ref(&source), i64::MAX).await?;
    let item = upserted.items.into_iter().find(|item| item.source_id == source.source_id);
    let mut item = items::relock(lock, item.ok_or_else(|| not_found("message"))?)?;
    if !submission.metadata.is_empty() {
        let metadata = serde_json::to_string(&submission.metadata)?;
        item = set_metadata(&mut copy, item, metadata).await?;
    }
    let row = OutboxMessage { id: item.id.clone(), ..row };
    if let Some(draft) = &submission.draft {
        let draft = current_draft(copy.tx, lock, draft).await?;
        let status = if row.send_at.is_some() { DraftStatus::Scheduled } else { DraftStatus::Sending };
        let fields = [
            ("status", json!(status)),
            ("sendAt", json!(row.send_at.map(Instant::from_millis))),
            ("sentMessageId", json!(item.id)),
            ("sendError", Value::Null),
        ];
        host_fields::set(&mut copy, draft, &fields, "updated").await?;
    }
    let tx = copy.tx;
    table::insert(tx, &row, &message, sent_copy.as_deref()).await?;
    if let Some(record) = record {
        tracking_table::insert(tx, &Record { message_id: item.id.clone(), ..record }).await?;
    }
    jobs::enqueue(tx, &send_job(&row, &target), app.now()).await?;
    Ok(item)
}

/// Returns the draft if it is unchanged since it was read and is not being sent: the sent message has its content.
async fn current_draft<'l>(
    tx: &mut Tx,
    lock: &'l ConnectionLock,
    read: &Item,
) -> Result<LockedRow<'l, Item>> {
    let found = items::lock_item(tx, lock, &read.id).await?;
    let found = found.filter(|i| i.deleted_at.is_none());
    let item = found.ok_or_else(|| base::error::not_found("draft"))?;
    crate::local_copy::mail::draft_state::is_open(&item)?;
    match item.etag == read.etag {
        true => Ok(item),
        false => Err(stale(&item.etag)),
    }
}
