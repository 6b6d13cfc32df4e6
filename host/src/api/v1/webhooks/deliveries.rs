//! `/v1/webhooks/{webhookId}/deliveries`

use axum::extract::State;
use base::error::Result;
use model::webhook::{Delivery, DeliveryStatus};
use service::app::stored_response::StoredResponse;
use service::app::{App, page_cache};
use service::webhooks::deliveries::{self, DeliveryFilter, DeliveryListPosition};

use crate::api::access::api_key::Caller;
use crate::api::operation::Priority::Additive;
use crate::api::operation::Routes;
use crate::api::pagination;
use crate::api::request::extractors::{Params, Path};
use crate::api::response::reply::{ApiResponse, ApiResult};
use crate::web::cursor::Binding;

/// Longest id of an event, characters.
const MAX_ID: usize = 64;

pub fn routes() -> Routes<App> {
    Routes::new("Webhooks")
        .get("/v1/webhooks/{webhookId}/deliveries", "webhooks.read", Additive, list)
        .summary("List deliveries")
        .description("What became of events at the subscription, newest event first, and of one event its replays first. An event that was not tried yet has no delivery here, unless it is of a replay or a test. Those that arrived are kept for 72 hours, those that were given up (`failed`, `discarded`) as long as events. A page can be shorter than `limit`, or empty, and not the last: `next_cursor` alone says whether the list goes on.")
        .param("status", "string", "Only these: `pending`, `delivered`, `failed` or `discarded`")
        .param("event_id", "string", "Only deliveries of this event (`webhook-id`)")
        .lists::<Delivery>()
}

async fn list(State(app): State<App>, caller: Caller, params: Params, Path(id): Path<String>) -> ApiResult {
    let limit = usize::try_from(pagination::limit(params.get("limit"))?).unwrap_or(usize::MAX);
    let filter = DeliveryFilter { status: status(&params)?, event_id: params.text("event_id", MAX_ID)? };
    let filters = (&id, params.get("status"), &filter.event_id);
    let binding = Binding::new(caller.tenant(), "webhooks.deliveries.list", &filters);
    let after: Option<DeliveryListPosition> = binding.place(&app.keyring, params.get("cursor"))?;
    let found = deliveries::list(&app, &caller.key, &id, &filter, after, limit).await?;
    let mut items = Vec::with_capacity(found.deliveries.len());
    for delivery in &found.deliveries {
        items.push(deliveries::json(&id, delivery)?);
    }
    let fitting = page_cache::fitting(&items);
    let last = fitting.checked_sub(1).and_then(|last| found.deliveries.get(last));
    let next = match last.filter(|_| fitting < items.len()) {
        Some(last) => Some((last.sequence, last.replay_id.clone())),
        None => found.next,
    };
    let cursor = next.map(|place| binding.cursor(&app.keyring, &place));
    Ok(ApiResponse(StoredResponse::ok(pagination::page(
        items.get(..fitting).unwrap_or(&items),
        cursor.as_deref(),
    ))))
}

fn status(params: &Params) -> Result<Option<DeliveryStatus>> {
    let word = params.word("status", &["pending", "delivered", "failed", "discarded"])?;
    Ok(word.map(|word| serde_json::from_value(word.into())).transpose()?)
}
