//! Handlers of the sync operations of all surfaces: those of one collection, and those of all that a connection has of a kind.

use axum::extract::State;
use base::error::{Code, Result, invalid, refuse};
use http::HeaderMap;
use model::formats;
use model::sync::{ResetMode, SyncReset, SyncStart};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use service::app::App;
use service::app::event_log::check_position;
use service::app::resource_kind::ResourceKind;
use service::app::stored_response::{IdempotentAttempt, StoredResponse};
use service::connections::request_context::RequestContext;
use service::resources::collections::{self, Collection};
use service::sync::change_feed::{self, Feed, FeedPosition, FeedQuery};
use service::sync::scope::SyncScope;
use service::sync::{self, backfill, collection_set, lifecycle, refresh_if_stale, staleness};
use storage::connections::Connection;
use storage::sync_states::SyncState;

use crate::api::operation::Routes;
use crate::api::pagination;
use crate::api::request::extractors::{Extract, Params, Path};
use crate::api::request::json::{self, Body};
use crate::api::response::reply::{ApiResponse, ApiResult};
use crate::web::cursor::Binding;

/// The scope of a sync operation.
struct SyncedScope {
    connection: Connection,
    scope: SyncScope,
}

/// A resource whose feed covers a whole connection: messages stand for the mailbox, contact books for all books with their contacts.
pub trait ConnectionFeed: 'static {
    const KIND: ResourceKind;
    /// The operation that a cursor of the feed is bound to.
    const CHANGES: &'static str;
}

/// A start as the client sent it, with its unknown fields as warnings.
fn start_body(headers: &HeaderMap, body: serde_json::Map<String, Value>) -> Result<(SyncStart, Vec<Value>)> {
    let (start, unknown) = json::typed::<SyncStart>(body)?;
    check_connection_id(start.connection_id.as_deref())?;
    Ok((start, json::unknown_fields(headers, &unknown)?))
}

/// The same of a reset.
fn reset_body(headers: &HeaderMap, body: serde_json::Map<String, Value>) -> Result<(SyncReset, Vec<Value>)> {
    let (reset, unknown) = json::typed::<SyncReset>(body)?;
    check_connection_id(reset.connection_id.as_deref())?;
    Ok((reset, json::unknown_fields(headers, &unknown)?))
}

/// Refuses an id that cannot be one. The path may name the collection, so that the id is not looked up.
fn check_connection_id(id: Option<&str>) -> Result<()> {
    match id.filter(|id| !formats::Id::is_match(id)) {
        Some(id) => {
            let message = format!("connectionId must be the id of a connection; got {id:?}");
            Err(invalid(Code::InvalidParameter, "connectionId", message))
        }
        None => Ok(()),
    }
}

async fn start(
    app: &App,
    followed: &SyncedScope,
    start: &SyncStart,
    warnings: &[Value],
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    let since = start.backfill_since.map(model::Instant::as_millis);
    lifecycle::start(app, &followed.connection, &followed.scope, since, warnings, attempt).await
}

async fn reset(
    app: &App,
    followed: &SyncedScope,
    reset: &SyncReset,
    warnings: &[Value],
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    let is_hard = reset.mode == ResetMode::Hard;
    lifecycle::reset(app, &followed.connection, &followed.scope, is_hard, warnings, attempt).await
}

async fn status(app: &App, followed: &SyncedScope) -> Result<StoredResponse> {
    let state = sync::state(app, &followed.connection, &followed.scope).await?;
    Ok(StoredResponse::ok(serde_json::to_string(&lifecycle::view(app, &followed.connection, &state).await?)?))
}

/// The query string of a change feed.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
pub struct ChangesQuery {
    /// The `next_cursor` or `sync_cursor` of an earlier answer. Without it the feed begins with everything that there is.
    #[schemars(with = "Option<formats::Cursor>")]
    pub cursor: Option<String>,
    /// The `sequence` of an event, instead of a cursor: the feed continues after that event. Webhooks, `/v1/events` and its stream have the
    /// same numbers. A hard reset invalidates cursors but not these positions: the feed continues in the new epoch. 409
    /// `sync_reset_required` if the events after it have been deleted.
    #[schemars(range(min = 0))]
    pub after_sequence: Option<i64>,
    /// The number of changes that are read for a page, 100 if absent; more than 500 is taken as 500.
    #[schemars(range(min = 1))]
    pub limit: Option<i64>,
    /// The form of a change: with its resource (the default), or with the id alone.
    pub include: Option<ChangeForm>,
}

/// The form of a change in a feed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub enum ChangeForm {
    /// With the resource as it is now.
    Resource,
    /// With the id alone.
    None,
}

/// The parameters of a change feed, in its row of the operation table.
pub fn parameters<S: Clone + Send + Sync + 'static>(routes: Routes<S>) -> Routes<S> {
    routes.query::<ChangesQuery>()
}

/// A page of the feed. `name` and the scope are what a cursor is bound to.
async fn changes(
    app: &App,
    asker: &RequestContext,
    params: &Params,
    name: &str,
    connection: &Connection,
    scope: &SyncScope,
) -> Result<StoredResponse> {
    let limit = change_feed::limit(params.get("limit"))?;
    let after = pagination::after_sequence(params.get("after_sequence"), params.get("cursor"))?;
    let query: ChangesQuery = params.read()?;
    let is_mail = scope.kind.is_mail();
    let of = if scope.is_whole() || is_mail { &connection.id } else { &scope.scope_id };
    let binding = Binding::new(&asker.tenant, name, of);
    let position: Option<FeedPosition> = binding.place(&app.keyring, params.get("cursor"))?;
    let state = sync::state(app, connection, scope).await?;
    if !state.followed {
        return Err(refuse(Code::SyncNotStarted, "start the sync first: POST …/sync/start"));
    }
    let is_walk = position.as_ref().is_some_and(|p| p.snapshot_after.is_some());
    let age = match scope.is_whole() {
        _ if is_walk => staleness::known_age(app, connection, scope).await?,
        true => collection_set::refresh_all(app, connection, scope.kind, asker.no_cache).await?,
        false if is_mail => backfill::refresh(app, connection, asker.no_cache).await?,
        false => refresh_if_stale(app, connection, scope, asker.no_cache).await?,
    };
    asker.reading.note(age);
    // Where the provider was not asked, the state is what it was a moment ago.
    let state = match age.waited || age.failed.is_some() {
        true => sync::state(app, connection, scope).await?,
        false => state,
    };
    let position = match after {
        Some(sequence) => Some(place_after(&state, sequence)?),
        None => position,
    };
    let with_resource = query.include != Some(ChangeForm::None);
    let feed = match scope.is_whole() {
        true => Feed::Contacts { connection_id: &connection.id },
        false if is_mail => Feed::Mail { connection_id: &connection.id },
        false => Feed::Collection { id: &scope.scope_id, kind: scope.kind },
    };
    let query = FeedQuery { feed, limit, with_resource };
    let page = change_feed::page(app, &asker.tenant, &state, query, position).await?;
    let cursor = binding.cursor(&app.keyring, &page.position);
    let rest = json!({
        "next_cursor": page.has_more.then_some(&cursor),
        "sync_cursor": cursor,
        "epoch": state.epoch,
        "has_more": page.has_more,
        "sync_status": state.status,
    });
    let mut body = page.begun;
    // An object like the other: what follows its brace goes on.
    let rest = rest.to_string();
    body.extend([",", rest.strip_prefix('{').unwrap_or("}")]);
    Ok(StoredResponse::ok(body))
}

/// The place in a feed after the event with this sequence, whatever that was about: all feeds of an application share its numbers.
fn place_after(state: &SyncState, sequence: i64) -> Result<FeedPosition> {
    check_position(sequence, state.floor_sequence, state.log_sequence)?;
    Ok(FeedPosition { epoch: state.epoch, sequence, snapshot_after: None, kind: 0 })
}

/// The sync scope of a collection's items.
async fn inside<C: Collection>(app: &App, asker: &RequestContext, id: &str) -> Result<SyncedScope> {
    let (connection, collection) = collections::open(app, asker, C::KIND, id, C::KIND.read_scope()).await?;
    let scope = service::sync::scope::scope(&collection)?;
    Ok(SyncedScope { connection, scope })
}

pub async fn start_inside<C: Collection>(
    State(app): State<App>,
    Extract(asker): Extract<RequestContext>,
    Extract(attempt): Extract<IdempotentAttempt>,
    headers: HeaderMap,
    Path(id): Path<String>,
    Body(body): Body,
) -> ApiResult {
    let (body, warnings) = start_body(&headers, body)?;
    Ok(ApiResponse(start(&app, &inside::<C>(&app, &asker, &id).await?, &body, &warnings, &attempt).await?))
}

pub async fn changes_inside<C: Collection>(
    State(app): State<App>,
    Extract(asker): Extract<RequestContext>,
    params: Params,
    Path(id): Path<String>,
) -> ApiResult {
    let opened = collections::open_to_read(&app, &asker, C::KIND, &id).await?;
    let (connection, collection) = &*opened;
    let scope = service::sync::scope::scope(collection)?;
    let name = C::KIND.contents().ops().pull.1;
    Ok(ApiResponse(changes(&app, &asker, &params, name, connection, &scope).await?))
}

pub async fn reset_inside<C: Collection>(
    State(app): State<App>,
    Extract(asker): Extract<RequestContext>,
    Extract(attempt): Extract<IdempotentAttempt>,
    headers: HeaderMap,
    Path(id): Path<String>,
    Body(body): Body,
) -> ApiResult {
    let (body, warnings) = reset_body(&headers, body)?;
    Ok(ApiResponse(reset(&app, &inside::<C>(&app, &asker, &id).await?, &body, &warnings, &attempt).await?))
}

pub async fn status_inside<C: Collection>(
    State(app): State<App>,
    Extract(asker): Extract<RequestContext>,
    Path(id): Path<String>,
) -> ApiResult {
    Ok(ApiResponse(status(&app, &inside::<C>(&app, &asker, &id).await?).await?))
}

/// The sync scope of a whole connection. `field` is the parameter that names the connection.
async fn whole<R: ConnectionFeed>(
    app: &App,
    asker: &RequestContext,
    connection_id: Option<&str>,
    field: &str,
) -> Result<SyncedScope> {
    let missing = || invalid(Code::MissingField, field, format!("{field} is required"));
    let id = connection_id.ok_or_else(missing)?;
    let connection = asker.connection(app, id, R::KIND.read_scope()).await?;
    Ok(SyncedScope { connection, scope: SyncScope::collections(R::KIND) })
}

pub async fn start_whole<R: ConnectionFeed>(
    State(app): State<App>,
    Extract(asker): Extract<RequestContext>,
    Extract(attempt): Extract<IdempotentAttempt>,
    headers: HeaderMap,
    Body(body): Body,
) -> ApiResult {
    let (body, warnings) = start_body(&headers, body)?;
    let synced = whole::<R>(&app, &asker, body.connection_id.as_deref(), "connectionId").await?;
    Ok(ApiResponse(start(&app, &synced, &body, &warnings, &attempt).await?))
}

pub async fn changes_whole<R: ConnectionFeed>(
    State(app): State<App>,
    Extract(asker): Extract<RequestContext>,
    params: Params,
) -> ApiResult {
    let SyncedScope { connection, scope } =
        whole::<R>(&app, &asker, params.get("connection_id"), "connection_id").await?;
    Ok(ApiResponse(changes(&app, &asker, &params, R::CHANGES, &connection, &scope).await?))
}

pub async fn reset_whole<R: ConnectionFeed>(
    State(app): State<App>,
    Extract(asker): Extract<RequestContext>,
    Extract(attempt): Extract<IdempotentAttempt>,
    headers: HeaderMap,
    Body(body): Body,
) -> ApiResult {
    let (body, warnings) = reset_body(&headers, body)?;
    let synced = whole::<R>(&app, &asker, body.connection_id.as_deref(), "connectionId").await?;
    Ok(ApiResponse(reset(&app, &synced, &body, &warnings, &attempt).await?))
}

pub async fn status_whole<R: ConnectionFeed>(
    State(app): State<App>,
    Extract(asker): Extract<RequestContext>,
    Path(connection_id): Path<String>,
) -> ApiResult {
    let synced = whole::<R>(&app, &asker, Some(&connection_id), "connectionId").await?;
    Ok(ApiResponse(status(&app, &synced).await?))
}
