//! The upload routes: a message as it is, alone or beside the JSON of its resource.

use bytes::Bytes;
use serde_json::Value;

use crate::door::Ask;
use crate::google::errors::ApiError;
use crate::google::mail::{invalid, multipart};

/// The beginning of all upload routes.
pub const ROOT: &str = "/upload/gmail/v1/";

/// The content of an upload.
pub struct Upload {
    pub json: Option<Value>,
    pub media: Bytes,
}

/// Reads an upload.
///
/// # Errors
/// Its form is none of the document's, or the media is no message: 400.
pub fn read(ask: &Ask) -> Result<Upload, ApiError> {
    let kind = ask.header("content-type").unwrap_or_default();
    match ask.parameter("uploadType") {
        Some("media") => {
            check_kind(kind)?;
            Ok(Upload { json: None, media: ask.body.clone() })
        }
        Some("multipart") => {
            if !kind.to_lowercase().starts_with("multipart/related") {
                return Err(invalid("The content type of an upload in parts is multipart/related."));
            }
            let parts = multipart::split(kind, &ask.body).unwrap_or_default();
            let [json, media] = parts.as_slice() else {
                return Err(invalid("Missing end boundary in multipart body."));
            };
            let json_kind = json.header("content-type").unwrap_or_default().to_lowercase();
            if !json_kind.starts_with("application/json") {
                return Err(invalid("The first part is JSON."));
            }
            check_kind(media.header("content-type").unwrap_or_default())?;
            let parsed = serde_json::from_slice(&json.body);
            let json = parsed.map_err(|_| ApiError::named(400, "parseError", "Parse Error"))?;
            Ok(Upload { json: Some(json), media: media.body.clone() })
        }
        Some("resumable") => {
            Err(ApiError::named(501, "notImplemented", "The fake takes no resumable uploads."))
        }
        _ => Err(invalid("uploadType is media, multipart or resumable.")),
    }
}

fn check_kind(kind: &str) -> Result<(), ApiError> {
    match kind.to_lowercase().starts_with("message/") {
        true => Ok(()),
        false => {
            let message = format!("Media type '{kind}' is not supported. Valid media types: [message/*]");
            Err(ApiError::named(400, "badContent", &message))
        }
    }
}

/// Checks the size of an upload.
///
/// # Errors
/// It is more than the document says: 413.
pub fn check_size(media: Option<&Bytes>, most: usize) -> Result<(), ApiError> {
    match media.is_some_and(|media| media.len() > most) {
        true => Err(ApiError::named(413, "uploadTooLarge", "Request entity too large.")),
        false => Ok(()),
    }
}
