//! `/v1/scheduling/bookings/{bookingId}/reschedule`

use axum::extract::State;
use http::HeaderMap;
use model::resource::Resource;
use model::scheduling::booking::{Booking, BookingMove};
use serde_json::Value;
use service::app::App;
use service::app::stored_response::IdempotentAttempt;
use service::bookings::change::Viewer;
use service::bookings::input::missing;
use service::bookings::{list, manage_token, reschedule};
use service::connections::request_context::RequestContext;

use crate::api::operation::Priority::Additive;
use crate::api::operation::Routes;
use crate::api::request::extractors::{Extract, Path};
use crate::api::request::json::{self, Body};
use crate::api::response::reply::{ApiResponse, ApiResult};

pub fn routes() -> Routes<App> {
    Routes::new("Scheduling")
        .post("/v1/scheduling/bookings/{bookingId}/reschedule", "scheduling.book", Additive, post)
        .summary("Reschedule a booking")
        .description("The booking keeps its id, and its `iCalUid` as long as its organizer is the same; `sequence` goes up. Its old time is free and its new time taken as soon as the answer arrives; the calendar event is moved right after that. 409 `slot_unavailable` for a `start` that the slot search with this `rescheduleBookingId` does not offer, 409 `invalid_state` for a booking that is not confirmed. A key without `scheduling.write` needs the invitee's `manageToken`, and the event type's `reschedule` rules apply: 403 `forbidden` if invitees may not reschedule, 409 `invalid_state` if it is too late or was done too often; if bookings need a confirmation, this one is pending again. None of that applies to a key with `scheduling.write` that sends no `manageToken`.")
        .body::<BookingMove>()
        .returns::<Resource<Booking>>()
}

async fn post(
    State(app): State<App>,
    Extract(asker): Extract<RequestContext>,
    Extract(attempt): Extract<IdempotentAttempt>,
    headers: HeaderMap,
    Path(id): Path<String>,
    Body(body): Body,
) -> ApiResult {
    if matches!(body.get("start"), None | Some(Value::Null)) {
        return Err(missing("start").into());
    }
    let (asked, unknown) = json::typed::<BookingMove>(body)?;
    let warnings = json::unknown_fields(&headers, &unknown)?;
    let viewer = Viewer { asker: &asker, sees_hosts: asker.holds("scheduling.read"), warnings };
    if let Some(token) = &asked.manage_token {
        // As for cancellations: a key reschedules only bookings of its own connections.
        list::find(&app, &asker, &id).await?;
        let found = manage_token::load(&app, &asker.tenant, &id, token).await?;
        return Ok(ApiResponse(reschedule::by_invitee(&app, viewer, &found, asked.clone(), &attempt).await?));
    }
    if !asker.holds("scheduling.write") {
        return Err(missing("manageToken").into());
    }
    Ok(ApiResponse(reschedule::by_key(&app, viewer, &id, asked, &attempt).await?))
}
