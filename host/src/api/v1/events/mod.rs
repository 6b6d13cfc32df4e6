//! `/v1/events`

pub mod stream;

use axum::extract::State;
use model::webhook::Notification;
use service::app::App;
use service::app::stored_response::StoredResponse;
use service::webhooks::events::{self, EventRequest};

use crate::api::access::api_key::Caller;
use crate::api::operation::Priority::Additive;
use crate::api::operation::Routes;
use crate::api::pagination;
use crate::api::request::extractors::{Params, Path};
use crate::api::response::reply::{ApiResponse, ApiResult};
use crate::web::cursor::Binding;

pub fn routes() -> Routes<App> {
    Routes::new("Events")
        .get("/v1/events", "events.read", Additive, list)
        .summary("Read the event log")
        .description("Every event of the application in the order of `sequence`, oldest first, as far back as events are kept: 30 days, or what the operator says. Each is the body that a webhook with full payloads receives. A key is shown events of the families that its scopes read (`calendar.read` for `calendar.*`), and, if it is bound to connections, of these alone. A page may be short, or empty, while `next_cursor` is set: read until it is null. `last_sequence` then tells up to where the log was read; pass it as `after_sequence` to go on later. Numbers are missing where nothing was to be told. 409 `sync_reset_required` where events after the position are not kept any more.")
        .param("after_sequence", "integer", "Events after this `sequence`, which is where the first page begins; without it that is the oldest event that is kept")
        .param("type", "string", "Event types such as `calendar.event.created`, families such as `calendar.*`, or `*`: up to 100, with commas between them. Default: all but those that have to be named exactly, as `connection.token_refreshed`")
        .param("connection_id", "string", "Events of these connections alone: up to 100, with commas between them")
        .param("include_backfill", "boolean", "Also what a first reading of a collection finds, which is left out by default")
        .lists::<Notification>()
        .get("/v1/events/{eventId}", "events.read", Additive, get)
        .summary("Read an event")
        .description("By the `id` that is also its `webhook-id`, as long as it is kept.")
        .returns::<Notification>()
}

async fn list(State(app): State<App>, caller: Caller, params: Params) -> ApiResult {
    let limit = usize::try_from(pagination::limit(params.get("limit"))?).unwrap_or(usize::MAX);
    let backfill = params.flag("include_backfill")?;
    let wish = EventRequest::read(params.get("type"), params.get("connection_id"), backfill)?;
    let binding = Binding::new(caller.tenant(), "events.list", &wish);
    let cursor = params.get("cursor");
    let after = pagination::sequence("after_sequence", params.get("after_sequence"))?;
    // The pages after the first one are asked for with its parameters, and the cursor.
    let place: Option<i64> = binding.place(&app.keyring, cursor)?;
    let found = events::page(&app, &caller.key, &wish, place.or(after), limit).await?;
    let next_cursor = found.has_more.then(|| binding.cursor(&app.keyring, &found.position));
    let mut body = pagination::page(&found.items, next_cursor.as_deref());
    // It goes on behind the last field.
    body.pop();
    body.push_str(&format!(",\"last_sequence\":{}}}", found.position));
    Ok(ApiResponse(StoredResponse::ok(body)))
}

async fn get(State(app): State<App>, caller: Caller, Path(id): Path<String>) -> ApiResult {
    Ok(ApiResponse(StoredResponse::ok(events::find(&app, &caller.key, &id).await?)))
}
