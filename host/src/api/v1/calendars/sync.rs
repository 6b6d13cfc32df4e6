//! `/v1/calendars/{calendarId}/sync`

use axum::extract::State;
use http::HeaderMap;
use model::resource::Written;
use model::sync::{SyncChanges, SyncReset, SyncStart, SyncState, Watch};

use crate::answer::{Answer, Attempt};
use crate::api::asker::{Params, Path};
use crate::api::error::ApiError;
use crate::api::feed::{self, Followed};
use crate::api::json::Body;
use crate::api::operation::Priority::{Additive, Mvp};
use crate::api::operation::Routes;
use crate::app::App;
use crate::error::Result;
use crate::resources::{Asker, Kind, collections};
use crate::sync::follow;

pub fn routes() -> Routes<App> {
    Routes::new("Calendar sync")
        .post("/v1/calendars/{calendarId}/sync/start", "calendar.read", Mvp, start)
        .summary("Start incremental sync")
        .description("From now on the service follows the calendar by itself. Starting again changes nothing and answers 200.")
        .status(202)
        .body::<SyncStart>()
        .returns::<Written<SyncState>>()
        .get("/v1/calendars/{calendarId}/sync/changes", "calendar.read", Mvp, read_changes)
        .summary("Read what changed")
        .description("Without `cursor` the feed begins with every event there is. Read until `next_cursor` is null, keep `sync_cursor`, and pass it as `cursor` next time.")
        .param("cursor", "string", "`next_cursor` or `sync_cursor` of an earlier answer")
        .param("limit", "integer", "Changes read per page: 1 to 500, default 100")
        .param("include", "string", "`resource` (default) or `none`")
        .returns::<SyncChanges>()
        .post("/v1/calendars/{calendarId}/sync/renew", "calendar.read", Mvp, renew)
        .summary("Renew the provider's push channel")
        .description("`unsupported` where the provider has none: the calendar is then polled.")
        .status(200)
        .returns::<Watch>()
        .post("/v1/calendars/{calendarId}/sync/reset", "calendar.read", Mvp, reset)
        .summary("Read everything again")
        .description("`soft` keeps cursors valid and tells only true differences; `hard` ends them and tells everything anew.")
        .status(202)
        .body::<SyncReset>()
        .returns::<Written<SyncState>>()
        .get("/v1/calendars/{calendarId}/sync/status", "calendar.read", Additive, status)
        .summary("How the sync stands")
        .returns::<SyncState>()
}

async fn opened(app: &App, asker: &Asker, calendar_id: &str) -> Result<Followed> {
    let (connection, calendar) =
        collections::open(app, asker, (Kind::Calendar, calendar_id), "calendar.read").await?;
    let scope = collections::scope(&calendar)?;
    Ok(Followed { connection, scope })
}

async fn start(
    State(app): State<App>,
    asker: Asker,
    attempt: Attempt,
    headers: HeaderMap,
    Path(calendar_id): Path<String>,
    Body(body): Body,
) -> Result<Answer, ApiError> {
    let start = feed::start_body(&headers, body)?;
    let followed = opened(&app, &asker, &calendar_id).await?;
    Ok(feed::start(&app, &followed, start, &attempt).await?)
}

async fn read_changes(
    State(app): State<App>,
    asker: Asker,
    params: Params,
    Path(calendar_id): Path<String>,
) -> Result<Answer, ApiError> {
    let followed = opened(&app, &asker, &calendar_id).await?;
    Ok(feed::changes(&app, &asker, &params, "calendars.sync.changes", &followed).await?)
}

async fn renew(
    State(app): State<App>,
    asker: Asker,
    _attempt: Attempt,
    Path(calendar_id): Path<String>,
) -> Result<Answer, ApiError> {
    opened(&app, &asker, &calendar_id).await?;
    Ok(Answer::ok(serde_json::to_string(&follow::watch())?))
}

async fn reset(
    State(app): State<App>,
    asker: Asker,
    attempt: Attempt,
    headers: HeaderMap,
    Path(calendar_id): Path<String>,
    Body(body): Body,
) -> Result<Answer, ApiError> {
    let reset = feed::reset_body(&headers, body)?;
    let followed = opened(&app, &asker, &calendar_id).await?;
    Ok(feed::reset(&app, &followed, reset, &attempt).await?)
}

async fn status(
    State(app): State<App>,
    asker: Asker,
    Path(calendar_id): Path<String>,
) -> Result<Answer, ApiError> {
    let followed = opened(&app, &asker, &calendar_id).await?;
    Ok(feed::status(&app, &followed).await?)
}
