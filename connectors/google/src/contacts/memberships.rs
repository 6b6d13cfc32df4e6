//! The groups of a contact, written with the contact and under its version. Pure.

use model::wire::Warning;
use model::wire::contacts::ContactWrite;

use crate::contacts::native::{MY_CONTACTS, Person, STARRED};
use crate::contacts::values::{GroupMembership, PersonMembership};

/// The groups that a contact shall join and leave.
#[derive(Debug, Default)]
pub struct GroupChange<'a> {
    joins: Vec<&'a str>,
    leaves: Vec<&'a str>,
}

impl<'a> GroupChange<'a> {
    /// Returns the change that a write asks for. The star is a group.
    pub fn of_write(args: &'a ContactWrite) -> Self {
        let mut change = GroupChange {
            joins: args.joins.iter().map(String::as_str).collect(),
            leaves: args.leaves.iter().map(String::as_str).collect(),
        };
        if args.write.changed.iter().any(|name| name == "starred") {
            match args.write.body.starred {
                true => change.joins.push(STARRED),
                false => change.leaves.push(STARRED),
            }
        }
        change
    }
}

/// Returns the memberships after a change, and a warning where a contact cannot leave its last group; none where nothing changes.
pub fn memberships_to(
    before: &Person,
    change: &GroupChange<'_>,
) -> Option<(Vec<PersonMembership>, Option<Warning>)> {
    let old: Vec<&str> = before.groups().collect();
    let mut groups: Vec<&str> = old.iter().copied().filter(|name| !change.leaves.contains(name)).collect();
    for name in &change.joins {
        if !groups.contains(name) {
            groups.push(name);
        }
    }
    if groups == old {
        return None;
    }
    // A contact is in a group at least. A new one that is in others alone would not be among the account's contacts.
    let needs_own = groups.is_empty() || (old.is_empty() && !groups.contains(&MY_CONTACTS));
    let is_refused = groups.is_empty() && change.leaves.contains(&MY_CONTACTS);
    if needs_own {
        groups.push(MY_CONTACTS);
    }
    if groups == old {
        return is_refused.then(|| (memberships(&groups), Some(last_group())));
    }
    Some((memberships(&groups), is_refused.then(last_group)))
}

fn memberships(groups: &[&str]) -> Vec<PersonMembership> {
    let membership = |name: &&str| PersonMembership {
        contact_group_membership: Some(GroupMembership {
            contact_group_resource_name: Some((*name).to_owned()),
        }),
    };
    groups.iter().map(membership).collect()
}

fn last_group() -> Warning {
    Warning {
        code: "field_not_supported".to_owned(),
        message: "a contact is in one group at least: it stays in the account's own contacts".to_owned(),
        target: Some("groupIds".to_owned()),
    }
}
