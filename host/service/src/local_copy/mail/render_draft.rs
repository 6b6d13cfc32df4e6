//! A stored draft as the API renders it.

use base::error::Result;
use model::Instant;
use model::email::TrackingSettings;
use model::email::draft::DraftStatus;
use serde_json::{Map, Value, json};
use storage::items::Item;

use crate::local_copy::render;

/// The fields of a draft that the host stores for its author.
#[derive(Clone, Debug, Default)]
pub struct DraftHostFields {
    pub send_at: Option<Instant>,
    pub tracking: Option<TrackingSettings>,
    pub reply_to_message_id: Option<String>,
    pub reply_mode: Option<model::email::draft::ReplyMode>,
}

impl DraftHostFields {
    pub(crate) fn fields(&self) -> Vec<(&'static str, Value)> {
        vec![
            ("status", json!(DraftStatus::Draft)),
            ("sendAt", json!(self.send_at)),
            ("tracking", json!(self.tracking)),
            ("replyToMessageId", json!(self.reply_to_message_id)),
            ("replyMode", json!(self.reply_mode)),
            ("sendError", Value::Null),
        ]
    }
}

/// Returns a draft as it is shown: a message without a time of receipt.
pub fn render_with_host_fields(
    item: &Item,
    content: Option<&crate::local_copy::mail::render_content::MessageContent>,
    warnings: &[Value],
    with_provider_data: bool,
) -> Result<String> {
    let text = render::item(item, warnings, with_provider_data);
    let text = match content {
        Some(content) => compute::at_once(content.bytes(), || {
            crate::local_copy::mail::render_content::with_content(&text, content.clone(), false)
        })?,
        None => text,
    };
    without_time(&text)
}

/// Removes the time of receipt from a rendered draft.
pub fn without_time(text: &str) -> Result<String> {
    let mut draft: Map<String, Value> = serde_json::from_str(text)?;
    draft.shift_remove("receivedAt");
    Ok(Value::Object(draft).to_string())
}
