//! Inserts text and HTML of a message into its rendered form.

use std::collections::HashMap;

use base::error::Result;
use model::email::{EmailBody, EmailHeader};
use serde_json::{Map, Value, json};

/// The content of a message that is not stored.
#[derive(Clone, Debug, Default)]
pub struct MessageContent {
    pub headers: Vec<EmailHeader>,
    pub body: Option<EmailBody>,
}

impl MessageContent {
    /// Returns the number of bytes to sanitize.
    pub fn bytes(&self) -> usize {
        self.body.iter().flat_map(|b| [&b.text, &b.html]).flatten().map(String::len).sum()
    }
}

/// Returns a rendered message with its headers and its text.
pub fn with_content(text: &str, content: MessageContent, with_images: bool) -> Result<String> {
    let mut message: Map<String, Value> = serde_json::from_str(text)?;
    let cids = cids(&message);
    let cid = |id: &str| cids.get(id).cloned();
    let options = ::mail::html::Safe { images: with_images, cid: &cid };
    let html = content.body.as_ref().and_then(|b| b.html.as_deref());
    let safe = html.map(|html| ::mail::html::safe(html, &options));
    if let Some(mut body) = content.body {
        body.safe_html = safe;
        message.insert("body".into(), json!(body));
    }
    message.insert("headers".into(), json!(content.headers));
    Ok(Value::Object(message).to_string())
}

/// Returns the URLs of the images that a message's HTML shows, by content id.
pub(crate) fn cids(message: &Map<String, Value>) -> HashMap<String, String> {
    let attachments = message.get("attachments").and_then(Value::as_array);
    let of = |a: &Value| {
        let id = a.get("contentId")?.as_str()?.to_owned();
        Some((id, format!("{}?format=raw", a.get("downloadUrl")?.as_str()?)))
    };
    attachments.into_iter().flatten().filter_map(of).collect()
}

/// Returns the text and the headers of a message of ours.
pub fn content_of(bytes: &[u8]) -> crate::local_copy::mail::render_content::MessageContent {
    let Ok(read) = ::mail::read::message(bytes) else {
        return crate::local_copy::mail::render_content::MessageContent::default();
    };
    let body = EmailBody { text: read.text, html: read.html, charset: read.charset, ..EmailBody::default() };
    crate::local_copy::mail::render_content::MessageContent { headers: read.headers, body: Some(body) }
}
