//! `/v1/calendars/{calendarId}/sync`

use axum::extract::State;
use model::calendar::Calendar;
use model::resource::Written;
use model::sync::{SyncChanges, SyncReset, SyncStart, SyncState, Watch};
use service::app::App;
use service::app::resource_kind::ResourceKind;
use service::app::stored_response::{IdempotentAttempt, StoredResponse};
use service::connections::request_context::RequestContext;
use service::connections::watch_reach;
use service::push::wanted_watches;
use service::resources::collections;
use service::sync::{self, lifecycle, push_status};

use crate::api::operation::Priority::{Additive, Mvp};
use crate::api::operation::Routes;
use crate::api::request::extractors::{Extract, Path};
use crate::api::response::reply::{ApiResponse, ApiResult};
use crate::api::shared::change_feed::{
    changes_inside, parameters, reset_inside, start_inside, status_inside,
};

pub fn routes() -> Routes<App> {
    let changes = Routes::new("Calendar sync")
        .post("/v1/calendars/{calendarId}/sync/start", "calendar.read", Mvp, start_inside::<Calendar>)
        .summary("Start incremental sync")
        .description("From now on the service keeps its copy of the calendar up to date. Starting the sync again changes nothing and answers 200.")
        .status(202)
        .body::<SyncStart>()
        .returns::<Written<SyncState>>()
        .get("/v1/calendars/{calendarId}/sync/changes", "calendar.read", Mvp, changes_inside::<Calendar>)
        .summary("Read what changed")
        .description("Without `cursor`, the feed begins with all events. Read until `next_cursor` is null, store `sync_cursor`, and pass it as `cursor` next time.");
    parameters(changes)
        .returns::<SyncChanges>()
        .post("/v1/calendars/{calendarId}/sync/renew", "calendar.read", Mvp, renew)
        .summary("Renew the provider's push channel")
        .description("The channel is renewed after the answer, which has its present state. A channel that was renewed within the last minute stays as it is. `unsupported` means that the provider has no channels: the service then polls the calendar.")
        .status(200)
        .returns::<Watch>()
        .post("/v1/calendars/{calendarId}/sync/reset", "calendar.read", Mvp, reset_inside::<Calendar>)
        .summary("Read everything again")
        .description("With `soft`, cursors stay valid and the feed reports only differences. With `hard`, earlier cursors become invalid and the feed reports everything again.")
        .status(202)
        .body::<SyncReset>()
        .returns::<Written<SyncState>>()
        .get("/v1/calendars/{calendarId}/sync/status", "calendar.read", Additive, status_inside::<Calendar>)
        .summary("Read the state of the sync")
        .returns::<SyncState>()
}

async fn renew(
    State(app): State<App>,
    Extract(asker): Extract<RequestContext>,
    Extract(_attempt): Extract<IdempotentAttempt>,
    Path(calendar_id): Path<String>,
) -> ApiResult {
    let (connection, calendar) =
        collections::open(&app, &asker, ResourceKind::Calendar, &calendar_id, "calendar.read").await?;
    let scope = service::sync::scope::scope(&calendar)?;
    let state = sync::state(&app, &connection, &scope).await?;
    if state.followed && watch_reach::can_watch(&app, &connection.provider, scope.surface()) {
        wanted_watches::renew_now(&app, &connection, &scope).await?;
    }
    let otherwise = lifecycle::watch(&app, &connection, None);
    let watch = push_status::load(&app, &connection, &state, otherwise).await?.unwrap_or_default();
    Ok(ApiResponse(StoredResponse::ok(serde_json::to_string(&watch)?)))
}
