//! Messages and threads as they are answered.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE;
use serde_json::{Value, json};

use crate::google::call::Call;
use crate::google::errors::ApiError;
use crate::google::mail::mailbox::{MailRecord, Mailbox};
use crate::google::mail::mime::{self, PayloadDetail};
use crate::google::mail::not_found;

/// The form in which a message is answered.
pub enum MessageFormat {
    Minimal,
    Raw,
    Parts(PayloadDetail),
}

impl MessageFormat {
    /// The form that a call asks for.
    ///
    /// # Errors
    /// The token may read heads alone, and the call asks for more: 403.
    pub fn read(call: &Call) -> Result<MessageFormat, ApiError> {
        let format = call.parameter("format").unwrap_or("full");
        if call.reads_heads_alone() && (format == "full" || format == "raw") {
            return Err(ApiError::named(403, "forbidden", "Metadata scope doesn't allow format FULL"));
        }
        let wanted: Vec<String> = call.all("metadataHeaders").map(str::to_owned).collect();
        let wanted = Some(wanted).filter(|wanted| !wanted.is_empty());
        Ok(match format {
            "minimal" => MessageFormat::Minimal,
            "raw" => MessageFormat::Raw,
            "metadata" => MessageFormat::Parts(PayloadDetail::Metadata(wanted)),
            _ => MessageFormat::Parts(PayloadDetail::Full),
        })
    }
}

/// The ids and labels of a message, as most changes answer them.
pub fn short_value(message: &MailRecord) -> Value {
    json!({ "id": message.id, "threadId": message.thread_id, "labelIds": message.label_list() })
}

/// A message in a format. Ids of its attachments are new at each read.
///
/// # Errors
/// There is no such message, or it cannot be read yet: 404.
pub fn message_value(
    mailbox: &mut Mailbox,
    id: &str,
    format: &MessageFormat,
    now_ms: i64,
) -> Result<Value, ApiError> {
    let message = mailbox.messages.get(id).filter(|message| message.readable_ms <= now_ms);
    let message = message.ok_or_else(not_found)?.clone();
    let mut value = short_value(&message);
    value["historyId"] = message.history_id.to_string().into();
    value["internalDate"] = message.internal_ms.to_string().into();
    value["sizeEstimate"] = message.raw.len().into();
    value["snippet"] = mime::snippet(&message.raw).into();
    match format {
        MessageFormat::Minimal => {}
        MessageFormat::Raw => value["raw"] = BASE64_URL_SAFE.encode(&message.raw).into(),
        MessageFormat::Parts(_) if message.lacks_payload => {}
        MessageFormat::Parts(detail) => {
            let mut attachment_id = |part: &str| {
                let text = format!("ANGjdJ_fake-{}-{part}", mailbox.number());
                let of = (id.to_owned(), part.to_owned());
                mailbox.attachment_ids.insert(text.clone(), of);
                text
            };
            value["payload"] = mime::payload(&message.raw, detail, &mut attachment_id);
        }
    }
    Ok(value)
}
