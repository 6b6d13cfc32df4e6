//! `/v1/connections`

use axum::extract::State;
use base::error::{Result, not_found};
use http::HeaderMap;
use model::capabilities::Capabilities;
use model::connection::{Connection, NewConnection};
use model::resource::Written;
use model::{bounds, formats};
use schemars::JsonSchema;
use serde::Deserialize;
use service::app::App;
use service::app::stored_response::{IdempotentAttempt, StoredResponse};
use service::connections::request_context::RequestContext;
use service::connections::{self, ConnectOptions, view};
use service::resources::capabilities;
use storage::{connections as table, sync_states};

use crate::api::operation::Priority::{Additive, Common, Mvp};
use crate::api::operation::Routes;
use crate::api::pagination;
use crate::api::request::extractors::{Extract, Params, Path};
use crate::api::request::json::{self, Body};
use crate::api::response::reply::{ApiResponse, ApiResult};
use crate::web::cursor::Binding;

/// The query string of a connect.
#[derive(Debug, Deserialize, JsonSchema)]
struct ConnectQuery {
    /// Whether the application may have another connection of the same account.
    #[serde(default)]
    allow_duplicate: bool,
}

/// The query string of a list of connections.
#[derive(Debug, Deserialize, JsonSchema)]
struct ConnectionListQuery {
    /// Returns only connections of this provider.
    #[schemars(with = "Option<formats::ProviderName>", length(max = bounds::list::MAX_PROVIDER))]
    provider: Option<String>,
    /// Returns only connections in this state.
    status: Option<ConnectionStatusFilter>,
}

/// The states of a connection to filter by.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum ConnectionStatusFilter {
    Pending,
    Active,
    Degraded,
    ReauthRequired,
}

impl ConnectionStatusFilter {
    /// The state as connections are stored with it.
    fn as_str(self) -> &'static str {
        match self {
            ConnectionStatusFilter::Pending => "pending",
            ConnectionStatusFilter::Active => "active",
            ConnectionStatusFilter::Degraded => "degraded",
            ConnectionStatusFilter::ReauthRequired => "reauth_required",
        }
    }
}

pub fn routes() -> Routes<App> {
    Routes::new("Connections")
        .post("/v1/connections", "connections.write", Common, create)
        .summary("Connect an account by credentials")
        .description("The credentials are tried at the provider before anything is stored. They are encrypted at once and never shown again. 409 `already_exists` if the application already has a connection of the same account at the same server; `details` has its id. Connections that need new credentials (`reauth_required`) do not count, and `allow_duplicate=true` allows another connection.")
        .query::<ConnectQuery>()
        .body::<NewConnection>()
        .returns::<Written<Connection>>()
        .get("/v1/connections", "connections.read", Mvp, list)
        .summary("List connections")
        .query::<ConnectionListQuery>()
        .lists::<Connection>()
        .get("/v1/connections/{connectionId}", "connections.read", Common, get)
        .summary("Read a connection")
        .returns::<Connection>()
        .delete("/v1/connections/{connectionId}", "connections.write", Common, delete)
        .summary("Disconnect an account")
        .description("Stops the sync and removes the credentials and the local copy. Nothing changes in the account at the provider. OAuth tokens that no other connection needs are revoked there.")
        .get("/v1/connections/{connectionId}/capabilities", "connections.read", Additive, read_capabilities)
        .summary("Read what a connection can do")
        .returns::<Capabilities>()
        .post("/v1/connections/{connectionId}/refresh", "connections.write", Mvp, refresh)
        .summary("Try the credentials again")
        .description("OAuth tokens are renewed first, unless they are younger than 30 seconds. 409 `reauth_required` if the provider refuses them. 503 `provider_unavailable` with `Retry-After` if the provider does not answer; nothing is changed then.")
        .status(200)
        .returns::<Written<Connection>>()
}

async fn create(
    State(app): State<App>,
    Extract(asker): Extract<RequestContext>,
    Extract(attempt): Extract<IdempotentAttempt>,
    headers: HeaderMap,
    params: Params,
    Body(body): Body,
) -> ApiResult {
    let (new, unknown) = json::typed::<connections::NewConnection>(body)?;
    // Strict callers get the error before the provider is asked; others find nothing lost.
    let warnings = json::unknown_fields(&headers, &unknown)?;
    let ConnectQuery { allow_duplicate } = params.read()?;
    let options = ConnectOptions { allow_duplicate, warnings };
    Ok(ApiResponse(connections::create(&app, &asker.tenant, new, options, &attempt).await?))
}

async fn list(State(app): State<App>, Extract(asker): Extract<RequestContext>, params: Params) -> ApiResult {
    let limit = pagination::limit(params.get("limit"))?;
    let query: ConnectionListQuery = params.read()?;
    let provider = query.provider.unwrap_or_default();
    let status = query.status.map_or("", ConnectionStatusFilter::as_str);
    let binding = Binding::new(&asker.tenant, "connections.list", &(&provider, status));
    let mut after: String = binding.place(&app.keyring, params.get("cursor"))?.unwrap_or_default();
    let mut found = Vec::new();
    loop {
        let filter = (provider.as_str(), status);
        let rows = table::list(app.db.reader(), &asker.tenant, filter, &after, limit + 1).await?;
        let is_last = (rows.len() as i64) <= limit;
        after = rows.last().map_or(after, |c| c.id.clone());
        found.extend(rows.into_iter().filter(|c| asker.may_use(&c.id)));
        if is_last || (found.len() as i64) > limit {
            break;
        }
    }
    let more = (found.len() as i64) > limit;
    found.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    let mut items = Vec::with_capacity(found.len());
    for connection in &found {
        let states = sync_states::of_connection(app.db.reader(), &connection.id).await?;
        items.push(view::json(&app, connection, &states).to_string());
    }
    let cursor = |last: usize| binding.cursor(&app.keyring, &found.get(last).map(|c| &c.id));
    Ok(ApiResponse(StoredResponse::ok(pagination::cut(&items, more, cursor))))
}

async fn find(app: &App, asker: &RequestContext, id: &str) -> Result<table::Connection> {
    if !asker.may_use(id) {
        return Err(not_found("connection"));
    }
    connections::find(app, &asker.tenant, id).await
}

async fn get(
    State(app): State<App>,
    Extract(asker): Extract<RequestContext>,
    Path(id): Path<String>,
) -> ApiResult {
    let connection = find(&app, &asker, &id).await?;
    let states = sync_states::of_connection(app.db.reader(), &id).await?;
    Ok(ApiResponse(
        StoredResponse::ok(view::json(&app, &connection, &states).to_string()).etag(&connection.etag),
    ))
}

async fn delete(
    State(app): State<App>,
    Extract(asker): Extract<RequestContext>,
    Extract(attempt): Extract<IdempotentAttempt>,
    headers: HeaderMap,
    Path(id): Path<String>,
) -> ApiResult {
    let connection = match find(&app, &asker, &id).await {
        Err(e) if attempt.resumed && e.code() == Some(base::error::Code::NotFound) => {
            return Ok(ApiResponse(StoredResponse::no_content()));
        }
        other => other?,
    };
    crate::api::request::etag::expected(&headers, None)?.check(&connection.etag)?;
    Ok(ApiResponse(service::resources::disconnect::delete(&app, connection, &attempt).await?))
}

async fn read_capabilities(
    State(app): State<App>,
    Extract(asker): Extract<RequestContext>,
    Path(id): Path<String>,
) -> ApiResult {
    let capabilities = capabilities::for_connection(&app, &asker, &id).await?;
    Ok(ApiResponse(StoredResponse::ok(serde_json::to_string(&capabilities)?)))
}

async fn refresh(
    State(app): State<App>,
    Extract(asker): Extract<RequestContext>,
    Extract(attempt): Extract<IdempotentAttempt>,
    Path(id): Path<String>,
) -> ApiResult {
    let connection = find(&app, &asker, &id).await?;
    Ok(ApiResponse(connections::refresh::refresh(&app, connection, &attempt).await?))
}
