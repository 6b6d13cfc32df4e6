//! `/v1/admin/applications/{applicationId}/providers`

use base::error::{Result, not_found};
use base::tenant::Tenant;
use http::HeaderMap;
use model::admin::{AdminProvider, NewAdminProvider};
use model::resource::Written;
use schemars::JsonSchema;
use serde::Deserialize;
use service::app::App;
use service::app::stored_response::StoredResponse;
use service::manage::acting::Target;
use service::manage::providers::registration::{self, ClientRegistration};
use service::manage::{applications, provider_clients};
use zeroize::Zeroizing;

use crate::api::access::admin_request::AdminRequest;
use crate::api::operation::Priority::Additive;
use crate::api::operation::Routes;
use crate::api::pagination;
use crate::api::request::etag;
use crate::api::request::extractors::{Params, Path};
use crate::api::request::json::{self, Body};
use crate::api::response::reply::{ApiResponse, ApiResult};

/// The query string of the removal of a registration.
#[derive(Debug, Deserialize, JsonSchema)]
struct RemovalQuery {
    /// Whether the registration is removed even while accounts of the provider are connected.
    #[serde(default)]
    force: bool,
}

pub fn routes() -> Routes<App> {
    Routes::new("Administration")
        .get("/v1/admin/applications/{applicationId}/providers", "admin.read", Additive, list)
        .summary("List providers with OAuth, and the application's registrations")
        .description("Sorted by name. If the application has no registration at a provider, its `clientId` is null; enter its `callbackUrl` when you register there.")
        .lists::<AdminProvider>()
        .put("/v1/admin/applications/{applicationId}/providers/{provider}", "admin.write", Additive, replace)
        .summary("Register the application's OAuth client at a provider")
        .description("Replaces the registration as a whole, except for the secret: without `clientSecret` the stored one stays. With `If-Match` it is only replaced if it still has that version. Addresses in `endpoints` are called under the same rules as all others: unless the host's settings allow it, none may lead into a private network. Connections stay, and use the new registration.")
        .body::<NewAdminProvider>()
        .returns::<Written<AdminProvider>>()
        .delete("/v1/admin/applications/{applicationId}/providers/{provider}", "admin.write", Additive, remove)
        .summary("Remove a registration")
        .description("409 `not_empty` while accounts of the provider are connected, because their tokens could no longer be renewed. `force=true` removes it all the same.")
        .query::<RemovalQuery>()
}

async fn tenant(admin: &AdminRequest, application_id: &str) -> Result<Tenant> {
    let found = applications::find(&admin.app, application_id).await?;
    Ok(found.ok_or_else(|| not_found("application"))?.tenant)
}

async fn list(admin: AdminRequest, params: Params, Path(application_id): Path<String>) -> ApiResult {
    let limit = usize::try_from(pagination::limit(params.get("limit"))?).unwrap_or(usize::MAX);
    let tenant = tenant(&admin, &application_id).await?;
    let (app, binding) = (&admin.app, admin.binding("admin.providers.list", &application_id));
    let after: String = binding.place(&app.keyring, params.get("cursor"))?.unwrap_or_default();
    let mut found = registration::list(app, &tenant).await?;
    found.retain(|found| found.provider > after);
    let has_more = found.len() > limit;
    found.truncate(limit);
    let items: Vec<String> = found.iter().map(|found| found.json().to_string()).collect();
    let cursor = |last: usize| binding.cursor(&app.keyring, &found.get(last).map(|last| &last.provider));
    Ok(ApiResponse(StoredResponse::ok(pagination::cut(&items, has_more, cursor))))
}

async fn replace(
    admin: AdminRequest,
    headers: HeaderMap,
    Path((application_id, provider)): Path<(String, String)>,
    Body(mut body): Body,
) -> ApiResult {
    let expected = etag::expected(&headers, Some(&mut body))?;
    let mut fields: Vec<String> = body.keys().cloned().collect();
    let (given, unknown) = json::typed::<NewAdminProvider>(body)?;
    let warnings = json::unknown_fields(&headers, &unknown)?;
    fields.retain(|field| !unknown.contains(field));
    let tenant = tenant(&admin, &application_id).await?;
    let details = serde_json::json!({ "fields": fields });
    let target = Target::application(&tenant, provider.as_str()).details(details);
    let attempt = admin.attempt("oauth_client_saved", &target);
    let registration = ClientRegistration {
        client_id: given.client_id,
        secret: given.client_secret.map(Zeroizing::new),
        client_auth: given.client_auth,
        settings: given.settings,
        endpoints: given.endpoints,
        scopes: given.scopes,
        is_disabled: given.disabled,
        expected,
        warnings,
    };
    Ok(ApiResponse(registration::save(&admin.app, &tenant, &provider, registration, &attempt).await?))
}

async fn remove(
    admin: AdminRequest,
    headers: HeaderMap,
    params: Params,
    Path((application_id, provider)): Path<(String, String)>,
) -> ApiResult {
    let expected = etag::expected(&headers, None)?;
    let RemovalQuery { force } = params.read()?;
    let tenant = tenant(&admin, &application_id).await?;
    let found = registration::find(&admin.app, &tenant, &provider).await?;
    expected.check(&found.etag().unwrap_or_default())?;
    let target = Target::application(&tenant, provider.as_str());
    let attempt = admin.attempt("oauth_client_removed", &target);
    let removed =
        provider_clients::remove(&admin.app, &tenant, &provider, force, &expected, &attempt).await?;
    Ok(ApiResponse(removed))
}
