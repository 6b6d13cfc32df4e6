//! `/v1/scheduling/schedules`

use axum::extract::State;
use http::HeaderMap;
use model::resource::{New, Patch, Resource};
use model::scheduling::SharedSchedule;

use crate::api::operation::Priority::Additive;
use crate::api::operation::Routes;
use crate::api::pagination;
use crate::api::request::etag;
use crate::api::request::extractors::{Params, Path};
use crate::api::request::json::{self, Body};
use crate::api::response::error::ApiError;
use crate::app::App;
use crate::app::stored_response::StoredResponse;
use crate::bookings::schedules;
use crate::connections::request_context::RequestContext;
use crate::connections::write_context::WriteContext;
use crate::web::cursor::Binding;

pub fn routes() -> Routes<App> {
    Routes::new("Scheduling")
        .get("/v1/scheduling/schedules", "scheduling.read", Additive, list)
        .summary("List schedules")
        .description("A key that is bound to connections sees the schedules that keys for these connections created, and those of event types whose hosts are all among them.")
        .lists::<Resource<SharedSchedule>>()
        .post("/v1/scheduling/schedules", "scheduling.write", Additive, create)
        .summary("Create a schedule")
        .description(
            "Event types use it by `scheduleId`, and have its hours from the moment on at which they change.",
        )
        .body::<New<SharedSchedule>>()
        .returns::<Resource<SharedSchedule>>()
        .get("/v1/scheduling/schedules/{scheduleId}", "scheduling.read", Additive, get)
        .summary("Read a schedule")
        .returns::<Resource<SharedSchedule>>()
        .patch("/v1/scheduling/schedules/{scheduleId}", "scheduling.write", Additive, update)
        .summary("Change a schedule")
        .description("Existing bookings stay as they are. 403 `forbidden` if your key may not use every host of the event types that use it: a change would set the hours of others.")
        .body::<Patch<SharedSchedule>>()
        .returns::<Resource<SharedSchedule>>()
        .delete("/v1/scheduling/schedules/{scheduleId}", "scheduling.write", Additive, delete)
        .summary("Delete a schedule")
        .description("409 `invalid_state` while an event type uses it; 403 `forbidden` if your key may not use all hosts of that event type.")
}

async fn list(
    State(app): State<App>,
    asker: RequestContext,
    params: Params,
) -> Result<StoredResponse, ApiError> {
    let limit = usize::try_from(pagination::limit(params.get("limit"))?).unwrap_or(usize::MAX);
    let binding = Binding::new(&asker.tenant, "scheduling.schedules.list", &());
    let after: String = binding.place(&app.keyring, params.get("cursor"))?.unwrap_or_default();
    let mut found = schedules::list(&app, &asker, &after, limit + 1).await?;
    let has_more = found.len() > limit;
    found.truncate(limit);
    let mut items = Vec::with_capacity(found.len());
    for stored in &found {
        items.push(stored.view()?.to_string());
    }
    let cursor = |last: usize| binding.cursor(&app.keyring, &found.get(last).map(|s| &s.row.id));
    Ok(StoredResponse::ok(pagination::cut(&items, has_more, cursor)))
}

async fn create(cx: WriteContext, headers: HeaderMap, Body(body): Body) -> Result<StoredResponse, ApiError> {
    let strict = json::is_strict(&headers);
    Ok(schedules::create(&cx, body, strict).await?)
}

async fn get(
    State(app): State<App>,
    asker: RequestContext,
    Path(id): Path<String>,
) -> Result<StoredResponse, ApiError> {
    let found = schedules::find(&app, &asker, &id).await?;
    Ok(StoredResponse::ok(found.view()?.to_string()).etag(&found.row.etag))
}

async fn update(
    cx: WriteContext,
    headers: HeaderMap,
    Path(id): Path<String>,
    Body(mut body): Body,
) -> Result<StoredResponse, ApiError> {
    let expected = etag::expected(&headers, Some(&mut body))?;
    let strict = json::is_strict(&headers);
    Ok(schedules::update(&cx, &id, body, expected, strict).await?)
}

async fn delete(
    cx: WriteContext,
    headers: HeaderMap,
    Path(id): Path<String>,
) -> Result<StoredResponse, ApiError> {
    let expected = etag::expected(&headers, None)?;
    Ok(schedules::delete(&cx, &id, expected).await?)
}
