//! `/v1/task-lists/{taskListId}/sync`

use axum::extract::State;
use http::HeaderMap;
use model::resource::Written;
use model::sync::{SyncChanges, SyncReset, SyncStart, SyncState};

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

pub fn routes() -> Routes<App> {
    Routes::new("Task sync")
        .post("/v1/task-lists/{taskListId}/sync/start", "tasks.read", Mvp, start)
        .summary("Start incremental sync")
        .description("From now on the service follows the list by itself. Starting again changes nothing and answers 200.")
        .status(202)
        .body::<SyncStart>()
        .returns::<Written<SyncState>>()
        .get("/v1/task-lists/{taskListId}/sync/changes", "tasks.read", Mvp, read_changes)
        .summary("Read what changed")
        .description("Without `cursor` the feed begins with every task there is. Read until `next_cursor` is null, keep `sync_cursor`, and pass it as `cursor` next time.")
        .param("cursor", "string", "`next_cursor` or `sync_cursor` of an earlier answer")
        .param("limit", "integer", "Changes read per page: 1 to 500, default 100")
        .param("include", "string", "`resource` (default) or `none`")
        .returns::<SyncChanges>()
        .post("/v1/task-lists/{taskListId}/sync/reset", "tasks.read", Mvp, reset)
        .summary("Read everything again")
        .description("`soft` keeps cursors valid and tells only true differences; `hard` ends them and tells everything anew.")
        .status(202)
        .body::<SyncReset>()
        .returns::<Written<SyncState>>()
        .get("/v1/task-lists/{taskListId}/sync/status", "tasks.read", Additive, status)
        .summary("How the sync stands")
        .returns::<SyncState>()
}

async fn opened(app: &App, asker: &Asker, task_list_id: &str) -> Result<Followed> {
    let (connection, list) =
        collections::open(app, asker, (Kind::TaskList, task_list_id), "tasks.read").await?;
    let scope = collections::scope(&list)?;
    Ok(Followed { connection, scope })
}

async fn start(
    State(app): State<App>,
    asker: Asker,
    attempt: Attempt,
    headers: HeaderMap,
    Path(task_list_id): Path<String>,
    Body(body): Body,
) -> Result<Answer, ApiError> {
    let start = feed::start_body(&headers, body)?;
    let followed = opened(&app, &asker, &task_list_id).await?;
    Ok(feed::start(&app, &followed, start, &attempt).await?)
}

async fn read_changes(
    State(app): State<App>,
    asker: Asker,
    params: Params,
    Path(task_list_id): Path<String>,
) -> Result<Answer, ApiError> {
    let followed = opened(&app, &asker, &task_list_id).await?;
    Ok(feed::changes(&app, &asker, &params, "task_lists.sync.changes", &followed).await?)
}

async fn reset(
    State(app): State<App>,
    asker: Asker,
    attempt: Attempt,
    headers: HeaderMap,
    Path(task_list_id): Path<String>,
    Body(body): Body,
) -> Result<Answer, ApiError> {
    let reset = feed::reset_body(&headers, body)?;
    let followed = opened(&app, &asker, &task_list_id).await?;
    Ok(feed::reset(&app, &followed, reset, &attempt).await?)
}

async fn status(
    State(app): State<App>,
    asker: Asker,
    Path(task_list_id): Path<String>,
) -> Result<Answer, ApiError> {
    let followed = opened(&app, &asker, &task_list_id).await?;
    Ok(feed::status(&app, &followed).await?)
}
