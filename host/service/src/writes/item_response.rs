//! The response that shows one item.

use storage::items::Item;

use crate::app::stored_response::StoredResponse;
use crate::local_copy::render;

/// Returns the response of a write on one resource: its text, its etag, its status.
pub fn answer(status: u16, item: &Item, warnings: &[serde_json::Value]) -> StoredResponse {
    StoredResponse::json(status, render::item(item, warnings, false)).etag(&item.etag)
}
