//! `/v1/scheduling/booking-links`

use axum::extract::State;
use model::scheduling::slots::BookingLink;

use crate::api::operation::Priority::Mvp;
use crate::api::operation::Routes;
use crate::api::request::extractors::Path;
use crate::api::response::error::ApiError;
use crate::app::App;
use crate::app::stored_response::StoredResponse;
use crate::bookings::links;
use crate::connections::request_context::RequestContext;

pub fn routes() -> Routes<App> {
    Routes::new("Scheduling")
        .get("/v1/scheduling/booking-links/{slug}", "scheduling.book", Mvp, get)
        .summary("What a booking page shows")
        .description("Never a host's address, calendars or reasons for being busy. What is not there, inactive or expired has the same answer: 404.")
        .returns::<BookingLink>()
}

async fn get(
    State(app): State<App>,
    asker: RequestContext,
    Path(slug): Path<String>,
) -> Result<StoredResponse, ApiError> {
    let bookable = links::by_slug(&app, &asker, &slug).await?;
    Ok(StoredResponse::ok(storage::json_text(&links::view(&app, &bookable).await?)))
}
