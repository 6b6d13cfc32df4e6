//! `/v1/calendars/{calendarId}/events`

use axum::extract::State;
use base::error::{Error, Result};
use base::input::errors::field_error;
use http::HeaderMap;
use model::bounds;
use model::calendar::{Event, EventStatus, ResponseStatus};
use model::calendar_query::{NewConference, Rsvp};
use model::formats::InstantOrDate;
use model::resource::{New, Patch, Resource};
use model::wire::calendar::{Notify, RecurrenceScope};
use schemars::JsonSchema;
use serde::Deserialize;
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
use crate::api::request::query::{IncludeList, IncludeQuery, StrictQuery};
use crate::api::response::reply::{ApiResponse, ApiResult};
use crate::web::cursor::Binding;

const EVENTS: &str = "/v1/calendars/{calendarId}/events";
const EVENT: &str = "/v1/calendars/{calendarId}/events/{eventId}";
const NOTIFY: &str = "`notify` says which attendees the provider notifies. If it cannot notify exactly these, the event is written all the same, with the warning `notify_not_supported`; with `strict=true` the write is refused.";

/// The query string of a list of events.
#[derive(Debug, Deserialize, JsonSchema)]
struct EventListQuery {
    /// Returns only events that end after this time.
    start: Option<InstantOrDate>,
    /// Returns only events that begin before this time, which must be after `start`.
    end: Option<InstantOrDate>,
    /// Whether the instances of series take the place of the series. It needs `start` and `end`, at most 400 days apart.
    #[serde(default)]
    expand: bool,
    /// Returns only events that changed at or after this time.
    updated_after: Option<InstantOrDate>,
    /// Words, separated by spaces, that all occur in the title, the description, the location or the attendees.
    #[schemars(length(max = bounds::list::MAX_QUERY))]
    q: Option<String>,
    /// Returns only the events with this iCalendar UID.
    #[schemars(length(max = bounds::MAX_LABEL))]
    i_cal_uid: Option<String>,
    /// Returns only events with this email address among their attendees.
    #[schemars(length(max = bounds::list::MAX_ADDRESS))]
    attendee: Option<String>,
    /// Returns only events with this status. Without it, all events except cancelled ones are returned.
    status: Option<EventStatus>,
    /// Whether cancelled events are listed too.
    #[serde(default)]
    show_cancelled: bool,
    /// Parts that the answer has beside the usual ones: `providerData` adds what the model has no field for. Other words are ignored.
    #[serde(default)]
    include: IncludeList,
}

/// The query string of a change of an event. A body may have the first two instead.
#[derive(Debug, Deserialize, JsonSchema)]
struct EventChangeQuery {
    /// The instances to change. If absent, `this` with the id of an instance and `all` with the id of a series.
    recurrence_scope: Option<RecurrenceScope>,
    /// The attendees that the provider notifies; `all` if absent.
    notify: Option<Notify>,
    /// Whether the change is refused with 400 `capability_not_supported` if the provider cannot notify exactly these attendees. Otherwise
    /// the answer has a warning.
    #[serde(default)]
    strict: bool,
}

pub fn routes() -> Routes<App> {
    Routes::new("Events")
        .get(EVENTS, "calendar.read", Mvp, list)
        .summary("List events")
        .description("Stored events (single ones, series, exceptions) by start; with `expand=true` the instances of series take their place. A series that cannot be expanded stays, with the warning `recurrence_not_expanded`.")
        .query::<EventListQuery>()
        .lists::<Resource<Event>>()
        .post(EVENTS, "calendar.write", Mvp, create)
        .summary("Create an event")
        .description(NOTIFY)
        .query::<StrictQuery>()
        .body::<New<Event>>()
        .returns::<Resource<Event>>()
        .get(EVENT, "calendar.read", Mvp, get)
        .summary("Read an event")
        .description("Also reads one instance of a series: its id is the id of the series, `_`, and the original start.")
        .query::<IncludeQuery>()
        .returns::<Resource<Event>>()
        .patch(EVENT, "calendar.write", Mvp, update)
        .summary("Change an event")
        .description("A JSON merge patch. `recurrenceScope` says which instances change: `this` (default with the id of an instance), `thisAndFollowing`, `all` (default with the id of a series). `notify` has the meaning that it has when an event is created.")
        .query::<StrictQuery>()
        .body::<Patch<Event>>()
        .returns::<Resource<Event>>()
        .delete(EVENT, "calendar.write", Mvp, delete)
        .summary("Delete an event")
        .description("The answer is 204, or 200 with `warnings` if there are any, such as `notify_not_supported`.")
        .query::<EventChangeQuery>()
        .post("/v1/calendars/{calendarId}/events/{eventId}/accept", "calendar.write", Mvp, accept)
        .summary("Accept an invitation")
        .query::<StrictQuery>()
        .body::<Rsvp>()
        .returns::<Resource<Event>>()
        .post("/v1/calendars/{calendarId}/events/{eventId}/tentative", "calendar.write", Mvp, tentative)
        .summary("Accept an invitation tentatively")
        .query::<StrictQuery>()
        .body::<Rsvp>()
        .returns::<Resource<Event>>()
        .post("/v1/calendars/{calendarId}/events/{eventId}/decline", "calendar.write", Mvp, decline)
        .summary("Decline an invitation")
        .query::<StrictQuery>()
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
    let given: EventListQuery = params.read()?;
    let query = EventQuery {
        calendar_id,
        start: given.start.map(InstantOrDate::as_millis),
        end: given.end.map(InstantOrDate::as_millis),
        expand: given.expand,
        updated_after: given.updated_after.map(InstantOrDate::as_millis),
        q: given.q,
        i_cal_uid: given.i_cal_uid,
        attendee: given.attendee,
        status: given.status,
        show_cancelled: given.show_cancelled,
        with_provider_data: given.include.has_provider_data(),
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
    let query: EventChangeQuery = params.read()?;
    let notify = option(body, "notify")?.or(query.notify).unwrap_or_default();
    let scope = option(body, "recurrenceScope")?.or(query.recurrence_scope);
    let expected = etag::expected(headers, Some(body))?;
    Ok(EventWriteOptions { expected, notify, scope, strict: query.strict || json::is_strict(headers) })
}

/// How strict a write is.
// Contract silent: what `strict` covers. Both what nobody knows and what the provider cannot do, by either spelling.
fn is_strict(headers: &HeaderMap, params: &Params) -> Result<bool> {
    Ok(params.read::<StrictQuery>()?.strict || json::is_strict(headers))
}

/// Takes an option out of a body.
fn option<T: DeserializeOwned>(body: &mut Map<String, Value>, field: &str) -> Result<Option<T>> {
    let value = body.remove(field).unwrap_or_default();
    serde_json::from_value(value).map_err(|e| field_error(field, &e.to_string()))
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
