//! `/v1/webhooks/{webhookId}/deliveries`

use axum::extract::State;
use model::webhook::{Delivery, DeliveryStatus};
use model::{bounds, formats};
use schemars::JsonSchema;
use serde::Deserialize;
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

/// The query string of a list of deliveries.
#[derive(Debug, Deserialize, JsonSchema)]
struct DeliveryListQuery {
    /// Returns only deliveries in this state.
    status: Option<DeliveryStatusFilter>,
    /// Returns only deliveries of the event with this id, which is also its `webhook-id`.
    #[schemars(with = "Option<formats::Id>", length(max = bounds::MAX_ID))]
    event_id: Option<String>,
}

/// The states of a delivery to filter by.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
enum DeliveryStatusFilter {
    Pending,
    Delivered,
    Failed,
    Discarded,
}

impl From<DeliveryStatusFilter> for DeliveryStatus {
    fn from(filter: DeliveryStatusFilter) -> DeliveryStatus {
        match filter {
            DeliveryStatusFilter::Pending => DeliveryStatus::Pending,
            DeliveryStatusFilter::Delivered => DeliveryStatus::Delivered,
            DeliveryStatusFilter::Failed => DeliveryStatus::Failed,
            DeliveryStatusFilter::Discarded => DeliveryStatus::Discarded,
        }
    }
}

pub fn routes() -> Routes<App> {
    Routes::new("Webhooks")
        .get("/v1/webhooks/{webhookId}/deliveries", "webhooks.read", Additive, list)
        .summary("List a webhook's deliveries")
        .description("The newest event comes first, and of one event its replays come first. An event that was not attempted yet has no delivery here, unless it belongs to a replay or a test. Deliveries that arrived are kept for 72 hours, those that were given up (`failed`, `discarded`) as long as events. A page can be shorter than `limit`, or empty, without being the last one: only a null `next_cursor` marks the end.")
        .query::<DeliveryListQuery>()
        .lists::<Delivery>()
}

async fn list(State(app): State<App>, caller: Caller, params: Params, Path(id): Path<String>) -> ApiResult {
    let limit = usize::try_from(pagination::limit(params.get("limit"))?).unwrap_or(usize::MAX);
    let query: DeliveryListQuery = params.read()?;
    let filter = DeliveryFilter { status: query.status.map(DeliveryStatus::from), event_id: query.event_id };
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
