//! `/v1/admin/hosts`

use model::admin_operations::AdminHosts;
use service::app::App;
use service::app::stored_response::StoredResponse;
use service::manage::health;

use crate::api::access::admin_request::AdminRequest;
use crate::api::operation::Priority::Additive;
use crate::api::operation::Routes;
use crate::api::response::reply::{ApiResponse, ApiResult};
use crate::api::shared::installation_health::host;

pub fn routes() -> Routes<App> {
    Routes::new("Administration")
        .get("/v1/admin/hosts", "admin.read", Additive, get)
        .summary("Read the hosts of the installation")
        .description("A host is a process that works on the database. A host that stopped without notice is shown until another one has taken over its jobs.")
        .returns::<AdminHosts>()
}

async fn get(admin: AdminRequest) -> ApiResult {
    let found = health::hosts(&admin.app).await?;
    let hosts = AdminHosts { hosts: found.iter().map(host).collect() };
    Ok(ApiResponse(StoredResponse::ok(serde_json::to_string(&hosts)?)))
}
