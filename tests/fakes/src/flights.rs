//! Calls that are under way at once, for each user: counted, and refused above a limit.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::fake::{FakeService, lock};

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
    /// No calls yet, of which one user may have this many at once.
    pub fn limited_to(limit: Option<usize>) -> Flights {
        Flights { limit, ..Flights::default() }
    }

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

/// A call that is under way until this is dropped. A batch is one call.
pub struct Flight<S: FakeService> {
    service: Arc<S>,
    user: String,
    pub is_allowed: bool,
}

impl<S: FakeService> Flight<S> {
    /// Counts a call of this user in.
    pub fn begin(service: &Arc<S>, user: String) -> Flight<S> {
        let is_allowed = S::flights(&mut lock(service.state())).begin(&user);
        Flight { service: Arc::clone(service), user, is_allowed }
    }
}

impl<S: FakeService> Drop for Flight<S> {
    fn drop(&mut self) {
        S::flights(&mut lock(self.service.state())).end(&self.user);
    }
}
