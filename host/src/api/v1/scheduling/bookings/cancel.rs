//! `/v1/scheduling/bookings/{bookingId}/cancel`

use axum::extract::State;
use http::HeaderMap;
use model::resource::Resource;
use model::scheduling::booking::{Booking, BookingCancellation};
use service::app::App;
use service::app::stored_response::IdempotentAttempt;
use service::bookings::change::Viewer;
use service::bookings::input::missing;
use service::bookings::{cancel, list, manage_token};
use service::connections::request_context::RequestContext;

use crate::api::operation::Priority::Additive;
use crate::api::operation::Routes;
use crate::api::request::extractors::{Extract, Path};
use crate::api::request::json::{self, Body};
use crate::api::response::reply::{ApiResponse, ApiResult};

pub fn routes() -> Routes<App> {
    Routes::new("Scheduling")
        .post("/v1/scheduling/bookings/{bookingId}/cancel", "scheduling.book", Additive, post)
        .summary("Cancel a booking")
        .description("The time of the booking is free again as soon as the answer arrives; its event is deleted from the host's calendar right after that. A key without `scheduling.write` needs the invitee's `manageToken`, and the event type's `cancellation` rules apply: 403 `forbidden` if invitees may not cancel, 409 `invalid_state` if it is too late. Neither applies to a key with `scheduling.write` that sends no `manageToken`. 409 `invalid_state` for a booking that has already ended.")
        .body::<BookingCancellation>()
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
    let (asked, unknown) = json::typed::<BookingCancellation>(body)?;
    let warnings = json::unknown_fields(&headers, &unknown)?;
    let sees_hosts = asker.holds("scheduling.read");
    if let Some(token) = &asked.manage_token {
        // The invitee's right is no key's: one that is bound to other connections than the booking's cancels it for nobody.
        list::find(&app, &asker, &id).await?;
        let found = manage_token::load(&app, &asker.tenant, &id, token).await?;
        return Ok(ApiResponse(
            cancel::by_invitee(&app, &found, asked.reason, sees_hosts, warnings, &attempt).await?,
        ));
    }
    if !asker.holds("scheduling.write") {
        return Err(missing("manageToken").into());
    }
    let viewer = Viewer { asker: &asker, sees_hosts, warnings };
    Ok(ApiResponse(cancel::by_key(&app, viewer, &id, asked.reason, &attempt).await?))
}
