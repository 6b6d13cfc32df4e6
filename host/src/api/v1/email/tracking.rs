//! `/v1/email/tracking`

use axum::extract::State;
use model::email::tracking::TrackingRecord;

use crate::api::operation::Priority::Mvp;
use crate::api::operation::Routes;
use crate::api::request::extractors::Path;
use crate::api::response::error::ApiError;
use crate::app::App;
use crate::app::stored_response::StoredResponse;
use crate::connections::request_context::RequestContext;
use crate::tracking::record;

pub fn routes() -> Routes<App> {
    Routes::new("Email")
        .get("/v1/email/tracking/{trackingId}", "email.track", Mvp, get)
        .summary("Read a tracking record")
        .description("What became known of a sent message: opens, clicks, replies, bounces, complaints. `human` counts what nothing speaks against: pictures that a mail program fetches unseen and links that a scanner follows are told apart in `events`. Opens and clicks need a public address of this service, replies and bounces a mailbox that is followed (`sync/start`).")
        .returns::<TrackingRecord>()
}

async fn get(
    State(app): State<App>,
    asker: RequestContext,
    Path(id): Path<String>,
) -> Result<StoredResponse, ApiError> {
    Ok(record::get(&app, &asker, &id).await?)
}
