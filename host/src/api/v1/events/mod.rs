//! `/v1/events`

pub mod stream;

use axum::extract::State;
use model::webhook::Notification;
use schemars::JsonSchema;
use serde::Deserialize;
use service::app::App;
use service::app::stored_response::StoredResponse;
use service::webhooks::events;

use crate::api::access::api_key::Caller;
use crate::api::operation::Priority::Additive;
use crate::api::operation::Routes;
use crate::api::pagination;
use crate::api::request::extractors::{Params, Path};
use crate::api::response::reply::{ApiResponse, ApiResult};
use crate::api::shared::event_filter::EventFilterQuery;
use crate::web::cursor::Binding;

/// The query string of the event log.
#[derive(Debug, Deserialize, JsonSchema)]
struct EventLogQuery {
    /// The `sequence` after which the first page begins. By default it begins with the oldest event that is kept.
    #[schemars(range(min = 0))]
    after_sequence: Option<i64>,
}

pub fn routes() -> Routes<App> {
    Routes::new("Event log")
        .get("/v1/events", "events.read", Additive, list)
        .summary("Read the event log")
        .description("Every event of the application in the order of `sequence`, oldest first, as far back as events are kept: 30 days, or as the operator configured. Each is the body that a webhook with full payloads receives. A key sees events of the families that its scopes read (`calendar.read` for `calendar.*`), and if it is bound to connections, only theirs. A page may be short, or empty, while `next_cursor` is set: read until it is null. `last_sequence` then says up to where the log was read; pass it as `after_sequence` to continue later. The sequence has gaps. 409 `sync_reset_required` if events after the position are no longer kept.")
        .query::<EventLogQuery>()
        .query::<EventFilterQuery>()
        .lists::<Notification>()
        .get("/v1/events/{eventId}", "events.read", Additive, get)
        .summary("Read an event")
        .description("The id is also the event's `webhook-id`. An event can be read as long as it is kept.")
        .returns::<Notification>()
}

async fn list(State(app): State<App>, caller: Caller, params: Params) -> ApiResult {
    let limit = usize::try_from(pagination::limit(params.get("limit"))?).unwrap_or(usize::MAX);
    let EventLogQuery { after_sequence } = params.read()?;
    let wish = params.read::<EventFilterQuery>()?.into_request()?;
    let binding = Binding::new(caller.tenant(), "events.list", &wish);
    let cursor = params.get("cursor");
    // The pages after the first one are asked for with its parameters, and the cursor.
    let place: Option<i64> = binding.place(&app.keyring, cursor)?;
    let found = events::page(&app, &caller.key, &wish, place.or(after_sequence), limit).await?;
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
