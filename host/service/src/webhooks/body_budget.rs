//! The memory budget for notification bodies in flight at this host: a hanging endpoint holds the body of its attempt for as long as the
//! attempt lasts. A delivery without room waits in the database, not in a queue here.

use std::sync::{Arc, LazyLock};

use compute::named_semaphores::Shares;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Most bytes of all counted bodies, and of those of one application: 64 of the longest ones (256 KiB).
const BUDGET_BYTES: usize = 32 << 20;
const SHARE_BYTES: usize = 16 << 20;
/// Bodies up to this size are not counted, so that most events are sent whatever the others hold. With 2,600 concurrent attempts they take
/// at most 11 MiB.
const FREE_BYTES: usize = 4 << 10;

static BUDGET: LazyLock<HostBodyBudget> = LazyLock::new(|| HostBodyBudget::new(BUDGET_BYTES, SHARE_BYTES));

/// The budget of a host.
struct HostBodyBudget {
    all: Arc<Semaphore>,
    of_application: Shares,
    share: usize,
}

/// Reserved bytes, released on drop.
pub struct BodyBytes {
    /// None: the body is too short to count.
    held: Option<ReservedBytes>,
}

struct ReservedBytes {
    all: OwnedSemaphorePermit,
    share: OwnedSemaphorePermit,
}

impl HostBodyBudget {
    fn new(bytes: usize, share: usize) -> HostBodyBudget {
        HostBodyBudget { all: Arc::new(Semaphore::new(bytes)), of_application: Shares::new(share), share }
    }

    fn take(&self, application_id: &str, bytes: usize) -> Option<BodyBytes> {
        if bytes <= FREE_BYTES {
            return Some(BodyBytes { held: None });
        }
        // A resource longer than a share is left out of the body, and must still be sent.
        let bytes = u32::try_from(bytes.min(self.share)).ok()?;
        let share = self.of_application.of(application_id).try_acquire_many_owned(bytes).ok()?;
        let all = Arc::clone(&self.all).try_acquire_many_owned(bytes).ok()?;
        Some(BodyBytes { held: Some(ReservedBytes { all, share }) })
    }
}

/// Reserves room for the body of a notification whose resource has so many bytes; call it before the resource is read. Returns none,
/// without waiting, if the host or the application has no room left.
pub fn take(application_id: &str, bytes: usize) -> Option<BodyBytes> {
    BUDGET.take(application_id, bytes)
}

impl BodyBytes {
    /// Releases the bytes that the rendered body does not need.
    pub fn shrink_to(&mut self, bytes: usize) {
        if bytes <= FREE_BYTES {
            self.held = None;
        }
        let Some(held) = &mut self.held else { return };
        for permit in [&mut held.all, &mut held.share] {
            let spare = permit.num_permits().saturating_sub(bytes);
            drop(permit.split(spare));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIB: usize = 1 << 10;

    fn taken(budget: &HostBodyBudget, application_id: &str, bytes: usize) -> Vec<BodyBytes> {
        std::iter::from_fn(|| budget.take(application_id, bytes)).collect()
    }

    #[test]
    fn no_application_has_all_bytes_and_short_bodies_always_go_out() {
        let budget = HostBodyBudget::new(96 * KIB, 64 * KIB);
        let long = taken(&budget, "one", 16 * KIB);
        assert_eq!(long.len(), 4);
        assert!(budget.take("one", FREE_BYTES).is_some() && budget.take("one", FREE_BYTES + 1).is_none());
        let others = taken(&budget, "another", 16 * KIB);
        assert_eq!(others.len(), 2);
        assert!(budget.take("a third", 16 * KIB).is_none(), "the host has no more");
        drop(long);
        assert_eq!(taken(&budget, "a third", 16 * KIB).len(), 4);
        assert_eq!(taken(&budget, "one", 16 * KIB).len(), 4, "all of it came back");
    }

    #[test]
    fn what_the_body_does_not_need_is_given_back() {
        let budget = HostBodyBudget::new(64 * KIB, 32 * KIB);
        // A resource longer than the body limit is left out of the body.
        let mut huge = budget.take("one", 10_000 * KIB).expect("a share");
        assert!(budget.take("one", 8 * KIB).is_none());
        huge.shrink_to(24 * KIB);
        assert_eq!(budget.all.available_permits(), 40 * KIB);
        assert_eq!(taken(&budget, "one", 8 * KIB).len(), 1, "the rest of the share");
        huge.shrink_to(KIB);
        assert_eq!(budget.all.available_permits(), 64 * KIB);
        let mut exact = budget.take("one", 8 * KIB).expect("bytes");
        exact.shrink_to(9 * KIB);
        assert_eq!(budget.all.available_permits(), 56 * KIB);
    }
}
