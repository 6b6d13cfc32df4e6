//! `/v1/admin/applications/{applicationId}/api-keys`

use base::error::{Result, not_found};
use base::tenant::Tenant;
use http::HeaderMap;
use model::application::{ApiKey, CreatedApiKey, KeyRotation, NewApiKey, RotatedApiKey};
use model::resource::Written;
use serde_json::json as value;
use service::app::App;
use service::app::stored_response::StoredResponse;
use service::manage::acting::{self, Target};
use service::manage::applications;
use service::manage::keys::{self, KeyRequest, KeyTarget, SecretRotation};
use storage::api_keys::{self, KeyKind};

use crate::api::access::admin_request::AdminRequest;
use crate::api::operation::Priority::Additive;
use crate::api::operation::Routes;
use crate::api::pagination;
use crate::api::request::extractors::{Params, Path};
use crate::api::request::json::{self, Body};
use crate::api::response::reply::{ApiResponse, ApiResult};
use crate::api::shared::key_revocation::KeyRevocationQuery;

pub fn routes() -> Routes<App> {
    Routes::new("Administration")
        .get("/v1/admin/applications/{applicationId}/api-keys", "admin.read", Additive, list)
        .summary("List an application's API keys")
        .description("The oldest key first, including revoked keys and without access tokens.")
        .lists::<ApiKey>()
        .post("/v1/admin/applications/{applicationId}/api-keys", "admin.write", Additive, create)
        .summary("Create an API key of an application")
        .description("The answer holds the secret in `key`. It is shown only once; an idempotent replay shows it again. The key can have every scope except those of administration (400 `invalid_parameter`).")
        .body::<NewApiKey>()
        .returns::<Written<CreatedApiKey>>()
        .post("/v1/admin/applications/{applicationId}/api-keys/{keyId}/rotate", "admin.write", Additive, rotate)
        .summary("Give an API key of an application a new secret")
        .description("The same as `POST /v1/api-keys/{keyId}/rotate`, for every key of the application. 409 `invalid_state`: the key is revoked or expired, it is an access token, or the overlap of an earlier rotation is not over and another overlap is requested.")
        .body::<KeyRotation>()
        .returns::<Written<RotatedApiKey>>()
        .delete("/v1/admin/applications/{applicationId}/api-keys/{keyId}", "admin.write", Additive, revoke)
        .summary("Revoke an API key of an application")
        .description("The same as `DELETE /v1/api-keys/{keyId}`, for every key of the application.")
        .query::<KeyRevocationQuery>()
}

/// The tenant of an application; the keys of the administration itself are not among those that can be reached.
async fn tenant(admin: &AdminRequest, application_id: &str) -> Result<Tenant> {
    let found = applications::find(&admin.app, application_id).await?;
    Ok(found.ok_or_else(|| not_found("application"))?.tenant)
}

async fn list(admin: AdminRequest, params: Params, Path(application_id): Path<String>) -> ApiResult {
    let limit = pagination::limit(params.get("limit"))?;
    let tenant = tenant(&admin, &application_id).await?;
    let (app, binding) = (&admin.app, admin.binding("admin.api-keys.list", &application_id));
    let after: String = binding.place(&app.keyring, params.get("cursor"))?.unwrap_or_default();
    let mut found = api_keys::list(app.db.reader(), &tenant, None, KeyKind::Key, (&after, limit + 1)).await?;
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let has_more = found.len() > limit;
    found.truncate(limit);
    let items: Vec<String> = found.iter().map(|key| key.json().to_string()).collect();
    let cursor = |last: usize| binding.cursor(&app.keyring, &found.get(last).map(|key| &key.id));
    Ok(ApiResponse(StoredResponse::ok(pagination::cut(&items, has_more, cursor))))
}

async fn create(
    admin: AdminRequest,
    headers: HeaderMap,
    Path(application_id): Path<String>,
    Body(body): Body,
) -> ApiResult {
    let (new, unknown) = json::typed::<NewApiKey>(body)?;
    let warnings = json::unknown_fields(&headers, &unknown)?;
    let tenant = tenant(&admin, &application_id).await?;
    let details = value!({ "name": new.name, "scopes": new.scopes });
    let attempt = admin.attempt("key_created", &Target::application(&tenant, "").details(details));
    let maker = acting::key(&admin.actor, &tenant);
    Ok(ApiResponse(keys::create(&admin.app, &maker, KeyRequest { new, warnings }, &attempt).await?.answer))
}

async fn rotate(
    admin: AdminRequest,
    headers: HeaderMap,
    Path((application_id, id)): Path<(String, String)>,
    Body(body): Body,
) -> ApiResult {
    let (wish, unknown) = json::typed::<KeyRotation>(body)?;
    let warnings = json::unknown_fields(&headers, &unknown)?;
    let tenant = tenant(&admin, &application_id).await?;
    let overlap_s = wish.overlap_seconds.unwrap_or(keys::DEFAULT_OVERLAP_S);
    let details = value!({ "overlapSeconds": overlap_s });
    let target = Target::application(&tenant, id.as_str()).details(details);
    let attempt = admin.attempt("key_rotated", &target);
    let asker = acting::key(&admin.actor, &tenant);
    let rotation = SecretRotation { overlap_s, warnings };
    let target = KeyTarget { tenant, family: None, id };
    Ok(ApiResponse(keys::rotate(&admin.app, &asker, &target, rotation, &attempt).await?.answer))
}

async fn revoke(
    admin: AdminRequest,
    params: Params,
    Path((application_id, id)): Path<(String, String)>,
) -> ApiResult {
    let query: KeyRevocationQuery = params.read()?;
    let tenant = tenant(&admin, &application_id).await?;
    let attempt = admin.attempt("key_revoked", &Target::application(&tenant, id.as_str()));
    let target = KeyTarget { tenant, family: None, id };
    Ok(ApiResponse(keys::revoke(&admin.app, &target, query.webhooks(), &attempt).await?))
}
