//! `/v1/webhooks/{webhookId}/test`

use axum::extract::State;
use model::webhook::Delivery;
use service::app::App;
use service::webhooks::test_event;

use crate::api::access::api_key::Caller;
use crate::api::operation::Priority::Additive;
use crate::api::operation::Routes;
use crate::api::request::extractors::Path;
use crate::api::response::reply::{ApiResponse, ApiResult};

pub fn routes() -> Routes<App> {
    Routes::new("Webhooks")
        .post("/v1/webhooks/{webhookId}/test", "webhooks.write", Additive, send)
        .summary("Send a test event")
        .description("Sends the event `webhook.test` to this subscription alone, whatever it asks for, and waits up to 16 seconds for the first attempt. 200 with the delivery, also when the attempt failed: `attempts` says what the endpoint answered. A delivery without an attempt is still under way: the endpoint is slow, or has asked to be left alone for a while. A failed test is tried again, and counts for the endpoint, as any delivery. 409 `invalid_state` while the subscription is paused or disabled.")
        .returns::<Delivery>()
}

async fn send(State(app): State<App>, caller: Caller, Path(id): Path<String>) -> ApiResult {
    Ok(ApiResponse(test_event::send(&app, &caller.key, &id).await?))
}
