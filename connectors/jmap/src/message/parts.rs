//! The files in a message, their ids, and the hint to read them again.

use model::email::{Attachment, CalendarMethod, Disposition};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::protocol::email::{Email, Part};

/// Most attachments of a message that are returned.
const ATTACHMENTS: usize = 1000;

/// Most attachments whose type is kept in the hint; that of others is asked for.
const TYPES: usize = 32;

/// The media type of bytes of which nothing is known.
pub const BYTES: &str = "application/octet-stream";

/// `Item.hint` of a message.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Hint {
    /// The blob of the whole message.
    pub blob_id: Option<String>,
    /// The media types of its attachments, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub types: Vec<(String, String)>,
}

impl Hint {
    /// Parses the hint that the host sends back.
    pub fn read(hint: Option<&Value>) -> Self {
        hint.and_then(|hint| serde_json::from_value(hint.clone()).ok()).unwrap_or_default()
    }

    /// The media type of this attachment.
    pub fn media_type(&self, part: &str) -> Option<&str> {
        self.types.iter().find(|(id, _)| id == part).map(|(_, media_type)| media_type.as_str())
    }
}

/// Returns the hint that the host sends back when the message is read again.
pub fn hint(email: &Email) -> Option<Value> {
    let types = files(email).filter_map(|(id, part)| Some((id, media_type(part)?))).take(TYPES).collect();
    let hint = Hint { blob_id: email.blob_id.clone(), types };
    serde_json::to_value(hint).ok()
}

/// The name of an attachment, `part:blob`: two parts with the same bytes have one blob.
pub fn name(part: &Part) -> Option<String> {
    Some(format!("{}:{}", part.part_id.as_deref()?, part.blob_id.as_deref()?))
}

/// The blob of an attachment of this name. Blob ids have no colon (RFC 8620 section 1.2).
pub fn blob_id(name: &str) -> Option<&str> {
    name.rsplit_once(':').map(|(_, blob)| blob).filter(|blob| !blob.is_empty())
}

/// A part's media type, lower case.
pub fn media_type(part: &Part) -> Option<String> {
    part.media_type.as_deref().map(str::to_ascii_lowercase).filter(|name| !name.is_empty())
}

fn files(email: &Email) -> impl Iterator<Item = (String, &Part)> {
    let files = email.attachments.iter().flatten().take(ATTACHMENTS);
    files.filter_map(|part| Some((name(part)?, part)))
}

/// The files in the message.
pub fn attachments(email: &Email) -> Vec<Attachment> {
    files(email).map(|(id, part)| attachment(id, part)).collect()
}

fn attachment(id: String, part: &Part) -> Attachment {
    let content_type = media_type(part).unwrap_or_else(|| BYTES.to_owned());
    // An unknown one is `attachment` (RFC 2183 section 2.8).
    let disposition = part.disposition.as_deref().map(|name| match name.eq_ignore_ascii_case("inline") {
        true => Disposition::Inline,
        false => Disposition::Attachment,
    });
    Attachment {
        id,
        filename: part.name.as_deref().and_then(mail::read::file_name),
        is_message: matches!(content_type.as_str(), "message/rfc822" | "message/global"),
        content_type,
        size: part.size,
        inline: disposition == Some(Disposition::Inline) || disposition.is_none() && part.cid.is_some(),
        content_id: part.cid.clone(),
        disposition,
        ..Attachment::default()
    }
}

/// The method of the invitation in the message (RFC 6047 section 2.4), of those that the model has.
pub fn calendar_method(email: &Email) -> Option<CalendarMethod> {
    let mut parts = email.attachments.iter().flatten().take(ATTACHMENTS);
    let field = parts.find_map(|part| {
        media_type(part).filter(|name| name == "text/calendar").and(part.content_type.as_deref())
    })?;
    let method = field.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim()
            .eq_ignore_ascii_case("method")
            .then(|| value.trim().trim_matches('"').to_ascii_lowercase())
    })?;
    match method.as_str() {
        "request" => Some(CalendarMethod::Request),
        "reply" => Some(CalendarMethod::Reply),
        "cancel" => Some(CalendarMethod::Cancel),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Hint, attachments, blob_id, calendar_method, hint};
    use crate::protocol::email::Email;

    #[test]
    fn an_attachment_is_named_by_part_and_blob() {
        let email: Email = serde_json::from_value(json!({ "id": "e", "blobId": "b", "attachments": [
            { "partId": "1.2", "blobId": "Gx", "type": "Application/PDF", "disposition": "odd" },
            { "partId": "1.3", "blobId": "Gx", "type": "message/rfc822" },
            { "partId": "1.4", "type": "multipart/mixed" },
        ] }))
        .unwrap();
        let all = attachments(&email);
        assert_eq!(all.iter().map(|one| one.id.as_str()).collect::<Vec<_>>(), ["1.2:Gx", "1.3:Gx"]);
        assert!(!all[0].inline && all[1].is_message);
        assert_eq!(blob_id("a:b:Gx"), Some("Gx"));
        assert_eq!((blob_id("x"), blob_id("x:")), (None, None));
        let read = Hint::read(hint(&email).as_ref());
        assert_eq!(read.blob_id.as_deref(), Some("b"));
        assert_eq!(read.media_type("1.2:Gx"), Some("application/pdf"));
        assert_eq!(Hint::read(Some(&json!("odd"))), Hint::default());
    }

    #[test]
    fn other_methods_of_invitations_are_none_of_ours() {
        let method = |field: &str| {
            let part = json!({ "type": "text/calendar", "header:Content-Type": field });
            let email: Email = serde_json::from_value(json!({ "id": "e", "attachments": [part] })).unwrap();
            calendar_method(&email)
        };
        assert!(method("text/calendar; method=CANCEL").is_some());
        assert_eq!(method("text/calendar; method=PUBLISH"), None);
        assert_eq!(method("text/calendar"), None);
    }
}
