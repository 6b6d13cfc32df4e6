//! `/v1/scheduling/event-types`

pub mod links;

use axum::extract::State;
use http::HeaderMap;
use model::resource::{New, Patch, Resource};
use model::scheduling::event_type::EventType;
use service::app::App;
use service::app::stored_response::StoredResponse;
use service::bookings::{event_types, view};
use service::connections::request_context::RequestContext;
use service::connections::write_context::WriteContext;

use crate::api::operation::Priority::Mvp;
use crate::api::operation::Routes;
use crate::api::pagination;
use crate::api::request::etag;
use crate::api::request::extractors::{Extract, Params, Path};
use crate::api::request::json::{self, Body};
use crate::api::response::reply::{ApiResponse, ApiResult};
use crate::web::cursor::Binding;

pub fn routes() -> Routes<App> {
    Routes::new("Scheduling")
        .get("/v1/scheduling/event-types", "scheduling.read", Mvp, list)
        .summary("List event types")
        .description("A key that is bound to connections sees the event types that use no other connection, neither as a host nor in `notifications.connectionId`.")
        .lists::<Resource<EventType>>()
        .post("/v1/scheduling/event-types", "scheduling.write", Mvp, create)
        .summary("Create an event type")
        .description("The event type acts with the rights of the key that saves it: keys and visitors that book need no rights to the hosts' calendars. So the key must be allowed to use the connection of every host, and both the key and the connection need `calendar.write`. To send email the key needs `email.send`: for `notifications.connectionId`, for hosts whose connections were granted it, and to turn on `notifications.invitee` or `notifications.hosts`. 403 `insufficient_scope` names each field in `details`. If a key without `email.send` leaves both out and no host could send, both are false, with the warning `notification_unavailable`. Without `calendarId` bookings are written to the account's default calendar. Without `conflictCalendarIds` the host is busy in all calendars that count in availability; with them, in these and in the one that bookings are written to. `slug` is unique within the application (409 `already_exists`). There are at most 100 hosts, each connection once. `assignment`: with `fixed` all hosts with the role `required` meet; with `collective` all but `optional` ones; with `roundRobin` the required ones and one with the role `rotation`, by `roundRobinStrategy`; with `priority` the same, and the one with the smallest `priority` who is free. Optional hosts are invited and never block a slot. Hours are in `schedule`, or in a shared one that `scheduleId` names. A new event type without either, whose hosts have no hours of their own, is open Monday to Friday from 9:00 to 17:00 in the time zone of its first host: that of the account's primary calendar, or else of the account, or else UTC, with the warning `default_time_zone`. A new host without `displayName` gets the account's name; an empty one shows no name. With `seatsPerSlot`, that many bookings share one meeting. With `requiresConfirmation`, bookings are `pending` until they are confirmed; `pendingBlocksSlot` says whether they block their time until then. A `googleMeet` or `teams` location without a link needs calendars that create such conferences (400 `capability_not_supported`).")
        .body::<New<EventType>>()
        .returns::<Resource<EventType>>()
        .get("/v1/scheduling/event-types/{eventTypeId}", "scheduling.read", Mvp, get)
        .summary("Read an event type")
        .returns::<Resource<EventType>>()
        .patch("/v1/scheduling/event-types/{eventTypeId}", "scheduling.write", Mvp, update)
        .summary("Change an event type")
        .description("Existing bookings stay as they are. To change hosts, conferences or notifications, your key needs the same rights for the new values as for a new event type. To change other fields it needs none of these.")
        .body::<Patch<EventType>>()
        .returns::<Resource<EventType>>()
        .delete("/v1/scheduling/event-types/{eventTypeId}", "scheduling.write", Mvp, delete)
        .summary("Delete an event type")
        .description("Its bookings stay. Its slug can be used again at once.")
}

async fn list(State(app): State<App>, Extract(asker): Extract<RequestContext>, params: Params) -> ApiResult {
    let limit = usize::try_from(pagination::limit(params.get("limit"))?).unwrap_or(usize::MAX);
    let binding = Binding::new(&asker.tenant, "scheduling.event_types.list", &());
    let after: String = binding.place(&app.keyring, params.get("cursor"))?.unwrap_or_default();
    let mut found = event_types::list(&app, &asker, &after, limit + 1).await?;
    let has_more = found.len() > limit;
    found.truncate(limit);
    let mut items = Vec::with_capacity(found.len());
    for stored in &found {
        items.push(view::event_type(&stored.row, &stored.body)?.to_string());
    }
    let cursor = |last: usize| binding.cursor(&app.keyring, &found.get(last).map(|e| &e.row.id));
    Ok(ApiResponse(StoredResponse::ok(pagination::cut(&items, has_more, cursor))))
}

async fn create(Extract(cx): Extract<WriteContext>, headers: HeaderMap, Body(body): Body) -> ApiResult {
    let strict = json::is_strict(&headers);
    Ok(ApiResponse(event_types::create(&cx, body, strict).await?))
}

async fn get(
    State(app): State<App>,
    Extract(asker): Extract<RequestContext>,
    Path(id): Path<String>,
) -> ApiResult {
    let found = event_types::find(&app, &asker, &id).await?;
    Ok(ApiResponse(
        StoredResponse::ok(view::event_type(&found.row, &found.body)?.to_string()).etag(&found.row.etag),
    ))
}

async fn update(
    Extract(cx): Extract<WriteContext>,
    headers: HeaderMap,
    Path(id): Path<String>,
    Body(mut body): Body,
) -> ApiResult {
    let expected = etag::expected(&headers, Some(&mut body))?;
    let strict = json::is_strict(&headers);
    Ok(ApiResponse(event_types::update(&cx, &id, body, expected, strict).await?))
}

async fn delete(Extract(cx): Extract<WriteContext>, headers: HeaderMap, Path(id): Path<String>) -> ApiResult {
    let expected = etag::expected(&headers, None)?;
    Ok(ApiResponse(event_types::delete(&cx, &id, expected).await?))
}
