//! `/v1/email/capabilities/{connectionId}`: the mail operations that an account supports.

use axum::extract::State;
use model::capabilities::Capabilities;
use service::app::App;
use service::app::stored_response::StoredResponse;
use service::connections::request_context::RequestContext;
use service::resources::capabilities;

use crate::api::operation::Priority::Mvp;
use crate::api::operation::Routes;
use crate::api::request::extractors::{Extract, Path};
use crate::api::response::reply::{ApiResponse, ApiResult};

pub fn routes() -> Routes<App> {
    Routes::new("Email")
        .get("/v1/email/capabilities/{connectionId}", "email.read", Mvp, get)
        .summary("Read what a mailbox connection can do")
        .description("The answer also covers the calendars, contacts and tasks of the account. `missing` lists what the connection cannot do, with the reasons.")
        .returns::<Capabilities>()
}

async fn get(
    State(app): State<App>,
    Extract(asker): Extract<RequestContext>,
    Path(id): Path<String>,
) -> ApiResult {
    let capabilities = capabilities::for_connection(&app, &asker, &id).await?;
    Ok(ApiResponse(StoredResponse::ok(serde_json::to_string(&capabilities)?)))
}
