//! `/v1/admin/operators`

use base::error::{Code, Result, invalid, not_found};
use http::HeaderMap;
use model::Instant;
use model::admin_operations::{
    AdminCreatedOperator, AdminOperator, AdminOperatorPatch, AdminRole, NewAdminOperator,
};
use model::resource::Written;
use service::app::App;
use service::app::stored_response::StoredResponse;
use service::manage::operators::directory::{self, NewAccount, OperatorView};
use service::manage::operators::update::{self, OperatorUpdate};

use crate::api::access::admin_request::AdminRequest;
use crate::api::operation::Priority::Additive;
use crate::api::operation::Routes;
use crate::api::pagination;
use crate::api::request::etag;
use crate::api::request::extractors::{Params, Path};
use crate::api::request::json::{self, Body};
use crate::api::response::reply::{ApiResponse, ApiResult};
use crate::api::shared::operator_rights::{link_url, roles};

pub fn routes() -> Routes<App> {
    Routes::new("Administration")
        .get("/v1/admin/operators", "admin.read", Additive, list)
        .summary("List operators")
        .description("The people who may sign in to the panel, in the order of their creation. Disabled operators are listed too: operators are never deleted, because the audit log names them.")
        .lists::<AdminOperator>()
        .post("/v1/admin/operators", "admin.operators", Additive, create)
        .summary("Create an operator")
        .description("The answer holds `url`, a link by which the operator sets a password within an hour. It is shown only once; an idempotent replay shows it again. No email is sent. 409 `already_exists` if an operator has the address. To let people choose their own name, and to give rights to someone who already has an account, create an invitation (`POST /v1/admin/invitations`).")
        .body::<NewAdminOperator>()
        .returns::<Written<AdminCreatedOperator>>()
        .get("/v1/admin/operators/{operatorId}", "admin.read", Additive, get)
        .summary("Read an operator")
        .returns::<AdminOperator>()
        .patch("/v1/admin/operators/{operatorId}", "admin.operators", Additive, patch)
        .summary("Change an operator's name or rights, disable or enable them")
        .description("All changes of a request are made together or not at all, and apply to the operator's next request. 409 `invalid_state` for a change that leaves the installation without an administrator who is not disabled (`last_admin`) or an organization without an owner (`last_owner`).")
        .body::<AdminOperatorPatch>()
        .returns::<Written<AdminOperator>>()
        .delete("/v1/admin/operators/{operatorId}", "admin.operators", Additive, delete)
        .summary("Disable an operator")
        .description("The operator's sessions end, and they can no longer sign in. The operator stays in lists, with `disabledAt`; `PATCH` with `disabled: false` lets them sign in again. 409 `invalid_state` for the last administrator and the last owner of an organization.")
}

async fn list(admin: AdminRequest, params: Params) -> ApiResult {
    let limit = pagination::limit(params.get("limit"))?;
    let binding = admin.binding("admin.operators.list", &());
    let after: String = binding.place(&admin.app.keyring, params.get("cursor"))?.unwrap_or_default();
    let mut found = directory::list(&admin.app, &after, limit + 1).await?;
    let rows = usize::try_from(limit).unwrap_or(usize::MAX);
    let has_more = found.len() > rows;
    found.truncate(rows);
    let mut items = Vec::with_capacity(found.len());
    for operator in &found {
        items.push(serde_json::to_string(&render_operator(operator)?)?);
    }
    let cursor = |last: usize| binding.cursor(&admin.app.keyring, &found.get(last).map(|found| &found.id));
    Ok(ApiResponse(StoredResponse::ok(pagination::cut(&items, has_more, cursor))))
}

async fn get(admin: AdminRequest, Path(id): Path<String>) -> ApiResult {
    let operator = render_operator(&find(&admin, &id).await?)?;
    Ok(ApiResponse(StoredResponse::ok(serde_json::to_string(&operator)?).etag(&operator.etag)))
}

async fn find(admin: &AdminRequest, id: &str) -> Result<OperatorView> {
    directory::find(&admin.app, id).await?.ok_or_else(|| not_found("operator"))
}

async fn create(admin: AdminRequest, headers: HeaderMap, Body(body): Body) -> ApiResult {
    let (wish, unknown) = json::typed::<NewAdminOperator>(body)?;
    let warnings = json::unknown_fields(&headers, &unknown)?;
    if wish.email.is_empty() {
        return Err(invalid(Code::MissingField, "email", "email is required").into());
    }
    let roles = roles(&wish.roles)?;
    let new = NewAccount { email: wish.email, name: wish.name, is_admin: wish.is_admin, roles };
    let (id, link) = directory::create_with_link(&admin.app, &admin.actor, &new).await?;
    let created = AdminCreatedOperator {
        operator: render_operator(&find(&admin, &id).await?)?,
        url: link_url(&admin.app, &link),
        expires_at: Instant::from_millis(link.expires_at),
    };
    let answer = StoredResponse::created(serde_json::to_string(&created)?).warned(&warnings);
    Ok(ApiResponse(
        answer.etag(&created.operator.etag).header("location", format!("/v1/admin/operators/{id}")),
    ))
}

async fn patch(
    admin: AdminRequest,
    headers: HeaderMap,
    Path(id): Path<String>,
    Body(mut body): Body,
) -> ApiResult {
    let expected = etag::expected(&headers, Some(&mut body))?;
    let (wish, unknown) = json::typed::<AdminOperatorPatch>(body)?;
    let warnings = json::unknown_fields(&headers, &unknown)?;
    let wanted = OperatorUpdate {
        name: wish.name,
        is_admin: wish.is_admin,
        is_disabled: wish.disabled,
        roles: wish.roles.as_deref().map(roles).transpose()?,
    };
    update::update(&admin.app, &admin.actor, &id, &wanted, &expected).await?;
    let operator = render_operator(&find(&admin, &id).await?)?;
    Ok(ApiResponse(
        StoredResponse::ok(serde_json::to_string(&operator)?).warned(&warnings).etag(&operator.etag),
    ))
}

async fn delete(admin: AdminRequest, headers: HeaderMap, Path(id): Path<String>) -> ApiResult {
    let expected = etag::expected(&headers, None)?;
    let wanted = OperatorUpdate { is_disabled: Some(true), ..OperatorUpdate::default() };
    update::update(&admin.app, &admin.actor, &id, &wanted, &expected).await?;
    Ok(ApiResponse(StoredResponse::no_content()))
}

fn render_operator(operator: &OperatorView) -> Result<AdminOperator> {
    let role = |role: &directory::RoleView| AdminRole {
        organization_id: role.organization_id.clone(),
        role: role.role.as_str().to_owned(),
    };
    Ok(AdminOperator {
        id: operator.id.clone(),
        email: operator.email.clone(),
        name: operator.name.clone(),
        is_admin: operator.is_admin,
        has_password: operator.has_password,
        has_second_factor: operator.has_second_factor,
        roles: operator.roles.iter().map(role).collect(),
        last_sign_in_at: operator.last_sign_in_at.map(Instant::from_millis),
        last_sign_in_ip: operator.last_sign_in_ip.clone(),
        disabled_at: operator.disabled_at.map(Instant::from_millis),
        created_at: Instant::from_millis(operator.created_at),
        etag: update::etag(operator)?,
    })
}
