//! `/v1/email/tracking`

use axum::extract::State;
use model::email::tracking::TrackingRecord;
use service::app::App;
use service::connections::request_context::RequestContext;
use service::tracking::record;

use crate::api::operation::Priority::Mvp;
use crate::api::operation::Routes;
use crate::api::request::extractors::{Extract, Path};
use crate::api::response::reply::{ApiResponse, ApiResult};

pub fn routes() -> Routes<App> {
    Routes::new("Email")
        .get("/v1/email/tracking/{trackingId}", "email.track", Mvp, get)
        .summary("Read a tracking record")
        .description("Returns the opens, clicks, replies, bounces and complaints of a message that was sent through the API. `human` leaves out the hits of image proxies and scanners; `events` shows how each hit was classified. Opens and clicks need a public address of this service. Replies, bounces and complaints need sync of the mailbox (`POST /v1/email/sync/start`).")
        .returns::<TrackingRecord>()
}

async fn get(
    State(app): State<App>,
    Extract(asker): Extract<RequestContext>,
    Path(id): Path<String>,
) -> ApiResult {
    Ok(ApiResponse(record::get(&app, &asker, &id).await?))
}
