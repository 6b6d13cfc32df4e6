//! Handlers that calendars, contact books and task lists share: their rows differ in path, scope and type.

use axum::extract::State;
use http::HeaderMap;
use schemars::JsonSchema;
use serde::Deserialize;
use service::app::App;
use service::app::resource_kind::ResourceKind;
use service::app::stored_response::StoredResponse;
use service::connections::request_context::RequestContext;
use service::connections::write_context::WriteContext;
use service::local_copy::collection_counts;
use service::resources::collections::{self, Collection};

use crate::api::pagination;
use crate::api::request::etag;
use crate::api::request::extractors::{Extract, Params, Path};
use crate::api::request::json::{self, Body};
use crate::api::request::query::{ConnectionIncludeQuery, IncludeQuery};
use crate::api::response::reply::{self, ApiResponse, ApiResult};
use crate::web::cursor::Binding;

/// The query string of a deletion of a contact book. Other collections are always deleted with all that is in them.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
pub struct CollectionDeletionQuery {
    /// Whether the book is deleted with its contacts and groups. Without it, only an empty book is deleted.
    #[serde(default)]
    force: bool,
}

/// A page of all that the key may use, or of one connection's.
pub async fn list<C: Collection>(
    State(app): State<App>,
    Extract(asker): Extract<RequestContext>,
    params: Params,
) -> ApiResult {
    let limit = pagination::limit(params.get("limit"))?;
    let query: ConnectionIncludeQuery = params.read()?;
    let connection_id = query.connection_id.as_deref();
    let binding = Binding::new(&asker.tenant, C::KIND.ops().pull.1, &connection_id);
    let after: String = binding.place(&app.keyring, params.get("cursor"))?.unwrap_or_default();
    let mut items = collections::list(&app, &asker, C::KIND, connection_id, &after, limit + 1).await?;
    let more = (items.len() as i64) > limit;
    items.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    let raw = query.include.has_provider_data();
    let texts = collection_counts::page(&app, app.db.reader(), &asker.tenant, &items, &[], raw).await?;
    let cursor = |last: usize| binding.cursor(&app.keyring, &items.get(last).map(|i| &i.id));
    Ok(ApiResponse(reply::over_connections(
        StoredResponse::ok(pagination::cut(&texts, more, cursor)),
        &asker,
    )))
}

pub async fn create<C: Collection>(
    Extract(cx): Extract<WriteContext>,
    headers: HeaderMap,
    Body(body): Body,
) -> ApiResult {
    Ok(ApiResponse(collections::create::<C>(&cx, body, json::is_strict(&headers)).await?))
}

pub async fn get<C: Collection>(
    State(app): State<App>,
    Extract(asker): Extract<RequestContext>,
    params: Params,
    Path(id): Path<String>,
) -> ApiResult {
    let item = collections::get(&app, &asker, C::KIND, &id).await?;
    let raw = params.read::<IncludeQuery>()?.include.has_provider_data();
    let text =
        collection_counts::render_collection(&app, app.db.reader(), &asker.tenant, &item, &[], raw).await?;
    Ok(ApiResponse(StoredResponse::ok(text).etag(&item.etag)))
}

pub async fn update<C: Collection>(
    Extract(cx): Extract<WriteContext>,
    headers: HeaderMap,
    Path(id): Path<String>,
    Body(mut body): Body,
) -> ApiResult {
    let expected = etag::expected(&headers, Some(&mut body))?;
    let strict = json::is_strict(&headers);
    Ok(ApiResponse(collections::update::<C>(&cx, &id, body, expected, strict).await?))
}

pub async fn delete<C: Collection>(
    Extract(cx): Extract<WriteContext>,
    headers: HeaderMap,
    params: Params,
    Path(id): Path<String>,
    Body(mut body): Body,
) -> ApiResult {
    let expected = etag::expected(&headers, Some(&mut body))?;
    // Only contact books ask for it.
    let force = params.read::<CollectionDeletionQuery>()?.force || C::KIND != ResourceKind::ContactBook;
    Ok(ApiResponse(collections::delete(&cx, C::KIND, &id, expected, force).await?))
}
