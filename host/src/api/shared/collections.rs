//! Handlers that calendars, contact books and task lists share: their rows differ in path, scope and type.

use axum::extract::State;
use http::HeaderMap;

use crate::api::pagination;
use crate::api::request::etag;
use crate::api::request::extractors::{Params, Path};
use crate::api::request::json::{self, Body};
use crate::api::response::error::ApiError;
use crate::api::response::reply;
use crate::app::App;
use crate::app::resource_kind::ResourceKind;
use crate::app::stored_response::StoredResponse;
use crate::connections::request_context::RequestContext;
use crate::connections::write_context::WriteContext;
use crate::local_copy::collection_counts;
use crate::resources::collections::{self, Collection};
use crate::web::cursor::Binding;

/// A page of all that the key may use, or of one connection's.
pub async fn list<C: Collection>(
    State(app): State<App>,
    asker: RequestContext,
    params: Params,
) -> Result<StoredResponse, ApiError> {
    let limit = pagination::limit(params.get("limit"))?;
    let connection_id = params.get("connection_id");
    let binding = Binding::new(&asker.tenant, C::KIND.ops().pull.1, &connection_id);
    let after: String = binding.place(&app.keyring, params.get("cursor"))?.unwrap_or_default();
    let mut items = collections::list(&app, &asker, C::KIND, connection_id, &after, limit + 1).await?;
    let more = (items.len() as i64) > limit;
    items.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    let raw = params.with_provider_data();
    let texts = collection_counts::page(&app, app.db.reader(), &asker.tenant, &items, &[], raw).await?;
    let cursor = |last: usize| binding.cursor(&app.keyring, &items.get(last).map(|i| &i.id));
    Ok(reply::over_connections(StoredResponse::ok(pagination::cut(&texts, more, cursor)), &asker))
}

pub async fn create<C: Collection>(
    cx: WriteContext,
    headers: HeaderMap,
    Body(body): Body,
) -> Result<StoredResponse, ApiError> {
    Ok(collections::create::<C>(&cx, body, json::is_strict(&headers)).await?)
}

pub async fn get<C: Collection>(
    State(app): State<App>,
    asker: RequestContext,
    params: Params,
    Path(id): Path<String>,
) -> Result<StoredResponse, ApiError> {
    let item = collections::get(&app, &asker, C::KIND, &id).await?;
    let raw = params.with_provider_data();
    let text = collection_counts::printed(&app, app.db.reader(), &asker.tenant, &item, &[], raw).await?;
    Ok(StoredResponse::ok(text).etag(&item.etag))
}

pub async fn update<C: Collection>(
    cx: WriteContext,
    headers: HeaderMap,
    Path(id): Path<String>,
    Body(mut body): Body,
) -> Result<StoredResponse, ApiError> {
    let expected = etag::expected(&headers, Some(&mut body))?;
    let strict = json::is_strict(&headers);
    Ok(collections::update::<C>(&cx, &id, body, expected, strict).await?)
}

pub async fn delete<C: Collection>(
    cx: WriteContext,
    headers: HeaderMap,
    params: Params,
    Path(id): Path<String>,
    Body(mut body): Body,
) -> Result<StoredResponse, ApiError> {
    let expected = etag::expected(&headers, Some(&mut body))?;
    // Only contact books ask for it.
    let force = params.flag("force")? || C::KIND != ResourceKind::ContactBook;
    Ok(collections::delete(&cx, C::KIND, &id, expected, force).await?)
}
