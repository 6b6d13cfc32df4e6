//! `/v1/scheduling/booking-links`

use axum::extract::State;
use model::scheduling::slots::BookingLink;
use service::app::App;
use service::app::stored_response::StoredResponse;
use service::bookings::links;
use service::connections::request_context::RequestContext;

use crate::api::operation::Priority::Mvp;
use crate::api::operation::Routes;
use crate::api::request::extractors::{Extract, Path};
use crate::api::response::reply::{ApiResponse, ApiResult};

pub fn routes() -> Routes<App> {
    Routes::new("Scheduling")
        .get("/v1/scheduling/booking-links/{slug}", "scheduling.book", Mvp, get)
        .summary("Read a booking link")
        .description("The data that a booking page shows, without the hosts' addresses, calendars and reasons for being busy. 404 for a link that does not exist, is inactive, expired or used up.")
        .returns::<BookingLink>()
}

async fn get(
    State(app): State<App>,
    Extract(asker): Extract<RequestContext>,
    Path(slug): Path<String>,
) -> ApiResult {
    let bookable = links::by_slug(&app, &asker, &slug).await?;
    Ok(ApiResponse(StoredResponse::ok(storage::json_text(&links::view(&app, &bookable).await?))))
}
