//! Several changes of an operator at once, as programs make them: all of them happen, or none.

use std::collections::BTreeMap;

use base::error::{Code, Result, not_found};
use base::input::validate;
use model::bounds::access::MAX_ROLES;
use serde::Serialize;
use serde_json::json;
use sha2::{Digest, Sha256};
use storage::audit_log;
use storage::operators::{self, Operator, OperatorProfile};

use crate::manage::acting::Target;
use crate::manage::actor::{Act, Actor, Role};
use crate::manage::operators::acceptance::check_name;
use crate::manage::operators::directory::{self, OperatorView};
use crate::manage::operators::rights::{RightsChange, apply, present};
use crate::manage::operators::sessions;
use crate::manage::operators::store::OperatorStore;
use crate::writes::etag::{ExpectedEtag, stale};

/// Times that the changes of an update are worked out at most.
const MAX_TRIES: usize = 3;

/// Changes of an operator; a field that is `None` stays as it is.
#[derive(Clone, Debug, Default)]
pub struct OperatorUpdate {
    pub name: Option<String>,
    pub is_admin: Option<bool>,
    pub is_disabled: Option<bool>,
    /// All roles by organization: one that is not among them is taken away.
    pub roles: Option<BTreeMap<String, Role>>,
}

/// The parts of an operator that make a version of them: everything that is seen but the times of sign-ins.
#[derive(Serialize)]
struct OperatorVersion<'a> {
    id: &'a str,
    email: &'a str,
    name: &'a str,
    is_admin: bool,
    has_password: bool,
    has_second_factor: bool,
    disabled_at: Option<i64>,
    roles: BTreeMap<&'a str, &'static str>,
}

impl OperatorVersion<'_> {
    fn etag(&self) -> Result<String> {
        let hash = Sha256::digest(serde_json::to_vec(self)?);
        Ok(format!("\"{}\"", hex::encode(&hash[..8])))
    }
}

/// The version of an operator, with its quotes.
pub fn etag(view: &OperatorView) -> Result<String> {
    let version = OperatorVersion {
        id: &view.id,
        email: &view.email,
        name: &view.name,
        is_admin: view.is_admin,
        has_password: view.has_password,
        has_second_factor: view.has_second_factor,
        disabled_at: view.disabled_at,
        roles: view.roles.iter().map(|role| (role.organization_id.as_str(), role.role.as_str())).collect(),
    };
    version.etag()
}

/// The same of an operator as they are stored.
fn stored_etag(operator: &Operator, roles: &BTreeMap<String, Role>) -> Result<String> {
    let version = OperatorVersion {
        id: &operator.id,
        email: &operator.email,
        name: &operator.name,
        is_admin: operator.is_admin,
        has_password: operator.password_hash.is_some(),
        has_second_factor: operator.totp_secret.is_some(),
        disabled_at: operator.disabled_at,
        roles: roles.iter().map(|(id, role)| (id.as_str(), role.as_str())).collect(),
    };
    version.etag()
}

/// Changes an operator. What is as the update says already is neither written nor in the audit log.
///
/// # Errors
/// `not_found`, also for an organization; `reauthentication_required`; `missing_field` and `invalid_parameter` of `name` and `roles`;
/// `stale_etag` where the operator has another version than is expected; `invalid_state` for the last admin and the last owner of an
/// organization (param `last_admin`, `last_owner`).
pub async fn update(
    store: impl Into<OperatorStore<'_>>,
    actor: &Actor,
    operator_id: &str,
    update: &OperatorUpdate,
    expected: &ExpectedEtag,
) -> Result<()> {
    let store = store.into();
    for _ in 1..MAX_TRIES {
        match try_update(store, actor, operator_id, update, expected).await {
            // Whoever expects no version is told of none: the changes are worked out anew.
            Err(e) if e.code() == Some(Code::StaleEtag) && *expected == ExpectedEtag::Anything => {}
            outcome => return outcome,
        }
    }
    try_update(store, actor, operator_id, update, expected).await
}

/// Makes the changes, unless the operator changes while they are worked out.
async fn try_update(
    store: OperatorStore<'_>,
    actor: &Actor,
    operator_id: &str,
    update: &OperatorUpdate,
    expected: &ExpectedEtag,
) -> Result<()> {
    let now = store.now();
    actor.check(Act::ManageOperators, "", now)?;
    let view = directory::find(store, operator_id).await?.ok_or_else(|| not_found("operator"))?;
    let version = etag(&view)?;
    expected.check(&version)?;
    if let Some(roles) = &update.roles {
        ensure_organizations(store, roles).await?;
    }
    let changes = changes_of(&view, update);
    let mut entries: Vec<_> = changes.iter().map(|change| change.entry(store, actor, operator_id)).collect();
    let name = new_name(&view, update)?;
    if name.is_some() {
        let target = Target::installation(operator_id).details(json!({ "fields": ["name"] }));
        entries.push(store.entry(actor, "operator_renamed", &target));
    }
    if entries.is_empty() {
        return Ok(());
    }
    let (actor, id) = (actor.clone(), operator_id.to_owned());
    let written: Result<()> = store
        .db
        .write(move |tx| {
            Box::pin(async move {
                operators::lock_all(tx).await?;
                let actor = present(tx, actor).await?;
                actor.check(Act::ManageOperators, "", now)?;
                let operator = operators::lock(tx, &id).await?.ok_or_else(|| not_found("operator"))?;
                let roles = sessions::roles_of(&operators::roles(&mut *tx, &id).await?);
                let current = stored_etag(&operator, &roles)?;
                // The changes were worked out from the version that was read.
                if current != version {
                    return Err(stale(&current));
                }
                for change in &changes {
                    apply(tx, &actor, &operator, change, now).await?;
                }
                if let Some(name) = name {
                    let Operator { language, time_zone, theme, .. } = operator;
                    let profile = OperatorProfile { name, language, time_zone, theme };
                    operators::set_profile(tx, &id, &profile, now).await?;
                }
                for entry in &entries {
                    audit_log::insert(tx, entry).await?;
                }
                Ok(())
            })
        })
        .await;
    store.has_changed();
    written
}

/// Refuses more roles than an operator may have, and a role in an organization that is not there.
async fn ensure_organizations(store: OperatorStore<'_>, roles: &BTreeMap<String, Role>) -> Result<()> {
    validate::length("roles", roles.len(), MAX_ROLES)?;
    let ids: Vec<String> = roles.keys().cloned().collect();
    match operators::organization_names(store.db.reader(), &ids).await?.len() < ids.len() {
        true => Err(not_found("organization")),
        false => Ok(()),
    }
}

/// The changes of rights that an update makes. Roles and administrators come first: the rules for the last ones count who is not disabled.
fn changes_of(view: &OperatorView, update: &OperatorUpdate) -> Vec<RightsChange> {
    let mut changes = Vec::new();
    let had: BTreeMap<&str, Role> =
        view.roles.iter().map(|role| (role.organization_id.as_str(), role.role)).collect();
    if let Some(roles) = &update.roles {
        for (organization_id, role) in roles {
            if had.get(organization_id.as_str()) != Some(role) {
                let (organization_id, role) = (organization_id.clone(), Some(*role));
                changes.push(RightsChange::Role { organization_id, role });
            }
        }
        for organization_id in had.keys().filter(|id| !roles.contains_key(**id)) {
            let organization_id = (*organization_id).to_owned();
            changes.push(RightsChange::Role { organization_id, role: None });
        }
    }
    if let Some(is_admin) = update.is_admin.filter(|is_admin| *is_admin != view.is_admin) {
        changes.push(RightsChange::Admin(is_admin));
    }
    let is_disabled = view.disabled_at.is_some();
    if let Some(is_disabled) = update.is_disabled.filter(|wanted| *wanted != is_disabled) {
        changes.push(RightsChange::Disabled(is_disabled));
    }
    changes
}

/// The name that an update gives; none where it stays.
fn new_name(view: &OperatorView, update: &OperatorUpdate) -> Result<Option<String>> {
    let Some(name) = &update.name else { return Ok(None) };
    check_name(name)?;
    let name = name.trim();
    Ok((name != view.name).then(|| name.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manage::operators::directory::RoleView;

    fn view() -> OperatorView {
        let role = |id: &str, role| RoleView {
            organization_id: id.to_owned(),
            organization_name: "Acme".to_owned(),
            role,
        };
        OperatorView {
            id: "opr_1".to_owned(),
            email: "ada@example.com".to_owned(),
            name: "Ada".to_owned(),
            is_admin: true,
            has_password: true,
            has_second_factor: false,
            roles: vec![role("org_1", Role::Owner), role("org_2", Role::Viewer)],
            last_sign_in_at: None,
            last_sign_in_ip: None,
            disabled_at: None,
            created_at: 0,
        }
    }

    #[test]
    fn an_update_is_the_changes_that_it_makes() {
        assert!(changes_of(&view(), &OperatorUpdate::default()).is_empty());
        let same = [("org_1".to_owned(), Role::Owner), ("org_2".to_owned(), Role::Viewer)];
        let same = OperatorUpdate {
            name: Some(" Ada ".to_owned()),
            is_admin: Some(true),
            is_disabled: Some(false),
            roles: Some(same.into()),
        };
        assert!(changes_of(&view(), &same).is_empty());
        assert_eq!(new_name(&view(), &same).ok().flatten(), None);
        let roles = [("org_2".to_owned(), Role::Owner), ("org_3".to_owned(), Role::Viewer)];
        let update = OperatorUpdate {
            name: Some("Bo".to_owned()),
            is_admin: Some(false),
            is_disabled: Some(true),
            roles: Some(roles.into()),
        };
        let changes = format!("{:?}", changes_of(&view(), &update));
        for part in ["\"org_2\", role: Some(Owner)", "\"org_3\", role: Some(Viewer)", "\"org_1\", role: None"]
        {
            assert!(changes.contains(part), "{part}: {changes}");
        }
        assert!(changes.contains("Admin(false), Disabled(true)"), "{changes}");
        assert_eq!(new_name(&view(), &update).ok().flatten().as_deref(), Some("Bo"));
    }

    #[test]
    fn a_version_is_of_what_is_seen() {
        let of = |change: &dyn Fn(&mut OperatorView)| {
            let mut changed = view();
            change(&mut changed);
            etag(&changed).expect("JSON")
        };
        let first = of(&|_| {});
        assert_eq!(of(&|view| view.last_sign_in_at = Some(7)), first);
        assert_ne!(of(&|view| view.name = "Bo".to_owned()), first);
        assert_ne!(of(&|view| view.disabled_at = Some(1)), first);
        assert_ne!(of(&|view| drop(view.roles.pop())), first);
    }
}
