//! `/v1/scheduling/bookings/{bookingId}/confirm`

use axum::extract::State;
use model::resource::Resource;
use model::scheduling::booking::Booking;

use crate::api::access::api_key::Caller;
use crate::api::operation::Priority::Additive;
use crate::api::operation::Routes;
use crate::api::request::extractors::Path;
use crate::api::response::error::ApiError;
use crate::app::App;
use crate::app::stored_response::{IdempotentAttempt, StoredResponse};
use crate::bookings::change::Viewer;
use crate::bookings::confirm;
use crate::connections::request_context::RequestContext;

pub fn routes() -> Routes<App> {
    Routes::new("Scheduling")
        .post("/v1/scheduling/bookings/{bookingId}/confirm", "scheduling.write", Additive, post)
        .summary("Confirm a booking that is pending")
        .description("Hosts can do the same without a key, by the links in the email that asks them. Of several who confirm or reject at the same time one succeeds, the others get 409 `invalid_state`. Where the event type does not block slots of pending bookings, the time is reserved now: 409 `slot_unavailable` when it is taken, 503 `availability_unknown` when the hosts' calendars cannot be read.")
        .returns::<Resource<Booking>>()
}

async fn post(
    State(app): State<App>,
    asker: RequestContext,
    caller: Caller,
    attempt: IdempotentAttempt,
    Path(id): Path<String>,
) -> Result<StoredResponse, ApiError> {
    let sees_hosts = caller.has_scope("scheduling.read");
    let viewer = Viewer { asker: &asker, sees_hosts, warnings: Vec::new() };
    Ok(confirm::confirm(&app, viewer, &id, &attempt).await?)
}
