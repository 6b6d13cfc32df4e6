//! `/v1/webhooks/{webhookId}/replay`

use axum::extract::State;
use http::HeaderMap;
use model::resource::Written;
use model::webhook::{NewWebhookReplay, WebhookReplay};

use crate::answer::{Answer, Attempt};
use crate::api::asker::Path;
use crate::api::caller::Caller;
use crate::api::error::ApiError;
use crate::api::json::{self, Body};
use crate::api::operation::Priority::Additive;
use crate::api::operation::Routes;
use crate::app::App;
use crate::webhooks::replay;

pub fn routes() -> Routes<App> {
    Routes::new("Webhooks")
        .post("/v1/webhooks/{webhookId}/replay", "webhooks.write", Additive, start)
        .summary("Send events once more")
        .description("1 to 1,000 events of the last 30 days by their ids, whether they arrived before or not. They are sent in the order of the log with the same `webhook-id` and the same body, and with `webhook-replay`. An id that is no event of the application gives 400 with its place in `param`, and all such places in `details`; an event that the subscription does not ask for as it is now is left out, with a warning. What fails is tried again as any delivery is, and does not count against the endpoint. 409 `invalid_state` while the subscription is paused or disabled; 429 while 100 replays of it are under way. One that is paused later keeps what is left for when it is resumed; one that is disabled gives it up.")
        .body::<NewWebhookReplay>()
        .returns::<Written<WebhookReplay>>()
}

async fn start(
    State(app): State<App>,
    caller: Caller,
    attempt: Attempt,
    headers: HeaderMap,
    Path(id): Path<String>,
    Body(body): Body,
) -> Result<Answer, ApiError> {
    let (asked, unknown) = json::typed::<NewWebhookReplay>(body)?;
    let warnings = json::unknown_fields(&headers, &unknown)?;
    Ok(replay::start(&app, &caller.key, &id, (asked, warnings), &attempt).await?)
}
