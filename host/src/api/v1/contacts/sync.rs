//! `/v1/contacts/sync`

use axum::extract::State;
use base::error::{Code, Result, invalid};
use http::HeaderMap;
use model::resource::Written;
use model::sync::{SyncChanges, SyncReset, SyncStart, SyncState};
use service::app::App;
use service::app::resource_kind::ResourceKind;
use service::app::stored_response::IdempotentAttempt;
use service::connections::request_context::RequestContext;
use service::sync::scope::SyncScope;

use crate::api::operation::Priority::{Additive, Mvp};
use crate::api::operation::Routes;
use crate::api::request::extractors::{Extract, Params, Path};
use crate::api::request::json::Body;
use crate::api::response::reply::{ApiResponse, ApiResult};
use crate::api::shared::change_feed::{self, SyncedScope};

pub fn routes() -> Routes<App> {
    let changes = Routes::new("Contact sync")
        .post("/v1/contacts/sync/start", "contacts.read", Mvp, start)
        .summary("Start incremental sync of contacts")
        .description("From now on the service follows all contact books of `connectionId` by itself. Starting again changes nothing and answers 200.")
        .status(202)
        .body::<SyncStart>()
        .returns::<Written<SyncState>>()
        .get("/v1/contacts/sync/changes", "contacts.read", Mvp, read_changes)
        .summary("Read what changed in contacts, groups and books")
        .description("Without `cursor` the feed begins with everything there is. Read until `next_cursor` is null, keep `sync_cursor`, and pass it as `cursor` next time. `resourceType` tells `contact`, `contact_group` and `contact_book` apart.")
        .param("connection_id", "string", "The connected account")
        .required();
    change_feed::parameters(changes)
        .returns::<SyncChanges>()
        .post("/v1/contacts/sync/reset", "contacts.read", Additive, reset)
        .summary("Read everything again")
        .description("`soft` keeps cursors valid and tells only true differences; `hard` ends them and tells everything anew.")
        .status(202)
        .body::<SyncReset>()
        .returns::<Written<SyncState>>()
        .get("/v1/contacts/sync/status/{connectionId}", "contacts.read", Additive, status)
        .summary("How the sync stands")
        .returns::<SyncState>()
}

async fn open_scope(
    app: &App,
    asker: &RequestContext,
    connection_id: Option<&str>,
    field: &str,
) -> Result<SyncedScope> {
    let missing = || invalid(Code::MissingField, field, format!("{field} is required"));
    let connection = asker.connection(app, connection_id.ok_or_else(missing)?, "contacts.read").await?;
    Ok(SyncedScope { connection, scope: SyncScope::collections(ResourceKind::ContactBook) })
}

async fn start(
    State(app): State<App>,
    Extract(asker): Extract<RequestContext>,
    Extract(attempt): Extract<IdempotentAttempt>,
    headers: HeaderMap,
    Body(body): Body,
) -> ApiResult {
    let (start, warnings) = change_feed::start_body(&headers, body)?;
    let followed = open_scope(&app, &asker, start.connection_id.as_deref(), "connectionId").await?;
    Ok(ApiResponse(change_feed::start(&app, &followed, &start, &warnings, &attempt).await?))
}

async fn read_changes(
    State(app): State<App>,
    Extract(asker): Extract<RequestContext>,
    params: Params,
) -> ApiResult {
    let SyncedScope { connection, scope } =
        open_scope(&app, &asker, params.get("connection_id"), "connection_id").await?;
    Ok(ApiResponse(
        change_feed::changes(&app, &asker, &params, "contacts.sync.changes", &connection, &scope).await?,
    ))
}

async fn reset(
    State(app): State<App>,
    Extract(asker): Extract<RequestContext>,
    Extract(attempt): Extract<IdempotentAttempt>,
    headers: HeaderMap,
    Body(body): Body,
) -> ApiResult {
    let (reset, warnings) = change_feed::reset_body(&headers, body)?;
    let followed = open_scope(&app, &asker, reset.connection_id.as_deref(), "connectionId").await?;
    Ok(ApiResponse(change_feed::reset(&app, &followed, &reset, &warnings, &attempt).await?))
}

async fn status(
    State(app): State<App>,
    Extract(asker): Extract<RequestContext>,
    Path(connection_id): Path<String>,
) -> ApiResult {
    let followed = open_scope(&app, &asker, Some(&connection_id), "connectionId").await?;
    Ok(ApiResponse(change_feed::status(&app, &followed).await?))
}
