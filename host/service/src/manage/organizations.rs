//! Organizations: who sees which, and their names.

use base::error::{Code, Error, Result, invalid, not_found};
use base::ids::Kind;
use model::Instant;
use model::bounds::access::MAX_NAME;
use serde_json::{Value, json};
use storage::organizations::{self, Organization, OrganizationPosition};

use crate::app::App;
use crate::app::stored_response::{IdempotentAttempt, StoredResponse};
use crate::manage::actor::Actor;
use crate::manage::content_etag::content_etag;
use crate::writes::etag::ExpectedEtag;

/// At most `limit` organizations that an actor sees, sorted by name, after a place. An administrator of the installation sees all of them,
/// others those in which they have a role.
pub async fn list(
    app: &App,
    actor: &Actor,
    after: &OrganizationPosition,
    limit: i64,
) -> Result<Vec<Organization>> {
    if actor.is_admin {
        return Ok(organizations::list(app.db.reader(), after, limit).await?);
    }
    let ids: Vec<String> = actor.roles.keys().cloned().collect();
    let mut own = organizations::of_ids(app.db.reader(), &ids).await?;
    // As `is_after` compares them: a database may have another order of texts.
    own.sort_by(|a, b| (&a.name, &a.id).cmp(&(&b.name, &b.id)));
    let is_after = |found: &Organization| (&found.name, &found.id) > (&after.name, &after.id);
    Ok(own.into_iter().filter(is_after).take(usize::try_from(limit).unwrap_or(0)).collect())
}

/// The organization with this id; the caller asks what the actor may see of it.
pub async fn find(app: &App, id: &str) -> Result<Option<Organization>> {
    Ok(organizations::find(app.db.reader(), id).await?)
}

/// A change of an organization.
#[derive(Clone, Debug)]
pub struct OrganizationUpdate {
    /// None: it stays as it is.
    pub name: Option<String>,
    /// The version that the change is based on.
    pub expected: ExpectedEtag,
    /// Warnings about the request, which the answer repeats.
    pub warnings: Vec<Value>,
}

/// Makes an organization. The answer's JSON has `id`, `name`, `createdAt` and `etag`.
///
/// # Errors
/// `invalid_parameter` or `already_exists` of `name`.
pub async fn create(app: &App, name: &str, attempt: &IdempotentAttempt) -> Result<StoredResponse> {
    create_warned(app, name, &[], attempt).await
}

/// The same, where the answer repeats warnings about the request.
///
/// # Errors
/// As `create`.
pub async fn create_warned(
    app: &App,
    name: &str,
    warnings: &[Value],
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    let new = Organization {
        id: app.new_id(Kind::Organization),
        name: checked_name("name", name)?,
        created_at: app.now(),
    };
    let answer = answer(201, &new, warnings);
    let (kept, keyed, attempt, at) = (answer.clone(), app.clone(), attempt.about(&new.id), app.now());
    app.db
        .write(move |tx| {
            Box::pin(async move {
                if organizations::find_by_name(&mut *tx, &new.name).await?.is_some() {
                    return Err(name_taken(&new.name));
                }
                organizations::insert(tx, &new).await?;
                attempt.store(tx, &keyed.keyring, &kept, at).await?;
                Ok::<_, Error>(())
            })
        })
        .await?;
    Ok(answer)
}

/// Gives an organization another name.
///
/// # Errors
/// `not_found`; `invalid_parameter` or `already_exists` of `name`.
pub async fn rename(app: &App, id: &str, name: &str, attempt: &IdempotentAttempt) -> Result<StoredResponse> {
    let name = Some(name.to_owned());
    let change = OrganizationUpdate { name, expected: ExpectedEtag::Anything, warnings: Vec::new() };
    update(app, id, change, attempt).await
}

/// Changes an organization, unless it is another one by now than the change is based on. The answer's JSON is that of `create`.
///
/// # Errors
/// `not_found`; `stale_etag`; `invalid_parameter` or `already_exists` of `name`.
pub async fn update(
    app: &App,
    id: &str,
    change: OrganizationUpdate,
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    let name = change.name.as_deref().map(|name| checked_name("name", name)).transpose()?;
    let (id, keyed, attempt, at) = (id.to_owned(), app.clone(), attempt.clone(), app.now());
    app.db
        .write(move |tx| {
            Box::pin(async move {
                organizations::lock(tx, &id).await?;
                let found = organizations::find(&mut *tx, &id).await?;
                let mut organization = found.ok_or_else(|| not_found("organization"))?;
                change.expected.check(&etag(&organization))?;
                let is_same = name.as_ref().is_none_or(|name| *name == organization.name);
                if let Some(name) = name.filter(|_| !is_same) {
                    let same_name = organizations::find_by_name(&mut *tx, &name).await?;
                    if same_name.is_some_and(|found| found.id != id) {
                        return Err(name_taken(&name));
                    }
                    organizations::rename(tx, &id, &name).await?;
                    organization.name = name;
                }
                let answer = answer(200, &organization, &change.warnings);
                let attempt = if is_same { attempt.without_entry() } else { attempt };
                attempt.store(tx, &keyed.keyring, &answer, at).await?;
                Ok(answer)
            })
        })
        .await
}

/// A name without the white space around it.
///
/// # Errors
/// `invalid_parameter` of `field` for a name of no or of more than 100 characters, or with control characters.
pub fn checked_name(field: &str, name: &str) -> Result<String> {
    let name = name.trim();
    if !(1..=MAX_NAME).contains(&name.chars().count()) || name.chars().any(char::is_control) {
        let message = format!("{field} must have 1 to {MAX_NAME} characters, and no control characters");
        return Err(invalid(Code::InvalidParameter, field, message));
    }
    Ok(name.to_owned())
}

fn name_taken(name: &str) -> Error {
    invalid(Code::AlreadyExists, "name", format!("there is an organization with the name \"{name}\""))
}

/// The version of an organization.
pub fn etag(organization: &Organization) -> String {
    content_etag(&render_organization(organization))
}

/// An organization as the API shows it.
pub fn json(organization: &Organization) -> Value {
    let mut shown = render_organization(organization);
    shown["etag"] = json!(etag(organization));
    shown
}

fn answer(status: u16, organization: &Organization, warnings: &[Value]) -> StoredResponse {
    let shown = json(organization).to_string();
    StoredResponse::json(status, shown).warned(warnings).etag(&etag(organization))
}

fn render_organization(organization: &Organization) -> Value {
    json!({
        "id": organization.id,
        "name": organization.name,
        "createdAt": Instant::from_millis(organization.created_at),
    })
}
