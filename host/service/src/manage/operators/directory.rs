//! The list of operators, with their roles, for admins, for the owners of an organization and for the command line.

use std::collections::BTreeMap;

use base::error::{Code, Result, invalid, not_found, refuse};
use base::ids::{self, Kind};
use base::input::validate;
use storage::operator_links::{self, OperatorLink};
use storage::operators::{self, Operator, OperatorRole};
use storage::{audit_log, installation};

use crate::manage::acting::Target;
use crate::manage::actor::{Act, Actor, Role};
use crate::manage::operators::acceptance::check_name;
use crate::manage::operators::address::address_key;
use crate::manage::operators::links::{self, FIRST_OPERATOR, Link, LinkKind, RESET_MS};
use crate::manage::operators::rights::stored;
use crate::manage::operators::store::OperatorStore;

/// Most operators that are read at once: a page of 200, and one that says whether there are more.
pub const MAX_PAGE: i64 = 201;

/// A role of an operator with its organization.
#[derive(Clone, Debug)]
pub struct RoleView {
    pub organization_id: String,
    pub organization_name: String,
    pub role: Role,
}

/// An operator as admins see them.
#[derive(Clone, Debug)]
pub struct OperatorView {
    pub id: String,
    pub email: String,
    pub name: String,
    pub is_admin: bool,
    pub has_password: bool,
    pub has_second_factor: bool,
    pub roles: Vec<RoleView>,
    pub last_sign_in_at: Option<i64>,
    pub last_sign_in_ip: Option<String>,
    pub disabled_at: Option<i64>,
    pub created_at: i64,
}

/// An operator as the owners of an organization see them.
#[derive(Clone, Debug)]
pub struct MemberView {
    pub operator_id: String,
    pub email: String,
    pub name: String,
    pub role: Role,
    pub has_second_factor: bool,
    pub last_sign_in_at: Option<i64>,
    pub disabled_at: Option<i64>,
}

/// Operators after an id, in the order in which they were made.
pub async fn list(
    store: impl Into<OperatorStore<'_>>,
    after_id: &str,
    limit: i64,
) -> Result<Vec<OperatorView>> {
    let store = store.into();
    let found = operators::list(store.db.reader(), after_id, limit.min(MAX_PAGE)).await?;
    views(store, found).await
}

/// The operator with this id.
pub async fn find(store: impl Into<OperatorStore<'_>>, id: &str) -> Result<Option<OperatorView>> {
    let store = store.into();
    let found = match ids::is_plausible(id) {
        true => operators::find(store.db.reader(), id).await?,
        false => None,
    };
    Ok(views(store, found.into_iter().collect()).await?.pop())
}

/// The operator with this address.
pub async fn find_by_email(store: impl Into<OperatorStore<'_>>, email: &str) -> Result<Option<OperatorView>> {
    let store = store.into();
    let found = operators::by_email(store.db.reader(), &address_key(email)).await?;
    Ok(views(store, found.into_iter().collect()).await?.pop())
}

/// Operators with their roles and the names of the organizations, with two statements for all of them.
async fn views(store: OperatorStore<'_>, found: Vec<Operator>) -> Result<Vec<OperatorView>> {
    if found.is_empty() {
        return Ok(Vec::new());
    }
    let operator_ids: Vec<String> = found.iter().map(|operator| operator.id.clone()).collect();
    let roles = operators::roles_of_all(store.db.reader(), &operator_ids).await?;
    let mut organization_ids: Vec<String> = roles.iter().map(|role| role.organization_id.clone()).collect();
    organization_ids.sort_unstable();
    organization_ids.dedup();
    let names = operators::organization_names(store.db.reader(), &organization_ids).await?;
    let mut of_each: BTreeMap<String, Vec<RoleView>> = BTreeMap::new();
    for stored in roles {
        let Some(role) = Role::parse(&stored.role) else { continue };
        let organization_name = names.get(&stored.organization_id).cloned().unwrap_or_default();
        let view = RoleView { organization_id: stored.organization_id, organization_name, role };
        of_each.entry(stored.operator_id).or_default().push(view);
    }
    let view = |operator: Operator| OperatorView {
        roles: of_each.remove(&operator.id).unwrap_or_default(),
        id: operator.id,
        email: operator.email,
        name: operator.name,
        is_admin: operator.is_admin,
        has_password: operator.password_hash.is_some(),
        has_second_factor: operator.totp_secret.is_some(),
        last_sign_in_at: operator.last_sign_in_at,
        last_sign_in_ip: operator.last_sign_in_ip,
        disabled_at: operator.disabled_at,
        created_at: operator.created_at,
    };
    Ok(found.into_iter().map(view).collect())
}

/// Operators with a role in an organization, after an operator's id.
pub async fn members(
    store: impl Into<OperatorStore<'_>>,
    organization_id: &str,
    after_id: &str,
    limit: i64,
) -> Result<Vec<MemberView>> {
    let store = store.into();
    let limit = limit.min(MAX_PAGE);
    let found = operators::members(store.db.reader(), organization_id, after_id, limit).await?;
    let view = |(operator, role): (Operator, String)| {
        Some(MemberView {
            role: Role::parse(&role)?,
            operator_id: operator.id,
            email: operator.email,
            name: operator.name,
            has_second_factor: operator.totp_secret.is_some(),
            last_sign_in_at: operator.last_sign_in_at,
            disabled_at: operator.disabled_at,
        })
    };
    Ok(found.into_iter().filter_map(view).collect())
}

/// An operator who is made without an invitation. They set a password by a link of `links::reset`.
#[derive(Clone, Debug)]
pub struct NewAccount {
    pub email: String,
    pub name: String,
    pub is_admin: bool,
    /// Roles by organization.
    pub roles: BTreeMap<String, Role>,
}

/// Makes an operator without a password. Returns the id.
///
/// # Errors
/// `already_exists` where somebody has the address; `not_found` for an organization; `invalid_parameter` and `missing_field`.
pub async fn create(store: impl Into<OperatorStore<'_>>, actor: &Actor, new: &NewAccount) -> Result<String> {
    insert(store.into(), actor, new, None).await
}

/// Makes an operator together with the link by which they set a password: both are there, or neither. Returns the id and the link.
///
/// # Errors
/// As `create`.
pub async fn create_with_link(
    store: impl Into<OperatorStore<'_>>,
    actor: &Actor,
    new: &NewAccount,
) -> Result<(String, Link)> {
    let store = store.into();
    let (link, mut row) = links::new_link(store, LinkKind::Reset, RESET_MS);
    row.email = Some(new.email.clone());
    row.email_key = Some(address_key(&new.email));
    row.created_by = Some(actor.id.clone());
    row.created_by_name = Some(actor.name.clone());
    Ok((insert(store, actor, new, Some(row)).await?, link))
}

/// Makes an operator, and stores a link for them.
async fn insert(
    store: OperatorStore<'_>,
    actor: &Actor,
    new: &NewAccount,
    link: Option<OperatorLink>,
) -> Result<String> {
    let now = store.now();
    actor.check(Act::ManageOperators, "", now)?;
    validate::address("email", &new.email)?;
    check_name(&new.name)?;
    if !new.is_admin && new.roles.is_empty() {
        return Err(invalid(
            Code::MissingField,
            "roles",
            "roles is required: name a role in an organization",
        ));
    }
    let ids: Vec<String> = new.roles.keys().cloned().collect();
    if operators::organization_names(store.db.reader(), &ids).await?.len() < ids.len() {
        return Err(not_found("organization"));
    }
    let operator = account(store, new);
    let roles: Vec<OperatorRole> = new
        .roles
        .iter()
        .map(|(organization_id, role)| stored(&operator.id, organization_id, *role))
        .collect();
    let details = serde_json::json!({ "email": new.email, "isAdmin": new.is_admin });
    let target = Target::installation(operator.id.as_str()).details(details);
    let mut entries = vec![store.entry(actor, "operator_created", &target)];
    if link.is_some() {
        let target = Target::installation(operator.id.as_str());
        entries.push(store.entry(actor, "password_link_made", &target));
    }
    let id = operator.id.clone();
    let created: Result<()> = store
        .db
        .write(move |tx| {
            Box::pin(async move {
                operators::lock_all(tx).await?;
                if !operators::insert(tx, &operator).await? {
                    return Err(refuse(Code::AlreadyExists, "somebody has this address"));
                }
                for role in &roles {
                    operators::set_role(tx, role, now).await?;
                }
                // There is somebody now who can let others in, so links for a first operator end.
                if operator.is_admin {
                    installation::settle(tx, FIRST_OPERATOR, &operator.id).await?;
                    operator_links::remove_first(tx).await?;
                }
                if let Some(link) = &link {
                    operator_links::insert(tx, link).await?;
                }
                for entry in &entries {
                    audit_log::insert(tx, entry).await?;
                }
                Ok(())
            })
        })
        .await;
    created?;
    Ok(id)
}

fn account(store: OperatorStore<'_>, new: &NewAccount) -> Operator {
    let now = store.now();
    Operator {
        id: store.new_id(Kind::Operator),
        email: new.email.clone(),
        email_key: address_key(&new.email),
        name: new.name.trim().to_owned(),
        is_admin: new.is_admin,
        password_hash: None,
        totp_secret: None,
        totp_step: 0,
        recovery: Vec::new(),
        language: None,
        time_zone: None,
        theme: None,
        sessions_from: 0,
        last_sign_in_at: None,
        last_sign_in_ip: None,
        disabled_at: None,
        created_at: now,
        updated_at: now,
    }
}
