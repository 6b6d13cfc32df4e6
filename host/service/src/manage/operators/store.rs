//! `OperatorStore`: the handles that changes of operators need. The server has them in its `App`, a command without one.

use base::clock::{Clock, Entropy};
use base::ids::{self, Kind};
use base::keyring::Keyring;
use storage::Db;
use storage::audit_log::AuditEntry;

use crate::app::App;
use crate::app::recent_cache::RecentCache;
use crate::app::signed_in_operator::SignedInOperator;
use crate::manage::acting::Target;
use crate::manage::actor::Actor;

/// The handles.
#[derive(Clone, Copy)]
pub struct OperatorStore<'a> {
    pub db: &'a Db,
    pub keyring: &'a Keyring,
    clock: &'a Clock,
    entropy: &'a Entropy,
    /// Sessions that this process remembers.
    sessions: Option<&'a RecentCache<SignedInOperator>>,
}

impl<'a> From<&'a App> for OperatorStore<'a> {
    fn from(app: &'a App) -> OperatorStore<'a> {
        let sessions = Some(&app.operator_sessions);
        OperatorStore { sessions, ..OperatorStore::new(&app.db, &app.keyring, &app.clock, &app.entropy) }
    }
}

impl<'a> OperatorStore<'a> {
    /// The handles of a command. A server that runs meanwhile sees changes within a second.
    pub fn new(
        db: &'a Db,
        keyring: &'a Keyring,
        clock: &'a Clock,
        entropy: &'a Entropy,
    ) -> OperatorStore<'a> {
        OperatorStore { db, keyring, clock, entropy, sessions: None }
    }

    /// Now, in milliseconds since 1970.
    pub fn now(self) -> i64 {
        self.clock.now_ms()
    }

    /// A new id.
    pub fn new_id(self, kind: Kind) -> String {
        ids::new(kind, self.clock, self.entropy)
    }

    /// Random bytes.
    pub fn random<const N: usize>(self) -> [u8; N] {
        self.entropy.bytes()
    }

    /// The entry of an act for the audit log.
    pub fn entry(self, actor: &Actor, act: &str, target: &Target) -> AuditEntry {
        target.entry(actor, act, self.new_id(Kind::AuditEntry), self.now())
    }

    /// Forgets the sessions that this process remembers: operators, roles or sessions have changed.
    pub fn has_changed(self) {
        if let Some(sessions) = self.sessions {
            sessions.clear();
        }
    }
}
