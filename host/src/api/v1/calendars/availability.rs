//! `/v1/calendars/availability/query`

use axum::extract::State;
use http::HeaderMap;
use model::calendar_query::{AvailabilityAnswer, AvailabilityQuery};
use service::app::App;
use service::connections::request_context::RequestContext;
use service::freebusy::availability;

use crate::api::operation::Priority::Mvp;
use crate::api::operation::Routes;
use crate::api::request::extractors::Extract;
use crate::api::request::json::{self, Body};
use crate::api::response::reply::{ApiResponse, ApiResult, with_warnings};

pub fn routes() -> Routes<App> {
    Routes::new("Free and busy")
        .post("/v1/calendars/availability/query", "calendar.freebusy", Mvp, ask)
        .summary("Ask when people can meet")
        .description("Every group of `participants` must be satisfied. Slots begin on a grid that starts with each window of open hours, or at midnight in `timeZone`; a busy time does not move it. Buffers are kept free of busy times and need not be open. A member that could not be asked counts as busy, is named in `unavailable`, and makes `complete` false.")
        .body::<AvailabilityQuery>()
        .returns::<AvailabilityAnswer>()
}

async fn ask(
    State(app): State<App>,
    Extract(asker): Extract<RequestContext>,
    headers: HeaderMap,
    Body(body): Body,
) -> ApiResult {
    availability::require_fields(&body)?;
    let (asked, unknown) = json::typed::<AvailabilityQuery>(body)?;
    let warnings = json::unknown_fields(&headers, &unknown)?;
    let answer = availability::answer(&app, &asker, &asked).await?;
    Ok(ApiResponse(with_warnings(&answer, warnings)?))
}
