//! Upload sessions of large attachments: created at Graph, and filled at another host that takes no credentials but those in the address.

use serde_json::{Value, json};

use crate::door::{Ask, Reply};
use crate::graph::call::{GraphCall, json_reply};
use crate::graph::errors::{GraphError, GraphResult};
use crate::graph::facts;
use crate::graph::ids;
use crate::graph::mail::attachments::{add, next_number};
use crate::graph::mail::content::{AttachmentKind, StoredAttachment};
use crate::graph::mail::messages::draft_alone;
use crate::graph::mail::{action_parameter, find_message, notify_subscriptions, store_mut};
use crate::graph::state::GraphState;
use crate::graph::times::stamp;

/// An upload that is under way.
#[derive(Clone, Debug)]
pub struct UploadSession {
    message: u64,
    /// With the bytes that came so far.
    attachment: StoredAttachment,
    size: usize,
    expires_ms: i64,
    /// The beginning of the attachment's address.
    address: String,
    /// The attachment's id in its address is the immutable one.
    has_immutable_id: bool,
}

/// `POST /messages/{id}/attachments/createUploadSession`
pub fn create(state: &mut GraphState, call: &GraphCall, message: u64) -> GraphResult {
    let life = facts::milliseconds("mail_limits", "upload_life_s");
    let (expires_ms, origin) = (state.clock.now_ms() + life, state.upload_origin.clone());
    let store = store_mut(state, call)?;
    let item = find_message(store, message)?;
    draft_alone(item)?;
    let given = action_parameter(call, "attachmentItem");
    let (name, size) =
        (given["name"].as_str(), given["size"].as_u64().and_then(|size| usize::try_from(size).ok()));
    let missing =
        || GraphError::new(400, "ErrorInvalidRequest", "AttachmentItem needs attachmentType, name and size.");
    let (name, size) = (name.ok_or_else(missing)?, size.ok_or_else(missing)?);
    if given["attachmentType"] != "file" {
        return Err(missing());
    }
    if size < facts::number("mail_limits", "attachment_bytes") {
        let code = "ErrorAttachmentSizeShouldNotBeLessThanMinimumSize";
        return Err(GraphError::new(400, code, "Attachments below 3 MB need no upload session."));
    }
    if size > facts::number("mail_limits", "upload_most_bytes") {
        let message = "The message exceeds the maximum supported size.";
        return Err(GraphError::new(413, "ErrorMessageSizeExceeded", message));
    }
    let attachment = StoredAttachment {
        number: next_number(item),
        kind: AttachmentKind::File,
        name: name.to_owned(),
        content_type: given["contentType"].as_str().unwrap_or("application/octet-stream").to_owned(),
        content_id: given["contentId"].as_str().map(str::to_owned),
        content_location: None,
        is_inline: given["isInline"] == true,
        bytes: Vec::new(),
    };
    let id: String =
        url::form_urlencoded::byte_serialize(call.id_of(&item.key(), item.place).as_bytes()).collect();
    let address = format!("{origin}/api/v2.0/Users('{}')/Messages('{id}')", call.account_id);
    let token = format!("eyJfake{:016x}", store.number().wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let upload_url = format!("{address}/AttachmentSessions('{token}')?authtoken={token}");
    let has_immutable_id = call.prefer.immutable_ids;
    let session = UploadSession { message, attachment, size, expires_ms, address, has_immutable_id };
    store.uploads.insert(token, session);
    let context = format!("{}/$metadata#microsoft.graph.uploadSession", call.link_root);
    let body = json!({
        "@odata.context": context,
        "uploadUrl": upload_url,
        "expirationDateTime": stamp(expires_ms),
        "nextExpectedRanges": ["0-"],
    });
    Ok(json_reply(201, &body))
}

/// Answers a request to the upload host.
pub fn answer(state: &mut GraphState, ask: &Ask) -> Reply {
    let reply = answer_session(state, ask).unwrap_or_else(|error| error.reply());
    notify_subscriptions(state);
    reply
}

fn answer_session(state: &mut GraphState, ask: &Ask) -> GraphResult {
    let now = state.clock.now_ms();
    let token = ask.parameter("authtoken").unwrap_or_default().to_owned();
    let gone = || GraphError::new(404, "ErrorItemNotFound", "The upload session was not found.");
    let store = state.mail.values_mut().find(|store| store.uploads.contains_key(&token)).ok_or_else(gone)?;
    let session =
        store.uploads.get_mut(&token).filter(|session| session.expires_ms > now).ok_or_else(gone)?;
    match ask.method.as_str() {
        "GET" => Ok(Reply::json(200, &session.status())),
        "DELETE" => {
            store.uploads.remove(&token);
            Ok(Reply::new(204))
        }
        "PUT" => {
            session.take(ask)?;
            if session.attachment.bytes.len() < session.size {
                return Ok(Reply::json(200, &session.status()));
            }
            let Some(done) = store.uploads.remove(&token) else { return Err(gone()) };
            let item = find_message(store, done.message)?;
            let mut attachment = done.attachment;
            // Another attachment may have come meanwhile.
            attachment.number = next_number(item);
            let (key, place) = (format!("attachment-{}-{}", item.number, attachment.number), item.place);
            let id = if done.has_immutable_id { ids::immutable(&key) } else { ids::mutable(&key, place) };
            let location = format!("{}/Attachments('{id}')", done.address);
            add(store, done.message, attachment, now);
            Ok(Reply::new(201).header("location", &location))
        }
        _ => Err(GraphError::new(405, "ErrorInvalidRequest", "An upload session takes GET, PUT and DELETE.")),
    }
}

impl UploadSession {
    fn status(&self) -> Value {
        json!({
            "expirationDateTime": stamp(self.expires_ms),
            "nextExpectedRanges": [self.attachment.bytes.len().to_string()],
        })
    }

    /// Takes the slice of a request, which begins where the last one ended.
    ///
    /// # Errors
    /// Content-Range is missing, or does not fit what came so far, the size or the body: 400, 413, 416.
    fn take(&mut self, ask: &Ask) -> Result<(), GraphError> {
        let invalid = |message: &str| GraphError::new(400, "ErrorInvalidContentRange", message);
        if ask.body.len() > facts::number("mail_limits", "slice_bytes") {
            return Err(GraphError::too_large());
        }
        let range = ask.header("content-range").and_then(parse_range);
        let range =
            range.ok_or_else(|| invalid("Content-Range is missing, or not 'bytes first-last/size'."))?;
        if range.size != self.size || range.last >= range.size || range.first > range.last {
            return Err(invalid("Content-Range does not fit the size of the attachment."));
        }
        if range.last - range.first + 1 != ask.body.len() {
            return Err(invalid("Content-Range does not fit the length of the content."));
        }
        if range.first != self.attachment.bytes.len() {
            let message =
                format!("The range starts at {}, expected {}.", range.first, self.attachment.bytes.len());
            return Err(GraphError::new(416, "ErrorInvalidRange", &message));
        }
        self.attachment.bytes.extend_from_slice(&ask.body);
        Ok(())
    }
}

/// The value of Content-Range.
#[derive(Debug, PartialEq, Eq)]
struct SliceRange {
    first: usize,
    last: usize,
    size: usize,
}

fn parse_range(text: &str) -> Option<SliceRange> {
    let (range, size) = text.strip_prefix("bytes ")?.split_once('/')?;
    let (first, last) = range.split_once('-')?;
    Some(SliceRange { first: first.parse().ok()?, last: last.parse().ok()?, size: size.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http::{HeaderMap, HeaderValue};

    use super::{SliceRange, UploadSession, parse_range};
    use crate::door::Ask;
    use crate::graph::mail::content::{AttachmentKind, StoredAttachment};

    fn put(range: &str, bytes: &'static [u8]) -> Ask {
        let mut headers = HeaderMap::new();
        headers.insert("content-range", HeaderValue::from_str(range).expect("a range"));
        Ask::new("PUT", "/api/v2.0/x", "authtoken=x", headers, Bytes::from_static(bytes))
    }

    #[test]
    fn slices_come_in_order_and_fit_their_range() {
        let attachment = StoredAttachment {
            number: 1,
            kind: AttachmentKind::File,
            name: "a.bin".to_owned(),
            content_type: "text/plain".to_owned(),
            content_id: None,
            content_location: None,
            is_inline: false,
            bytes: Vec::new(),
        };
        let mut session = UploadSession {
            message: 1,
            attachment,
            size: 6,
            expires_ms: 0,
            address: String::new(),
            has_immutable_id: true,
        };
        assert_eq!(parse_range("bytes 0-2/6"), Some(SliceRange { first: 0, last: 2, size: 6 }));
        let mut status =
            |range: &str, bytes| session.take(&put(range, bytes)).map_or_else(|error| error.status, |()| 200);
        assert_eq!(status("bytes 3-5/6", b"def"), 416);
        assert_eq!(status("bytes 0-2/6", b"abc"), 200);
        assert_eq!(status("bytes 0-2/6", b"abc"), 416);
        assert_eq!(status("bytes 3-5/7", b"def"), 400);
        assert_eq!(status("bytes 3-5/6", b"de"), 400);
        assert_eq!(status("3-5/6", b"def"), 400);
        assert_eq!(status("bytes 3-5/6", b"def"), 200);
        assert_eq!(session.attachment.bytes, b"abcdef");
    }
}
