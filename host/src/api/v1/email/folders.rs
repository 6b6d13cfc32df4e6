//! `/v1/email/folders`

use axum::extract::State;
use model::email::folders::Folder;
use model::resource::Resource;

use crate::api::operation::Priority::Mvp;
use crate::api::operation::Routes;
use crate::api::request::extractors::Params;
use crate::api::response::error::ApiError;
use crate::api::shared::mail_lists::places;
use crate::app::App;
use crate::app::resource_kind::ResourceKind;
use crate::app::stored_response::StoredResponse;
use crate::connections::request_context::RequestContext;

pub fn routes() -> Routes<App> {
    Routes::new("Email")
        .get("/v1/email/folders", "email.read", Mvp, list)
        .summary("List folders")
        .description("With their roles, and how many messages the provider counts in them.")
        .param(
            "connection_id",
            "string",
            "Only folders of this connection; without it, of all that the key may use",
        )
        .param("include", "string", "`providerData` adds what the model has no field for")
        .lists::<Resource<Folder>>()
}

async fn list(
    State(app): State<App>,
    asker: RequestContext,
    params: Params,
) -> Result<StoredResponse, ApiError> {
    places(&app, &asker, &params, ResourceKind::EmailFolder).await
}
