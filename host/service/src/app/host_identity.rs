//! Under which id the other hosts know this process, and whether its background work goes on.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use storage::wakes::JobClass;
use tokio::time::Instant;

/// A class of jobs that was not looked at for so long stands still: the runner looks every five seconds, and waits for the database for thirty.
const STANDS_STILL: Duration = Duration::from_secs(120);

/// What is known of this process as a host.
pub struct Presence(Mutex<IdentityState>);

struct IdentityState {
    id: String,
    /// Until when the lease is valid, in milliseconds since 1970; none while no lease was taken.
    lease_until: Option<i64>,
    /// When the runner last looked for due jobs, by class.
    looked_at: HashMap<JobClass, Instant>,
}

impl Presence {
    /// A process that has no lease yet, and this id until then.
    pub fn new(id: String) -> Presence {
        Presence(Mutex::new(IdentityState { id, lease_until: None, looked_at: HashMap::new() }))
    }

    fn state(&self) -> MutexGuard<'_, IdentityState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The id that claims name as their owner: of the row of `hosts` where there is a lease. After a lease that was lost it is another one.
    pub fn id(&self) -> String {
        self.state().id.clone()
    }

    /// A lease was taken under this id, until then (ms since 1970).
    pub fn begin(&self, id: &str, lease_until: i64) {
        let mut state = self.state();
        id.clone_into(&mut state.id);
        state.lease_until = Some(lease_until);
        state.looked_at.clear();
    }

    /// The lease was renewed until then (ms since 1970), or is over.
    pub fn set_lease(&self, until: i64) {
        self.state().lease_until = Some(until);
    }

    /// The lease was given back: nothing is done in the background any more.
    pub fn end(&self) {
        let mut state = self.state();
        state.lease_until = None;
        state.looked_at.clear();
    }

    /// The runner looks for due jobs of a class at this moment.
    pub fn looks(&self, class: JobClass, at: Instant) {
        self.state().looked_at.insert(class, at);
    }

    /// Why nothing is done in the background, although it should be; none where it is, or need not be. `now`: this moment, also in
    /// milliseconds since 1970.
    pub fn trouble(&self, now_ms: i64, now: Instant) -> Option<&'static str> {
        let state = self.state();
        if state.lease_until? <= now_ms {
            return Some("this host has lost its lease");
        }
        let stands_still = state.looked_at.values().any(|at| now.duration_since(*at) > STANDS_STILL);
        stands_still.then_some("work in the background stands still")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_in_trouble_without_lease_or_when_a_class_is_not_looked_at() {
        let presence = Presence::new("boot".into());
        let begin = Instant::now();
        let after = |seconds| begin + Duration::from_secs(seconds);
        assert_eq!(presence.trouble(0, begin), None, "no work is expected of it");
        presence.begin("host", 8_000);
        assert_eq!((presence.id().as_str(), presence.trouble(7_999, begin)), ("host", None));
        assert_eq!(presence.trouble(8_000, begin), Some("this host has lost its lease"));
        presence.set_lease(i64::MAX);
        presence.looks(JobClass::Send, begin);
        presence.looks(JobClass::Pull, after(120));
        assert_eq!(presence.trouble(0, after(120)), None);
        assert_eq!(presence.trouble(0, after(121)), Some("work in the background stands still"));
        presence.looks(JobClass::Send, after(121));
        assert_eq!(presence.trouble(0, after(121)), None);
        presence.end();
        assert_eq!(presence.trouble(i64::MAX, after(999)), None);
    }
}
