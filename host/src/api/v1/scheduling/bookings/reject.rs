//! `/v1/scheduling/bookings/{bookingId}/reject`

use axum::extract::State;
use http::HeaderMap;
use model::resource::Resource;
use model::scheduling::booking::{Booking, BookingRejection};

use crate::api::operation::Priority::Additive;
use crate::api::operation::Routes;
use crate::api::request::extractors::Path;
use crate::api::request::json::{self, Body};
use crate::api::response::error::ApiError;
use crate::app::App;
use crate::app::stored_response::{IdempotentAttempt, StoredResponse};
use crate::bookings::change::Viewer;
use crate::bookings::confirm;
use crate::connections::request_context::RequestContext;

pub fn routes() -> Routes<App> {
    Routes::new("Scheduling")
        .post("/v1/scheduling/bookings/{bookingId}/reject", "scheduling.write", Additive, post)
        .summary("Reject a booking that is pending")
        .description(
            "Its time is free with the answer. 409 `invalid_state` for a booking that is not pending.",
        )
        .body::<BookingRejection>()
        .returns::<Resource<Booking>>()
}

async fn post(
    State(app): State<App>,
    asker: RequestContext,
    attempt: IdempotentAttempt,
    headers: HeaderMap,
    Path(id): Path<String>,
    Body(body): Body,
) -> Result<StoredResponse, ApiError> {
    let (asked, unknown) = json::typed::<BookingRejection>(body)?;
    let warnings = json::unknown_fields(&headers, &unknown)?;
    let viewer = Viewer { asker: &asker, sees_hosts: asker.holds("scheduling.read"), warnings };
    Ok(confirm::reject(&app, viewer, &id, asked.reason, &attempt).await?)
}
