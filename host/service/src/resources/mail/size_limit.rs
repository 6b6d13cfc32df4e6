//! Checks that a message is not larger than the provider of its account takes.

use base::error::Result;
use base::input::validate::fault;
use model::wire::email::MailFeatures;
use runtime::Surface;
use serde_json::json;
use storage::connections::Connection;

use crate::app::App;
use crate::connections::provider_call::fetch;
use crate::connections::request_context::RequestContext;
use crate::sending::message::OutgoingMessage;

/// Bytes of a message that every provider takes: a smaller one is sent without asking.
const ALWAYS_TAKEN_BYTES: usize = 1 << 20;

/// The size of a message.
#[derive(Clone, Copy, Debug)]
pub struct MessageSize {
    bytes: usize,
    /// The field that makes most of it.
    field: &'static str,
}

impl MessageSize {
    /// The size of a message as it is sent, with its attachments in base64.
    pub fn of(message: &OutgoingMessage) -> MessageSize {
        let field = if message.outgoing.attachments.is_empty() { "body" } else { "attachments" };
        MessageSize { bytes: message.built.bytes.len(), field }
    }
}

/// Refuses a message that is larger than the `maxMessageBytes` of the account. If the connector does not answer now, or names no limit, the
/// provider decides when the message is sent.
pub async fn check(
    app: &App,
    asker: &RequestContext,
    connection: &Connection,
    size: MessageSize,
) -> Result<()> {
    if size.bytes <= ALWAYS_TAKEN_BYTES {
        return Ok(());
    }
    let features: Result<MailFeatures> =
        fetch(app, connection, asker, Surface::Email, "capabilities", &json!({})).await;
    let most = features.ok().and_then(|features| features.max_message_bytes);
    match most.and_then(|most| usize::try_from(most).ok()).filter(|most| size.bytes > *most) {
        None => Ok(()),
        Some(most) => {
            let advice = format!(
                "must be smaller: the message has {} bytes as it is sent, this account can send {most}",
                size.bytes
            );
            Err(fault(size.field, &advice))
        }
    }
}
