//! `/v1/admin/applications`

pub mod api_keys;
pub mod providers;
pub mod requests;

use base::error::{Code, invalid, not_found};
use http::HeaderMap;
use model::admin::{AdminApplication, AdminApplicationPatch, NewAdminApplication, RequestLogSetting};
use model::resource::Written;
use model::{bounds, formats};
use schemars::JsonSchema;
use serde::Deserialize;
use service::app::App;
use service::app::stored_response::StoredResponse;
use service::manage::acting::Target;
use service::manage::application_changes::{self, ApplicationUpdate, NewApplication};
use service::manage::organizations;
use service::writes::etag::ExpectedEtag;
use storage::request_log::RequestLogMode;

use crate::api::access::admin_request::AdminRequest;
use crate::api::operation::Priority::Additive;
use crate::api::operation::Routes;
use crate::api::pagination;
use crate::api::request::etag;
use crate::api::request::extractors::{Params, Path};
use crate::api::request::json::{self, Body};
use crate::api::response::error::ApiError;
use crate::api::response::reply::{ApiResponse, ApiResult};

/// The query string of a list of applications.
#[derive(Debug, Deserialize, JsonSchema)]
struct ApplicationListQuery {
    /// Returns only applications of this organization.
    #[schemars(with = "Option<formats::Id>", length(max = bounds::MAX_ID))]
    organization_id: Option<String>,
}

pub fn routes() -> Routes<App> {
    Routes::new("Administration")
        .get("/v1/admin/applications", "admin.read", Additive, list)
        .summary("List applications")
        .description("In the order of their creation; those of one organization are sorted by name.")
        .query::<ApplicationListQuery>()
        .lists::<AdminApplication>()
        .post("/v1/admin/applications", "admin.write", Additive, create)
        .summary("Create an application")
        .description("409 `already_exists`: `error.param` says whether the name or the handle is taken. 400 `invalid_url`: `error.param` names the address.")
        .body::<NewAdminApplication>()
        .returns::<Written<AdminApplication>>()
        .get("/v1/admin/applications/{applicationId}", "admin.read", Additive, get)
        .summary("Read an application")
        .returns::<AdminApplication>()
        .patch("/v1/admin/applications/{applicationId}", "admin.write", Additive, update)
        .summary("Change an application")
        .description("`redirectUris` replaces all addresses. Errors are those of `POST /v1/admin/applications`, and then nothing is changed. With `requestLog` `off`, full bodies that an operator had turned on for a time are no longer recorded either.")
        .body::<AdminApplicationPatch>()
        .returns::<Written<AdminApplication>>()
}

async fn list(admin: AdminRequest, params: Params) -> ApiResult {
    let limit = pagination::limit(params.get("limit"))?;
    let ApplicationListQuery { organization_id } = params.read()?;
    let (app, binding) = (&admin.app, admin.binding("admin.applications.list", &organization_id));
    let after: String = binding.place(&app.keyring, params.get("cursor"))?.unwrap_or_default();
    if let Some(id) = &organization_id {
        organizations::find(app, id).await?.ok_or_else(|| not_found("organization"))?;
    }
    let mut found = application_changes::list(app, organization_id.as_deref(), &after, limit + 1).await?;
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let has_more = found.len() > limit;
    found.truncate(limit);
    let items: Vec<String> = found.iter().map(|found| found.json().to_string()).collect();
    let cursor = |last: usize| {
        let place = found.get(last).map(|last| match organization_id.is_some() {
            true => &last.application.name,
            false => &last.application.tenant.application_id,
        });
        binding.cursor(&app.keyring, &place)
    };
    Ok(ApiResponse(StoredResponse::ok(pagination::cut(&items, has_more, cursor))))
}

async fn create(admin: AdminRequest, headers: HeaderMap, Body(body): Body) -> ApiResult {
    let (new, unknown) = json::typed::<NewAdminApplication>(body)?;
    let warnings = json::unknown_fields(&headers, &unknown)?;
    if new.organization_id.is_empty() {
        let message = "organizationId is required";
        return Err(ApiError(invalid(Code::MissingField, "organizationId", message)));
    }
    let settings = ApplicationUpdate {
        name: None,
        handle: new.handle.map(Some),
        redirect_uris: Some(new.redirect_uris),
        request_log: new.request_log.map(mode),
        expected: ExpectedEtag::Anything,
        warnings,
    };
    let attempt = admin.attempt("application_created", &Target::organization(&new.organization_id, ""));
    let made = NewApplication { organization_id: new.organization_id, name: new.name, is_test: new.test };
    Ok(ApiResponse(application_changes::create(&admin.app, made, settings, &attempt).await?))
}

async fn get(admin: AdminRequest, Path(id): Path<String>) -> ApiResult {
    let found = application_changes::find(&admin.app, &id).await?;
    Ok(ApiResponse(StoredResponse::ok(found.json().to_string()).etag(&found.etag())))
}

async fn update(
    admin: AdminRequest,
    headers: HeaderMap,
    Path(id): Path<String>,
    Body(mut body): Body,
) -> ApiResult {
    let expected = etag::expected(&headers, Some(&mut body))?;
    let mut fields: Vec<String> = body.keys().cloned().collect();
    let (patch, unknown) = json::typed::<AdminApplicationPatch>(body)?;
    let warnings = json::unknown_fields(&headers, &unknown)?;
    fields.retain(|field| !unknown.contains(field));
    let has_handle = fields.iter().any(|field| field == "handle");
    let change = ApplicationUpdate {
        name: patch.name,
        handle: has_handle.then_some(patch.handle),
        redirect_uris: patch.redirect_uris,
        request_log: patch.request_log.map(mode),
        expected,
        warnings,
    };
    let tenant = application_changes::find(&admin.app, &id).await?.application.tenant;
    let target = Target::application(&tenant, id).details(serde_json::json!({ "fields": fields }));
    let attempt = admin.attempt("application_changed", &target);
    Ok(ApiResponse(application_changes::update(&admin.app, &tenant, change, &attempt).await?))
}

fn mode(setting: RequestLogSetting) -> RequestLogMode {
    match setting {
        RequestLogSetting::Off => RequestLogMode::Off,
        RequestLogSetting::On => RequestLogMode::On,
        RequestLogSetting::Shapes => RequestLogMode::Shapes,
    }
}
