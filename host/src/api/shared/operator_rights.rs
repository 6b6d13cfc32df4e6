//! Rights of operators in requests, and the addresses of links that operators are given.

use std::collections::BTreeMap;

use base::error::{Code, Result, invalid};
use base::input::validate;
use model::admin_operations::AdminRole;
use model::bounds::access::MAX_ROLES;
use service::app::App;
use service::manage::actor::Role;
use service::manage::operators::links::Link;

/// Roles by organization.
///
/// # Errors
/// Names the entry that is wrong: without an organization, with a word that is no role, or with an organization that was named before.
pub fn roles(given: &[AdminRole]) -> Result<BTreeMap<String, Role>> {
    validate::length("roles", given.len(), MAX_ROLES)?;
    let mut roles = BTreeMap::new();
    for (i, entry) in given.iter().enumerate() {
        let organization = format!("roles[{i}].organizationId");
        if entry.organization_id.is_empty() {
            let message = format!("{organization} is required");
            return Err(invalid(Code::MissingField, organization, message));
        }
        let Some(role) = Role::parse(&entry.role) else {
            let field = format!("roles[{i}].role");
            let message = format!("{field} must be owner, developer or viewer");
            return Err(invalid(Code::InvalidParameter, field, message));
        };
        if roles.insert(entry.organization_id.clone(), role).is_some() {
            let message = format!("{organization} names an organization that is in the list already");
            return Err(invalid(Code::InvalidParameter, organization, message));
        }
    }
    Ok(roles)
}

/// The address of a link, which whoever made it passes on.
pub fn link_url(app: &App, link: &Link) -> String {
    format!("{}{}", app.config.admin_address(), link.path())
}

#[cfg(test)]
mod tests {
    use base::error::Error;

    use super::*;

    fn given(entries: &[(&str, &str)]) -> Result<BTreeMap<String, Role>> {
        let entry = |(organization_id, role): &(&str, &str)| AdminRole {
            organization_id: (*organization_id).to_owned(),
            role: (*role).to_owned(),
        };
        roles(&entries.iter().map(entry).collect::<Vec<_>>())
    }

    #[test]
    fn an_entry_that_is_wrong_is_named() {
        let good = given(&[("org_1", "owner"), ("org_2", "viewer")]).expect("two roles");
        assert_eq!(good.get("org_2"), Some(&Role::Viewer));
        assert_eq!(given(&[]).map(|roles| roles.len()).ok(), Some(0));
        for (entries, field) in [
            (vec![("org_1", "owner"), ("", "viewer")], "roles[1].organizationId"),
            (vec![("org_1", "admin")], "roles[0].role"),
            (vec![("org_1", "owner"), ("org_1", "viewer")], "roles[1].organizationId"),
            (vec![("org_1", "owner"); 101], "roles"),
        ] {
            match given(&entries) {
                Err(Error::Refused(refusal)) => assert_eq!(refusal.param.as_deref(), Some(field)),
                other => panic!("{field}: {other:?}"),
            }
        }
    }
}
