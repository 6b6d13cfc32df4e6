//! `/v1/calendars/{calendarId}/events`

use axum::extract::State;
use base::error::{Error, Result};
use base::input::errors::field_error;
use http::HeaderMap;
use model::calendar::{Event, ResponseStatus};
use model::calendar_query::{NewConference, Rsvp};
use model::resource::{New, Patch, Resource};
use model::wire::calendar::{Notify, RecurrenceScope};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use service::app::App;
use service::app::stored_response::StoredResponse;
use service::connections::request_context::RequestContext;
use service::connections::write_context::WriteContext;
use service::resources::events::listing::EventQuery;
use service::resources::events::open::EventPath;
use service::resources::events::read;
use service::resources::events::respond::{self, InvitationResponse};
use service::resources::events::write::{self, EventWriteOptions};

use crate::api::operation::Priority::Mvp;
use crate::api::operation::Routes;
use crate::api::pagination;
use crate::api::request::etag;
use crate::api::request::extractors::{Extract, Params, Path};
use crate::api::request::json::{self, Body};
use crate::api::response::reply::{ApiResponse, ApiResult};
use crate::web::cursor::Binding;

const EVENTS: &str = "/v1/calendars/{calendarId}/events";
const EVENT: &str = "/v1/calendars/{calendarId}/events/{eventId}";
const NOTIFY: &str = "`notify` says whom the provider tells. Where it cannot tell exactly those, the event is written all the same, with the warning `notify_not_supported`; with `strict=true` it is refused.";
const STRICT: &str = "400 `capability_not_supported` where the provider cannot tell exactly those who are to be told, instead of a warning";

pub fn routes() -> Routes<App> {
    Routes::new("Events")
        .get(EVENTS, "calendar.read", Mvp, list)
        .summary("List events")
        .description("Stored events (single ones, series, exceptions) by start; with `expand=true` the instances of series take their place. A series that cannot be expanded stays, with the warning `recurrence_not_expanded`.")
        .param("start", "string", "Only events that end after this instant")
        .param("end", "string", "Only events that begin before this instant")
        .param("expand", "boolean", "Instances instead of series; needs `start` and `end`, at most 400 days apart")
        .param("updated_after", "string", "Only events changed at or after this instant")
        .param("q", "string", "Words in title, description, location or attendees")
        .param("i_cal_uid", "string", "Only events with this iCalendar UID")
        .param("attendee", "string", "Only events with this attendee's address")
        .param("status", "string", "confirmed, tentative or cancelled")
        .param("show_cancelled", "boolean", "Cancelled events too")
        .param("include", "string", "`providerData` adds what the model has no field for")
        .lists::<Resource<Event>>()
        .post(EVENTS, "calendar.write", Mvp, create)
        .summary("Create an event")
        .description(NOTIFY)
        .param("strict", "boolean", STRICT)
        .body::<New<Event>>()
        .returns::<Resource<Event>>()
        .get(EVENT, "calendar.read", Mvp, get)
        .summary("Read an event")
        .description("Of a series also one instance: its id is the series' id, `_`, and the original start.")
        .param("include", "string", "`providerData` adds what the model has no field for")
        .returns::<Resource<Event>>()
        .patch(EVENT, "calendar.write", Mvp, update)
        .summary("Change an event")
        .description("A JSON merge patch. `recurrenceScope` says which instances are meant: `this` (default with the id of an instance), `thisAndFollowing`, `all` (default with the id of a series). Whom the provider tells is as for creating one.")
        .param("strict", "boolean", STRICT)
        .body::<Patch<Event>>()
        .returns::<Resource<Event>>()
        .delete(EVENT, "calendar.write", Mvp, delete)
        .summary("Delete an event")
        .description("Where there is something to warn of, such as `notify_not_supported`, the answer is 200 with `warnings`.")
        .param("recurrence_scope", "string", "this, thisAndFollowing or all")
        .param("notify", "string", "Whom the provider tells: all, externalOnly or none")
        .param("strict", "boolean", STRICT)
        .post("/v1/calendars/{calendarId}/events/{eventId}/accept", "calendar.write", Mvp, accept)
        .summary("Accept an invitation")
        .param("strict", "boolean", STRICT)
        .body::<Rsvp>()
        .returns::<Resource<Event>>()
        .post("/v1/calendars/{calendarId}/events/{eventId}/tentative", "calendar.write", Mvp, tentative)
        .summary("Accept an invitation tentatively")
        .param("strict", "boolean", STRICT)
        .body::<Rsvp>()
        .returns::<Resource<Event>>()
        .post("/v1/calendars/{calendarId}/events/{eventId}/decline", "calendar.write", Mvp, decline)
        .summary("Decline an invitation")
        .param("strict", "boolean", STRICT)
        .body::<Rsvp>()
        .returns::<Resource<Event>>()
        .post("/v1/calendars/{calendarId}/events/{eventId}/conference", "calendar.write", Mvp, conference)
        .summary("Add a conference")
        .description("400 `capability_not_supported` where the provider has none. An event that has a conference keeps it.")
        .status(200)
        .body::<NewConference>()
        .returns::<Resource<Event>>()
}

async fn list(
    State(app): State<App>,
    Extract(asker): Extract<RequestContext>,
    params: Params,
    Path(calendar_id): Path<String>,
) -> ApiResult {
    let limit = pagination::limit(params.get("limit"))?;
    let query = EventQuery {
        calendar_id,
        start: params.instant("start")?,
        end: params.instant("end")?,
        expand: params.flag("expand")?,
        updated_after: params.instant("updated_after")?,
        q: params.text("q", 256)?,
        i_cal_uid: params.text("i_cal_uid", 255)?,
        attendee: params.text("attendee", 320)?,
        status: params.word("status", &["confirmed", "tentative", "cancelled"])?,
        show_cancelled: params.flag("show_cancelled")?,
        with_provider_data: params.with_provider_data(),
    };
    let binding = Binding::new(&asker.tenant, "events.list", &query);
    let after = binding.place(&app.keyring, params.get("cursor"))?;
    let opened = read::open(&app, &asker, &query).await?;
    let print = async {
        let (texts, place) = Box::pin(read::list(&app, &asker, &opened.1, &query, after, limit)).await?;
        let next = place.map(|p| binding.cursor(&app.keyring, &p));
        Ok::<_, Error>(StoredResponse::ok(pagination::page(&texts, next.as_deref())))
    };
    let name = (!query.with_provider_data).then(|| binding.page(params.get("cursor"), limit));
    Ok(ApiResponse(app.pages.get_or_render(&app.db, &asker.tenant, name.as_deref(), print).await?))
}

async fn get(
    State(app): State<App>,
    Extract(asker): Extract<RequestContext>,
    params: Params,
    Path((calendar_id, event_id)): Path<(String, String)>,
) -> ApiResult {
    read::freshen(&app, &asker, &calendar_id).await?;
    let raw = params.with_provider_data();
    let print = read::get(&app, &asker, &calendar_id, &event_id, raw);
    let name = (!raw).then(|| ["events.get", &calendar_id, &event_id].join("/"));
    Ok(ApiResponse(app.pages.get_or_render(&app.db, &asker.tenant, name.as_deref(), print).await?))
}

/// Takes `notify`, `recurrenceScope` and `etag` out of the body; the query string may name the first two instead.
fn manner(headers: &HeaderMap, params: &Params, body: &mut Map<String, Value>) -> Result<EventWriteOptions> {
    let notify = option::<Notify>(body, params, "notify", "notify")?.unwrap_or_default();
    let scope = option::<RecurrenceScope>(body, params, "recurrenceScope", "recurrence_scope")?;
    let expected = etag::expected(headers, Some(body))?;
    Ok(EventWriteOptions { expected, notify, scope, strict: is_strict(headers, params)? })
}

/// How strict a write is.
// Contract silent: what `strict` covers. Both what nobody knows and what the provider cannot do, by either spelling.
fn is_strict(headers: &HeaderMap, params: &Params) -> Result<bool> {
    Ok(params.flag("strict")? || json::is_strict(headers))
}

fn option<T: DeserializeOwned>(
    body: &mut Map<String, Value>,
    params: &Params,
    field: &str,
    parameter: &str,
) -> Result<Option<T>> {
    let value = match (body.remove(field), params.get(parameter)) {
        (Some(Value::Null) | None, None) => return Ok(None),
        (Some(Value::Null) | None, Some(text)) => Value::from(text),
        (Some(value), _) => value,
    };
    serde_json::from_value(value).map(Some).map_err(|e| field_error(field, &e.to_string()))
}

async fn create(
    Extract(cx): Extract<WriteContext>,
    headers: HeaderMap,
    params: Params,
    Path(calendar_id): Path<String>,
    Body(mut body): Body,
) -> ApiResult {
    let manner = manner(&headers, &params, &mut body)?;
    Ok(ApiResponse(write::create(&cx, &calendar_id, body, manner).await?))
}

async fn update(
    Extract(cx): Extract<WriteContext>,
    headers: HeaderMap,
    params: Params,
    Path((calendar_id, event_id)): Path<(String, String)>,
    Body(mut body): Body,
) -> ApiResult {
    let manner = manner(&headers, &params, &mut body)?;
    let path = EventPath { calendar_id: &calendar_id, event_id: &event_id };
    Ok(ApiResponse(write::update(&cx, path, body, manner).await?))
}

async fn delete(
    Extract(cx): Extract<WriteContext>,
    headers: HeaderMap,
    params: Params,
    Path((calendar_id, event_id)): Path<(String, String)>,
    Body(mut body): Body,
) -> ApiResult {
    let manner = manner(&headers, &params, &mut body)?;
    let path = EventPath { calendar_id: &calendar_id, event_id: &event_id };
    Ok(ApiResponse(write::delete(&cx, path, manner).await?))
}

/// Common parts of the three answers to an invitation.
struct InvitationContext {
    cx: WriteContext,
    headers: HeaderMap,
    params: Params,
    path: (String, String),
    body: Map<String, Value>,
}

async fn respond(mut invited: InvitationContext, status: ResponseStatus) -> ApiResult {
    let expected = etag::expected(&invited.headers, Some(&mut invited.body))?;
    let (rsvp, unknown) = json::typed::<Rsvp>(invited.body)?;
    let warnings = json::unknown_fields(&invited.headers, &unknown)?;
    let response = InvitationResponse {
        status,
        comment: rsvp.comment,
        notify_organizer: rsvp.notify_organizer,
        scope: rsvp.recurrence_scope,
        strict: is_strict(&invited.headers, &invited.params)?,
        expected,
        warnings,
    };
    let path = EventPath { calendar_id: &invited.path.0, event_id: &invited.path.1 };
    Ok(ApiResponse(respond::respond(&invited.cx, path, response).await?))
}

async fn accept(
    Extract(cx): Extract<WriteContext>,
    headers: HeaderMap,
    params: Params,
    Path(path): Path<(String, String)>,
    Body(body): Body,
) -> ApiResult {
    respond(InvitationContext { cx, headers, params, path, body }, ResponseStatus::Accepted).await
}

async fn tentative(
    Extract(cx): Extract<WriteContext>,
    headers: HeaderMap,
    params: Params,
    Path(path): Path<(String, String)>,
    Body(body): Body,
) -> ApiResult {
    respond(InvitationContext { cx, headers, params, path, body }, ResponseStatus::Tentative).await
}

async fn decline(
    Extract(cx): Extract<WriteContext>,
    headers: HeaderMap,
    params: Params,
    Path(path): Path<(String, String)>,
    Body(body): Body,
) -> ApiResult {
    respond(InvitationContext { cx, headers, params, path, body }, ResponseStatus::Declined).await
}

async fn conference(
    Extract(cx): Extract<WriteContext>,
    headers: HeaderMap,
    Path((calendar_id, event_id)): Path<(String, String)>,
    Body(body): Body,
) -> ApiResult {
    let (new, unknown) = json::typed::<NewConference>(body)?;
    let warnings = json::unknown_fields(&headers, &unknown)?;
    let path = EventPath { calendar_id: &calendar_id, event_id: &event_id };
    Ok(ApiResponse(respond::conference(&cx, path, new.provider, warnings).await?))
}
