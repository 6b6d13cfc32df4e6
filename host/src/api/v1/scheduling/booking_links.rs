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
        .summary("What a booking page shows")
        .description("Never a host's address, calendars or reasons for being busy. What is not there, inactive or expired has the same answer: 404.")
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
