//! Calls of a mailbox that are under way at once: counted, and refused above Outlook's limit.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::door::Ask;
use crate::graph::{GraphService, facts, is_api, lock, oauth};

/// The calls that are under way, by mailbox.
pub struct MailboxFlights {
    /// Calls of one mailbox that are answered at once; more get 429.
    pub limit: usize,
    /// Calls that were refused for that.
    pub refused: u32,
    open: BTreeMap<String, usize>,
    most: BTreeMap<String, usize>,
}

impl Default for MailboxFlights {
    fn default() -> Self {
        let limit = facts::number("limits", "concurrent_requests");
        MailboxFlights { limit, refused: 0, open: BTreeMap::new(), most: BTreeMap::new() }
    }
}

impl MailboxFlights {
    /// The calls of a mailbox that are under way now.
    pub fn open(&self, user: &str) -> usize {
        self.open.get(user).copied().unwrap_or_default()
    }

    /// The most calls of a mailbox that were ever under way at once.
    pub fn most(&self, user: &str) -> usize {
        self.most.get(user).copied().unwrap_or_default()
    }

    /// Counts a call in. Returns whether it may be answered.
    fn begin(&mut self, user: &str) -> bool {
        let open = self.open.entry(user.to_owned()).or_default();
        *open += 1;
        let most = self.most.entry(user.to_owned()).or_default();
        *most = (*most).max(*open);
        let is_allowed = *open <= self.limit;
        self.refused += u32::from(!is_allowed);
        is_allowed
    }

    fn end(&mut self, user: &str) {
        if let Some(open) = self.open.get_mut(user) {
            *open = open.saturating_sub(1);
        }
    }
}

/// A call that is under way until this is dropped. A batch is one call, as Outlook runs four of its parts at a time.
pub struct MailboxFlight {
    service: Arc<GraphService>,
    user: String,
    pub is_allowed: bool,
}

impl MailboxFlight {
    /// Counts a request in; none where it is no call of Graph, or has no user.
    pub fn begin(service: &Arc<GraphService>, ask: &Ask) -> Option<MailboxFlight> {
        if !is_api(&ask.path) {
            return None;
        }
        let mut state = lock(&service.state);
        let user = oauth::authenticate(&state, ask).ok()?.user;
        let is_allowed = state.flights.begin(&user);
        Some(MailboxFlight { service: Arc::clone(service), user, is_allowed })
    }
}

impl Drop for MailboxFlight {
    fn drop(&mut self) {
        lock(&self.service.state).flights.end(&self.user);
    }
}
