//! `/v1/scheduling/bookings`

use axum::extract::State;
use http::HeaderMap;
use model::resource::Resource;
use model::scheduling::booking::{Booking, NewBooking};

use crate::answer::{Answer, Attempt};
use crate::api::caller::Caller;
use crate::api::error::ApiError;
use crate::api::json::{self, Body};
use crate::api::operation::Priority::Mvp;
use crate::api::operation::Routes;
use crate::app::App;
use crate::bookings::{create as booking, new_booking};
use crate::resources::Asker;

pub fn routes() -> Routes<App> {
    Routes::new("Scheduling")
        .post("/v1/scheduling/bookings", "scheduling.book", Mvp, create)
        .summary("Book a slot")
        .description("Exactly one of several requests for the same slot succeeds; the others get 409 `slot_unavailable`, and so does every start that the search for slots does not offer. 409 `booking_limit_reached`: the address has as many bookings ahead as the event type allows. The event is written to the host's calendar right after the answer; `calendarEvents` tells how far it has got. Who hosts are is told to keys with `scheduling.read` alone.")
        .body::<NewBooking>()
        .returns::<Resource<Booking>>()
}

async fn create(
    State(app): State<App>,
    asker: Asker,
    caller: Caller,
    attempt: Attempt,
    headers: HeaderMap,
    Body(body): Body,
) -> Result<Answer, ApiError> {
    new_booking::require_fields(&body)?;
    let (new, unknown) = json::typed::<NewBooking>(body)?;
    let warnings = json::unknown_fields(&headers, &unknown)?;
    let viewer = (&asker, caller.has_scope("scheduling.read"));
    Ok(booking::create(&app, viewer, &new, &warnings, &attempt).await?)
}
