//! The id of this process among the hosts, and the health of its background work.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use storage::wakes::JobClass;
use tokio::time::Instant;

/// Time without a check for due jobs after which a class counts as stalled: the runner checks every 5 s, and waits for the database for 30
/// s.
const STANDS_STILL: Duration = Duration::from_secs(120);

/// The state of this process as a host.
pub struct Presence(Mutex<IdentityState>);

struct IdentityState {
    id: String,
    /// End of the lease, in milliseconds since 1970; none while no lease was taken.
    lease_until: Option<i64>,
    /// Time of the runner's last check for due jobs, by class.
    looked_at: HashMap<JobClass, Instant>,
}

impl Presence {
    /// Creates the state of a process without a lease; it has this id until then.
    pub fn new(id: String) -> Presence {
        Presence(Mutex::new(IdentityState { id, lease_until: None, looked_at: HashMap::new() }))
    }

    fn state(&self) -> MutexGuard<'_, IdentityState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the id that claims name as their owner: that of the row in `hosts` once there is a lease. A process that lost its lease gets
    /// another id.
    pub fn id(&self) -> String {
        self.state().id.clone()
    }

    /// Records a lease under this id, valid until `lease_until` (ms since 1970).
    pub fn begin(&self, id: &str, lease_until: i64) {
        let mut state = self.state();
        id.clone_into(&mut state.id);
        state.lease_until = Some(lease_until);
        state.looked_at.clear();
    }

    /// Records the end of the renewed lease (ms since 1970); it may be past.
    pub fn set_lease(&self, until: i64) {
        self.state().lease_until = Some(until);
    }

    /// Records the release of the lease: background work has stopped.
    pub fn end(&self) {
        let mut state = self.state();
        state.lease_until = None;
        state.looked_at.clear();
    }

    /// Records that the runner checks for due jobs of a class now.
    pub fn looks(&self, class: JobClass, at: Instant) {
        self.state().looked_at.insert(class, at);
    }

    /// Returns the reason why background work has stopped although it should run; none if it runs or is not needed. `now_ms` and `now` are
    /// the same moment, in milliseconds since 1970 and as an `Instant`.
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
