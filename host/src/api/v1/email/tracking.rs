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
        .description("What became known of a sent message: opens, clicks, replies, bounces, complaints. `human` counts what nothing speaks against: pictures that a mail program fetches unseen and links that a scanner follows are told apart in `events`. Opens and clicks need a public address of this service, replies and bounces a mailbox that is followed (`sync/start`).")
        .returns::<TrackingRecord>()
}

async fn get(
    State(app): State<App>,
    Extract(asker): Extract<RequestContext>,
    Path(id): Path<String>,
) -> ApiResult {
    Ok(ApiResponse(record::get(&app, &asker, &id).await?))
}
