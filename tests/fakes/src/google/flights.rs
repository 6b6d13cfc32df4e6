//! Calls that are under way at once, for each user: counted, and refused above a limit where a test sets one.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::door::Ask;
use crate::google::judging::Api;
use crate::google::mail::batch;
use crate::google::{GoogleService, lock, oauth};

/// The calls that are under way.
#[derive(Default)]
pub struct Flights {
    /// Calls of one user that are answered at once; more get 429. None: any number.
    pub limit: Option<usize>,
    /// Calls that were refused for that.
    pub refused: u32,
    open: BTreeMap<String, usize>,
    most: BTreeMap<String, usize>,
}

impl Flights {
    /// The calls of a user that are under way now.
    pub fn open(&self, user: &str) -> usize {
        self.open.get(user).copied().unwrap_or_default()
    }

    /// The most calls of a user that were ever under way at once.
    pub fn most(&self, user: &str) -> usize {
        self.most.get(user).copied().unwrap_or_default()
    }

    /// Counts a call in. Returns whether it may be answered.
    fn begin(&mut self, user: &str) -> bool {
        let open = self.open.entry(user.to_owned()).or_default();
        *open += 1;
        let most = self.most.entry(user.to_owned()).or_default();
        *most = (*most).max(*open);
        let is_allowed = self.limit.is_none_or(|limit| *open <= limit);
        self.refused += u32::from(!is_allowed);
        is_allowed
    }

    fn end(&mut self, user: &str) {
        if let Some(open) = self.open.get_mut(user) {
            *open = open.saturating_sub(1);
        }
    }
}

/// A call that is under way until this is dropped.
pub struct Flight {
    service: Arc<GoogleService>,
    user: String,
    pub is_allowed: bool,
}

impl Flight {
    /// Counts a request in; none where it is no call of an API, or has no user.
    pub fn begin(service: &Arc<GoogleService>, ask: &Ask) -> Option<Flight> {
        if Api::from_path(&ask.path).is_none() && !batch::is_batch(&ask.path) {
            return None;
        }
        let mut state = lock(&service.state);
        let user = oauth::authenticate(&state, ask).ok()?.user;
        let is_allowed = state.flights.begin(&user);
        Some(Flight { service: Arc::clone(service), user, is_allowed })
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        lock(&self.service.state).flights.end(&self.user);
    }
}
