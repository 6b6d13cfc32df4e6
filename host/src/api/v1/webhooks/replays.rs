//! `/v1/webhooks/{webhookId}/replays`

use axum::extract::State;
use model::webhook::WebhookReplay;

use crate::answer::Answer;
use crate::api::asker::Path;
use crate::api::caller::Caller;
use crate::api::error::ApiError;
use crate::api::operation::Priority::Additive;
use crate::api::operation::Routes;
use crate::app::App;
use crate::webhooks::replay;

pub fn routes() -> Routes<App> {
    Routes::new("Webhooks")
        .get("/v1/webhooks/{webhookId}/replays/{replayId}", "webhooks.read", Additive, get)
        .summary("How far a replay is")
        .description("Kept for 30 days after it has ended.")
        .returns::<WebhookReplay>()
}

async fn get(
    State(app): State<App>,
    caller: Caller,
    Path((webhook_id, id)): Path<(String, String)>,
) -> Result<Answer, ApiError> {
    Ok(replay::read(&app, &caller.key, &webhook_id, &id).await?)
}
