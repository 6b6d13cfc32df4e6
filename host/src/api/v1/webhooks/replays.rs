//! `/v1/webhooks/{webhookId}/replays`

use axum::extract::State;
use model::webhook::WebhookReplay;
use service::app::App;
use service::app::stored_response::StoredResponse;
use service::webhooks::replay;

use crate::api::access::api_key::Caller;
use crate::api::operation::Priority::Additive;
use crate::api::operation::Routes;
use crate::api::pagination;
use crate::api::request::extractors::{Params, Path};
use crate::api::response::reply::{ApiResponse, ApiResult};
use crate::web::cursor::Binding;

pub fn routes() -> Routes<App> {
    Routes::new("Webhooks")
        .get("/v1/webhooks/{webhookId}/replays", "webhooks.read", Additive, list)
        .summary("List a webhook's replays")
        .description("The newest replay comes first. A replay is kept as long as events after it has ended.")
        .lists::<WebhookReplay>()
        .get("/v1/webhooks/{webhookId}/replays/{replayId}", "webhooks.read", Additive, get)
        .summary("Read a replay")
        .description(
            "Shows how far the replay has got. A replay is kept as long as events after it has ended.",
        )
        .returns::<WebhookReplay>()
}

async fn list(State(app): State<App>, caller: Caller, params: Params, Path(id): Path<String>) -> ApiResult {
    let limit = pagination::limit(params.get("limit"))?;
    let binding = Binding::new(caller.tenant(), "webhooks.replays.list", &id);
    let before: Option<String> = binding.place(&app.keyring, params.get("cursor"))?;
    let mut found = replay::list(&app, &caller.key, &id, before.as_deref(), limit + 1).await?;
    let most = usize::try_from(limit).unwrap_or(usize::MAX);
    let has_more = found.len() > most;
    found.truncate(most);
    let items: Vec<String> = found.iter().map(|(_, rendered)| rendered.to_string()).collect();
    let cursor = |last: usize| binding.cursor(&app.keyring, &found.get(last).map(|(id, _)| id));
    Ok(ApiResponse(StoredResponse::ok(pagination::cut(&items, has_more, cursor))))
}

async fn get(
    State(app): State<App>,
    caller: Caller,
    Path((webhook_id, id)): Path<(String, String)>,
) -> ApiResult {
    Ok(ApiResponse(replay::read(&app, &caller.key, &webhook_id, &id).await?))
}
