//! `/v1/webhooks/{webhookId}/replay`

use axum::extract::State;
use http::HeaderMap;
use model::resource::Written;
use model::webhook::{NewWebhookReplay, WebhookReplay};
use service::app::App;
use service::app::stored_response::IdempotentAttempt;
use service::webhooks::replay;

use crate::api::access::api_key::Caller;
use crate::api::operation::Priority::Additive;
use crate::api::operation::Routes;
use crate::api::request::extractors::{Extract, Path};
use crate::api::request::json::{self, Body};
use crate::api::response::reply::{ApiResponse, ApiResult};

pub fn routes() -> Routes<App> {
    Routes::new("Webhooks")
        .post("/v1/webhooks/{webhookId}/replay", "webhooks.write", Additive, start)
        .summary("Start a replay")
        .description("Sends events once more: 1 to 1,000 by their ids (`eventIds`), or all that happened from `from` on and before `to`, whether they arrived before or not. `eventTypes` and `onlyFailed` narrow both. They are sent in the order of the log with the same `webhook-id` and the same body, and with `webhook-replay`, in the form that the webhook asks for when they are sent. Tests of the webhook are sent again by their ids only. Failed attempts are retried as usual and do not count against the endpoint. An id that is no event of the application gives 400 with its place in `param`, and all such places in `details`; a warning names events that are left out. A `from` before the oldest event that is kept gives 400 `invalid_time_range`, and the message says from when on events are kept. A range may be of any length: at most about 1,000 of its events wait at a time. The first 10,000 events of the log in it are counted for the answer; while `counted` is false, `eventCount` grows as events are sent. 409 `invalid_state` while the webhook is paused or disabled. 429 while 100 replays of it are running, or 100,000 deliveries of its replays are waiting, including those that a pause has left. If the webhook is paused later, a replay with events that are not waiting yet becomes `failed` (`webhook_paused`): waiting ones are sent when the webhook is resumed, and `continueFrom` is the `from` of a replay of the others. If the webhook is disabled, replays become `failed` (`webhook_disabled`), and waiting deliveries are given up.")
        .body::<NewWebhookReplay>()
        .returns::<Written<WebhookReplay>>()
}

async fn start(
    State(app): State<App>,
    caller: Caller,
    Extract(attempt): Extract<IdempotentAttempt>,
    headers: HeaderMap,
    Path(id): Path<String>,
    Body(body): Body,
) -> ApiResult {
    let (asked, unknown) = json::typed::<NewWebhookReplay>(body)?;
    let warnings = json::unknown_fields(&headers, &unknown)?;
    Ok(ApiResponse(replay::start(&app, &caller.key, &id, asked, warnings, &attempt).await?))
}
