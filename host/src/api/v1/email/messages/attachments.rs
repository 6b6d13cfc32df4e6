//! `/v1/email/messages/{messageId}/attachments`

use std::ops::Range;

use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use base::error::{Code, Result, refuse};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use model::email::Attachment;
use runtime::Blob;
use schemars::JsonSchema;
use serde::Deserialize;
use service::app::App;
use service::app::stored_response::StoredResponse;
use service::connections::request_context::RequestContext;
use service::resources::mail::attachments::{self, AttachmentBytes, MAX_JSON};

use crate::api::operation::Priority::Mvp;
use crate::api::operation::Routes;
use crate::api::request::extractors::{Extract, Params, Path};
use crate::api::response::error::ApiError;
use crate::api::response::reply::response;

/// Bytes in flight at a time.
const PIECE: usize = 64 << 10;

/// The query string of an attachment.
#[derive(Debug, Deserialize, JsonSchema)]
struct AttachmentQuery {
    /// The form of the answer: `json` for the attachment with `contentBase64`, `raw` for the bytes of the file. If absent, the `Accept`
    /// header decides.
    format: Option<AttachmentFormat>,
}

/// The words of `format`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
enum AttachmentFormat {
    Json,
    Raw,
}

pub fn routes() -> Routes<App> {
    Routes::new("Email")
        .get("/v1/email/messages/{messageId}/attachments/{attachmentId}", "email.read", Mvp, get)
        .summary("Fetch an attachment")
        .description("Answers JSON with `contentBase64` for a file of up to 10 MiB. With `format=raw` or `Accept: application/octet-stream`, answers the bytes of a file of any size, or a part of them with `Range`.")
        .query::<AttachmentQuery>()
        .header("Range", "The part of the bytes to answer, such as `bytes=0-1023`. Used only where the answer is the bytes of the file.")
        .returns::<Attachment>()
        .return_type("application/octet-stream")
}

async fn get(
    State(app): State<App>,
    Extract(asker): Extract<RequestContext>,
    headers: HeaderMap,
    params: Params,
    Path((message_id, attachment_id)): Path<(String, String)>,
) -> Result<Response, ApiError> {
    let AttachmentQuery { format } = params.read()?;
    let accepts = headers.get(header::ACCEPT).and_then(|v| v.to_str().ok()).unwrap_or_default();
    let is_raw = match format {
        None => accepts.contains("application/octet-stream"),
        Some(format) => format == AttachmentFormat::Raw,
    };
    let fetched = attachments::fetch(&app, &asker, &message_id, &attachment_id).await?;
    match is_raw {
        true => Ok(raw(fetched, headers.get(header::RANGE))?),
        false => Ok(response(json(fetched)?)),
    }
}

fn json(AttachmentBytes { attachment, blob }: AttachmentBytes) -> Result<StoredResponse> {
    if blob.size() > MAX_JSON {
        let message =
            "an attachment of more than 10 MiB is not answered as JSON: ask for its bytes with format=raw";
        return Err(refuse(Code::PayloadTooLarge, message));
    }
    let bytes =
        blob.read(0, usize::try_from(blob.size()).unwrap_or(usize::MAX)).map_err(anyhow::Error::from)?;
    // Contract silent: whether a message learns what a fetch tells. It does not: with the size its etag would change, and whoever is
    // subscribed would be told of an update of a message that nobody touched; the next list would have to take it back, as it does not know
    // it.
    let shown = Attachment {
        size: i64::try_from(bytes.len()).ok(),
        checksum_sha256: Some(attachments::checksum(&bytes)),
        content_base64: Some(BASE64_STANDARD.encode(&bytes)),
        ..attachment
    };
    Ok(StoredResponse::ok(serde_json::to_string(&shown)?))
}

/// The bytes in pieces from the disk, never all of them in memory.
fn raw(
    AttachmentBytes { attachment, blob }: AttachmentBytes,
    range: Option<&HeaderValue>,
) -> Result<Response> {
    let size = blob.size();
    let (status, part) = match range.and_then(|r| r.to_str().ok()).map(|r| parse_range(r, size)) {
        None | Some(RangeRequest::All) => (StatusCode::OK, 0..size),
        Some(RangeRequest::Part(part)) => (StatusCode::PARTIAL_CONTENT, part),
        Some(RangeRequest::Nothing) => (StatusCode::RANGE_NOT_SATISFIABLE, 0..0),
    };
    let mut response = Response::new(Body::from_stream(pieces(blob, part.clone())));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    let mut set = |name, value: String| {
        if let Ok(value) = HeaderValue::try_from(value) {
            headers.insert(name, value);
        }
    };
    set(header::CONTENT_TYPE, attachment.content_type.clone());
    set(header::CONTENT_LENGTH, (part.end - part.start).to_string());
    set(header::ACCEPT_RANGES, "bytes".to_owned());
    set(header::CONTENT_DISPOSITION, disposition(attachment.filename.as_deref()));
    // Foreign content is never shown as a page of this service.
    set(header::X_CONTENT_TYPE_OPTIONS, "nosniff".to_owned());
    set(header::CONTENT_SECURITY_POLICY, "sandbox".to_owned());
    match status {
        StatusCode::PARTIAL_CONTENT => {
            set(header::CONTENT_RANGE, format!("bytes {}-{}/{size}", part.start, part.end - 1));
        }
        StatusCode::RANGE_NOT_SATISFIABLE => set(header::CONTENT_RANGE, format!("bytes */{size}")),
        _ => {}
    }
    Ok(response)
}

fn pieces(blob: Blob, part: Range<u64>) -> impl futures::Stream<Item = std::io::Result<Bytes>> {
    futures::stream::unfold((blob, part.start), move |(blob, at)| async move {
        if at >= part.end {
            return None;
        }
        let len = usize::try_from(part.end - at).unwrap_or(PIECE).min(PIECE);
        // The disk is read on a blocking thread.
        let read = tokio::task::spawn_blocking(move || (blob.read(at, len), blob)).await;
        match read {
            Ok((Ok(bytes), blob)) => Some((Ok(bytes), (blob, at + len as u64))),
            Ok((Err(e), blob)) => Some((Err(e), (blob, u64::MAX))),
            Err(_) => None,
        }
    })
}

/// The ranges of a Range header (RFC 9110 section 14). A single range of bytes; other headers are ignored.
#[derive(Debug, PartialEq, Eq)]
enum RangeRequest {
    All,
    Part(Range<u64>),
    Nothing,
}

fn parse_range(range: &str, size: u64) -> RangeRequest {
    let Some(spec) = range.trim().strip_prefix("bytes=") else { return RangeRequest::All };
    let Some((first, last)) = spec.split_once('-') else { return RangeRequest::All };
    let part = match (first.trim().parse::<u64>(), last.trim().parse::<u64>()) {
        (Ok(first), Ok(last)) if first <= last => first..last.saturating_add(1).min(size),
        (Ok(first), Err(_)) if last.trim().is_empty() => first..size,
        (Err(_), Ok(count)) if first.trim().is_empty() => size.saturating_sub(count)..size,
        _ => return RangeRequest::All,
    };
    if part.start >= part.end { RangeRequest::Nothing } else { RangeRequest::Part(part) }
}

/// The header of a download with its own name (RFC 6266).
fn disposition(filename: Option<&str>) -> String {
    let Some(name) = filename else { return "attachment".to_owned() };
    let plain: String = name
        .chars()
        .map(|c| if c.is_ascii_graphic() && !"\"\\%;".contains(c) || c == ' ' { c } else { '_' })
        .collect();
    let mut encoded = String::with_capacity(name.len() * 3);
    for byte in name.bytes() {
        match byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            true => encoded.push(char::from(byte)),
            false => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    format!("attachment; filename=\"{plain}\"; filename*=UTF-8''{encoded}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges() {
        for (text, want) in [
            ("bytes=0-9", RangeRequest::Part(0..10)),
            ("bytes=90-", RangeRequest::Part(90..100)),
            ("bytes=-10", RangeRequest::Part(90..100)),
            ("bytes=-1000", RangeRequest::Part(0..100)),
            ("bytes=95-1000", RangeRequest::Part(95..100)),
            ("bytes=100-", RangeRequest::Nothing),
            ("bytes=-0", RangeRequest::Nothing),
            ("bytes=9-0", RangeRequest::All),
            ("bytes=0-1,5-6", RangeRequest::All),
            ("items=0-9", RangeRequest::All),
            ("bytes=x-y", RangeRequest::All),
        ] {
            assert_eq!(parse_range(text, 100), want, "{text}");
        }
    }

    #[test]
    fn names_cannot_break_out() {
        assert_eq!(disposition(None), "attachment");
        assert_eq!(
            disposition(Some("Grüße \"x\"; a=b\r\n.pdf")),
            "attachment; filename=\"Gr__e _x__ a=b__.pdf\"; filename*=UTF-8''Gr%C3%BC%C3%9Fe%20%22x%22%3B%20a%3Db%0D%0A.pdf"
        );
    }
}
