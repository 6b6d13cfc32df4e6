//! Changes of what operators may do: roles, admins, who is disabled. They take one lock of the whole installation, so that the last admin and the
//! last owner of an organization stay, whoever changes what at the same moment.

use std::collections::BTreeMap;

use base::error::{Code, Result, invalid, not_found};
use base::ids;
use storage::audit_log::AuditEntry;
use storage::operators::{self, Operator, OperatorRole};
use storage::{Tx, audit_log};

use crate::manage::acting::Target;
use crate::manage::actor::{Act, Actor, ActorKind, Role};
use crate::manage::operators::sessions;
use crate::manage::operators::store::OperatorStore;

/// A role as it is stored.
pub fn stored(operator_id: &str, organization_id: &str, role: Role) -> OperatorRole {
    OperatorRole {
        operator_id: operator_id.to_owned(),
        organization_id: organization_id.to_owned(),
        role: role.as_str().to_owned(),
    }
}

/// A change of what an operator may do.
#[derive(Clone, Debug)]
pub(super) enum RightsChange {
    Admin(bool),
    Disabled(bool),
    /// The role in an organization; none takes it away.
    Role {
        organization_id: String,
        role: Option<Role>,
    },
}

impl RightsChange {
    /// The act that it is, and its organization.
    fn act(&self) -> (Act, &str) {
        match self {
            RightsChange::Admin(_) | RightsChange::Disabled(_) => (Act::ManageOperators, ""),
            RightsChange::Role { organization_id, .. } => (Act::ManageMembers, organization_id),
        }
    }

    /// Whether an operator with these roles is already as the change makes them. To take away a role that is not there is refused instead.
    fn is_made(&self, operator: &Operator, had: &BTreeMap<String, Role>) -> bool {
        match self {
            RightsChange::Admin(is_admin) => operator.is_admin == *is_admin,
            RightsChange::Disabled(is_disabled) => operator.disabled_at.is_some() == *is_disabled,
            RightsChange::Role { organization_id, role } => {
                role.is_some() && had.get(organization_id) == role.as_ref()
            }
        }
    }

    /// The entry of the change in the audit log.
    pub(super) fn entry(&self, store: OperatorStore<'_>, actor: &Actor, operator_id: &str) -> AuditEntry {
        let (act, target) = match self {
            RightsChange::Admin(true) => ("admin_granted", Target::installation(operator_id)),
            RightsChange::Admin(false) => ("admin_revoked", Target::installation(operator_id)),
            RightsChange::Disabled(true) => ("operator_disabled", Target::installation(operator_id)),
            RightsChange::Disabled(false) => ("operator_enabled", Target::installation(operator_id)),
            RightsChange::Role { organization_id, role } => {
                let details = serde_json::json!({ "role": role.map(Role::as_str) });
                let target = Target::organization(organization_id, operator_id).details(details);
                (if role.is_some() { "role_set" } else { "role_removed" }, target)
            }
        };
        store.entry(actor, act, &target)
    }
}

/// Disables an operator: their sessions end, and they cannot sign in.
///
/// # Errors
/// `not_found`; `reauthentication_required`; `invalid_state` for the last admin and the last owner of an organization (param `last_admin`,
/// `last_owner`).
pub async fn disable(store: impl Into<OperatorStore<'_>>, actor: &Actor, operator_id: &str) -> Result<()> {
    change(store.into(), actor, operator_id, RightsChange::Disabled(true)).await
}

/// Lets an operator sign in again who was disabled.
///
/// # Errors
/// `not_found`; `reauthentication_required`.
pub async fn enable(store: impl Into<OperatorStore<'_>>, actor: &Actor, operator_id: &str) -> Result<()> {
    change(store.into(), actor, operator_id, RightsChange::Disabled(false)).await
}

/// Makes an operator an admin of the installation, or no longer.
///
/// # Errors
/// As of `disable`.
pub async fn set_admin(
    store: impl Into<OperatorStore<'_>>,
    actor: &Actor,
    operator_id: &str,
    is_admin: bool,
) -> Result<()> {
    change(store.into(), actor, operator_id, RightsChange::Admin(is_admin)).await
}

/// Sets the role of an operator in an organization, or takes it away. Who is no member yet is added by admins alone; owners invite.
///
/// # Errors
/// As of `disable`.
pub async fn set_role(
    store: impl Into<OperatorStore<'_>>,
    actor: &Actor,
    operator_id: &str,
    organization_id: &str,
    role: Option<Role>,
) -> Result<()> {
    let store = store.into();
    let ids = [organization_id.to_owned()];
    if operators::organization_names(store.db.reader(), &ids).await?.is_empty() {
        return Err(not_found("organization"));
    }
    let change_of_role = RightsChange::Role { organization_id: organization_id.to_owned(), role };
    change(store, actor, operator_id, change_of_role).await
}

/// Makes a change under the lock of all operators, with the rights that the actor has then.
async fn change(
    store: OperatorStore<'_>,
    actor: &Actor,
    operator_id: &str,
    change: RightsChange,
) -> Result<()> {
    let now = store.now();
    let (act, organization_id) = change.act();
    actor.check(act, organization_id, now)?;
    if !ids::is_plausible(operator_id) {
        return Err(not_found("operator"));
    }
    let entry = change.entry(store, actor, operator_id);
    let (actor, operator_id) = (actor.clone(), operator_id.to_owned());
    let changed: Result<()> = store
        .db
        .write(move |tx| {
            Box::pin(async move {
                operators::lock_all(tx).await?;
                let actor = present(tx, actor).await?;
                let (act, organization_id) = change.act();
                actor.check(act, organization_id, now)?;
                let operator =
                    operators::lock(tx, &operator_id).await?.ok_or_else(|| not_found("operator"))?;
                let had = sessions::roles_of(&operators::roles(&mut *tx, &operator.id).await?);
                if change.is_made(&operator, &had) {
                    return Ok(());
                }
                apply(tx, &actor, &operator, &change, now).await?;
                Ok(audit_log::insert(tx, &entry).await?)
            })
        })
        .await;
    store.has_changed();
    changed
}

/// The actor with the rights that they have in this transaction: another one may have taken them away a moment ago.
pub(super) async fn present(tx: &mut Tx, actor: Actor) -> Result<Actor> {
    if actor.kind != ActorKind::Operator {
        return Ok(actor);
    }
    let found = operators::find(&mut *tx, &actor.id).await?.filter(|operator| operator.disabled_at.is_none());
    let operator = found.ok_or_else(|| not_found("page"))?;
    let roles = sessions::roles_of(&operators::roles(tx, &actor.id).await?);
    Ok(Actor { is_admin: operator.is_admin, roles, ..actor })
}

/// The change itself, unless it takes the last admin or the last owner away. Call it under the lock of all operators.
pub(super) async fn apply(
    tx: &mut Tx,
    actor: &Actor,
    operator: &Operator,
    change: &RightsChange,
    now: i64,
) -> Result<()> {
    let id = operator.id.as_str();
    let had = sessions::roles_of(&operators::roles(&mut *tx, id).await?);
    match change {
        RightsChange::Admin(is_admin) => {
            if !is_admin {
                keep_admin(tx, operator).await?;
            }
            Ok(operators::set_admin(tx, id, *is_admin, now).await?)
        }
        RightsChange::Disabled(false) => Ok(operators::set_disabled(tx, id, None, now).await?),
        RightsChange::Disabled(true) => {
            keep_admin(tx, operator).await?;
            let is_active = operator.disabled_at.is_none();
            for (organization_id, _) in had.iter().filter(|(_, role)| is_active && **role == Role::Owner) {
                keep_owner(tx, id, organization_id).await?;
            }
            operators::set_disabled(tx, id, Some(now), now).await?;
            Ok(sessions::end_all(tx, id, None, now).await?)
        }
        RightsChange::Role { organization_id, role } => {
            let before = had.get(organization_id).copied();
            // Otherwise any owner could ask for any id who is an operator.
            if before.is_none() && !actor.is_admin {
                return Err(not_found("operator"));
            }
            let is_active = operator.disabled_at.is_none();
            if is_active && before == Some(Role::Owner) && *role != Some(Role::Owner) {
                keep_owner(tx, id, organization_id).await?;
            }
            if let Some(role) = role {
                return Ok(operators::set_role(tx, &stored(id, organization_id, *role), now).await?);
            }
            match operators::remove_role(tx, id, organization_id).await? {
                true => Ok(()),
                false => Err(not_found("operator")),
            }
        }
    }
}

/// Refuses a change that leaves the installation without an admin.
async fn keep_admin(tx: &mut Tx, operator: &Operator) -> Result<()> {
    let counts = operator.is_admin && operator.disabled_at.is_none();
    if counts && !operators::has_other_admin(tx, &operator.id).await? {
        return Err(invalid(
            Code::InvalidState,
            "last_admin",
            "the last admin of the installation stays one",
        ));
    }
    Ok(())
}

/// Refuses a change that leaves an organization without an owner.
async fn keep_owner(tx: &mut Tx, operator_id: &str, organization_id: &str) -> Result<()> {
    if operators::has_other_owner(tx, organization_id, operator_id).await? {
        return Ok(());
    }
    Err(invalid(Code::InvalidState, "last_owner", "the last owner of an organization stays one"))
}
