//! `Actor`: the person, key or command that administers, and the permissions of each role. One table for the panel, the API and the command
//! line: pages show only buttons for permitted acts, and nothing else decides.

use std::collections::BTreeMap;
use std::net::IpAddr;

use base::error::{Code, Result, not_found, refuse};
use base::scopes::holds;
use storage::audit_log::AuditActor;

/// Time after an authentication in which an operator may do dangerous things, ms.
pub const FRESH_MS: i64 = 15 * 60_000;

/// The administration scopes of an API key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AdminScopes {
    /// Read everything except the contents of events and requests.
    pub read: bool,
    /// Change organizations, applications, and everything that belongs to them.
    pub write: bool,
    /// Create operators and grant them roles, which includes granting them all rights.
    pub operators: bool,
    pub connectors: bool,
}

impl AdminScopes {
    /// Returns the administration scopes among these.
    pub fn among(scopes: &[String]) -> AdminScopes {
        AdminScopes {
            read: holds(scopes, "admin.read"),
            write: holds(scopes, "admin.write"),
            operators: holds(scopes, "admin.operators"),
            connectors: holds(scopes, "admin.connectors"),
        }
    }

    /// Whether a key with these scopes may do this. No key creates administration keys: only the command line and the panel do.
    pub fn allow(self, act: Act) -> bool {
        match act {
            Act::SeeApplication | Act::SeeAudit => self.read,
            Act::SeeContent
            | Act::ManageKeys
            | Act::ManageAccounts
            | Act::ManageWebhooks
            | Act::Disconnect
            | Act::ManageProviders
            | Act::ManageApplication
            | Act::ManageOrganizations
            | Act::ManageJobs => self.write,
            Act::ManageMembers | Act::ManageOperators => self.operators,
            Act::ManageConnectors => self.connectors,
            Act::ManageAdminKeys => false,
        }
    }
}

/// The kind of an actor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActorKind {
    /// A person who is signed in.
    Operator,
    /// An API key of the installation's own organization, with its scopes.
    Key(AdminScopes),
    /// The command line, whether or not a server runs.
    Command,
}

impl ActorKind {
    /// The name of the kind in the audit log.
    pub fn as_str(self) -> &'static str {
        match self {
            ActorKind::Operator => "operator",
            ActorKind::Key(_) => "key",
            ActorKind::Command => "command",
        }
    }
}

/// A role in an organization, in ascending order: each may do what the earlier ones may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    Viewer,
    Developer,
    Owner,
}

impl Role {
    /// All roles, the highest one first.
    pub const ALL: [Role; 3] = [Role::Owner, Role::Developer, Role::Viewer];

    /// The role as it is stored and sent.
    pub fn as_str(self) -> &'static str {
        match self {
            Role::Owner => "owner",
            Role::Developer => "developer",
            Role::Viewer => "viewer",
        }
    }

    /// Returns the role with this name.
    pub fn parse(word: &str) -> Option<Role> {
        Role::ALL.into_iter().find(|role| role.as_str() == word)
    }
}

/// An act in the panel. The last five concern the whole installation, and have no organization.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Act {
    /// Applications, keys without secrets, accounts, webhooks, events without their bodies, requests, usage.
    SeeApplication,
    /// Bodies of events and deliveries.
    SeeContent,
    ManageKeys,
    /// Connect and refresh accounts.
    ManageAccounts,
    ManageWebhooks,
    /// Disconnect accounts, which deletes their data.
    Disconnect,
    /// OAuth clients.
    ManageProviders,
    /// Create and rename applications; change their handles, redirect URIs and request logs.
    ManageApplication,
    ManageMembers,
    SeeAudit,
    ManageOrganizations,
    ManageConnectors,
    ManageJobs,
    ManageOperators,
    ManageAdminKeys,
}

impl Act {
    /// All acts.
    pub const ALL: [Act; 15] = [
        Act::SeeApplication,
        Act::SeeContent,
        Act::ManageKeys,
        Act::ManageAccounts,
        Act::ManageWebhooks,
        Act::Disconnect,
        Act::ManageProviders,
        Act::ManageApplication,
        Act::ManageMembers,
        Act::SeeAudit,
        Act::ManageOrganizations,
        Act::ManageConnectors,
        Act::ManageJobs,
        Act::ManageOperators,
        Act::ManageAdminKeys,
    ];

    /// The lowest role in the organization that may do it. None: only an admin of the installation may.
    pub fn least_role(self) -> Option<Role> {
        match self {
            Act::SeeApplication => Some(Role::Viewer),
            Act::SeeContent | Act::ManageKeys | Act::ManageAccounts | Act::ManageWebhooks => {
                Some(Role::Developer)
            }
            Act::Disconnect
            | Act::ManageProviders
            | Act::ManageApplication
            | Act::ManageMembers
            | Act::SeeAudit => Some(Role::Owner),
            Act::ManageOrganizations
            | Act::ManageConnectors
            | Act::ManageJobs
            | Act::ManageOperators
            | Act::ManageAdminKeys => None,
        }
    }

    /// Whether the act requires a recent authentication.
    pub fn needs_fresh(self) -> bool {
        matches!(
            self,
            Act::Disconnect
                | Act::ManageMembers
                | Act::ManageOrganizations
                | Act::ManageConnectors
                | Act::ManageOperators
                | Act::ManageAdminKeys
        )
    }
}

/// A person, key or command that acts, with its rights.
#[derive(Clone, Debug)]
pub struct Actor {
    pub kind: ActorKind,
    pub id: String,
    pub name: String,
    pub ip: Option<IpAddr>,
    /// An admin of the installation may do everything.
    pub is_admin: bool,
    /// Roles by organization.
    pub roles: BTreeMap<String, Role>,
    /// Time of the last authentication, ms since 1970. Keys and commands always count as recent.
    pub fresh_at: i64,
}

impl Actor {
    /// Returns the actor for the command line: whoever can run it on this machine has the database and the master key anyway.
    pub fn command(name: &str) -> Actor {
        Actor {
            kind: ActorKind::Command,
            id: "command".to_owned(),
            name: name.to_owned(),
            ip: None,
            is_admin: true,
            roles: BTreeMap::new(),
            fresh_at: 0,
        }
    }

    /// Returns the actor for an API key of the installation's own organization, which has the rights of its scopes in every organization.
    pub fn key(id: &str, name: &str, scopes: &[String], ip: Option<IpAddr>) -> Actor {
        Actor {
            kind: ActorKind::Key(AdminScopes::among(scopes)),
            id: id.to_owned(),
            name: name.to_owned(),
            ip,
            is_admin: true,
            roles: BTreeMap::new(),
            fresh_at: 0,
        }
    }

    /// Returns the role in an organization; an admin has that of an owner. A key with write access has that of an owner, one with read
    /// access that of a viewer.
    pub fn role(&self, organization_id: &str) -> Option<Role> {
        match self.kind {
            ActorKind::Key(scopes) if scopes.write => return Some(Role::Owner),
            ActorKind::Key(scopes) => return Some(Role::Viewer).filter(|_| scopes.read),
            ActorKind::Operator | ActorKind::Command => {}
        }
        match self.is_admin {
            true => Some(Role::Owner),
            false => self.roles.get(organization_id).copied(),
        }
    }

    /// Whether the actor may know that the organization exists.
    pub fn sees(&self, organization_id: &str) -> bool {
        self.role(organization_id).is_some()
    }

    /// Whether the actor may do this in the organization, which is ignored for acts on the installation.
    pub fn may(&self, act: Act, organization_id: &str) -> bool {
        if let ActorKind::Key(scopes) = self.kind {
            return scopes.allow(act);
        }
        match act.least_role() {
            _ if self.is_admin => true,
            None => false,
            Some(least) => self.roles.get(organization_id).is_some_and(|role| *role >= least),
        }
    }

    /// Whether the session authenticated shortly before `now`. The clock of the host that recorded it may be ahead of this one's.
    pub fn is_fresh(&self, now: i64) -> bool {
        self.kind != ActorKind::Operator || now.saturating_sub(self.fresh_at) < FRESH_MS
    }

    /// Refuses an act that the actor may not do.
    ///
    /// # Errors
    /// `not_found` without the right, as if the object did not exist; `reauthentication_required` if the last authentication is too old.
    pub fn check(&self, act: Act, organization_id: &str, now: i64) -> Result<()> {
        if !self.may(act, organization_id) {
            return Err(not_found("page"));
        }
        if act.needs_fresh() {
            return self.check_fresh(now);
        }
        Ok(())
    }

    /// Refuses a dangerous act if the last authentication is too old.
    ///
    /// # Errors
    /// `reauthentication_required`.
    pub fn check_fresh(&self, now: i64) -> Result<()> {
        match self.is_fresh(now) {
            true => Ok(()),
            false => Err(refuse(
                Code::ReauthenticationRequired,
                "enter your password or a code again: this needs a sign-in of the last 15 minutes",
            )),
        }
    }

    /// Returns the actor as the audit log stores it.
    pub fn audited(&self) -> AuditActor {
        AuditActor {
            kind: self.kind.as_str().to_owned(),
            id: self.id.clone(),
            name: self.name.clone(),
            ip: self.ip.map(|ip| ip.to_string()),
        }
    }
}

#[cfg(test)]
pub mod tests {
    use base::scopes;

    use super::*;

    /// Returns an operator with one role, signed in at 0.
    pub fn operator(role: Option<Role>, is_admin: bool) -> Actor {
        Actor {
            kind: ActorKind::Operator,
            id: "opr_1".to_owned(),
            name: "Ada".to_owned(),
            ip: None,
            is_admin,
            roles: role.map(|role| ("org_1".to_owned(), role)).into_iter().collect(),
            fresh_at: 0,
        }
    }

    fn allowed(actor: &Actor) -> Vec<Act> {
        Act::ALL.into_iter().filter(|act| actor.may(*act, "org_1")).collect()
    }

    #[test]
    fn each_role_may_do_what_the_one_below_it_may() {
        let of = |role| allowed(&operator(Some(role), false));
        assert_eq!(of(Role::Viewer), Act::ALL[..1]);
        assert_eq!(of(Role::Developer), Act::ALL[..5]);
        assert_eq!(of(Role::Owner), Act::ALL[..10]);
        assert_eq!(allowed(&operator(None, true)), Act::ALL);
        assert!(allowed(&operator(None, false)).is_empty());
    }

    #[test]
    fn a_role_is_of_one_organization() {
        let owner = operator(Some(Role::Owner), false);
        assert!(Act::ALL.into_iter().all(|act| !owner.may(act, "org_2") && !owner.may(act, "")));
        assert!(owner.sees("org_1") && !owner.sees("org_2") && !owner.sees(""));
        let code = owner.check(Act::SeeApplication, "org_2", 0).err().and_then(|e| e.code());
        assert_eq!(code, Some(Code::NotFound));
    }

    #[test]
    fn dangerous_acts_ask_again_after_15_minutes() {
        let owner = operator(Some(Role::Owner), false);
        let code = |act, now| owner.check(act, "org_1", now).err().and_then(|e| e.code());
        assert_eq!((code(Act::Disconnect, FRESH_MS - 1), code(Act::Disconnect, -1)), (None, None));
        assert_eq!(code(Act::Disconnect, FRESH_MS), Some(Code::ReauthenticationRequired));
        assert_eq!(code(Act::ManageKeys, i64::MAX), None);
        assert_eq!(code(Act::ManageOperators, FRESH_MS), Some(Code::NotFound), "no right comes first");
        assert!(Actor::command("test").check(Act::ManageOperators, "", i64::MAX).is_ok());
    }

    #[test]
    fn a_key_may_do_what_its_scopes_say() {
        let key = |scopes: &[&str]| {
            let scopes: Vec<String> = scopes.iter().map(|scope| (*scope).to_owned()).collect();
            Actor::key("key_1", "ops", &scopes, None)
        };
        assert_eq!(allowed(&key(&["admin.read"])), [Act::SeeApplication, Act::SeeAudit]);
        assert_eq!(key(&["admin.read"]).role("org_1"), Some(Role::Viewer));
        let writer = key(&["admin.write"]);
        assert_eq!(writer.role("org_1"), Some(Role::Owner));
        for act in [Act::ManageMembers, Act::ManageOperators, Act::ManageConnectors, Act::ManageAdminKeys] {
            assert!(!writer.may(act, "org_1"), "{act:?}");
        }
        assert!(writer.may(Act::ManageOrganizations, "") && writer.may(Act::SeeApplication, "org_1"));
        assert!(writer.check(Act::Disconnect, "org_1", i64::MAX).is_ok(), "a key is always fresh");
        let operators = key(&["admin.operators"]);
        assert_eq!(allowed(&operators), [Act::ManageMembers, Act::ManageOperators]);
        assert!(!operators.sees("org_1"));
        assert_eq!(allowed(&key(&["admin.connectors"])), [Act::ManageConnectors]);
        assert!(allowed(&key(&scopes::ALL)).is_empty(), "scopes of applications give nothing here");
    }

    #[test]
    fn roles_are_known_by_their_words() {
        for role in Role::ALL {
            assert_eq!(Role::parse(role.as_str()), Some(role));
        }
        assert_eq!((Role::parse("admin"), Role::parse("")), (None, None));
    }
}
