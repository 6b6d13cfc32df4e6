//! `/v1/email/folders`

use axum::extract::State;
use model::email::folders::Folder;
use model::resource::Resource;
use service::app::App;
use service::app::resource_kind::ResourceKind;
use service::connections::request_context::RequestContext;

use crate::api::operation::Priority::Mvp;
use crate::api::operation::Routes;
use crate::api::request::extractors::{Extract, Params};
use crate::api::request::query::ConnectionIncludeQuery;
use crate::api::response::reply::ApiResult;
use crate::api::shared::mail_lists::places;

pub fn routes() -> Routes<App> {
    Routes::new("Email")
        .get("/v1/email/folders", "email.read", Mvp, list)
        .summary("List folders")
        .description("Each folder has its role and the number of messages that the provider counts in it.")
        .query::<ConnectionIncludeQuery>()
        .lists::<Resource<Folder>>()
}

async fn list(State(app): State<App>, Extract(asker): Extract<RequestContext>, params: Params) -> ApiResult {
    places(&app, &asker, &params, ResourceKind::EmailFolder).await
}
