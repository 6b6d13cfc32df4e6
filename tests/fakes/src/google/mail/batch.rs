//! Batches: requests in the parts of one, and their answers.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue};

use crate::door::{Ask, Reply};
use crate::google::errors::ApiError;
use crate::google::facts;
use crate::google::mail::{invalid, multipart};

/// The line between the parts of an answer.
const BOUNDARY: &str = "batch_fake-0001";

/// A part of a batch.
pub struct BatchCall {
    /// The Content-ID, in its angle brackets; empty without one.
    pub id: String,
    pub ask: Result<Ask, ApiError>,
}

/// Whether this is the address of Gmail's batches.
pub fn is_batch(path: &str) -> bool {
    path == "/batch" || path == "/batch/gmail/v1"
}

/// Reads a batch.
///
/// # Errors
/// It is no multipart/mixed, or has no parts or too many: 400.
pub fn read(ask: &Ask) -> Result<Vec<BatchCall>, ApiError> {
    let kind = ask.header("content-type").unwrap_or_default();
    if !kind.to_lowercase().starts_with("multipart/mixed") {
        return Err(invalid("Batch requests have the content type multipart/mixed."));
    }
    let parts = multipart::split(kind, &ask.body).unwrap_or_default();
    if parts.is_empty() {
        return Err(invalid(
            "Failed to parse batch request, error: 0 items. Received batch body: (0) bytes redacted",
        ));
    }
    let most = facts::number("mail_limits", "batch_parts");
    if parts.len() > most {
        return Err(invalid(&format!("The batch request has more than {most} parts.")));
    }
    let authorization = ask.headers.get(http::header::AUTHORIZATION);
    Ok(parts
        .iter()
        .map(|part| {
            let is_http =
                part.header("content-type").is_some_and(|kind| kind.starts_with("application/http"));
            let inner = is_http.then(|| read_request(&part.body, authorization)).flatten();
            BatchCall {
                id: part.header("content-id").unwrap_or_default().to_owned(),
                ask: inner.ok_or_else(|| invalid("Failed to parse a part of the batch.")),
            }
        })
        .collect())
}

/// The request in a part. It has a path, and no authorization of its own unless it differs from the batch's.
fn read_request(bytes: &Bytes, authorization: Option<&HeaderValue>) -> Option<Ask> {
    let end = bytes.iter().position(|byte| *byte == b'\n')?;
    let line = String::from_utf8_lossy(bytes.get(..end)?).trim_end().to_owned();
    let [method, target, protocol]: [&str; 3] = line.split(' ').collect::<Vec<_>>().try_into().ok()?;
    if !target.starts_with('/') || !protocol.starts_with("HTTP/1.") {
        return None;
    }
    let rest = bytes.slice(end + 1..);
    let (head, length) = multipart::read_head(&rest);
    let mut headers = HeaderMap::new();
    if let Some(value) = authorization {
        headers.insert(http::header::AUTHORIZATION, value.clone());
    }
    for (name, value) in &head {
        headers.insert(HeaderName::try_from(name).ok()?, HeaderValue::try_from(value).ok()?);
    }
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let body = rest.slice(length..);
    let body = if body.trim_ascii().is_empty() { Bytes::new() } else { body };
    Some(Ask::new(method, path, query, headers, body))
}

/// The first lines of the requests in a batch, decoded, each as its method and path; none where this is no batch.
pub fn first_lines(ask: &Ask) -> Vec<String> {
    let parts = if is_batch(&ask.path) { read(ask).unwrap_or_default() } else { Vec::new() };
    let asks = parts.iter().filter_map(|part| part.ask.as_ref().ok());
    asks.map(|inner| format!("{} {}", inner.method, inner.path)).collect()
}

/// The error of a part, where the user has too many requests under way.
pub fn concurrent_requests() -> ApiError {
    ApiError::named(429, "rateLimitExceeded", "Too many concurrent requests for user.")
}

/// The answer of a batch: the answers of its parts, each under the id of its request.
pub fn reply(answers: &[(String, Reply)]) -> Reply {
    let mut body = Vec::new();
    for (id, reply) in answers {
        let id = id.trim_start_matches('<');
        let reason =
            http::StatusCode::from_u16(reply.status).ok().and_then(|status| status.canonical_reason());
        let mut head = format!(
            "--{BOUNDARY}\r\nContent-Type: application/http\r\nContent-ID: <response-{id}\r\n\r\nHTTP/1.1 {} {}\r\n",
            reply.status,
            reason.unwrap_or("Unknown")
        );
        for (name, value) in &reply.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str(&format!("Content-Length: {}\r\n\r\n", reply.body.len()));
        body.extend_from_slice(head.as_bytes());
        body.extend_from_slice(&reply.body);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(format!("--{BOUNDARY}--\r\n").as_bytes());
    Reply::new(200).header("content-type", &format!("multipart/mixed; boundary={BOUNDARY}")).body(body)
}
