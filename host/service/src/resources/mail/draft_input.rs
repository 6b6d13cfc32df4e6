//! Input for drafts: a whole draft, or changes of an existing one.

use ::mail::foreign;
use base::error::Result;
use base::input::errors::{field_error, parse};
use base::input::metadata;
use base::input::validate::{fault, text};
use model::Instant;
use model::bounds::mail::{MAX_AHEAD_DAYS, MAX_HEADERS, MAX_SUBJECT, MAX_TRACKING_LABEL};
use model::email::send::{NewAttachment, NewBody};
use model::email::{EmailAddress, EmailMessage, TrackingSettings};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::local_copy::mail::render_draft::DraftHostFields;
use crate::resources::mail::compose::{DraftContent, ReplyReference};

/// Fields that an author writes.
const WRITABLE: [&str; 14] = [
    "from",
    "to",
    "cc",
    "bcc",
    "replyTo",
    "subject",
    "body",
    "attachments",
    "headers",
    "importance",
    "replyToMessageId",
    "replyMode",
    "sendAt",
    "tracking",
];
/// Takes the known fields out of a body and parses them by their types.
pub fn typed<T: DeserializeOwned>(input: &mut Map<String, Value>) -> Result<T> {
    let mut known = Map::new();
    for name in WRITABLE {
        if let Some(value) = input.remove(name).filter(|v| !v.is_null()) {
            known.insert(name.to_owned(), value);
        }
    }
    parse(&Value::Object(known))
}

fn field<T: DeserializeOwned>(
    input: &mut Map<String, Value>,
    name: &str,
    before: Option<T>,
) -> Result<Option<T>> {
    match input.remove(name) {
        None => Ok(before),
        Some(Value::Null) => Ok(None),
        Some(value) => serde_path_to_error::deserialize(&value).map(Some).map_err(|e| {
            let path = e.path().to_string();
            let field = if path == "." { name.to_owned() } else { format!("{name}.{path}") };
            field_error(&field, &e.inner().to_string())
        }),
    }
}

/// Takes the caller's notes out of a body; `null` clears them. None if the body has none.
pub fn taken_metadata(input: &mut Map<String, Value>) -> Result<Option<model::resource::Metadata>> {
    if input.get("metadata").is_some_and(Value::is_null) {
        input.remove("metadata");
        return Ok(Some(model::resource::Metadata::new()));
    }
    let found: Option<model::resource::Metadata> = field(input, "metadata", None)?;
    if let Some(map) = &found {
        metadata::check("metadata", map)?;
    }
    Ok(found)
}

/// Takes the fields that the service keeps of a draft. `now_ms`: the time at which the request was made first.
pub fn take_host_fields(
    now_ms: i64,
    input: &mut Map<String, Value>,
    before: &DraftHostFields,
) -> Result<DraftHostFields> {
    let own = DraftHostFields {
        send_at: field(input, "sendAt", before.send_at)?,
        tracking: field(input, "tracking", before.tracking.clone())?,
        reply_to_message_id: field(input, "replyToMessageId", before.reply_to_message_id.clone())?,
        reply_mode: field(input, "replyMode", before.reply_mode)?,
    };
    // The time of a draft that was written earlier may have come since, also where a client sends it back unchanged.
    send_at(now_ms, own.send_at.filter(|at| before.send_at != Some(*at)))?;
    tracking(own.tracking.as_ref())?;
    Ok(own)
}

/// Applies a patch to a draft. Attachments that the patch does not name stay.
pub fn merged(
    message: &EmailMessage,
    content: &crate::local_copy::mail::render_content::MessageContent,
    id: &str,
    input: &mut Map<String, Value>,
) -> Result<DraftContent> {
    let body = content.body.clone().unwrap_or_default();
    let mut before = content_before(message, content, id);
    before.body = NewBody { text: body.text, html: body.html };
    if let Some(Value::Array(files)) = input.get_mut("attachments") {
        files.iter_mut().for_each(|file| as_reference(file, id));
    }
    let body = match input.remove("body") {
        None => before.body.clone(),
        Some(Value::Null) => NewBody::default(),
        Some(Value::Object(fields)) => body_over(&before.body, fields)?,
        Some(_) => return Err(fault("body", "must be an object with text and html")),
    };
    let is_cleared = |name: &str| input.get(name).is_some_and(Value::is_null);
    let given: Vec<String> = input.keys().cloned().collect();
    let cleared: Vec<String> = given.iter().filter(|name| is_cleared(name)).cloned().collect();
    let new: DraftContent = typed(input)?;
    let has = |name: &str| given.iter().any(|g| g == name);
    text("subject", new.subject.as_deref(), MAX_SUBJECT)?;
    for name in cleared {
        input.remove(&name);
    }
    macro_rules! take {
        ($($name:literal => $field:ident),*) => { $( if has($name) { before.$field = new.$field; } )* };
    }
    take!("from" => from, "to" => to, "cc" => cc, "bcc" => bcc, "replyTo" => reply_to, "subject" => subject,
        "attachments" => attachments, "headers" => headers, "importance" => importance);
    before.body = body;
    Ok(before)
}

/// RFC 7396: absent keeps, null clears.
fn body_over(before: &NewBody, mut fields: Map<String, Value>) -> Result<NewBody> {
    let body = NewBody {
        text: field(&mut fields, "text", before.text.clone())?,
        html: field(&mut fields, "html", before.html.clone())?,
    };
    Ok(body)
}

/// The content of an existing draft. Another program may have written it: parts that cannot be written as they are are corrected or left
/// out.
pub fn content_before(
    message: &EmailMessage,
    content: &crate::local_copy::mail::render_content::MessageContent,
    id: &str,
) -> DraftContent {
    let people = |list: &[EmailAddress]| list.iter().map(foreign::address).collect::<Vec<_>>();
    let attachment = |a: &model::email::Attachment| NewAttachment {
        attachment_ref: Some(model::email::send::AttachmentRef {
            message_id: id.to_owned(),
            attachment_id: a.id.clone(),
        }),
        ..NewAttachment::default()
    };
    DraftContent {
        from: people(&message.from),
        to: people(&message.to),
        cc: people(&message.cc),
        bcc: people(&message.bcc),
        reply_to: people(&message.reply_to),
        subject: message.subject.as_deref().map(foreign::subject),
        body: NewBody::default(),
        attachments: message.attachments.iter().map(attachment).collect(),
        headers: foreign::headers(&content.headers, MAX_HEADERS),
        importance: message.importance,
        kept: Some(ReplyReference {
            in_reply_to: message.in_reply_to.clone(),
            references: message.references.clone(),
        }),
        ..DraftContent::default()
    }
}

/// Replaces a file that is sent back as a read showed it by a reference to the stored one.
fn as_reference(file: &mut Value, draft_id: &str) {
    let Some(fields) = file.as_object_mut() else { return };
    let Some(Value::String(id)) = fields.get("id").cloned() else { return };
    if fields.get("contentBase64").is_some_and(|v| !v.is_null()) {
        return;
    }
    let reference = json!({ "attachmentRef": { "messageId": draft_id, "attachmentId": id } });
    *file = reference;
}

/// Longest delay of a scheduled message, ms.
const MAX_AHEAD_MS: i64 = MAX_AHEAD_DAYS * 86_400_000;

/// How far the time of a scheduled message may lie back, for clocks that differ, ms.
const MAX_BEHIND_MS: i64 = 60_000;

/// Checks the time of a scheduled message: neither in the past nor more than 90 days ahead. `now_ms`: the time at which the request was made
/// first, so that repeating it later has the same outcome.
pub fn send_at(now_ms: i64, at: Option<Instant>) -> Result<()> {
    let Some(at) = at else { return Ok(()) };
    let ahead_ms = at.as_millis().saturating_sub(now_ms);
    if ahead_ms > MAX_AHEAD_MS {
        return Err(fault("sendAt", &format!("must lie at most {MAX_AHEAD_DAYS} days ahead")));
    }
    if ahead_ms < -MAX_BEHIND_MS {
        let message = format!(
            "lies in the past: it is {} now. Leave it out to send at once",
            Instant::from_millis(now_ms)
        );
        return Err(fault("sendAt", &message));
    }
    Ok(())
}

/// Checks tracking settings.
pub fn tracking(settings: Option<&TrackingSettings>) -> Result<()> {
    let label = settings.and_then(|t| t.label.as_deref());
    base::input::validate::text("tracking.label", label, MAX_TRACKING_LABEL)
}
