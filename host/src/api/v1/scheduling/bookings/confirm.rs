//! `/v1/scheduling/bookings/{bookingId}/confirm`

use axum::extract::State;
use model::resource::Resource;
use model::scheduling::booking::Booking;
use service::app::App;
use service::app::stored_response::IdempotentAttempt;
use service::bookings::change::Viewer;
use service::bookings::confirm;
use service::connections::request_context::RequestContext;

use crate::api::access::api_key::Caller;
use crate::api::operation::Priority::Additive;
use crate::api::operation::Routes;
use crate::api::request::extractors::{Extract, Path};
use crate::api::response::reply::{ApiResponse, ApiResult};

pub fn routes() -> Routes<App> {
    Routes::new("Scheduling")
        .post("/v1/scheduling/bookings/{bookingId}/confirm", "scheduling.write", Additive, post)
        .summary("Confirm a pending booking")
        .description("Hosts can do the same without a key, by the links in the email that asks them. If several confirm or reject at the same time, one succeeds and the others get 409 `invalid_state`. If the event type does not block slots of pending bookings, the time is reserved now: 409 `slot_unavailable` if it is taken, 503 `availability_unknown` if the hosts' calendars cannot be read.")
        .returns::<Resource<Booking>>()
}

async fn post(
    State(app): State<App>,
    Extract(asker): Extract<RequestContext>,
    caller: Caller,
    Extract(attempt): Extract<IdempotentAttempt>,
    Path(id): Path<String>,
) -> ApiResult {
    let sees_hosts = caller.has_scope("scheduling.read");
    let viewer = Viewer { asker: &asker, sees_hosts, warnings: Vec::new() };
    Ok(ApiResponse(confirm::confirm(&app, viewer, &id, &attempt).await?))
}
