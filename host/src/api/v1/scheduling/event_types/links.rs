//! `/v1/scheduling/event-types/{eventTypeId}/links`

use axum::extract::State;
use http::HeaderMap;
use model::resource::Written;
use model::scheduling::slots::{BookingLink, NewBookingLink};
use service::app::App;
use service::app::stored_response::{IdempotentAttempt, StoredResponse};
use service::bookings::links;
use service::connections::request_context::RequestContext;

use crate::api::operation::Priority::Additive;
use crate::api::operation::Routes;
use crate::api::pagination;
use crate::api::request::extractors::{Extract, Params, Path};
use crate::api::request::json::{self, Body};
use crate::api::response::reply::{ApiResponse, ApiResult};
use crate::web::cursor::Binding;

pub fn routes() -> Routes<App> {
    Routes::new("Scheduling")
        .get("/v1/scheduling/event-types/{eventTypeId}/links", "scheduling.read", Additive, list)
        .summary("List the booking links of an event type")
        .description("The event type's own slug, and further links, sorted by slug. `active` is false for a link that is expired or used up.")
        .lists::<BookingLink>()
        .post("/v1/scheduling/event-types/{eventTypeId}/links", "scheduling.write", Additive, create)
        .summary("Create a booking link")
        .description("The slug of the new link cannot be guessed. A link with `singleUse` is valid for one booking, one with `expiresAt` until that time; after that it answers 404, as if it had never existed. A booking that is made through the API uses the link that its `slug` names. The body is optional.")
        .body::<NewBookingLink>()
        .optional_body()
        .returns::<Written<BookingLink>>()
        .delete("/v1/scheduling/event-types/{eventTypeId}/links/{slug}", "scheduling.write", Additive, delete)
        .summary("Delete a booking link")
        .description("Bookings that were made by it stay. The event type's own slug cannot be deleted: 409 `invalid_state`.")
}

async fn list(
    State(app): State<App>,
    Extract(asker): Extract<RequestContext>,
    Path(id): Path<String>,
    params: Params,
) -> ApiResult {
    let limit = usize::try_from(pagination::limit(params.get("limit"))?).unwrap_or(usize::MAX);
    let binding = Binding::new(&asker.tenant, "scheduling.event_types.links.list", &id);
    let after: String = binding.place(&app.keyring, params.get("cursor"))?.unwrap_or_default();
    let mut found = links::list(&app, &asker, &id, &after, limit + 1).await?;
    let has_more = found.len() > limit;
    found.truncate(limit);
    let items: Vec<String> = found.iter().map(storage::json_text).collect();
    let cursor = |last: usize| binding.cursor(&app.keyring, &found.get(last).map(|link| &link.slug));
    Ok(ApiResponse(StoredResponse::ok(pagination::cut(&items, has_more, cursor))))
}

async fn create(
    State(app): State<App>,
    Extract(asker): Extract<RequestContext>,
    Extract(attempt): Extract<IdempotentAttempt>,
    headers: HeaderMap,
    Path(id): Path<String>,
    Body(body): Body,
) -> ApiResult {
    let (new, unknown) = json::typed::<NewBookingLink>(body)?;
    let warnings = json::unknown_fields(&headers, &unknown)?;
    Ok(ApiResponse(links::create(&app, &asker, &id, &new, warnings, &attempt).await?))
}

async fn delete(
    State(app): State<App>,
    Extract(asker): Extract<RequestContext>,
    Extract(attempt): Extract<IdempotentAttempt>,
    Path((id, slug)): Path<(String, String)>,
) -> ApiResult {
    Ok(ApiResponse(links::delete(&app, &asker, &id, &slug, &attempt).await?))
}
