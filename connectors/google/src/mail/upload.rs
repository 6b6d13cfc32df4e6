//! Uploads: a message with its metadata, in one request (RFC 2387 `multipart/related`). The message goes from its blob to Gmail and not
//! through here, and may have any size that Gmail takes; in JSON it could have a few megabytes.

use connector_sdk::http::{Request, Segment};
use connector_sdk::{Context, Failure, Outcome, code};
use model::email::EmailMessage;
use serde_json::Value;

/// The query of every upload.
pub const MULTIPART: (&str, &str) = ("uploadType", "multipart");
/// The largest message that is sent or kept as a draft, bytes.
pub const MAX_SENT_BYTES: u64 = 36_700_160;
/// The largest message that is stored without sending it, bytes.
pub const MAX_STORED_BYTES: u64 = 157_286_400;

/// Bytes of a message's header that are read.
const MAX_HEAD_BYTES: usize = mail::read::limits::HEADER_BYTES;
/// Random bytes of a boundary: no message can have it in it on purpose.
const BOUNDARY_BYTES: u32 = 16;

/// A message to upload.
pub struct MessageUpload<'a> {
    /// With [`MULTIPART`] in its query.
    pub url: String,
    /// JSON beside the message.
    pub metadata: Value,
    /// Header fields before those of the message, each with its line end.
    pub fields: &'a str,
    pub blob: &'a str,
}

impl MessageUpload<'_> {
    /// Returns the request that uploads it.
    pub fn request(self, context: &Context, method: &str) -> Request {
        let random = context.random_bytes(BOUNDARY_BYTES);
        let boundary: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
        let MessageUpload { url, metadata, fields, blob } = self;
        let head = format!(
            "--{boundary}\r\nContent-Type: application/json; charset=UTF-8\r\n\r\n{metadata}\r\n\
             --{boundary}\r\nContent-Type: message/rfc822\r\n\r\n{fields}"
        );
        let request = Request::new(method, url);
        let request = request.header("content-type", format!("multipart/related; boundary={boundary}"));
        let body = vec![
            Segment::Bytes(head.into_bytes()),
            Segment::Blob(blob.to_owned()),
            Segment::Bytes(format!("\r\n--{boundary}--\r\n").into_bytes()),
        ];
        Request { body, ..request }
    }
}

/// Returns the size of a message in bytes. Fails with `invalid` where Gmail takes less.
pub fn checked_size(context: &Context, blob: &str, max: u64) -> Outcome<u64> {
    match context.host().blob_size(blob) {
        Some(size) if size <= max => Ok(size),
        Some(_) => Err(Failure::invalid(format!("Gmail takes messages of at most {max} bytes here"))),
        None => Err(missing_blob()),
    }
}

fn missing_blob() -> Failure {
    Failure::new(code::INTERNAL, "the message of the call is missing")
}

/// Returns what the header of a message says. Fails with `invalid` where it is too large to be read.
pub fn read_header(context: &Context, blob: &str) -> Outcome<EmailMessage> {
    let max = u32::try_from(MAX_HEAD_BYTES).unwrap_or(u32::MAX);
    let bytes = context.host().read_blob(blob, 0, max).ok_or_else(missing_blob)?;
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n");
    match end.and_then(|end| bytes.get(..end + 2)) {
        Some(head) => Ok(mail::read::headers(head)),
        None if bytes.len() < MAX_HEAD_BYTES => Ok(mail::read::headers(&bytes)),
        None => Err(Failure::invalid("the header of the message is too large")),
    }
}

#[cfg(test)]
mod tests {
    use connector_sdk::testing::{Recorded, body};
    use model::wire::Connection;
    use serde_json::json;

    use super::*;

    #[test]
    fn the_message_stands_between_the_boundaries() {
        let host = Recorded::new();
        let context = Context::new(&host, Connection::default());
        let upload = || MessageUpload {
            url: "https://x.test/upload".to_owned(),
            metadata: json!({ "threadId": "t1" }),
            fields: "X-A: b\r\n",
            blob: "b1",
        };
        let request = upload().request(&context, "PUT");
        let content_type = request.headers[0].1.clone();
        let boundary = content_type.strip_prefix("multipart/related; boundary=").unwrap();
        assert_eq!((request.method.as_str(), boundary.len()), ("PUT", 32));
        let expected = format!(
            "--{boundary}\r\nContent-Type: application/json; charset=UTF-8\r\n\r\n{{\"threadId\":\"t1\"}}\r\n\
             --{boundary}\r\nContent-Type: message/rfc822\r\n\r\nX-A: b\r\n<blob b1>\r\n--{boundary}--\r\n"
        );
        assert_eq!(String::from_utf8(body(&request)).unwrap(), expected);
        assert_ne!(upload().request(&context, "PUT").headers[0].1, content_type, "another one each time");
    }
}
