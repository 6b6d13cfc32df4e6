//! The photo of a contact: its bytes, and its size.

use serde_json::json;

use crate::door::Reply;
use crate::graph::call::{GraphCall, json_reply};
use crate::graph::contacts::{store, store_mut};
use crate::graph::errors::{GraphError, GraphResult};
use crate::graph::facts;
use crate::graph::ids;
use crate::graph::state::GraphState;

/// The beginning of a JPEG file.
const JPEG: [u8; 3] = [0xff, 0xd8, 0xff];

/// Answers a call below `…/photo`.
pub fn answer(state: &mut GraphState, call: &GraphCall, number: u64, rest: &[&str]) -> GraphResult {
    if state.account(&call.user)?.is_personal() {
        return Err(GraphError::access_denied());
    }
    match (call.method.as_str(), rest) {
        ("GET", []) => {
            let item = store(state, call)?.items.get(&number).ok_or_else(GraphError::not_found)?;
            let photo = item.photo.as_ref().ok_or_else(no_photo)?;
            let side = facts::number("contact_photos", "side");
            Ok(json_reply(
                200,
                &json!({
                    "@odata.context": call.context("contacts('id')/photo/$entity"),
                    "@odata.mediaContentType": content_type(&photo.bytes),
                    "@odata.mediaEtag": ids::etag(photo.changed),
                    "id": format!("{side}X{side}"),
                    "height": side,
                    "width": side,
                }),
            ))
        }
        ("GET", ["$value"]) => {
            let item = store(state, call)?.items.get(&number).ok_or_else(GraphError::not_found)?;
            let photo = item.photo.as_ref().ok_or_else(no_photo)?.bytes.clone();
            Ok(Reply::new(200).header("content-type", content_type(&photo)).body(photo))
        }
        ("PUT" | "PATCH", ["$value"]) => {
            let kind = call.header("content-type").unwrap_or_default();
            if !kind.starts_with("image/") || call.content.is_empty() {
                let message = "The photo has to be sent as an image.";
                return Err(GraphError::new(400, "ErrorInvalidRequest", message));
            }
            let now = state.clock.now_ms();
            let is_change = state.traps.is_on("contact_photo_touches");
            let store = store_mut(state, call)?;
            store.put_photo(number, call.content.clone());
            if is_change {
                store.touch(number, now);
            }
            Ok(Reply::new(200))
        }
        // Descriptions have it, and the service does not.
        ("DELETE", ["$value"]) => {
            Err(GraphError::new(405, "ErrorInvalidRequest", "The OData request is not supported."))
        }
        _ => Err(GraphError::no_route("photo")),
    }
}

fn no_photo() -> GraphError {
    GraphError::new(404, "ErrorItemNotFound", "The specified object was not found in the store.")
        .inner("ImageNotFound")
}

/// The content type of a photo.
fn content_type(photo: &[u8]) -> &'static str {
    if photo.starts_with(&JPEG) { "image/jpeg" } else { "image/png" }
}
