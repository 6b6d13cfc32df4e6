//! Bounds the idle connections of several HTTP clients together: each client's own bound is per host, and the number of hosts is
//! unbounded.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Connections that clients keep, and their requests.
#[derive(Debug)]
struct Counts {
    /// How many of the kept connections may be idle.
    most_idle: usize,
    kept: AtomicUsize,
    under_way: AtomicUsize,
}

impl Counts {
    fn new(most_idle: usize) -> Arc<Counts> {
        Arc::new(Counts { most_idle, kept: AtomicUsize::new(0), under_way: AtomicUsize::new(0) })
    }

    /// Whether another connection may be kept, from the view of the request in flight on it. The other requests may all be on
    /// kept connections, which are not idle then: there are never more of them than the bound and the requests together.
    fn has_room(&self) -> bool {
        let others = self.under_way.load(Ordering::Relaxed).saturating_sub(1);
        self.kept.load(Ordering::Relaxed).saturating_sub(others) < self.most_idle
    }
}

/// The kept connections of one tenant's clients, counted with those of all tenants. All clones are one.
#[derive(Clone, Debug)]
pub(super) struct KeptConnections {
    all: Arc<Counts>,
    own: Arc<Counts>,
}

impl KeptConnections {
    /// Returns the counts for a first tenant. About `most_idle` connections may be idle of all tenants, and `most_idle_of_tenant`
    /// of each.
    pub(super) fn new(most_idle: usize, most_idle_of_tenant: usize) -> KeptConnections {
        KeptConnections { all: Counts::new(most_idle), own: Counts::new(most_idle_of_tenant) }
    }

    /// Returns the counts for another tenant, which share the total.
    pub(super) fn of_another(&self) -> KeptConnections {
        KeptConnections { all: Arc::clone(&self.all), own: Counts::new(self.own.most_idle) }
    }

    /// Counts a request until the returned value is dropped.
    pub(super) fn request(&self) -> CountGuard {
        CountGuard::new(self, |counts| &counts.under_way)
    }

    /// Counts a new connection, which may be kept as long as the returned value exists; none: it is to be closed after its first
    /// request.
    pub(super) fn keep(&self) -> Option<CountGuard> {
        let has_room = self.all.has_room() && self.own.has_room();
        has_room.then(|| CountGuard::new(self, |counts| &counts.kept))
    }
}

/// A request or a connection, counted until it is dropped.
pub(super) struct CountGuard {
    of: [Arc<Counts>; 2],
    number: fn(&Counts) -> &AtomicUsize,
}

impl CountGuard {
    fn new(of: &KeptConnections, number: fn(&Counts) -> &AtomicUsize) -> CountGuard {
        let of = [Arc::clone(&of.all), Arc::clone(&of.own)];
        for counts in &of {
            number(counts).fetch_add(1, Ordering::Relaxed);
        }
        CountGuard { of, number }
    }
}

impl Drop for CountGuard {
    fn drop(&mut self) {
        for counts in &self.of {
            (self.number)(counts).fetch_sub(1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Connects for one request.
    fn connect(tenant: &KeptConnections) -> Option<CountGuard> {
        let _request = tenant.request();
        tenant.keep()
    }

    #[test]
    fn idle_connections_are_bounded_in_all_and_for_each_tenant() {
        let one = KeptConnections::new(3, 2);
        let another = one.of_another();
        let mut held: Vec<CountGuard> = (0..5).filter_map(|_| connect(&one)).collect();
        assert_eq!(held.len(), 2);
        held.extend((0..5).filter_map(|_| connect(&another)));
        assert_eq!(held.len(), 3);
        held.pop();
        assert!(connect(&another).is_some(), "one was closed");
    }

    /// A thousand hanging endpoints do not prevent those that answer from keeping their connections.
    #[test]
    fn connections_with_a_request_take_no_room() {
        let one = KeptConnections::new(1, 1);
        let hanging: Vec<_> = (0..1_000).map(|_| (one.request(), one.keep())).collect();
        assert!(hanging.iter().all(|(_, kept)| kept.is_some()));
        assert!(connect(&one).is_some());
        assert_eq!(one.all.kept.load(Ordering::Relaxed), 1_000);
        drop(hanging);
        assert_eq!((one.all.kept.load(Ordering::Relaxed), one.own.under_way.load(Ordering::Relaxed)), (0, 0));
    }
}
