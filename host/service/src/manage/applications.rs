//! Applications of an organization: their names, and their names in the addresses of booking pages.

use base::error::{Code, Error, Result, invalid, not_found};
use base::ids::Kind;
use base::tenant::Tenant;
use serde_json::{Value, json};
use storage::api_keys::Application;
use storage::organizations;
use storage::request_log::RequestLogMode;
use storage::scheduling::applications;

use crate::app::App;
use crate::app::stored_response::{IdempotentAttempt, StoredResponse};
use crate::bookings::handle;
use crate::manage::organizations::checked_name;

/// At most `limit` applications of an organization, sorted by name, after the one with the name `after`; from the first one on after "".
pub async fn of_organization(
    app: &App,
    organization_id: &str,
    after: &str,
    limit: i64,
) -> Result<Vec<Application>> {
    Ok(organizations::applications(app.db.reader(), organization_id, after, limit).await?)
}

/// The application with this id; the caller asks what the actor may see of it.
pub async fn find(app: &App, id: &str) -> Result<Option<Application>> {
    Ok(organizations::find_application(app.db.reader(), id).await?)
}

/// Makes an application of an organization. The answer's JSON has `id`, `organizationId`, `organization`, `name` and `handle`.
///
/// # Errors
/// `not_found` without the organization; `invalid_parameter` or `already_exists` of `name`.
pub async fn create(
    app: &App,
    organization_id: &str,
    name: &str,
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    let name = checked_name("name", name)?;
    let tenant =
        Tenant { organization_id: organization_id.to_owned(), application_id: app.new_id(Kind::Application) };
    let (keyed, attempt, at) = (app.clone(), attempt.about(&tenant.application_id), app.now());
    app.db
        .write(move |tx| {
            Box::pin(async move {
                let owner = organizations::find(&mut *tx, &tenant.organization_id).await?;
                let owner = owner.ok_or_else(|| not_found("organization"))?;
                if !organizations::insert_application(tx, &tenant, &name, at).await? {
                    return Err(name_taken(&name));
                }
                let made = Application {
                    tenant,
                    name,
                    organization: owner.name,
                    handle: None,
                    request_log: RequestLogMode::default(),
                    full_bodies_until: None,
                    is_test: false,
                };
                let answer = StoredResponse::created(render_application(&made).to_string());
                attempt.store(tx, &keyed.keyring, &answer, at).await?;
                Ok(answer)
            })
        })
        .await
}

/// Gives an application another name.
///
/// # Errors
/// `not_found`; `invalid_parameter` or `already_exists` of `name`.
pub async fn rename(
    app: &App,
    tenant: &Tenant,
    name: &str,
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    let name = checked_name("name", name)?;
    let (tenant, keyed, attempt, at) = (tenant.clone(), app.clone(), attempt.clone(), app.now());
    app.db
        .write(move |tx| {
            Box::pin(async move {
                let id = &tenant.application_id;
                let before = organizations::find_application(&mut *tx, id).await?;
                let is_renamed = organizations::rename_application(tx, &tenant, &name).await?;
                let found = organizations::find_application(&mut *tx, id).await?;
                let found = found.ok_or_else(|| not_found("application"))?;
                if !is_renamed {
                    return Err(name_taken(&name));
                }
                let answer = StoredResponse::ok(render_application(&found).to_string());
                let is_same = before.is_some_and(|before| before.name == found.name);
                let attempt = if is_same { attempt.without_entry() } else { attempt };
                attempt.store(tx, &keyed.keyring, &answer, at).await?;
                Ok(answer)
            })
        })
        .await
}

/// Gives an application a name in the addresses of its booking pages, or takes it away.
///
/// # Errors
/// `not_found`; `invalid_parameter` or `already_exists` of `handle`.
pub async fn set_handle(
    app: &App,
    tenant: &Tenant,
    handle: Option<&str>,
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    let handle = handle.map(handle::parse).transpose();
    let handle = handle.map_err(|message| invalid(Code::InvalidParameter, "handle", message))?;
    let (tenant, keyed, attempt, at) = (tenant.clone(), app.clone(), attempt.clone(), app.now());
    app.db
        .write(move |tx| {
            Box::pin(async move {
                let id = &tenant.application_id;
                let before = organizations::find_application(&mut *tx, id).await?;
                let is_set = applications::set_handle(tx, id, handle.as_deref()).await?;
                let found = organizations::find_application(&mut *tx, id).await?;
                let found = found.ok_or_else(|| not_found("application"))?;
                if !is_set {
                    return Err(handle_taken());
                }
                let answer = StoredResponse::ok(render_application(&found).to_string());
                let is_same = before.is_some_and(|before| before.handle == found.handle);
                let attempt = if is_same { attempt.without_entry() } else { attempt };
                attempt.store(tx, &keyed.keyring, &answer, at).await?;
                Ok(answer)
            })
        })
        .await
}

/// The refusal of a name that another application of the organization has.
pub fn name_taken(name: &str) -> Error {
    let message = format!("the organization has an application with the name \"{name}\"");
    invalid(Code::AlreadyExists, "name", message)
}

/// The refusal of a handle that another application has.
pub fn handle_taken() -> Error {
    invalid(Code::AlreadyExists, "handle", "another application has this handle: choose another one")
}

fn render_application(application: &Application) -> Value {
    json!({
        "id": application.tenant.application_id,
        "organizationId": application.tenant.organization_id,
        "organization": application.organization,
        "name": application.name,
        "handle": application.handle,
    })
}
