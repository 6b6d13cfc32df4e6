//! Common parts of the handlers of contacts, groups and tasks.

use axum::extract::State;
use base::error::{Error, Result};
use http::HeaderMap;
use serde_json::{Map, Value};
use service::app::App;
use service::app::stored_response::StoredResponse;
use service::connections::request_context::RequestContext;
use service::connections::write_context::WriteContext;
use service::resources::collection_items::{self, CollectionItem, ListPosition, WriteOptions};
use service::resources::contacts::find;
use service::resources::contacts::people::book_of;
use service::resources::open_item::ItemPath;

use crate::api::pagination;
use crate::api::request::etag;
use crate::api::request::extractors::{Extract, Params, Path};
use crate::api::request::json::{self, Body};
use crate::api::request::query::StrictQuery;
use crate::api::response::reply::{self, ApiResponse, ApiResult};
use crate::web::cursor::Binding;

/// How a write is to be done: the etag out of header or body, and how strict it is.
// Contract silent: what `strict` covers. Both what nobody knows and what the provider cannot keep, by either spelling.
pub fn manner(headers: &HeaderMap, params: &Params, body: &mut Map<String, Value>) -> Result<WriteOptions> {
    let expected = etag::expected(headers, Some(body))?;
    let strict = params.read::<StrictQuery>()?.strict || json::is_strict(headers);
    Ok(WriteOptions { expected, strict, keep_all: strict })
}

/// A page as an answer, kept printed for those who ask the same until something changes.
pub async fn listed(
    app: &App,
    asker: &RequestContext,
    params: &Params,
    binding: &Binding,
    limit: i64,
    read: impl Future<Output = Result<(Vec<String>, Option<ListPosition>)>>,
) -> ApiResult {
    let print = async {
        let (texts, place) = read.await?;
        let next = place.map(|p| binding.cursor(&app.keyring, &p));
        Ok::<_, Error>(StoredResponse::ok(pagination::page(&texts, next.as_deref())))
    };
    // Bound to the key's connections too: another key of the application may see more.
    let bound_to = asker.bound_to().unwrap_or_default();
    let page = binding.page(params.get("cursor"), limit);
    let name = (!params.with_provider_data()).then(|| format!("{page}/{}", bound_to.join(",")));
    let printed = app.pages.get_or_render(&app.db, &asker.tenant, name.as_deref(), print).await?;
    Ok(ApiResponse(reply::over_connections(printed, asker)))
}

/// A page of what is listed inside a resource that is read whole anyway: by number, in the order of `all`.
pub fn parts_page<T: serde::Serialize>(
    app: &App,
    params: &Params,
    binding: &Binding,
    ids: &[&str],
    all: &[T],
) -> Result<StoredResponse> {
    let limit = usize::try_from(pagination::limit(params.get("limit"))?).unwrap_or(usize::MAX);
    let after: Option<(String, usize)> = binding.place(&app.keyring, params.get("cursor"))?;
    // Where the last one shown is gone, what followed it has taken its place.
    let start = after.map_or(0, |(id, at)| ids.iter().position(|i| *i == id).map_or(at, |at| at + 1));
    let start = start.min(all.len());
    let end = all.len().min(start.saturating_add(limit));
    let texts = all[start..end].iter().map(serde_json::to_string).collect::<Result<Vec<_>, _>>()?;
    let cursor = |last: usize| {
        let last = start + last;
        binding.cursor(&app.keyring, &(ids.get(last), last))
    };
    Ok(StoredResponse::ok(pagination::cut(&texts, end < all.len(), cursor)))
}

/// Handlers of contacts and groups, whose paths do not name their book.
pub async fn create_in_book<T: CollectionItem>(
    Extract(cx): Extract<WriteContext>,
    headers: HeaderMap,
    params: Params,
    Body(mut body): Body,
) -> ApiResult {
    let manner = manner(&headers, &params, &mut body)?;
    let mut opened = book_of(&cx, &mut body).await?;
    opened.kind = T::KIND;
    Ok(ApiResponse(collection_items::create::<T>(&cx, &opened, body, manner).await?))
}

pub async fn get_in_book<T: CollectionItem>(
    State(app): State<App>,
    Extract(asker): Extract<RequestContext>,
    params: Params,
    Path(id): Path<String>,
) -> ApiResult {
    find::freshen_one(&app, &asker, T::KIND, &id).await?;
    let path = ItemPath { kind: T::KIND, collection_id: None, id: &id };
    Ok(ApiResponse(collection_items::get(&app, &asker, path, params.with_provider_data()).await?))
}

pub async fn update_in_book<T: CollectionItem>(
    Extract(cx): Extract<WriteContext>,
    headers: HeaderMap,
    params: Params,
    Path(id): Path<String>,
    Body(mut body): Body,
) -> ApiResult {
    let manner = manner(&headers, &params, &mut body)?;
    let path = ItemPath { kind: T::KIND, collection_id: None, id: &id };
    Ok(ApiResponse(collection_items::update::<T>(&cx, path, body, manner).await?))
}

pub async fn delete_in_book<T: CollectionItem>(
    Extract(cx): Extract<WriteContext>,
    headers: HeaderMap,
    Path(id): Path<String>,
    Body(mut body): Body,
) -> ApiResult {
    let expected = etag::expected(&headers, Some(&mut body))?;
    let path = ItemPath { kind: T::KIND, collection_id: None, id: &id };
    Ok(ApiResponse(collection_items::delete(&cx, path, expected).await?))
}
