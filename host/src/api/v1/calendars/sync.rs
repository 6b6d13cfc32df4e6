//! `/v1/calendars/{calendarId}/sync`

use axum::extract::State;
use http::HeaderMap;
use model::resource::Written;
use model::sync::{ResetMode, SyncChanges, SyncReset, SyncStart, SyncState, Watch};
use serde_json::json;

use crate::answer::{Answer, Attempt};
use crate::api::asker::{Params, Path};
use crate::api::error::ApiError;
use crate::api::json::{self, Body};
use crate::api::operation::Priority::{Additive, Mvp};
use crate::api::operation::Routes;
use crate::api::page::Binding;
use crate::app::App;
use crate::error::{Code, Result, refuse};
use crate::resources::{Asker, Kind, calendars};
use crate::storage::connections::Connection;
use crate::sync::changes::{self, Position};
use crate::sync::{self, Scope, ensure_fresh, follow};

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

async fn opened(app: &App, asker: &Asker, calendar_id: &str) -> Result<(Connection, Scope)> {
    let (connection, calendar) = calendars::open(app, asker, calendar_id, "calendar.read").await?;
    let scope = calendars::scope(&calendar)?;
    Ok((connection, scope))
}

async fn start(
    State(app): State<App>,
    asker: Asker,
    attempt: Attempt,
    headers: HeaderMap,
    Path(calendar_id): Path<String>,
    Body(body): Body,
) -> Result<Answer, ApiError> {
    let (start, unknown) = json::typed::<SyncStart>(body)?;
    let warnings = json::unknown_fields(&headers, &unknown)?;
    let (connection, scope) = opened(&app, &asker, &calendar_id).await?;
    let since = start.backfill_since.map(model::Instant::as_millis);
    Ok(follow::start(&app, &connection, &scope, (since, &warnings), &attempt).await?)
}

async fn read_changes(
    State(app): State<App>,
    asker: Asker,
    params: Params,
    Path(calendar_id): Path<String>,
) -> Result<Answer, ApiError> {
    let limit = changes::limit(params.get("limit"))?;
    let include = params.word("include", &["resource", "none"])?;
    let binding = Binding::new(&asker.tenant, "calendars.sync.changes", &calendar_id);
    let position: Option<Position> = binding.place(&app.keyring, params.get("cursor"))?;
    let (connection, scope) = opened(&app, &asker, &calendar_id).await?;
    let state = sync::state(&app, &connection, &scope).await?;
    if !state.followed {
        return Err(ApiError(refuse(Code::SyncNotStarted, "start the sync first: POST …/sync/start")));
    }
    if position.as_ref().is_none_or(|p| p.snapshot_after.is_none()) {
        ensure_fresh(&app, &connection, &scope, asker.no_cache).await?;
    }
    let state = sync::state(&app, &connection, &scope).await?;
    let with_resource = include.as_deref() != Some("none");
    let page =
        changes::page(&app, &asker.tenant, &state, Kind::Event, position, limit, with_resource).await?;
    let cursor = binding.cursor(&app.keyring, &page.position);
    let body = json!({
        "data": page.data,
        "next_cursor": page.has_more.then_some(&cursor),
        "sync_cursor": cursor,
        "epoch": state.epoch,
        "has_more": page.has_more,
        "sync_status": state.status,
    });
    Ok(Answer::ok(body.to_string()))
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
    let (reset, unknown) = json::typed::<SyncReset>(body)?;
    let warnings = json::unknown_fields(&headers, &unknown)?;
    let (connection, scope) = opened(&app, &asker, &calendar_id).await?;
    let is_hard = reset.mode == ResetMode::Hard;
    Ok(follow::reset(&app, &connection, &scope, (is_hard, &warnings), &attempt).await?)
}

async fn status(
    State(app): State<App>,
    asker: Asker,
    Path(calendar_id): Path<String>,
) -> Result<Answer, ApiError> {
    let (connection, scope) = opened(&app, &asker, &calendar_id).await?;
    let state = sync::state(&app, &connection, &scope).await?;
    Ok(Answer::ok(serde_json::to_string(&follow::view(&app, &state).await?)?))
}
