//! `/v1/admin/applications/{applicationId}/requests`

use base::error::{Code, Result, not_found, refuse};
use base::tenant::Tenant;
use model::Instant;
use model::admin_operations::{AdminLoggedRequest, AdminRequestBodies, AdminRequestDetail};
use model::{bounds, formats};
use schemars::JsonSchema;
use serde::Deserialize;
use service::app::App;
use service::app::stored_response::StoredResponse;
use service::manage::actor::Act;
use service::manage::{applications, request_log};
use storage::request_log::{RequestEntry, RequestFilter, StatusClass};

use crate::api::access::admin_request::AdminRequest;
use crate::api::operation::Priority::Additive;
use crate::api::operation::Routes;
use crate::api::pagination;
use crate::api::request::extractors::{Params, Path};
use crate::api::response::reply::{ApiResponse, ApiResult};

/// The query string of a list of logged requests.
#[derive(Debug, Deserialize, JsonSchema)]
struct RequestListQuery {
    /// Returns only requests with an answer of this class; `error` stands for `4xx` and `5xx`.
    status: Option<StatusClassFilter>,
    /// Returns only requests of this API key and its access tokens.
    #[schemars(with = "Option<formats::Id>", length(max = bounds::MAX_ID))]
    key_id: Option<String>,
}

/// The classes of answers to filter by.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[schemars(inline)]
enum StatusClassFilter {
    #[serde(rename = "2xx")]
    Success,
    #[serde(rename = "4xx")]
    ClientError,
    #[serde(rename = "5xx")]
    ServerError,
    #[serde(rename = "error")]
    AnyError,
}

impl From<StatusClassFilter> for StatusClass {
    fn from(filter: StatusClassFilter) -> StatusClass {
        match filter {
            StatusClassFilter::Success => StatusClass::Success,
            StatusClassFilter::ClientError => StatusClass::ClientError,
            StatusClassFilter::ServerError => StatusClass::ServerError,
            StatusClassFilter::AnyError => StatusClass::Error,
        }
    }
}

/// The query string of a logged request.
#[derive(Debug, Deserialize, JsonSchema)]
struct RequestDetailQuery {
    /// The part that the answer has in addition: `bodies`, the bodies of request and answer, if they were logged.
    include: Option<RequestPart>,
}

/// Parts of a logged request that an answer has on demand.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
enum RequestPart {
    Bodies,
}

pub fn routes() -> Routes<App> {
    Routes::new("Administration")
        .get("/v1/admin/applications/{applicationId}/requests", "admin.read", Additive, list)
        .summary("List the logged requests of an application")
        .description("The newest request first. Every write and every error is logged, and a sample of the other requests; each appears about a second after it was answered.")
        .query::<RequestListQuery>()
        .lists::<AdminLoggedRequest>()
        .get("/v1/admin/applications/{applicationId}/requests/{requestId}", "admin.read", Additive, get)
        .summary("Read a logged request")
        .description("Bodies also need the scope `admin.write`, and reading them adds an entry to the audit log (`request_bodies_seen`). Parts that the application's settings do not allow to be logged are missing.")
        .query::<RequestDetailQuery>()
        .returns::<AdminRequestDetail>()
}

async fn list(admin: AdminRequest, params: Params, Path(application_id): Path<String>) -> ApiResult {
    let limit = pagination::limit(params.get("limit"))?;
    let query: RequestListQuery = params.read()?;
    let filter = RequestFilter { status: query.status.map(StatusClass::from), key_id: query.key_id };
    let tenant = tenant(&admin, &application_id).await?;
    let filters = (&application_id, params.get("status"), &filter.key_id);
    let binding = admin.binding("admin.applications.requests.list", &filters);
    let before: Option<String> = binding.place(&admin.app.keyring, params.get("cursor"))?;
    let mut found = request_log::list(&admin.app, &tenant, &filter, before.as_deref(), limit + 1).await?;
    let rows = usize::try_from(limit).unwrap_or(usize::MAX);
    let has_more = found.len() > rows;
    found.truncate(rows);
    let mut items = Vec::with_capacity(found.len());
    for entry in &found {
        items.push(serde_json::to_string(&render_request(entry))?);
    }
    let cursor = |last: usize| binding.cursor(&admin.app.keyring, &found.get(last).map(|found| &found.id));
    Ok(ApiResponse(StoredResponse::ok(pagination::cut(&items, has_more, cursor))))
}

async fn get(
    admin: AdminRequest,
    params: Params,
    Path((application_id, id)): Path<(String, String)>,
) -> ApiResult {
    let query: RequestDetailQuery = params.read()?;
    let with_bodies = matches!(query.include, Some(RequestPart::Bodies));
    let tenant = tenant(&admin, &application_id).await?;
    if with_bodies && !admin.actor.may(Act::SeeContent, &tenant.organization_id) {
        return Err(refuse(Code::InsufficientScope, "include=bodies needs the scope admin.write").into());
    }
    let entry = request_log::find(&admin.app, &tenant, &id).await?;
    let entry = entry.ok_or_else(|| not_found("request"))?;
    let bodies = match with_bodies && entry.has_bodies {
        true => request_log::see_bodies(&admin.app, &admin.actor, &tenant, &id).await?,
        false => None,
    };
    let detail = AdminRequestDetail {
        request: render_request(&entry),
        bodies: bodies.map(|bodies| AdminRequestBodies {
            is_full: bodies.is_full,
            request: bodies.request,
            response: bodies.response,
        }),
    };
    Ok(ApiResponse(StoredResponse::ok(serde_json::to_string(&detail)?)))
}

/// The tenant of the application of the path.
async fn tenant(admin: &AdminRequest, application_id: &str) -> Result<Tenant> {
    let found = applications::find(&admin.app, application_id).await?;
    Ok(found.ok_or_else(|| not_found("application"))?.tenant)
}

fn render_request(entry: &RequestEntry) -> AdminLoggedRequest {
    AdminLoggedRequest {
        id: entry.id.clone(),
        at: Instant::from_millis(entry.at),
        key_id: entry.key_id.clone(),
        method: entry.method.clone(),
        route: entry.route.clone(),
        path: entry.path.clone(),
        status: entry.status,
        ms: entry.ms,
        ip: entry.ip.clone(),
        error_code: entry.error_code.clone(),
        error_param: entry.error_param.clone(),
        bytes_in: entry.bytes_in,
        bytes_out: entry.bytes_out,
        has_bodies: entry.has_bodies,
    }
}
