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
        .description("Sends the event `webhook.test` to this webhook alone, whatever its event types are, and waits up to 16 seconds for the first attempt. The answer is 200 with the delivery even if the attempt failed: `attempts` says what the endpoint answered. A delivery without an attempt is still under way, because the endpoint is slow or asked for a pause. A failed test is retried and counts as a failure of the endpoint, like any delivery. 409 `invalid_state` while the webhook is paused or disabled.")
        .returns::<Delivery>()
}

async fn send(State(app): State<App>, caller: Caller, Path(id): Path<String>) -> ApiResult {
    Ok(ApiResponse(test_event::send(&app, &caller.key, &id).await?))
}
