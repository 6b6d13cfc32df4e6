//! `BodyRecorder`: a place for a copy of a small JSON body on its way in, for the request log.

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::HeaderValue;
use service::app::request_log::bodies::MAX_BODY_BYTES;

/// The place; all clones are one.
#[derive(Clone, Default)]
pub struct BodyRecorder(Arc<Mutex<Option<Bytes>>>);

impl BodyRecorder {
    /// Copies a body, if it is small and JSON.
    pub fn record(&self, content_type: Option<&HeaderValue>, body: &Bytes) {
        if body.is_empty() || body.len() > MAX_BODY_BYTES || !is_json(content_type) {
            return;
        }
        if let Ok(mut place) = self.0.lock() {
            // A copy, because the bytes may be a part of a larger piece of memory.
            *place = Some(Bytes::copy_from_slice(body));
        }
    }

    /// The copy, once.
    pub fn take(&self) -> Option<Bytes> {
        self.0.lock().ok().and_then(|mut place| place.take())
    }
}

/// Whether a body of this type is JSON.
pub fn is_json(content_type: Option<&HeaderValue>) -> bool {
    content_type.and_then(|value| value.to_str().ok()).is_some_and(|value| value.contains("json"))
}
