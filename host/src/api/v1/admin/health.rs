//! `/v1/admin/health`

use model::admin_operations::AdminHealth;
use service::app::App;
use service::app::stored_response::StoredResponse;
use service::manage::health;

use crate::api::access::admin_request::AdminRequest;
use crate::api::operation::Priority::Additive;
use crate::api::operation::Routes;
use crate::api::response::reply::{ApiResponse, ApiResult};
use crate::api::shared::installation_health::installation;

pub fn routes() -> Routes<App> {
    Routes::new("Administration")
        .get("/v1/admin/health", "admin.read", Additive, get)
        .summary("Read the state of the installation")
        .description("The state as seen by the host that answers: its checks, its connections to the database, and the jobs and hosts of the whole installation. For probes of load balancers use `GET /readyz`, which needs no key.")
        .returns::<AdminHealth>()
}

async fn get(admin: AdminRequest) -> ApiResult {
    let found = health::load(&admin.app).await?;
    Ok(ApiResponse(StoredResponse::ok(serde_json::to_string(&installation(&found))?)))
}
