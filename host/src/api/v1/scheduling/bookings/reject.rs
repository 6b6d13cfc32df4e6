//! `/v1/scheduling/bookings/{bookingId}/reject`

use axum::extract::State;
use http::HeaderMap;
use model::resource::Resource;
use model::scheduling::booking::{Booking, BookingRejection};
use service::app::App;
use service::app::stored_response::IdempotentAttempt;
use service::bookings::change::Viewer;
use service::bookings::confirm;
use service::connections::request_context::RequestContext;

use crate::api::operation::Priority::Additive;
use crate::api::operation::Routes;
use crate::api::request::extractors::{Extract, Path};
use crate::api::request::json::{self, Body};
use crate::api::response::reply::{ApiResponse, ApiResult};

pub fn routes() -> Routes<App> {
    Routes::new("Scheduling")
        .post("/v1/scheduling/bookings/{bookingId}/reject", "scheduling.write", Additive, post)
        .summary("Reject a pending booking")
        .description("The time of the booking is free again as soon as the answer arrives. 409 `invalid_state` for a booking that is not pending.")
        .body::<BookingRejection>()
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
    let (asked, unknown) = json::typed::<BookingRejection>(body)?;
    let warnings = json::unknown_fields(&headers, &unknown)?;
    let viewer = Viewer { asker: &asker, sees_hosts: asker.holds("scheduling.read"), warnings };
    Ok(ApiResponse(confirm::reject(&app, viewer, &id, asked.reason, &attempt).await?))
}
