//! `/v1/scheduling/schedules`

use axum::extract::State;
use http::HeaderMap;
use model::resource::{New, Patch, Resource};
use model::scheduling::SharedSchedule;
use service::app::App;
use service::app::stored_response::StoredResponse;
use service::bookings::schedules;
use service::connections::request_context::RequestContext;
use service::connections::write_context::WriteContext;

use crate::api::operation::Priority::Additive;
use crate::api::operation::Routes;
use crate::api::pagination;
use crate::api::request::etag;
use crate::api::request::extractors::{Extract, Params, Path};
use crate::api::request::json::{self, Body};
use crate::api::response::reply::{ApiResponse, ApiResult};
use crate::web::cursor::Binding;

pub fn routes() -> Routes<App> {
    Routes::new("Scheduling")
        .get("/v1/scheduling/schedules", "scheduling.read", Additive, list)
        .summary("List schedules")
        .description("A key that is bound to connections sees the schedules that keys for these connections created, and those of event types whose hosts are all among them.")
        .lists::<Resource<SharedSchedule>>()
        .post("/v1/scheduling/schedules", "scheduling.write", Additive, create)
        .summary("Create a schedule")
        .description("Event types use a schedule by `scheduleId`. A change of its hours applies to them at once.")
        .body::<New<SharedSchedule>>()
        .returns::<Resource<SharedSchedule>>()
        .get("/v1/scheduling/schedules/{scheduleId}", "scheduling.read", Additive, get)
        .summary("Read a schedule")
        .returns::<Resource<SharedSchedule>>()
        .patch("/v1/scheduling/schedules/{scheduleId}", "scheduling.write", Additive, update)
        .summary("Change a schedule")
        .description("Existing bookings stay as they are. 403 `forbidden` if your key may not use every host of the event types that use the schedule, because the change would set the hours of others.")
        .body::<Patch<SharedSchedule>>()
        .returns::<Resource<SharedSchedule>>()
        .delete("/v1/scheduling/schedules/{scheduleId}", "scheduling.write", Additive, delete)
        .summary("Delete a schedule")
        .description("409 `invalid_state` while an event type uses the schedule; 403 `forbidden` if your key may not use all hosts of that event type.")
}

async fn list(State(app): State<App>, Extract(asker): Extract<RequestContext>, params: Params) -> ApiResult {
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
    Ok(ApiResponse(StoredResponse::ok(pagination::cut(&items, has_more, cursor))))
}

async fn create(Extract(cx): Extract<WriteContext>, headers: HeaderMap, Body(body): Body) -> ApiResult {
    let strict = json::is_strict(&headers);
    Ok(ApiResponse(schedules::create(&cx, body, strict).await?))
}

async fn get(
    State(app): State<App>,
    Extract(asker): Extract<RequestContext>,
    Path(id): Path<String>,
) -> ApiResult {
    let found = schedules::find(&app, &asker, &id).await?;
    Ok(ApiResponse(StoredResponse::ok(found.view()?.to_string()).etag(&found.row.etag)))
}

async fn update(
    Extract(cx): Extract<WriteContext>,
    headers: HeaderMap,
    Path(id): Path<String>,
    Body(mut body): Body,
) -> ApiResult {
    let expected = etag::expected(&headers, Some(&mut body))?;
    let strict = json::is_strict(&headers);
    Ok(ApiResponse(schedules::update(&cx, &id, body, expected, strict).await?))
}

async fn delete(Extract(cx): Extract<WriteContext>, headers: HeaderMap, Path(id): Path<String>) -> ApiResult {
    let expected = etag::expected(&headers, None)?;
    Ok(ApiResponse(schedules::delete(&cx, &id, expected).await?))
}
