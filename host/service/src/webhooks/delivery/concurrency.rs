//! Concurrency permits for delivery attempts at this host, except the first one of each run, which always gets one: together they bound the
//! memory and connections of a host. Slow attempts have a pool of their own, and no application gets all of either.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use compute::named_semaphores::Shares;
use storage::wakes::JobClass;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::job_runner::permits;

/// Longest interval between the tries of a long attempt to move to the pool of slow ones.
const LOOKS_EVERY: Duration = Duration::from_secs(2);

/// With the first attempts of all runs, at most 2,600 are in flight. The buffers of one take some 30 KiB while its endpoint hangs, or 50
/// KiB with TLS, plus the body: for those see `webhooks::body_budget`.
static PLACES: LazyLock<Arc<AttemptPermits>> = LazyLock::new(|| Arc::new(AttemptPermits::new(1_024, 512)));

/// The permits of a host.
struct AttemptPermits {
    fast: Pool,
    slow: Pool,
}

/// Permits of one pool.
struct Pool {
    all: Arc<Semaphore>,
    of_application: Shares,
}

/// A permit, and the share of its application.
struct ApplicationShare {
    _place: OwnedSemaphorePermit,
    _share: OwnedSemaphorePermit,
}

impl Pool {
    /// One application gets at most three quarters of them.
    fn new(places: usize) -> Pool {
        let of_application = Shares::new(places - places / 4);
        Pool { all: Arc::new(Semaphore::new(places)), of_application }
    }

    fn take(&self, application_id: &str) -> Option<ApplicationShare> {
        let share = self.of_application.of(application_id).try_acquire_owned().ok()?;
        let place = Arc::clone(&self.all).try_acquire_owned().ok()?;
        Some(ApplicationShare { _place: place, _share: share })
    }
}

impl AttemptPermits {
    fn new(fast: usize, slow: usize) -> AttemptPermits {
        AttemptPermits { fast: Pool::new(fast), slow: Pool::new(slow) }
    }

    fn take(self: &Arc<AttemptPermits>, application_id: &str, is_slow: bool) -> Option<AttemptPermit> {
        let pool = if is_slow { &self.slow } else { &self.fast };
        let held = Some(pool.take(application_id)?);
        let application_id = application_id.to_owned();
        Some(AttemptPermit { places: Arc::clone(self), application_id, held, is_slow })
    }
}

/// The permit of an attempt, released on drop.
pub struct AttemptPermit {
    places: Arc<AttemptPermits>,
    application_id: String,
    /// None: the first attempt of its run.
    held: Option<ApplicationShare>,
    is_slow: bool,
}

impl AttemptPermit {
    /// A permit for the first attempt of a run.
    pub fn of_first() -> AttemptPermit {
        AttemptPermit {
            places: Arc::clone(&PLACES),
            application_id: String::new(),
            held: None,
            is_slow: false,
        }
    }

    /// Takes a permit for another attempt of an application's webhook; `is_slow`: attempts at its endpoint are slow. None: all are taken.
    pub fn take(application_id: &str, is_slow: bool) -> Option<AttemptPermit> {
        PLACES.take(application_id, is_slow)
    }

    /// Makes an attempt with this permit. A long one moves to the pool of slow attempts as soon as there is room: endpoints that vary in
    /// speed do not block the others.
    pub async fn during<T>(mut self, attempt: impl Future<Output = T>) -> T {
        tokio::pin!(attempt);
        let mut wait = permits::move_after(JobClass::Deliver);
        while self.held.is_some() && !self.is_slow {
            match timeout(wait, &mut attempt).await {
                Ok(attempted) => return attempted,
                Err(_) => self.move_to_slow(),
            }
            wait = (wait * 2).min(LOOKS_EVERY);
        }
        attempt.await
    }

    fn move_to_slow(&mut self) {
        if let Some(held) = self.places.slow.take(&self.application_id) {
            (self.held, self.is_slow) = (Some(held), true);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use super::*;

    fn taken(places: &Arc<AttemptPermits>, application_id: &str, is_slow: bool) -> Vec<AttemptPermit> {
        std::iter::from_fn(|| places.take(application_id, is_slow)).collect()
    }

    #[test]
    fn no_application_has_all_places() {
        let places = Arc::new(AttemptPermits::new(8, 4));
        let held = [taken(&places, "one", false), taken(&places, "one", true)];
        assert_eq!(held.each_ref().map(Vec::len), [6, 3]);
        let others = [taken(&places, "another", false), taken(&places, "another", true)];
        assert_eq!(others.each_ref().map(Vec::len), [2, 1]);
        drop(held);
        assert!(places.take("a third", false).is_some());
    }

    #[tokio::test]
    async fn an_attempt_that_lasts_leaves_the_places_of_the_fast_ones() {
        let places = Arc::new(AttemptPermits::new(4, 4));
        let fast = taken(&places, "one", false);
        assert_eq!(fast.len(), 3);
        let hanging: Vec<_> =
            fast.into_iter().map(|place| tokio::spawn(place.during(pending::<()>()))).collect();
        // They move one after the other: each permit that is released can be taken while it is free.
        let mut again = Vec::new();
        while again.len() < 3 {
            again.extend(places.take("one", false));
            tokio::task::yield_now().await;
        }
        assert!(places.take("one", true).is_none(), "they have their share of the others");
        for attempt in hanging {
            attempt.abort();
        }
    }

    #[tokio::test]
    async fn where_there_is_no_room_an_attempt_goes_on_in_its_place() {
        let places = Arc::new(AttemptPermits::new(4, 4));
        let held = taken(&places, "one", true);
        assert_eq!(held.len(), 3);
        let place = places.take("one", false).expect("a place");
        let lasts = tokio::time::sleep(permits::move_after(JobClass::Deliver) * 2);
        place.during(lasts).await;
        assert_eq!(taken(&places, "one", false).len(), 3, "its place is given back");
    }
}
