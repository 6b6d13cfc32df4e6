//! `/v1/admin/organizations`

use base::error::not_found;
use http::HeaderMap;
use model::admin::{AdminOrganization, AdminOrganizationPatch, NewAdminOrganization};
use model::resource::Written;
use service::app::App;
use service::app::stored_response::StoredResponse;
use service::manage::acting::Target;
use service::manage::organizations::{self, OrganizationUpdate};
use storage::organizations::OrganizationPosition;

use crate::api::access::admin_request::AdminRequest;
use crate::api::operation::Priority::Additive;
use crate::api::operation::Routes;
use crate::api::pagination;
use crate::api::request::etag;
use crate::api::request::extractors::{Params, Path};
use crate::api::request::json::{self, Body};
use crate::api::response::reply::{ApiResponse, ApiResult};

pub fn routes() -> Routes<App> {
    Routes::new("Administration")
        .get("/v1/admin/organizations", "admin.read", Additive, list)
        .summary("List organizations")
        .description("Sorted by name. The organization of the administration's own keys is not listed.")
        .lists::<AdminOrganization>()
        .post("/v1/admin/organizations", "admin.write", Additive, create)
        .summary("Create an organization")
        .body::<NewAdminOrganization>()
        .returns::<Written<AdminOrganization>>()
        .get("/v1/admin/organizations/{organizationId}", "admin.read", Additive, get)
        .summary("Read an organization")
        .returns::<AdminOrganization>()
        .patch("/v1/admin/organizations/{organizationId}", "admin.write", Additive, update)
        .summary("Rename an organization")
        .body::<AdminOrganizationPatch>()
        .returns::<Written<AdminOrganization>>()
}

async fn list(admin: AdminRequest, params: Params) -> ApiResult {
    let limit = pagination::limit(params.get("limit"))?;
    let (app, binding) = (&admin.app, admin.binding("admin.organizations.list", &()));
    let after: OrganizationPosition = binding.place(&app.keyring, params.get("cursor"))?.unwrap_or_default();
    let mut found = organizations::list(app, &admin.actor, &after, limit + 1).await?;
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let has_more = found.len() > limit;
    found.truncate(limit);
    let items: Vec<String> = found.iter().map(|found| organizations::json(found).to_string()).collect();
    let cursor = |last: usize| {
        let place =
            found.get(last).map(|last| OrganizationPosition { name: last.name.clone(), id: last.id.clone() });
        binding.cursor(&app.keyring, &place)
    };
    Ok(ApiResponse(StoredResponse::ok(pagination::cut(&items, has_more, cursor))))
}

async fn create(admin: AdminRequest, headers: HeaderMap, Body(body): Body) -> ApiResult {
    let (new, unknown) = json::typed::<NewAdminOrganization>(body)?;
    let warnings = json::unknown_fields(&headers, &unknown)?;
    let attempt = admin.attempt("organization_created", &Target::installation(""));
    Ok(ApiResponse(organizations::create_warned(&admin.app, &new.name, &warnings, &attempt).await?))
}

async fn get(admin: AdminRequest, Path(id): Path<String>) -> ApiResult {
    let found = organizations::find(&admin.app, &id).await?.ok_or_else(|| not_found("organization"))?;
    let etag = organizations::etag(&found);
    Ok(ApiResponse(StoredResponse::ok(organizations::json(&found).to_string()).etag(&etag)))
}

async fn update(
    admin: AdminRequest,
    headers: HeaderMap,
    Path(id): Path<String>,
    Body(mut body): Body,
) -> ApiResult {
    let expected = etag::expected(&headers, Some(&mut body))?;
    let mut fields: Vec<String> = body.keys().cloned().collect();
    let (patch, unknown) = json::typed::<AdminOrganizationPatch>(body)?;
    let warnings = json::unknown_fields(&headers, &unknown)?;
    fields.retain(|field| !unknown.contains(field));
    let details = serde_json::json!({ "fields": fields });
    let target = Target::organization(&id, id.as_str()).details(details);
    let attempt = admin.attempt("organization_renamed", &target);
    let change = OrganizationUpdate { name: patch.name, expected, warnings };
    Ok(ApiResponse(organizations::update(&admin.app, &id, change, &attempt).await?))
}
